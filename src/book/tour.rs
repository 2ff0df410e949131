//! Going through a book move by move from the starting position: the way that works for every format.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;

use shakmaty::Position as _;

use super::{Book, Known};
use crate::base::progress::Progress;
use crate::chess::Position;

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// Keys are random numbers already: they are their own hashes.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A set of keys.
pub type Keys = HashSet<u64, BuildHasherDefault<KeyHasher>>;

/// Hands over each position that the book's moves reach from the starting position, once.
///
/// A book for one side has nothing where the other moves: where `replies` is set, every legal reply is tried in a
/// position that the book does not have, if the position before it was the book's.
pub fn tour<B: Book + ?Sized>(
    book: &B,
    replies: bool,
    progress: &Progress,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut seen = Keys::default();
    let start = Position::start();
    seen.insert(start.key());
    // The flag: whether the position before was the book's.
    let mut waiting = vec![(start, true)];
    let mut met = 0_u64;
    while let Some((position, from_book)) = waiting.pop() {
        let Some(known) = Known::of(book, &position) else {
            if replies && from_book {
                for mv in position.chess().legal_moves() {
                    let next = position.after(mv);
                    if seen.insert(next.key()) {
                        waiting.push((next, false));
                    }
                }
            }
            continue;
        };
        met += 1;
        if met.is_multiple_of(STRIDE) {
            progress.at(met);
        }
        // Backwards, so that the first move's line comes first.
        for known in known.moves.iter().rev() {
            if let Some(found) = known.at(&position) {
                let next = position.after(found.mv);
                if seen.insert(next.key()) {
                    waiting.push((next, true));
                }
            }
        }
        visit(&known)?;
    }
    ControlFlow::Continue(())
}
