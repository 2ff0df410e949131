//! What differs between two books, of any formats.
//!
//! Positions that moves of either book reach from the starting position are compared by looking them up in both, those of
//! fewer plies first. What is left of both books after that is sorted by its keys, in bounded memory.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::Resources;
use super::facts_row::FactsRow;
use super::merge::Merging;
use super::sort::{RadixSorter, Sortable, Sorted};
use crate::base::error::Result;
use crate::base::findings::Findings;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::traverse::{ByPlies, Keys, Replies, STRIDE};
use crate::book::{Book, Format, MoveFacts, PositionRecord, Scope, Summary};
use crate::chess::{MoveCode, Position};

/// Positions that are followed from the starting position; the rest is compared by keys. It bounds memory to about 200 MB.
const MOST: usize = 1 << 22;

/// Shares of weights that differ by more than this are different.
const SHARE: f64 = 0.001;

/// The facts of a move, by the code of the move.
pub(crate) type Facts = MoveFacts<MoveCode>;

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
pub(crate) enum What {
    /// Only one book has moves in the position.
    Position(Which, Vec<Facts>),
    /// Only one book has this move in a position that both have.
    Move(Which, Facts),
    /// Both have the move, and say different things of it.
    Changed(Changed),
}

/// What two books say of one move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changed {
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
pub(crate) struct Difference<'a> {
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
/// When a temporary file fails, or the work is interrupted.
pub(crate) fn diff(
    books: [&dyn Book; 2],
    resources: &Resources,
    progress: &Progress,
    see: &mut dyn FnMut(&Difference<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let [a, b] = books;
    let same_format = a.format() == b.format();
    let together = Together(books);
    progress.things(0, "positions");
    let replies = Replies::of(&together, &books, MOST);
    let mut flow = ControlFlow::Continue(());
    let from = ByPlies { most: MOST, ..ByPlies::default() };
    let reached = from.each(progress, |visited, follow| {
        let at = visited.at;
        let [of_a, of_b] = books.map(|book| facts(book, at));
        together.append(at, |facts| follow.push(facts.mv));
        replies.append(&together, at, follow);
        let found = compare(&of_a, &of_b, same_format);
        if !found.is_empty() {
            let line = visited.tracks.line(visited.number);
            flow = show(at.key(), Some(at), Some(&line), found, see);
        }
        flow
    })?;
    if flow.is_break() {
        return Ok(());
    }
    let mut sorter = RadixSorter::new(resources.memory, &resources.temp);
    for (number, book) in (0..).zip(books) {
        push(book, number, &reached, &mut sorter, progress)?;
    }
    drop(reached);
    let sorted = Sorted::new(vec![sorter.finish()]);
    progress.things(sorted.total(), "moves");
    sorted.each(resources, progress, pairs, |found| {
        for pair in found {
            if flow.is_break() {
                break;
            }
            flow = show_pair(books, pair, same_format, see);
        }
        Ok(())
    })
}

/// A book's moves in a position.
fn facts(book: &dyn Book, at: &Position) -> Vec<Facts> {
    let mut moves = Vec::new();
    book.moves(at, &mut moves);
    moves.into_iter().map(Facts::from).collect()
}

fn show(
    key: u64,
    position: Option<&Position>,
    line: Option<&[MoveCode]>,
    found: Vec<What>,
    see: &mut dyn FnMut(&Difference<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    found.into_iter().try_for_each(|what| see(&Difference { key, position, line, what }))
}

/// Sorts what a book has besides the positions that were compared.
fn push(
    book: &dyn Book,
    number: u32,
    compared: &Keys,
    sorter: &mut RadixSorter<DiffRow>,
    progress: &Progress,
) -> Result<()> {
    let (mut rows, mut met, mut result) = (Vec::new(), 0_u64, Ok(()));
    book.each(Scope::All, progress, &mut |record| {
        met += 1;
        if !record.moves.is_empty() && !compared.contains(&record.key) {
            rows.clear();
            FactsRow::append(&PositionRecord { total: None, ..record.clone() }, number, 0, &mut rows);
            result = rows.iter().try_for_each(|row| sorter.push(DiffRow(*row)));
        }
        if met.is_multiple_of(STRIDE) && result.is_ok() {
            result = interrupt::check();
        }
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result
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

fn show_pair(
    books: [&dyn Book; 2],
    pair: Pair,
    same_format: bool,
    see: &mut dyn FnMut(&Difference<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let known = pair.iter().flatten().find_map(|record| record.position.clone());
    let Some(key) = pair.iter().flatten().map(|record| record.key).next() else {
        return ControlFlow::Continue(());
    };
    // Formats that do not distinguish some positions do not show all of them, but look-ups find them.
    let of = |record: Option<PositionRecord>, book: &dyn Book| match (record, &known) {
        (Some(record), _) => record.moves,
        (None, Some(at)) => facts(book, at),
        (None, None) => Vec::new(),
    };
    let [a, b] = pair;
    let [book_a, book_b] = books;
    let found = compare(&of(a, book_a), &of(b, book_b), same_format);
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
        let weights = shares.is_some_and(|[a, b]| (a - b).abs() > SHARE || (a == 0.0) != (b == 0.0));
        let counts = facts.counts.zip(in_b.counts).is_some_and(|(a, b)| a != b);
        let rest = |facts: &Facts| (facts.weight, facts.annotation, facts.recommended, facts.learned);
        let different = same_format && (rest(&facts) != rest(&in_b) || facts.counts != in_b.counts);
        if weights || counts || different {
            found.push(What::Changed(Changed { a: facts, b: in_b, shares }));
        }
    }
    let new = heaviest_first(b.iter().filter(|facts| other(facts, a).is_none()).copied().collect());
    found.extend(new.into_iter().map(|facts| What::Move(Which::B, facts)));
    found
}

/// The shares that two weights have of these sums.
fn shares([a, b]: [u64; 2], [sum_a, sum_b]: [f64; 2]) -> [f64; 2] {
    let share = |weight: u64, sum: f64| if sum > 0.0 { weight as f64 / sum } else { 0.0 };
    [share(a, sum_a), share(b, sum_b)]
}

fn heaviest_first(mut moves: Vec<Facts>) -> Vec<Facts> {
    moves.sort_by_key(|facts| (Reverse(facts.weight), facts.mv.0));
    moves
}

/// Two books as one, to follow the lines of both.
struct Together<'a>([&'a dyn Book; 2]);

impl Together<'_> {
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

impl Book for Together<'_> {
    fn path(&self) -> &Path {
        let [first, _] = self.0;
        first.path()
    }

    fn format(&self) -> Format {
        let [first, _] = self.0;
        first.format()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.append(at, |facts| out.push(facts));
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        let [first, _] = self.0;
        first.survey(progress, findings)
    }
}
