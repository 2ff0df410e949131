//! Kvetka's books (`.kob`, `.kin`, `.ksf`): positions in the order of their keys, in blocks; wins, draws and losses,
//! names of openings and links to games.
//!
//! A move's statistics are those of the position that it leads to. The sound parts of a damaged book are played: what
//! follows a broken element in its block is not found, nor are the blocks of a missing file; an index that disagrees with
//! the blocks is not used.
//!
//! `docs/formats/kvetka.md` describes the format, and how to read what its author leaves open (docs/formats/kvetka.md,
//! Open points). No book that Kvetka itself wrote was available.

mod block;
mod check;
mod driver;
mod each;
mod edit;
mod element;
mod files;
mod header;
mod key;
pub mod layout;
mod moves;
mod read;
#[cfg(test)]
#[cfg(feature = "write")]
mod tests;
mod wire;
#[cfg(feature = "write")]
mod write;

use std::path::{Path, PathBuf};

pub use block::Packer;
pub use element::{Element, Extras, LeftOut, Link, opening_name};
pub use files::stem;
pub use files::{existing, in_any_case, is_part};
pub use header::KvetkaHeader;
pub use key::Key;
pub use moves::{code, legal};
pub use read::Kvetka;
pub use read::sources::{KvetkaSource, KvetkaSources};
#[cfg(feature = "write")]
pub use write::KvetkaWriter;

use tabiya_base::error::{Error, Result};
use tabiya_base::findings::Findings;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Seen;
use tabiya_chess::{Position, Variant};

use crate::edit::PositionEdits;
use crate::traits::Book;
use crate::traverse::{Forms as _, each_form};
use crate::{
    BookSummary, Format, GameReference, Heading, MoveFacts, Moves, Patchable, Remarks, Scope, Visit,
};
pub(crate) use driver::KvetkaDriver;

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

impl Moves for Kvetka {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// Appends the moves in the order of the element, each with the facts of the position that it leads to. A move's weight
    /// is twice its wins plus its draws; if no move of the position has a game, all weigh 1.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.moves_at(at, out);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each_form(self, scope, progress, visit)
    }

    fn heading(&self) -> Option<Heading> {
        let stem = files::stem(self.path());
        self.header().map(|header| header.heading(stem.file_name().unwrap_or_default()))
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        Some(self)
    }
}

impl Remarks for Kvetka {
    fn comment(&self, at: &Position) -> Option<String> {
        self.extras(at)?.comment.map(|comment| opening_name(&comment))
    }

    fn game(&self, at: &Position) -> Option<GameReference> {
        let link = self.extras(at)?.link?;
        self.sources()?.game(link)
    }

    fn games(&self, see: &mut dyn FnMut(GameReference) -> Seen) -> Result<()> {
        self.sources().map_or(Ok(()), |sources| sources.each(see))
    }
}

impl Patchable for Kvetka {
    fn patches(&self, edits: &[PositionEdits], _: &Progress) -> Result<Vec<(PathBuf, Patch)>> {
        edit::patches(self, edits)
    }

    fn merges_forms(&self) -> bool {
        true
    }

    fn weight_of_target(&self, target: &Position) -> Option<u64> {
        edit::weight_of(self, target)
    }
}

impl Book for Kvetka {
    fn path(&self) -> &Path {
        &self.name
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn format(&self) -> Format {
        FORMAT
    }

    fn as_patchable(&self) -> Option<&dyn Patchable> {
        Some(self)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(Error::with_source).collect()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(self, progress, findings);
    }
}
