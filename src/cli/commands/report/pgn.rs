//! The games as PGN, with the book's moves as variations where the games left the books.

use std::io::{self, Write};

use shakmaty::Position as _;

use crate::chess::Position;
use crate::cli::output::rows::percent;
use crate::games::export::{Head, San, Writer};
use crate::openings::Opening;
use crate::report::Game;
use crate::view::san;

/// Moves of the books that are written.
const MOVES: usize = 5;

/// Writes a game.
pub(super) fn game(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::default();
    let result = game.result.map_or("*", crate::games::GameResult::as_pgn);
    let start = game.start.as_ref().map(Position::fen);
    writer.head(&Head {
        round: &game.round,
        white: &game.players.white,
        black: &game.players.black,
        result,
        start: start.as_deref(),
        opening: game.opening.map(Opening::parts),
        ..Head::default()
    });
    writer.begin_moves();
    let start = game.start.clone().unwrap_or_else(Position::start);
    let mut numbered = true;
    for (ply, (at, mv)) in (0_u32..).zip(start.replay(game.line.iter().copied())) {
        let (black, number) = (at.chess().turn().is_black(), at.chess().fullmoves().into());
        if numbered || !black {
            writer.number(number, black);
        }
        writer.san(San::new(san(&at, mv).as_bytes()));
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
    }
    writer.end_moves(result);
    out.write_all(writer.text())
}
