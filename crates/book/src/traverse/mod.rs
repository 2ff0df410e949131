//! Traverses a book along its moves, from the starting position: breadth first to find how deep it goes, depth first to
//! find what it holds, by plies to find how far each position is.
//!
//! Books are not trusted. Each position is visited once, however many paths lead to it, so cycles end; and what waits to be
//! visited is bounded: breadth first to some positions at each depth, depth first to the moves of one line. [`Met`] knows which
//! positions are the same.

mod before;
mod forms;
mod held;
mod met;
mod plies;
#[cfg(test)]
mod tests;

use shakmaty::{Move, Position as _};

pub(crate) use forms::{Forms, each_form};
pub use held::HeldKeys;
pub use met::{KeyHasher, Keys, Meeting, Met};
pub use plies::{ByPlies, Replies, Search, Tracks, Visited, has_form, has_one_key};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::findings::{FindingKind, FindingPlace, Findings};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Break, Seen, to_the_end};
use tabiya_chess::{Position, Variant, is_known_by_key};

use super::{MoveFacts, Moves, PositionRecord, Visit};

/// Positions followed at one depth, and positions beyond them that wait. This bounds memory: about 70 MB for each of two depths and for
/// those beyond.
const WIDEST: usize = 1 << 19;

/// Positions whose moves are looked up together.
const TOGETHER: usize = 64;

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

    /// Appends [`Graph::entry`] of the position after each of these legal moves.
    fn entries_after(&self, at: &Position, moves: &[Move], out: &mut Vec<Option<u64>>) {
        out.extend(moves.iter().map(|mv| self.entry(&at.after(*mv))));
    }

    /// Appends [`Graph::entries_after`] of several positions, each with its moves: formats may look those up together.
    fn entries_after_each<'a>(
        &self,
        all: impl Iterator<Item = (&'a Position, &'a [Move])>,
        out: &mut Vec<Option<u64>>,
    ) {
        all.for_each(|(at, moves)| self.entries_after(at, moves, out));
    }

    /// Prepares for replies, if keys tell positions apart: those to these entries, which the book's own moves reach, lead nowhere new.
    fn leave_out(&mut self, _own: &Bits) {}

    /// Drops replies that surely lead to none but those entries, or to no entry.
    fn drop_replies(&self, _at: &Position, _replies: &mut Vec<Move>) {}

    /// Appends the legal moves of an entry in one of its positions, the `first` that is reached or another one.
    fn moves(&mut self, at: &Position, entry: u64, first: bool, out: &mut Vec<Move>);

    /// Whether an entry that was reached has moves that were legal in none of its positions so far.
    fn is_open(&self, _entry: u64) -> bool {
        false
    }

    /// Whether there is such an entry.
    fn has_open(&self) -> bool {
        false
    }

    /// Positions to follow at one depth, and positions beyond them that wait.
    fn widest(&self) -> [usize; 2] {
        [WIDEST; 2]
    }
}

/// What a traversal breadth first found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traversal {
    /// Plies from the starting position to the end of the deepest line. Each position counts where it is first reached.
    pub plies: u32,
    /// Positions of the book that are reached.
    pub reached: u64,
    /// Whether some depth had more positions than are followed by plies. Those beyond are each followed to the end of its lines, whose
    /// plies are not counted.
    pub beyond: bool,
    /// Whether too many positions waited to follow all of them.
    pub cut: bool,
    /// The numbers of the entries that are reached.
    pub entries: Bits,
}

impl Traversal {
    /// Plies from the starting position to the end of the deepest line, where all were followed by plies.
    pub fn deepest(&self) -> Option<u32> {
        (!self.beyond && !self.cut).then_some(self.plies)
    }

    /// Reports where too many positions waited to follow all of them.
    pub fn add_cut(&self, kind: impl Into<FindingKind>, findings: &mut Findings<'_>) {
        if self.cut {
            let what = "too many positions at one depth to follow every line";
            findings.add(kind, FindingPlace::default(), what);
        }
    }
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

/// A Bloom filter of keys: it rejects most keys that it does not hold. Keys are random numbers, so their own bits are their hashes.
#[derive(Clone, Debug, Default)]
pub struct KeyFilter {
    /// Each key has three bits in the word that its first bits select.
    words: Vec<u64>,
    /// The bits of a key after those.
    rest: u32,
}

impl KeyFilter {
    /// A filter of these keys. Each takes 2 to 4 bytes; of a hundred others about one passes.
    pub fn new(keys: impl Iterator<Item = u64> + Clone) -> Self {
        let mut filter = Self::with_room(keys.clone().count() as u64, usize::MAX);
        keys.for_each(|key| filter.add(key));
        filter
    }

    /// An empty filter for this number of keys, in at most `memory` bytes. The less memory, the more keys pass that it does not hold.
    pub fn with_room(keys: u64, memory: usize) -> Self {
        let most = 1 << (memory / size_of::<u64>()).max(1).ilog2();
        let len = usize::try_from(keys.div_ceil(4).next_power_of_two()).map_or(most, |len| len.min(most));
        Self { words: vec![0; len], rest: u64::BITS - len.ilog2() }
    }

    /// Takes in a key.
    pub fn add(&mut self, key: u64) {
        let place = self.place(key);
        self.words.get_mut(place).into_iter().for_each(|word| *word |= Self::bits(key));
    }

    /// A filter of the keys of runs whose first is not among these numbers.
    pub(crate) fn of_others(keys: impl Iterator<Item = u64> + Clone, numbers: &Bits) -> Self {
        let others = (0..).zip(keys).scan((None, false), |(last, is_other), (number, key)| {
            if *last != Some(key) {
                (*last, *is_other) = (Some(key), !numbers.contains(number));
            }
            Some(is_other.then_some(key))
        });
        Self::new(others.flatten())
    }

    /// Whether a key may be among those.
    pub fn may_have(&self, key: u64) -> bool {
        let bits = Self::bits(key);
        self.words.get(self.place(key)).is_some_and(|word| word & bits == bits)
    }

    /// Keeps those of some things whose keys may be among those. All words are read before one is judged, so that the processor waits
    /// for many of them at once.
    pub fn retain<T>(&self, things: &mut Vec<T>, key: impl FnMut(&T) -> u64) {
        let keys: Vec<u64> = things.iter().map(key).collect();
        let kept: Vec<bool> = keys.into_iter().map(|key| self.may_have(key)).collect();
        let mut kept = kept.into_iter();
        things.retain(|_| kept.next().unwrap_or(true));
    }

    /// The word of a key; of a single word all bits of the key are left, and no shift is that long.
    #[expect(clippy::cast_possible_truncation, reason = "fewer bits than those of the number of words")]
    fn place(&self, key: u64) -> usize {
        key.checked_shr(self.rest).unwrap_or_default() as usize
    }

    fn bits(key: u64) -> u64 {
        1 << (key & 63) | 1 << (key >> 6 & 63) | 1 << (key >> 12 & 63)
    }
}

/// Follows all moves of a book, each position of an entry once, those of fewer plies first.
///
/// The progress bar counts to `positions`.
pub(crate) fn breadth_first<G: Graph>(mut graph: G, positions: u64, progress: &Progress) -> Traversal {
    spread_out(&mut graph, None, positions, progress)
}

/// Follows a book's own moves and, if these do not reach all of its `positions`, as in a book for one side, replies too that
/// it does not have but that lead back into it, as [`each_reachable`] does.
pub(crate) fn with_replies<G: Graph>(graph: &mut G, positions: u64, progress: &Progress) -> Traversal {
    let own = spread_out(graph, None, positions, progress);
    if own.reached >= positions && !graph.has_open() {
        return own;
    }
    if is_known_by_key(graph.variant()) {
        graph.leave_out(&own.entries);
    }
    spread_out(graph, Some(&own.entries), positions, progress)
}

/// Follows all moves of a book and, given the entries that these reach, replies to others. Ends early where the work must stop, which
/// callers find by [`interrupt::check`].
fn spread_out<G: Graph>(graph: &mut G, own: Option<&Bits>, positions: u64, progress: &Progress) -> Traversal {
    let ([widest, waiting], by_key) = (graph.widest(), is_known_by_key(graph.variant()));
    progress.things(positions, "positions");
    let mut traversal = Traversal { entries: Bits::new(graph.numbers()), ..Traversal::default() };
    let mut others = Met::default();
    // The entries of which some position was visited: where keys tell positions apart, each has one.
    let mut visited = Bits::new(if by_key { 0 } else { graph.numbers() });
    // The position is made only where it is new.
    let mut arrive = |traversal: &mut Traversal,
                      next: &mut Vec<PendingPosition>,
                      beyond: &mut Vec<PendingPosition>,
                      entry: Option<u64>,
                      position: &mut dyn FnMut() -> Position| {
        let mut made = None;
        if let Some(entry) = entry {
            let is_first = traversal.entries.insert(entry);
            if is_first {
                traversal.reached += 1;
                progress.pass(traversal.reached);
            }
            let is_other = !by_key && others.insert(made.insert(position()));
            if !is_first && !is_other {
                return;
            }
        } else if own.is_none() {
            return;
        }
        let is_beyond = next.len() >= widest;
        traversal.beyond |= is_beyond;
        let (pending, room) = if is_beyond { (beyond, waiting) } else { (next, widest) };
        if pending.len() < room {
            pending.push(PendingPosition { position: made.unwrap_or_else(position), entry });
        } else {
            traversal.cut = true;
        }
        traversal.cut |= others.is_cut();
    };
    let (mut now, mut next, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
    let (mut moves, mut after) = (Vec::new(), Vec::new());
    // Some positions; which of the moves are those of each, and which of these are replies.
    let (mut steps, mut spans, mut replies) = (Vec::new(), Vec::new(), Vec::new());
    let start = Position::start_of(graph.variant());
    arrive(&mut traversal, &mut next, &mut beyond, graph.entry(&start), &mut || start.clone());
    for plies in 1.. {
        std::mem::swap(&mut now, &mut next);
        if now.is_empty() {
            break;
        }
        if own.is_some() {
            // Positions without an entry have no number in the set of those reached.
            now.sort_unstable_by_key(|step| step.position.whole_key());
            now.dedup_by_key(|step| step.position.whole_key());
        }
        let mut pending = now.drain(..);
        loop {
            steps.clear();
            // Where keys do not tell positions apart, which replies are followed depends on the moves that were legal until then.
            let together = if own.is_some() && !by_key { 1 } else { TOGETHER };
            // The last ones first, so that few wait.
            steps.extend(beyond.drain(beyond.len().saturating_sub(together)..));
            let room = together - steps.len();
            steps.extend(pending.by_ref().take(room));
            if steps.is_empty() {
                break;
            }
            if interrupt::asked() {
                return traversal;
            }
            moves.clear();
            spans.clear();
            for PendingPosition { position, entry } in &steps {
                let from = moves.len();
                if let Some(entry) = *entry {
                    let is_new = own.is_none_or(|own| !own.contains(entry));
                    graph.moves(position, entry, is_new && (by_key || visited.insert(entry)), &mut moves);
                }
                let to = moves.len();
                if own.is_some() && (traversal.reached < positions || !by_key) {
                    replies.extend(position.chess().legal_moves());
                    graph.drop_replies(position, &mut replies);
                    moves.append(&mut replies);
                }
                spans.push((from..moves.len(), to));
            }
            after.clear();
            let of_step = spans.iter().map(|(span, _)| moves.part(span.clone()));
            graph.entries_after_each(steps.iter().map(|step| &step.position).zip(of_step), &mut after);
            let leads_on = |entry: u64| own.is_some_and(|own| !own.contains(entry)) || graph.is_open(entry);
            for (PendingPosition { position, .. }, (span, to)) in steps.iter().zip(&spans) {
                for number in span.clone() {
                    let (Some(&mv), Some(&entry)) = (moves.get(number), after.get(number)) else { continue };
                    if number < *to || entry.is_some_and(leads_on) {
                        traversal.plies = plies;
                        arrive(&mut traversal, &mut next, &mut beyond, entry, &mut || position.after(mv));
                    }
                }
            }
        }
    }
    traversal
}

/// What a walk has left of its lines, each of which it follows to its end before the next.
#[derive(Debug, Default)]
pub(crate) struct DepthFirst {
    /// The positions of the line that have moves left, each with the number of moves left before it. A line without branches takes
    /// no room.
    line: Vec<(Position, usize)>,
    /// The moves that are left, the next one last.
    left: Vec<Move>,
}

impl DepthFirst {
    /// Takes the legal moves to follow from a position, in order.
    fn follow(&mut self, at: Position, moves: &[Move]) {
        if !moves.is_empty() {
            self.line.push((at, self.left.len()));
            self.left.extend(moves.iter().rev());
        }
    }

    /// The next position.
    fn next(&mut self) -> Option<Position> {
        let mv = self.left.pop()?;
        match self.line.pop_if(|(_, before)| self.left.len() <= *before) {
            Some((mut last, _)) => {
                last.play(mv);
                Some(last)
            }
            None => self.line.last().map(|(position, _)| position.after(mv)),
        }
    }
}

/// Follows moves from a position, each line to its end before the next, until `visit` breaks off.
///
/// `visit` sees each position as often as it is reached, and appends the legal moves to follow, in order. It must give
/// the moves of each position only once.
pub(crate) fn depth_first(start: Position, mut visit: impl FnMut(&Position, &mut Vec<Move>) -> Seen) -> Seen {
    let (mut walk, mut moves, mut next) = (DepthFirst::default(), Vec::new(), Some(start));
    while let Some(position) = next {
        moves.clear();
        visit(&position, &mut moves)?;
        walk.follow(position, &moves);
        next = walk.next();
    }
    Ok(())
}

/// Shows each position that play reaches from the starting position: along the book's own moves first, then along
/// replies that it does not have but that lead back into it, as in a book for one side. Returns how many of the book's `all`
/// positions are not reached.
///
/// Each position comes once, and where its key does not tell it apart from others, with those of its moves that no other has shown.
/// Replies are searched only if some of all positions or moves are missing.
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
    let by_key = is_known_by_key(book.variant());
    let mut meet = |at: &Position, moves: &[MoveFacts], is_first: bool| {
        met += u64::from(is_first);
        progress.pass(met);
        visit(&PositionRecord::from_moves(at, moves))?;
        // Another position may have more moves of its key.
        if met == all && by_key { Err(Break::Enough) } else { Ok(()) }
    };
    let mut own = Met::default();
    let is_whole = to_the_end(spread(book, &mut own, None, &mut meet))?.is_none();
    if !is_whole && all > 0 {
        let mut walked = own.go_on();
        if let Some(replies) = Replies::beyond(book, own)? {
            to_the_end(spread(book, &mut walked, Some(&replies), &mut meet))?;
        }
    }
    Ok(all.saturating_sub(met))
}

/// The positions that the book's own moves reach from the starting position; `None` if there are more than `most`, or the work must
/// stop.
pub fn own_lines<B: Moves + ?Sized>(book: &B, most: usize) -> Option<Met> {
    let (mut count, mut met) = (0, Met::default());
    let seen = spread(book, &mut met, None, &mut |_, _, is_first| {
        count += usize::from(is_first);
        if count > most { Err(Break::Enough) } else { Ok(()) }
    });
    seen.is_ok().then_some(met)
}

/// Shows what the book's own moves reach from the starting position or, given the replies to follow, what these reach beyond
/// it: the moves that a position is the first to have, and whether they are the first of its key. Notes all positions on the way.
fn spread<B: Moves + ?Sized>(
    book: &B,
    met: &mut Met,
    replies: Option<&Replies>,
    show: &mut dyn FnMut(&Position, &[MoveFacts], bool) -> Seen,
) -> Seen {
    let mut moves = Vec::new();
    depth_first(Position::start_of(book.variant()), |at, follow| {
        if !met.insert(at) {
            return Ok(());
        }
        interrupt::check()?;
        moves.clear();
        book.moves(at, &mut moves);
        follow.extend(moves.iter().map(|facts| facts.mv));
        if !replies.is_some_and(|replies| replies.has_own(at)) {
            let is_first = met.show(at, &mut moves);
            if !moves.is_empty() {
                show(at, &moves, is_first)?;
            }
        }
        let Some(replies) = replies else { return Ok(()) };
        replies.append_new(book, at, Some(&*met), follow);
        Ok(())
    })
}
