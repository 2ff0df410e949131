//! How often each move was played in each position, in memory: for callers that follow games from the start.

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_chess::MoveCode;

use super::Resources;
use super::filter::Filter;
use super::gather::{Gathered, Input};
use super::report::BuildReport;
use super::row::CountRow;
use super::sort::Sortable as _;
use super::weigh::for_each_move;

/// The moves of the positions in which enough games went on, with their games.
#[derive(Debug, Default)]
pub struct PositionCounts {
    /// The key of a position, a move, and its games; in ascending order of keys.
    rows: Vec<(u64, MoveCode, u32)>,
}

impl PositionCounts {
    /// Counts games, within the memory of `resources` and that of what is kept: positions in which at least `least` games went
    /// on. Returns also what became of the games.
    ///
    /// # Errors
    /// As [`Input::count`].
    pub fn count(
        mut input: Input<'_>,
        filter: &Filter,
        least: u64,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<(BuildReport, Self)> {
        let Gathered { rows, report, .. } =
            input.count::<CountRow>(filter, By::default(), resources, None, progress)?;
        let kept = |rows: &[CountRow]| {
            let mut kept = Vec::new();
            for rows in rows.chunk_by(|a, b| a.key() == b.key()) {
                let (start, mut all) = (kept.len(), 0_u64);
                let key = rows.first().map_or(0, |row| row.key());
                for_each_move(rows, |mv, _, counts| {
                    all += counts.games;
                    kept.push((key, mv, u32::try_from(counts.games).unwrap_or(u32::MAX)));
                });
                if all < least {
                    kept.truncate(start);
                }
            }
            kept
        };
        let mut counts = Self::default();
        let rows_left = rows.each(resources, progress, kept, |kept| {
            counts.rows.extend(kept);
            Ok(())
        })?;
        Ok((BuildReport { rows_left, ..report }, counts))
    }

    /// The moves of a position by its key, with their games.
    pub fn moves(&self, key: u64) -> impl Iterator<Item = (MoveCode, u64)> {
        let from = self.rows.partition_point(|(other, ..)| *other < key);
        let rows = self.rows.part(from..).iter();
        rows.take_while(move |(other, ..)| *other == key).map(|(_, mv, games)| (*mv, (*games).into()))
    }

    /// Whether no position has enough games.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
