//! A book viewer: what a book says of a position, and how many positions and moves it has.
//! usage: cargo run --example viewer -- BOOK [FEN]

use std::error::Error;

use shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use tabiya_book::{Policy, open};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let book = arguments.next().ok_or("usage: viewer BOOK [FEN]")?;
    print!("{}", view(&book, arguments.next().as_deref())?);
    Ok(())
}

pub fn view(book: &str, fen: Option<&str>) -> Result<String, Box<dyn Error>> {
    let book = open(book)?;
    let fen = fen.map(str::parse::<Fen>).transpose()?.unwrap_or_default();
    let (at, mut text): (Chess, _) = (fen.into_position(CastlingMode::Standard)?, String::new());
    for (known, chance) in book.chances(&at, &Policy::default(), &[]) {
        let games = known.counts.map_or(String::new(), |counts| format!(", {} games", counts.games));
        let san = SanPlus::from_move(at.clone(), known.mv);
        text += &format!("{san}: weight {}, {:.1} %{games}\n", known.weight, chance * 100.0);
    }
    let positions = book.positions().collect::<Result<Vec<_>, _>>()?;
    let moves: usize = positions.iter().map(|at| at.moves.len()).sum();
    Ok(text + &format!("{} positions, {moves} moves\n", positions.len()))
}
