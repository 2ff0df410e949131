//! What the format is: several files without a mark, of which any opens the book.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, Result};
use tabiya_base::folder::has_extension;

use super::files::{self, KIN, KOB, KSF};
use super::{FORMAT, Kvetka};
use crate::driver::{Certainty, Driver, Opening};
use crate::format::{CountsGames, Edits, Facts, Format};
use crate::traits::Book;
#[cfg(feature = "write")]
use crate::{driver::Create, write::boxed};

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "kvetka",
    title: "Kvetka",
    noun: "a Kvetka book",
    extensions: &[KOB, KIN, KSF],
    found_by: Some(KIN),
    games: CountsGames::Yes,
    edits: Edits::Number { name: "weight", words: "half-points", most: u32::MAX as u64 },
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct KvetkaDriver;

impl Driver for KvetkaDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, path: &Path, _: &[u8]) -> Certainty {
        if FORMAT.has_name(path) { Certainty::Named } else { Certainty::No }
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        files::in_any_case(path)
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        let Opening { path, bytes, in_memory, .. } = opening;
        match in_memory {
            false => Ok(Arc::new(Kvetka::open(path)?)),
            true if has_extension(path, KOB) => Ok(Arc::new(Kvetka::new(path, bytes)?)),
            true => Err(Error::format(path, "this part of a Kvetka book has no positions")
                .advice("open it as a file, with the .kob beside it")),
        }
    }

    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        Some(|path, options| boxed(super::KvetkaWriter::new(path, options)))
    }

    #[cfg(feature = "write")]
    fn others(&self, path: &Path) -> Vec<PathBuf> {
        files::existing(&files::stem(path)).unwrap_or_default()
    }
}
