//! Going through a book move by move from the starting position: the way that works for every format.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;

use shakmaty::Position as _;

use super::{Book, Known};
use crate::base::interrupt;
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

/// Hands over each position that play reaches from the starting position, once: along the book's own moves first, then
/// along the replies that it does not have and that lead back into it, as in a book for one side. Gives the keys of all
/// positions that were met.
///
/// `most` is how many positions the book has: replies are looked for only while some of them are missing.
pub fn tour<B: Book + ?Sized>(
    book: &B,
    most: u64,
    progress: &Progress,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> Keys {
    let mut tour = Tour { book, progress, seen: Keys::default(), met: 0, visit };
    let start = Position::start();
    if tour.spread(start.clone()).is_continue() {
        let _ = tour.replies(start, most);
    }
    tour.seen
}

/// The keys of the positions that the book's own moves reach from the starting position; `None` where there are more
/// than `most`.
pub fn own_lines<B: Book + ?Sized>(book: &B, most: usize) -> Option<Keys> {
    let mut count = 0;
    let progress = Progress::none();
    let mut tour = Tour {
        book,
        progress: &progress,
        seen: Keys::default(),
        met: 0,
        visit: &mut |_| {
            count += 1;
            if count > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    };
    tour.spread(Position::start()).is_continue().then_some(tour.seen)
}

struct Tour<'a, B: ?Sized> {
    book: &'a B,
    progress: &'a Progress,
    seen: Keys,
    met: u64,
    visit: &'a mut dyn FnMut(&Known) -> ControlFlow<()>,
}

impl<B: Book + ?Sized> Tour<'_, B> {
    /// Hands over what the book's own moves reach from a position and was not met yet.
    fn spread(&mut self, from: Position) -> ControlFlow<()> {
        if !self.seen.insert(from.key()) {
            return ControlFlow::Continue(());
        }
        let mut waiting = vec![from];
        while let Some(position) = waiting.pop() {
            let Some(known) = Known::of(self.book, &position) else { continue };
            self.met += 1;
            if self.met.is_multiple_of(STRIDE) {
                self.progress.at(self.met);
            }
            // Backwards, so that the first move's line comes first.
            for known in known.moves.iter().rev() {
                if let Some(found) = known.at(&position) {
                    let next = position.after(found.mv);
                    if self.seen.insert(next.key()) {
                        waiting.push(next);
                    }
                }
            }
            (self.visit)(&known)?;
        }
        ControlFlow::Continue(())
    }

    /// Goes all ways again, and from each position also along the replies to positions of the book that were not met.
    fn replies(&mut self, start: Position, most: u64) -> ControlFlow<()> {
        let mut walked = Keys::default();
        let (mut waiting, mut moves) = (vec![start], Vec::new());
        while self.met < most
            && let Some(position) = waiting.pop()
        {
            if !walked.insert(position.key()) {
                continue;
            }
            if (walked.len() as u64).is_multiple_of(STRIDE) && interrupt::check().is_err() {
                break;
            }
            moves.clear();
            self.book.moves(&position, &mut moves);
            for mv in position.chess().legal_moves() {
                let next = position.after(mv);
                if !self.seen.contains(&next.key()) && Known::of(self.book, &next).is_some() {
                    self.spread(next.clone())?;
                    waiting.push(next);
                }
            }
            waiting.extend(moves.iter().map(|found| position.after(found.mv)));
        }
        ControlFlow::Continue(())
    }
}
