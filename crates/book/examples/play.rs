//! Plays from a book until it has no move.
//! usage: cargo run --example play -- BOOK [SEED]

use std::error::Error;

use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use tabiya::shakmaty::{Chess, Position as _, san::SanPlus};
use tabiya::{Book, Policy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let book = Book::open(arguments.next().ok_or("usage: play BOOK [SEED]")?)?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let (mut at, mut rng) = (Chess::default(), Xoshiro256PlusPlus::seed_from_u64(seed));
    while let Some(mv) = book.choose(&at, &Policy::default(), &mut rng) {
        println!("{}", SanPlus::from_move(at.clone(), mv));
        at.play_unchecked(mv);
    }
    Ok(())
}
