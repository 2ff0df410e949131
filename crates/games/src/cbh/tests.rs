//! Tests with written databases, broken ones, and the samples.

mod annotations;
mod broken;
pub mod fixtures;
mod moves;
mod samples;
mod stream;

use tabiya_base::findings::{Finding, listed};

use super::database::Cbh;
use crate::database::export::{ExportOptions, ExportTotals, export};

/// The result of an export.
pub struct Exported {
    pub text: String,
    pub totals: ExportTotals,
    pub errors: Vec<String>,
}

pub const ALL: ExportOptions =
    ExportOptions { games: (1, u32::MAX), main_line: false, bare: false, deleted: false, threads: 1 };

pub fn exported(db: &Cbh, options: &ExportOptions) -> Exported {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    let totals = export(db, options, &mut |text, damaged, _| {
        all.extend(text);
        errors.extend(damaged.iter().map(|error| format!("{error} (byte {})", error.place.offset)));
        Ok(())
    });
    Exported { text: String::from_utf8(all).unwrap(), totals: totals.unwrap(), errors }
}

/// The moves of each game, on one line and without the result.
pub fn lines(text: &str) -> Vec<String> {
    let games = text.split("\n\n").filter(|part| !part.starts_with('[') && !part.trim().is_empty());
    games.map(|game| game.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// What `check` finds, each as a line.
pub fn found(db: &Cbh) -> Vec<String> {
    let mut found = Vec::new();
    let mut report = |finding: Finding| found.push(format!("{}: {finding}", finding.severity));
    listed(&mut report, |findings| super::check::check(db, 1, &|_| Ok(()), findings)).unwrap();
    found
}
