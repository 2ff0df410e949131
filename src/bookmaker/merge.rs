//! Merging books into one, and converting one into another format.
#![allow(clippy::cast_possible_truncation, reason = "there are fewer books than 2^32")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::facts_row::FactsRow;
use super::key_row::KeyRow;
use super::sort::{RadixSorter, Sortable, Sorted};
use super::{Names, Resources};
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::plain_weights;
use crate::book::{Book, BookWriter, PositionRecord, Scope, Written};

/// Bits of a game's number, after the number of its book.
const BOOK_SHIFT: u32 = 48;

/// Positions between two checks for an interrupt.
const STRIDE: u64 = 1 << 12;

/// What was read, and what the new book leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Positions that were read.
    pub read: u64,
    /// Positions that play does not reach, in books whose reachable positions alone are read.
    pub unreached: u64,
    /// Positions left out because only their key is known and the new format needs more.
    pub unplaced: u64,
    /// Moves left out because colours or marks rule them out and the new format has neither.
    pub ruled_out: u64,
}

/// Removes the moves that colours and marks rule out, and returns how many there are.
fn remove_ruled_out(record: &mut PositionRecord) -> u64 {
    let never: Vec<_> = record.moves.iter().filter(|facts| facts.weight == 0).map(|facts| facts.mv).collect();
    let before = record.moves.len();
    plain_weights(record);
    // Moves that weighed nothing before are not ruled out, and may have learned something.
    record.moves.retain(|facts| facts.weight > 0 || never.contains(&facts.mv));
    (before - record.moves.len()) as u64
}

/// Writes the contents of all books into one. Weights, games and results are added up; marks and other facts that cannot
/// be added come from the first book that has them. For a format without colours and marks the weights become those that
/// colours and marks leave in tournaments.
///
/// Each book is read in its scope.
///
/// # Errors
/// When a file cannot be written, or the work is interrupted: no book is written then.
pub fn merge(
    books: &[(&dyn Book, Scope)],
    resources: &Resources,
    writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let keys_only = !writer.needs_positions() && books.iter().all(|(book, _)| !book.holds_positions());
    if keys_only {
        merge_rows::<KeyRow>(books, resources, writer, progress)
    } else {
        merge_rows::<FactsRow>(books, resources, writer, progress)
    }
}

/// A row of a move, with the facts that a book has about it.
pub(crate) trait Merging: Sortable {
    /// Appends the rows of a position of the book with this number, whose games are numbered from `games` on.
    fn append(record: &PositionRecord, book: u32, games: u64, rows: &mut Vec<Self>);

    /// The positions of sorted rows.
    fn positions(rows: &[Self]) -> Vec<PositionRecord>;
}

fn merge_rows<R: Merging>(
    books: &[(&dyn Book, Scope)],
    resources: &Resources,
    mut writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let resources = &resources.without(writer.memory());
    let mut sorter = RadixSorter::new(resources.memory, &resources.temp);
    let mut rows = Vec::<R>::new();
    let mut merged = Merged::default();
    // Few positions have comments, which take no more memory than they do in their file.
    let mut comments = BTreeMap::new();
    for (number, (book, scope)) in books.iter().enumerate() {
        let mut result = Ok(());
        let first_game = (number as u64) << BOOK_SHIFT;
        let flow = |result: &Result<()>| match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        if writer.wants_games() {
            book.games(&mut |mut game| {
                game.number |= first_game;
                result = writer.game(&game);
                flow(&result)
            });
            result?;
            result = Ok(());
        }
        let unreached = book.each(*scope, progress, &mut |record| {
            merged.read += 1;
            if let Some(comment) = &record.comment {
                comments.entry(record.key).or_insert_with(|| comment.clone());
            }
            rows.clear();
            R::append(record, number as u32, first_game, &mut rows);
            result = rows.iter().try_for_each(|row| sorter.push(*row));
            if merged.read.is_multiple_of(STRIDE) && result.is_ok() {
                result = interrupt::check();
            }
            flow(&result)
        });
        result?;
        merged.unreached += unreached;
    }
    let sorted = Sorted::new(vec![sorter.finish()]);
    progress.things(sorted.total(), "moves");
    // A book that can have comments is copied as it is, and one that has none gets the names of openings.
    let named = writer.holds_comments() && !books.iter().any(|(book, _)| book.format().holds_comments());
    let names = named.then(Names::default);
    let (needs_positions, holds_verdicts) = (writer.needs_positions(), writer.holds_verdicts());
    sorted.each(resources, progress, R::positions, |found| {
        for mut record in found {
            if record.position.is_none() && needs_positions {
                merged.unplaced += 1;
                continue;
            }
            record.comment = match &names {
                Some(names) => names.get(record.key),
                None => comments.remove(&record.key),
            };
            if !holds_verdicts {
                merged.ruled_out += remove_ruled_out(&mut record);
            }
            writer.add(&record)?;
        }
        Ok(())
    })?;
    Ok((merged, writer.finish()?))
}
