//! What `build` reports of the games, with the options that decide about them.

use crate::bookmaker::filter::Left;
use crate::bookmaker::report::{Report, Troubled, many};
use crate::bookmaker::weigh::{Drop, Weigh};
use crate::games::Reason;

/// Why nothing is left to be written, as a clause, and what to do where there is something; `weigh`: what dropped
/// moves.
pub fn why_nothing(report: &Report, weigh: &Weigh) -> (String, Option<&'static str>) {
    let moves = |count| format!("{} {}", grouped(count), if count == 1 { "move" } else { "moves" });
    let games = |count| format!("{} {}", grouped(count), if count == 1 { "game" } else { "games" });
    let dropped = report.dropped.iter().map(|(why, &count)| match why {
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
            report.problems.iter().map(|(reason, Troubled { games: count, first, .. })| match reason {
                Reason::Unreadable => {
                    format!("{} not read to the end, first {first}", many(*count, "file", "files"))
                }
                _ => format!("{} with a problem: {reason}, first {first}", games(*count)),
            });
        reasons.collect::<Vec<_>>()
    };
    if !report.dropped.is_empty() {
        let few = report.dropped.contains_key(&Drop::Games) && weigh.min_games > 1;
        let advice = few.then_some("lower the limit with --min-games 1");
        return (clause("no move passed the filters", dropped.collect()), advice);
    }
    if report.games == 0 {
        return (clause("there are no games in the sources", problems()), None);
    }
    if report.used == 0 {
        let left =
            report.left.iter().map(|(why, &count)| format!("{} left out by {}", games(count), option(*why)));
        let crowded = (report.crowded > 0)
            .then(|| format!("{} with more than 32 pieces on the board", games(report.crowded)));
        let reasons = left.chain(crowded).chain(problems()).collect();
        return (clause(&format!("none of {} passed the filters", games(report.games)), reasons), None);
    }
    if report.plies == 0 {
        let what = "no move counted: the games have none, or --only and --max-ply leave none";
        return (clause(what, problems()), None);
    }
    (format!("the format can hold none of the {}", many(report.plies, "half-move", "half-moves")), None)
}

/// What became of the games, in lines for people.
pub fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![format!(
        "{} read, {} used, {}",
        many(report.games, "game", "games"),
        report.used,
        many(report.plies, "half-move", "half-moves")
    )];
    for (why, count) in &report.left {
        lines.push(format!("{} left out by {}", many(*count, "game", "games"), option(*why)));
    }
    if report.unfinished > 0 {
        let games = many(report.unfinished, "game", "games");
        lines.push(format!("{games} without a result counted as drawn (--finished leaves them out)"));
    }
    if report.crowded > 0 {
        let games = many(report.crowded, "game", "games");
        lines.push(format!("{games} left out: more than 32 pieces on the board"));
    }
    for (reason, Troubled { games, used, first }) in &report.problems {
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

/// The option that leaves games out for this reason.
fn option(why: Left) -> &'static str {
    match why {
        Left::Elo => "--min-elo",
        Left::Date => "--from/--to",
        Left::Player => "--player",
        Left::Unfinished => "--finished",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{Place, Problem, Spot};
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
        let found = lines(&one);
        let what = "illegal move, first a.pgn: line 4: 9. Ke9: no (byte 4)";
        assert_eq!(found[0], "3 games read, 2 used, 0 half-moves");
        assert_eq!(found[1], format!("3 games used up to the problem: {what}"));
        one.add(problem("b.pgn", 2), false);
        assert_eq!(lines(&one)[1], format!("4 games with moves lost, 3 used up to there: {what}"));
        let mut none = Report::default();
        none.add(problem("a.pgn", 4), false);
        assert_eq!(lines(&none)[1], format!("1 game not used: {what}"));
    }

    #[test]
    fn why_there_is_nothing_is_told_by_filter_and_threshold() {
        let weigh = Weigh { min_score: 40.0, ..Weigh::default() };
        let why = |report: &Report| why_nothing(report, &weigh).0;
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
        let (what, advice) = why_nothing(&report, &weigh);
        assert_eq!(
            what,
            "no move passed the filters: 6,589 moves have fewer than 3 games (--min-games), 1 move only lost, \
             2 moves score less than 40 % (--min-score)"
        );
        assert_eq!(advice, Some("lower the limit with --min-games 1"));
    }
}
