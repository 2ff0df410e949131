//! Games of PGN files and databases.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{new, raise, raise_opening};
use crate::moves;
use crate::stream::{Event, Game, GameError, Item, Line, LineOrGame, Stream, file_of, result_text, tags_of};
use crate::tasks::{not_pickled, paths_of, variant_of};

/// Errors of games that could not be read at all which are kept; the others are counted.
const MAX_ERRORS: usize = 1000;

/// Games, one after another. It is an iterator and a context manager.
#[pyclass(frozen, module = "tabiya", name = "Games")]
pub struct Games {
    state: Mutex<State>,
    process: u32,
}

struct State {
    /// `None` once it is closed, or at its end.
    stream: Option<Stream>,
    errors: Vec<GameError>,
    unreadable: u64,
}

/// Opens the games of PGN files (also compressed ones and archives), databases, folders of them, or a list of these.
///
/// Each game is a ``chess.pgn.Game`` with variations, comments and glyphs; with *moves_only* a :class:`MainLine`, which is much
/// faster. Damaged games have their moves up to the damage; those that cannot be read at all are left out and counted, and so are
/// those of other variants than *variant*, by default standard chess with Chess960.
///
/// :raises NotFoundError: if there is no such file.
/// :raises FormatError: if a file holds no games.
#[pyfunction]
#[pyo3(signature = (path, *, moves_only = false, variant = None))]
pub fn open_games(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    moves_only: bool,
    variant: Option<&str>,
) -> PyResult<Games> {
    let (paths, variant) = (paths_of(path)?, variant_of(variant)?);
    let opened = py.detach(|| Stream::open(&paths, moves_only, variant));
    let mut stream = opened.map_err(|error| {
        let missing = paths.iter().find(|path| !path.exists()).or(paths.first());
        raise_opening(&error, missing.map(PathBuf::as_path))
    })?;
    for error in stream.passed_over() {
        let class = py.import("tabiya._errors")?.getattr("DamageWarning")?;
        py.import("warnings")?.call_method1("warn", (error, class, 2))?;
    }
    let state = State { stream: Some(stream), errors: Vec::new(), unreadable: 0 };
    Ok(Games { state: Mutex::new(state), process: std::process::id() })
}

/// The error of a game as a `tabiya.GameError`.
fn game_error<'py>(py: Python<'py>, error: &GameError) -> PyResult<Bound<'py, PyAny>> {
    let (file, text) = (file_of(error), error.to_string());
    let raised = new(py, "GameError", &text, Some(&file), Some(error.place.offset), None)?;
    let value = raised.into_value(py).into_bound(py).into_any();
    let (name, number) = match error.place.spot {
        LineOrGame::Line(line) => ("line", line),
        LineOrGame::Game(game) => ("game", game),
    };
    value.setattr(name, number)?;
    Ok(value)
}

impl Games {
    fn next_item(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        let Ok(mut state) = self.state.try_lock() else {
            return Err(PyRuntimeError::new_err("another thread is asking for the next game"));
        };
        let State { stream, errors, unreadable } = &mut *state;
        let Some(open) = stream else { return Ok(None) };
        if self.process != std::process::id() {
            // Both would read from the same place of a file.
            let what = "these games were opened by another process: open them again after a fork";
            return Err(PyRuntimeError::new_err(what));
        }
        loop {
            match open.ready() {
                Some(Item::Unreadable(error)) => {
                    *unreadable += 1;
                    if errors.len() < MAX_ERRORS {
                        errors.push(error);
                    }
                }
                Some(item) => return Ok(Some(item)),
                None => {
                    py.check_signals()?;
                    let more = py.detach(|| open.read());
                    if !more.map_err(|error| raise(&error))? {
                        *stream = None;
                        return Ok(None);
                    }
                }
            }
        }
    }
}

#[pymethods]
impl Games {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.next_item(py)? {
            Some(Item::Line(line)) => Ok(Some(Bound::new(py, MainLine { line: *line })?.into_any())),
            Some(Item::Game(game)) => tree(py, *game).map(Some),
            Some(Item::Unreadable(_)) | None => Ok(None),
        }
    }

    /// Why games could not be read at all: the first thousand reasons, of the games so far.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.errors.iter().map(|error| game_error(py, error)).collect()
    }

    /// How many games so far could not be read at all.
    #[getter]
    fn unreadable(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).unreadable
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("Games", "pass the paths, and open them there"))
    }

    /// Closes the files. There is no further game.
    fn close(&self) -> PyResult<()> {
        let Ok(mut state) = self.state.try_lock() else {
            return Err(PyRuntimeError::new_err("another thread is asking for the next game"));
        };
        state.stream = None;
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close()
    }
}

/// The game as a `chess.pgn.Game`, which `tabiya/_games.py` builds.
fn tree(py: Python<'_>, game: Game) -> PyResult<Bound<'_, PyAny>> {
    let events = PyList::empty(py);
    for event in game.events {
        match event {
            Event::Move(code) => events.append((0, moves::played(py, code)?))?,
            Event::Open => events.append((1, py.None()))?,
            Event::Close => events.append((2, py.None()))?,
            Event::Glyph(number) => events.append((3, number))?,
            Event::Comment(text) => events.append((4, text))?,
        }
    }
    let errors = game.errors.iter().map(|error| game_error(py, error)).collect::<PyResult<Vec<_>>>()?;
    let result = game.result.map(|result| result_text(Some(result)));
    py.import("tabiya._games")?.getattr("build")?.call1((game.tags, events, result, errors))
}

/// The main line of a game, and what is known of the game. ``len()`` is the number of plies.
#[pyclass(frozen, module = "tabiya", name = "MainLine")]
pub struct MainLine {
    line: Line,
}

#[pymethods]
impl MainLine {
    /// The tournament; empty if it is unknown, like the other texts.
    #[getter]
    fn event(&self) -> &str {
        &self.line.header.event
    }

    /// Where it was played.
    #[getter]
    fn site(&self) -> &str {
        &self.line.header.site
    }

    /// The date, as PGN writes it: ``2021.03.??``.
    #[getter]
    fn date(&self) -> String {
        self.line.header.date.to_string()
    }

    /// The round.
    #[getter]
    fn round(&self) -> &str {
        &self.line.header.round
    }

    /// White's name.
    #[getter]
    fn white(&self) -> &str {
        &self.line.header.white
    }

    /// Black's name.
    #[getter]
    fn black(&self) -> &str {
        &self.line.header.black
    }

    /// White's rating, or ``None``.
    #[getter]
    fn white_elo(&self) -> Option<u16> {
        self.line.header.white_elo.map(NonZeroU16::get)
    }

    /// Black's rating, or ``None``.
    #[getter]
    fn black_elo(&self) -> Option<u16> {
        self.line.header.black_elo.map(NonZeroU16::get)
    }

    /// ``1-0``, ``0-1``, ``1/2-1/2`` or ``*``.
    #[getter]
    fn result(&self) -> &'static str {
        result_text(self.line.result)
    }

    /// The position that it starts from, or ``None`` for the ordinary one.
    #[getter]
    fn fen(&self) -> Option<String> {
        self.line.header.start.as_ref().map(|start| start.fen())
    }

    /// The variant, by the name that UCI and python-chess have for it: ``chess`` is standard chess and Chess960.
    #[getter]
    fn variant(&self) -> &'static str {
        self.line.variant.uci()
    }

    /// Whether castling is written as in Chess960.
    #[getter]
    fn chess960(&self) -> bool {
        self.line.mode.is_chess960()
    }

    /// These facts as tags of PGN.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let headers = PyDict::new(py);
        tags_of(&self.line).into_iter().try_for_each(|(name, text)| headers.set_item(name, text))?;
        Ok(headers)
    }

    /// The moves as ``chess.Move``.
    #[getter(moves)]
    fn py_moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let moves = self.line.moves.iter().map(|code| moves::played(py, *code));
        PyList::new(py, moves.collect::<PyResult<Vec<_>>>()?)
    }

    /// The moves as UCI writes them.
    #[getter]
    fn uci(&self) -> Vec<String> {
        self.line.moves.iter().map(|code| moves::text(*code)).collect()
    }

    /// The file.
    #[getter]
    fn file(&self) -> String {
        self.line.header.place.file.to_string_lossy().into_owned()
    }

    /// Where the game begins, in bytes from the start of the file, after decompression.
    #[getter]
    fn offset(&self) -> u64 {
        self.line.header.place.offset
    }

    /// The number of the game in a database, or ``None``.
    #[getter]
    fn number(&self) -> Option<u64> {
        match self.line.header.place.spot {
            LineOrGame::Game(number) => Some(number),
            LineOrGame::Line(_) => None,
        }
    }

    /// What cut the game short: a :class:`GameError`, or ``None``.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.error.as_ref().map(|error| game_error(py, error)).transpose()
    }

    fn __len__(&self) -> usize {
        self.line.moves.len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let header = &self.line.header;
        let plies = self.line.moves.len();
        format!("<MainLine {:?} - {:?} {}, {plies} plies>", header.white, header.black, self.result())
    }
}
