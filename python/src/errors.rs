//! Errors of tabiya as exceptions: their classes are those of `tabiya/_errors.py`.

use std::io;
use std::path::Path;

use pyo3::prelude::*;

use crate::library::{Error, ErrorKind};

/// The module of the classes.
const MODULE: &str = "tabiya._errors";

/// What to do about a file that exists.
const REPLACE: &str = "pass force=True to replace it, or name another file";

/// The exception of an error.
pub fn raise(error: &Error) -> PyErr {
    raise_opening(error, None)
}

/// The exception of an error of opening a file: one that is there lacks a part.
pub fn raise_opening(error: &Error, opened: Option<&Path>) -> PyErr {
    Python::attach(|py| exception(py, error, opened).unwrap_or_else(|other| other))
}

fn exception(py: Python<'_>, error: &Error, opened: Option<&Path>) -> PyResult<PyErr> {
    let exists = error.what() == Error::exists("").what();
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let name = match error.kind() {
        ErrorKind::Interrupted => "CancelledError",
        ErrorKind::Usage => "UsageError",
        ErrorKind::Format => "FormatError",
        _ if exists => "ExistsError",
        _ => match source.map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => "NotFoundError",
            Some(io::ErrorKind::PermissionDenied) => "DeniedError",
            None if opened.is_some_and(Path::exists) => "FormatError",
            None if opened.is_some() => "NotFoundError",
            _ => "Error",
        },
    };
    let text = if exists { format!("{error:#}: {REPLACE}") } else { error.with_source() };
    let path = error.path().map(|path| path.to_string_lossy().into_owned());
    let code = source.and_then(io::Error::raw_os_error);
    new(py, name, &text, path.as_deref(), error.offset(), code)
}

/// An exception of a class of the module.
pub fn new(
    py: Python<'_>,
    name: &str,
    text: &str,
    path: Option<&str>,
    offset: Option<u64>,
    code: Option<i32>,
) -> PyResult<PyErr> {
    #[cfg(windows)]
    let code = match code {
        // Windows has numbers of its own.
        Some(code) => {
            let error = py.get_type::<pyo3::exceptions::PyOSError>().call1((0, "", py.None(), code))?;
            Some(error.getattr("errno")?.extract()?)
        }
        None => None,
    };
    let class = py.import(MODULE)?.getattr(name)?;
    Ok(PyErr::from_value(class.call1((text, path, offset, code))?))
}
