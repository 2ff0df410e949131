//! The extension module of the Python package `tabiya`. The package's own files are in `tabiya/`: the stubs there have the
//! documentation of everything here.
#![warn(missing_docs)]
#![allow(clippy::must_use_candidate, reason = "Python calls these")]

mod board;
mod entry;
mod errors;
mod games;
mod library;
mod lines;
mod moves;
mod policy;
mod reader;
mod stream;
mod tasks;

use pyo3::prelude::*;

#[pymodule]
mod _tabiya {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::entry::{Entry, unpickled};
    #[pymodule_export]
    use crate::games::{Games, MainLine, open_games};
    #[pymodule_export]
    use crate::lines::edit_line;
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::reader::{Reader, opening};
    #[pymodule_export]
    use crate::tasks::{Cancel, build, check, merge};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // A book that shrinks is an error here, not the end of Python.
        crate::library::outlive_truncated_files();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
