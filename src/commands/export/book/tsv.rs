//! Entries as a table of text.
#![allow(clippy::cast_possible_truncation, reason = "the index is masked")]
#![allow(clippy::indexing_slicing, reason = "the index is masked to the table's length")]

use std::collections::HashSet;
use std::io::{self, Write};

use shakmaty::uci::UciMove;
use shakmaty::{File, Position as _, Role, Square};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{PositionRecord, Recommendation};
use tabiya_chess::{MoveCode, Position};

/// The columns. A field is empty if the book does not know it.
const COLUMNS: [&str; 13] = [
    "key",
    "fen",
    "uci",
    "weight",
    "games",
    "wins",
    "draws",
    "losses",
    "annotation",
    "recommended",
    "learned_games",
    "learned_halfpoints",
    "factor",
];

/// Writes the names of the columns.
pub fn heading(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join("\t"))
}

/// Appends a line for each move of a position.
pub fn entries(known: &PositionRecord, castlings: &Castlings, text: &mut Vec<u8>) {
    let fen = known.position.as_ref().map(|position| position.fen());
    let mut digits = itoa::Buffer::new();
    let mut number = |value: Option<u64>, text: &mut Vec<u8>| {
        text.push(b'\t');
        if let Some(value) = value {
            text.extend_from_slice(digits.format(value).as_bytes());
        }
    };
    for entry in &known.moves {
        key(known.key, text);
        text.push(b'\t');
        text.extend_from_slice(fen.as_deref().unwrap_or_default().as_bytes());
        text.push(b'\t');
        castlings.uci(known, entry.mv).append_ascii_to(text);
        number(Some(entry.weight), text);
        let counts = entry.counts.map(|counts| [counts.games, counts.wins, counts.draws, counts.losses]);
        counts.map_or([None; 4], |counts| counts.map(Some)).into_iter().for_each(|count| number(count, text));
        for word in [
            entry.annotation.map_or("", |mark| mark.as_str()),
            entry.recommended.map_or("", Recommendation::as_str),
        ] {
            text.push(b'\t');
            text.extend_from_slice(word.as_bytes());
        }
        number(entry.learned.map(|learned| learned.games.into()), text);
        number(entry.learned.map(|learned| learned.halfpoints.into()), text);
        text.push(b'\t');
        if let Some(factor) = entry.factor {
            text.extend_from_slice(factor.to_string().as_bytes());
        }
        text.push(b'\n');
    }
}

/// A key in sixteen hexadecimal digits.
pub fn key(key: u64, text: &mut Vec<u8>) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    text.extend((0..16).rev().map(|digit| DIGITS[(key >> (digit * 4)) as usize & 0xf]));
}

/// The castlings of a book that holds only keys, as far as play reaches their positions: what looks like a king that takes
/// its rook could be another piece that moves to the corner.
#[derive(Debug, Default)]
pub(crate) struct Castlings(HashSet<(u64, MoveCode)>);

impl Castlings {
    /// Finds them, each with its key.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn find(book: &dyn Book) -> Result<Self> {
        Ok(Self(book.castlings(&Progress::none())?))
    }

    /// A move in UCI notation: castling of standard chess as two steps of the king, other castling as the king taking its
    /// rook, as in the book; a drop as `N@f3`.
    pub fn uci(&self, known: &PositionRecord, mv: MoveCode) -> UciMove {
        if mv.from() == mv.to() {
            let role = mv.promotion().ok().flatten().unwrap_or(Role::Pawn);
            return UciMove::Put { role, to: mv.to() };
        }
        let mut to = mv.to();
        if self.castles(known, mv) {
            to = Square::from_coords(if to.file() == File::H { File::G } else { File::C }, to.rank());
        }
        UciMove::Normal { from: mv.from(), to, promotion: mv.promotion().ok().flatten() }
    }

    /// Whether a move is castling of standard chess, as far as its position is known.
    fn castles(&self, known: &PositionRecord, mv: MoveCode) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let ordinary = [
            (Square::E1, Square::H1),
            (Square::E1, Square::A1),
            (Square::E8, Square::H8),
            (Square::E8, Square::A8),
        ];
        let has_king = |at: &Position| at.chess().board().role_at(from) == Some(Role::King);
        ordinary.contains(&(from, to))
            && known.position.as_ref().map_or_else(|| self.0.contains(&(known.key, mv)), has_king)
    }
}

#[cfg(test)]
mod tests {
    use tabiya_book::{Annotation, Counts, Learned, MoveFacts};

    use super::*;

    #[test]
    fn a_line_has_a_field_for_each_column() {
        let full = MoveFacts {
            counts: Some(Counts { games: 6, wins: 3, draws: 2, losses: 1 }),
            annotation: Some(Annotation::Good),
            recommended: Some(Recommendation::Green),
            learned: Some(Learned { games: 2, halfpoints: 3 }),
            factor: Some(-93),
            ..MoveFacts::new(MoveCode(0o1434), 8)
        };
        let promoted = MoveFacts::new(MoveCode(0o46474), 7);
        let start = Position::start();
        let mut known =
            PositionRecord { key: start.key(), moves: vec![full, promoted], ..PositionRecord::default() };
        let mut text = Vec::new();
        entries(&known, &Castlings::default(), &mut text);
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "463b96181691fc9c\t\te2e4\t8\t6\t3\t2\t1\t!\tgreen\t2\t3\t-93");
        assert_eq!(lines[1], "463b96181691fc9c\t\te7e8q\t7\t\t\t\t\t\t\t\t\t");
        assert!(lines.iter().all(|line| line.split('\t').count() == COLUMNS.len()));
        known.position = Some(start);
        let mut text = Vec::new();
        entries(&known, &Castlings::default(), &mut text);
        assert!(text.windows(8).any(|part| part == b"rnbqkbnr"));
    }
}
