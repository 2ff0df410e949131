//! Entries as a table of text.

use std::io::{self, Write};

use crate::book::Known;
use crate::book::polyglot::layout::RawMove;

/// The columns. A field is empty where the book does not know it.
const COLUMNS: [&str; 12] = [
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
];

/// Writes the names of the columns.
pub fn heading(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join("\t"))
}

/// Appends a line for each move of a position.
pub fn entries(known: &Known, text: &mut Vec<u8>) {
    let fen = known.position.as_ref().map(|position| position.fen());
    let mut number = itoa::Buffer::new();
    for entry in &known.moves {
        key(known.key, text);
        text.push(b'\t');
        text.extend_from_slice(fen.as_deref().unwrap_or_default().as_bytes());
        text.push(b'\t');
        uci(entry.mv, text);
        let counts = entry.counts.map(|counts| [counts.games, counts.wins, counts.draws, counts.losses]);
        let counts = counts.map_or([None; 4], |counts| counts.map(Some));
        let learned =
            entry.learned.map_or([None; 2], |l| [Some(u64::from(l.games)), Some(u64::from(l.halfpoints))]);
        let mut field = |value: Option<u64>, text: &mut Vec<u8>| {
            text.push(b'\t');
            if let Some(value) = value {
                text.extend_from_slice(number.format(value).as_bytes());
            }
        };
        field(Some(entry.weight), text);
        counts.into_iter().for_each(|count| field(count, text));
        text.push(b'\t');
        text.extend_from_slice(entry.annotation.map_or("", |mark| mark.as_str()).as_bytes());
        text.push(b'\t');
        text.extend_from_slice(
            entry.recommended.map_or("", |green| if green { "green" } else { "red" }).as_bytes(),
        );
        learned.into_iter().for_each(|number| field(number, text));
        text.push(b'\n');
    }
}

/// A key in sixteen hexadecimal digits.
pub fn key(key: u64, text: &mut Vec<u8>) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    text.extend((0..16).rev().map(|digit| DIGITS[(key >> (digit * 4)) as usize & 0xf]));
}

/// A move as the engine protocol writes it; castling is the king taking its rook, as in the book.
pub fn uci(mv: RawMove, text: &mut Vec<u8>) {
    for square in [mv.from(), mv.to()] {
        text.push(b'a' + u32::from(square.file()) as u8);
        text.push(b'1' + u32::from(square.rank()) as u8);
    }
    if let Ok(Some(role)) = mv.promotion() {
        text.push(role.char() as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{Annotation, Counts, KnownMove, Learned};
    use crate::chess::Position;

    #[test]
    fn a_line_has_a_field_for_each_column() {
        let full = KnownMove {
            counts: Some(Counts { games: 6, wins: 3, draws: 2, losses: 1 }),
            annotation: Some(Annotation::Good),
            recommended: Some(true),
            learned: Some(Learned { games: 2, halfpoints: 3 }),
            ..KnownMove::new(RawMove(0o1434), 8)
        };
        let promoted = KnownMove::new(RawMove(0o46474), 7);
        let start = Position::start();
        let mut known = Known { key: start.key(), moves: vec![full, promoted], ..Known::default() };
        let mut text = Vec::new();
        entries(&known, &mut text);
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "463b96181691fc9c\t\te2e4\t8\t6\t3\t2\t1\t!\tgreen\t2\t3");
        assert_eq!(lines[1], "463b96181691fc9c\t\te7e8q\t7\t\t\t\t\t\t\t\t");
        assert!(lines.iter().all(|line| line.split('\t').count() == COLUMNS.len()));
        known.position = Some(start);
        let mut text = Vec::new();
        entries(&known, &mut text);
        assert!(text.windows(8).any(|part| part == b"rnbqkbnr"));
    }
}
