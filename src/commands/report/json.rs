//! The report as one line of JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use tabiya_book::Counts;
use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, Variant};
use tabiya_games::GameResult;
use tabiya_workshop::report::{LeaveReason, ReportGame};
use tabiya_workshop::view::{san, uci};

use super::ReportTotals;

/// Writes a game, and before it a comma unless it is the first.
pub(super) fn game(game: &ReportGame, first: bool, out: &mut dyn Write) -> io::Result<()> {
    let exit = &game.exit;
    let moves = exit
        .book_moves
        .iter()
        .map(|known| json!({ "uci": uci(&exit.at, known.mv), "san": san(&exit.at, known.mv), "chance": known.chance }));
    let line = json!({
        "number": game.number, "white": game.players.white, "black": game.players.black,
        "result": game.result.map(GameResult::as_pgn), "book_plies": game.own_plies(),
        "left_by": left_by(exit.left), "fen": exit.at.fen(), "played": exit.played.map(|mv| uci(&exit.at, mv)),
        "book_moves": moves.collect::<Vec<_>>(), "eval": game.eval, "opening": game.opening,
        "saved": { "white": game.saved.white, "black": game.saved.black },
    });
    write!(out, "{}{line}", if first { "" } else { "," })
}

/// Writes everything after the games.
pub(super) fn rest(found: &ReportTotals, out: &mut dyn Write) -> io::Result<()> {
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
    let players: Vec<Value> = found
        .players
        .matches()
        .into_iter()
        .map(|(first, second, games)| {
            let elo = games.elo();
            json!({
                "player": first, "opponent": second, "score": score(games.counts),
                "pairs": Some(games.pairs).filter(|_| games.has_pairs()),
                "elo": elo.difference, "error": elo.error, "low": elo.low, "high": elo.high, "los": elo.los,
            })
        })
        .collect();
    let books: Vec<Value> = found
        .players
        .books()
        .into_iter()
        .map(|(player, one_of, of)| {
            let path = |book: &usize| Some(found.books.get(*book)?.path().to_string_lossy().into_owned());
            let paths: Vec<String> = one_of.iter().filter_map(path).collect();
            let known = if let [path] = &paths[..] { Some(path.clone()) } else { None };
            json!({ "player": player, "book": known, "one_of": paths, "score": score(of) })
        })
        .collect();
    write!(out, "],\"exits\":[")?;
    // There may be as many as games.
    let leaves = found.sums.most(|_| true).into_iter();
    for (number, (leave, exit)) in leaves.filter_map(|leave| Some((leave, leave.exit(&[])?))).enumerate() {
        let line = json!({
            "fen": exit.at.fen(), "line": leave.is_from_start().then(|| line(leave.variant, &leave.line)),
            "left_by": left_by(leave.left),
            "played": exit.played.map(|mv| uci(&exit.at, mv)), "games": leave.group.counts.games, "score": score(leave.group.counts),
            "eval": leave.group.mean_eval(),
        });
        write!(out, "{}{line}", if number == 0 { "" } else { "," })?;
    }
    let rest = json!({
        "openings": openings, "players": players, "books": books, "repeated": found.sums.repeated,
        "unattributed": found.sums.unattributed,
    });
    let text = rest.to_string();
    // Without its opening brace it continues the object that was begun.
    writeln!(out, "],{}", text.get(1..).unwrap_or_default())
}

/// The side that left the books, if one did.
fn left_by(left: LeaveReason) -> Option<String> {
    match left {
        LeaveReason::Side(side) => Some(side.to_string()),
        _ => None,
    }
}

fn score(of: Counts) -> Value {
    json!({ "wins": of.wins, "draws": of.draws, "losses": of.losses })
}

/// The moves from the start in UCI.
fn line(variant: Variant, moves: &[tabiya_chess::MoveCode]) -> Vec<String> {
    Position::start_of(variant).replay(moves.iter().copied()).map(|(at, mv)| uci(&at, mv)).collect()
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, Color, Square};

    use tabiya_chess::MoveCode;
    use tabiya_workshop::report::{Exit, Own, Players, Sums};

    use super::*;
    use crate::output::exit::Exit as Ended;

    #[test]
    fn a_line_that_cannot_be_played_leaves_no_gap_in_the_list() {
        let mut found = ReportTotals {
            variant: Variant::Chess,
            books: Vec::new(),
            sums: Sums::default(),
            players: Players::default(),
            games: 0,
            exit: Ended::Done,
        };
        let lines = [
            vec![MoveCode::new(Square::E2, Square::E5, None)],
            vec![MoveCode::new(Square::G1, Square::F3, None), MoveCode::new(Square::G8, Square::F6, None)],
        ];
        for (number, line) in (1..).zip(lines) {
            let mut at = Position::start();
            Position::start().replay(line.iter().copied()).for_each(|(_, mv)| at.play(mv));
            let exit = Exit {
                at,
                line,
                left: LeaveReason::GameEnded,
                played: None,
                own: Own::default(),
                book_moves: Vec::new(),
            };
            let game = ReportGame {
                number,
                players: ByColor::default(),
                round: String::new(),
                header: None,
                result: None,
                start: None,
                book_plies: 0,
                given: 0,
                keys: Vec::new(),
                exit,
                eval: None,
                own: ByColor::default(),
                book_moves: ByColor::default(),
                books: ByColor::default(),
                saved: ByColor::default(),
                opening: None,
                moves: number,
                line: Vec::new(),
            };
            found.sums.add(&game, Color::White);
        }
        // The one that cannot be played is the shorter one, and so comes first.
        assert_eq!(found.sums.most(|_| true)[0].exit(&[]).map(|exit| exit.line), None);
        let mut out = b"{\"games\":[".to_vec();
        rest(&found, &mut out).unwrap();
        let read: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(read["exits"].as_array().unwrap().len(), 1);
        assert_eq!(read["exits"][0]["line"], json!(["g1f3", "g8f6"]));
    }
}
