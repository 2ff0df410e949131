//! Count files in an executable without them: none can be opened or written.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_chess::Variant;

use super::{CountsRow, CountsWritten, Shape};
use crate::Among;
use crate::traits::Book;

/// A count file, which cannot exist.
#[derive(Debug)]
pub enum CountFile {}

#[expect(missing_docs, reason = "as those in the other modules")]
pub fn open(path: &Path, _: &[PathBuf], _: &Among) -> Result<Arc<dyn Book>> {
    left_out(path)
}

#[expect(missing_docs, reason = "as those in the other modules")]
pub fn from_bytes(path: &Path, _: Vec<u8>) -> Result<Arc<dyn Book>> {
    left_out(path)
}

/// Where the keys of a count file are, which cannot exist.
#[derive(Debug)]
pub enum Keys {}

/// A count file that is being written, which cannot exist.
#[derive(Debug)]
pub enum CountWriter {}

fn left_out<T>(path: &Path) -> Result<T> {
    Err(Error::new(
        ErrorKind::Usage,
        "this is a count file, but this tabiya was built without support for them",
    )
    .at_path(path)
    .advice("build it with the feature \"parquet\""))
}

/// Methods of a type without values.
macro_rules! never {
    ($($name:ident($($of:ty),*) -> $to:ty;)*) => {
        $(pub fn $name(&self, $(_: $of),*) -> $to {
            match *self {}
        })*
    };
}

#[expect(missing_docs, reason = "as those in the other modules")]
impl CountFile {
    pub fn open(path: &Path) -> Result<Self> {
        left_out(path)
    }

    never! {
        path() -> &Path;
        bytes() -> u64;
        rows() -> u64;
        groups() -> usize;
        group_rows(usize) -> u64;
        group_start(usize) -> u64;
        has_positions() -> bool;
        version() -> Option<u32>;
        created_by() -> Option<&str>;
        group(usize, Shape, impl FnMut(&CountsRow) -> Result<()>) -> Result<()>;
        rows_in(usize, Range<u64>, Shape, impl FnMut(&CountsRow) -> Result<()>) -> Result<()>;
        keys() -> Option<Keys>;
        between(&Keys, &RangeInclusive<u64>) -> Vec<(usize, Range<u64>)>;
        least_rows(&Keys) -> u64;
        shape() -> Shape;
        require(Shape) -> Result<()>;
        variant() -> Variant;
    }
}

#[expect(missing_docs, reason = "as those in the other modules")]
impl CountWriter {
    pub fn create(path: &Path, _: Shape, _: bool) -> Result<Self> {
        left_out(path)
    }

    #[must_use]
    pub fn of_variant(self, _: Variant) -> Self {
        self
    }

    pub fn finish(self) -> Result<CountsWritten> {
        match self {}
    }

    pub fn add(&mut self, _: &CountsRow) -> Result<()> {
        match *self {}
    }

    never! {
        shape() -> Shape;
    }
}
