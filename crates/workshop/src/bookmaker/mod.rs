//! Games become counts, counts become weights, weights become a book of any writable format.
//!
//! | step | module |
//! |---|---|
//! | decide which games count, and which of their moves | [`filter`] |
//! | find the games that occur several times | `repeated` |
//! | turn each move of each game into a row | [`mod@count`], [`row`] |
//! | name openings, and list the games | [`eco`], `game_index` |
//! | sort more rows than fit into memory, and add them up | [`sort`] |
//! | decide which moves to keep, and weigh them | [`weigh`] |
//! | read the counts of other machines, and write counts for them | [`OpenCounts`], [`write_counts`] |
//! | keep counts in memory, to follow games with them | [`PositionCounts`] |
//! | keep the counts of each file until all are counted | `work` |
//! | merge several books, or convert one | [`merge()`] |
//! | leave out a part of a book | [`trim`] |
//! | compare two books | [`mod@diff`] |

mod chances;
pub mod count;
mod count_rows;
pub mod diff;
pub(crate) mod eco;
mod facts_row;
mod files;
pub mod filter;
mod finished;
mod game_index;
mod gather;
mod gathered_rows;
mod key_row;
mod marks;
mod merge;
mod merging;
mod new_book;
mod position_counts;
mod repeated;
pub mod report;
pub mod row;
pub mod sort;
pub mod trim;
mod unlike;
pub mod weigh;
mod work;

pub use count_rows::{CountsWritten, NewCounts, OpenCounts};
pub use eco::Names;
pub use filter::{CountedMoves, Exclusion, Filter, Recency, TagPattern, Tags};
pub use gather::{Input, add_up, join, write_counts};
pub use merge::merge_books;
pub use merge::{Merged, merge, widest};
pub use new_book::{NewBook, takes_weights};
pub use position_counts::PositionCounts;
pub use repeated::Repeated;
pub use report::{BuildReport, FailedGames};
pub use tabiya_base::resources::Resources;
pub use weigh::{DropReason, DroppedMoves, Weigh};
pub use work::Work;

use files::BuildFiles;
use finished::finished;
use game_index::GameIndex;
use gather::Gathered;
use row::{CountRow, CountedRow, PlacedRow};
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_book::{BookWriter, Written, left_out};
use tabiya_chess::Variant;

/// Bytes of memory that do not hold rows but pieces of files and the games in them.
const ASIDE: usize = 24 << 20;

/// Games whose links are left out.
const UNLINKED: &str = "links to games that other programs could not find: from standard input, archives, compressed files or Scid";

/// How a book is built.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Which games count, and which of their moves.
    pub filter: &'a Filter,
    /// Which moves are kept, and with what weights.
    pub weigh: &'a Weigh,
    /// Names that positions get as comments.
    pub names: &'a Names,
    /// Threads, memory and disk.
    pub resources: &'a Resources,
    /// Shows how far the work is.
    pub progress: &'a Progress,
}

/// Builds a book from games and count files.
///
/// # Errors
/// When a file cannot be read or written, when a count file has no positions and the book's format needs them, or when
/// the work is interrupted: no book is written then.
pub fn build(
    input: Input<'_>,
    plan: &Plan<'_>,
    writer: Box<dyn BookWriter>,
) -> Result<(BuildReport, Written)> {
    let variant = input.games.variant();
    if variant != Variant::Chess && plan.weigh.needs_sides() {
        let what = format!("a book of {variant} cannot have another least share of games for each side");
        return Err(Error::new(ErrorKind::Usage, what).advice("name one share for both"));
    }
    let resources = &plan.resources.without(ASIDE).without(writer.memory());
    let plan = &Plan { resources, ..*plan };
    // Only a position says which side is to move.
    if writer.needs_positions() || plan.weigh.needs_sides() {
        build_from::<PlacedRow>(input, plan, writer)
    } else {
        build_from::<CountRow>(input, plan, writer)
    }
}

fn build_from<R: CountedRow>(
    mut input: Input<'_>,
    plan: &Plan<'_>,
    mut writer: Box<dyn BookWriter>,
) -> Result<(BuildReport, Written)> {
    let &Plan { filter, weigh, names, resources, progress } = plan;
    let counted = writer.needs_positions();
    let index = (counted && writer.wants_games()).then(|| GameIndex::new(resources));
    let Gathered { rows, mut report, marks } =
        input.count::<R>(filter, By::default(), resources, index.as_ref(), progress)?;
    let unlinked = match index {
        Some(index) => index.hand_over(&BuildFiles::new(input.games), &mut *writer)?,
        None => 0,
    };
    // What a format cannot hold is only reported where it was asked for.
    let names = Some(names).filter(|names| names.are_given() || writer.holds_comments());
    let make = |rows: &[R]| {
        let mut drops = DroppedMoves::new();
        (weigh::positions(rows, weigh, counted, &mut drops), drops)
    };
    report.rows_left = rows.each(resources, progress, make, |(found, drops)| {
        report.drop_moves(drops);
        found.into_iter().try_for_each(|mut record| {
            marks.apply(&mut record, weigh.uniform);
            record.comment = names.and_then(|names| names.get(record.key));
            writer.add(&record)
        })
    })?;
    let mut written = finished(writer)?;
    written.left_out.extend(left_out([(UNLINKED, unlinked)]));
    Ok((report, written))
}
