//! An entry of a book.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shakmaty::{CastlingMode, Position as _};

use crate::library::{
    Annotation, Counts, Found, Learned, MoveCode, MoveFacts, Opening, Position, Ratings, Raw, Recommendation,
    named_variant,
};
use crate::moves;

/// The fields that an entry has as a sequence: those of `chess.polyglot.Entry`.
const FIELDS: [&str; 5] = ["key", "raw_move", "weight", "learn", "move"];

/// A move of a book, with what the book says of it.
///
/// As a sequence it has the fields of ``chess.polyglot.Entry``: key, raw_move, weight, learn and move.
#[pyclass(frozen, module = "tabiya", name = "Entry", sequence)]
pub struct Entry {
    key: u64,
    raw: MoveCode,
    weight: u64,
    learn: u32,
    /// The move in the form in which python-chess writes castling.
    code: MoveCode,
    facts: MoveFacts<MoveCode>,
    /// The position, and the move in it, where they are known.
    at: Option<(Arc<Position>, shakmaty::Move)>,
}

impl Entry {
    /// The entry of a move in a position.
    pub fn found(found: &Found, at: &Arc<Position>, mode: CastlingMode) -> Self {
        let mv = found.facts.mv;
        Self {
            key: at.key(),
            raw: found.raw,
            weight: found.facts.weight,
            learn: found.learn,
            code: moves::code(mv, mode),
            facts: MoveFacts::from(found.facts),
            at: Some((Arc::clone(at), mv)),
        }
    }

    /// An entry as a file has it, its position perhaps unknown.
    pub fn raw(raw: Raw, mode: impl Fn(&Position) -> CastlingMode) -> Self {
        let at = raw.at.and_then(|at| {
            let mv = raw.facts.at(&at)?.mv;
            Some((at, mv))
        });
        let code = at.as_ref().map_or(raw.facts.mv, |(at, mv)| moves::code(*mv, mode(at)));
        let Raw { key, facts, learn, .. } = raw;
        Self { key, raw: facts.mv, weight: facts.weight, learn, code, facts, at }
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The move as python-chess has it. Its number for a pawn that is dropped is not one of promotions.
    pub fn python(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.at {
            Some((_, shakmaty::Move::Put { role: shakmaty::Role::Pawn, to })) => moves::pawn_drop(py, to),
            _ => moves::python(py, self.code),
        }
    }

    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.key, self.raw.0, self.weight, self.learn, self.mv(py)?).into_pyobject(py)
    }
}

/// An entry in pickled form: its numbers, the position as its variant and a FEN, and what the book says of the move.
type State = (
    (u64, u16, u64, u32, u16, u16),
    Option<(String, String)>,
    Option<(u64, u64, u64, u64)>,
    Option<String>,
    Option<bool>,
    Option<(u32, u32)>,
    Option<(Option<u32>, Option<u32>)>,
    Option<i8>,
);

/// The entry of a pickled form.
#[pyfunction]
#[pyo3(name = "_entry")]
pub fn unpickled(state: State) -> Entry {
    let ((key, raw, weight, learn, code, mv), fen, counts, mark, green, learned, ratings, factor) = state;
    let facts = MoveFacts {
        counts: counts.map(|(games, wins, draws, losses)| Counts { games, wins, draws, losses }),
        annotation: mark.and_then(|mark| Annotation::of_name(&mark)),
        recommended: green.map(|green| if green { Recommendation::Green } else { Recommendation::Red }),
        learned: learned.map(|(games, halfpoints)| Learned { games, halfpoints }),
        ratings: ratings.map(|(average, performance)| Ratings { average, performance }),
        factor,
        ..MoveFacts::new(MoveCode(mv), weight)
    };
    let at = fen.and_then(|(name, fen)| {
        Position::from_any_fen_of(named_variant(&name)?.variant, fen.as_bytes()).ok()
    });
    let at = at.and_then(|at| facts.at(&at).map(|known| (Arc::new(at), known.mv)));
    Entry { key, raw: MoveCode(raw), weight, learn, code: MoveCode(code), facts, at }
}

#[pymethods]
impl Entry {
    #[classattr]
    #[pyo3(name = "_fields")]
    fn fields() -> (&'static str, &'static str, &'static str, &'static str, &'static str) {
        FIELDS.into()
    }

    #[classattr]
    #[pyo3(name = "__match_args__")]
    fn match_args() -> (&'static str, &'static str, &'static str, &'static str, &'static str) {
        FIELDS.into()
    }

    /// The Polyglot key of the position.
    #[getter]
    fn key(&self) -> u64 {
        self.key
    }

    /// The move as Polyglot codes it; of a Polyglot book as the file has it.
    #[getter]
    fn raw_move(&self) -> u16 {
        self.raw.0
    }

    /// The weight of the move; 0 means never play.
    #[getter(weight)]
    fn py_weight(&self) -> u64 {
        self.weight
    }

    /// The learn field of a Polyglot book: games in the upper half, half-points in the lower one. 0 in other formats.
    #[getter]
    fn learn(&self) -> u32 {
        self.learn
    }

    /// The move as a ``chess.Move``: castling is the king's two steps, or in Chess960 the king taking its rook.
    #[getter(r#move)]
    fn mv(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.python(py)
    }

    /// The move as text, as UCI writes it.
    #[getter]
    fn uci(&self) -> String {
        match self.at {
            Some((_, mv @ shakmaty::Move::Put { .. })) => {
                mv.to_uci(shakmaty::CastlingMode::Standard).to_string()
            }
            _ => self.code.to_string(),
        }
    }

    /// Games with the move, or ``None`` if the format does not count.
    #[getter]
    fn games(&self) -> Option<u64> {
        self.facts.counts.map(|counts| counts.games)
    }

    /// Games that the side that moves won, or ``None``.
    #[getter]
    fn wins(&self) -> Option<u64> {
        self.facts.counts.map(|counts| counts.wins)
    }

    /// Drawn games, or ``None``.
    #[getter]
    fn draws(&self) -> Option<u64> {
        self.facts.counts.map(|counts| counts.draws)
    }

    /// Games that the side that moves lost, or ``None``.
    #[getter]
    fn losses(&self) -> Option<u64> {
        self.facts.counts.map(|counts| counts.losses)
    }

    /// The author's mark: ``!``, ``?``, ``!!``, ``??``, ``!?``, ``?!``, ``only`` or ``zugzwang``; or ``None``.
    #[getter]
    fn annotation(&self) -> Option<&'static str> {
        self.facts.annotation.map(|mark| mark.as_str())
    }

    /// ``True`` for a green move, ``False`` for a red one or one that a limit of the book rules out, else ``None``.
    #[getter]
    fn recommended(&self) -> Option<bool> {
        self.facts.recommended.map(|color| color.is_green())
    }

    /// Games and half-points that a Polyglot book has learned, or ``None``.
    #[getter]
    fn learned(&self) -> Option<(u32, u32)> {
        self.facts.learned.map(|learned| (learned.games, learned.halfpoints))
    }

    /// The average rating of the players who made the move, or ``None``.
    #[getter]
    fn average_rating(&self) -> Option<u32> {
        self.facts.ratings.and_then(|ratings| ratings.average)
    }

    /// The rating at which they performed, or ``None``.
    #[getter]
    fn performance(&self) -> Option<u32> {
        self.facts.ratings.and_then(|ratings| ratings.performance)
    }

    /// The factor of a CTG book, from -125 to 125, or ``None`` without one.
    #[getter]
    fn factor(&self) -> Option<i8> {
        self.facts.factor
    }

    /// The opening after the move, or ``None`` if that has no name of its own.
    #[getter]
    fn opening<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((at, mv)) = &self.at else { return Ok(None) };
        if !at.chess().is_legal(*mv) {
            return Ok(None);
        }
        Opening::at(&at.after(*mv)).map(|opening| named(py, opening)).transpose()
    }

    /// The fields of ``chess.polyglot.Entry`` by their names.
    fn _asdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in FIELDS.iter().zip(self.tuple(py)?.iter()) {
            fields.set_item(name, value)?;
        }
        Ok(fields)
    }

    /// All that it knows, for copies and other processes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (State,))> {
        let facts = &self.facts;
        let state = (
            (self.key, self.raw.0, self.weight, self.learn, self.code.0, facts.mv.0),
            self.at.as_ref().map(|(at, _)| (at.variant().uci().to_owned(), at.fen())),
            facts.counts.map(|counts| (counts.games, counts.wins, counts.draws, counts.losses)),
            facts.annotation.map(|mark| mark.as_str().to_owned()),
            facts.recommended.map(|color| color.is_green()),
            facts.learned.map(|learned| (learned.games, learned.halfpoints)),
            facts.ratings.map(|ratings| (ratings.average, ratings.performance)),
            facts.factor,
        );
        Ok((py.import("tabiya._tabiya")?.getattr("_entry")?, (state,)))
    }

    fn __len__(&self) -> usize {
        FIELDS.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let place = if index < 0 { index + FIELDS.len() as isize } else { index };
        let place = usize::try_from(place).map_err(|_| PyIndexError::new_err("an entry has five fields"))?;
        self.tuple(py)?.get_item(place)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.tuple(py)?.try_iter()?.into_any())
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(other) = other.cast::<Self>() {
            let other = other.get();
            let fields = |of: &Self| (of.key, of.raw, of.weight, of.learn, of.code);
            return Ok((fields(self) == fields(other)).into_pyobject(py)?.to_owned().into_any().unbind());
        }
        if other.is_instance_of::<PyTuple>() {
            return Ok(self.tuple(py)?.eq(other)?.into_pyobject(py)?.to_owned().into_any().unbind());
        }
        Ok(py.NotImplemented())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        // That of the tuple that it equals.
        self.tuple(py)?.hash()
    }

    fn __repr__(&self) -> String {
        let Self { key, raw, weight, learn, code, .. } = self;
        format!(
            "Entry(key={key}, raw_move={}, weight={weight}, learn={learn}, move=Move.from_uci('{code}'))",
            raw.0
        )
    }
}

/// An opening as a `tabiya.Opening`.
pub fn named(py: Python<'_>, opening: Opening) -> PyResult<Bound<'_, PyAny>> {
    py.import("tabiya._types")?.getattr("Opening")?.call1((opening.eco(), opening.name()))
}
