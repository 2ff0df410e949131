//! A bot's opening: plays from a book against itself until the book has no move.
//! usage: cargo run --example bot -- BOOK

use std::error::Error;
use std::hash::{BuildHasher as _, RandomState};

use shakmaty::{Chess, Position as _, san::SanPlus};
use tabiya_book::{Policy, Position, open};

fn main() -> Result<(), Box<dyn Error>> {
    let book = std::env::args().nth(1).ok_or("usage: bot BOOK")?;
    println!("{}", play(&book, &mut || RandomState::new().hash_one(0))?.join(" "));
    Ok(())
}

pub fn play(book: &str, random: &mut dyn FnMut() -> u64) -> Result<Vec<String>, Box<dyn Error>> {
    let (book, policy) = (open(book)?, Policy::default());
    let (mut at, mut history, mut line) = (Chess::default(), Vec::new(), Vec::new());
    while let Some(mv) = book.pick(&at, &policy, &history, random) {
        line.push(SanPlus::from_move(at.clone(), mv).to_string());
        history.push(Position::from(&at));
        at.play_unchecked(mv);
    }
    Ok(line)
}
