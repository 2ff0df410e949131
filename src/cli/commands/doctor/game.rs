//! The opening that doctor plays: the adapter plays both sides.

use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Position as _};

use super::Problem;
use super::client::Client;
use crate::chess::Position;
use crate::uci::{Info, Score};
use crate::view::san;

/// Plies after which the game ends even if the books have more.
const MAX_PLIES: usize = 300;

/// Who played a move.
pub(super) enum Source {
    /// A book, and the number of its rule if there is one; the chance of the move is as the adapter reports it.
    Book { file: String, rule: Option<usize>, chance: String },
    /// The engine, with its last score and depth.
    Engine { score: String, depth: String },
}

/// A move played.
pub(super) struct Ply {
    pub(super) san: String,
    pub(super) source: Source,
    /// From `go` to `bestmove`.
    pub(super) time: Duration,
}

impl Ply {
    /// Whether a book played it.
    pub(super) fn is_book(&self) -> bool {
        matches!(self.source, Source::Book { .. })
    }
}

/// Plays until the engine has chosen `moves` moves in a row for each side, or the game is over.
pub(super) fn play(
    client: &mut Client,
    movetime: Duration,
    moves: u32,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Ply>, Problem> {
    let mut position = Position::start();
    let mut line = String::from("position startpos moves");
    let mut plies = Vec::new();
    let mut chosen_by_engine = ByColor::<u32>::default();
    client.send("ucinewgame");
    client.ask("isready", "readyok", Duration::ZERO)?;
    while plies.len() < MAX_PLIES
        && chosen_by_engine.iter().any(|count| *count < moves)
        && !position.chess().is_game_over()
    {
        client.send(if plies.is_empty() { "position startpos" } else { &line });
        let start = Instant::now();
        let go = format!("go movetime {}", movetime.as_millis());
        let answer = client.ask(&go, "bestmove", movetime)?;
        let time = start.elapsed();
        let best = answer.last().and_then(|last| last.split_whitespace().nth(1)).unwrap_or_default();
        let legal = best.parse::<UciMove>().ok().and_then(|uci| uci.to_move(position.chess()).ok());
        let Some(mv) = legal else {
            let what = format!("'{best}' is not a legal move after {line}: the engine is broken");
            problems.push(Problem::engine(what));
            break;
        };
        let ply = Ply { san: san(&position, mv), source: source(&answer, best), time };
        let count = chosen_by_engine.get_mut(position.chess().turn());
        *count = if ply.is_book() { 0 } else { *count + 1 };
        plies.push(ply);
        line.push(' ');
        line.push_str(best);
        position.play(mv);
    }
    Ok(plies)
}

/// Finds out from the lines of an answer who gave it.
fn source(answer: &[String], best: &str) -> Source {
    let book = answer.iter().find_map(|line| {
        let (file, rest) = line.strip_prefix("info string book ")?.rsplit_once(": ")?;
        let rule = rest.rsplit_once(", rule ").and_then(|(_, number)| number.parse().ok());
        rest.contains(" moves").then(|| (file.to_owned(), rule))
    });
    if let Some((file, rule)) = book {
        let chance = answer
            .iter()
            .filter_map(|line| line.strip_prefix("info string ")?.strip_prefix(best)?.strip_prefix(' '))
            .find_map(|rest| rest.split_whitespace().next().filter(|word| word.ends_with('%')))
            .unwrap_or_default();
        return Source::Book { file, rule, chance: chance.to_owned() };
    }
    let last = answer.iter().rev().map(|line| Info::parse(line.as_bytes())).find_map(|info| {
        let score = match info.best()? {
            Score::Centipawns(score) => format!("{:+.2}", score as f64 / 100.0),
            Score::Mate(moves) => format!("#{moves}"),
        };
        Some((score, info.depth.map_or_else(String::new, |depth| depth.to_string())))
    });
    let (score, depth) = last.unwrap_or_default();
    Source::Engine { score, depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_book_move_is_recognized_by_its_info_strings() {
        let answer = lines(
            "info string e2e4 54.2% weight 6520\ninfo string book C:\\a: b.bin: 3 of 5 moves, line ends in 12 plies\n\
             info depth 0 score cp 0 pv e2e4\nbestmove e2e4",
        );
        let Source::Book { file, rule, chance } = source(&answer, "e2e4") else { panic!("no book") };
        assert_eq!((file.as_str(), rule, chance.as_str()), ("C:\\a: b.bin", None, "54.2%"));
        let answer = lines("info string book a, rule 3: x.bin: 3 of 5 moves, line ends in 1 ply, rule 12");
        let Source::Book { file, rule, .. } = source(&answer, "e2e4") else { panic!("no book") };
        assert_eq!((file.as_str(), rule), ("a, rule 3: x.bin", Some(12)));
    }

    #[test]
    fn an_engines_move_has_its_last_score() {
        let answer = lines(
            "info depth 1 score cp -5\ninfo depth 12 score cp 31 pv e2e4\ninfo string x\nbestmove e2e4",
        );
        let Source::Engine { score, depth } = source(&answer, "e2e4") else { panic!("no engine") };
        assert_eq!((score.as_str(), depth.as_str()), ("+0.31", "12"));
        let Source::Engine { score, .. } = source(&lines("info depth 3 score mate -2"), "e2e4") else {
            panic!()
        };
        assert_eq!(score, "#-2");
    }
}
