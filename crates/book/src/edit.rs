//! Edits of a position's moves, for books of every format.

use shakmaty::Move;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_chess::Position;

use super::{Annotation, Recommendation};

/// What a move gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditValue {
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
    Set(EditValue),
    /// It comes into the book.
    Add(EditValue),
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

/// Edits of a position.
#[derive(Clone, Debug)]
pub struct PositionEdits {
    /// The position.
    pub at: Position,
    /// The edits, in order.
    pub edits: Vec<Edit>,
}

impl PositionEdits {
    /// Whether any of these edits deletes a move.
    pub(crate) fn any_deletes(all: &[Self]) -> bool {
        all.iter().flat_map(|of| &of.edits).any(|edit| edit.change == Change::Delete)
    }
}

/// The error where a position is one of another variant than the book's.
pub fn other_variant() -> Error {
    Error::new(ErrorKind::Usage, "books of this format hold standard chess only")
}

/// The error where an edit deletes the last move of a book.
pub fn no_moves_left() -> Error {
    Error::new(ErrorKind::Usage, "the book would have no moves left").advice("delete the file instead")
}

impl Edit {
    /// Whether an edit of another position that the format does not distinguish from this one has added or deleted the move:
    /// the book `had` it, or not, and as edited so far it `has` it, or not.
    pub(crate) fn is_made_already(&self, had: bool, has: bool) -> bool {
        match self.change {
            Change::Add(_) => has && !had,
            Change::Delete => had && !has,
            Change::Set(_) => false,
        }
    }

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
}

impl EditValue {
    /// What people write for it: a number; green, red, a mark such as `!?`, or both with a comma between them; or none. `None` for
    /// anything else.
    pub fn from_words(text: &str) -> Option<Self> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::Weight(text.parse().ok()?));
        }
        if text == "none" {
            return Some(Self::Plain);
        }
        let (mut color, mut mark) = (None, None);
        for word in text.split(',') {
            match word {
                "green" | "red" if color.is_none() => color = Recommendation::of_name(word),
                _ if mark.is_none() => mark = Some(Annotation::of_name(word)?),
                _ => return None,
            }
        }
        Some(Self::Verdict { color, mark })
    }

    /// The number that a move gets in a format without colours and marks.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn weight(self, format: &str) -> Result<u64> {
        match self {
            Self::Weight(weight) => Ok(weight),
            Self::Verdict { .. } | Self::Plain => {
                let what = format!("a {format} book has no colors or marks");
                Err(Error::new(ErrorKind::Usage, what).advice("write a number"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_looks() {
        let look = |color, mark| Some(EditValue::Verdict { color, mark });
        assert_eq!(EditValue::from_words("60"), Some(EditValue::Weight(60)));
        assert_eq!(EditValue::from_words("none"), Some(EditValue::Plain));
        assert_eq!(EditValue::from_words("green"), look(Some(Recommendation::Green), None));
        assert_eq!(
            EditValue::from_words("red,??"),
            look(Some(Recommendation::Red), Some(Annotation::Blunder))
        );
        assert_eq!(EditValue::from_words("!?"), look(None, Some(Annotation::Interesting)));
        for text in
            ["", "-1", "1.5", "99999999999999999999", "green,red", "!,?", "none,!", "blue", "green,none"]
        {
            assert_eq!(EditValue::from_words(text), None, "{text}");
        }
    }
}
