//! Games into counts, counts into weights, weights into a book of any writable format.
//!
//! | step | where |
//! |---|---|
//! | which games count, and which of their moves | [`filter`] |
//! | each move of each game into a row | [`mod@count`], [`row`] |
//! | what openings are called, and which games there were | [`eco`], `ledger` |
//! | more rows than fit into memory, sorted and added up | [`sort`] |
//! | what is worth keeping, and its weight | [`weigh`] |
//! | several books into one, and one into another format | [`merge()`] |

pub mod count;
pub mod eco;
pub mod filter;
mod known_row;
mod ledger;
mod merge;
pub mod report;
pub mod row;
pub mod sort;
pub mod weigh;

pub use count::{Means, means};
pub use eco::Names;
pub use filter::{Filter, Only};
pub use merge::{Merged, merge};
pub use report::Report;
pub use weigh::Weigh;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::{BookWriter, Known, Written};
use crate::games::GameSource;
use count::{Files, count};
use ledger::Ledger;
use row::{CountRow, PlacedRow, Row};
use sort::Sorted;

/// Bytes of memory that do not hold rows: pieces of files and what is made of them.
const ASIDE: usize = 24 << 20;

/// Builds a book from games. Positions get the names that openings have there.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the book is then not there.
pub fn build(
    source: &mut dyn GameSource,
    filter: &Filter,
    weigh: &Weigh,
    means: &Means,
    names: &Names,
    mut writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Report, Written)> {
    let means = &Means { memory: means.memory.saturating_sub(ASIDE).max(means.memory / 2), ..means.clone() };
    if writer.needs_positions() {
        let ledger = writer.wants_games().then(|| Ledger::new(means));
        let files = Files::new(source.files());
        let (piles, report) = count::<PlacedRow>(source, filter, means, ledger.as_ref(), progress)?;
        if let Some(ledger) = ledger {
            ledger.hand_over(&files, &mut *writer)?;
        }
        let place = |row: &PlacedRow| (row.packed.unpack(), Some(row.game));
        let written = write(&Sorted::new(piles), means, names, progress, writer, |rows| {
            weigh::positions(rows, weigh, true, place)
        })?;
        Ok((report, written))
    } else {
        let (piles, report) = count::<CountRow>(source, filter, means, None, progress)?;
        let written = write(&Sorted::new(piles), means, names, progress, writer, |rows| {
            weigh::positions(rows, weigh, false, |_| (None, None))
        })?;
        Ok((report, written))
    }
}

/// Writes a book of sorted rows.
fn write<R: Row>(
    sorted: &Sorted<R>,
    means: &Means,
    names: &Names,
    progress: &Progress,
    mut writer: Box<dyn BookWriter>,
    make: impl Fn(&[R]) -> Vec<Known> + Sync,
) -> Result<Written> {
    progress.things(sorted.len(), "counts");
    let mut done = 0;
    let counted = |rows: &[R]| (rows.len() as u64, make(rows));
    sorted.each(means.threads, means.memory, counted, |(rows, mut found)| {
        done += rows;
        progress.at(done);
        found.iter_mut().try_for_each(|known| {
            known.comment = names.get(known.key).map(str::to_owned);
            writer.add(known)
        })
    })?;
    writer.finish()
}
