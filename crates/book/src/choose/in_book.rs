//! The moves of a book in a position with the chance of each.

use shakmaty::Move;

use tabiya_chess::{Game, Position};

use super::{Policy, Worth, chances};
use crate::traits::Book;
use crate::{BookSet, MoveFacts, Moves};

/// A book's moves in the position of a game, in the book's order, and the chance of each: what the adapter draws from.
#[derive(Clone, Debug, Default)]
pub struct Chances {
    /// The moves.
    pub moves: Vec<MoveFacts>,
    /// Their chances; all 0 where no move may be played.
    pub chances: Vec<f64>,
    /// What the moves lose, if that matters.
    pub losses: Worth,
}

/// Looks the position of a game up in a book under a policy. The books of its set, from this one on, decide how long its
/// lines are, and what is known beside it of what its moves lose.
pub fn chances_in(
    book: &dyn Book,
    (book_set, from): (&mut BookSet, usize),
    game: &Game,
    policy: &Policy,
) -> Chances {
    let position = game.position();
    let mut found = Chances::default();
    book.moves(position, &mut found.moves);
    let off_course = policy.take_off_course(game, &mut found.moves);
    if let Some(known) = book_set.evaluations(book).filter(|_| policy.max_loss > 0) {
        let moves = found.moves.iter().map(|facts| facts.mv);
        found.losses = Worth::at(position, moves, |at| known.value(at));
    }
    let covered = policy.covers(game.fullmove());
    let admit = |mv| {
        covered
            && policy.admits(book_set, from, game, mv)
            && !found.losses.loss_of(mv).is_some_and(|loss| policy.refuses(loss))
    };
    chances(&found.moves, policy, admit, &mut found.chances);
    found.chances.extend(off_course.iter().map(|_| 0.0));
    found.moves.extend(off_course);
    found
}

/// A book's moves in a position with the chance of each, the most likely first; those that `admit` refuses have none.
pub fn by_chance(
    book: &dyn Moves,
    at: &Position,
    policy: &Policy,
    admit: impl FnMut(Move) -> bool,
) -> Vec<(MoveFacts, f64)> {
    let (moves, mut shares) = (book.moves_in(at), Vec::new());
    chances(&moves, policy, admit, &mut shares);
    likeliest_first(moves, shares)
}

/// Moves with their chances, the most likely first.
pub fn likeliest_first(moves: Vec<MoveFacts>, shares: Vec<f64>) -> Vec<(MoveFacts, f64)> {
    let mut moves: Vec<_> = moves.into_iter().zip(shares).collect();
    moves.sort_by(|(a, chance_a), (b, chance_b)| chance_b.total_cmp(chance_a).then(b.weight.cmp(&a.weight)));
    moves
}
