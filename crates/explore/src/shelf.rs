//! The open books. One that was replaced or changed on the disk is opened again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use shakmaty::ByColor;

use tabiya_adapter::settings::advice::worded;
use tabiya_adapter::settings::rules::Rule;
use tabiya_base::error::Result as Done;
use tabiya_base::folder;
use tabiya_base::progress::Progress;
use tabiya_base::replace::leftovers;
use tabiya_book::Among;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, BookSet, Edits, Evaluations, Format, OtherRules, Variant};
use tabiya_search::evals::{self, Store};
use tabiya_workshop::edit::Editor;
use tabiya_workshop::grow::GrowthState;

use super::narrowed::told_apart;
use super::opened;

/// How long a look at the files of a book counts.
const LOOK: Duration = Duration::from_secs(1);

/// What shows that a file is another, or has changed: its length, when it was last written, and its number.
pub(super) type FileStamp = (u64, Option<SystemTime>, u64);

/// A book, or why it cannot be opened.
pub(super) struct Opened {
    pub(super) book: Result<Arc<dyn Book>, String>,
    /// The book alone as a set, which remembers the lengths of its lines.
    pub(super) lines: Mutex<BookSet>,
    /// The evaluations beside it.
    pub(super) evals: Option<Arc<Store>>,
    /// Why those cannot be read.
    unread: Option<String>,
    /// How it grows, if `tabiya grow` writes it.
    pub(super) growth: Option<GrowthState>,
    /// Its files as they were.
    stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

/// A place for a book.
pub(super) struct Slot {
    /// The file; `None` for a book in memory.
    path: Option<PathBuf>,
    /// Whose rules its moves obey.
    pub(super) variant: Variant,
    /// The games that count in it.
    among: Among,
    /// The rules of the configuration under which it is asked, with their numbers.
    pub(super) rules: Vec<(usize, Rule)>,
    /// Whether the adapter asks it when White and when Black is to move.
    pub(super) asked: ByColor<bool>,
    /// Held only to take it or to put another one in its place: no look-up waits for one that is slow, nor for an edit.
    open: Mutex<Arc<Opened>>,
    looked: Mutex<Instant>,
    /// Held while the book is edited.
    pub(super) editor: Mutex<Editor>,
}

pub(super) struct Shelf(Vec<Slot>);

impl Opened {
    /// `before` is what the file was before the book was opened: it may have changed since.
    fn new(book: Result<Arc<dyn Book>, String>, path: Option<&Path>, before: Option<FileStamp>) -> Self {
        let mut files = match &book {
            Ok(book) if path.is_some() => book.files(),
            _ => path.map(Path::to_owned).into_iter().collect(),
        };
        let store = path.map(evals::beside);
        // A link to nothing is told too.
        let present = store.as_deref().filter(|path| path.symlink_metadata().is_ok());
        let (evals, unread) = match present.map(Store::open) {
            Some(Ok(store)) => (Some(Arc::new(store)), None),
            Some(Err(error)) => (None, Some(worded(&error))),
            None => (None, None),
        };
        files.extend(store);
        files.extend(path.map(GrowthState::beside));
        let growth = path.and_then(GrowthState::read);
        let stamp = |file: &Path| if Some(file) == path { before } else { stamp_of(file) };
        let stamps = files.into_iter().map(|file| (stamp(&file), file)).map(|(stamp, file)| (file, stamp));
        let set = BookSet::new(&[], &[], &book.iter().map(Arc::clone).collect::<Vec<_>>());
        let known = evals.clone().map(|store| -> Arc<dyn Evaluations> { store });
        let set = set.with_evaluations(book.iter().map(Arc::clone).zip(known));
        Self { lines: Mutex::new(set), evals, unread, growth, stamps: stamps.collect(), book }
    }

    fn at(path: &Path, open: impl FnOnce(&Path) -> Done<Arc<dyn Book>>) -> Self {
        let before = stamp_of(path);
        Self::new(open(path).map_err(|error| worded(&error)), Some(path), before)
    }
}

impl Slot {
    /// Opens the book of a file; an error is kept, and the file tried again.
    pub(super) fn open(path: &Path, variant: Variant, among: &Among, rules: Vec<(usize, Rule)>) -> Self {
        let open = Opened::at(path, |path| opened(path, variant, among));
        Self {
            open: holding(open),
            rules,
            among: among.clone(),
            ..Self::with(Some(path.to_owned()), variant)
        }
    }

    /// A book in memory.
    pub(super) fn of_book(book: Arc<dyn Book>) -> Self {
        let variant = book.variant();
        Self { open: holding(Opened::new(Ok(book), None, None)), ..Self::with(None, variant) }
    }

    /// The same, which the adapter asks only when one of these is to move.
    pub(super) fn asked_by(self, asked: ByColor<bool>) -> Self {
        Self { asked, ..self }
    }

    fn with(path: Option<PathBuf>, variant: Variant) -> Self {
        let editor = Editor::new(path.as_deref().unwrap_or(Path::new(""))).of_variant(variant);
        Self {
            editor: Mutex::new(editor),
            path,
            variant,
            among: Among::default(),
            rules: Vec::new(),
            asked: ByColor { white: true, black: true },
            open: holding(Opened::new(Err(String::new()), None, None)),
            looked: Mutex::new(Instant::now()),
        }
    }

    /// The book as it is open now; it stays open as long as somebody has it.
    pub(super) fn read(&self) -> Arc<Opened> {
        Arc::clone(&self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, opened: Opened) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *open, Arc::new(opened));
        drop(open);
        // Letting go of a large book takes a while.
        drop(before);
    }

    /// The file; `None` for a book in memory.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Why the book is not open.
    pub(super) fn error(&self) -> Option<String> {
        self.read().book.as_ref().err().cloned()
    }

    /// Why the evaluations beside it cannot be read.
    pub(super) fn unread_store(&self) -> Option<String> {
        self.read().unread.clone()
    }

    /// The book and the rules that its moves obey, where those are of another variant.
    pub(super) fn other_rules(&self, progress: &Progress) -> Option<(PathBuf, OtherRules)> {
        let open = self.read();
        let book = open.book.as_ref().ok()?;
        let other = book.other_rules(self.variant, progress)?;
        Some((book.path().to_owned(), other))
    }

    /// Opens the book again.
    pub(super) fn reopen(&self) {
        if let Some(path) = &self.path {
            self.put(Opened::at(path, |path| opened(path, self.variant, &self.among)));
        }
    }

    /// Opens the book again after an edit of our own, which has left nothing to finish.
    pub(super) fn reopen_plain(&self) {
        if let Some(path) = &self.path {
            self.put(Opened::at(path, |path| book::open_as(path, self.variant)));
            // Windows does not remove a file that is mapped into memory: the old one can go as soon as it is let go of.
            if cfg!(windows) {
                leftovers::remove(folder::parent_of(path));
            }
        }
    }

    /// Opens the book again if it was replaced or changed, or cannot be read, and returns whether it is another now; looks at
    /// most once a second.
    pub(super) fn refresh(&self) -> bool {
        {
            let Ok(mut looked) = self.looked.try_lock() else { return false };
            if looked.elapsed() < LOOK {
                return false;
            }
            *looked = Instant::now();
        }
        // Whoever edits it opens it again.
        let Ok(_editing) = self.editor.try_lock() else { return false };
        let before = self.error();
        let changed = self.read().stamps.iter().any(|(file, known)| stamp_of(file) != *known);
        // The file need not have changed for it to be readable again: another one that belongs to it may have come back.
        if changed || before.is_some() {
            self.reopen();
        }
        changed || before != self.error()
    }

    /// Its name: that of the file.
    pub(super) fn name(&self) -> String {
        let name = self.path.as_deref().map(|path| path.file_name().unwrap_or(path.as_os_str()));
        name.map_or_else(|| "starter book".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// What `/api/books` says of it.
    pub(super) fn describe(&self, id: usize, edit: bool) -> Value {
        let open = self.read();
        let path = self.path.as_deref();
        let format = open.book.as_ref().ok().map(|book| book.format());
        let writable = edit && path.is_some();
        let apart = open.book.as_ref().map(|book| told_apart(&**book, &self.among)).unwrap_or_default();
        let mut warnings = open.book.as_ref().map(|book| book.warnings()).unwrap_or_default();
        warnings.extend(open.unread.clone());
        let mut said = json!({
            "id": id,
            "name": self.name(),
            "path": path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            "format": format.map(Format::name),
            "edit": format.filter(|_| writable).and_then(editable),
            "evals": open.evals.is_some(),
            "growth": open.growth.as_ref().map(|GrowthState { searches, sides, next, errors, .. }| {
                json!({ "searches": searches, "sides": sides, "next": next, "errors": errors })
            }),
            "speeds": apart.0,
            "ratings": apart.1,
            "warnings": warnings,
            "error": open.book.as_ref().err(),
        });
        if let Some(said) = said.as_object_mut().filter(|_| self.variant != Variant::Chess) {
            said.insert("variant".to_owned(), json!(self.variant.uci()));
        }
        said
    }
}

impl Shelf {
    /// A shelf of these books.
    pub(super) fn new(slots: Vec<Slot>) -> Self {
        Self(slots)
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.0
    }

    /// The places of the books of a variant.
    pub(super) fn of(&self, variant: Variant) -> impl Iterator<Item = &Slot> {
        self.0.iter().filter(move |slot| slot.variant == variant)
    }

    /// The variants of the books, each once, that of the first book first.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let mut all = Vec::new();
        for slot in &self.0 {
            if !all.contains(&slot.variant) {
                all.push(slot.variant);
            }
        }
        all
    }

    /// The place of this number.
    pub(super) fn get(&self, id: usize) -> Option<&Slot> {
        self.0.get(id)
    }
}

fn holding(open: Opened) -> Mutex<Arc<Opened>> {
    Mutex::new(Arc::new(open))
}

/// The memory of a book's lines, for one request.
pub(super) fn lines_of(open: &Opened) -> MutexGuard<'_, BookSet> {
    open.lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How books of a format can be edited: what a number may be, or that moves have colours and marks.
fn editable(format: Format) -> Option<Value> {
    let (number, looks) = match format.edits() {
        Edits::Number { name, most, words } => (Some((name, most, words)), false),
        Edits::Verdicts => (None, true),
        _ => return None,
    };
    let range = |wanted| {
        number.filter(|(name, ..)| *name == wanted).map(|(_, max, _)| json!({ "min": 0, "max": max }))
    };
    Some(json!({
        "weight": range("weight"),
        "priority": range("priority"),
        "unit": number.map(|(_, _, words)| words),
        "looks": looks,
        "undo": true,
        // Books that learn are edited in place.
        "whole": !format.learns(),
    }))
}

/// What a file is now; `None` if there is none.
pub(super) fn stamp_of(file: &Path) -> Option<FileStamp> {
    let data = fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = 0;
    Some((data.len(), data.modified().ok(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_book_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, [0; 32]).unwrap();
        let slot = Slot::open(&path, Variant::Chess, &Among::default(), Vec::new());
        let look = || {
            *slot.looked.lock().unwrap() = Instant::now().checked_sub(2 * LOOK).unwrap_or_else(Instant::now);
            slot.refresh()
        };
        assert!(slot.error().is_none() && !slot.refresh());
        fs::remove_file(&path).unwrap();
        // On a machine that was just started no moment lies two seconds back.
        if look() {
            assert!(slot.error().is_some());
            fs::write(&path, [0; 48]).unwrap();
            assert!(look() && slot.error().is_none() && !look());
        }
    }
}
