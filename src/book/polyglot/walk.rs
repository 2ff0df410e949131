//! The positions that play reaches from the starting position, and how deep the book goes.

use shakmaty::Position as _;

use super::decode::{is_old_castling, meant};
use super::layout::Entry;
use super::read::Entries;
use crate::base::progress::Progress;
use crate::chess::Position;

/// Positions at one depth that are followed, so that memory is bounded: about 70 MB for each of two depths.
const WIDEST: usize = 1 << 19;

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// How far play gets in a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Plies from the starting position to the end of the deepest line: to the deepest position that has moves, each
    /// position counted where it is first reached, and one move more. 0 where nothing is reached.
    pub plies: u32,
    /// Positions of the book that are reached.
    pub reached: u64,
    /// Whether some depth had too many positions to follow them all.
    pub cut: bool,
}

/// Something wrong with an entry that only its position shows.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// The number of the entry.
    pub index: usize,
    /// The entry.
    pub entry: Entry,
    /// Its position.
    pub position: &'a Position,
    /// A legal castling written in the old form; else the move is not legal.
    pub old_castling: bool,
}

/// Walks from the starting position along all legal moves of the book, each position once.
///
/// Where the book's own moves do not reach all of its `positions`, as in a book for one side, replies that it does not
/// have are followed to positions that are not reached otherwise, as [`crate::book::tour`] does.
pub fn walk(
    entries: Entries<'_>,
    positions: u64,
    progress: &Progress,
    found: &mut dyn FnMut(Finding<'_>),
) -> Walk {
    let mut own = Walker::new(entries, positions, progress);
    own.run(None, found);
    if own.walk.reached >= positions {
        return own.walk;
    }
    let mut all = Walker::new(entries, positions, progress);
    all.run(Some(&own.seen), found);
    all.walk
}

/// One bit an entry: whether the position that begins there was reached.
#[derive(Default)]
struct Seen(Vec<u64>);

impl Seen {
    fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 != 0)
    }

    /// Whether it was not contained yet.
    fn insert(&mut self, index: usize) -> bool {
        let new = !self.contains(index);
        if let Some(word) = self.0.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
        new
    }
}

/// A position to go on from, and its first entry where the book has it.
struct Step {
    position: Position,
    first: Option<usize>,
}

struct Walker<'a> {
    entries: Entries<'a>,
    positions: u64,
    progress: &'a Progress,
    seen: Seen,
    next: Vec<Step>,
    widest: usize,
    walk: Walk,
}

impl<'a> Walker<'a> {
    fn new(entries: Entries<'a>, positions: u64, progress: &'a Progress) -> Self {
        progress.things(positions, "positions");
        let seen = Seen(vec![0; entries.len().div_ceil(64)]);
        Self { entries, positions, progress, seen, next: Vec::new(), widest: WIDEST, walk: Walk::default() }
    }

    /// Walks along the book's moves; where it is known what they reach, which was told then, also along replies that lead
    /// elsewhere.
    fn run(&mut self, own: Option<&Seen>, found: &mut dyn FnMut(Finding<'_>)) {
        let told = |first| own.is_some_and(|own| own.contains(first));
        self.arrive(Position::start(), 0, own.is_some());
        for plies in 1.. {
            let mut now = std::mem::take(&mut self.next);
            if now.is_empty() {
                break;
            }
            if own.is_some() {
                now.sort_unstable_by_key(|step| step.position.key());
                now.dedup_by_key(|step| step.position.key());
            }
            for Step { position, first } in now {
                if let Some(first) = first {
                    for (index, entry) in (first..).zip(self.entries.from(first, position.key())) {
                        let mv =
                            meant(entry.mv, position.chess()).filter(|&mv| position.chess().is_legal(mv));
                        let old_castling = mv.is_some_and(|mv| is_old_castling(entry.mv, mv));
                        let illegal = mv.is_none() && entry.mv.fault().is_none();
                        if (illegal || old_castling) && !told(first) {
                            found(Finding { index, entry, position: &position, old_castling });
                        }
                        if let Some(mv) = mv {
                            self.arrive(position.after(mv), plies, own.is_some());
                        }
                    }
                }
                if let Some(own) = own.filter(|_| self.walk.reached < self.positions) {
                    for mv in position.chess().legal_moves() {
                        let next = position.after(mv);
                        if self.find(&next).is_some_and(|first| !own.contains(first)) {
                            self.arrive(next, plies, false);
                        }
                    }
                }
            }
        }
    }

    /// The first entry of a position.
    fn find(&self, position: &Position) -> Option<usize> {
        let first = self.entries.lower_bound(position.key());
        self.entries.get(first).filter(|entry| entry.key == position.key()).map(|_| first)
    }

    /// Remembers a position for the next ply: one of the book on its first visit, and others where replies are tried.
    fn arrive(&mut self, position: Position, plies: u32, replies: bool) {
        let first = self.find(&position);
        match first {
            Some(first) if !self.seen.insert(first) => return,
            Some(_) => {
                self.walk.reached += 1;
                self.walk.plies = self.walk.plies.max(plies + 1);
                if self.walk.reached.is_multiple_of(STRIDE) {
                    self.progress.at(self.walk.reached);
                }
            }
            None if !replies => return,
            None => {}
        }
        if self.next.len() < self.widest {
            self.next.push(Step { position, first });
        } else {
            self.walk.cut = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::RawMove;
    use super::super::tests::{after, bytes, entry, raw};
    use super::*;

    /// A book of lines: each move of each line, from the start, where `keep` says so by its ply.
    fn book(lines: &[&str], keep: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut entries = Vec::new();
        for line in lines {
            let moves: Vec<_> = line.split_whitespace().collect();
            for (ply, mv) in moves.iter().enumerate().filter(|(ply, _)| keep(*ply)) {
                entries.push(entry(&after(&moves[..ply].join(" ")), mv, 1));
            }
        }
        entries.sort_by_key(|entry| (entry.key, entry.mv.0));
        entries.dedup();
        bytes(&entries)
    }

    fn walked(book: &[u8]) -> (Walk, Vec<(usize, bool)>) {
        let mut told = Vec::new();
        let entries = Entries::new(book);
        let mut keys: Vec<_> = entries.iter().map(|entry| entry.key).collect();
        keys.dedup();
        let walk = walk(entries, keys.len() as u64, &Progress::none(), &mut |finding| {
            assert_eq!(finding.entry.key, finding.position.key());
            told.push((finding.index, finding.old_castling));
        });
        (walk, told)
    }

    #[test]
    fn the_widest_depth_has_its_bound_in_memory() {
        assert!(WIDEST * size_of::<Step>() <= 80 << 20, "{}", size_of::<Step>());
        let (data, progress) = (book(&LINES, |_| true), Progress::none());
        let mut walker = Walker::new(Entries::new(&data), 6, &progress);
        walker.widest = 1;
        walker.run(None, &mut |_| ());
        // Of e2e4 and d2d4 only the first is followed, but both are reached.
        assert_eq!((walker.walk.cut, walker.next.len()), (true, 0));
        assert!((4..6).contains(&walker.walk.reached), "{:?}", walker.walk);
    }

    const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

    #[test]
    fn the_deepest_line_is_counted_in_plies() {
        let (walk, told) = walked(&book(&LINES, |_| true));
        assert_eq!(walk, Walk { plies: 4, reached: 6, cut: false });
        assert_eq!(told, []);
    }

    #[test]
    fn a_transposition_counts_where_it_is_first_reached() {
        let (walk, _) = walked(&book(&["g1f3 g8f6 f3g1 f6g8 e2e4", "g1f3 g8f6"], |_| true));
        // f6g8 leads back to the start: the circle is walked once.
        assert_eq!(walk, Walk { plies: 4, reached: 4, cut: false });
    }

    #[test]
    fn a_book_for_one_side_is_walked_through_the_other_sides_replies() {
        let (white, _) = walked(&book(&LINES, |ply| ply % 2 == 0));
        assert_eq!(white, Walk { plies: 3, reached: 3, cut: false });
        let (black, _) = walked(&book(&LINES, |ply| ply % 2 == 1));
        assert_eq!(black, Walk { plies: 4, reached: 3, cut: false });
    }

    #[test]
    fn a_reply_beside_moves_of_the_book_is_followed() {
        // White's moves, and Black's against one of them only.
        let white = book(&["e2e4 e7e5 g1f3", "e2e4 c7c5 b1c3 b8c6"], |ply| ply != 1);
        let black = bytes(&[entry(&after("e2e4"), "e7e5", 1)]);
        let mut data = [white, black].concat();
        let (entries, _) = data.as_chunks_mut::<16>();
        entries.sort();
        assert_eq!(walked(&data).0, Walk { plies: 4, reached: 5, cut: false });
    }

    #[test]
    fn a_book_that_nothing_reaches_has_no_depth() {
        let at = after("e2e4 e7e5 e1e2 e8e7");
        let (walk, told) = walked(&bytes(&[entry(&at, "e2e1", 1)]));
        assert_eq!((walk, told), (Walk::default(), vec![]));
        assert_eq!(walked(&[]).0, Walk::default());
    }

    #[test]
    fn moves_that_only_the_position_shows_to_be_wrong_are_told_once() {
        let castled = after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5");
        let mut data = book(&["e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"], |_| true);
        for mv in ["e1g1", "e2e4", "a1a1"] {
            data.extend(bytes(&[entry(&castled, mv, 1)]));
        }
        // As many positions again that nothing reaches: the walk for one side must not tell anything twice.
        for key in 0..20 {
            data.extend(bytes(&[super::Entry { key, ..entry(&castled, "a2a3", 1) }]));
        }
        let (entries, _) = data.as_chunks_mut::<16>();
        entries.sort();
        let (walk, told) = walked(&data);
        assert_eq!(walk.reached, 7);
        let at = |mv: RawMove| {
            Entries::new(&data).iter().position(|entry| entry.key == castled.key() && entry.mv == mv).unwrap()
        };
        let mut expected = [(at(raw("e1g1")), true), (at(raw("e2e4")), false)];
        expected.sort_unstable();
        assert_eq!(told, expected);
    }
}
