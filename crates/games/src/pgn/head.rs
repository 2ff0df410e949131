//! The head of a game: its tags, and the position that it starts from.

use tabiya_base::bytes::Parts as _;

use shakmaty::CastlingMode;

use tabiya_chess::{
    NamedVariant, Position, Variant, is_blank, is_invisible, named_variant, trim_blanks, variant_name,
};

use super::board;
use super::lex::Lexer;
use super::lex::tags::{KNOWN, is_tag, known};
use super::look::memchr;
use super::read::{GameReader, shortened};
use super::split::lines;
use crate::{Date, GameResult, Reason, decode_text};

/// The value of the tag `Variant` where a game of ordinary chess starts from another position than the ordinary one.
const FROM_POSITION: &str = "from position";

/// The most bytes between the tags and the moves in which a position is looked for.
const MAX_LEN_BEFORE_MOVES: usize = 1 << 13;

/// The least fields of a FEN: pieces, side to move, castling rights.
const FEN_FIELDS: usize = 3;

impl GameReader<'_> {
    pub(super) fn take_tag(&mut self, name: &[u8], value: &[u8]) {
        let whole;
        let mut value = trim_blanks(value);
        if self.batch.zeros.is_some() {
            whole = value.iter().copied().filter(|byte| *byte != 0).collect::<Vec<_>>();
            value = &whole;
        }
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
        let known = known(name);
        if let Some(bit) = known {
            self.game.seen |= 1 << bit;
        }
        match known.and_then(|known| KNOWN.get(known)).copied().unwrap_or_default() {
            b"Event" => set(&mut header.event),
            b"Site" => set(&mut header.site),
            b"Round" => set(&mut header.round),
            b"White" => set(&mut header.white),
            b"Black" => set(&mut header.black),
            b"Variant" => set(&mut self.variant),
            b"Date" => header.date = Date::from_pgn(&decode_text(value)),
            b"UTCDate" if header.date.is_unknown() => header.date = Date::from_pgn(&decode_text(value)),
            b"Result" => {
                header.result = GameResult::from_tag(value);
                self.game.both_lost = matches!(value, b"0-0" | b"0:0");
            }
            b"WhiteElo" => header.white_elo = elo(),
            b"BlackElo" => header.black_elo = elo(),
            b"SetUp" => {
                let says_no = |no: &&[u8]| no.eq_ignore_ascii_case(value);
                self.game.is_set_up = ![&b""[..], b"0", b"?", b"-", b"no", b"false"].iter().any(says_no);
            }
            b"FEN" => {
                let fen = plain_fen(value);
                if self.fen.as_ref().is_some_and(|known| *known != fen) {
                    self.game.doubt = Some("the tags give two starting positions");
                }
                self.fen = Some(fen);
            }
            _ => {}
        }
    }

    /// Whether the head has a tag already that every game has once.
    pub(super) fn has_seen(&self, name: &[u8]) -> bool {
        known(name).is_some_and(|bit| self.game.seen & 1 << bit != 0)
    }

    /// The position that the game starts from, if it is not the ordinary one.
    pub(super) fn start(&self) -> Result<Option<Position>, (Reason, String)> {
        let wanted = self.batch.variant;
        // Programs write `-` where they know none.
        let tag =
            Some(self.variant.trim()).filter(|tag| tag.contains(char::is_alphanumeric)).unwrap_or_default();
        let named = match tag {
            "" => Some(NamedVariant { variant: self.batch.untagged, is_chess960: false }),
            tag => named_variant(tag),
        };
        let Some(named) = named.filter(|named| named.variant == wanted) else {
            let why = match tag {
                "" => format!("the game has no tag Variant that says {}", variant_name(wanted)),
                tag => format!("the game is {}", shortened(tag)),
            };
            return Err((Reason::OtherVariant, why));
        };
        let bad = |why: &str| Err((Reason::BadPosition, why.to_owned()));
        if let Some(doubt) = self.game.doubt {
            return bad(doubt);
        }
        let fen = match &self.fen {
            Some(fen) if !fen.is_empty() => fen,
            _ if self.has_other_board() => {
                return bad("the head has a position, but not in a tag FEN that can be read");
            }
            _ if self.game.is_set_up || named.is_chess960 || tag.eq_ignore_ascii_case(FROM_POSITION) => {
                return bad("the tags do not give the position that the game starts from");
            }
            _ => return Ok(None),
        };
        if fen.split(|byte| *byte == b' ').count() < FEN_FIELDS {
            let fen = decode_text(fen);
            return bad(&format!("the position {fen:?} lacks the side to move or castling rights"));
        }
        // Some programs do not mark games of Chess960.
        let position = if named.is_chess960 {
            Position::from_fen(fen, CastlingMode::Chess960)
        } else {
            Position::from_any_fen_of(wanted, fen)
        };
        let position = position.map_err(|error| {
            (Reason::BadPosition, format!("the position {:?} is illegal: {error}", decode_text(fen)))
        })?;
        // Other programs write the ordinary start of some variants too.
        let is_ordinary = wanted != Variant::Chess && position.chess() == self.ordinary.chess();
        Ok(Some(position).filter(|_| !is_ordinary))
    }

    /// Whether the text before the moves has a position other than the ordinary start that may be where the game starts.
    fn has_other_board(&self) -> bool {
        let text = self.batch.piece.text.part(self.game_start..);
        let (head, rest) = text.split_at_checked(self.lexer.at() - self.game_start).unwrap_or_default();
        // Without a head the first move was read already.
        let most = if self.game.is_headless { 0 } else { MAX_LEN_BEFORE_MOVES };
        let rest = rest.get(..most).unwrap_or(rest);
        let lines = split_lines(rest);
        // The first move, the end of a game without any, or the next game.
        let is_of_moves = |byte: &u8| byte.is_ascii_digit() || *byte == b'*';
        let before_moves = lines.map_while(|line| {
            let text = trim_blanks(line);
            let is_over = text.first().is_some_and(is_of_moves) || is_tag(text);
            (!is_over).then_some(line)
        });
        [head, rest.part(..before_moves.map(<[u8]>::len).sum())].into_iter().any(board::has_start)
    }

    /// Whether the file ends in the head of this game: in its tags, without even an empty line after them.
    pub(super) fn is_cut_in_head(&self, lexer: &Lexer<'_>) -> bool {
        let text = &self.batch.piece.text;
        if lexer.at() < lexer.end() {
            return false;
        }
        let is_last = self.batch.piece.last && lexer.end() == text.len();
        let head = text.part(self.game_start..lexer.end());
        let after = head.part(trim_blanks(head).len()..);
        (is_last || self.is_cut_off()) && lines(after) < 2
    }
}

/// The lines of a text with their ends.
fn split_lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let len = memchr(b'\n', text).map_or(text.len(), |at| at + 1);
        let line;
        (line, text) = text.split_at_checked(len)?;
        (!line.is_empty()).then_some(line)
    })
}

/// A FEN with one space between its fields, without quotation marks and invisible characters.
fn plain_fen(value: &[u8]) -> Vec<u8> {
    let text = decode_text(value).replace(is_invisible, "");
    let fields = text.split(|c| is_blank(c) || matches!(c, '_' | '"' | '\''));
    fields.filter(|field| !field.is_empty()).collect::<Vec<_>>().join(" ").into_bytes()
}
