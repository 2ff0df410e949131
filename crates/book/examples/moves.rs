//! Prints the moves of a book in a position.
//! usage: cargo run --example moves -- BOOK [FEN]

use std::error::Error;

use shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use tabiya_book::choose::{Policy, chances_in};
use tabiya_book::{BookSet, open};
use tabiya_chess::{Game, Position};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let book = open(arguments.next().ok_or("usage: moves BOOK [FEN]")?)?;
    let at: Chess = match arguments.next() {
        Some(fen) => fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?,
        None => Chess::default(),
    };
    let game = Game::from_position(Position::from_chess(at.clone()));
    let mut books = BookSet::new(&[], &[], std::slice::from_ref(&book));
    let known = chances_in(&*book, (&mut books, 0), &game, &Policy::default());
    for (known, chance) in known.moves.iter().zip(known.chances) {
        let games = known.counts.map_or(String::new(), |counts| format!(", {} games", counts.games));
        let san = SanPlus::from_move(at.clone(), known.mv);
        println!("{san}: weight {}, {:.1} %{games}", known.weight, chance * 100.0);
    }
    Ok(())
}
