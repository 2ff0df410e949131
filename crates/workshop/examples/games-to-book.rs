//! Makes a book of games: PGN files or a ChessBase database.
//! usage: cargo run --example games-to-book -- GAMES BOOK

use std::error::Error;

use tabiya_workshop::bookmaker::{Filter, NewBook, Weigh};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [games, book] = arguments.as_slice() else { return Err("usage: games-to-book GAMES BOOK".into()) };
    let (report, written) =
        NewBook::new(book).build(&[games.into()], &Filter::default(), &Weigh::default(), &[])?;
    println!("{} games: {} positions, {} moves", report.games, written.positions, written.moves);
    Ok(())
}
