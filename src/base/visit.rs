//! How whoever is shown things one by one breaks that off.

use std::result;

use super::error::{Error, Result};

/// Why nothing more is wanted.
#[derive(Debug)]
pub enum Break {
    /// What was wanted has been seen.
    Enough,
    /// Something failed.
    Failed(Error),
}

/// What whoever is shown a thing answers: to go on, or why not.
pub type Seen<T = ()> = result::Result<T, Break>;

impl From<Error> for Break {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What was seen to its end; `None` if it was broken off because enough was seen.
///
/// # Errors
/// What failed.
pub fn to_the_end<T>(seen: Seen<T>) -> Result<Option<T>> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(Break::Enough) => Ok(None),
        Err(Break::Failed(error)) => Err(error),
    }
}
