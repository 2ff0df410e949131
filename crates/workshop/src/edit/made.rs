//! An edit that was made, and how it is named again: to take it back, and no other.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use shakmaty::{CastlingMode, Move};

use tabiya_base::error::{Error, Result};
use tabiya_chess::{MoveCode, Position, Variant, notation};
use tabiya_learn::MadeEdit;

use super::{Expected, LineCounts, MoveState, PositionMoves, place_of};

/// An edit that was made, taken back, or made again.
#[derive(Debug)]
pub struct Made {
    /// Where it is, for [`place_of`]; of edits of several positions the first.
    pub note: String,
    /// What the edit changed.
    pub moves: Vec<MadeMove>,
    /// Why the book cannot be read again: the edit is on the disk, but what the book says now is not known, and `moves` are
    /// empty.
    pub unread: Option<Error>,
}

/// A move of such an edit.
#[derive(Debug)]
pub struct MadeMove {
    /// The key of its position.
    pub(super) key: u64,
    /// As the book has it.
    pub(super) code: MoveCode,
    /// In UCI notation.
    pub uci: String,
    /// What the book said of it before, and says now.
    pub said: [Option<MoveState>; 2],
}

/// An edit as it was answered when it was made or taken back: the next that is reversed must be this one.
#[derive(Debug)]
pub struct NamedEdit<'a> {
    /// Where it is, as [`super::kept`] writes it.
    pub note: &'a str,
    /// What it changed.
    pub moves: NamedMoves,
}

/// The moves of such an edit.
#[derive(Debug)]
pub enum NamedMoves {
    /// One move, and what the book said of it before, and says since.
    One(Move, [Expected; 2]),
    /// Several: their [`Made::digest`].
    Several(u64),
}

impl NamedEdit<'_> {
    /// Whether this is the edit.
    pub(super) fn is(&self, made: &Made, variant: Variant) -> bool {
        if made.note != self.note {
            return false;
        }
        let (mv, [said, says]) = match self.moves {
            NamedMoves::Several(digest) => return made.digest() == digest,
            NamedMoves::One(mv, said) => (mv, said),
        };
        let [MadeMove { uci, said: [before, now], .. }] = made.moves.as_slice() else { return false };
        let at = place_of(&made.note, variant).position(variant);
        at.and_then(|at| notation::read(uci, &at).ok()) == Some(mv)
            && said.is_met(*before)
            && says.is_met(*now)
    }
}

impl Made {
    /// What was written into a Polyglot book of this variant.
    pub(super) fn of_weights(made: &MadeEdit, variant: Variant) -> Self {
        let MadeEdit { note, weights } = made;
        let at = place_of(note, variant).position(variant);
        // Without its position a drop is no move.
        let uci = |key: u64, code: MoveCode| {
            let at = at.as_ref().filter(|at| at.key() == key);
            let mv = at.and_then(|at| code.resolve(at.chess()));
            mv.map_or_else(|| worded(code), |mv| mv.to_uci(CastlingMode::Chess960).to_string())
        };
        let moves = weights.iter().map(|change| MadeMove {
            key: change.key,
            code: change.mv,
            uci: uci(change.key, change.mv),
            said: [change.before, change.after].map(|weight| weight.map(MoveState::weight)),
        });
        Self { note: note.clone(), moves: moves.collect(), unread: None }
    }

    pub(super) fn new(
        note: &str,
        moves: &[PositionMoves],
        before: &[Option<MoveState>],
        after: Result<Vec<Option<MoveState>>>,
    ) -> Self {
        let (after, unread) = after.map_or_else(|error| (Vec::new(), Some(error)), |after| (after, None));
        let said = before.iter().zip(after).map(|(before, after)| [*before, after]);
        let moves = moves.iter().flat_map(|(at, moves)| moves.iter().map(|mv| (at.key(), *mv)));
        let moves = moves.zip(said).map(|((key, mv), said)| MadeMove {
            key,
            code: MoveCode::from_move(mv),
            uci: mv.to_uci(CastlingMode::Standard).to_string(),
            said,
        });
        Self { note: note.to_owned(), moves: moves.collect(), unread }
    }

    /// What is changed back.
    pub(super) fn reversed(mut self) -> Self {
        self.moves.iter_mut().for_each(|made| made.said.reverse());
        self
    }

    /// Whether all moves are of this position.
    pub fn is_at(&self, at: &Position) -> bool {
        self.moves.iter().all(|made| made.key == at.key())
    }

    /// How many moves came, changed and left.
    pub fn counts(&self) -> LineCounts {
        let mut counts = LineCounts::default();
        for MadeMove { said, .. } in &self.moves {
            *match said {
                [None, Some(_)] => &mut counts.adds,
                [Some(_), None] => &mut counts.deletes,
                [before, after] if before == after => &mut counts.stays,
                _ => &mut counts.changes,
            } += 1;
        }
        counts
    }

    /// What tells it apart from edits of other moves, or to other values, whatever the order of the moves.
    pub fn digest(&self) -> u64 {
        let of = |made: &MadeMove| {
            let look = |said: MoveState| {
                (said.number(), said.recommended.map(|is| is.as_str()), said.annotation.map(|is| is.nag()))
            };
            let mut hasher = DefaultHasher::new();
            (made.key, made.code, made.said.map(|said| said.map(look))).hash(&mut hasher);
            hasher.finish()
        };
        self.moves.iter().map(of).fold(0, u64::wrapping_add)
    }
}

/// A move of an edit, in UCI notation. One that stays on its square is a drop, whatever the variant is said to be.
pub(super) fn worded(code: MoveCode) -> String {
    code.with_drops()
}
