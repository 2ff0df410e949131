//! ChessBase books (`.ctg`, `.cto`, `.ctb`): entries in pages, found by a trie over hashes of positions. The format is
//! described in `docs/formats/ctg.md`.
//!
//! An entry holds its position's counts, ratings and colour, and its moves' marks. What else is known of a move is in the
//! entry of the position that it leads to. A damaged book is played as far as it is sound: look-ups do not find pages
//! beyond the end of the file and entries after a broken one in a page, and ignore moves that are not legal.

mod check;
mod driver;
mod each;
mod edit;
mod entry;
mod files;
pub mod layout;
mod moves;
mod read;
mod signature;
#[cfg(test)]
#[cfg(feature = "write")]
mod tests;
#[cfg(feature = "write")]
mod write;

use std::path::{Path, PathBuf};

pub use entry::{Rating, Statistics};
pub use files::part;
pub use files::{EXTENSIONS, in_any_case};
pub use read::Ctg;
pub use read::page::CtgPageEntry;
pub use signature::{Signature, decode};
#[cfg(feature = "write")]
pub use write::{Beside, CtgDraft, CtgWriter};

use tabiya_base::error::Result;
use tabiya_base::findings::Findings;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use crate::edit::PositionEdits;
use crate::traits::Book;
use crate::traverse::{Forms, each_form};
use crate::{BookSummary, Field, Format, MoveFacts, Moves, Patchable, Scope, Visit};
pub(crate) use driver::CtgDriver;

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

impl Moves for Ctg {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// Appends the moves in the order of the entry: see [`Forms::facts`] for their weights.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.moves_at(at, out);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each_form(self, scope, progress, visit)
    }
}

impl Patchable for Ctg {
    fn patches(&self, edits: &[PositionEdits], _: &Progress) -> Result<Vec<(PathBuf, Patch)>> {
        edit::patches(self, edits)
    }

    fn merges_forms(&self) -> bool {
        true
    }
}

impl Book for Ctg {
    fn path(&self) -> &Path {
        &self.name
    }

    fn files(&self) -> Vec<PathBuf> {
        let opened = files::part(&self.name).unwrap_or_default();
        let mut files = self.files.to_vec();
        if let Some(files) = files.get_mut(..=opened) {
            files.rotate_right(1);
        }
        files
    }

    fn format(&self) -> Format {
        FORMAT
    }

    fn fields(&self, at: &Position) -> Vec<Field> {
        let Some(entry) = self.entry(at) else { return Vec::new() };
        let known = entry.statistics();
        let flags = known.recommendation & !(layout::GREEN | layout::RED);
        let fields = [
            ("flags", "flags", flags.into()),
            ("comment", "comment", known.comment_code.into()),
            ("unknown", "unknown bytes", known.unknown),
        ];
        fields.map(|(key, name, value)| Field { key, name, value }).to_vec()
    }

    fn as_patchable(&self) -> Option<&dyn Patchable> {
        Some(self)
    }

    fn warnings(&self) -> Vec<String> {
        self.cut_off()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(self, progress, findings);
    }
}
