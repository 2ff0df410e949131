//! Several books into one, and one into another format.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::count::Means;
use super::facts_row::FactsRow;
use super::key_row::KeyRow;
use super::sort::{Sortable, Sorted, Sorter};
use super::within;
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::plain_weights;
use crate::book::{Book, BookWriter, PositionRecord, Scope, Written};

/// Bits of a game's number, after the number of its book.
const BOOK_SHIFT: u32 = 48;

/// Positions between two looks whether the work is to stop.
const STRIDE: u64 = 1 << 12;

/// What became of the books' positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Positions that were read.
    pub read: u64,
    /// Positions that play does not reach, in books of which only the reachable ones were read.
    pub unreached: u64,
    /// Positions left out because only their key is known, and the new format needs more.
    pub unplaced: u64,
    /// Moves left out because colours or marks rule them out, and the new format has neither.
    pub ruled_out: u64,
}

/// Leaves of a position what colours and marks leave of it, and says how many moves those rule out.
fn leave_verdicts(known: &mut PositionRecord) -> u64 {
    let never: Vec<_> = known.moves.iter().filter(|known| known.weight == 0).map(|known| known.mv).collect();
    let before = known.moves.len();
    plain_weights(known);
    // What weighed nothing before is not ruled out by them, and may have learned something.
    known.moves.retain(|known| known.weight > 0 || never.contains(&known.mv));
    (before - known.moves.len()) as u64
}

/// Writes all that the books know into one. Weights, games and results are added up; what cannot be added, such as
/// marks, is taken from the first book that has it. For a format without colours and marks the weights become what those
/// leave of them in tournaments.
///
/// Each book is read in its scope.
///
/// # Errors
/// When a file cannot be written, or the work is interrupted: the book is then not there.
pub fn merge(
    books: &[(&dyn Book, Scope)],
    means: &Means,
    writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let keys_only = !writer.needs_positions() && books.iter().all(|(book, _)| !book.holds_positions());
    if keys_only {
        merge_rows::<KeyRow>(books, means, writer, progress)
    } else {
        merge_rows::<FactsRow>(books, means, writer, progress)
    }
}

/// What is known of moves, as rows to sort.
pub trait Merging: Sortable {
    /// Appends the rows of a position of the book of this number, whose games have their numbers from this one on.
    fn append(known: &PositionRecord, book: u32, games: u64, rows: &mut Vec<Self>);

    /// The positions of sorted rows.
    fn positions(rows: &[Self]) -> Vec<PositionRecord>;
}

fn merge_rows<R: Merging>(
    books: &[(&dyn Book, Scope)],
    means: &Means,
    mut writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let means = &within(means, writer.memory());
    let mut sorter = Sorter::new(means.memory, &means.temp);
    let mut rows = Vec::<R>::new();
    let mut merged = Merged::default();
    // Few positions have words, and their length is that of the file's.
    let mut comments = BTreeMap::new();
    for (number, (book, scope)) in books.iter().enumerate() {
        let mut result = Ok(());
        let offset = (number as u64) << BOOK_SHIFT;
        if writer.wants_games() {
            book.games(&mut |mut game| {
                game.number |= offset;
                result = writer.game(&game);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            result?;
            result = Ok(());
        }
        let unreached = book.each(*scope, progress, &mut |known| {
            merged.read += 1;
            if let Some(comment) = &known.comment {
                comments.entry(known.key).or_insert_with(|| comment.clone());
            }
            rows.clear();
            R::append(known, number as u32, offset, &mut rows);
            result = rows.iter().try_for_each(|row| sorter.push(*row));
            if merged.read.is_multiple_of(STRIDE) && result.is_ok() {
                result = interrupt::check();
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        merged.unreached += unreached;
    }
    let sorted = Sorted::new(vec![sorter.finish()]);
    progress.things(sorted.len(), "moves");
    let mut done = 0;
    let (needs_positions, holds_verdicts) = (writer.needs_positions(), writer.holds_verdicts());
    let make = |rows: &[R]| (rows.len() as u64, R::positions(rows));
    sorted.each(means.threads, means.memory / 4, make, |(rows, found)| {
        done += rows;
        progress.at(done);
        for mut known in found {
            if known.position.is_none() && needs_positions {
                merged.unplaced += 1;
                continue;
            }
            known.comment = comments.remove(&known.key);
            if !holds_verdicts {
                merged.ruled_out += leave_verdicts(&mut known);
            }
            writer.add(&known)?;
        }
        Ok(())
    })?;
    Ok((merged, writer.finish()?))
}
