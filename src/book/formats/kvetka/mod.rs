//! Kvetka's books (`.kob`, `.kin`, `.ksf`): positions in the order of their keys, in blocks; wins, draws and losses,
//! names of openings and links to games.
//!
//! A move's statistics are those of the position that it leads to. A damaged book is played as far as it is sound: what
//! stands behind a broken element of a block is not found, nor are the blocks of a file that is missing; an index that
//! does not tell what the blocks tell is not used.
//!
//! The format is described in `docs/formats/kvetka.md`, which also says how what its author leaves open is read
//! (docs/formats/kvetka.md, Open points). No book that Kvetka itself has written was at hand.

mod block;
mod check;
mod element;
mod files;
mod header;
mod key;
pub mod layout;
mod moves;
mod read;
#[cfg(test)]
mod tests;
mod wire;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use element::{Element, Extras, Link, Results, Shed, is_eco, opening_name};
pub use files::{in_any_case, is_part, standing, stem};
pub use header::Header;
pub use key::Key;
pub use moves::{code, legal};
pub use read::Kvetka;
pub use read::sources::{Game, Source, Sources};
pub use write::Writer;
pub use write::ksf::KsfWriter;
pub use write::pack::Packed;

use crate::base::findings::Findings;
use crate::base::progress::Progress;
use crate::book::traverse::{Forms as _, each_form};
use crate::book::{Book, Format, LinkedGame, MoveFacts, PositionRecord, Scope, Summary};
use crate::chess::Position;

impl Book for Kvetka {
    fn path(&self) -> &Path {
        self.name()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.paths()
    }

    fn format(&self) -> Format {
        Format::Kvetka
    }

    fn warnings(&self) -> Vec<String> {
        self.errors().iter().map(ToString::to_string).collect()
    }

    /// Appends the moves in the order of the element, each with what the book knows of the position that it leads to.
    /// A move's weight is twice its wins and once its draws; where no move of the position has a game, all weigh 1.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.moves_at(at.chess(), out);
    }

    fn opening(&self, at: &Position) -> Option<String> {
        self.name_at(at)
    }

    fn game(&self, at: &Position) -> Option<LinkedGame> {
        self.game_at(at)
    }

    fn games(&self, see: &mut dyn FnMut(LinkedGame) -> ControlFlow<()>) {
        if let Some(sources) = self.sources() {
            sources.each(see);
        }
    }

    fn each(
        &self,
        scope: Scope,
        progress: &Progress,
        visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>,
    ) -> u64 {
        each_form(self, scope, progress, visit)
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(self, progress, findings);
    }
}
