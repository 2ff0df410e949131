//! What the format is. It has no mark: whatever else is not recognized may be a book.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Error, Result};

use super::layout::ENTRY_LEN;
use super::recognize::foreign;
use super::{FORMAT, Polyglot};
use crate::driver::{Certainty, Driver, Opening, is_text};
use crate::format::{CountsGames, Edits, Facts, Format, Variants};
use crate::formats::advice;
use crate::traits::Book;
#[cfg(feature = "write")]
use crate::{driver::Create, write::boxed};

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "polyglot",
    title: "Polyglot",
    noun: "a Polyglot book",
    extensions: &["bin"],
    found_by: Some("bin"),
    variants: Variants::Any,
    games: CountsGames::No,
    edits: Edits::weight(u16::MAX as u64),
    learns: true,
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct PolyglotDriver;

impl Driver for PolyglotDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, _: &Path, bytes: &[u8]) -> Certainty {
        if is_text(bytes) { Certainty::No } else { Certainty::Possible }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        let Opening { path, bytes, variant, .. } = opening;
        let what = if bytes.len() < ENTRY_LEN {
            let len = bytes.len();
            Some(format!(
                "the file is too short for a book: it has {len} bytes, and one entry takes {ENTRY_LEN}"
            ))
        } else {
            foreign(&bytes)
        };
        match what {
            Some(what) => Err(Error::format(path, what).advice(advice())),
            None => Ok(Arc::new(Polyglot::new(path, bytes).of_variant(variant))),
        }
    }

    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        Some(|path, options| boxed(super::PolyglotWriter::new(path, options)))
    }
}
