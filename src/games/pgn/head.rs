//! The head of a game: its tags, and the position that it starts from.

use shakmaty::CastlingMode;

use super::read::{GameReader, shortened};
use crate::chess::{Position, names_files};
use crate::games::{Date, GameResult, Reason, decode_text};

/// Values of the tag `Variant` in games of ordinary chess from any position.
const ORDINARY: [&str; 5] = ["", "standard", "chess", "normal", "from position"];
/// Values of the tag `Variant` in games of Chess960.
const CHESS960: [&str; 7] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerandomchess",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

impl GameReader<'_> {
    /// Takes a tag.
    pub(super) fn take_tag(&mut self, name: &[u8], value: &[u8]) {
        let value = value.trim_ascii();
        let header = &mut self.header;
        if self.wants_all_tags {
            header.tags.push((decode_text(name).into_owned(), decode_text(value).into_owned()));
        } else if let Some(wanted) =
            self.wanted.iter().find(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name))
        {
            header.tags.push((wanted.clone(), decode_text(value).into_owned()));
        }
        let set = |text: &mut String| {
            text.clear();
            if value != b"?" {
                text.push_str(&decode_text(value));
            }
        };
        let elo = || str::from_utf8(value).ok()?.parse().ok();
        match name {
            b"Event" => set(&mut header.event),
            b"Site" => set(&mut header.site),
            b"Round" => set(&mut header.round),
            b"White" => set(&mut header.white),
            b"Black" => set(&mut header.black),
            b"Variant" => set(&mut self.variant),
            b"Date" => header.date = Date::from_pgn(&decode_text(value)),
            b"UTCDate" if header.date.is_unknown() => header.date = Date::from_pgn(&decode_text(value)),
            b"Result" => {
                header.result = GameResult::from_pgn(value);
                self.game.both_lost = matches!(value, b"0-0" | b"0:0");
            }
            b"WhiteElo" => header.white_elo = elo().unwrap_or(0),
            b"BlackElo" => header.black_elo = elo().unwrap_or(0),
            b"FEN" => self.fen = Some(value.to_vec()),
            _ => {}
        }
    }

    /// The position that the game starts from, if it is not the ordinary one.
    pub(super) fn start(&self) -> Result<Option<Position>, (Reason, String)> {
        let variant = self.variant.trim().to_ascii_lowercase();
        let chess960 = CHESS960.contains(&variant.as_str());
        if !chess960 && !ORDINARY.contains(&variant.as_str()) {
            return Err((Reason::OtherVariant, format!("the game is {}", shortened(self.variant.trim()))));
        }
        let Some(fen) = &self.fen else { return Ok(None) };
        // Some programs do not mark games of Chess960, but name the files of the rooks.
        let mode = CastlingMode::from_chess960(chess960 || names_files(fen));
        let position = Position::from_fen(fen, mode).map_err(|error| {
            (Reason::BadPosition, format!("the position {:?} is illegal: {error}", decode_text(fen)))
        })?;
        Ok(Some(position))
    }

    /// Whether the file ends in the head of this game.
    pub(super) fn is_cut_in_head(&self) -> bool {
        let text = &self.batch.piece.text;
        self.batch.piece.last
            && self.end == text.len()
            && is_head(text.get(self.game_start..).unwrap_or_default())
    }
}

/// Whether a text consists of tags alone, without even an empty line; the last one may be cut off.
fn is_head(text: &[u8]) -> bool {
    let mut rest = text;
    while rest.starts_with(b"[") {
        rest = memchr::memchr(b'\n', rest).and_then(|end| rest.get(end + 1..)).unwrap_or_default();
    }
    rest.is_empty() && !text.is_empty()
}
