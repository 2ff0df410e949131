//! What the format is.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::Result;
#[cfg(feature = "write")]
use tabiya_chess::MoveCode;

#[cfg(feature = "write")]
use super::extra::each;
use super::layout::HIGHEST_PRIORITY;
use super::{Abk, FORMAT, is_abk};
use crate::driver::{Certainty, Driver, Opening, named};
use crate::format::{CountsGames, Edits, Facts, Format};
use crate::traits::Book;
#[cfg(feature = "write")]
use crate::{driver::Create, write::boxed};

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "abk",
    title: "Arena",
    noun: "an Arena book",
    extensions: &["abk"],
    found_by: Some("abk"),
    games: CountsGames::Yes,
    edits: Edits::Number { name: "priority", words: "priority", most: HIGHEST_PRIORITY as u64 },
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct AbkDriver;

impl Driver for AbkDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        if is_abk(bytes) { Certainty::Marked } else { named(FORMAT, path, bytes) }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        Ok(Arc::new(Abk::new(opening.path, opening.bytes)?))
    }

    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        Some(|path, options| boxed(super::AbkWriter::new(path, options)))
    }

    #[cfg(feature = "write")]
    fn decides(&self, extra: &[u8], mv: MoveCode) -> bool {
        each(extra).any(|(known, _)| known == mv)
    }
}
