//! Builds of more than one machine: games and count files into counts, and counts into a book or a count file.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::count::{Made, Means, count};
use super::filter::Filter;
use super::ledger::Ledger;
use super::report::Report;
use super::row::{Count, Outcome, PlacedRow, Row};
use super::sort::{Pile, Sorted, Sorter};
use super::weigh::for_each_move;
use super::{ASIDE, within};
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::parallel;
use crate::base::progress::Progress;
use crate::book::counts::{CountFile, CountWriter, CountsWritten, Line};
use crate::chess::MoveCode;
use crate::games::Sources;

/// Rows between two looks whether the work is to stop.
const STRIDE: u64 = 1 << 14;

/// The number of the game that a position of a count file is from: none.
pub const NO_GAME: u64 = u64::MAX;

/// What is counted: games, and what was counted before.
pub struct Input<'a> {
    /// Games.
    pub games: &'a mut Sources,
    /// Count files. No filter acts on them.
    pub counts: &'a [CountFile],
}

impl Input<'_> {
    /// Counts everything, on all threads, and writes the games down where there is a ledger.
    ///
    /// # Errors
    /// When a file cannot be read, a temporary one cannot be written, positions are missing that `R` holds, or the
    /// work is interrupted.
    pub fn count<R: Made>(
        &mut self,
        filter: &Filter,
        means: &Means,
        ledger: Option<&Ledger>,
        progress: &Progress,
    ) -> Result<(Vec<Pile<R>>, Report)> {
        if let Some(lacking) = self.counts.iter().find(|file| R::PLACED && !file.has_positions()) {
            return Err(lacking.lacks_positions());
        }
        let both = !self.counts.is_empty() && !self.games.files().is_empty();
        let means = &Means { memory: if both { means.memory / 2 } else { means.memory }, ..means.clone() };
        let (mut piles, report) = count(self.games, filter, means, ledger, progress)?;
        piles.extend(read(self.counts, means, progress)?);
        Ok((piles, report))
    }
}

/// Reads count files on all threads, a row group at a time.
///
/// # Errors
/// When a file cannot be read or is damaged, a temporary one cannot be written, or the work is interrupted.
fn read<R: Made>(files: &[CountFile], means: &Means, progress: &Progress) -> Result<Vec<Pile<R>>> {
    let parts: Vec<_> =
        files.iter().flat_map(|file| (0..file.groups()).map(move |group| (file, group))).collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    progress.things(files.iter().map(CountFile::rows).sum(), "rows");
    let threads = means.threads.clamp(1, parts.len());
    let share = means.memory / threads;
    let (next, done, stop) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut sorter = Sorter::<R>::new(share, &means.temp);
        let mut read = || -> Result<()> {
            while let Some((file, group)) = parts.get(next.fetch_add(1, Ordering::Relaxed))
                && !stop.load(Ordering::Relaxed)
            {
                let mut rows = 0;
                file.group(*group, R::PLACED, |line| {
                    rows += 1;
                    if rows % STRIDE == 0 {
                        interrupt::check()?;
                        progress.at(done.fetch_add(STRIDE, Ordering::Relaxed) + STRIDE);
                    }
                    push(line, &mut sorter)
                })?;
                done.fetch_add(rows % STRIDE, Ordering::Relaxed);
            }
            Ok(())
        };
        let read = read();
        if read.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        read.map(|()| sorter.finish())
    };
    parallel::beside(threads, work, || ()).1.into_iter().collect()
}

/// Takes in a row of a count file, which says as much as three rows of ours.
fn push<R: Made>(line: &Line, sorter: &mut Sorter<R>) -> Result<()> {
    // Where games ended is of use only to formats that hold positions.
    if !R::PLACED && line.mv == MoveCode::NULL {
        return Ok(());
    }
    let outcomes = [(Outcome::Win, line.wins), (Outcome::Draw, line.draws), (Outcome::Loss, line.losses)];
    for (outcome, games) in outcomes.into_iter().filter(|(_, games)| *games > 0) {
        let count = Count { key: line.key, mv: line.mv, outcome, games };
        if let Some(row) = R::make(count, line.packed, NO_GAME) {
            sorter.push(row)?;
        }
    }
    Ok(())
}

/// Writes everything that was counted into a count file.
///
/// # Errors
/// When a file cannot be read or written, when positions are to be written and missing, or the work is interrupted:
/// the count file is then not there.
pub fn write_counts(
    mut input: Input<'_>,
    filter: &Filter,
    means: &Means,
    writer: CountWriter,
    progress: &Progress,
) -> Result<(Report, CountsWritten)> {
    let means = &within(means, ASIDE);
    if writer.has_positions() {
        let (piles, report) = input.count::<PlacedRow>(filter, means, None, progress)?;
        let written = write(&Sorted::new(piles), means, writer, progress, |row| Some(row.packed))?;
        Ok((report, written))
    } else {
        let (piles, report) = input.count::<super::row::CountRow>(filter, means, None, progress)?;
        let written = write(&Sorted::new(piles), means, writer, progress, |_| None)?;
        Ok((report, written))
    }
}

fn write<R: Row>(
    sorted: &Sorted<R>,
    means: &Means,
    mut writer: CountWriter,
    progress: &Progress,
    place: impl Fn(&R) -> Option<crate::chess::Packed> + Sync,
) -> Result<CountsWritten> {
    progress.things(sorted.len(), "counts");
    let lines = |rows: &[R]| {
        let mut lines = Vec::with_capacity(rows.len());
        for rows in rows.chunk_by(|a, b| a.key() == b.key()) {
            // Of one key all have the same position, but where keys collide: then the same one is taken for all.
            let packed = rows.iter().filter_map(&place).min();
            let key = rows.first().map_or(0, |row| row.key());
            for_each_move(rows, |mv, counts| {
                let crate::book::Counts { wins, draws, losses, .. } = counts;
                lines.push(Line { key, mv, wins, draws, losses, packed });
            });
        }
        (rows.len() as u64, lines)
    };
    let mut done = 0;
    // A line is four times as long as a row.
    sorted.each(means.threads, means.memory / 4, lines, |(rows, lines)| {
        done += rows;
        progress.at(done);
        lines.iter().try_for_each(|line| writer.add(line))
    })?;
    writer.finish()
}
