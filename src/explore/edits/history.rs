//! Edits of books that are written anew, kept so that they can be taken back and made again.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use shakmaty::Move;

use super::value::shown;
use crate::base::error::{Error, ErrorKind};
use crate::base::progress::Progress;
use crate::base::replace::Replacement;
use crate::book::edit::Edit;
use crate::book::{self, Book, Format, MoveFacts};
use crate::bookmaker::Resources;
use crate::chess::Position;
use crate::edit::{self, Outcome};
use crate::explore::fault::Fault;
use crate::explore::place::Place;

/// Edits of a book that are kept.
const KEPT: usize = 200;

/// Whether an edit is taken back or made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Back,
    Again,
}

/// The edits of a book, and those that were taken back.
#[derive(Default)]
pub(in crate::explore) struct History {
    made: Vec<Made>,
    undone: Vec<Made>,
    count: u64,
}

/// An edit.
#[derive(Clone)]
pub(super) struct Made {
    /// The start of its place; `None` for the usual one.
    pub(super) start: Option<String>,
    /// The moves to its place.
    pub(super) play: Vec<String>,
    /// Its place in words.
    pub(super) note: String,
    at: Position,
    mv: Move,
    kept: Kept,
}

/// What must be written to take an edit back.
#[derive(Clone)]
enum Kept {
    /// What the book said of the move before and after.
    Facts(Option<MoveFacts>, Option<MoveFacts>),
    /// The bytes of the file.
    Bytes(Arc<Patch>),
}

/// Where two files differ.
struct Patch {
    /// The lengths before and after.
    lens: [usize; 2],
    /// The offset of the first difference, and the bytes from there to the last, before and after.
    from: usize,
    parts: [Vec<u8>; 2],
}

impl History {
    /// The number of the last edit.
    pub(super) fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Adds an edit; those that were taken back before it cannot be made again.
    pub(super) fn add(&mut self, made: Made) {
        self.undone.clear();
        self.made.push(made);
        if self.made.len() > KEPT {
            self.made.remove(0);
        }
    }

    /// The edit that is next to be taken back or made again.
    pub(super) fn next(&self, way: Way) -> Option<&Made> {
        match way {
            Way::Back => self.made.last(),
            Way::Again => self.undone.last(),
        }
    }

    /// Notes that this edit was taken back or made again.
    pub(super) fn moved(&mut self, way: Way) {
        match way {
            Way::Back => self.undone.extend(self.made.pop()),
            Way::Again => self.made.extend(self.undone.pop()),
        }
    }
}

impl Made {
    /// Makes an edit of one move.
    ///
    /// # Errors
    /// When it does not fit the book, or the book cannot be written.
    pub(super) fn make(
        known: Arc<dyn Book>,
        place: &Place,
        mv: Move,
        edits: &[Edit],
        note: &str,
    ) -> Result<Self, Fault> {
        let at = place.game.position();
        let path = known.path().to_owned();
        let is_abk = known.format() == Format::Abk;
        let facts = facts_of(&*known, at, mv);
        let bytes = if is_abk { read(&path)? } else { Vec::new() };
        let outcome = edit::apply(known, at, edits, note, &resources()?, Progress::none)?;
        written(&path, &outcome)?;
        let kept = if is_abk {
            Kept::Bytes(Arc::new(Patch::of(&bytes, &read(&path)?)))
        } else {
            Kept::Facts(facts, facts_of(&*book::open(&path)?, at, mv))
        };
        let start = place.is_set_up.then(|| place.start_fen());
        Ok(Self { start, play: place.play(), note: note.to_owned(), at: at.clone(), mv, kept })
    }

    /// Takes the edit back, or makes it again; returns what the move had and has.
    ///
    /// # Errors
    /// When the book says something else by now, or cannot be written.
    pub(super) fn apply(&self, path: &Path, way: Way) -> Result<(Value, Value), Fault> {
        let known = book::open(path)?;
        let before = shown(&*known, &self.at, self.mv);
        let changed =
            || Fault::conflict("the book was changed since: edit the move as it is now", before.clone());
        match &self.kept {
            Kept::Facts(old, new) => {
                let (from, to) = if way == Way::Back { (new, old) } else { (old, new) };
                if facts_of(&*known, &self.at, self.mv) != *from {
                    return Err(changed());
                }
                let outcome = edit::restore(&*known, &self.at, self.mv, *to, &resources()?)?;
                drop(known);
                written(path, &outcome)?;
            }
            Kept::Bytes(patch) => {
                drop(known);
                let bytes = patch.apply(read(path)?, way).ok_or_else(changed)?;
                let mut file = Replacement::new(path, true)?;
                file.write_all(&bytes).map_err(|error| file.error(error))?;
                file.commit()?;
            }
        }
        Ok((before.clone(), shown(&*book::open(path)?, &self.at, self.mv)))
    }
}

impl Patch {
    fn of(old: &[u8], new: &[u8]) -> Self {
        let from = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let rest = |bytes: &[u8]| bytes.get(from..).unwrap_or_default().to_vec();
        let (mut a, mut b) = (rest(old), rest(new));
        if old.len() == new.len() {
            let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
            a.truncate(a.len() - same);
            b.truncate(b.len() - same);
        }
        Self { lens: [old.len(), new.len()], from, parts: [a, b] }
    }

    /// The file before or after; `None` if the bytes are of another.
    fn apply(&self, mut bytes: Vec<u8>, way: Way) -> Option<Vec<u8>> {
        let (is, wanted) = if way == Way::Back { (1, 0) } else { (0, 1) };
        let (part, new) = (self.parts.get(is)?, self.parts.get(wanted)?);
        let range = self.from..self.from.checked_add(part.len())?;
        if bytes.len() != *self.lens.get(is)? || bytes.get(range.clone())? != part {
            return None;
        }
        bytes.splice(range, new.iter().copied());
        Some(bytes)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    fs::read(path).map_err(|error| Error::file(path, "cannot read the book", error).into())
}

fn resources() -> Result<Resources, Fault> {
    Ok(Resources::new(None, None, None)?)
}

fn facts_of(known: &dyn Book, at: &Position, mv: Move) -> Option<MoveFacts> {
    let mut moves = Vec::new();
    known.moves(at, &mut moves);
    moves.into_iter().find(|facts| facts.mv == mv)
}

/// # Errors
/// When the book was not written.
fn written(path: &Path, outcome: &Outcome) -> Result<(), Fault> {
    match outcome {
        Outcome::Made => Ok(()),
        Outcome::NotWritten(_) => Err(Error::new(
            ErrorKind::Format,
            "written anew, the book would have no moves left, or not be whole; `tabiya edit` says what would be lost",
        )
        .at_path(path)
        .advice("the old files are unchanged")
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_patch_leads_there_and_back(old in prop::collection::vec(0..3_u8, 0..40), new in prop::collection::vec(0..3_u8, 0..40)) {
            let patch = Patch::of(&old, &new);
            prop_assert_eq!(patch.apply(new.clone(), Way::Back), Some(old.clone()));
            prop_assert_eq!(patch.apply(old, Way::Again), Some(new));
        }
    }

    #[test]
    fn a_patch_does_not_fit_another_file() {
        let patch = Patch::of(b"abcdef", b"abXdef");
        assert_eq!(patch.apply(b"abYdef".to_vec(), Way::Back), None);
        assert_eq!(patch.apply(b"abXdefg".to_vec(), Way::Back), None);
        assert_eq!(patch.apply(b"ZbXdef".to_vec(), Way::Back), Some(b"Zbcdef".to_vec()));
    }
}
