//! Rows of a build from count files, and into them.

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Counts;
use tabiya_book::counts::{CountWriter, CountsRow, CountsWritten};
use tabiya_chess::MoveCode;

use super::Resources;
use super::row::{Count, CountedRow, GameOutcome, NO_GAME};
use super::sort::{RadixSorter, Sorted, SortedRuns};
use super::weigh::for_each_move;

/// Takes in a row of a count file, which holds as much as three rows of a build.
pub(super) fn push<R: CountedRow>(line: &CountsRow, sorter: &mut RadixSorter<R>) -> Result<()> {
    // Only formats that hold positions use the games that ended there.
    if !R::PLACED && line.mv == MoveCode::NULL {
        return Ok(());
    }
    let outcomes =
        [(GameOutcome::Win, line.wins), (GameOutcome::Draw, line.draws), (GameOutcome::Loss, line.losses)];
    for (outcome, games) in outcomes.into_iter().filter(|(_, games)| *games > 0) {
        let count = Count { key: line.key, mv: line.mv, slice: line.slice, outcome, games };
        if let Some(row) = R::make(count, line.packed, NO_GAME) {
            sorter.push(row)?;
        }
    }
    Ok(())
}

/// Writes rows into a count file.
///
/// # Errors
/// When a temporary file cannot be read, the count file cannot be written, or the work is interrupted.
pub(super) fn write_rows<R: CountedRow>(
    runs: Vec<SortedRuns<R>>,
    resources: &Resources,
    mut writer: CountWriter,
    progress: &Progress,
) -> Result<CountsWritten> {
    let sorted = Sorted::new(runs);
    progress.things(sorted.total(), "counts");
    let lines = |rows: &[R]| {
        let mut lines = Vec::with_capacity(rows.len());
        for rows in rows.chunk_by(|a, b| a.key() == b.key()) {
            // All rows of a key have the same position unless keys collide: then one of them serves all.
            let packed = rows.iter().filter_map(CountedRow::packed).min();
            let key = rows.first().map_or(0, |row| row.key());
            for_each_move(rows, |mv, slice, Counts { wins, draws, losses, .. }| {
                lines.push(CountsRow { key, mv, wins, draws, losses, packed, slice });
            });
        }
        lines
    };
    sorted.each(resources, progress, lines, |lines| lines.iter().try_for_each(|line| writer.add(line)))?;
    writer.finish()
}
