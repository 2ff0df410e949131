//! Traverses a book along its moves, from the starting position: breadth first to find how deep it goes, depth first to
//! find what it holds, by plies to find how far each position is.
//!
//! Books are not trusted. Each entry is visited once, however many paths lead to it, so cycles end; and what waits to be
//! visited is bounded: breadth first to some positions at each depth, depth first to the moves of one line.

mod forms;
mod plies;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use shakmaty::{Move, Position as _};

pub(crate) use forms::{Forms, each_form};
pub use plies::{ByPlies, Replies, Tracks, Visited, has_form};

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Break, Seen, to_the_end};
use tabiya_chess::{Position, Variant};

use super::{MoveFacts, Moves, PositionRecord, Visit};

/// Positions followed at one depth. This bounds memory: about 70 MB for each of two depths.
const WIDEST: usize = 1 << 19;

/// What a traversal breadth first asks of a book.
pub(crate) trait Graph {
    /// The variant from whose starting position it is followed.
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// How many numbers entries may have: each is below this.
    fn numbers(&self) -> u64;

    /// The unique number of a position's entry; `None` if the book does not have the position.
    fn entry(&self, at: &Position) -> Option<u64>;

    /// Appends the legal moves to follow from a position. Positions without an entry come only if [`Graph::beyond`] says
    /// so; `reached` entries are known so far.
    fn moves(&mut self, at: &Position, entry: Option<u64>, reached: u64, out: &mut Vec<Move>);

    /// Whether to follow positions too that the book does not have.
    fn beyond(&self) -> bool {
        false
    }

    /// Positions to follow at one depth.
    fn widest(&self) -> usize {
        WIDEST
    }
}

/// What a traversal breadth first found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traversal {
    /// Plies from the starting position to the end of the deepest line. Each position counts where it is first reached.
    pub plies: u32,
    /// Positions of the book that are reached.
    pub reached: u64,
    /// Whether some depth had too many positions to follow all of them.
    pub cut: bool,
    /// The numbers of the entries that are reached.
    pub entries: Bits,
}

/// A position to follow, and the number of its entry.
struct PendingPosition {
    position: Position,
    entry: Option<u64>,
}

/// A set of small numbers, one bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// An empty set with room for the numbers below `end`.
    pub fn new(end: u64) -> Self {
        Self(vec![0; usize::try_from(end.div_ceil(64)).unwrap_or_default()])
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|at| self.0.get(at));
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Inserts a number. Returns whether it has room and is new.
    pub fn insert(&mut self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|at| self.0.get_mut(at));
        let mask = 1 << (number % 64);
        word.is_some_and(|word| {
            let new = *word & mask == 0;
            *word |= mask;
            new
        })
    }
}

/// Follows all moves of a book, each entry once, those of fewer plies first.
///
/// The progress bar counts to `positions`.
pub(crate) fn breadth_first<G: Graph>(mut graph: G, positions: u64, progress: &Progress) -> Traversal {
    let widest = graph.widest();
    progress.things(positions, "positions");
    let mut traversal = Traversal { entries: Bits::new(graph.numbers()), ..Traversal::default() };
    let arrive =
        |graph: &G, traversal: &mut Traversal, next: &mut Vec<PendingPosition>, position: Position| {
            let entry = graph.entry(&position);
            match entry {
                Some(entry) if !traversal.entries.insert(entry) => return,
                Some(_) => {
                    traversal.reached += 1;
                    progress.pass(traversal.reached);
                }
                None if !graph.beyond() => return,
                None => {}
            }
            if next.len() < widest {
                next.push(PendingPosition { position, entry });
            } else {
                traversal.cut = true;
            }
        };
    let (mut now, mut next, mut moves) = (Vec::new(), Vec::new(), Vec::new());
    let start = Position::start_of(graph.variant());
    arrive(&graph, &mut traversal, &mut next, start);
    for plies in 1.. {
        std::mem::swap(&mut now, &mut next);
        if now.is_empty() {
            break;
        }
        if graph.beyond() {
            // Positions without an entry have no number in the set of those reached.
            now.sort_unstable_by_key(|step| step.position.key());
            now.dedup_by_key(|step| step.position.key());
        }
        for PendingPosition { position, entry } in now.drain(..) {
            moves.clear();
            graph.moves(&position, entry, traversal.reached, &mut moves);
            for &mv in &moves {
                traversal.plies = plies;
                arrive(&graph, &mut traversal, &mut next, position.after(mv));
            }
        }
    }
    traversal
}

/// Follows moves from a position, each line to its end before the next, until `visit` breaks off.
///
/// `visit` sees each position as often as it is reached, and appends the legal moves to follow, in order. It must give
/// the moves of each position only once.
pub(crate) fn depth_first(start: Position, mut visit: impl FnMut(&Position, &mut Vec<Move>) -> Seen) -> Seen {
    // The positions of the line that have moves left, each with the number of moves left before it; and those moves, the
    // next one last. A line without branches takes no room.
    let (mut line, mut left): (Vec<(Position, usize)>, Vec<Move>) = (Vec::new(), Vec::new());
    let mut moves = Vec::new();
    let mut next = Some(start);
    while let Some(position) = next {
        moves.clear();
        visit(&position, &mut moves)?;
        if !moves.is_empty() {
            line.push((position, left.len()));
            left.extend(moves.iter().rev());
        }
        next = left.pop().and_then(|mv| match line.pop_if(|(_, before)| left.len() <= *before) {
            Some((mut last, _)) => {
                last.play(mv);
                Some(last)
            }
            None => line.last().map(|(position, _)| position.after(mv)),
        });
    }
    Ok(())
}

/// Keys are random numbers already, so they are their own hashes; what follows a key is mixed into it.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A set of keys.
pub type Keys = HashSet<u64, BuildHasherDefault<KeyHasher>>;

/// Shows each position that play reaches from the starting position, once: along the book's own moves first, then along
/// replies that it does not have but that lead back into it, as in a book for one side. Returns how many of the book's `all`
/// positions are not reached.
///
/// Replies are searched only if some of all positions are missing.
///
/// # Errors
/// What fails in `visit`, and when the work is interrupted.
pub fn each_reachable<B: Moves + ?Sized>(
    book: &B,
    all: u64,
    progress: &Progress,
    visit: Visit<'_>,
) -> Result<u64> {
    let mut met = 0_u64;
    let mut meet = |at: &Position, moves: &[MoveFacts]| {
        met += 1;
        progress.pass(met);
        visit(&PositionRecord::from_moves(at, moves))?;
        if met == all { Err(Break::Enough) } else { Ok(()) }
    };
    let (own, seen) = spread(book, None, &mut meet);
    if to_the_end(seen)?.is_some() && all > 0 {
        to_the_end(spread(book, Some(&own), &mut meet).1)?;
    }
    Ok(all.saturating_sub(met))
}

/// The keys of the positions that the book's own moves reach from the starting position; `None` if there are more than
/// `most`.
pub fn own_lines<B: Moves + ?Sized>(book: &B, most: usize) -> Option<Keys> {
    let mut count = 0;
    let (keys, seen) = spread(book, None, &mut |_, _| {
        count += 1;
        if count > most { Err(Break::Enough) } else { Ok(()) }
    });
    seen.is_ok().then_some(keys)
}

/// Shows what the book's own moves reach from the starting position or, given the keys of that, what replies reach beyond
/// it. Returns the keys of all positions on the way.
fn spread<B: Moves + ?Sized>(
    book: &B,
    own: Option<&Keys>,
    meet: &mut dyn FnMut(&Position, &[MoveFacts]) -> Seen,
) -> (Keys, Seen) {
    let mut keys = Keys::default();
    let (mut moves, mut replies) = (Vec::new(), Vec::new());
    let seen = depth_first(Position::start_of(book.variant()), |at, follow| {
        if !keys.insert(at.key()) {
            return Ok(());
        }
        moves.clear();
        book.moves(at, &mut moves);
        follow.extend(moves.iter().map(|facts| facts.mv));
        if !moves.is_empty() && own.is_none_or(|own| !own.contains(&at.key())) {
            meet(at, &moves)?;
        }
        let Some(own) = own else { return Ok(()) };
        interrupt::check()?;
        for mv in at.chess().legal_moves() {
            let key = at.key_after(mv);
            if own.contains(&key) || keys.contains(&key) || book.lacks(key) {
                continue;
            }
            replies.clear();
            book.moves(&at.after(mv), &mut replies);
            if !replies.is_empty() {
                follow.push(mv);
            }
        }
        Ok(())
    });
    (keys, seen)
}
