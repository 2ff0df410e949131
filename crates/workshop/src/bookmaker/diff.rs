//! What differs between two books, of any formats.
//!
//! Positions that moves of either book reach from the starting position are compared by looking them up in both, those of
//! fewer plies first. What is left of both books after that is sorted by its keys, in bounded memory. Where much is left, as of
//! books for one side, or only keys are known, that is followed along replies first, so that it has lines.
//!
//! Two Polyglot books are compared byte by byte before all that: no position is looked up of which they have the same entries, and
//! nothing is followed beyond the last that they have not. Of books whose files have the same bytes nothing is looked up at all.

use std::cmp::{Ordering, Reverse};

use bytemuck::{Pod, Zeroable};
use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Break, Seen, to_the_end};
use tabiya_book::traits::Book;
use tabiya_book::traverse::{ByPlies, Keys, Met, each_reachable};
use tabiya_book::{Field, MoveFacts, Moves, PositionRecord, Scope, Variant, Visit};
use tabiya_chess::{MoveCode, Position};

use super::Resources;
use super::chances::{differ, shares};
use super::facts_row::FactsRow;
use super::merging::Merging;
use super::sort::{RadixSorter, Sortable, Sorted};
use super::unlike::unlike;

/// Positions that are followed from the starting position; the rest is compared by keys. It bounds memory to about 200 MB.
const MAX: usize = 1 << 22;

/// Bytes for each position that is followed, whose key is noted twice.
const FOLLOWED_LEN: usize = 64;

/// The facts of a move, by the code of the move.
pub type Facts = MoveFacts<MoveCode>;

/// One of the two books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// The first.
    A,
    /// The second.
    B,
}

/// What is different.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Only one book has moves in the position.
    Position(Which, Vec<Facts>),
    /// Only one book has this move in a position that both have.
    Move(Which, Facts),
    /// Both have the move, and say different things of it.
    Changed(Changed),
    /// Both are books of a format that says of the position itself what others do not, and say different things.
    Fields([Vec<Field>; 2]),
}

impl What {
    /// Whether it is a difference of some of these moves; those of a whole position are reduced to them.
    fn is_of(&mut self, moves: &[MoveFacts]) -> bool {
        let has = |facts: &Facts| moves.iter().any(|known| MoveCode::from_move(known.mv) == facts.mv);
        match self {
            Self::Position(_, of_position) => {
                of_position.retain(has);
                !of_position.is_empty()
            }
            Self::Move(_, facts) => has(facts),
            Self::Changed(changed) => has(&changed.a),
            Self::Fields(_) => true,
        }
    }
}

/// What two books say of one move.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// What the first says.
    pub a: Facts,
    /// What the second says.
    pub b: Facts,
    /// Between books of different formats: the shares that the move has of the weight of all moves that both books have in
    /// the position.
    pub shares: Option<[f64; 2]>,
}

/// A difference and where it is.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The key of the position.
    pub key: u64,
    /// The position, if it is known. Its counters of moves are not those of a game.
    pub position: Option<&'a Position>,
    /// The moves that lead to it from the starting position, if they are known.
    pub line: Option<&'a [MoveCode]>,
    /// What is different.
    pub what: What,
}

/// Compares two books, and shows what differs until `see` breaks off.
///
/// Weights and all facts are compared between books of one format. Between formats, shares of the weight are compared, and
/// counts where both books have them.
///
/// # Errors
/// What fails in `see`, when a temporary file fails, or the work is interrupted.
pub fn diff(
    books: [&dyn Book; 2],
    resources: &Resources,
    progress: &Progress,
    see: &mut dyn FnMut(&Difference<'_>) -> Seen,
) -> Result<()> {
    let most = MAX.min(resources.memory / FOLLOWED_LEN);
    let unlike = unlike(books, most, progress)?;
    if unlike.as_ref().is_some_and(Keys::is_empty) {
        return Ok(());
    }
    let [a, b] = books;
    let mut following = Following {
        books,
        most,
        left_unlike: unlike.as_ref().map(Keys::len),
        unlike,
        compared: Met::default(),
        is_whole: true,
        see,
    };
    progress.things(0, "positions");
    let mut reached = following.follow(&Keys::default(), &Keys::default(), progress)?;
    if following.is_done() {
        return Ok(());
    }
    let mut sorter = RadixSorter::new(resources.memory, &resources.temp);
    let mut left =
        Left { compared: &reached, unlike: following.unlike.as_ref(), most, keys: Keys::default() };
    for (number, book) in (0..).zip(books) {
        left.push(book, number, &mut sorter, progress)?;
    }
    let left = left.keys;
    let holds_positions = a.holds_positions() && b.holds_positions();
    if reached.len() < most && (left.len() > reached.len() || !holds_positions && !left.is_empty()) {
        reached = following.follow(&left, &reached, progress)?;
    } else {
        reached.clear();
    }
    drop(left);
    if following.is_done() {
        return Ok(());
    }
    let mut sorted = Sorted::new(vec![sorter.finish()?]);
    progress.things(sorted.total(), "moves");
    sorted.each(resources, progress, pairs, |found| {
        for pair in found {
            if !following.is_whole {
                break;
            }
            if pair.iter().flatten().any(|record| reached.contains(&record.key)) {
                continue;
            }
            following.is_whole = to_the_end(show_pair(books, pair, following.see))?.is_some();
        }
        Ok(())
    })
}

/// Compares what moves of two books reach.
struct Following<'a> {
    books: [&'a dyn Book; 2],
    /// Positions that are followed at most.
    most: usize,
    /// The keys of the positions that may be different; `None`: any may.
    unlike: Option<Keys>,
    /// How many of them were not reached.
    left_unlike: Option<usize>,
    /// The positions that were compared, where keys do not tell positions apart.
    compared: Met,
    /// Whether nobody has broken off.
    is_whole: bool,
    see: &'a mut dyn FnMut(&Difference<'_>) -> Seen,
}

impl Following<'_> {
    /// Follows the moves of both books, and replies to positions of `left`; compares what was not reached `before`, until all that
    /// may be different has been reached. Returns what was reached.
    fn follow(&mut self, left: &Keys, before: &Keys, progress: &Progress) -> Result<Keys> {
        let books = self.books;
        let union = Union(books);
        let from = ByPlies { most: self.most, ..ByPlies::of_variant(union.variant()) };
        from.each(progress, |visited, follow| {
            let at = visited.at;
            let mut moves = union.moves_in(at);
            follow.extend(moves.iter().map(|facts| facts.mv));
            if !left.is_empty() {
                let mut replies = at.chess().legal_moves();
                replies.retain(|mv| !follow.contains(mv) && left.contains(&at.key_after(*mv)));
                follow.extend(replies);
            }
            if before.contains(&at.key()) || !self.may_differ(at) {
                return Ok(());
            }
            let mut found = compare_at(books, at);
            if !at.is_known_by_key() {
                // Another position may have shown some of the moves.
                self.compared.show(at, &mut moves);
                found.retain_mut(|what| what.is_of(&moves));
            }
            found.extend(compare_fields(books, at));
            let seen = if found.is_empty() {
                Ok(())
            } else {
                let line = visited.tracks.line(visited.number);
                show(at.key(), Some(at), Some(&line), found, self.see)
            };
            self.is_whole &= seen.is_ok();
            seen?;
            if self.is_done() { Err(Break::Enough) } else { Ok(()) }
        })
    }

    /// Whether books may say different things of a position that is reached for the first time.
    fn may_differ(&mut self, at: &Position) -> bool {
        let is_unlike = self.unlike.as_ref().is_none_or(|unlike| unlike.contains(&at.key()));
        if is_unlike && let Some(left) = &mut self.left_unlike {
            *left = left.saturating_sub(1);
        }
        is_unlike
    }

    /// Whether nothing is left to be shown.
    fn is_done(&self) -> bool {
        !self.is_whole || self.left_unlike == Some(0)
    }
}

/// What two books say differently of the moves in a position.
fn compare_at(books: [&dyn Book; 2], at: &Position) -> Vec<What> {
    let [of_a, of_b] = books.map(|book| facts(book, at));
    compare(&of_a, &of_b, are_alike(books))
}

/// Whether two books have one format.
fn are_alike([a, b]: [&dyn Book; 2]) -> bool {
    a.format() == b.format()
}

/// A book's moves in a position.
fn facts(book: &dyn Book, at: &Position) -> Vec<Facts> {
    book.moves_in(at).into_iter().map(Facts::from).collect()
}

fn show(
    key: u64,
    position: Option<&Position>,
    line: Option<&[MoveCode]>,
    found: Vec<What>,
    see: &mut dyn FnMut(&Difference<'_>) -> Seen,
) -> Seen {
    found.into_iter().try_for_each(|what| see(&Difference { key, position, line, what }))
}

/// What books have besides the positions that were compared.
struct Left<'a> {
    compared: &'a Keys,
    /// The keys of the positions that may be different; `None`: any may.
    unlike: Option<&'a Keys>,
    /// Keys that are noted at most.
    most: usize,
    keys: Keys,
}

impl Left<'_> {
    /// Notes the keys of that, and sorts what may be different.
    fn push(
        &mut self,
        book: &dyn Book,
        number: u32,
        sorter: &mut RadixSorter<DiffRow>,
        progress: &Progress,
    ) -> Result<()> {
        let mut rows = Vec::new();
        book.each(Scope::All, progress, &mut |record| {
            interrupt::check()?;
            if record.moves.is_empty() || self.compared.contains(&record.key) {
                return Ok(());
            }
            if self.keys.len() < self.most {
                self.keys.insert(record.key);
            }
            if self.unlike.is_none_or(|unlike| unlike.contains(&record.key)) {
                rows.clear();
                FactsRow::append(&PositionRecord { total: None, ..record.clone() }, number, 0, &mut rows);
                rows.iter().try_for_each(|row| sorter.push(DiffRow(*row)))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// A row of one of the books; those of different books are not added up.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct DiffRow(FactsRow);

impl Sortable for DiffRow {
    const PRESORTED: bool = FactsRow::PRESORTED;

    fn key(&self) -> u64 {
        self.0.key()
    }

    fn order(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }

    fn absorb(&mut self, other: &Self) -> bool {
        self.0.book() == other.0.book() && self.0.absorb(&other.0)
    }
}

/// What each book has of one position.
type Pair = [Option<PositionRecord>; 2];

/// The positions of sorted rows.
fn pairs(rows: &[DiffRow]) -> Vec<Pair> {
    let pair = |rows: &[DiffRow]| {
        [0, 1].map(|number| {
            let of_book: Vec<_> = rows.iter().map(|row| row.0).filter(|row| row.book() == number).collect();
            FactsRow::positions(&of_book).pop()
        })
    };
    rows.chunk_by(|a, b| a.key() == b.key()).map(pair).collect()
}

fn show_pair(books: [&dyn Book; 2], pair: Pair, see: &mut dyn FnMut(&Difference<'_>) -> Seen) -> Seen {
    let known = pair.iter().flatten().find_map(|record| record.position.clone());
    let Some(key) = pair.iter().flatten().map(|record| record.key).next() else { return Ok(()) };
    // Formats that do not distinguish some positions do not show all of them, but look-ups find them.
    let of = |record: Option<PositionRecord>, book: &dyn Book| match (record, &known) {
        (Some(record), _) => record.moves,
        (None, Some(at)) => facts(book, at),
        (None, None) => Vec::new(),
    };
    let [a, b] = pair;
    let [book_a, book_b] = books;
    let mut found = compare(&of(a, book_a), &of(b, book_b), are_alike(books));
    found.extend(known.as_ref().and_then(|at| compare_fields(books, at)));
    show(key, known.as_ref(), None, found, see)
}

/// What differs between the moves of two books in one position, the heaviest move first.
fn compare(a: &[Facts], b: &[Facts], same_format: bool) -> Vec<What> {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Vec::new(),
        (false, true) => return vec![What::Position(Which::A, heaviest_first(a.to_vec()))],
        (true, false) => return vec![What::Position(Which::B, heaviest_first(b.to_vec()))],
        (false, false) => {}
    }
    let other = |facts: &Facts, of: &[Facts]| of.iter().find(|known| known.mv == facts.mv).copied();
    let sum = |of: &[Facts], others: &[Facts]| {
        of.iter().filter(|facts| other(facts, others).is_some()).map(|facts| facts.weight as f64).sum::<f64>()
    };
    let sums = [sum(a, b), sum(b, a)];
    let mut found = Vec::new();
    for facts in heaviest_first(a.to_vec()) {
        let Some(in_b) = other(&facts, b) else {
            found.push(What::Move(Which::A, facts));
            continue;
        };
        let shares = (!same_format).then(|| shares([facts.weight, in_b.weight], sums));
        let weights = shares.is_some_and(|[a, b]| differ(a, b));
        let counts = facts.counts.zip(in_b.counts).is_some_and(|(a, b)| a != b);
        let rest = |facts: &Facts| {
            (facts.weight, facts.annotation, facts.recommended, facts.learned, facts.ratings, facts.factor)
        };
        let different = same_format && (rest(&facts) != rest(&in_b) || facts.counts != in_b.counts);
        if weights || counts || different {
            found.push(What::Changed(Changed { a: facts, b: in_b, shares }));
        }
    }
    let new = heaviest_first(b.iter().filter(|facts| other(facts, a).is_none()).copied().collect());
    found.extend(new.into_iter().map(|facts| What::Move(Which::B, facts)));
    found
}

/// What differs between what two books of one format say of a position itself.
fn compare_fields(books: [&dyn Book; 2], at: &Position) -> Option<What> {
    if !are_alike(books) {
        return None;
    }
    let fields = books.map(|book| book.fields(at));
    let [a, b] = &fields;
    (!a.is_empty() && !b.is_empty() && a != b).then_some(What::Fields(fields))
}

fn heaviest_first(mut moves: Vec<Facts>) -> Vec<Facts> {
    moves.sort_by_key(|facts| (Reverse(facts.weight), facts.mv.0));
    moves
}

/// Two books as one, to follow the lines of both.
struct Union<'a>([&'a dyn Book; 2]);

impl Union<'_> {
    /// Shows the moves of both books, each once.
    fn append(&self, at: &Position, mut see: impl FnMut(MoveFacts)) {
        let mut moves = Vec::new();
        let [a, b] = self.0;
        a.moves(at, &mut moves);
        let of_a = moves.len();
        b.moves(at, &mut moves);
        let (first, second) = moves.split_at(of_a);
        let is_new = |facts: &&MoveFacts| !first.iter().any(|known| known.mv == facts.mv);
        first.iter().chain(second.iter().filter(is_new)).for_each(|facts| see(*facts));
    }
}

impl Moves for Union<'_> {
    fn variant(&self) -> Variant {
        let [book, _] = self.0;
        book.variant()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.append(at, |facts| out.push(facts));
    }

    /// Shows what both reach together, whatever the scope.
    fn each(&self, _: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each_reachable(self, 0, progress, visit)
    }
}

#[cfg(test)]
mod tests {
    use tabiya_book::Counts;
    use tabiya_testing::books::LineBook;

    use super::*;

    fn known(moves: &[(u16, u64, Option<u64>)]) -> Vec<Facts> {
        let facts = |&(mv, weight, games): &(u16, u64, Option<u64>)| Facts {
            counts: games.map(|games| Counts { games, ..Counts::default() }),
            ..Facts::new(MoveCode(mv), weight)
        };
        moves.iter().map(facts).collect()
    }

    fn changed(a: &[(u16, u64, Option<u64>)], b: &[(u16, u64, Option<u64>)], same_format: bool) -> Vec<u16> {
        let found = compare(&known(a), &known(b), same_format).into_iter();
        found.map(|what| if let What::Changed(changed) = what { changed.a.mv.0 } else { 0 }).collect()
    }

    #[test]
    fn weights_of_one_format_are_compared_as_they_are_and_others_as_shares() {
        let (a, b) = ([(1, 10, None), (2, 30, None)], [(2, 3000, None), (1, 1000, None)]);
        assert_eq!(changed(&a, &b, true), [2, 1]);
        assert!(changed(&a, &b, false).is_empty());
        assert_eq!(changed(&a, &[(1, 1, None), (2, 1, None)], false), [2, 1]);
        // Moves of one book only do not change the shares of the others.
        assert_eq!(changed(&a, &[(1, 1, None), (2, 3, None), (3, 99, None)], false), [0]);
        // A move that is never played is different, however small its share.
        assert_eq!(changed(&[(1, 1, None), (2, 9999, None)], &[(1, 0, None), (2, 9999, None)], false), [1]);
        assert!(changed(&[(1, 0, None)], &[(1, 0, None)], false).is_empty());
        assert_eq!(changed(&[(1, 0, None)], &[(1, u64::MAX, None)], false), [1]);
    }

    #[test]
    fn counts_are_compared_where_both_books_have_them() {
        assert_eq!(changed(&[(1, 1, Some(4))], &[(1, 1, Some(5))], false), [1]);
        assert!(changed(&[(1, 1, Some(4))], &[(1, 1, None)], false).is_empty());
        assert_eq!(changed(&[(1, 1, Some(4))], &[(1, 1, None)], true), [1]);
    }

    #[test]
    fn each_difference_is_shown_once_with_its_line() {
        let (a, b) = (
            LineBook::new(&["e2e4 e7e5 g1f3"], |_| true),
            LineBook::new(&["e2e4 c7c5", "d2d4 d7d5"], |_| true),
        );
        let folder = tempfile::tempdir().unwrap();
        let resources = Resources::new(Some(1), Some(1 << 20), Some(folder.path())).unwrap();
        let seen = |a: &LineBook, b: &LineBook, most: usize| {
            let mut seen = Vec::new();
            diff([a, b], &resources, &Progress::none(), &mut |difference| {
                let plies = difference.line.map(<[MoveCode]>::len);
                let which = match &difference.what {
                    What::Position(which, _) => Some((*which, true)),
                    What::Move(which, _) => Some((*which, false)),
                    What::Changed(_) | What::Fields(_) => None,
                };
                seen.push((plies, which));
                if seen.len() == most { Err(Break::Enough) } else { Ok(()) }
            })
            .unwrap();
            seen
        };
        let all = [
            (Some(0), Some((Which::B, false))),
            (Some(1), Some((Which::A, false))),
            (Some(1), Some((Which::B, false))),
            (Some(1), Some((Which::B, true))),
            (Some(2), Some((Which::A, true))),
        ];
        assert_eq!(seen(&a, &b, 9), all);
        assert_eq!(seen(&a, &b, 2), all[..2]);
        assert!(seen(&a, &a, 9).is_empty());
    }
}
