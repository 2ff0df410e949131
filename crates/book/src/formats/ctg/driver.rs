//! What the format is: three files, of which any opens the book.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, Result};

use super::layout::CTG_START;
use super::{Ctg, EXTENSIONS, FORMAT, files};
use crate::driver::{Certainty, Driver, Opening, is_text};
use crate::format::{CountsGames, Edits, Facts, Format};
use crate::traits::Book;
#[cfg(feature = "write")]
use crate::{driver::Create, write::boxed};

/// What is known of the format.
pub(super) const FACTS: Facts = Facts {
    name: "ctg",
    title: "ChessBase",
    noun: "a CTG book",
    extensions: &EXTENSIONS,
    found_by: Some("ctg"),
    games: CountsGames::Yes,
    edits: Edits::Verdicts,
    has_factors: true,
    ..Facts::READ_ONLY
};

/// What opens and writes its files.
pub(crate) struct CtgDriver;

impl Driver for CtgDriver {
    fn format(&self) -> Format {
        FORMAT
    }

    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        match files::part(path) {
            _ if bytes.starts_with(&CTG_START) => Certainty::Marked,
            Some(_) if !is_text(bytes) => Certainty::Named,
            _ => Certainty::No,
        }
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        files::in_any_case(path)
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        if opening.in_memory {
            return Err(Error::format(opening.path, "this is one of the three files of a CTG book")
                .advice("open it as a file, with the other two beside it"));
        }
        Ok(Arc::new(Ctg::open(opening.path)?))
    }

    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        Some(|path, options| boxed(super::CtgWriter::new(path, options)))
    }

    fn is_missed(&self, extra: &[u8]) -> bool {
        super::entry::has_remarks(extra)
    }

    #[cfg(feature = "write")]
    fn others(&self, path: &Path) -> Vec<PathBuf> {
        EXTENSIONS
            .iter()
            .flat_map(|end| [path.with_extension(end), path.with_extension(end.to_uppercase())])
            .collect()
    }
}
