//! The games as PGN, with the book's moves as variations where the games left the books.

use std::io::{self, Write};

use shakmaty::{CastlingMode, Position as _};

use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, Variant};
use tabiya_games::GameHeader;
use tabiya_games::export::{PgnHead, PgnWriter, San};
use tabiya_workshop::report::ReportGame;
use tabiya_workshop::view::san;

use crate::output::rows::percent;

/// Tags that are written anew: those that every game has, and those that the moves or the opening decide.
const OWN: [&str; 12] = [
    "Event", "Site", "Date", "Round", "White", "Black", "Result", "Variant", "SetUp", "FEN", "ECO", "Opening",
];

/// Moves of the books that are written.
const MOVES: usize = 5;

/// Writes the tags: those of the source, and what is known besides.
fn head(game: &ReportGame, result: &str, writer: &mut PgnWriter) {
    let unknown = GameHeader::default();
    let header = game.header.as_ref().unwrap_or(&unknown);
    let text = |name| header.tag(name).unwrap_or_default();
    let start = game.start.as_ref().map(Position::fen);
    let is_chess960 =
        game.start.as_ref().is_some_and(|at| at.chess().castles().mode() == CastlingMode::Chess960);
    let of_game = game.exit.at.variant();
    let variant = text("Variant");
    let (event, site, date) = (text("Event"), text("Site"), text("Date"));
    writer.head(&PgnHead {
        variant: of_game,
        event: &event,
        site: &site,
        date: &date,
        round: &game.round,
        white: &game.players.white,
        black: &game.players.black,
        result,
        start: start.as_deref(),
        chess960: is_chess960 && variant.is_empty(),
        opening: game.opening.map(Opening::parts),
    });
    if of_game == Variant::Chess {
        writer.known_tag("Variant", &variant);
    }
    let others = header.tags.iter().filter(|(name, _)| !OWN.iter().any(|own| own.eq_ignore_ascii_case(name)));
    others.for_each(|(name, value)| writer.known_tag(name, value));
    let mut add = |name| {
        if !header.tags.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            writer.known_tag(name, &text(name));
        }
    };
    ["WhiteElo", "BlackElo"].into_iter().for_each(&mut add);
    if game.opening.is_none() {
        ["ECO", "Opening"].into_iter().for_each(|name| writer.known_tag(name, &text(name)));
    }
}

pub(super) fn game(game: &ReportGame, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = PgnWriter::default();
    let result = game.result.map_or("*", tabiya_games::GameResult::as_pgn);
    head(game, result, &mut writer);
    writer.begin_moves();
    let start = game.begin();
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
