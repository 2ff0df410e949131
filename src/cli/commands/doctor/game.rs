//! The opening that doctor plays: both sides by the same adapter.
#![allow(clippy::indexing_slicing, reason = "an array of two has an element for each side")]

use std::time::{Duration, Instant};

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position};

use super::client::{Client, Gone};
use super::{PATIENCE, Problem};
use crate::cli::output::exit::Exit;

/// Plies after which the game ends whatever the books still know.
const LONGEST: usize = 300;

/// Who played a move.
pub(super) enum Source {
    /// A book, with the move's chance as the adapter told it.
    Book { file: String, chance: String },
    /// The engine, with what it thought.
    Engine { score: String, depth: String },
}

/// A move played.
pub(super) struct Ply {
    pub(super) san: String,
    pub(super) source: Source,
    /// From `go` to `bestmove`.
    pub(super) time: Duration,
}

/// Plays until each side has thought for itself `moves` times in a row, or the game is over.
pub(super) fn play(
    client: &mut Client,
    movetime: Duration,
    moves: u32,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Ply>, Gone> {
    let mut position = Chess::default();
    let mut line = String::from("position startpos moves");
    let mut plies = Vec::new();
    let mut thought = [0; 2];
    client.send("ucinewgame");
    client.ask("isready", "readyok", PATIENCE)?;
    while plies.len() < LONGEST && thought.iter().any(|count| *count < moves) && !position.is_game_over() {
        client.send(if plies.is_empty() { "position startpos" } else { &line });
        let start = Instant::now();
        let go = format!("go movetime {}", movetime.as_millis());
        let answer = client.ask(&go, "bestmove", movetime + PATIENCE)?;
        let time = start.elapsed();
        let best = answer.last().and_then(|last| last.split_whitespace().nth(1)).unwrap_or_default();
        let legal = best.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&position).ok());
        let Some(mv) = legal else {
            problems.push(Problem {
                what: format!("'{best}' is no legal move after {line}: the engine is broken"),
                exit: Exit::Engine,
            });
            break;
        };
        let source = source(&answer, best);
        let side = usize::from(position.turn() == Color::Black);
        thought[side] = if matches!(source, Source::Engine { .. }) { thought[side] + 1 } else { 0 };
        plies.push(Ply { san: SanPlus::from_move(position.clone(), mv).to_string(), source, time });
        line.push(' ');
        line.push_str(best);
        position.play_unchecked(mv);
    }
    Ok(plies)
}

/// Reads from the lines of an answer who gave it.
fn source(answer: &[String], best: &str) -> Source {
    let book = answer.iter().find_map(|line| {
        let (file, rest) = line.strip_prefix("info string book ")?.rsplit_once(": ")?;
        rest.contains(" moves").then(|| file.to_owned())
    });
    if let Some(file) = book {
        let chance = answer
            .iter()
            .filter_map(|line| line.strip_prefix("info string ")?.strip_prefix(best)?.strip_prefix(' '))
            .find_map(|rest| rest.split_whitespace().next().filter(|word| word.ends_with('%')))
            .unwrap_or_default();
        return Source::Book { file, chance: chance.to_owned() };
    }
    let mut score = String::new();
    let mut depth = String::new();
    for line in answer.iter().filter(|line| line.starts_with("info ") && line.contains(" score ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str, count: usize| {
            words.iter().position(|other| *other == word).and_then(|at| words.get(at + count)).copied()
        };
        depth = after("depth", 1).unwrap_or_default().to_owned();
        score = match (after("score", 1), after("score", 2)) {
            (Some("cp"), Some(value)) => value
                .parse::<i32>()
                .map_or_else(|_| value.to_owned(), |value| format!("{:+.2}", f64::from(value) / 100.0)),
            (Some("mate"), Some(value)) => format!("#{value}"),
            _ => String::new(),
        };
    }
    Source::Engine { score, depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_book_move_is_told_by_its_info_strings() {
        let answer = lines(
            "info string e2e4 54.2% weight 6520\ninfo string book C:\\a: b.bin: 3 of 5 moves, line ends in 12 plies\n\
             info depth 0 score cp 0 pv e2e4\nbestmove e2e4",
        );
        let Source::Book { file, chance } = source(&answer, "e2e4") else { panic!("no book") };
        assert_eq!((file.as_str(), chance.as_str()), ("C:\\a: b.bin", "54.2%"));
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
