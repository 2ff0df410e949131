//! What the format is: a Parquet file, or a folder of them.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Remedy, Result};
use tabiya_base::file_kind::PARQUET;

use super::{EXTENSION, from_bytes, named, open};
use crate::Among;
use crate::driver::{Certainty, CountsGames, Driver, Edits, Facts, Opening, Variants};
use crate::traits::Book;

/// The format.
pub(super) struct CountsDriver;

impl Driver for CountsDriver {
    fn facts(&self) -> &'static Facts {
        const FACTS: Facts = Facts {
            name: "counts",
            title: "counts",
            noun: "a count file",
            extensions: &[EXTENSION],
            variants: Variants::Stated,
            games: CountsGames::Only,
            edits: Edits::Not { advice: "build a book from it, and edit that", remedy: Remedy::Build },
            is_sliced: true,
            ..Facts::READ_ONLY
        };
        &FACTS
    }

    fn sniff(&self, _: &Path, bytes: &[u8]) -> Certainty {
        if bytes.starts_with(&PARQUET) { Certainty::Marked } else { Certainty::No }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        let Opening { path, bytes, in_memory, .. } = opening;
        match in_memory {
            true => from_bytes(path, bytes.to_vec()),
            false => open(path, &[path.to_owned()], &Among::default()),
        }
    }

    fn open_at(&self, path: &Path, among: &Among) -> Result<Option<Arc<dyn Book>>> {
        named(path)?.map(|files| open(path, &files, among)).transpose()
    }
}
