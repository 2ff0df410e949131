//! Edits of a book, each kept as the change of its files that takes it back.

use std::path::PathBuf;

use super::{MoveState, PositionMoves};
use tabiya_base::patch::Patch;

/// Edits that are kept.
const KEPT: usize = 200;

/// The memory that kept edits take together at most, in bytes. The last one is kept, whatever its size.
const BYTES: usize = 64 << 20;

/// Whether an edit is taken back or made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Taken back.
    Back,
    /// Made again.
    Again,
}

/// The edits of a book, and those that were taken back.
#[derive(Debug, Default)]
pub(super) struct History {
    made: Vec<EditStep>,
    undone: Vec<EditStep>,
}

/// What makes an edit, or takes it back.
#[derive(Debug)]
pub(super) struct EditStep {
    pub note: String,
    pub moves: Vec<PositionMoves>,
    /// What the book said of each move before this was last done or undone, and says since; none if it could not be read.
    pub said: Vec<[Option<MoveState>; 2]>,
    /// The changes of the book's files.
    pub patches: Vec<(PathBuf, Patch)>,
}

impl History {
    /// Adds what takes back an edit; those that were taken back before it cannot be made again.
    pub fn add(&mut self, back: EditStep) {
        self.undone.clear();
        self.made.push(back);
        let size = |step: &EditStep| {
            let said = step.said.len() * size_of::<[Option<MoveState>; 2]>();
            let moves = step.moves.len() * size_of::<PositionMoves>();
            size_of::<EditStep>()
                + said
                + moves
                + step.patches.iter().map(|(_, patch)| patch.size()).sum::<usize>()
        };
        let mut sum: usize = self.made.iter().map(size).sum();
        let mut forgotten = 0;
        for step in self.made.iter().take(self.made.len() - 1) {
            if sum <= BYTES && self.made.len() - forgotten <= KEPT {
                break;
            }
            sum -= size(step);
            forgotten += 1;
        }
        self.made.drain(..forgotten);
    }

    /// What is next to be done on this way.
    pub fn next(&self, way: Way) -> Option<&EditStep> {
        match way {
            Way::Back => self.made.last(),
            Way::Again => self.undone.last(),
        }
    }

    /// Notes that this was done.
    pub fn done(&mut self, way: Way) {
        let (from, to) = match way {
            Way::Back => (&mut self.made, &mut self.undone),
            Way::Again => (&mut self.undone, &mut self.made),
        };
        to.extend(from.pop().map(|step| {
            let reversed = step.patches.into_iter().map(|(file, patch)| (file, patch.reversed()));
            let said = step.said.into_iter().map(|[before, now]| [now, before]);
            EditStep { patches: reversed.collect(), said: said.collect(), ..step }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(note: usize, bytes: usize) -> EditStep {
        let patches = vec![(PathBuf::new(), Patch::new(b"", [(0..0, vec![0; bytes])]).unwrap())];
        EditStep { note: note.to_string(), moves: Vec::new(), said: Vec::new(), patches }
    }

    #[test]
    fn edits_are_kept_within_a_number_and_a_size() {
        let mut history = History::default();
        (0..KEPT + 5).for_each(|number| history.add(step(number, 1)));
        assert_eq!((history.made.len(), history.made[0].note.as_str()), (KEPT, "5"));
        (0..3).for_each(|number| history.add(step(number, BYTES / 2)));
        assert_eq!((history.made.len(), history.made[0].note.as_str()), (1, "2"));
        history.add(step(9, 2 * BYTES));
        assert_eq!((history.made.len(), history.made[0].note.as_str()), (1, "9"));
    }

    #[test]
    fn what_is_taken_back_can_be_made_again_until_another_edit() {
        let mut history = History::default();
        (0..2).for_each(|number| history.add(step(number, 1)));
        let next = |history: &History, way| history.next(way).map(|step| step.note.clone());
        assert_eq!((next(&history, Way::Back).as_deref(), next(&history, Way::Again)), (Some("1"), None));
        history.done(Way::Back);
        assert_eq!(
            (next(&history, Way::Back).as_deref(), next(&history, Way::Again).as_deref()),
            (Some("0"), Some("1"))
        );
        history.done(Way::Again);
        assert_eq!(next(&history, Way::Back).as_deref(), Some("1"));
        history.done(Way::Back);
        history.add(step(7, 1));
        assert_eq!((next(&history, Way::Back).as_deref(), next(&history, Way::Again)), (Some("7"), None));
    }
}
