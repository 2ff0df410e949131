//! What is wrong with a file that several threads read, in the order of the file whatever the threads do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tabiya_base::findings::{Finding, FindingKind, FindingPlace, LISTED, kinds, listed};

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
    pub fn in_file(self, file: Arc<Path>) -> Self {
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
    /// The first of them by their file, their place there, and, as a game may have several, their number.
    first: BTreeMap<(Option<Arc<Path>>, u64, u64), Problem>,
}

impl Problems {
    pub fn add(&mut self, problem: Problem) {
        let OfKind { count, first } = self.0.entry(FindingKind::from(problem.wrong).number).or_default();
        *count += 1;
        first.insert((problem.file.clone(), problem.at, *count), problem);
        // One more than are listed: the first of the others.
        if first.len() as u64 > LISTED + 1 {
            first.pop_last();
        }
    }

    /// Reports the first problems of each kind one by one, and the others together.
    pub fn report(self, report: &mut dyn FnMut(Finding)) {
        listed(report, |findings| {
            for OfKind { count, first } in self.0.into_values() {
                for problem in first.values() {
                    let place = FindingPlace { offset: Some(problem.at), path: problem.file.as_deref() };
                    findings.add(problem.wrong, place, &problem.what);
                }
                if let Some((_, last)) = first.last_key_value() {
                    findings.more(last.wrong, count - first.len() as u64);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_kind_are_listed_in_the_order_of_the_files() {
        let report = |problems: Problems| {
            let mut lines = Vec::new();
            problems.report(&mut |finding| lines.push(finding.to_string()));
            lines
        };
        let mut problems = Problems::default();
        let file: Arc<Path> = Path::new("games.pgn").into();
        for at in (0..1000).rev() {
            problems.add(Problem::new(Wrong::Score, at, format!("score {at}")).in_file(file.clone()));
        }
        let kept: usize = problems.0.values().map(|of_kind| of_kind.first.len()).sum();
        assert_eq!(kept as u64, LISTED + 1);
        let lines = report(problems);
        assert_eq!(lines.len() as u64, LISTED + 1);
        assert_eq!(lines[0], "score 0 (byte 0 of games.pgn)");
        let more = "980 more scores that cannot be true, or are missing (first at byte 20 of games.pgn)";
        assert_eq!(lines[LISTED as usize], more);
        // Several of one game have one place.
        let mut problems = Problems::default();
        (0..3).for_each(|number| problems.add(Problem::new(Wrong::Score, 7, format!("score {number}"))));
        assert_eq!(report(problems), ["score 0 (byte 7)", "score 1 (byte 7)", "score 2 (byte 7)"]);
    }
}
