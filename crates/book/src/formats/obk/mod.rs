//! Chessmaster's books (`.obk`): a tree of moves from the starting position, found by position. The format is described in
//! `docs/formats/obk.md`.
//!
//! A background thread turns the tree into an index: opening returns immediately, and look-ups wait until the index is
//! ready. If several lines lead to a position, a move has the greatest of its weights.
//!
//! A damaged book is played as far as it is sound: a move that is not legal takes only its own replies along.

mod check;
mod driver;
mod kinds;
pub mod layout;
pub mod read;
pub mod records;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::background::Background;
use tabiya_base::error::{Error, Result};
use tabiya_base::findings::Findings;
use tabiya_base::map::Map;
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use crate::traits::Book;
use crate::traverse::each_reachable;
use crate::{BookSummary, Format, MoveFacts, Moves, Scope, Visit};
pub(crate) use driver::ObkDriver;
use layout::{START_V1, START_V2};
pub use read::{ObkIndex, ObkMove};
pub use records::{ObkHeader, ObkRecord};

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

/// A Chessmaster book.
#[derive(Debug)]
pub struct Obk {
    path: PathBuf,
    data: Arc<Map>,
    header: ObkHeader,
    index: Background<ObkIndex>,
}

/// Whether bytes begin as a Chessmaster book does.
pub(crate) fn is_obk(data: &[u8]) -> bool {
    data.starts_with(&START_V1) || data.starts_with(&START_V2)
}

impl Obk {
    /// Opens a book over these bytes; its index is made in the background.
    ///
    /// # Errors
    /// When the bytes do not begin as a Chessmaster book does, or end within the header.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Result<Self> {
        let (path, data) = (path.into(), data.into());
        let Some(header) = ObkHeader::read(&data) else {
            let error = |what: &str, at: usize, advice: &str| {
                Err(Error::format(&path, what).at_offset(at as u64).advice(advice))
            };
            return if is_obk(&data) {
                error(
                    "the file ends inside its header",
                    data.len(),
                    "copy it again from the program's CD or folder",
                )
            } else {
                let what = "this does not start like a Chessmaster book (BOO! or UGWS)";
                error(what, 0, "name a Chessmaster book (.obk)")
            };
        };
        let data = Arc::new(data);
        let bytes = Arc::clone(&data);
        let index = Background::new(move || ObkIndex::new(&bytes, header));
        Ok(Self { path, data, header, index })
    }

    /// What the file says of itself.
    pub fn header(&self) -> ObkHeader {
        self.header
    }

    /// The index, as soon as it is ready.
    pub fn index(&self) -> &ObkIndex {
        self.index.get()
    }

    fn bytes(&self) -> &[u8] {
        &self.data
    }
}

impl Moves for Obk {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// Appends the moves by descending weight.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let known = self.index().get(at.key()).iter();
        out.extend(known.filter_map(|known| MoveFacts::new(known.mv, known.weight).at(at)));
    }

    /// Shows what play reaches, whatever the scope: all positions follow from moves.
    fn each(&self, _: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each_reachable(self, 0, progress, visit)
    }
}

impl Book for Obk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        FORMAT
    }

    fn warnings(&self) -> Vec<String> {
        let missing = check::missing(&self.data, self.header);
        missing.into_iter().map(|what| format!("{}: {what}", self.path.display())).collect()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(&self.data, self.header, progress, findings);
    }
}
