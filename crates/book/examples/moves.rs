//! Prints the moves of a book in a position.
//! usage: cargo run --example moves -- BOOK [FEN]

use std::error::Error;

use tabiya::shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use tabiya::{Book, Policy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let book = Book::open(arguments.next().ok_or("usage: moves BOOK [FEN]")?)?;
    let at: Chess = match arguments.next() {
        Some(fen) => fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?,
        None => Chess::default(),
    };
    for (known, chance) in book.chances(&at, &Policy::default()) {
        let games = known.counts.map_or(String::new(), |counts| format!(", {} games", counts.games));
        let san = SanPlus::from_move(at.clone(), known.mv);
        println!("{san}: weight {}, {:.1} %{games}", known.weight, chance * 100.0);
    }
    Ok(())
}
