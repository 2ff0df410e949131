//! The positions that play reaches from the starting position, and how deep the book goes.

use super::moves::legal;
use super::read::Ctg;
use crate::base::progress::Progress;
use crate::book::reach::{Reach, reach};

/// Bytes of the file for one place: no two entries begin in so few, for the shortest has 35.
const APART: u64 = 32;

/// Walks from the starting position along all legal moves of the book, each position once.
pub fn walk(book: &Ctg, positions: u64, progress: &Progress) -> Reach {
    let places = book.pages().len() as u64 / APART + 1;
    reach(places, positions, progress, &mut |chess, moves| {
        let (normal, entry) = book.find(chess)?;
        if let Some(moves) = moves {
            moves.extend(entry.moves().filter_map(|written| legal(written.code, &normal, chess)));
        }
        Some(entry.offset / APART)
    })
}
