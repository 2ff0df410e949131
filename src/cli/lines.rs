//! A book's lines: from a position on, move by move, each position once.

use shakmaty::san::SanPlus;
use shakmaty::{Color, Position as _};

use crate::book::tour::Keys;
use crate::book::{Annotation, Book, BookMove};
use crate::chess::Position;

/// The moves of a position, and which positions were seen before.
pub struct Lines<'a> {
    book: &'a dyn Book,
    seen: Keys,
    most: u32,
}

/// A move of a book's line.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the book knows of it.
    pub known: BookMove,
    /// Its part of the position's weight, 0 to 1.
    pub share: f64,
    /// The move with its number where that is `numbered`, and the mark.
    pub san: String,
    /// The position behind it.
    pub after: Position,
}

impl<'a> Lines<'a> {
    /// Lines of at most so many plies.
    pub fn new(book: &'a dyn Book, most: u32) -> Self {
        Self { book, seen: Keys::default(), most }
    }

    /// The moves that go on from a position that was reached in `plies`, the heaviest first; none where lines end, or
    /// where the position was seen before: then the flag is set.
    pub fn go_on(&mut self, at: &Position, plies: u32) -> (Vec<Step>, bool) {
        if plies >= self.most {
            return (Vec::new(), false);
        }
        let mut moves = Vec::new();
        self.book.moves(at, &mut moves);
        if moves.is_empty() {
            return (Vec::new(), false);
        }
        if !self.seen.insert(at.key()) {
            return (Vec::new(), true);
        }
        let all: f64 = moves.iter().map(|known| known.weight as f64).sum();
        let step = |known: BookMove| Step {
            share: if all > 0.0 { known.weight as f64 / all } else { 0.0 },
            san: SanPlus::from_move(at.chess().clone(), known.mv).to_string(),
            after: at.after(known.mv),
            known,
        };
        let mut steps: Vec<_> = moves.into_iter().map(step).collect();
        steps.sort_by(|a, b| b.known.weight.cmp(&a.known.weight).then_with(|| a.san.cmp(&b.san)));
        (steps, false)
    }
}

/// The number before a move in this position: `7.` or `7...`; nothing before Black's move where `short`.
pub fn number(at: &Position, short: bool) -> String {
    match at.chess().turn() {
        Color::White => format!("{}. ", at.chess().fullmoves()),
        Color::Black if short => String::new(),
        Color::Black => format!("{}... ", at.chess().fullmoves()),
    }
}

/// A mark as it stands behind a move: a sign, or the word in brackets.
pub fn mark(annotation: Option<Annotation>) -> String {
    match annotation {
        None => String::new(),
        Some(mark @ (Annotation::Only | Annotation::Zugzwang)) => format!(" [{}]", mark.as_str()),
        Some(mark) => mark.as_str().to_owned(),
    }
}
