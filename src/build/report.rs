//! What became of the games: how many counted, how many did not, and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::filter::Left;
use crate::games::{Problem, Reason};

/// What became of the games.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Games that were read, those that did not count among them.
    pub games: u64,
    /// Games of which at least the head counted.
    pub used: u64,
    /// Half-moves that counted.
    pub plies: u64,
    /// Games without a result that counted as draws.
    pub unfinished: u64,
    /// Games that did not count because of the filter.
    pub left: BTreeMap<Left, u64>,
    /// Games with a problem: how many, and the first of them.
    pub problems: BTreeMap<Reason, (u64, Problem)>,
    /// Games whose positions have more pieces than the book's format has room for.
    pub crowded: u64,
}

impl Report {
    /// Counts a problem, and remembers the first of its kind in the order of files and places.
    pub fn add(&mut self, problem: Problem) {
        self.add_many(1, problem);
    }

    fn add_many(&mut self, count: u64, problem: Problem) {
        let order = |problem: &Problem| (problem.place.file.clone(), problem.place.offset);
        let known = self.problems.entry(problem.reason).or_insert_with(|| (0, problem.clone()));
        known.0 += count;
        if order(&problem) < order(&known.1) {
            known.1 = problem;
        }
    }

    /// Takes in what became of other games.
    pub fn merge(&mut self, other: Self) {
        let Self { games, used, plies, unfinished, left, problems, crowded } = other;
        self.games += games;
        self.used += used;
        self.plies += plies;
        self.unfinished += unfinished;
        self.crowded += crowded;
        for (why, count) in left {
            *self.left.entry(why).or_default() += count;
        }
        for (count, problem) in problems.into_values() {
            self.add_many(count, problem);
        }
    }

    /// Games with a problem.
    pub fn troubled(&self) -> u64 {
        self.problems.values().map(|(count, _)| count).sum()
    }

    /// Whether a file could not be read to its end: then games are missing of which nobody knows.
    pub fn is_incomplete(&self) -> bool {
        self.problems.contains_key(&Reason::Unreadable)
    }

    /// The report in lines for people; `strict`: games with a problem did not count at all.
    pub fn lines(&self, strict: bool) -> Vec<String> {
        let mut lines = vec![format!(
            "{} read, {} used, {}",
            many(self.games, "game", "games"),
            self.used,
            many(self.plies, "half-move", "half-moves")
        )];
        for (why, count) in &self.left {
            lines.push(format!("{} left out by {}", many(*count, "game", "games"), why.option()));
        }
        if self.unfinished > 0 {
            let games = many(self.unfinished, "game", "games");
            lines.push(format!("{games} without a result counted as drawn (--finished leaves them out)"));
        }
        if self.crowded > 0 {
            let games = many(self.crowded, "game", "games");
            lines.push(format!("{games} left out: more than 32 pieces on the board"));
        }
        for (reason, (count, first)) in &self.problems {
            let mut line = many(*count, "game", "games");
            let _ = match (reason, strict) {
                (Reason::Unreadable, _) => {
                    line = many(*count, "file", "files");
                    write!(line, " not read to the end, first {first}")
                }
                (_, true) => write!(line, " left out: {reason}, first {first}"),
                (_, false) => write!(line, " used up to the problem: {reason}, first {first}"),
            };
            lines.push(line);
        }
        lines
    }
}

/// A number and its noun.
pub fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{Place, Spot};
    use std::path::Path;
    use std::sync::Arc;

    fn problem(file: &str, offset: u64) -> Problem {
        let place = Place { file: Arc::from(Path::new(file)), spot: Spot::Line(offset), offset, length: 0 };
        Problem { reason: Reason::IllegalMove, place, why: "9. Ke9: no".to_owned() }
    }

    #[test]
    fn the_first_of_a_kind_is_told_whatever_the_order() {
        let mut one = Report::default();
        one.add(problem("b.pgn", 1));
        one.add(problem("a.pgn", 9));
        let mut other = Report { games: 3, used: 2, ..Report::default() };
        other.add(problem("a.pgn", 4));
        one.merge(other);
        assert_eq!(one.troubled(), 3);
        let lines = one.lines(false);
        assert_eq!(lines[0], "3 games read, 2 used, 0 half-moves");
        assert_eq!(lines[1], "3 games used up to the problem: illegal move, first a.pgn: line 4: 9. Ke9: no");
    }
}
