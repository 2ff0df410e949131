//! What became of the games: how many counted, how many did not, and why.

use std::collections::BTreeMap;

use super::filter::Left;
use super::weigh::{Drop, Drops, Weigh};
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
    /// Games with a problem.
    pub problems: BTreeMap<Reason, Troubled>,
    /// Games whose positions have more pieces than the book's format has room for.
    pub crowded: u64,
    /// Moves that were counted and not worth keeping.
    pub dropped: Drops,
}

/// The games with a problem of one kind.
#[derive(Clone, Debug)]
pub struct Troubled {
    /// How many they are.
    pub games: u64,
    /// How many of them counted up to the problem.
    pub used: u64,
    /// The first of them, in the order of files and places.
    pub first: Problem,
}

impl Report {
    /// Counts a game with a problem; `used`: it counted up to there.
    pub fn add(&mut self, problem: Problem, used: bool) {
        self.add_many(Troubled { games: 1, used: used.into(), first: problem });
    }

    fn add_many(&mut self, Troubled { games, used, first }: Troubled) {
        let order = |problem: &Problem| (problem.place.file.clone(), problem.place.offset);
        let known = self.problems.entry(first.reason).or_insert_with(|| Troubled {
            games: 0,
            used: 0,
            first: first.clone(),
        });
        known.games += games;
        known.used += used;
        if order(&first) < order(&known.first) {
            known.first = first;
        }
    }

    /// Takes in what became of other games.
    pub fn merge(&mut self, other: Self) {
        let Self { games, used, plies, unfinished, left, problems, crowded, dropped } = other;
        self.drop_moves(dropped);
        self.games += games;
        self.used += used;
        self.plies += plies;
        self.unfinished += unfinished;
        self.crowded += crowded;
        for (why, count) in left {
            *self.left.entry(why).or_default() += count;
        }
        problems.into_values().for_each(|troubled| self.add_many(troubled));
    }

    /// Counts moves that are not worth keeping.
    pub fn drop_moves(&mut self, moves: Drops) {
        for (why, count) in moves {
            *self.dropped.entry(why).or_default() += count;
        }
    }

    /// Games with a problem.
    pub fn troubled(&self) -> u64 {
        self.problems.values().map(|troubled| troubled.games).sum()
    }

    /// Whether a file could not be read to its end: then games are missing of which nobody knows.
    pub fn is_incomplete(&self) -> bool {
        self.problems.contains_key(&Reason::Unreadable)
    }

    /// Why nothing is left to be written, as a clause, and what to do where there is something; `weigh`: what dropped
    /// moves.
    pub fn why_nothing(&self, weigh: &Weigh) -> (String, Option<&'static str>) {
        let moves = |count| format!("{} {}", grouped(count), if count == 1 { "move" } else { "moves" });
        let games = |count| format!("{} {}", grouped(count), if count == 1 { "game" } else { "games" });
        let dropped = self.dropped.iter().map(|(why, &count)| match why {
            Drop::Games => {
                let have = if count == 1 { "has" } else { "have" };
                format!("{} {have} fewer than {} games (--min-games)", moves(count), weigh.min_games)
            }
            Drop::Lost => format!("{} only lost", moves(count)),
            Drop::Score => {
                let score = if count == 1 { "scores" } else { "score" };
                format!("{} {score} less than {} % (--min-score)", moves(count), weigh.min_score)
            }
        });
        let problems = || {
            let reasons =
                self.problems.iter().map(|(reason, Troubled { games: count, first, .. })| match reason {
                    Reason::Unreadable => {
                        format!("{} not read to the end, first {first}", many(*count, "file", "files"))
                    }
                    _ => format!("{} with a problem: {reason}, first {first}", games(*count)),
                });
            reasons.collect::<Vec<_>>()
        };
        if !self.dropped.is_empty() {
            let few = self.dropped.contains_key(&Drop::Games) && weigh.min_games > 1;
            let advice = few.then_some("few games need --min-games 1");
            return (clause("no move passed the filters", dropped.collect()), advice);
        }
        if self.games == 0 {
            return (clause("there are no games in the sources", problems()), None);
        }
        if self.used == 0 {
            let left = self
                .left
                .iter()
                .map(|(why, &count)| format!("{} left out by {}", games(count), why.option()));
            let crowded = (self.crowded > 0)
                .then(|| format!("{} with more than 32 pieces on the board", games(self.crowded)));
            let reasons = left.chain(crowded).chain(problems()).collect();
            return (clause(&format!("none of {} passed the filters", games(self.games)), reasons), None);
        }
        if self.plies == 0 {
            let what = "no move counted: the games have none, or --only and --max-ply leave none";
            return (clause(what, problems()), None);
        }
        (format!("the format can hold none of the {}", many(self.plies, "half-move", "half-moves")), None)
    }

    /// The report in lines for people.
    pub fn lines(&self) -> Vec<String> {
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
        for (reason, Troubled { games, used, first }) in &self.problems {
            let count = many(*games, "game", "games");
            lines.push(match games - used {
                _ if *reason == Reason::Unreadable => {
                    format!("{} not read to the end, first {first}", many(*games, "file", "files"))
                }
                0 => format!("{count} used up to the problem: {reason}, first {first}"),
                unused if unused == *games => format!("{count} not used: {reason}, first {first}"),
                _ => format!("{count} with moves lost, {used} used up to there: {reason}, first {first}"),
            });
        }
        lines
    }
}

/// What is the case, and the reasons, where there are any.
fn clause(what: &str, reasons: Vec<String>) -> String {
    if reasons.is_empty() { what.to_owned() } else { format!("{what}: {}", reasons.join(", ")) }
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
        one.add(problem("b.pgn", 1), true);
        one.add(problem("a.pgn", 9), true);
        let mut other = Report { games: 3, used: 2, ..Report::default() };
        other.add(problem("a.pgn", 4), true);
        one.merge(other);
        assert_eq!(one.troubled(), 3);
        let lines = one.lines();
        let what = "illegal move, first a.pgn: line 4: 9. Ke9: no (byte 4)";
        assert_eq!(lines[0], "3 games read, 2 used, 0 half-moves");
        assert_eq!(lines[1], format!("3 games used up to the problem: {what}"));
        one.add(problem("b.pgn", 2), false);
        assert_eq!(one.lines()[1], format!("4 games with moves lost, 3 used up to there: {what}"));
        let mut none = Report::default();
        none.add(problem("a.pgn", 4), false);
        assert_eq!(none.lines()[1], format!("1 game not used: {what}"));
    }

    #[test]
    fn why_there_is_nothing_is_told_by_filter_and_threshold() {
        let weigh = Weigh { min_score: 40.0, ..Weigh::default() };
        let why = |report: &Report| report.why_nothing(&weigh).0;
        let mut report = Report::default();
        assert_eq!(why(&report), "there are no games in the sources");
        report.games = 1_234_567;
        report.left.insert(Left::Player, 1_234_567);
        assert_eq!(
            why(&report),
            "none of 1,234,567 games passed the filters: 1,234,567 games left out by --player"
        );
        report.used = 3;
        assert!(why(&report).starts_with("no move counted: "));
        report.plies = 9;
        assert_eq!(why(&report), "the format can hold none of the 9 half-moves");
        report.drop_moves([(Drop::Games, 6589), (Drop::Lost, 1), (Drop::Score, 2)].into());
        let (what, advice) = report.why_nothing(&weigh);
        assert_eq!(
            what,
            "no move passed the filters: 6,589 moves have fewer than 3 games (--min-games), 1 move only lost, \
             2 moves score less than 40 % (--min-score)"
        );
        assert_eq!(advice, Some("few games need --min-games 1"));
    }
}
