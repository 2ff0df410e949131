//! Games into counts, counts into weights, weights into a book of any writable format.
//!
//! | step | where |
//! |---|---|
//! | which games count, and which of their moves | [`filter`] |
//! | each move of each game into a row | [`mod@count`], [`row`] |
//! | what openings are called, and which games there were | [`eco`], `ledger` |
//! | more rows than fit into memory, sorted and added up | [`sort`] |
//! | what is worth keeping, and its weight | [`weigh`] |
//! | counts of other machines, and counts for them | [`crate::book::counts`], [`write_counts`] |
//! | several books into one, and one into another format | [`merge()`] |

pub mod count;
pub mod eco;
mod facts_row;
pub mod filter;
mod gather;
mod key_row;
mod ledger;
mod merge;
pub mod report;
pub mod row;
pub mod sort;
pub mod weigh;

pub use count::{Means, means};
pub use eco::Names;
pub use filter::{Filter, Only};
pub use gather::{Input, write_counts};
pub use merge::{Merged, merge};
pub use report::Report;
pub use weigh::Weigh;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::{BookWriter, PositionRecord, Written};
use count::Files;
use ledger::Ledger;
use row::{CountRow, PlacedRow, Row};
use sort::Sorted;
use weigh::Drops;

/// Bytes of memory that do not hold rows: pieces of files and what is read from them.
const ASIDE: usize = 24 << 20;

/// How a book is built.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Which games count, and which of their moves.
    pub filter: &'a Filter,
    /// Which moves are kept, and with what weights.
    pub weigh: &'a Weigh,
    /// Names that positions get as comments.
    pub names: &'a Names,
    /// Threads, memory and disk.
    pub means: &'a Means,
    /// Who hears how far it is.
    pub progress: &'a Progress,
}

/// Builds a book from games and count files.
///
/// # Errors
/// When a file cannot be read or written, when a count file has no positions and the book's format needs them, or when
/// the work is interrupted: the book is then not there.
pub fn build(
    mut input: Input<'_>,
    plan: &Plan<'_>,
    mut writer: Box<dyn BookWriter>,
) -> Result<(Report, Written)> {
    let &Plan { filter, weigh, progress, .. } = plan;
    let means = &within(&within(plan.means, ASIDE), writer.memory());
    let plan = &Plan { means, ..*plan };
    if writer.needs_positions() {
        let ledger = writer.wants_games().then(|| Ledger::new(means));
        let (piles, mut report) = input.count::<PlacedRow>(filter, means, ledger.as_ref(), progress)?;
        if let Some(ledger) = ledger {
            ledger.hand_over(&Files::new(input.games.files()), &mut *writer)?;
        }
        let place =
            |row: &PlacedRow| (row.packed.unpack(), Some(row.game).filter(|game| *game != gather::NO_GAME));
        let written = write(&Sorted::new(piles), plan, writer, &mut report, |rows, drops| {
            weigh::positions(rows, weigh, true, drops, place)
        })?;
        Ok((report, written))
    } else {
        let (piles, mut report) = input.count::<CountRow>(filter, means, None, progress)?;
        let written = write(&Sorted::new(piles), plan, writer, &mut report, |rows, drops| {
            weigh::positions(rows, weigh, false, drops, |_| (None, None))
        })?;
        Ok((report, written))
    }
}

/// What is left of the memory beside this much.
fn within(means: &Means, aside: usize) -> Means {
    Means { memory: means.memory.saturating_sub(aside).max(means.memory / 2), ..means.clone() }
}

/// Writes a book of sorted rows; the report gets what was not worth keeping.
fn write<R: Row>(
    sorted: &Sorted<R>,
    plan: &Plan<'_>,
    mut writer: Box<dyn BookWriter>,
    report: &mut Report,
    make: impl Fn(&[R], &mut Drops) -> Vec<PositionRecord> + Sync,
) -> Result<Written> {
    let &Plan { names, means, progress, .. } = plan;
    progress.things(sorted.len(), "counts");
    let mut done = 0;
    let counted = |rows: &[R]| {
        let mut drops = Drops::new();
        let found = make(rows, &mut drops);
        (rows.len() as u64, found, drops)
    };
    sorted.each(means.threads, means.memory / 4, counted, |(rows, mut found, drops)| {
        done += rows;
        report.drop_moves(drops);
        progress.at(done);
        found.iter_mut().try_for_each(|known| {
            known.comment = names.get(known.key).map(str::to_owned);
            writer.add(known)
        })
    })?;
    writer.finish()
}
