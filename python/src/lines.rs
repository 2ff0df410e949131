//! Lines that go into a book, or leave it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::raise;
use crate::library::{self, EditValue, Game, Line, LineChange, LineCounts, Position};
use crate::tasks::{Options, long, path_of, variant_of};

/// What each move gets.
fn value_of(weight: &Bound<'_, PyAny>) -> PyResult<EditValue> {
    if weight.is_instance_of::<PyString>() {
        let text: String = weight.extract()?;
        return EditValue::from_words(&text).ok_or_else(|| {
            PyValueError::new_err(format!(
                "weight: {text:?} is neither a number, green, red, a mark nor none"
            ))
        });
    }
    weight
        .extract()
        .map(EditValue::Weight)
        .map_err(|_| PyTypeError::new_err("weight is a number, 0 or more, or a text"))
}

/// Adds or deletes a line; `options` are those of the functions in `tabiya/_write.py`.
#[pyfunction]
pub fn edit_line<'py>(
    py: Python<'py>,
    book: &Bound<'py, PyAny>,
    line: &str,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let (path, variant) = (path_of(book)?, variant_of(options.text("variant")?.as_deref())?);
    let change = if options.is("delete")? {
        LineChange::Delete
    } else {
        let value = options.get("weight")?.map(|weight| value_of(&weight)).transpose()?;
        LineChange::Add { only: options.side("side")?, value }
    };
    let fen = options.text("fen")?;
    let game = match &fen {
        None => Game::start_of(variant),
        Some(fen) => {
            let wrong = |error| PyValueError::new_err(format!("fen: {fen:?} is no position: {error}"));
            Game::from_position(Position::from_any_fen_of(variant, fen.as_bytes()).map_err(wrong)?)
        }
    };
    let (cancel, dry) = (options.cancel()?, options.is("dry_run")?);
    let line = Line::read(line, &game, fen.is_some()).map_err(|error| raise(&error))?;
    let counts = long(py, &cancel, || library::edit_line(&path, variant, &line, change, dry))?;
    let LineCounts { adds, changes, deletes, .. } = counts;
    py.import("tabiya._types")?.getattr("LineReport")?.call1((adds, changes, deletes))
}
