//! The report as one line of JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move};

use super::Found;
use crate::book::Counts;
use crate::chess::Position;
use crate::openings::Opening;
use crate::report::elo::elo;
use crate::report::{Game, Left};
use crate::view::san;

#[derive(Serialize)]
struct GameLine<'a> {
    number: u64,
    white: &'a str,
    black: &'a str,
    result: Option<&'static str>,
    book_plies: u32,
    left_by: Option<String>,
    fen: String,
    played: Option<String>,
    book_moves: Vec<MoveLine>,
    eval: Option<i64>,
    opening: Option<Opening>,
    saved: Value,
}

#[derive(Serialize)]
struct MoveLine {
    uci: String,
    san: String,
    chance: f64,
}

/// A move in UCI.
fn uci(mv: Move) -> String {
    UciMove::from_move(mv, CastlingMode::Standard).to_string()
}

/// Writes a game, and before it a comma unless it is the first.
pub(super) fn game(game: &Game, first: bool, out: &mut dyn Write) -> io::Result<()> {
    let exit = &game.exit;
    let moves = exit.book_moves.iter().map(|known| MoveLine {
        uci: uci(known.mv),
        san: san(&exit.at, known.mv),
        chance: known.chance,
    });
    let line = GameLine {
        number: game.number,
        white: &game.players.white,
        black: &game.players.black,
        result: game.result.map(crate::games::GameResult::as_pgn),
        book_plies: game.book_plies,
        left_by: left_by(exit.left),
        fen: exit.at.fen(),
        played: exit.played.map(uci),
        book_moves: moves.collect(),
        eval: game.eval,
        opening: game.opening,
        saved: json!({ "white": game.saved.white, "black": game.saved.black }),
    };
    if !first {
        write!(out, ",")?;
    }
    Ok(serde_json::to_writer(out, &line)?)
}

/// Writes everything after the games.
pub(super) fn rest(found: &Found, out: &mut dyn Write) -> io::Result<()> {
    let openings: Vec<Value> = found
        .sums
        .openings()
        .into_iter()
        .map(|(opening, group)| {
            json!({
                "eco": opening.map(Opening::eco), "name": opening.map(Opening::name),
                "games": group.counts.games, "score": score(group.counts),
                "book_plies": group.mean_plies(), "eval": group.mean_eval(),
            })
        })
        .collect();
    let players: Vec<Value> = found.players.matches().into_iter().map(|(first, second, games)| {
        let counts = games.counts();
        let elo = elo(&counts);
        let finite = |number: f64| Some(number).filter(|number| number.is_finite());
        json!({
            "player": first, "opponent": second, "score": score(games.counts),
            "pairs": Some(games.pairs).filter(|_| games.alone == 0),
            "elo": elo.and_then(|elo| finite(elo.difference)), "error": elo.and_then(|elo| finite(elo.error)),
            "los": elo.and_then(|elo| finite(elo.los)),
        })
    }).collect();
    let books: Vec<Value> = found
        .players
        .books()
        .into_iter()
        .map(|(player, book, of)| {
            let path = book
                .and_then(|book| found.books.get(book))
                .map(|book| book.path().to_string_lossy().into_owned());
            json!({ "player": player, "book": path, "score": score(of) })
        })
        .collect();
    write!(out, "],\"exits\":[")?;
    // There may be as many as games.
    for (number, leave) in found.sums.most(|_| true).into_iter().enumerate() {
        let Some(exit) = leave.exit(&[]) else { continue };
        let line = json!({
            "fen": exit.at.fen(), "line": leave.is_from_start().then(|| line(&leave.line)),
            "left_by": left_by(leave.left),
            "played": exit.played.map(uci), "games": leave.group.counts.games, "score": score(leave.group.counts),
            "eval": leave.group.mean_eval(),
        });
        write!(out, "{}{line}", if number == 0 { "" } else { "," })?;
    }
    let rest = json!({
        "openings": openings, "players": players, "books": books, "repeated": found.sums.repeated,
    });
    let text = rest.to_string();
    // Without its opening brace it continues the object that was begun.
    writeln!(out, "],{}", text.get(1..).unwrap_or_default())
}

/// The side that left the books, if one did.
fn left_by(left: Left) -> Option<String> {
    match left {
        Left::Side(side) => Some(side.to_string()),
        Left::BookEnded | Left::GameEnded => None,
    }
}

fn score(of: Counts) -> Value {
    json!({ "wins": of.wins, "draws": of.draws, "losses": of.losses })
}

/// The moves from the start in UCI.
fn line(moves: &[crate::chess::MoveCode]) -> Vec<String> {
    let mut at = Position::start();
    let mut line = Vec::with_capacity(moves.len());
    for mv in moves {
        let Some(facts) = crate::book::MoveFacts::new(*mv, 0).at(&at) else { break };
        line.push(uci(facts.mv));
        at.play(facts.mv);
    }
    line
}
