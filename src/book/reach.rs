//! The positions of a book that play reaches from the starting position, and how deep it goes: for formats whose entries
//! are known by their place in a file.

use shakmaty::{Chess, Move, Position as _};

use crate::base::progress::Progress;

/// Positions at one depth that are followed, so that memory is bounded: about 60 MB for each of two depths.
const WIDEST: usize = 1 << 19;

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// How far play gets in a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Plies from the starting position to the end of the deepest line, each position counted where it is first
    /// reached.
    pub plies: u32,
    /// Positions of the book that are reached.
    pub reached: u64,
    /// Whether some depth had too many positions to follow them all.
    pub cut: bool,
}

/// Gives the place of a position's entry, and appends its moves where they are asked for.
pub type Look<'a> = &'a mut dyn FnMut(&Chess, Option<&mut Vec<Move>>) -> Option<u64>;

/// Walks from the starting position along all moves, each entry once.
///
/// `look` gives the place of a position's entry, below `places` and its alone, and appends its legal moves where they are
/// asked for; `None` where the book does not have it. `positions` is what the progress bar counts to.
pub fn reach(places: u64, positions: u64, progress: &Progress, look: Look<'_>) -> Reach {
    progress.things(positions, "positions");
    let mut seen = vec![0_u64; usize::try_from(places.div_ceil(64)).unwrap_or_default()];
    let mut reach = Reach::default();
    let mut moves = Vec::new();
    let start = Chess::default();
    let Some(place) = look(&start, None) else { return reach };
    is_new(&mut seen, place);
    reach.reached = 1;
    let mut next = vec![start];
    for plies in 1.. {
        let now = std::mem::take(&mut next);
        if now.is_empty() {
            break;
        }
        for chess in now {
            moves.clear();
            look(&chess, Some(&mut moves));
            for &mv in &moves {
                reach.plies = plies;
                let mut after = chess.clone();
                after.play_unchecked(mv);
                let Some(place) = look(&after, None) else { continue };
                if !is_new(&mut seen, place) {
                    continue;
                }
                reach.reached += 1;
                if reach.reached.is_multiple_of(STRIDE) {
                    progress.at(reach.reached);
                }
                if next.len() < WIDEST {
                    next.push(after);
                } else {
                    reach.cut = true;
                }
            }
        }
    }
    reach
}

/// Whether a place is seen for the first time.
fn is_new(seen: &mut [u64], place: u64) -> bool {
    let Some(word) = usize::try_from(place / 64).ok().and_then(|at| seen.get_mut(at)) else { return false };
    let mask = 1 << (place % 64);
    let new = *word & mask == 0;
    *word |= mask;
    new
}
