//! What a count file holds as a whole.

use super::{CountFile, Line};
use crate::base::error::{Error, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::polyglot::layout::RawMove;
use crate::chess::Position;

/// Rows between two looks whether the work is to stop.
const STRIDE: u64 = 1 << 16;

/// What a count file holds as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Rows that could be read.
    pub rows: u64,
    /// Half-moves that were counted, by how their games ended for who made them.
    pub wins: u64,
    /// See [`Sum::wins`].
    pub draws: u64,
    /// See [`Sum::wins`].
    pub losses: u64,
    /// Games that went through the starting position.
    pub games: u64,
    /// Different positions; `None` where the rows are not sorted, and nobody can tell without sorting them.
    pub positions: Option<u64>,
    /// The first row that comes before the one that stands before it.
    pub unsorted: Option<u64>,
    /// Rows that tell of the same move as the one before.
    pub repeated: u64,
}

impl Sum {
    /// Half-moves that were counted.
    pub fn plies(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// Takes in the sum of another file of the same folder.
    pub fn add(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.wins = self.wins.saturating_add(other.wins);
        self.draws = self.draws.saturating_add(other.draws);
        self.losses = self.losses.saturating_add(other.losses);
        self.games = self.games.saturating_add(other.games);
        self.repeated = self.repeated.saturating_add(other.repeated);
        // Files of a folder may have positions in common.
        self.positions = None;
    }

    /// What is odd about the file, one clause each.
    pub fn oddities(&self) -> Vec<String> {
        let mut odd = Vec::new();
        if let Some(row) = self.unsorted {
            odd.push(format!("the rows are not sorted by key and move, first row {row}, counted from 0"));
        }
        if self.repeated > 0 {
            odd.push(format!(
                "{} rows tell of the same move as the one before, and are added up",
                self.repeated
            ));
        }
        odd
    }
}

/// Reads a count file whole and sums it up. `damaged` is told of each row group that cannot be read to its end.
///
/// # Errors
/// When the work is interrupted.
pub fn sum(file: &CountFile, progress: &Progress, mut damaged: impl FnMut(Error)) -> Result<Sum> {
    let start = Position::start().key();
    let mut sum = Sum::default();
    let mut positions = 0;
    let mut last: Option<(u64, u16)> = None;
    progress.things(file.rows(), "rows");
    let (mut row, mut end) = (0, 0);
    for group in 0..file.groups() {
        let read = file.group(group, file.has_positions(), |line| {
            if sum.rows.is_multiple_of(STRIDE) {
                interrupt::check()?;
                progress.at(row);
            }
            add(&mut sum, line, start);
            let this = (line.key, line.mv.0);
            match last {
                Some(last) if this < last => sum.unsorted = sum.unsorted.or(Some(row)),
                Some(last) if this == last => sum.repeated += 1,
                _ => {}
            }
            positions += u64::from(last.is_none_or(|(key, _)| key != line.key));
            last = Some(this);
            row += 1;
            Ok(())
        });
        interrupt::check()?;
        if let Err(error) = read {
            damaged(error);
        }
        end += file.group_rows(group);
        row = end;
    }
    sum.positions = sum.unsorted.is_none().then_some(positions);
    Ok(sum)
}

fn add(sum: &mut Sum, line: &Line, start: u64) {
    sum.rows += 1;
    if line.mv != RawMove::NULL {
        sum.wins = sum.wins.saturating_add(line.wins);
        sum.draws = sum.draws.saturating_add(line.draws);
        sum.losses = sum.losses.saturating_add(line.losses);
    }
    if line.key == start {
        sum.games = sum.games.saturating_add(line.wins + line.draws + line.losses);
    }
}
