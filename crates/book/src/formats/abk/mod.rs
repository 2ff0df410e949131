//! Arena books (`.abk`): a tree of moves from the starting position, found by position. The format is described in
//! `docs/formats/abk.md`.
//!
//! A background thread turns the tree into an index: opening returns immediately, and look-ups wait until the index is
//! ready. The index has positions by their Polyglot keys, so a position is found on any path and from any FEN. If several
//! paths lead to a position, the records of each move are added up: [`read::weigh`] describes the weights.
//!
//! A move that the header's limits keep from being played (too few games, too few won, too late a ply) is red,
//! [`crate::MoveFacts::recommended`]` = Some(Red)`, which acts in tournament mode. A move of priority 0 weighs nothing and is
//! never played. The ply is that of the tree's shortest path to the position, because a position from a FEN has no other.
//!
//! A damaged book is played as far as it is sound: the walk ends at cycles, links out of the file, deleted records and
//! illegal moves, and goes through the rest.

mod check;
mod driver;
mod each;
mod edit;
mod extra;
mod kinds;
pub mod layout;
pub mod read;
pub mod records;
#[cfg(test)]
#[cfg(feature = "write")]
mod tests;
#[cfg(feature = "write")]
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::{Move, Position as _};

#[cfg(feature = "write")]
pub use write::{AbkDraft, AbkWriter, write as write_draft};

use layout::{HEADER_LEN, HEADER_LEN_AT, RECORD_LEN, RECORD_LEN_AT, START};
use read::{AbkIndex, IndexedMove};
use records::Records;
use tabiya_base::background::Background;
use tabiya_base::bytes;
use tabiya_base::error::{Error, Result};
use tabiya_base::findings::Findings;
use tabiya_base::map::{Access, Map};
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use crate::edit::PositionEdits;
use crate::traits::Book;
use crate::{BookSummary, Format, Patchable};
pub(crate) use driver::AbkDriver;
pub use extra::priority;

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

/// An Arena book.
#[derive(Debug)]
pub struct Abk {
    path: PathBuf,
    data: Arc<Map>,
    index: Background<AbkIndex>,
}

/// Whether bytes begin as an Arena book does: with its mark and the two lengths after it.
pub(crate) fn is_abk(data: &[u8]) -> bool {
    data.starts_with(&START)
        && bytes::u32_le(data, HEADER_LEN_AT) == Some(HEADER_LEN)
        && bytes::u32_le(data, RECORD_LEN_AT) == Some(RECORD_LEN)
}

impl Abk {
    /// Opens a book over these bytes; its index is made in the background.
    ///
    /// # Errors
    /// When the bytes do not begin as an Arena book does, or end within the header.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Result<Self> {
        let (path, data) = (path.into(), data.into());
        if !is_abk(&data) {
            let what = "this does not start like an Arena book (03 'A' 'B', 25200, 28)";
            return Err(Error::format(path, what).at_offset(0).advice("name an Arena book (.abk)"));
        }
        if data.len() < HEADER_LEN as usize {
            let what = format!("the file ends inside its header of {HEADER_LEN} bytes");
            let advice = "copy or download it again";
            return Err(Error::format(path, what).at_offset(data.len() as u64).advice(advice));
        }
        let data = Arc::new(data);
        let bytes = Arc::clone(&data);
        let index = Background::new(move || {
            // Most of the tree is in the order of the walk.
            bytes.expect(Access::Sequential);
            AbkIndex::new(&bytes)
        });
        Ok(Self { path, data, index })
    }

    /// The first legal move in a position that fits.
    fn first(&self, at: &Position, fits: impl Fn(&IndexedMove) -> bool) -> Option<Move> {
        at.standard()?;
        let fitting = self.index().of_key(at.key()).iter().filter(|known| fits(known));
        fitting.filter_map(|known| known.mv.resolve(at.chess())).find(|&mv| at.chess().is_legal(mv))
    }

    /// The index, as soon as it is ready.
    pub fn index(&self) -> &AbkIndex {
        self.index.get()
    }
}

impl Patchable for Abk {
    fn patches(&self, edits: &[PositionEdits], progress: &Progress) -> Result<Vec<(PathBuf, Patch)>> {
        Ok(vec![(self.path.clone(), edit::patch(&self.data, edits, progress)?)])
    }

    fn is_tree(&self) -> bool {
        true
    }
}

impl Book for Abk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        FORMAT
    }

    /// The priority.
    fn own_number(&self, at: &Position, mv: Move) -> Option<u64> {
        let of_key = self.index().of_key(at.key());
        let known = of_key.iter().find(|known| known.mv.resolve(at.chess()) == Some(mv));
        known.map(|known| known.priority.into())
    }

    fn as_patchable(&self) -> Option<&dyn Patchable> {
        Some(self)
    }

    fn best(&self, at: &Position) -> Option<Move> {
        self.first(at, |known| known.weight > 0 && !known.limited)
    }

    fn heaviest(&self, at: &Position) -> Option<Move> {
        self.first(at, |known| known.weight > 0)
    }

    fn warnings(&self) -> Vec<String> {
        let trailing = Records::new(&self.data).trailing;
        let at = self.data.len() - trailing;
        let warning = || format!("{}: {} (byte {at})", self.path.display(), check::cut_off(trailing));
        (trailing > 0).then(warning).into_iter().collect()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(&self.data, self.index(), progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(&self.data, progress, findings);
    }
}
