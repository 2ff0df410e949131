//! Plays from a book until it has no move.
//! usage: cargo run --example play -- BOOK [SEED]

use std::error::Error;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use shakmaty::san::SanPlus;
use tabiya_book::choose::{Policy, chances_in, draw};
use tabiya_book::{BookSet, open};
use tabiya_chess::{Game, Position};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let book = open(arguments.next().ok_or("usage: play BOOK [SEED]")?)?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mut books = BookSet::new(&[], &[], std::slice::from_ref(&book));
    let mut at = Position::start();
    for ply in 0_u32.. {
        let game = Game::from_position(at.clone());
        let known = chances_in(&*book, (&mut books, 0), &game, &Policy::default());
        let random = BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, ply));
        let Some(chosen) = draw(&known.chances, random).and_then(|index| known.moves.get(index)) else {
            break;
        };
        println!("{}", SanPlus::from_move(at.chess().clone(), chosen.mv));
        at.play(chosen.mv);
    }
    Ok(())
}
