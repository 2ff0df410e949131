//! Work that takes long: it releases the lock of Python, and Ctrl-C or a handle stops it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use shakmaty::{ByColor, Color};

use crate::errors::{new, raise, raise_opening};
use crate::library::{
    self, BuildReport, CountedMoves, Date, Error, ErrorKind, Filter, Finding, Interrupt, NewBook, PlayerName,
    TagPattern, Tags, Variant, Weigh, Weights, Written, reading,
};

/// How often a wait for work looks whether it must stop.
const TICK: Duration = Duration::from_millis(50);

/// A handle to stop calls that take long: those that were given it as *cancel* raise :class:`CancelledError`, in whatever threads
/// they run, and leave nothing half-written. At the end of ``with`` it is set, so that nothing outlives the block.
///
/// >>> with tabiya.Cancel() as cancel:
/// ...     await asyncio.to_thread(tabiya.build, "games.pgn", "my.bin", cancel=cancel)
#[pyclass(frozen, module = "tabiya", name = "Cancel")]
pub struct Cancel(Interrupt);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self(Interrupt::new())
    }

    /// Stops the calls that were given this handle, and those that will be.
    fn set(&self) {
        self.0.ask();
    }

    /// Whether :meth:`set` was called.
    fn is_set(&self) -> bool {
        self.0.is_asked()
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.set();
    }

    fn __repr__(&self) -> String {
        format!("<tabiya.Cancel: {}>", if self.is_set() { "set" } else { "not set" })
    }
}

/// The handle that a call was given, or one that nobody has.
fn handle(cancel: Option<&Bound<'_, PyAny>>) -> PyResult<Interrupt> {
    let Some(cancel) = cancel else { return Ok(Interrupt::new()) };
    let wrong = |_| PyTypeError::new_err("cancel is a tabiya.Cancel");
    cancel.cast::<Cancel>().map(|cancel| cancel.get().0.clone()).map_err(wrong)
}

/// Why an object cannot be pickled, which other processes are sent things by: `instead` says what to send.
pub fn not_pickled(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} cannot be sent to another process: {instead}"))
}

/// The variant of chess of a name that UCI, PGN or python-chess has for it.
///
/// # Errors
/// `ValueError` for any other name.
pub fn variant_of(name: Option<&str>) -> PyResult<Variant> {
    let Some(name) = name else { return Ok(Variant::Chess) };
    library::rules_of(name).ok_or_else(|| {
        let known = library::known_variants();
        PyValueError::new_err(format!("variant must be chess, or one of {known}, not {name:?}"))
    })
}

/// Work that was stopped by its handle.
fn cancelled() -> PyErr {
    raise(&Error::new(ErrorKind::Interrupted, "cancelled"))
}

/// Does work on another thread, without the lock of Python. Ctrl-C, which is raised when it has stopped, and its handle stop it.
///
/// # Errors
/// What the work returns; what a signal raises; `CancelledError`.
pub fn long<T: Send>(
    py: Python<'_>,
    cancel: &Interrupt,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    if cancel.is_asked() {
        return Err(cancelled());
    }
    // Ctrl-C stops this call alone.
    let own = &Interrupt::new();
    py.detach(|| {
        let (done, found) = channel();
        thread::scope(|scope| {
            scope.spawn(move || drop(done.send(cancel.scope(|| own.scope(work)))));
            let mut raised = None;
            let result = loop {
                match found.recv_timeout(TICK) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err("the work failed"));
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| py.check_signals()).err();
                        if raised.is_some() {
                            own.ask();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            let failed = |error: Error| match error.kind() {
                ErrorKind::Interrupted => cancelled(),
                _ => raise(&error),
            };
            raised.map_or_else(|| result.map_err(failed), Err)
        })
    })
}

/// Does work that perhaps cannot stop, without the lock of Python. After Ctrl-C, or once its handle is set, nobody waits for it.
///
/// # Errors
/// What a signal raises; `CancelledError`.
pub fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Interrupt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut found): (_, Receiver<T>) = channel();
    let (own, scopes) = (Interrupt::new(), cancel.clone());
    let inner = own.clone();
    let run = move || drop(done.send(scopes.scope(|| inner.scope(work))));
    thread::Builder::new().name("tabiya".to_owned()).spawn(run)?;
    let waited = wait_for(py, &mut found, cancel).inspect_err(|_| own.ask());
    waited?.ok_or_else(|| PyRuntimeError::new_err("the work failed"))
}

/// What another thread sends next, waited for without the lock of Python; `None` if that thread has ended.
///
/// # Errors
/// What a signal raises; `CancelledError`.
pub fn wait_for<T: Send>(py: Python<'_>, found: &mut Receiver<T>, cancel: &Interrupt) -> PyResult<Option<T>> {
    // By a unique reference, which another thread may have.
    let next = |found: &mut Receiver<T>| found.recv_timeout(TICK);
    loop {
        // What it found until it was stopped may be a part.
        if cancel.is_asked() {
            return Err(cancelled());
        }
        match py.detach(|| next(found)) {
            Ok(_) if cancel.is_asked() => {}
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}

/// A path: a text, bytes, or what has `__fspath__`.
///
/// # Errors
/// `TypeError` for anything else.
pub fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = path.py().import("os")?.call_method1("fsdecode", (path,))?;
    if path.contains("\0")? {
        return Err(PyValueError::new_err("embedded null character in path"));
    }
    path.extract()
}

/// Whether this is one path: several are in a sequence, which a text is too.
pub fn is_path(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_text = given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>();
    Ok(is_text || given.hasattr("__fspath__")?)
}

/// One path, or several.
pub fn paths_of(paths: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if is_path(paths)? {
        return Ok(vec![path_of(paths)?]);
    }
    let all: Vec<_> = paths.try_iter()?.map(|path| path_of(&path?)).collect::<PyResult<_>>()?;
    if all.is_empty() { Err(PyValueError::new_err("no file is named")) } else { Ok(all) }
}

/// A share in per cent, in thousandths.
pub fn share(name: &str, percent: f64) -> PyResult<u16> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(PyValueError::new_err(format!("{name} must be from 0 to 100, in per cent")));
    }
    // It is at most 1000.
    Ok((percent * 10.0).round() as u16)
}

/// Of what weights are made.
pub fn weights_of(name: &str) -> PyResult<Weights> {
    Weights::of_name(name).ok_or_else(|| {
        PyValueError::new_err(format!("weights must be \"points\" or \"games\", not {name:?}"))
    })
}

fn side(name: &str, side: &str) -> PyResult<Color> {
    match side {
        "white" => Ok(Color::White),
        "black" => Ok(Color::Black),
        _ => Err(PyValueError::new_err(format!("{name} must be \"white\" or \"black\", not {side:?}"))),
    }
}

/// A finding as a `tabiya.Finding`.
fn finding<'py>(py: Python<'py>, found: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let Finding { severity, what, count, offset, file, .. } = found;
    let class = py.import("tabiya._types")?.getattr("Finding")?;
    class.call1((severity.to_string(), what, count, offset, file))
}

/// Reads a book, a count file, a folder of count files or a database to its end, and returns what is wrong with it. A Polyglot
/// book is read as one of *variant*, by default standard chess.
///
/// :raises NotFoundError: if there is no such file.
/// :raises FormatError: if it is none of these.
/// :raises CancelledError: once *cancel* is set.
#[pyfunction]
#[pyo3(signature = (path, *, variant = None, cancel = None))]
pub fn check<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
    variant: Option<&str>,
    cancel: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (path, variant, cancel) = (path_of(path)?, variant_of(variant)?, handle(cancel)?);
    let opened = path.clone();
    let work = move || reading(std::slice::from_ref(&path), || library::check(&path, variant));
    let found = abandonable(py, &cancel, work)?.map_err(|error| raise_opening(&error, Some(&opened)))?;
    found.iter().map(|found| finding(py, found)).collect()
}

/// The book that a call describes: the entries that all calls have.
fn new_book(output: &Bound<'_, PyAny>, options: &Options<'_, '_>) -> PyResult<NewBook> {
    let threads = options.number("threads")?;
    if threads.is_some_and(|threads| !(1..=1024).contains(&threads)) {
        return Err(PyValueError::new_err("threads must be from 1 to 1024"));
    }
    let mut new = NewBook::new(path_of(output)?);
    new.force = options.is("force")?;
    new.variant = variant_of(options.text("variant")?.as_deref())?;
    new.green = options.share("green")?;
    new.weights = options.weights()?;
    new.threads = threads;
    new.memory = options.number("memory")?;
    new.temp = options.get("temp")?.map(|temp| path_of(&temp)).transpose()?;
    Ok(new)
}

/// The options of a call, by their names; all of them are there, perhaps as `None`.
pub struct Options<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    /// One that is not `None`.
    pub fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// Its handle.
    pub fn cancel(&self) -> PyResult<Interrupt> {
        handle(self.get("cancel")?.as_ref())
    }

    /// Whether one is true.
    pub fn is(&self, name: &str) -> PyResult<bool> {
        self.get(name)?.map_or(Ok(false), |value| value.is_truthy())
    }

    /// A text.
    pub fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name)?.map(|value| value.extract()).transpose()
    }

    fn number<T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(&self, name: &str) -> PyResult<Option<T>> {
        let named = |error: PyErr| {
            let text = format!("{name}: {}", error.value(self.0.py()));
            let is_type = error.is_instance_of::<PyTypeError>(self.0.py());
            if is_type { PyTypeError::new_err(text) } else { PyValueError::new_err(text) }
        };
        self.get(name)?.map(|value| value.extract().map_err(named)).transpose()
    }

    fn share(&self, name: &str) -> PyResult<Option<u16>> {
        self.number(name)?.map(|percent| share(name, percent)).transpose()
    }

    fn weights(&self) -> PyResult<Weights> {
        Ok(self.text("weights")?.map(|name| weights_of(&name)).transpose()?.unwrap_or_default())
    }

    /// A side.
    pub fn side(&self, name: &str) -> PyResult<Option<Color>> {
        self.text(name)?.map(|text| side(name, &text)).transpose()
    }

    fn date(&self, name: &str) -> PyResult<Option<Date>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let text = value.str()?.to_string();
        text.parse().map(Some).map_err(|what| PyValueError::new_err(format!("{name}: {text:?} is {what}")))
    }

    /// Patterns of tags, by the names of the tags.
    fn tags(&self, name: &str) -> PyResult<Vec<TagPattern>> {
        let Some(value) = self.get(name)? else { return Ok(Vec::new()) };
        let tags = value.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!("{name} is a dict of patterns by the names of tags"))
        })?;
        tags.iter()
            .map(|(tag, pattern)| {
                let wrong = |what| PyValueError::new_err(format!("{name}: {what}"));
                format!("{}={}", tag.str()?, pattern.str()?).parse().map_err(wrong)
            })
            .collect()
    }

    fn only(&self) -> PyResult<Option<CountedMoves>> {
        Ok(match self.text("only")?.as_deref() {
            None => None,
            Some("white") => Some(CountedMoves::Side(Color::White)),
            Some("black") => Some(CountedMoves::Side(Color::Black)),
            Some("player") => Some(CountedMoves::Player),
            Some(other) => {
                let what = format!("only must be \"white\", \"black\" or \"player\", not {other:?}");
                return Err(PyValueError::new_err(what));
            }
        })
    }

    fn player(&self) -> PyResult<Option<PlayerName>> {
        let (part, exact) = (self.text("player")?, self.text("player_exact")?);
        let several: Option<Vec<String>> = self.number("players")?;
        if usize::from(part.is_some()) + usize::from(exact.is_some()) + usize::from(several.is_some()) > 1 {
            return Err(PyValueError::new_err("name players by one of player, player_exact and players"));
        }
        Ok(match several {
            Some(names) => Some(PlayerName::one_of(names.iter().map(String::as_str))),
            None => PlayerName::given(part.as_deref(), exact.as_deref()),
        })
    }

    fn filter(&self) -> PyResult<Filter> {
        let (player, repertoire) = (self.player()?, self.side("repertoire")?);
        let (only, player_side) = (self.only()?, self.side("player_side")?);
        if player.is_none() && (only == Some(CountedMoves::Player) || player_side.is_some()) {
            let what = "only=\"player\" and player_side need a player: player, player_exact or players";
            return Err(PyValueError::new_err(what));
        }
        if repertoire.is_some() && only.is_some() {
            return Err(PyValueError::new_err("repertoire names the side itself: leave out only"));
        }
        let mut filter = Filter::default();
        filter.max_ply = self.number("max_ply")?.filter(|plies| *plies > 0);
        filter.only = repertoire.map(CountedMoves::Side).or(only);
        filter.min_elo = self.number("min_elo")?.unwrap_or_default();
        filter.min_mover_elo = self.number("min_mover_elo")?.unwrap_or_default();
        filter.max_elo_difference = self.number("max_elo_difference")?;
        filter.tags = Tags::new(self.tags("tags")?, self.tags("not_tags")?);
        filter.min_plies = self.number("min_plies")?.unwrap_or_default();
        filter.unique = self.is("unique")?;
        filter.from = self.date("date_from")?;
        filter.to = self.date("date_to")?;
        filter.player = player;
        filter.side = player_side;
        filter.finished = self.is("finished")?;
        filter.strict = self.is("strict")?;
        filter.variations = self.is("variations")? || repertoire.is_some();
        filter.skip_mistakes = self.is("skip_mistakes")?;
        filter.repertoire = repertoire.is_some();
        Ok(filter)
    }

    fn weigh(&self, repertoire: bool) -> PyResult<Weigh> {
        let usual = Weigh::default();
        let least = if repertoire { 1 } else { usual.min_games };
        let min_score = self.number("min_score")?.unwrap_or(usual.min_score);
        share("min_score", min_score)?;
        let mut weigh = usual;
        weigh.min_games = self.number("min_games")?.unwrap_or(least);
        weigh.min_score = min_score;
        weigh.uniform = self.is("uniform")? || repertoire;
        weigh.weights = self.weights()?;
        weigh.min_share = self.share("min_share")?.unwrap_or_default();
        weigh.min_side_share = ByColor {
            white: self.share("min_share_white")?.unwrap_or_default(),
            black: self.share("min_share_black")?.unwrap_or_default(),
        };
        Ok(weigh)
    }
}

/// The error of a book without moves, which is not written.
fn empty(py: Python<'_>, output: &NewBook, why: &str) -> PyErr {
    let path = output.output.to_string_lossy();
    let text = format!("{path}: not written: {why}");
    new(py, "EmptyBookError", &text, Some(&path), None, None).unwrap_or_else(|error| error)
}

fn files(written: &Written) -> Vec<String> {
    written.files.iter().map(|file| file.to_string_lossy().into_owned()).collect()
}

/// Merges books; `options` are those of the functions in `tabiya/_write.py`.
#[pyfunction]
pub fn merge<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    output: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let (inputs, new, reachable) =
        (paths_of(sources)?, new_book(output, &options)?, options.is("reachable")?);
    let (merged, written, damage) =
        long(py, &options.cancel()?, || reading(&inputs, || new.merge(&inputs, reachable)))?;
    if written.moves == 0 {
        let why = match merged.read {
            0 => "no line from the starting position reaches a move of the book",
            _ => "the format can hold none of the moves",
        };
        return Err(empty(py, &new, why));
    }
    let mut left_out = [&written.left_out[..], &written.changed].concat();
    for (count, what) in [
        (merged.unreached, "positions that no line from the starting position reaches"),
        (merged.unplaced, "positions with more pieces than a game can have"),
        (merged.ruled_out, "moves that colours or marks rule out"),
        (merged.never, "moves that their factors rule out"),
        (merged.factors, "factors of moves"),
        (merged.remarks, "comments, flags and ratings of positions"),
        (written.lost_weights, "weights that do not follow from the results"),
    ] {
        if count > 0 {
            left_out.push((what.to_owned(), count));
        }
    }
    let damage = damage
        .iter()
        .map(|(path, found)| Ok((path.to_string_lossy().into_owned(), finding(py, found)?)))
        .collect::<PyResult<Vec<_>>>()?;
    let class = py.import("tabiya._types")?.getattr("MergeReport")?;
    class.call1((files(&written), merged.read, written.positions, written.moves, left_out, damage))
}

/// Builds a book; `options` are those of the function in `tabiya/_write.py`.
#[pyfunction]
pub fn build<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    output: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let (sources, new, filter) = (paths_of(sources)?, new_book(output, &options)?, options.filter()?);
    let weigh = options.weigh(filter.repertoire)?;
    let eco = options.get("eco")?.map_or_else(|| Ok(Vec::new()), |eco| paths_of(&eco))?;
    let (report, written) = long(py, &options.cancel()?, || new.build(&sources, &filter, &weigh, &eco))?;
    if written.moves == 0 {
        return Err(empty(py, &new, &why_nothing(&report)));
    }
    let errors = report
        .errors
        .values()
        .map(|failed| (failed.first.reason.to_string(), failed.games, failed.used, failed.first.to_string()));
    let BuildReport { games, used, plies, unfinished, .. } = report;
    let class = py.import("tabiya._types")?.getattr("BuildReport")?;
    class.call1((
        files(&written),
        games,
        used,
        plies,
        unfinished,
        written.positions,
        written.moves,
        [&written.left_out[..], &written.changed].concat(),
        errors.collect::<Vec<_>>(),
    ))
}

/// Why no move is left to write.
fn why_nothing(report: &BuildReport) -> String {
    let BuildReport { games, used, plies, dropped, .. } = report;
    if !dropped.is_empty() {
        "no move passed the filters: lower the limit with min_games=1".to_owned()
    } else if *games == 0 {
        "there are no games in the sources".to_owned()
    } else if *used == 0 {
        format!("none of {games} games passed the filters")
    } else if *plies == 0 {
        "no move counted: the games have none, or only and max_ply leave none".to_owned()
    } else {
        format!("the format can hold none of the {plies} plies")
    }
}
