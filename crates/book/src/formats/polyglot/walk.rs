//! The positions that play reaches from the starting position, and how deep the book goes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use shakmaty::{Move, Position as _};

use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Position, Variant, variant_facts};

use super::entry::PolyglotEntry;
use super::read::PolyglotEntries;
use crate::sorted::SortedTable;
use crate::traverse::{Bits, Graph, KeyFilter, Traversal, with_replies};

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

/// The castlings among the entries of a book, as far as play reaches their positions: what looks like one may be another piece that
/// moves between these squares.
#[derive(Debug, Default)]
pub struct Castlings {
    /// By the numbers of the entries.
    entries: Bits,
    /// How those in the old form are written otherwise.
    old: HashMap<usize, MoveCode>,
}

impl Castlings {
    /// Notes the legal move of an entry.
    fn note(&mut self, index: usize, code: MoveCode, mv: Move) {
        if mv.is_castle() && self.entries.insert(index as u64) && code.is_old_castling(mv) {
            self.old.insert(index, MoveCode::from_move(mv));
        }
    }

    /// The move of an entry with castling as the king taking its rook.
    pub fn code(&self, index: usize, entry: &PolyglotEntry) -> MoveCode {
        self.old.get(&index).copied().unwrap_or(entry.mv)
    }

    /// The castlings among these entries, as [`Castlings::code`], each with its key.
    pub fn iter(&self, entries: PolyglotEntries<'_>) -> impl Iterator<Item = (u64, MoveCode)> {
        let castles = |(index, _): &(usize, PolyglotEntry)| self.entries.contains(*index as u64);
        let castlings = entries.iter().enumerate().filter(castles);
        castlings.map(|(index, entry)| (entry.key, self.code(index, &entry)))
    }
}

/// What a walk of the whole book found.
#[derive(Debug)]
pub struct Walked {
    pub traversal: Traversal,
    pub castlings: Castlings,
}

/// Entries at most that wait for a position in which their moves are legal; more are reported at once.
const MAX_OPEN: usize = 1 << 20;

/// Walks from the starting position along all legal moves of the book, each position once, and along replies that it does not
/// have, as [`crate::traverse::each_reachable`] does.
///
/// Where keys do not tell positions apart, a move is legal if it is in any position that the walk reaches; what is not legal is then
/// reported last, in the order of the file.
pub fn walk(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    positions: u64,
    progress: &Progress,
    found: &mut dyn FnMut(EntryFinding<'_>),
) -> Walked {
    let castlings = Castlings { entries: Bits::new(entries.len() as u64), old: HashMap::new() };
    let mut walk = Walk { castlings, ..Walk::new(entries, variant, found) };
    let traversal = with_replies(&mut walk, positions, progress);
    let Walk { open, found, castlings, .. } = walk;
    for (index, position) in open {
        if let Some(entry) = entries.get(index) {
            found(EntryFinding { index, entry, position: &position, old_castling: None });
        }
    }
    Walked { traversal, castlings }
}

/// Shows what the position alone shows of its entries, where keys tell positions apart.
pub fn of_position(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    at: &Position,
    found: &mut dyn FnMut(EntryFinding<'_>),
) {
    if let Some((first, _)) = entries.first_of(at).filter(|_| at.is_known_by_key()) {
        Walk::new(entries, variant, found).moves(at, first as u64, true, &mut Vec::new());
    }
}

struct Walk<'a> {
    entries: PolyglotEntries<'a>,
    variant: Variant,
    /// The entries, by their numbers, that are legal in no position of their key so far, and the first of these.
    open: BTreeMap<usize, Arc<Position>>,
    found: &'a mut dyn FnMut(EntryFinding<'_>),
    /// The keys that the book's own moves do not reach, once replies to them are looked for.
    missing: Option<KeyFilter>,
    castlings: Castlings,
}

impl<'a> Walk<'a> {
    fn new(
        entries: PolyglotEntries<'a>,
        variant: Variant,
        found: &'a mut dyn FnMut(EntryFinding<'_>),
    ) -> Self {
        let castlings = Castlings::default();
        Self { entries, variant, open: BTreeMap::new(), found, missing: None, castlings }
    }

    /// Takes in what the first position of an entry, or another one, says of its move; returns whether that has to wait for
    /// others, because it is not legal.
    fn judge(
        &mut self,
        index: usize,
        entry: PolyglotEntry,
        at: &Position,
        mv: Option<Move>,
        first: bool,
    ) -> bool {
        let is_news = first || mv.is_some() && self.open.remove(&index).is_some();
        let old_castling = mv.filter(|mv| entry.mv.is_old_castling(*mv));
        let illegal = mv.is_none() && entry.mv.error(self.variant).is_none();
        if is_news && illegal && !at.is_known_by_key() && self.open.len() < MAX_OPEN {
            return true;
        }
        if is_news && (illegal || old_castling.is_some()) {
            (self.found)(EntryFinding { index, entry, position: at, old_castling });
        }
        false
    }
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
        self.entries.first_of(at).map(|(first, _)| first as u64)
    }

    fn entries_after(&self, at: &Position, moves: &[Move], out: &mut Vec<Option<u64>>) {
        let of_key = |mv: &Move| self.entries.first_of_key(at.key_after(*mv)).map(|first| first as u64);
        if variant_facts(self.variant).has_common_kings {
            out.extend(moves.iter().map(|mv| self.entry(&at.after(*mv))));
        } else {
            out.extend(moves.iter().map(of_key));
        }
    }

    fn entries_after_each<'a>(
        &self,
        all: impl Iterator<Item = (&'a Position, &'a [Move])>,
        out: &mut Vec<Option<u64>>,
    ) {
        if variant_facts(self.variant).has_common_kings {
            all.for_each(|(at, moves)| self.entries_after(at, moves, out));
            return;
        }
        let keys: Vec<_> = all.flat_map(|(at, moves)| moves.iter().map(|mv| at.key_after(*mv))).collect();
        let mut found = Vec::with_capacity(keys.len());
        self.entries.first_of_keys(&keys, &mut found);
        out.extend(found.into_iter().map(|first| first.map(|first| first as u64)));
    }

    fn leave_out(&mut self, own: &Bits) {
        // Antichess has several keys of one position.
        let is_one = !variant_facts(self.variant).has_common_kings;
        self.missing = is_one.then(|| KeyFilter::of_others(self.entries.keys(), own));
    }

    fn drop_replies(&self, at: &Position, replies: &mut Vec<Move>) {
        if let Some(missing) = &self.missing {
            missing.retain(replies, |mv| at.key_after(*mv));
        }
    }

    fn moves(&mut self, at: &Position, entry: u64, first: bool, out: &mut Vec<Move>) {
        let from = usize::try_from(entry).unwrap_or(self.entries.len());
        let mut held = None;
        for (index, entry) in (from..).zip(self.entries.run_from(from)) {
            let mv = entry.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv));
            if self.judge(index, entry, at, mv, first) {
                let held = held.get_or_insert_with(|| Arc::new(at.clone()));
                self.open.insert(index, Arc::clone(held));
            }
            if let Some(mv) = mv {
                self.castlings.note(index, entry.mv, mv);
                out.push(mv);
            }
        }
    }

    fn is_open(&self, entry: u64) -> bool {
        let key = |index: usize| self.entries.get(index).map(|entry| entry.key);
        let first = usize::try_from(entry).unwrap_or(self.entries.len());
        self.open.range(first..).next().is_some_and(|(index, _)| key(*index) == key(first))
    }

    fn has_open(&self) -> bool {
        !self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use tabiya_chess::MoveCode;

    use super::super::tests::{bytes, entry, of_lines, raw};
    use super::*;
    use crate::tests::after;

    /// A book of lines: each move of each line, from the start, where `keep` says so by its ply.
    fn book(lines: &[&str], keep: impl Fn(usize) -> bool) -> Vec<u8> {
        bytes(&of_lines(Variant::Chess, lines, keep))
    }

    /// Plies and positions, and the findings.
    fn walked(book: &[u8]) -> ((u32, u64), Vec<(usize, bool)>) {
        let mut reported = Vec::new();
        let entries = PolyglotEntries::new(book);
        let Walked { traversal, .. } =
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
