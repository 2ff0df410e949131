//! What the format is: a Parquet file, or a folder of them.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Remedy, Result};
use tabiya_base::file_kind::PARQUET;

use super::{EXTENSION, FORMAT, from_bytes, named, open};
use crate::Among;
use crate::driver::{Certainty, Driver, Opening, named as named_so};
use crate::format::{CountsGames, Edits, Facts, Format, Variants};
use crate::traits::Book;

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
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

/// What opens and writes its files.
pub(crate) struct CountsDriver;

impl Driver for CountsDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        if bytes.starts_with(&PARQUET) { Certainty::Marked } else { named_so(FORMAT, path, bytes) }
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
