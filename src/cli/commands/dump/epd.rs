//! A book's positions after a number of plies as an opening suite, for matches of engines.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::iter;

use rand::seq::SliceRandom;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position as _};

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::Book;
use crate::book::traverse::ByPlies;
use crate::chess::normal::forms;
use crate::chess::{MoveCode, Position};
use crate::choose::Policy;
use crate::view::{Line, by_chance};

/// The lines of playable moves that reach the positions after exactly this many plies, in an order that the seed decides.
/// Of positions that are the same when mirrored or with colours swapped, the first is taken, and the first of the lines that
/// reach it; the heaviest moves come first. Positions in which the game has ended are left out, and so are lines that come
/// back to one of their own positions.
///
/// # Errors
/// When the work is interrupted.
pub fn suite(book: &dyn Book, plies: u32, seed: u64) -> Result<Vec<Vec<MoveCode>>> {
    let (mut lines, mut met) = (Vec::new(), HashSet::new());
    let mut keys = HashMap::new();
    let from = ByPlies { again: true, ..ByPlies::default() };
    from.each(&Progress::none(), |visited, follow| {
        let at = visited.at;
        if visited.plies < plies {
            let moves = by_chance(book, at, &Policy::default(), |_| true);
            follow.extend(moves.iter().filter(|(_, chance)| *chance > 0.0).map(|(facts, _)| facts.mv));
            keys.insert(visited.number, at.key());
            follow.retain(|&mv| {
                let next = at.after(mv).key();
                let before = |number: &u32| visited.tracks.before(*number).map(|(before, _)| before);
                let mut line = iter::successors(Some(visited.number), before);
                !line.any(|number| keys.get(&number) == Some(&next))
            });
        } else if !at.chess().legal_moves().is_empty() && met.insert(least_key(at)) {
            lines.push(visited.tracks.line(visited.number));
        }
        Ok(())
    })?;
    lines.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    Ok(lines)
}

/// The least key of a position, its mirror image, and both with colours swapped. An en-passant square counts only where the
/// capture is legal, as in the text of the position.
fn least_key(at: &Position) -> u64 {
    let key = |chess: Chess| {
        let Zobrist64(key) = chess.zobrist_hash(EnPassantMode::Legal);
        key
    };
    forms(at.chess().clone()).into_iter().map(key).min().unwrap_or_default()
}

/// Writes the position after a line from the start as EPD: its four fields, and the line as a comment.
pub fn line(moves: &[MoveCode], out: &mut dyn Write) -> io::Result<()> {
    let Line { at, text } = Line::of(moves.iter().copied());
    writeln!(out, "{} c0 \"{text}\";", at.epd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book;

    #[test]
    fn a_suite_has_each_position_once_in_the_order_of_the_seed() {
        let book = book::starter().unwrap();
        let suite = |seed| super::suite(&*book, 4, seed).unwrap();
        let (one, other) = (suite(1), suite(2));
        assert!(one == suite(1) && one != other && one.len() > 10);
        assert!(one.iter().all(|line| line.len() == 4));
        let sorted = |mut lines: Vec<_>| {
            lines.sort();
            lines
        };
        assert_eq!(sorted(one), sorted(other));
        assert_eq!(super::suite(&*book, 0, 1).unwrap(), [vec![]]);
        assert!(super::suite(&*book, 900, 1).unwrap().is_empty());
    }

    #[test]
    fn the_line_is_a_comment() {
        let play = |moves: &[&str]| {
            let mut game = crate::chess::Game::start();
            moves.iter().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
            game.moves().iter().map(|mv| MoveCode::from_move(*mv)).collect::<Vec<_>>()
        };
        let mut out = Vec::new();
        line(&play(&["e2e4", "e7e5", "g1f3"]), &mut out).unwrap();
        let expected = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - c0 \"1. e4 e5 2. Nf3\";\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
