//! Kvetka's books (`.kob`, `.kin`, `.ksf`): positions in the order of their keys, in blocks; wins, draws and losses,
//! names of openings and links to games.
//!
//! A move's statistics are those of the position that it leads to. A damaged book is played as far as it is sound: what
//! stands behind a broken element of a block is not found, nor are the blocks of a file that is missing; an index that
//! does not tell what the blocks tell is not used.
//!
//! # How the description is read where it leaves something open
//!
//! No book that Kvetka itself has written was at hand.
//!
//! | open | read as |
//! |---|---|
//! | Where are headers? | At the start of `_0.kob` alone; all other files begin with a block, for joining neighbours must not change a book. A file with another number that stands alone is looked at for a header too. |
//! | Is a book with `_0.kob` missing one? | Its other files are played, and elements taken to have links where their flags say so. |
//! | Does `n` of a block count itself? | Yes: it is the block's size without what means nothing. |
//! | Does an element's 682 bytes count its length field? | When writing, yes; when checking too. |
//! | Order of the bytes of 16-bit characters | Big-endian when writing; when reading the order that makes better text, of the comment or address as a whole. |
//! | ANSI strings | Read as UTF-8 where they are that, else in the Western code page (1252); written in that where it has all letters, else as UTF-8. |
//! | The links to games that end in a position, which the text omits | Never read; kept when an element is copied within one book's sources, else left out. |
//! | Order of what follows the flags | Link, comment, the omitted links: as the text lists them, not as the bits are numbered. |
//! | Which castling rights count? | Those that the position has; where a king or rook did not start on its square of ordinary chess, a position with castling has no key. |
//! | Is en passant named if the capture is illegal? | Yes, as the text says, but only where a pawn stands to capture; the file is that of the mirrored board. |
//! | Mirrored when? | When no castling is left and the king of the side to move stands on the files a to d, after colours are swapped. |
//! | `block_number` is another than that of the files | All blocks are used; those behind the number are searched by themselves, in case they are left over from before. |
//! | 20 MB | 20 * 1024 * 1024 bytes, for 2048 are called two kilobytes. |
//! | `%currentdir` | With or without a second sign; taken for the folder of the book. |
//! | How full are blocks? | When writing, as full as can be: Kvetka splits a block that has no room left. |
//! | A move to a position that the book does not have | Weight 0, as one without a game; where no move of a position has a game all weigh 1. |

mod block;
mod check;
mod each;
mod element;
mod files;
mod gather;
mod header;
mod index;
mod key;
mod ksf;
pub mod layout;
mod linked;
mod moves;
mod output;
mod pack;
mod parts;
mod read;
mod sources;
#[cfg(test)]
mod tests;
mod wire;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use element::{Element, Extras, Link, Results, Shed, is_eco, opening_name};
pub use files::{in_any_case, is_part, standing, stem};
pub use header::Header;
pub use key::{Key, KeyFault};
pub use ksf::KsfWriter;
pub use moves::{code, legal};
pub use pack::Packed;
pub use read::Kvetka;
pub use sources::{Game, Source, Sources};
pub use write::Writer;

use super::{Book, BookMove, Damage, Format, Known, LinkedGame, Scope, Summary};
use crate::base::progress::Progress;
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
        self.complaints().iter().map(ToString::to_string).collect()
    }

    /// Appends the moves in the order of the element, each with what the book knows of the position that it leads to.
    /// A move's weight is twice its wins and once its draws; where no move of the position has a game, all weigh 1.
    fn moves(&self, at: &Position, out: &mut Vec<BookMove>) {
        self.append(at.chess(), out);
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
        visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
    ) -> u64 {
        each::each(self, scope, progress, visit)
    }

    fn summary(&self, progress: &Progress) -> Summary {
        check::summary(self, progress)
    }

    fn check(&self, progress: &Progress, report: &mut dyn FnMut(Damage)) {
        check::check(self, progress, report);
    }
}
