//! Edits of a position's moves, for books of every format.

use shakmaty::Move;

use super::{Annotation, Counts, Format, Keeps, MoveFacts, Recommendation};
use crate::base::error::{Error, ErrorKind, Remedy, Result};

/// What a move gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A weight: in a Polyglot book 0 to 65535, in a Kvetka book half-points, in an Arena book the priority, 0 to 9.
    Weight(u64),
    /// A colour, a mark, or both, in a CTG book.
    Verdict {
        /// The colour; `None` leaves it as it is.
        color: Option<Recommendation>,
        /// The mark; `None` leaves it as it is.
        mark: Option<Annotation>,
    },
    /// Neither colour nor mark, in a CTG book.
    Plain,
}

/// What becomes of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It gets this instead of what it has.
    Set(Value),
    /// It comes into the book.
    Add(Value),
    /// It is removed.
    Delete,
}

/// A change of a move of some position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The move, legal in the position.
    pub mv: Move,
    /// Its name in messages.
    pub name: String,
    /// What becomes of it.
    pub change: Change,
}

/// The error where an edit deletes the last move of a book.
pub(crate) fn no_moves_left() -> Error {
    Error::new(ErrorKind::Usage, "the book would have no moves left").advice("delete the file instead")
}

impl Edit {
    /// Whether the book has the move; an error where that does not fit the change.
    ///
    /// # Errors
    /// When the move is to be added and the book has it, or is to be changed or deleted and the book does not have it.
    pub fn expect_known(&self, known: bool) -> Result<bool> {
        let refuse = |what: &str| {
            let what = format!("the book {what} the move {} in this position", self.name);
            Error::new(ErrorKind::Usage, what)
        };
        match (self.change, known) {
            (Change::Add(_), true) => {
                Err(refuse("already has").advice("change its weight instead of adding it"))
            }
            (Change::Set(_) | Change::Delete, false) => {
                Err(refuse("does not have").advice("add it instead").remedied_by(Remedy::ShowMoves))
            }
            _ => Ok(known),
        }
    }

    /// Changes the moves of the position, for a format whose books are rewritten.
    ///
    /// # Errors
    /// As [`Edit::expect_known`], and when the format has no such weight.
    pub fn apply(&self, moves: &mut Vec<MoveFacts>, format: Format) -> Result<()> {
        let place = moves.iter().position(|facts| facts.mv == self.mv);
        self.expect_known(place.is_some())?;
        match (self.change, place) {
            (Change::Delete, Some(place)) => drop(moves.remove(place)),
            (Change::Set(value), Some(place)) => {
                if let Some(facts) = moves.get_mut(place) {
                    give(facts, value, format)?;
                }
            }
            (Change::Add(value), _) => {
                let mut facts = MoveFacts::new(self.mv, 0);
                give(&mut facts, value, format)?;
                moves.push(facts);
            }
            (_, None) => {}
        }
        Ok(())
    }
}

/// Gives a move its value in the form that a format keeps.
fn give(facts: &mut MoveFacts, value: Value, format: Format) -> Result<()> {
    match (format.keeps(), value) {
        (Keeps::Verdicts, Value::Verdict { color, mark }) => {
            facts.recommended = color.or(facts.recommended);
            facts.annotation = mark.or(facts.annotation);
            Ok(())
        }
        (Keeps::Verdicts, Value::Plain) => {
            (facts.recommended, facts.annotation) = (None, None);
            Ok(())
        }
        (Keeps::Verdicts, Value::Weight(_)) => {
            Err(Error::new(ErrorKind::Usage, "a CTG book has no weights: it computes them from results")
                .advice("write green, red, none, or a mark such as ! or ?"))
        }
        (_, Value::Verdict { .. } | Value::Plain) => Err(Error::new(
            ErrorKind::Usage,
            format!("a book of the format {format} has no colours or marks"),
        )
        .advice("write a number")),
        (_, Value::Weight(weight)) if weight == facts.weight => Ok(()),
        (_, Value::Weight(weight)) => {
            // The weight is two for a win and one for a draw; the other games were lost.
            let (wins, draws) = (weight / 2, weight % 2);
            let games = facts.counts.map_or(0, |counts| counts.games).max(wins + draws);
            let losses = games - wins - draws;
            facts.weight = weight;
            facts.counts = Some(Counts { games, wins, draws, losses });
            Ok(())
        }
    }
}
