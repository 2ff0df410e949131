//! The games as PGN, with the book's moves as variations where the games left the books.

use std::io::{self, Write};

use shakmaty::Position as _;

use crate::book::MoveFacts;
use crate::chess::Position;
use crate::cli::output::rows::percent;
use crate::games::export::{San, Writer};
use crate::report::Game;
use crate::view::san;

/// Moves of the books that are written.
const MOVES: usize = 5;

/// Writes a game.
pub(super) fn game(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::default();
    let result = game.result.map_or("*", crate::games::GameResult::as_pgn);
    let players = &game.players;
    for (name, value) in [
        ("Event", "?"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", game.round.as_str()),
        ("White", &players.white),
        ("Black", &players.black),
        ("Result", result),
    ] {
        writer.tag(name, value);
    }
    if let Some(start) = &game.start {
        writer.tag("SetUp", "1");
        writer.tag("FEN", &start.fen());
    }
    if let Some(opening) = game.opening {
        writer.tag("ECO", opening.eco());
        writer.tag("Opening", opening.name());
    }
    writer.begin_moves();
    let mut at = game.start.clone().unwrap_or_else(Position::start);
    let mut numbered = true;
    for (ply, mv) in (0_u32..).zip(&game.line) {
        let Some(facts) = MoveFacts::new(*mv, 0).at(&at) else { break };
        let (black, number) = (at.chess().turn().is_black(), at.chess().fullmoves().into());
        if numbered || !black {
            writer.number(number, black);
        }
        writer.san(San::new(san(&at, facts.mv).as_bytes()));
        numbered = false;
        if ply == game.book_plies {
            let pawns = game.eval.map(|eval| format!("{:+.2}", eval as f64 / 100.0));
            let words = pawns.into_iter().chain(["left the book".to_owned()]).collect::<Vec<_>>();
            writer.comment(&words.join(", "));
            for known in game.exit.book_moves.iter().take(MOVES) {
                writer.parenthesis();
                writer.number(number, black);
                writer.san(San::new(san(&at, known.mv).as_bytes()));
                writer.comment(&percent(known.chance));
                writer.close();
            }
            numbered = true;
        }
        at.play(facts.mv);
    }
    writer.end_moves(result);
    out.write_all(writer.text())
}
