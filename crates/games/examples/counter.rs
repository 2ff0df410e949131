//! A counter of games: how often each side won, and how many moves the games have.
//! usage: cargo run --example counter -- GAMES...

use std::error::Error;

use tabiya_games::{GameResult, open_all};

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", count(std::env::args().skip(1))?);
    Ok(())
}

pub fn count(paths: impl IntoIterator<Item = String>) -> Result<String, Box<dyn Error>> {
    let (mut moves, mut white, mut black, mut draws, mut open, mut unread) = (0, 0, 0, 0, 0, 0);
    for game in open_all(paths)? {
        if let Ok(game) = &game {
            moves += game.moves.len();
        }
        *match game.map(|game| game.result) {
            Ok(Some(GameResult::White)) => &mut white,
            Ok(Some(GameResult::Black)) => &mut black,
            Ok(Some(GameResult::Draw)) => &mut draws,
            Ok(None) => &mut open,
            Err(_) => &mut unread,
        } += 1;
    }
    Ok(format!("+{white} -{black} ={draws} *{open}, {moves} moves; {unread} games not read"))
}
