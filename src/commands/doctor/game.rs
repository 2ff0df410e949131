//! The opening that doctor plays: the adapter plays both sides.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Position as _};

use tabiya_adapter::session::{Event, Silence};
use tabiya_chess::{Position, Variant};
use tabiya_uci::{Info, Score};
use tabiya_workshop::view::san;

use super::Problem;
use super::client::Client;

/// Plies after which the game ends even if the books have more.
const MAX_PLIES: usize = 300;

/// Who played a move.
pub(super) enum PlayedBy {
    /// A book, and the number of its rule if there is one; the chance of the move is from 0 to 1.
    Book { file: PathBuf, rule: Option<usize>, chance: f64 },
    /// The engine, with its last score and depth, and why no book has answered.
    Engine { score: String, depth: String, why: Silence },
}

pub(super) struct Ply {
    pub(super) san: String,
    pub(super) source: PlayedBy,
    /// From `go` to `bestmove`.
    pub(super) time: Duration,
}

impl Ply {
    /// Whether the books were asked for it and had no move.
    pub(super) fn has_no_book_move(&self) -> bool {
        matches!(self.source, PlayedBy::Engine { why: Silence::NoMove | Silence::ForOnce, .. })
    }

    /// Whether a book played it.
    pub(super) fn is_book(&self) -> bool {
        matches!(self.source, PlayedBy::Book { .. })
    }
}

/// Plays a game of a variant until the engine has chosen `moves` moves in a row for each side, or the game is over.
pub(super) fn play(
    client: &mut Client,
    variant: Variant,
    movetime: Duration,
    moves: u32,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Ply>, Problem> {
    let mut position = Position::start_of(variant);
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
        let ply = Ply { san: san(&position, mv), source: source(&answer, client.events()), time };
        let count = chosen_by_engine.get_mut(position.chess().turn());
        *count = if ply.is_book() { 0 } else { *count + 1 };
        plies.push(ply);
        line.push(' ');
        line.push_str(best);
        position.play(mv);
    }
    Ok(plies)
}

/// Who gave an answer: what has happened says it, and the lines of the engine what it thinks.
fn source(answer: &[String], events: Vec<Event>) -> PlayedBy {
    let why = match events.into_iter().last() {
        Some(Event::Book { file, rule, chance }) => return PlayedBy::Book { file, rule, chance },
        Some(Event::Engine { why }) => why,
        _ => Silence::default(),
    };
    let last = answer.iter().rev().map(|line| Info::parse(line.as_bytes())).find_map(|info| {
        let score = match info.best()? {
            Score::Centipawns(score) => format!("{:+.2}", score as f64 / 100.0),
            Score::Mate(moves) => format!("#{moves}"),
        };
        Some((score, info.depth.map_or_else(String::new, |depth| depth.to_string())))
    });
    let (score, depth) = last.unwrap_or_default();
    PlayedBy::Engine { score, depth, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_said_of_a_book_makes_no_book_move() {
        let answer = lines("info string book b.bin: 3 of 5 moves, line ends in 12 plies\nbestmove e2e4");
        let engine = vec![Event::Engine { why: Silence::Analysis }];
        assert!(matches!(source(&answer, engine), PlayedBy::Engine { why: Silence::Analysis, .. }));
        let book = Event::Book { file: "b.bin".into(), rule: Some(12), chance: 0.5 };
        assert!(matches!(source(&[], vec![book]), PlayedBy::Book { rule: Some(12), .. }));
    }

    #[test]
    fn an_engines_move_has_its_last_score() {
        let answer = lines(
            "info depth 1 score cp -5\ninfo depth 12 score cp 31 pv e2e4\ninfo string x\nbestmove e2e4",
        );
        let PlayedBy::Engine { score, depth, .. } = source(&answer, Vec::new()) else { panic!("no engine") };
        assert_eq!((score.as_str(), depth.as_str()), ("+0.31", "12"));
        let PlayedBy::Engine { score, .. } = source(&lines("info depth 3 score mate -2"), Vec::new()) else {
            panic!()
        };
        assert_eq!(score, "#-2");
    }
}
