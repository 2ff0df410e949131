//! The owner of edits by hand, in books of every format: compares, locks between processes, writes, takes back, makes again.
//!
//! A Polyglot book is edited in its place, and its journal knows how to take edits back. The files of the other formats are
//! copied beside the old ones with the bytes that an edit changes, and replace them in one step; what takes their edits back
//! lives as long as their [`Editor`].

mod history;
mod kept_place;
mod line;
mod lock;
mod made;
#[cfg(test)]
mod said;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::Move;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::map::Map;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_base::replace::FileSet;
use tabiya_book::edit::{Change, Edit, EditValue, PositionEdits};
use tabiya_book::traits::Book;
use tabiya_book::{self as book, Annotation, Edits, MoveFacts, Recommendation};
use tabiya_chess::{MoveCode, Position, Variant};
use tabiya_learn::{self as learn, Attempt, EntryEdit, Learner, MadeEdit, Reversal, WeightChange};

use self::history::{EditStep, History};
use self::lock::BookLock;

pub use self::history::Way;
pub use self::kept_place::{KeptPlace, kept, place_of};
pub use self::line::{Line, LineChange, LineCounts, MOST};
pub use self::made::{Made, MadeMove, NamedEdit, NamedMoves};

/// Bytes that are kept of an edit's place.
pub const MAX_NOTE: usize = 255;

/// What a book says of a move, as far as an edit can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveState {
    /// As in [`MoveFacts`].
    pub weight: u64,
    /// As in [`MoveFacts`].
    pub recommended: Option<Recommendation>,
    /// As in [`MoveFacts`].
    pub annotation: Option<Annotation>,
    /// As [`own_number`].
    pub own: Option<(&'static str, u64)>,
}

/// What a book must say of a move to be edited: what the user was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// It does not have the move.
    Absent,
    /// This number, in a format whose edits set one.
    Number(u64),
    /// This verdict.
    Verdict {
        /// Its colour.
        recommended: Option<Recommendation>,
        /// Its sign.
        annotation: Option<Annotation>,
    },
}

/// Edits of a position, all of which are made or none.
#[derive(Debug)]
pub struct Wish<'a> {
    /// The position.
    pub at: &'a Position,
    /// The edits, in order.
    pub edits: &'a [Edit],
    /// Where it is, as [`kept`] writes it.
    pub note: &'a str,
    /// What the book must say of the first move.
    pub expected: Option<Expected>,
}

/// What is to become of a line, all of it or nothing.
#[derive(Debug)]
pub struct LineWish<'a> {
    /// The line.
    pub line: &'a Line,
    /// What becomes of it.
    pub change: LineChange,
    /// What that must do to the book.
    pub expected: Option<LineCounts>,
}

/// What became of an edit.
#[derive(Debug)]
pub enum EditOutcome {
    /// The book has it, on the disk.
    Made(Made),
    /// The book says this of the move, and not what was expected; it is unchanged.
    Unexpected(Option<MoveState>),
    /// The line would do this to the book, and not what was expected; it is unchanged.
    OtherCounts(LineCounts),
    /// Another edit is the next that can be reversed: this one, as it was made.
    Other(Made),
    /// There is no edit to undo or to redo.
    Nothing,
}

/// A position, and moves of it.
type PositionMoves = (Position, Vec<Move>);

/// A book that is edited.
#[derive(Debug)]
pub struct Editor {
    path: PathBuf,
    variant: Variant,
    history: History,
}

impl Editor {
    /// An editor of the book of this path, which is first opened when it is edited.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), variant: Variant::Chess, history: History::default() }
    }

    /// The book as one of a variant: see [`tabiya_book::open_as`].
    #[must_use]
    pub fn of_variant(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// Makes edits. `progress` is shown where the whole book is read.
    ///
    /// # Errors
    /// When an edit does not fit the moves or the format, another process keeps the book, or it cannot be written: it is
    /// unchanged then.
    pub fn edit(&mut self, wish: &Wish<'_>, progress: impl FnOnce() -> Progress) -> Result<EditOutcome> {
        let _lock = BookLock::take(&self.path)?;
        let book = self.editable()?;
        let edits = [PositionEdits { at: wish.at.clone(), edits: wish.edits.to_vec() }];
        if !book.format().learns() {
            return self.edit_beside(book, &edits, wish.note, wish.expected, &progress());
        }
        // While the book is written, a map of it could get in the way.
        drop(book);
        let expected = match wish.expected {
            None => Vec::new(),
            Some(Expected::Number(weight)) => vec![Some(weight)],
            // It has no colours.
            Some(_) => vec![None],
        };
        edit_in_place(&self.path, &edits, &expected, wish.note)
    }

    /// Adds a line to the book, or deletes it, as one edit.
    ///
    /// # Errors
    /// When the book does not have a line that is to be deleted, and as [`Editor::edit`].
    pub fn edit_line(&mut self, wish: &LineWish<'_>, progress: &Progress) -> Result<EditOutcome> {
        let _lock = BookLock::take(&self.path)?;
        let book = self.editable()?;
        let plan = line::plan(&*book, wish.line, wish.change, progress)?;
        if wish.expected.is_some_and(|expected| expected != plan.counts) {
            return Ok(EditOutcome::OtherCounts(plan.counts));
        }
        if !book.format().learns() {
            return self.edit_beside(book, &plan.edits, &plan.note, None, progress);
        }
        drop(book);
        let expected: Vec<_> = plan.before.iter().flatten().map(|said| said.map(MoveState::number)).collect();
        match edit_in_place(&self.path, &plan.edits, &expected, &plan.note)? {
            EditOutcome::Unexpected(_) => Err(changed_meanwhile(&self.path)),
            outcome => Ok(outcome),
        }
    }

    /// The book as it is now.
    ///
    /// # Errors
    /// When it cannot be opened or edited.
    fn editable(&self) -> Result<Arc<dyn Book>> {
        let book = learn::open_settled_as(&self.path, self.variant)?;
        refuse_read_only(&*book)?;
        refuse_format(&*book)?;
        Ok(book)
    }

    /// Takes back the last edit, or makes the last one that was taken back again, unless another one is named.
    ///
    /// # Errors
    /// When another program has changed the moves since, and as [`Editor::edit`].
    pub fn reverse(&mut self, way: Way, named: Option<&NamedEdit<'_>>) -> Result<EditOutcome> {
        let _lock = BookLock::take(&self.path)?;
        let book = learn::open_settled_as(&self.path, self.variant)?;
        refuse_read_only(&*book)?;
        if !book.format().learns() {
            return self.reverse_beside(&book, way, named);
        }
        drop(book);
        let mut learner = Learner::new(&self.path)?;
        let is_meant = |next: &MadeEdit| {
            named.is_none_or(|named| named.is(&Made::of_weights(next, self.variant).reversed(), self.variant))
        };
        let made = |made: &MadeEdit| Made::of_weights(made, self.variant);
        Ok(match learner.reverse_edit(way == Way::Back, is_meant)? {
            Reversal::Made(edit) => EditOutcome::Made(made(&edit)),
            Reversal::Other(next) => EditOutcome::Other(made(&next).reversed()),
            Reversal::Nothing => EditOutcome::Nothing,
        })
    }

    fn edit_beside(
        &mut self,
        book: Arc<dyn Book>,
        all: &[PositionEdits],
        note: &str,
        expected: Option<Expected>,
        progress: &Progress,
    ) -> Result<EditOutcome> {
        let moves_of = |of: &PositionEdits| {
            let mut moves: Vec<Move> = of.edits.iter().map(|edit| edit.mv).collect();
            moves.dedup();
            (of.at.clone(), moves)
        };
        let moves: Vec<PositionMoves> = all.iter().map(moves_of).collect();
        let before = said(&book, &moves)?.ok_or_else(interrupt::stopped)?;
        let first = before.first().copied().flatten();
        if expected.is_some_and(|expected| !expected.is_met(first)) {
            return Ok(EditOutcome::Unexpected(first));
        }
        let Some(patchable) = book.as_patchable() else { return Ok(EditOutcome::Nothing) };
        let patches = patchable.patches(all, progress);
        let patches = patches
            .map_err(|error| if error.path().is_some() { error } else { error.at_path(&self.path) })?;
        drop(book);
        if let Some(file) = write_patches(&patches)? {
            return Err(changed_meanwhile(&file));
        }
        let made = Made::new(note, &moves, &before, self.said_after(&moves));
        // An edit that changes nothing is none.
        if patches.iter().any(|(_, patch)| !patch.is_empty()) {
            let patches = patches.into_iter().map(|(file, patch)| (file, patch.reversed())).collect();
            let said = made.moves.iter().map(|made| made.said).collect();
            self.history.add(EditStep { note: note.to_owned(), moves, said, patches });
        }
        Ok(EditOutcome::Made(made))
    }

    fn reverse_beside(
        &mut self,
        book: &Arc<dyn Book>,
        way: Way,
        named: Option<&NamedEdit<'_>>,
    ) -> Result<EditOutcome> {
        let Some(step) = self.history.next(way) else { return Ok(EditOutcome::Nothing) };
        let last = || {
            let (before, now): (Vec<_>, Vec<_>) =
                step.said.iter().map(|[before, now]| (*before, *now)).unzip();
            Made::new(&step.note, &step.moves, &before, Ok(now))
        };
        if !named.is_none_or(|named| named.is(&last(), self.variant)) {
            return Ok(EditOutcome::Other(last()));
        }
        let before = said(book, &step.moves)?.ok_or_else(interrupt::stopped)?;
        if write_patches(&step.patches)?.is_some() {
            return Ok(EditOutcome::Unexpected(before.first().copied().flatten()));
        }
        let made = Made::new(&step.note, &step.moves, &before, self.said_after(&step.moves));
        self.history.done(way);
        Ok(EditOutcome::Made(made))
    }

    /// What the book says after an edit.
    fn said_after(&self, moves: &[PositionMoves]) -> Result<Vec<Option<MoveState>>> {
        said(&book::open_as(&self.path, self.variant)?, moves)?.ok_or_else(|| {
            Error::new(ErrorKind::Interrupted, "interrupted after the edit was made").at_path(&self.path)
        })
    }
}

/// What a book says of moves; `None` if the user asks to stop before the book is read.
fn said(book: &Arc<dyn Book>, moves: &[PositionMoves]) -> Result<Option<Vec<Option<MoveState>>>> {
    let (read, first) = (Arc::clone(book), moves.first().map(|(at, _)| at.clone()));
    // The first look-up may have to wait for the whole book.
    let look = move || first.map(|at| read.moves_in(&at));
    let known = interrupt::wait_for("moves", look)
        .map_err(|error| Error::file(book.path(), "cannot read the book", error))?;
    if known.is_none() {
        return Ok(None);
    }
    let mut said = Vec::new();
    for (at, moves) in moves {
        let known = book.moves_in(at);
        let of = |mv: &Move| known.iter().find(|facts| facts.mv == *mv);
        said.extend(moves.iter().map(|mv| of(mv).map(|facts| MoveState::from_facts(&**book, at, facts))));
    }
    Ok(Some(said))
}

fn changed_meanwhile(file: &Path) -> Error {
    Error::new(ErrorKind::File, "another program has changed the file meanwhile")
        .at_path(file)
        .advice("edit the book again")
}

/// What a change of a line would do to a book, which is not changed.
///
/// # Errors
/// When the book cannot be edited or does not have a line that is to be deleted, or the work is interrupted.
pub fn plan_line(
    book: &dyn Book,
    line: &Line,
    change: LineChange,
    progress: &Progress,
) -> Result<LineCounts> {
    refuse_format(book)?;
    Ok(line::plan(book, line, change, progress)?.counts)
}

/// Refuses a book of a format that cannot be edited.
fn refuse_format(book: &dyn Book) -> Result<()> {
    let format = book.format();
    let Edits::Not { advice, remedy } = format.edits() else { return Ok(()) };
    Err(Error::new(ErrorKind::Usage, format!("{} cannot be edited", format.noun()))
        .at_path(book.path())
        .advice(advice)
        .remedied_by(remedy))
}

/// The number of a move that edits set, with its name, in a format whose weights follow from it.
pub fn own_number(book: &dyn Book, at: &Position, mv: Move) -> Option<(&'static str, u64)> {
    let Edits::Number { name, .. } = book.format().edits() else { return None };
    Some((name, book.own_number(at, mv)?))
}

/// Writes files with their changes, all of them or none. Returns the file that a change does not fit, if there is one: all
/// are unchanged then.
fn write_patches(patches: &[(PathBuf, Patch)]) -> Result<Option<PathBuf>> {
    let mut set = FileSet::default();
    // The first one opens the book: it comes last.
    for (path, patch) in patches.iter().rev() {
        let data = Map::open(path)?;
        if !patch.fits(&data) {
            return Ok(Some(path.clone()));
        }
        let mut file = set.begin(path, true)?;
        patch.write(&data, &mut file).map_err(|error| file.error(error))?;
        drop(data);
        set.add(file)?;
    }
    set.commit()?;
    Ok(None)
}

impl MoveState {
    /// What a book says of one of its moves.
    pub fn from_facts(book: &dyn Book, at: &Position, facts: &MoveFacts) -> Self {
        let MoveFacts { weight, recommended, annotation, .. } = *facts;
        Self { weight, recommended, annotation, own: own_number(book, at, facts.mv) }
    }

    fn weight(weight: u64) -> Self {
        Self { weight, recommended: None, annotation: None, own: None }
    }

    /// The number that an edit sets.
    pub fn number(self) -> u64 {
        self.own.map_or(self.weight, |(_, number)| number)
    }

    /// Whether an edit to this value would change nothing.
    fn has(self, value: EditValue) -> bool {
        match value {
            EditValue::Weight(number) => self.number() == number,
            EditValue::Plain => self.recommended.is_none() && self.annotation.is_none(),
            EditValue::Verdict { color, mark } => {
                color.is_none_or(|color| self.recommended == Some(color))
                    && mark.is_none_or(|mark| self.annotation == Some(mark))
            }
            _ => false,
        }
    }
}

impl Expected {
    fn is_met(self, now: Option<MoveState>) -> bool {
        match (self, now) {
            (Self::Absent, now) => now.is_none(),
            (_, None) => false,
            (Self::Number(number), Some(now)) => now.number() == number,
            (Self::Verdict { recommended, annotation }, Some(now)) => {
                (now.recommended, now.annotation) == (recommended, annotation)
            }
        }
    }
}

/// Refuses a book of which a file may only be read.
///
/// # Errors
/// When there is such a file.
pub fn refuse_read_only(book: &dyn Book) -> Result<()> {
    let is_read_only = |file: &PathBuf| fs::metadata(file).is_ok_and(|data| data.permissions().readonly());
    match book.files().into_iter().find(is_read_only) {
        None => Ok(()),
        Some(file) => Err(Error::new(ErrorKind::File, "the file is read-only")
            .at_path(file)
            .advice("make it writable, or edit a copy")),
    }
}

/// Edits a Polyglot book. What is expected is compared under the journal's lock, which learning respects too.
fn edit_in_place(
    path: &Path,
    all: &[PositionEdits],
    expected: &[Option<u64>],
    note: &str,
) -> Result<EditOutcome> {
    let entries: Vec<EntryEdit> = all
        .iter()
        .flat_map(|PositionEdits { at, edits }| {
            edits.iter().map(|edit| EntryEdit {
                key: at.key(),
                codes: MoveCode::codes(edit.mv, at.chess()),
                edit: edit.clone(),
            })
        })
        .collect();
    let made = match Learner::new(path)?.edit(&entries, expected, note)? {
        Attempt::Made(made) => made,
        Attempt::Unexpected(now) => return Ok(EditOutcome::Unexpected(now.map(MoveState::weight))),
    };
    let known: HashMap<(u64, MoveCode), &WeightChange> =
        made.weights.iter().map(|change| ((change.key, change.mv), change)).collect();
    let moves = entries.iter().map(|EntryEdit { key, codes, edit }| {
        let known = codes.iter().find_map(|code| known.get(&(*key, *code)));
        let weights = match (known, edit.change) {
            (Some(change), _) => [change.before, change.after],
            // It has that weight already.
            (None, Change::Set(EditValue::Weight(weight))) => [Some(weight); 2],
            (None, _) => [None; 2],
        };
        let [usual, _] = *codes;
        let code = known.map_or(usual, |change| change.mv);
        let said = weights.map(|weight| weight.map(MoveState::weight));
        MadeMove { key: *key, code, uci: made::worded(usual), said }
    });
    Ok(EditOutcome::Made(Made { note: made.note.clone(), moves: moves.collect(), unread: None }))
}

#[cfg(test)]
pub(super) mod tests {
    use tabiya_book::{MoveFacts as Facts, PositionRecord, WriteOptions};
    use tabiya_testing::books::mv;

    use super::*;

    /// A book of three moves in the starting position.
    pub(super) fn write(path: &Path, weights: [u64; 3]) {
        let (at, mut options) = (Position::start(), WriteOptions::default());
        options.force = true;
        let mut writer = book::create_book(path, &options).unwrap();
        let of = |(uci, weight)| Facts::new(mv(&at, uci), weight);
        let moves: Vec<_> = ["a2a3", "d2d4", "e2e4"].into_iter().zip(weights).map(of).collect();
        writer.add(&PositionRecord::from_moves(&at, &moves)).unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn an_edit_that_is_made_is_reported_and_undone_although_the_book_cannot_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.abk");
        write(&path, [1, 2, 3]);
        let before = fs::read(&path).unwrap();
        let at = Position::start();
        let edits = vec![Edit { mv: mv(&at, "d2d4"), name: "d4".to_owned(), change: Change::Delete }];
        let edits = [PositionEdits { at, edits }];
        // As if the book had gone at once.
        let mut editor = Editor::new(&folder.path().join("gone.abk"));
        let EditOutcome::Made(made) = editor
            .edit_beside(book::open_book(&path).unwrap(), &edits, "startpos", None, &Progress::none())
            .unwrap()
        else {
            panic!("it is made")
        };
        assert!(made.unread.is_some() && made.moves.is_empty());
        assert_ne!(fs::read(&path).unwrap(), before);
        editor.path = path.clone();
        let EditOutcome::Made(undone) = editor.reverse(Way::Back, None).unwrap() else {
            panic!("it is known")
        };
        assert!(undone.unread.is_none() && undone.moves[0].said[1].is_some());
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_book_that_another_program_replaces_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, file, value) in [
            ("a.abk", "a.abk", EditValue::Weight(7)),
            ("a.kob", "a_0.kob", EditValue::Weight(7)),
            ("a.ctg", "a.ctg", EditValue::Verdict { color: None, mark: Some(Annotation::Good) }),
        ] {
            let (path, file) = (folder.path().join(name), folder.path().join(file));
            write(&path, [1, 2, 3]);
            let at = Position::start();
            let edits = [Edit { mv: mv(&at, "d2d4"), name: "d4".to_owned(), change: Change::Set(value) }];
            let wish = Wish { at: &at, edits: &edits, note: "", expected: None };
            let mut others = Vec::new();
            let replaced = Editor::new(&path).edit(&wish, || {
                let mut bytes = fs::read(&file).unwrap();
                bytes.insert(bytes.len() / 2, 1);
                fs::write(file.with_extension("new"), &bytes).unwrap();
                fs::rename(file.with_extension("new"), &file).unwrap();
                others = bytes;
                Progress::none()
            });
            let error = replaced.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                error.contains(&file.display().to_string()) && error.contains("changed"),
                "{name}: {error}"
            );
            assert_eq!(fs::read(&file).unwrap(), others, "{name}");
        }
    }
}
