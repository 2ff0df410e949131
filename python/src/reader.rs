//! A book that is asked for positions.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::vec::IntoIter;

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::board::{Asked, Place};
use crate::entry::{Entry, named};
use crate::errors::{raise, raise_opening};
use crate::library::{Error, Interrupt, OpenBook, Opening, Raw, mode_of};
use crate::tasks::{long, not_pickled, path_of, wait_for};

/// Entries that the thread that reads a book hands over at once, and how many such parts may wait.
const PART: usize = 1024;
const WAITING: usize = 4;

/// A book that is open. It has the interface of ``chess.polyglot.MemoryMappedReader``, for every format.
///
/// A *board* is a ``chess.Board`` of standard chess, Chess960 or a variant that Lichess has, or a FEN of standard chess. A Polyglot book
/// does not say its variant: as in python-chess, the board does. Polyglot books are also asked by keys.
///
/// With *tournament*, weights are those that the book's colors, marks and limits leave in tournaments.
#[pyclass(frozen, module = "tabiya", name = "Reader")]
pub struct Reader {
    /// `None` once it is closed.
    open: Mutex<Option<OpenBook>>,
    path: String,
    format: String,
    tournament: bool,
    len: OnceLock<u64>,
}

impl Reader {
    /// The book, unless it is closed.
    pub fn book(&self) -> PyResult<OpenBook> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| PyValueError::new_err(format!("{}: the book is closed", self.path)))
    }

    /// The entries of a position or key, in the order of the book.
    fn entries(&self, board: &Bound<'_, PyAny>, choice: &Choice<'_, '_>) -> PyResult<Vec<Entry>> {
        let book = self.book()?;
        let mut entries = match Asked::of(board)? {
            Asked::Nothing => Vec::new(),
            Asked::Place(place) => {
                let Place { at, mode } = *place;
                let found = book.find(&at, self.tournament);
                if found.is_empty() {
                    book.check_pages().map_err(|error| raise(&error))?;
                    return Ok(Vec::new());
                }
                let at = Arc::new(at);
                choice.heavy(
                    board.py(),
                    found,
                    |found| found.facts.weight,
                    |found| Entry::found(&found, &at, mode),
                )?
            }
            Asked::Key(key) => {
                let raws = key.map_or_else(|| Some(Vec::new()), |key| book.of_key(key));
                let raws = raws.ok_or_else(|| {
                    let format = &self.format;
                    PyTypeError::new_err(format!(
                        "a book of the format {format} is asked for positions, not for keys: pass a board"
                    ))
                })?;
                choice.heavy(board.py(), raws, |raw| raw.facts.weight, |raw| Entry::raw(raw, mode_of))?
            }
        };
        book.check_pages().map_err(|error| raise(&error))?;
        choice.exclude(board.py(), &mut entries)?;
        Ok(entries)
    }

    /// How many entries there are, if they have numbers.
    fn numbered(&self, book: &OpenBook) -> PyResult<usize> {
        book.quick_len().ok_or_else(|| {
            let format = &self.format;
            PyTypeError::new_err(format!(
                "the entries of a book of the format {format} have no numbers: iterate over it"
            ))
        })
    }

    fn best(&self, board: &Bound<'_, PyAny>, choice: &Choice<'_, '_>) -> PyResult<Option<Entry>> {
        let mut best: Option<Entry> = None;
        for entry in self.entries(board, choice)? {
            if best.as_ref().is_none_or(|best| entry.weight() > best.weight()) {
                best = Some(entry);
            }
        }
        Ok(best)
    }
}

/// The least weight of an entry that is wanted: any number of Python's.
enum Minimum<'py> {
    Whole(i128),
    Other(Bound<'py, PyAny>),
}

/// As in python-chess.
const MIN: Minimum<'static> = Minimum::Whole(1);

impl<'py> FromPyObject<'_, 'py> for Minimum<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(given.extract().map_or_else(|_| Self::Other(given.to_owned()), Self::Whole))
    }
}

/// Which entries are wanted.
struct Choice<'a, 'py> {
    minimum: Minimum<'py>,
    exclude: Option<&'a Bound<'py, PyAny>>,
}

impl<'a, 'py> Choice<'a, 'py> {
    fn new(minimum: Minimum<'py>, exclude: Option<&'a Bound<'py, PyAny>>) -> PyResult<Self> {
        let is_given = |given: &&Bound<'_, PyAny>| given.is_truthy();
        let exclude = match exclude.as_ref() {
            Some(given) => is_given(given)?.then_some(*given),
            None => None,
        };
        Ok(Self { minimum, exclude })
    }

    /// The entries that weigh enough.
    fn heavy<T>(
        &self,
        py: Python<'py>,
        all: Vec<T>,
        weight: impl Fn(&T) -> u64,
        entry: impl Fn(T) -> Entry,
    ) -> PyResult<Vec<Entry>> {
        let mut heavy = Vec::new();
        for one in all {
            let is_light = match &self.minimum {
                Minimum::Whole(least) => i128::from(weight(&one)) < *least,
                Minimum::Other(least) => weight(&one).into_pyobject(py)?.lt(least)?,
            };
            if !is_light {
                heavy.push(entry(one));
            }
        }
        Ok(heavy)
    }

    fn exclude(&self, py: Python<'_>, entries: &mut Vec<Entry>) -> PyResult<()> {
        let Some(excluded) = self.exclude else { return Ok(()) };
        let mut failed = None;
        entries.retain(|entry| {
            let is_out = entry.python(py).and_then(|mv| excluded.contains(mv));
            !is_out.unwrap_or_else(|error| {
                failed = Some(error);
                true
            })
        });
        failed.map_or(Ok(()), Err)
    }
}

/// A whole number from `a` to `b`, from the generator that the caller names or from Python's own.
fn randint<'py>(
    py: Python<'py>,
    random: Option<&Bound<'py, PyAny>>,
    a: u64,
    b: u64,
) -> PyResult<Bound<'py, PyAny>> {
    match random {
        Some(random) => random.call_method1("randint", (a, b)),
        None => py.import("random")?.call_method1("randint", (a, b)),
    }
}

fn nothing() -> PyErr {
    PyIndexError::new_err("the book has no such entry in this position")
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (path, *, tournament = false))]
    fn new(py: Python<'_>, path: &Bound<'_, PyAny>, tournament: bool) -> PyResult<Self> {
        let path = path_of(path)?;
        let book = py.detach(|| OpenBook::open(&path)).map_err(|error| raise_opening(&error, Some(&path)))?;
        for warning in book.book.warnings() {
            let class = py.import("tabiya._errors")?.getattr("DamageWarning")?;
            py.import("warnings")?.call_method1("warn", (warning, class, 2))?;
        }
        Ok(Self {
            path: path.to_string_lossy().into_owned(),
            format: book.book.format().to_string(),
            open: Mutex::new(Some(book)),
            tournament,
            len: OnceLock::new(),
        })
    }

    /// The path that was opened.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// The format: ``polyglot``, ``ctg``, ``abk``, ``kvetka``, ``exp``, ``obk`` or ``counts``.
    #[getter]
    fn format(&self) -> &str {
        &self.format
    }

    /// Whether the book is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// The entries of a position, in the order of the book: legal moves, each once.
    ///
    /// Those of less than *minimum_weight* are left out, and those whose move is in *exclude_moves*.
    #[pyo3(
        signature = (board, *, minimum_weight = MIN, exclude_moves = None),
        text_signature = "($self, board, *, minimum_weight=1, exclude_moves=None)"
    )]
    fn find_all(
        &self,
        board: &Bound<'_, PyAny>,
        minimum_weight: Minimum<'_>,
        exclude_moves: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Found> {
        let entries = self.entries(board, &Choice::new(minimum_weight, exclude_moves)?)?;
        Ok(Found(Mutex::new(entries.into_iter())))
    }

    /// The heaviest entry of a position, the first among equals.
    ///
    /// :raises IndexError: if there is none.
    #[pyo3(
        signature = (board, *, minimum_weight = MIN, exclude_moves = None),
        text_signature = "($self, board, *, minimum_weight=1, exclude_moves=None)"
    )]
    fn find(
        &self,
        board: &Bound<'_, PyAny>,
        minimum_weight: Minimum<'_>,
        exclude_moves: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Entry> {
        self.best(board, &Choice::new(minimum_weight, exclude_moves)?)?.ok_or_else(nothing)
    }

    /// The heaviest entry of a position, or *default* if there is none.
    #[pyo3(
        signature = (board, default = None, *, minimum_weight = MIN, exclude_moves = None),
        text_signature = "($self, board, default=None, *, minimum_weight=1, exclude_moves=None)"
    )]
    fn get<'py>(
        &self,
        board: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        minimum_weight: Minimum<'_>,
        exclude_moves: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.best(board, &Choice::new(minimum_weight, exclude_moves)?)? {
            Some(entry) => Ok(Some(Bound::new(board.py(), entry)?.into_any())),
            None => Ok(default),
        }
    }

    /// A random entry of a position, all with the same chance. *random* is asked for ``randint``.
    ///
    /// :raises IndexError: if there is none.
    #[pyo3(
        signature = (board, *, minimum_weight = MIN, exclude_moves = None, random = None),
        text_signature = "($self, board, *, minimum_weight=1, exclude_moves=None, random=None)"
    )]
    fn choice<'py>(
        &self,
        board: &Bound<'py, PyAny>,
        minimum_weight: Minimum<'_>,
        exclude_moves: Option<&Bound<'py, PyAny>>,
        random: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Entry> {
        let mut chosen = None;
        let entries = self.entries(board, &Choice::new(minimum_weight, exclude_moves)?)?;
        for (number, entry) in (0..).zip(entries) {
            // The numbers that python-chess draws, so that a seed gives the same moves.
            if chosen.is_none() || randint(board.py(), random, 0, number)?.eq(number)? {
                chosen = Some(entry);
            }
        }
        chosen.ok_or_else(nothing)
    }

    /// A random entry of a position, by weight. *random* is asked for ``randint``.
    ///
    /// :raises IndexError: if there is none.
    #[pyo3(signature = (board, *, exclude_moves = None, random = None))]
    fn weighted_choice<'py>(
        &self,
        board: &Bound<'py, PyAny>,
        exclude_moves: Option<&Bound<'py, PyAny>>,
        random: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Entry> {
        let entries = self.entries(board, &Choice::new(MIN, exclude_moves)?)?;
        let total = entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.weight()));
        let last = total.checked_sub(1).ok_or_else(nothing)?;
        let mut rest: u64 = randint(board.py(), random, 0, last)?.extract()?;
        for entry in entries {
            match rest.checked_sub(entry.weight()) {
                Some(left) => rest = left,
                None => return Ok(entry),
            }
        }
        Err(nothing())
    }

    /// What the book says of a position in words, or ``None``.
    fn comment(&self, board: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        Ok(match Asked::of(board)? {
            Asked::Place(place) => self.book()?.comment(&place.at),
            _ => None,
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let book = self.book()?;
        if let Some(len) = book.quick_len() {
            return Ok(len);
        }
        let len = match self.len.get() {
            Some(len) => *len,
            None => {
                let len = long(py, &Interrupt::new(), || book.count())?;
                *self.len.get_or_init(|| len)
            }
        };
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// A book is true, however many entries it has: counting them may mean to read all of it.
    fn __bool__(&self) -> PyResult<bool> {
        Ok(self.book()?.quick_len() != Some(0))
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Entry> {
        // A number that no list could have is that of no entry.
        let is_beyond = |error: &PyErr| error.is_instance_of::<PyOverflowError>(index.py());
        let index: isize =
            index.extract().or_else(|error| if is_beyond(&error) { Ok(isize::MAX) } else { Err(error) })?;
        let book = self.book()?;
        let len = self.numbered(&book)?;
        let number = usize::try_from(index).ok().or_else(|| len.checked_sub(index.unsigned_abs()));
        let found = number.and_then(|number| book.entry(number).flatten());
        book.check_pages().map_err(|error| raise(&error))?;
        found.map(|raw| Entry::raw(raw, mode_of)).ok_or_else(|| PyIndexError::new_err("no such entry"))
    }

    fn __iter__(&self) -> PyResult<Entries> {
        let book = self.book()?;
        Ok(Entries(Mutex::new(match book.quick_len() {
            Some(_) => Source::Numbered { book, number: 0, part: Vec::new().into_iter() },
            None => Source::Unread(book),
        })))
    }

    fn __reversed__(&self) -> PyResult<Reversed> {
        let book = self.book()?;
        let len = self.numbered(&book)?;
        Ok(Reversed(Mutex::new((book, len, Vec::new()))))
    }

    fn __contains__(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<bool> {
        let book = self.book()?;
        if book.quick_len().is_some() {
            let key: u64 = entry.getattr("key")?.extract()?;
            for raw in book.of_key(key).unwrap_or_default() {
                if Bound::new(py, Entry::raw(raw, mode_of))?.eq(entry)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let entries = Bound::new(py, self.__iter__()?)?;
        for other in entries.try_iter()? {
            if other?.eq(entry)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a Reader", "pass its path, and open it there"))
    }

    /// Closes the book. What was begun with it goes on.
    fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!("<tabiya.Reader of {} ({})>", self.path, self.format)
    }
}

/// The opening of a position, or ``None`` if it has no name. *board* may also be a Polyglot key.
#[pyfunction]
pub fn opening<'py>(board: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match Asked::of(board)? {
        Asked::Place(place) => Opening::at(&place.at).map(|opening| named(board.py(), opening)).transpose(),
        Asked::Key(key) => {
            key.and_then(Opening::with_key).map(|opening| named(board.py(), opening)).transpose()
        }
        Asked::Nothing => Ok(None),
    }
}

/// The entries of a position.
#[pyclass(frozen, module = "tabiya")]
pub struct Found(Mutex<IntoIter<Entry>>);

#[pymethods]
impl Found {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self) -> Option<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    fn __length_hint__(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// The entries of a book from the last one: how many are not read yet, and those that were.
#[pyclass(frozen, module = "tabiya")]
pub struct Reversed(Mutex<(OpenBook, usize, Vec<Raw>)>);

#[pymethods]
impl Reversed {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self) -> PyResult<Option<Entry>> {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (book, unread, part) = &mut *rest;
        if part.is_empty() {
            let start = unread.saturating_sub(PART);
            *part = book.part(start..*unread).map_err(|error| raise(&error))?;
            *unread = start;
        }
        Ok(part.pop().map(|raw| Entry::raw(raw, mode_of)))
    }
}

/// Where the entries of a book come from.
enum Source {
    /// A book whose entries have numbers, the one after those that were read, and what is left of these.
    Numbered {
        book: OpenBook,
        number: usize,
        part: IntoIter<Raw>,
    },
    /// A book that is not read yet.
    Unread(OpenBook),
    /// Parts of it that another thread of this process reads.
    Read {
        parts: Receiver<Result<Vec<Raw>, Error>>,
        part: IntoIter<Raw>,
        process: u32,
    },
    Over,
}

/// The entries of a book.
#[pyclass(frozen, module = "tabiya")]
pub struct Entries(Mutex<Source>);

#[pymethods]
impl Entries {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        // Another thread of Python may wait for entries and hold the lock.
        let mut source = match self.0.try_lock() {
            Ok(source) => source,
            Err(_) => return Err(PyRuntimeError::new_err("another thread is asking for the next entry")),
        };
        if let Source::Unread(book) = &*source {
            *source = read(book.clone())?;
        }
        let next = match &mut *source {
            Source::Numbered { book, number, part } => {
                if part.len() == 0 {
                    let read = book.part(*number..number.saturating_add(PART)).map_err(|error| raise(&error));
                    *part = read?.into_iter();
                    *number += part.len();
                }
                Ok(part.next())
            }
            Source::Read { parts, part, process } => {
                if *process != std::process::id() {
                    let what = "another process began to iterate over this book: begin anew after a fork";
                    return Err(PyRuntimeError::new_err(what));
                }
                match part.next() {
                    Some(raw) => Ok(Some(raw)),
                    None => next_part(py, parts).map(|next| {
                        *part = next.unwrap_or_default().into_iter();
                        part.next()
                    }),
                }
            }
            Source::Unread(_) | Source::Over => Ok(None),
        };
        if !matches!(next, Ok(Some(_))) {
            *source = Source::Over;
        }
        Ok(next?.map(|raw| Entry::raw(raw, mode_of)))
    }
}

/// Begins to read a book on a thread, which ends with the book or when nobody takes its entries.
fn read(book: OpenBook) -> PyResult<Source> {
    let (give, parts) = sync_channel(WAITING);
    let work = move || {
        let mut part = Vec::with_capacity(PART);
        let done = book.each(&mut |raw| {
            part.push(raw);
            part.len() < PART || give.send(Ok(std::mem::replace(&mut part, Vec::with_capacity(PART)))).is_ok()
        });
        // Nobody waits after an error of sending.
        let _ = give.send(done.map(|()| part));
    };
    thread::Builder::new().name("tabiya-entries".to_owned()).spawn(work)?;
    Ok(Source::Read { parts, part: Vec::new().into_iter(), process: std::process::id() })
}

/// Waits for the next entries; `None` at the end.
fn next_part(py: Python<'_>, parts: &mut Receiver<Result<Vec<Raw>, Error>>) -> PyResult<Option<Vec<Raw>>> {
    wait_for(py, parts, &Interrupt::new())?.transpose().map_err(|error| raise(&error))
}
