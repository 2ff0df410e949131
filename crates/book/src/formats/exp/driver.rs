//! What the format is. Files of some engines have no mark: their records show whether they are ones.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Remedy, Result};

use super::records::{family, has_signature};
use super::{Exp, FORMAT};
use crate::driver::{Certainty, Driver, Opening};
use crate::format::{Edits, Facts, Format};
use crate::traits::Book;

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "exp",
    title: "experience",
    noun: "an experience file",
    extensions: &["exp"],
    found_by: Some("exp"),
    edits: Edits::Not { advice: "write it as a book, and edit that", remedy: Remedy::Convert },
    lists_all: false,
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct ExpDriver;

impl Driver for ExpDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    /// An engine that has found out nothing yet leaves an empty file.
    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        if has_signature(bytes) {
            Certainty::Marked
        } else if FORMAT.has_name(path) {
            Certainty::Named
        } else if matches!(family(bytes, false), Ok(None)) {
            Certainty::No
        } else {
            Certainty::Likely
        }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        Ok(Arc::new(Exp::new(opening.path, opening.bytes)?))
    }
}
