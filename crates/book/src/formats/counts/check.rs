//! Sums over a whole count file.

use std::path::Path;

use tabiya_base::error::{Error, Result};
#[cfg(feature = "counts")]
use tabiya_base::findings::listed;
use tabiya_base::findings::{Finding, Findings, kinds, summed};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;

use super::{CountFile, CountsRow};
use crate::Slice;

kinds! {
    /// Kinds of findings about a count file.
    enum CountsFindingKind {
        Unopened: Error "files that cannot be opened",
        Damaged: Error "groups of rows that cannot be read to their end",
        Unsorted: Warning "rows that are not sorted by key and move" => "a book to play from has to be sorted: merging sorts it",
        Repeated: Warning "rows for the same move as the row before, which are added up",
    }
}

/// The sums of a count file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Rows that could be read.
    pub rows: u64,
    /// Plies that were counted, by how their games ended for the side that moved.
    pub wins: u64,
    /// See [`Sum::wins`].
    pub draws: u64,
    /// See [`Sum::wins`].
    pub losses: u64,
    /// Games that went through the starting position.
    pub games: u64,
    /// Different positions; `None` if the rows are not sorted, so that counting them would need sorting.
    pub positions: Option<u64>,
}

impl Sum {
    /// Plies that were counted.
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
        // Files of a folder may have positions in common.
        self.positions = None;
    }
}

/// Reads a whole count file, adds to `findings`, and sums it up.
///
/// # Errors
/// When the work is interrupted.
pub fn sum(file: &CountFile, progress: &Progress, findings: &mut Findings<'_>) -> Result<Sum> {
    let start = Position::start().key();
    let mut sum = Sum::default();
    let mut positions = 0;
    let mut last: Option<(u64, u16, Slice)> = None;
    progress.things(file.rows(), "rows");
    let (mut row, mut end) = (0, 0);
    let mut sorted = true;
    for group in 0..file.groups() {
        let place = (file.path(), file.group_start(group));
        let read = file.group(group, file.shape(), |line| {
            progress.step(row)?;
            add(&mut sum, line, start);
            let this = (line.key, line.mv.0, line.slice);
            // Other programs have other orders of speeds.
            if last.is_some_and(|(key, mv, _)| (this.0, this.1) < (key, mv)) {
                let what = format_args!("row {row}, counted from 0, is out of order by key and move");
                findings.count(CountsFindingKind::Unsorted, place, what);
                sorted = false;
            } else if last == Some(this) {
                let what = format_args!("row {row}, counted from 0, is for the same move as the row before");
                findings.count(CountsFindingKind::Repeated, place, what);
            }
            positions += u64::from(last.is_none_or(|(key, ..)| key != line.key));
            last = Some(this);
            row += 1;
            Ok(())
        });
        interrupt::check()?;
        if let Err(error) = read {
            add_damage(file, group, &error, findings);
        }
        end += file.group_rows(group);
        row = end;
    }
    sum.positions = sorted.then_some(positions);
    Ok(sum)
}

/// Adds that a row group cannot be read to its end.
fn add_damage(file: &CountFile, group: usize, error: &Error, findings: &mut Findings<'_>) {
    let at = error.offset().unwrap_or(file.group_start(group));
    findings.add(CountsFindingKind::Damaged, (file.path(), at), error.what_and_advice());
}

/// Adds the files of a folder that cannot be opened.
pub fn add_unopened(errors: &[Error], findings: &mut Findings<'_>) {
    for error in errors {
        let path = error.path().unwrap_or(Path::new(""));
        findings.add(
            CountsFindingKind::Unopened,
            (path, error.offset().unwrap_or_default()),
            error.what_and_advice(),
        );
    }
}

/// The files of a folder that cannot be opened, the first of them one by one.
#[cfg(feature = "counts")]
pub(super) fn unopened(errors: &[Error]) -> Vec<Finding> {
    let mut found = Vec::new();
    listed(&mut |finding| found.push(finding), |findings| add_unopened(errors, findings));
    found
}

/// Sums up the row groups, by files and numbers, that could not be read to their end.
pub fn damage<'a>(groups: impl IntoIterator<Item = (&'a CountFile, usize, &'a Error)>) -> Vec<Finding> {
    let add = |findings: &mut Findings<'_>| {
        groups.into_iter().for_each(|(file, group, error)| add_damage(file, group, error, findings));
    };
    summed(add).1
}

fn add(sum: &mut Sum, line: &CountsRow, start: u64) {
    sum.rows += 1;
    if line.mv != MoveCode::NULL {
        sum.wins = sum.wins.saturating_add(line.wins);
        sum.draws = sum.draws.saturating_add(line.draws);
        sum.losses = sum.losses.saturating_add(line.losses);
    }
    if line.key == start {
        sum.games = sum.games.saturating_add(line.wins + line.draws + line.losses);
    }
}
