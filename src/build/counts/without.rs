//! In place of count files where they are left out of the executable: none can be opened or begun.

use std::path::Path;

use super::{CountsWritten, Line};
use crate::base::error::{Error, ErrorKind, Result};

/// A count file: there is none.
pub enum CountFile {}

/// A count file that is being written: there is none.
pub enum CountWriter {}

fn left_out<T>(path: &Path) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, "this is a count file, and this tabiya was built without them")
        .at_path(path)
        .advice("build it with the feature \"parquet\""))
}

#[expect(missing_docs, reason = "as those in the other modules")]
impl CountFile {
    /// # Errors
    /// Always.
    pub fn open(path: &Path) -> Result<Self> {
        left_out(path)
    }

    /// # Errors
    /// Always.
    pub fn from_bytes(path: impl AsRef<Path>, _: Vec<u8>) -> Result<Self> {
        left_out(path.as_ref())
    }

    pub fn path(&self) -> &Path {
        match *self {}
    }

    pub fn len(&self) -> u64 {
        match *self {}
    }

    pub fn is_empty(&self) -> bool {
        match *self {}
    }

    pub fn rows(&self) -> u64 {
        match *self {}
    }

    pub fn groups(&self) -> usize {
        match *self {}
    }

    pub fn group_rows(&self, _: usize) -> u64 {
        match *self {}
    }

    pub fn has_positions(&self) -> bool {
        match *self {}
    }

    pub fn version(&self) -> Option<u32> {
        match *self {}
    }

    pub fn created_by(&self) -> Option<&str> {
        match *self {}
    }

    /// # Errors
    /// Never: there is none.
    pub fn group(&self, _: usize, _: bool, _: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        match *self {}
    }

    pub fn lacks_positions(&self) -> Error {
        match *self {}
    }
}

#[expect(missing_docs, reason = "as those in the other modules")]
impl CountWriter {
    /// # Errors
    /// Always.
    pub fn create(path: &Path, _: bool, _: bool) -> Result<Self> {
        left_out(path)
    }

    pub fn has_positions(&self) -> bool {
        match *self {}
    }

    /// # Errors
    /// Never: there is none.
    pub fn add(&mut self, _: &Line) -> Result<()> {
        match *self {}
    }

    /// # Errors
    /// Never: there is none.
    pub fn finish(self) -> Result<CountsWritten> {
        match self {}
    }
}
