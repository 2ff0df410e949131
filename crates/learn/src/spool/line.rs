//! A line of the spool (docs/formats/learn.md, Spool).

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, CastlingMode, Color, KnownOutcome, Position as _};

use crate::fingerprint::Fingerprint;
use tabiya_base::bytes::hex;
use tabiya_base::check::check;
use tabiya_chess::{Game, Position, Variant};

use super::{PlayedBook, SpoolPlace, Spooled};
use crate::finished::{FinishedGame, IdentifiedGame, Source};

/// Bytes of a text's check.
const CHECK_LEN: usize = 8;

/// The place of the text in a line: after the state, the hexadecimal digits of the text's check, and two spaces.
pub(super) const TEXT: usize = 2 * CHECK_LEN + 3;

#[derive(Deserialize, Serialize)]
struct SpoolLine {
    book: PathBuf,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fingerprint: String,
    id: String,
    fen: String,
    /// Empty for standard chess.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
    chess960: bool,
    moves: String,
    #[serde(default)]
    first: usize,
    sides: String,
    result: String,
    /// Whether the result was guessed by scores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    guess: bool,
    note: String,
}

/// Whether a line is whole, and its game waits.
pub(super) fn is_waiting(line: &[u8]) -> bool {
    if line.first() != Some(&b'+') {
        return false;
    }
    let text = line.strip_suffix(b"\n").and_then(|line| line.get(TEXT..)).map(std::str::from_utf8);
    matches!(text, Some(Ok(text)) if line.starts_with(&head(text)))
}

/// Reads a line; `None` where its game does not wait, or the line is not whole.
pub(super) fn parse(line: &[u8], at: u64) -> Option<Spooled> {
    is_waiting(line).then_some(())?;
    let place = SpoolPlace { at, head: *line.first_chunk()? };
    let line: SpoolLine = serde_json::from_slice(line.get(TEXT..)?).ok()?;
    let finished = line.game()?;
    let book = PlayedBook { fingerprint: bytes(&line.fingerprint), file: line.book };
    Some(Spooled { book, finished, place })
}

/// Appends the line of a game that waits; returns its beginning.
///
/// # Errors
/// When the name of the book cannot be written in JSON.
pub(super) fn put(
    lines: &mut Vec<u8>,
    book: &Path,
    fingerprint: Option<Fingerprint>,
    game: &IdentifiedGame,
) -> io::Result<[u8; TEXT]> {
    let text = serde_json::to_string(&SpoolLine::new(book, fingerprint, game))?;
    let head = head(&text);
    lines.extend_from_slice(&head);
    lines.extend_from_slice(text.as_bytes());
    lines.push(b'\n');
    Ok(head)
}

/// The beginning of the line of a game that waits.
fn head(text: &str) -> [u8; TEXT] {
    let head = format!("+ {} ", hex(&check::<CHECK_LEN>(text.as_bytes())));
    head.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// The bytes of so many hexadecimal digits.
fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(|pair| byte(pair)).collect();
    bytes?.try_into().ok()
}

impl SpoolLine {
    fn new(book: &Path, fingerprint: Option<Fingerprint>, finished: &IdentifiedGame) -> Self {
        let IdentifiedGame { id, game, source } = finished;
        let mode = game.start.chess().castles().mode();
        let moves: Vec<String> = game.moves.iter().map(|mv| mv.to_uci(mode).to_string()).collect();
        let sides = Color::ALL.into_iter().filter(|color| *game.sides.get(*color)).map(Color::char);
        Self {
            book: std::path::absolute(book).unwrap_or_else(|_| book.to_owned()),
            fingerprint: fingerprint.map(|print| hex(&print)).unwrap_or_default(),
            id: hex(id),
            fen: game.start.fen(),
            variant: match game.start.variant() {
                Variant::Chess => String::new(),
                variant => variant.uci().to_owned(),
            },
            chess960: mode == CastlingMode::Chess960,
            moves: moves.join(" "),
            first: game.first,
            sides: sides.collect(),
            result: game.result.to_string(),
            guess: *source == Source::Scores,
            note: game.note.clone(),
        }
    }

    fn game(&self) -> Option<IdentifiedGame> {
        let mode = if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let variant = match &*self.variant {
            "" => Variant::Chess,
            name => Variant::from_uci(name).ok()?,
        };
        let start = Position::from_fen_of(variant, self.fen.as_bytes(), mode).ok()?;
        let mut game = Game::from_position(start);
        self.moves.split_whitespace().all(|mv| game.push_uci(mv.as_bytes())).then_some(())?;
        let finished = FinishedGame {
            start: game.start_position().clone(),
            moves: game.moves().to_vec(),
            first: self.first,
            sides: ByColor { white: self.sides.contains('w'), black: self.sides.contains('b') },
            result: KnownOutcome::from_ascii(self.result.as_bytes()).ok()?,
            note: self.note.clone(),
        };
        let source = if self.guess { Source::Scores } else { Source::Board };
        Some(finished.said_by(source, bytes(&self.id)?))
    }
}
