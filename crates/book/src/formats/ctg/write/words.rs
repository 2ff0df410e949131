//! What colours and marks say of a position's moves in a book that is being written.
//!
//! A colour is in the entry of the position that a move leads to, so it acts on every path there; a mark is in the entry of the
//! move's own position. So a move that is never played becomes red only where no other path needs the position. Otherwise, and
//! where a green move beside it does not suffice, its mark says so.

use super::kept::{SAID_FREE, SAID_GREEN, SAID_NONE, SAID_PLAYED, SAID_RED, SAID_REJECTED};
use crate::verdict::Rest;
use crate::{Annotation, Counts, Decision, MoveFacts, PositionRecord, Recommendation};
use tabiya_chess::MoveCode;

/// What a move needs a mark for if the position that it leads to has another colour than it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Unless {
    /// It is never played if the position is red.
    Red = 1,
    /// It is never played, because others are green, if the position is not green.
    NotGreen = 2,
    /// It is never played if the position has its factor.
    Factor = 3,
    /// It weighs nothing if no move to the position has scored.
    Scored = 4,
}

impl Unless {
    pub fn of_byte(byte: u8) -> Option<Self> {
        [Self::Red, Self::NotGreen, Self::Factor, Self::Scored].into_iter().find(|known| *known as u8 == byte)
    }
}

/// What is said of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Of the colour of the position that it leads to: a set.
    pub said: u8,
    /// In its own entry.
    pub mark: Option<Annotation>,
    /// When that does not suffice.
    pub unless: Option<Unless>,
}

/// What is said of each move of a position. `least` is a thousand times the least weight of a green move, if weights decide
/// that.
pub(crate) fn words(known: &PositionRecord, least: Option<u128>) -> Vec<Word> {
    let moves = &known.moves;
    let is_green = |known: &MoveFacts<MoveCode>| least.is_some_and(|least| is_green(known, least));
    let rest = Rest::from_moves(moves, true);
    // A move that is played by what only other formats have.
    let is_foreign = |facts: &MoveFacts<MoveCode>| {
        let only_lost = facts.counts.is_none_or(|counts| counts.losses > 0 && counts.points() == 0);
        only_lost || known.extras.iter().any(|extra| extra.decides(facts.mv))
    };
    let weights = weights(moves);
    let loses = |(known, weight): (&MoveFacts<MoveCode>, &u64)| {
        *weight == 0 && known.weight > 0 && rest.leaves(known) && is_foreign(known) && !is_green(known)
    };
    if moves.iter().any(|known| known.decision.is_some()) || moves.iter().zip(&weights).any(loses) {
        return decided(moves, &weights, is_green);
    }
    let word = |known: &MoveFacts<MoveCode>| {
        let bad = known.is_rejected() && known.recommended.is_none();
        let green = is_green(known).then_some(Recommendation::Green);
        let recommended = known.recommended.or(green);
        let unless = match recommended {
            Some(Recommendation::Red) => Some(Unless::Red),
            _ if known.is_never_by_factor() => Some(Unless::Factor),
            // Another mark stays where it can.
            _ if known.is_rejected() && known.annotation.is_some() && !rest.leaves(known) => {
                Some(Unless::Scored)
            }
            _ => None,
        };
        let word = word(recommended, known.annotation.or(bad.then_some(Annotation::Bad)), unless);
        let free = if rest.leaves(known) { SAID_FREE } else { 0 };
        Word { said: word.said | free, ..word }
    };
    moves.iter().map(word).collect()
}

/// Whether a move is green if a thousand times the least weight of a green move is this.
pub(crate) fn is_green(known: &MoveFacts<MoveCode>, least: u128) -> bool {
    known.weight > 0 && u128::from(known.weight) * 1000 >= least
}

/// What moves weigh in the new book: their results count, if there are any.
fn weights(moves: &[MoveFacts<MoveCode>]) -> Vec<u64> {
    let has_results = moves.iter().any(|known| known.counts.is_some_and(Counts::has_results));
    let points = |known: &MoveFacts<MoveCode>| known.counts.map_or(0, Counts::points);
    moves.iter().map(|known| if has_results { points(known) } else { 1 }).collect()
}

fn word(color: Option<Recommendation>, mark: Option<Annotation>, unless: Option<Unless>) -> Word {
    let said = match color {
        None => SAID_NONE,
        Some(Recommendation::Green) => SAID_GREEN,
        Some(Recommendation::Red) => SAID_RED,
    };
    Word { said, mark, unless }
}

/// The same where moves were decided: what is said of them stays if the book plays what was decided then. Otherwise those that
/// are played are green.
fn decided(
    moves: &[MoveFacts<MoveCode>],
    weights: &[u64],
    is_green: impl Fn(&MoveFacts<MoveCode>) -> bool,
) -> Vec<Word> {
    let by_weight = moves.iter().any(&is_green);
    let left = Rest::from_moves(moves, true);
    let is_played = |known: &MoveFacts<MoveCode>| left.leaves(known);
    // As the new book has them.
    let mut new = moves.to_vec();
    for ((new, known), weight) in new.iter_mut().zip(moves).zip(weights) {
        (new.decision, new.weight) = (None, *weight);
        if is_green(known) {
            new.recommended = Some(Recommendation::Green);
        }
        if !is_played(known) && known.decision.is_some() {
            silence(new);
        }
    }
    let chosen = moves.iter().any(|known| known.decision == Some(Decision::Chosen) && known.weight > 0);
    let rest = Rest::from_moves(&new, true);
    let excluded = |known: &MoveFacts<MoveCode>| !is_played(known) || by_weight && !is_green(known);
    let plays =
        |(new, known): (&MoveFacts<MoveCode>, &MoveFacts<MoveCode>)| excluded(known) || rest.leaves(new);
    let greens = chosen || !new.iter().zip(moves).all(plays);
    for (new, known) in new.iter_mut().zip(moves) {
        match is_played(known) {
            true if greens => {
                new.recommended = Some(Recommendation::Green);
                let excludes = new.is_marked_bad() || new.annotation == Some(Annotation::Only);
                new.annotation = new.annotation.filter(|_| !excludes || known.decision.is_none());
            }
            // What is not chosen needs no color beside a green move.
            false if !greens && rest.leaves(&with_points(new, known)) => {
                new.recommended = Some(Recommendation::Red);
            }
            _ => {}
        }
    }
    let word = |(new, known): (&MoveFacts<MoveCode>, &MoveFacts<MoveCode>)| {
        let Word { said, mark, .. } = word(new.recommended, new.annotation, None);
        if is_played(known) {
            let played = if known.decision.is_some() { SAID_PLAYED } else { 0 };
            return Word { said: said | played | SAID_FREE, mark, unless: None };
        }
        let is_red = new.recommended == Some(Recommendation::Red);
        let (said, unless) = match is_red {
            true => (said, Unless::Red),
            false => (SAID_REJECTED, Unless::NotGreen),
        };
        Word { said, mark, unless: Some(unless) }
    };
    new.iter().zip(moves).map(word).collect()
}

/// Removes what is said for playing a move.
fn silence(known: &mut MoveFacts<MoveCode>) {
    known.recommended = known.recommended.filter(|color| !color.is_green());
    known.annotation = known.annotation.filter(|mark| *mark != Annotation::Only);
}

/// A move that is never played as if it had scored: its results may become better by other paths to the same position.
fn with_points(new: &MoveFacts<MoveCode>, known: &MoveFacts<MoveCode>) -> MoveFacts<MoveCode> {
    MoveFacts { weight: new.weight.max(known.is_rejected().into()), ..*new }
}
