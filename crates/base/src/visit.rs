//! How a visitor that is shown things one by one stops the visit.

use std::result;

use super::error::{Error, Result};

/// Why nothing more is wanted.
#[derive(Debug)]
pub enum Break {
    /// What was wanted has been seen.
    Enough,
    Failed(Error),
}

/// What a visitor answers: to continue, or why not.
pub type Seen<T = ()> = result::Result<T, Break>;

impl From<Error> for Break {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The result of a visit; `None` if the visitor stopped it because it had seen enough.
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
