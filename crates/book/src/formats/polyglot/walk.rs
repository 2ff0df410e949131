//! The positions that play reaches from the starting position, and how deep the book goes.

use shakmaty::{Move, Position as _};

use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::entry::PolyglotEntry;
use super::read::PolyglotEntries;
use crate::traverse::{Bits, Graph, Traversal, breadth_first};

/// Something wrong with an entry that only its position shows.
#[derive(Clone, Copy, Debug)]
pub struct EntryFinding<'a> {
    /// The number of the entry.
    pub index: usize,
    pub entry: PolyglotEntry,
    pub position: &'a Position,
    /// The castling, if it is legal and written in the old form; otherwise the entry's move is not legal.
    pub old_castling: Option<Move>,
}

/// Walks from the starting position along all legal moves of the book, each position once.
///
/// If the book's own moves do not reach all of its `positions`, as in a book for one side, the walk also follows replies
/// that the book does not have, as [`crate::traverse::each_reachable`] does.
pub fn walk(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    positions: u64,
    progress: &Progress,
    found: &mut dyn FnMut(EntryFinding<'_>),
) -> Traversal {
    let own = breadth_first(Walk { entries, variant, positions, own: None, found }, positions, progress);
    if own.reached >= positions {
        return own;
    }
    breadth_first(Walk { entries, variant, positions, own: Some(own.entries), found }, positions, progress)
}

struct Walk<'a> {
    entries: PolyglotEntries<'a>,
    variant: Variant,
    positions: u64,
    /// What the book's own moves reach, once that is known: from then on replies are followed too.
    own: Option<Bits>,
    found: &'a mut dyn FnMut(EntryFinding<'_>),
}

impl Graph for Walk<'_> {
    fn variant(&self) -> Variant {
        self.variant
    }

    fn numbers(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The number of the first entry of the position.
    fn entry(&self, at: &Position) -> Option<u64> {
        let first = self.entries.lower_bound(at.key());
        self.entries.get(first).filter(|entry| entry.key == at.key()).map(|_| first as u64)
    }

    fn moves(&mut self, at: &Position, entry: Option<u64>, reached: u64, out: &mut Vec<Move>) {
        let first = entry.and_then(|first| usize::try_from(first).ok()).unwrap_or(self.entries.len());
        // The first walk has reported what the book's own moves reach.
        let is_new = !entry.is_some_and(|first| self.own.as_ref().is_some_and(|own| own.contains(first)));
        for (index, entry) in (first..).zip(self.entries.find_from(first, at.key())) {
            let mv = entry.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv));
            let old_castling = mv.filter(|mv| entry.mv.is_old_castling(*mv));
            let illegal = mv.is_none() && entry.mv.error(self.variant).is_none();
            if is_new && (illegal || old_castling.is_some()) {
                (self.found)(EntryFinding { index, entry, position: at, old_castling });
            }
            out.extend(mv);
        }
        let Some(own) = self.own.as_ref().filter(|_| reached < self.positions) else { return };
        let leads_on = |mv: &Move| self.entry(&at.after(*mv)).is_some_and(|first| !own.contains(first));
        out.extend(at.chess().legal_moves().into_iter().filter(leads_on));
    }

    fn beyond(&self) -> bool {
        self.own.is_some()
    }
}

#[cfg(test)]
mod tests {
    use tabiya_chess::MoveCode;

    use super::super::tests::{bytes, entry, raw};
    use super::*;
    use crate::tests::after;

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

    /// Plies and positions, and the findings.
    fn walked(book: &[u8]) -> ((u32, u64), Vec<(usize, bool)>) {
        let mut reported = Vec::new();
        let entries = PolyglotEntries::new(book);
        let traversal =
            walk(entries, Variant::Chess, entries.positions(), &Progress::none(), &mut |finding| {
                assert_eq!(finding.entry.key, finding.position.key());
                reported.push((finding.index, finding.old_castling.is_some()));
            });
        assert!(!traversal.cut);
        ((traversal.plies, traversal.reached), reported)
    }

    const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

    #[test]
    fn the_deepest_line_is_counted_in_plies() {
        let (counted, reported) = walked(&book(&LINES, |_| true));
        assert_eq!(counted, (4, 6));
        assert_eq!(reported, []);
    }

    #[test]
    fn a_transposition_counts_where_it_is_first_reached() {
        let (counted, _) = walked(&book(&["g1f3 g8f6 f3g1 f6g8 e2e4", "g1f3 g8f6"], |_| true));
        // f6g8 leads back to the start: the cycle is walked once.
        assert_eq!(counted, (4, 4));
    }

    #[test]
    fn a_book_for_one_side_is_walked_through_the_other_sides_replies() {
        let (white, _) = walked(&book(&LINES, |ply| ply % 2 == 0));
        assert_eq!(white, (3, 3));
        let (black, _) = walked(&book(&LINES, |ply| ply % 2 == 1));
        assert_eq!(black, (4, 3));
    }

    #[test]
    fn a_reply_beside_moves_of_the_book_is_followed() {
        // White's moves, and Black's against one of them only.
        let white = book(&["e2e4 e7e5 g1f3", "e2e4 c7c5 b1c3 b8c6"], |ply| ply != 1);
        let black = bytes(&[entry(&after("e2e4"), "e7e5", 1)]);
        let mut data = [white, black].concat();
        let (entries, _) = data.as_chunks_mut::<16>();
        entries.sort();
        assert_eq!(walked(&data).0, (4, 5));
    }

    #[test]
    fn a_book_that_nothing_reaches_has_no_depth() {
        let at = after("e2e4 e7e5 e1e2 e8e7");
        let (counted, reported) = walked(&bytes(&[entry(&at, "e2e1", 1)]));
        assert_eq!((counted, reported), ((0, 0), vec![]));
        assert_eq!(walked(&[]).0, (0, 0));
    }

    #[test]
    fn moves_that_only_the_position_shows_to_be_wrong_are_reported_once() {
        let castled = after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5");
        let mut data = book(&["e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"], |_| true);
        for mv in ["e1g1", "e2e4", "a1a1"] {
            data.extend(bytes(&[entry(&castled, mv, 1)]));
        }
        // As many positions again that nothing reaches: the walk for one side must not report anything twice.
        for key in 0..20 {
            data.extend(bytes(&[super::PolyglotEntry { key, ..entry(&castled, "a2a3", 1) }]));
        }
        let (entries, _) = data.as_chunks_mut::<16>();
        entries.sort();
        let ((_, reached), reported) = walked(&data);
        assert_eq!(reached, 7);
        let at = |mv: MoveCode| {
            PolyglotEntries::new(&data)
                .iter()
                .position(|entry| entry.key == castled.key() && entry.mv == mv)
                .unwrap()
        };
        let mut expected = [(at(raw("e1g1")), true), (at(raw("e2e4")), false)];
        expected.sort_unstable();
        assert_eq!(reported, expected);
    }
}
