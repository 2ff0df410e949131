//! Arena books (`.abk`): a tree of moves from the starting position, found by position. The format is described in
//! `docs/formats/abk.md`.
//!
//! The tree is turned into an index at opening, by a thread of its own: opening returns at once, and a look-up that
//! comes before the index is ready waits for it. The index knows a position by its Polyglot key, so that it is found
//! on whatever way, or from whatever FEN, a game came to it. Records of one move in one position, which several paths
//! lead to, are added up: see [`weigh`] for how a move is weighed.
//!
//! A move that the header's limits keep from being played (too few games, too few won, too late a half-move) is
//! given with a red verdict, [`MoveFacts::recommended`]` = Some(false)`, which acts in tournament mode; a move of
//! priority 0 weighs nothing and is never played. The half-move is the tree's own, on its shortest way to the
//! position, for a position set up by a FEN has no other.
//!
//! A damaged book is played as far as it is sound: circles, links out of the file, deleted records and illegal moves
//! end where they are met, and the rest is walked.

mod check;
pub mod index;
mod indexed;
pub mod layout;
pub mod records;
#[cfg(test)]
mod tests;
mod walk;
pub mod weigh;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::{Move, Position as _};

pub use write::{Contents, Draft, Writer, write as write_draft};

use crate::base::background::Background;
use crate::base::bytes;
use crate::base::error::{Error, Result};
use crate::base::findings::Findings;
use crate::base::map::{Access, Map};
use crate::base::progress::Progress;
use crate::book::{Book, Counts, Format, MoveFacts, Summary};
use crate::chess::Position;
use index::Index;
use indexed::IndexedMove;

use layout::{HEADER_LEN, HEADER_LEN_AT, RECORD_LEN, RECORD_LEN_AT, START};
use records::Header;

/// An Arena book.
#[derive(Debug)]
pub struct Abk {
    path: PathBuf,
    data: Arc<Map>,
    index: Background<Index>,
}

/// Whether bytes begin as an Arena book does: with its mark and the two lengths that stand behind it.
pub fn is_abk(data: &[u8]) -> bool {
    data.starts_with(&START)
        && bytes::u32_le(data, HEADER_LEN_AT) == Some(HEADER_LEN)
        && bytes::u32_le(data, RECORD_LEN_AT) == Some(RECORD_LEN)
}

impl Abk {
    /// Opens a book over these bytes; its index is made in the background.
    ///
    /// # Errors
    /// When the bytes do not begin as an Arena book does, or end within its header.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Result<Self> {
        let (path, data) = (path.into(), data.into());
        if !is_abk(&data) {
            let what = "this does not begin as an Arena book (03 'A' 'B', 25200, 28)";
            return Err(Error::format(path, what).at_offset(0).advice("name an Arena book (.abk)"));
        }
        if data.len() < HEADER_LEN as usize {
            let what = format!("the file ends within its header of {HEADER_LEN} bytes");
            let advice = "copy or download it again";
            return Err(Error::format(path, what).at_offset(data.len() as u64).advice(advice));
        }
        let data = Arc::new(data);
        let bytes = Arc::clone(&data);
        let index = Background::new(move || {
            // The tree mostly stands in the order in which it is walked.
            bytes.expect(Access::Sequential);
            Index::new(&bytes)
        });
        Ok(Self { path, data, index })
    }

    /// The first legal move in a position that fits.
    fn first(&self, at: &Position, fits: impl Fn(&IndexedMove) -> bool) -> Option<Move> {
        let fitting = self.index().of_key(at.key()).iter().filter(|known| fits(known));
        fitting.filter_map(|known| known.mv.resolve(at.chess())).find(|&mv| at.chess().is_legal(mv))
    }

    /// The index, waited for where it is not ready.
    pub fn index(&self) -> &Index {
        self.index.get()
    }

    /// What the header says.
    pub fn header(&self) -> Header {
        Header::read(&self.data)
    }
}

/// A move's counts from the mover's side. Games that nobody won are drawn, but in a book without any result it is
/// unknown how they ended.
fn counts(known: &IndexedMove, has_results: bool) -> Counts {
    let (wins, losses) = known.wins_and_losses();
    let draws = known.games.saturating_sub(wins).saturating_sub(losses);
    Counts {
        games: known.games.into(),
        wins: wins.into(),
        draws: if has_results { draws.into() } else { 0 },
        losses: losses.into(),
    }
}

impl Book for Abk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        Format::Abk
    }

    /// Appends the moves by falling weight.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let index = self.index();
        for known in index.of_key(at.key()) {
            let Some(mv) = known.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv)) else {
                continue;
            };
            out.push(MoveFacts {
                counts: index.has_games.then(|| counts(known, index.has_results)),
                recommended: known.limited.then_some(false),
                ..MoveFacts::new(mv, known.weight)
            });
        }
    }

    fn best(&self, at: &Position) -> Option<Move> {
        self.first(at, |known| known.weight > 0 && !known.limited)
    }

    fn heaviest(&self, at: &Position) -> Option<Move> {
        self.first(at, |known| known.weight > 0)
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        check::survey(&self.data, self.index(), progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(&self.data, progress, findings);
    }
}
