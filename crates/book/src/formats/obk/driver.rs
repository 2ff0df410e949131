//! What the format is.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::Result;

use super::{FORMAT, Obk, is_obk};
use crate::driver::{Certainty, Driver, Opening, named};
use crate::format::{Facts, Format};
use crate::traits::Book;

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "obk",
    title: "Chessmaster",
    noun: "a Chessmaster book",
    extensions: &["obk"],
    found_by: Some("obk"),
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct ObkDriver;

impl Driver for ObkDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        if is_obk(bytes) { Certainty::Marked } else { named(FORMAT, path, bytes) }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        Ok(Arc::new(Obk::new(opening.path, opening.bytes)?))
    }
}
