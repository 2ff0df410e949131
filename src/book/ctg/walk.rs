//! The positions that play reaches from the starting position, and how deep the book goes.

use shakmaty::{Chess, Position as _};

use super::moves::legal;
use super::read::Ctg;
use crate::base::progress::Progress;

/// Positions at one depth that are followed, so that memory is bounded: about 60 MB for each of two depths.
const WIDEST: usize = 1 << 19;

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// Bytes of the file for one bit of memory: no two entries begin in so few, for the shortest has 35.
const APART: u64 = 32;

/// How far play gets in a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Plies from the starting position to the end of the deepest line, each position counted where it is first
    /// reached.
    pub plies: u32,
    /// Positions of the book that are reached.
    pub reached: u64,
    /// Whether some depth had too many positions to follow them all.
    pub cut: bool,
}

/// Walks from the starting position along all legal moves of the book, each position once.
pub fn walk(book: &Ctg, positions: u64, progress: &Progress) -> Walk {
    progress.things(positions, "positions");
    let bits = book.pages().len() as u64 / APART + 1;
    let mut seen = vec![0_u64; usize::try_from(bits.div_ceil(64)).unwrap_or_default()];
    let mut walk = Walk::default();
    let start = Chess::default();
    let Some((_, entry)) = book.find(&start) else { return walk };
    is_new(&mut seen, entry.offset);
    walk.reached = 1;
    let mut next = vec![start];
    for plies in 1.. {
        let now = std::mem::take(&mut next);
        if now.is_empty() {
            break;
        }
        for chess in now {
            let Some((normal, entry)) = book.find(&chess) else { continue };
            for mv in entry.moves().filter_map(|written| legal(written.code, &normal, &chess)) {
                walk.plies = plies;
                let mut after = chess.clone();
                after.play_unchecked(mv);
                let Some((_, entry)) = book.find(&after) else { continue };
                if !is_new(&mut seen, entry.offset) {
                    continue;
                }
                walk.reached += 1;
                if walk.reached.is_multiple_of(STRIDE) {
                    progress.at(walk.reached);
                }
                if next.len() < WIDEST {
                    next.push(after);
                } else {
                    walk.cut = true;
                }
            }
        }
    }
    walk
}

/// Whether an entry is seen for the first time.
fn is_new(seen: &mut [u64], offset: u64) -> bool {
    let bit = offset / APART;
    let Some(word) = usize::try_from(bit / 64).ok().and_then(|at| seen.get_mut(at)) else { return false };
    let mask = 1 << (bit % 64);
    let new = *word & mask == 0;
    *word |= mask;
    new
}
