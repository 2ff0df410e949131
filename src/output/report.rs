//! What `build` reports about the games, with the options that affect them.

use tabiya_base::likeness::{in_words, listed};
use tabiya_games::{OtherPlayers, PlayerName, Reason};
use tabiya_workshop::bookmaker::filter::Exclusion;
use tabiya_workshop::bookmaker::report::{BuildReport, FailedGames};
use tabiya_workshop::bookmaker::weigh::{DropReason, Weigh};

use super::rows::many;

/// Why nothing is left to write, as a clause, and what to do if something can be done; `weigh`: the limits that dropped
/// moves; `player`: the player whose games count; `is_named`: whether the command line names a variant.
pub(crate) fn why_nothing(
    report: &BuildReport,
    weigh: &Weigh,
    player: Option<&PlayerName>,
    is_named: bool,
) -> (String, Option<String>) {
    if !report.dropped.is_empty() {
        let few = report.dropped.contains_key(&DropReason::Games) && weigh.min_games > 1;
        let advice = few.then(|| "lower the limit with --min-games 1".to_owned());
        return (clause("no move passed the filters", dropped(report, weigh)), advice);
    }
    let what = if report.games == 0 {
        clause("there are no games in the sources", errors(report))
    } else if report.used == 0 {
        let what = format!("none of {} passed the filters", many(report.games, "game"));
        let what = clause(&what, [left_out(report), errors(report)].concat());
        let others = report.errors.keys().all(|reason| *reason == Reason::OtherVariant);
        let advice = others && report.left.is_empty();
        let way = match is_named {
            true => "the games are of another variant than --variant names",
            false => "name the variant of the games with --variant",
        };
        let near = player.and_then(|player| near(&report.other_players, player));
        return (what, near.or_else(|| advice.then(|| way.to_owned())));
    } else if report.plies == 0 {
        let what = "no move counted: the games have none, or --only and --max-ply leave none";
        clause(what, errors(report))
    } else {
        format!("the format can hold none of the {}", many(report.plies, "ply"))
    };
    (what, None)
}

/// The players whom somebody may mean who names one without a game; `None` if there are none.
pub(crate) fn near(others: &OtherPlayers, player: &PlayerName) -> Option<String> {
    let (near, most) = (others.near(player), others.most());
    let what = match most.len() {
        _ if !near.is_empty() => return Some(in_words(&near)),
        0 => return None,
        few if others.count() > few => "the players with the most games are",
        1 => "the only player is",
        _ => "the players are",
    };
    Some(format!("{what} {}", listed(&most)))
}

/// The moves that were counted and are not in the book, in lines for people.
pub fn dropped_lines(report: &BuildReport, weigh: &Weigh) -> Vec<String> {
    dropped(report, weigh).into_iter().map(|line| format!("left out: {line}")).collect()
}

/// What became of the games, in lines for people.
pub fn lines(report: &BuildReport) -> Vec<String> {
    [vec![read(report)], left_plies(report), left_out(report), errors(report)].concat()
}

/// How many games were read, and their errors.
pub fn read_lines(report: &BuildReport) -> Vec<String> {
    [vec![read(report)], errors(report)].concat()
}

fn read(report: &BuildReport) -> String {
    let (games, plies) = (many(report.games, "game"), many(report.plies, "ply"));
    format!("{games} read, {} used, {plies}", report.used)
}

/// What of the games that were used did not count.
fn left_plies(report: &BuildReport) -> Vec<String> {
    let lines = [
        (report.limited, "game", "counted up to the last ply that counts (--max-ply)"),
        (report.other_side, "ply", "of the other side left out (--only, --min-mover-elo)"),
        (report.mistakes, "ply", "left out by --skip-mistakes: mistakes and what follows them"),
        (report.unlisted, "ply", "left out that comments call \"not in the book\""),
    ];
    let lines = lines.into_iter().filter(|(count, ..)| *count > 0);
    lines.map(|(count, noun, why)| format!("{} {why}", many(count, noun))).collect()
}

/// The games that did not count as they are, and why.
fn left_out(report: &BuildReport) -> Vec<String> {
    let option = |why| match why {
        Exclusion::Elo => "--min-elo",
        Exclusion::MoverElo => "--min-mover-elo",
        Exclusion::EloDifference => "--max-elo-difference",
        Exclusion::Speed => "--speed",
        Exclusion::Rating => "--rating",
        Exclusion::Tag => "--tag",
        Exclusion::NotTag => "--tag NAME!=PATTERN",
        Exclusion::Date => "--date",
        Exclusion::Player => "--player",
        Exclusion::Unfinished => "--finished",
        Exclusion::Plies => "--min-plies",
        Exclusion::Repeated => "--unique",
        _ => "another filter",
    };
    let filtered = report.left.iter();
    let mut lines: Vec<_> = filtered
        .map(|(why, count)| format!("{} left out by {}", many(*count, "game"), option(*why)))
        .collect();
    if report.unfinished > 0 {
        let games = many(report.unfinished, "game");
        lines.push(format!("{games} without a result counted as drawn (--finished leaves them out)"));
    }
    if report.crowded > 0 {
        let games = many(report.crowded, "game");
        lines.push(format!("{games} left out: more than 32 pieces on the board"));
    }
    lines
}

/// The games with errors.
fn errors(report: &BuildReport) -> Vec<String> {
    let line = |(reason, FailedGames { games, used, first }): (&Reason, &FailedGames)| {
        let count = many(*games, "game");
        match games - used {
            _ if *reason == Reason::Zeros => {
                format!("{} with zero bytes, first {first}", many(*games, "file"))
            }
            _ if *reason == Reason::Unreadable => {
                format!("{} not read to the end, first {first}", many(*games, "file"))
            }
            0 => format!("{count} used up to the error: {reason}, first {first}"),
            unused if unused == *games => format!("{count} not used: {reason}, first {first}"),
            _ => format!("{count} with moves lost, {used} used up to there: {reason}, first {first}"),
        }
    };
    let mut lines: Vec<_> = report.errors.iter().map(line).collect();
    if let Some(FailedGames { games, first, .. }) = &report.cut {
        let (games, reason) = (many(*games, "game"), first.reason);
        lines.push(format!("{games} with variations used up to an error: {reason}, first {first}"));
    }
    if report.lost_marks > 0 {
        lines.push(format!("{} of moves dropped: there are too many", many(report.lost_marks, "mark")));
    }
    if report.unread_weights > 0 {
        let comments = many(report.unread_weights, "comment");
        lines.push(format!("{comments} with a weight that is no whole number up to {} left out", u32::MAX));
    }
    lines
}

/// The moves that a limit dropped.
fn dropped(report: &BuildReport, weigh: &Weigh) -> Vec<String> {
    let line = |(why, count): (&DropReason, &u64)| {
        let moves = many(*count, "move");
        match why {
            DropReason::Games => format!("{moves} with fewer than {} games (--min-games)", weigh.min_games),
            DropReason::Lost => format!("{moves} without a win or a draw (--uniform keeps them)"),
            DropReason::Share => {
                format!("{moves} with too small a share of their position's games (--min-share)")
            }
            DropReason::Score => format!("{moves} with a score below {} % (--min-score)", weigh.min_score),
            _ => format!("{moves} for another reason"),
        }
    };
    report.dropped.iter().map(line).collect()
}

/// A statement, and the reasons for it, if there are any.
fn clause(what: &str, reasons: Vec<String>) -> String {
    if reasons.is_empty() { what.to_owned() } else { format!("{what}: {}", reasons.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use tabiya_games::{GameError, GameLocation, LineOrGame};

    use super::*;

    fn error(file: &str, offset: u64) -> GameError {
        let place = GameLocation {
            file: Arc::from(Path::new(file)),
            spot: LineOrGame::Line(offset),
            offset,
            length: 0,
        };
        GameError { reason: Reason::IllegalMove, place, why: "9. Ke9: no".to_owned() }
    }

    #[test]
    fn the_first_problem_of_a_kind_is_reported_in_any_order() {
        let mut one = BuildReport::default();
        one.add(error("b.pgn", 1), true);
        one.add(error("a.pgn", 9), true);
        let mut other = BuildReport::default();
        (other.games, other.used) = (3, 2);
        other.add(error("a.pgn", 4), true);
        one.merge(other);
        let found = lines(&one);
        let what = "illegal move, first a.pgn: line 4: 9. Ke9: no (byte 4)";
        assert_eq!(found[0], "3 games read, 2 used, 0 plies");
        assert_eq!(found[1], format!("3 games used up to the error: {what}"));
        one.add(error("b.pgn", 2), false);
        assert_eq!(lines(&one)[1], format!("4 games with moves lost, 3 used up to there: {what}"));
        let mut none = BuildReport::default();
        none.add(error("a.pgn", 4), false);
        assert_eq!(lines(&none)[1], format!("1 game not used: {what}"));
    }

    #[test]
    fn filters_and_limits_explain_why_nothing_is_written() {
        let mut weigh = Weigh::default();
        weigh.min_score = 40.0;
        let why = |report: &BuildReport| why_nothing(report, &weigh, None, false).0;
        let mut report = BuildReport::default();
        assert_eq!(why(&report), "there are no games in the sources");
        report.games = 1_234_567;
        report.left.insert(Exclusion::Player, 1_234_567);
        assert_eq!(
            why(&report),
            "none of 1234567 games passed the filters: 1234567 games left out by --player"
        );
        report.used = 3;
        assert!(why(&report).starts_with("no move counted: "));
        report.plies = 9;
        assert_eq!(why(&report), "the format can hold none of the 9 plies");
        report.drop_moves([(DropReason::Games, 6589), (DropReason::Lost, 1), (DropReason::Score, 2)].into());
        let (what, advice) = why_nothing(&report, &weigh, None, false);
        assert_eq!(
            what,
            "no move passed the filters: 6589 moves with fewer than 3 games (--min-games), \
             1 move without a win or a draw (--uniform keeps them), 2 moves with a score below 40 % (--min-score)"
        );
        assert_eq!(advice.as_deref(), Some("lower the limit with --min-games 1"));
    }
}
