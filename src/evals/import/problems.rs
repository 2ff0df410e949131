//! What is wrong with a file that several threads read, in the order of the file whatever the threads do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::findings::{Finding, Kind, LISTED, kinds, listed};

kinds! {
    /// What can be wrong with a file of evaluations.
    pub enum Wrong {
        Unreadable: Error "lines that cannot be read",
        Position: Error "positions that are illegal",
        Score: Error "scores that cannot be true, or are missing",
        Move: Error "best moves that are not legal in their positions",
        Game: Error "games that cannot be read to their end",
        File: Error "files that cannot be read to their end",
    }
}

/// A problem, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    wrong: Wrong,
    /// In bytes from the start of the content; for Parquet, the row.
    pub(super) at: u64,
    pub(super) file: Option<Arc<Path>>,
    pub(super) what: String,
}

impl Problem {
    /// A problem; `what` is a clause.
    pub fn new(wrong: Wrong, at: u64, what: impl Into<String>) -> Self {
        Self { wrong, at, file: None, what: what.into() }
    }

    /// The same in this file.
    pub fn of(self, file: Arc<Path>) -> Self {
        Self { file: Some(file), ..self }
    }

    /// The same, so many bytes further on.
    pub fn from(self, start: u64) -> Self {
        Self { at: self.at + start, ..self }
    }
}

/// Problems by the number of their kind.
#[derive(Debug, Default)]
pub(crate) struct Problems(BTreeMap<usize, OfKind>);

/// The problems of a kind.
#[derive(Debug, Default)]
struct OfKind {
    count: u64,
    /// The first of them in the order of the file.
    first: BTreeMap<(Option<Arc<Path>>, u64), Problem>,
}

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, problem: Problem) {
        let OfKind { count, first } = self.0.entry(Kind::from(problem.wrong).number).or_default();
        *count += 1;
        first.insert((problem.file.clone(), problem.at), problem);
        // One more than are listed: the first of the others.
        if first.len() as u64 > LISTED + 1 {
            first.pop_last();
        }
    }

    /// Reports the first problems of each kind one by one, and the others together.
    pub fn report(self, report: &mut dyn FnMut(Finding)) {
        listed(report, |findings| {
            for OfKind { count, first } in self.0.into_values() {
                let mut last = None;
                for problem in first.into_values() {
                    match &problem.file {
                        Some(file) => findings.add(problem.wrong, (&**file, problem.at), &problem.what),
                        None => findings.add(problem.wrong, problem.at, &problem.what),
                    }
                    last = Some(problem);
                }
                let Some(last) = last else { continue };
                for _ in LISTED + 1..count {
                    findings.add(last.wrong, last.at, &last.what);
                }
            }
        });
    }
}
