//! Moves as python-chess has them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move, Role, Square};

use crate::library::MoveCode;

/// Bits of a code of a move: two squares, and three for a promotion.
const CODES: usize = 1 << 15;

/// The class `chess.Move`.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = CLASS.get_or_try_init(py, || {
        let chess = py.import("chess").map_err(|error| {
            let what = "moves of python-chess need the package chess: pip install chess";
            let asked = pyo3::exceptions::PyImportError::new_err(what);
            asked.set_cause(py, Some(error));
            asked
        })?;
        Ok::<_, PyErr>(chess.getattr("Move")?.unbind())
    })?;
    Ok(found.bind(py))
}

/// The squares and the promotion of a move, as Polyglot codes them, in the form in which python-chess writes castling.
pub fn code(mv: Move, mode: CastlingMode) -> MoveCode {
    match mv.to_uci(mode) {
        UciMove::Normal { from, to, promotion } => MoveCode::new(from, to, promotion),
        UciMove::Put { role, to } => MoveCode::new(to, to, Some(role)),
        UciMove::Null => MoveCode::NULL,
    }
}

/// The `chess.Move` of a code, always the same one. A code that is no move becomes what python-chess makes of it.
pub fn python(py: Python<'_>, code: MoveCode) -> PyResult<Py<PyAny>> {
    static KNOWN: PyOnceLock<Box<[PyOnceLock<Py<PyAny>>]>> = PyOnceLock::new();
    let known = KNOWN.get_or_init(py, || (0..CODES).map(|_| PyOnceLock::new()).collect());
    match known.get(usize::from(code.0)) {
        Some(place) => Ok(place.get_or_try_init(py, || new(py, code))?.clone_ref(py)),
        None => new(py, code),
    }
}

/// The piece that a move of a game drops: no other move goes from a square to itself, and no pawn is dropped where no move is.
fn dropped(code: MoveCode) -> Option<Role> {
    let is_drop = code.from() == code.to() && code != MoveCode::NULL;
    is_drop.then(|| code.promotion().ok().flatten().unwrap_or(Role::Pawn))
}

/// The `chess.Move` of a move that was played.
pub fn played(py: Python<'_>, code: MoveCode) -> PyResult<Py<PyAny>> {
    if dropped(code) == Some(Role::Pawn) { pawn_drop(py, code.to()) } else { python(py, code) }
}

/// A move that was played, as UCI writes it.
pub fn text(code: MoveCode) -> String {
    match dropped(code) {
        Some(role) => UciMove::Put { role, to: code.to() }.to_string(),
        None => code.to_string(),
    }
}

/// A pawn that is dropped.
pub fn pawn_drop(py: Python<'_>, to: Square) -> PyResult<Py<PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "drop"), u8::from(Role::Pawn))?;
    Ok(class(py)?.call((u8::from(to), u8::from(to)), Some(&arguments))?.unbind())
}

fn new(py: Python<'_>, code: MoveCode) -> PyResult<Py<PyAny>> {
    let (from, to) = (u8::from(code.from()), u8::from(code.to()));
    // python-chess reads three bits, of which 1 is a knight, and counts pieces from the pawn.
    let number = code.0 >> 12 & 7;
    let promotion = (number > 0).then_some(number + 1);
    let arguments = PyDict::new(py);
    if from == to {
        arguments.set_item(intern!(py, "drop"), promotion)?;
    } else {
        arguments.set_item(intern!(py, "promotion"), promotion)?;
    }
    Ok(class(py)?.call((from, to), Some(&arguments))?.unbind())
}
