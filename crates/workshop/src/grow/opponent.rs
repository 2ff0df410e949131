//! What the opponent plays: what its book has, and where that has nothing, what an engine would play.

use shakmaty::Move;

use tabiya_book::choose::{Policy, chances};
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::Position;

/// A book that the opponent plays from, and how it chooses.
#[derive(Clone, Debug)]
pub struct Opponent<'a> {
    /// The book; `None` if nothing is known of what it plays.
    pub book: Option<&'a dyn Moves>,
    /// How it chooses from the book.
    pub policy: Policy,
}

impl Opponent<'_> {
    /// The moves that the book plays in a position, each with its chance.
    pub(crate) fn moves(&self, at: &Position, moves: &mut Vec<MoveFacts>, out: &mut Vec<(Move, f32)>) {
        let Some(book) = self.book else { return };
        playable(book, &self.policy, at, moves, out);
    }
}

/// The moves that a book may play in a position, each with its chance.
#[expect(clippy::cast_possible_truncation, reason = "chances are from 0 to 1")]
pub(crate) fn playable(
    book: &dyn Moves,
    policy: &Policy,
    at: &Position,
    moves: &mut Vec<MoveFacts>,
    out: &mut Vec<(Move, f32)>,
) {
    let mut shares = Vec::new();
    moves.clear();
    book.moves(at, moves);
    chances(moves, policy, |_| true, &mut shares);
    let found = moves.iter().zip(shares).filter(|(_, chance)| *chance > 0.0);
    out.extend(found.map(|(facts, chance)| (facts.mv, chance as f32)));
}
