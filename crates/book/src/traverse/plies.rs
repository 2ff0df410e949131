//! Traverses a book breadth first with the plies of each position. Every position takes 8 bytes for its track and a key in
//! a set, and 32 bytes more while it waits.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, OnceLock, PoisonError};

use shakmaty::{Chess, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Seen, to_the_end};
use tabiya_chess::normal::forms;
use tabiya_chess::{HeldPosition, MoveCode, Position, Variant, is_known_by_key, variant_facts};

use super::before::may_lead;
use super::{DepthFirst, HeldKeys, KeyHasher, Keys, Met, own_lines};
use crate::{MoveFacts, Moves, Scope};

/// Where a traversal by plies begins, and how far it goes.
#[derive(Clone, Debug)]
pub struct ByPlies {
    /// Positions to begin with, each with its plies.
    pub starts: Vec<(u32, Position)>,
    /// Positions beyond this number are not visited.
    pub most: usize,
    /// Whether a position is visited once for each number of plies that it is reached after, not only for the least.
    pub again: bool,
}

impl Default for ByPlies {
    /// Everything from the starting position of standard chess on, each position once.
    fn default() -> Self {
        Self::of_variant(Variant::Chess)
    }
}

impl ByPlies {
    /// Everything from the starting position of a variant on, each position once.
    pub fn of_variant(variant: Variant) -> Self {
        Self { starts: vec![(0, Position::start_of(variant))], most: usize::MAX, again: false }
    }
}

/// How the visited positions were reached.
#[derive(Clone, Debug, Default)]
pub struct Tracks(Vec<(u32, MoveCode)>);

impl Tracks {
    /// The number of the position before the one of this number on its line, and the move between them.
    pub fn before(&self, number: u32) -> Option<(u32, MoveCode)> {
        let (before, mv) = self.0.get(usize::try_from(number).ok()?)?;
        (*before < number).then_some((*before, *mv))
    }

    /// Notes the next position: the number of the one before it, and the move; `None` for one that begins.
    pub fn push(&mut self, before: Option<(u32, MoveCode)>) {
        self.0.push(before.unwrap_or((u32::MAX, MoveCode::NULL)));
    }

    /// From a position back to the one that began: the number of the position before, and the move.
    pub fn back(&self, number: u32) -> impl Iterator<Item = (u32, MoveCode)> {
        std::iter::successors(self.before(number), |(number, _)| self.before(*number))
    }

    /// The moves that lead to the position of this number, from the position that the traversal began with.
    pub fn line(&self, number: u32) -> Vec<MoveCode> {
        let mut line: Vec<_> = self.back(number).map(|(_, mv)| mv).collect();
        line.reverse();
        line
    }
}

/// What a traversal keeps while it goes on.
struct State {
    seen: Met,
    tracks: Tracks,
    next: Vec<HeldPosition>,
    most: usize,
}

impl State {
    /// Notes a position, unless it was seen before or there is no room. `from` is `None` for those that begin.
    fn arrive(&mut self, position: &Position, from: Option<(u32, Move)>) {
        let Ok(number) = u32::try_from(self.tracks.0.len()) else { return };
        if self.seen.len() >= self.most || self.seen.contains(position) {
            return;
        }
        let Some(held) = HeldPosition::new(position, number) else { return };
        if self.seen.insert(position) {
            self.tracks.push(from.map(|(before, mv)| (before, MoveCode::from_move(mv))));
            self.next.push(held);
        }
    }
}

/// A position that is visited.
#[derive(Debug)]
pub struct Visited<'a> {
    /// The position. Its counters of moves are not those of a game.
    pub at: &'a Position,
    /// The least plies after which it is reached.
    pub plies: u32,
    /// Its number, by which [`Tracks`] knows it.
    pub number: u32,
    /// How all positions so far were reached.
    pub tracks: &'a Tracks,
}

impl ByPlies {
    /// Visits the positions, those of fewer plies first, until `visit` breaks off; it appends the legal moves to follow.
    /// Returns the keys of those that were seen.
    ///
    /// # Errors
    /// What fails in `visit`, and when the work is interrupted.
    pub fn each(
        self,
        progress: &Progress,
        mut visit: impl FnMut(&Visited<'_>, &mut Vec<Move>) -> Seen,
    ) -> Result<Keys> {
        let Self { mut starts, most, again } = self;
        let mut state = State { seen: Met::default(), tracks: Tracks::default(), next: Vec::new(), most };
        let (mut now, mut moves, mut met) = (Vec::new(), Vec::new(), 0_u64);
        for plies in 0.. {
            starts.retain(|(at, position)| {
                if *at == plies {
                    state.arrive(position, None);
                }
                *at > plies
            });
            std::mem::swap(&mut now, &mut state.next);
            if now.is_empty() && starts.is_empty() {
                break;
            }
            if again {
                state.seen.clear();
            }
            for held in now.drain(..) {
                met += 1;
                progress.step(met)?;
                let (Some(at), number) = (held.position(), held.number()) else { continue };
                moves.clear();
                let visited = Visited { at: &at, plies, number, tracks: &state.tracks };
                if to_the_end(visit(&visited, &mut moves))?.is_none() {
                    return Ok(state.seen.into_keys());
                }
                for &mv in &moves {
                    if state.seen.len() < most && state.seen.may_be_new(&at, mv) {
                        state.arrive(&at.after(mv), Some((number, mv)));
                    }
                }
            }
        }
        Ok(state.seen.into_keys())
    }
}

/// Positions from which replies are asked for, after which the whole book is read once rather than looked up move by move.
const MANY: usize = 1 << 13;

/// Positions that are followed breadth first. What these do not reach is looked for by itself.
const NEAR: usize = 1 << 10;

/// Positions that are followed to look for single ones. Where they were more, all of the book's moves are followed.
const SOUGHT: usize = 1 << 15;

/// The replies that a book does not have but that lead back into it, as in a book for one side.
///
/// What is asked decides what is read: the book's own moves are followed breadth first, only until they reach what a move
/// leads to. They reach most positions soon, or are few.
#[derive(Debug)]
pub struct Replies {
    /// The positions that the book's own moves reach, once all are known; `None` if no reply has to be followed.
    own: OnceLock<Option<Met>>,
    /// The keys of the positions that they do not reach, or of which they do not reach all moves, where these are known.
    missing: OnceLock<HeldKeys>,
    /// The keys of all positions beside the own ones in which the book may have moves, where these are known.
    held: Option<HeldKeys>,
    /// At how many positions at most is looked to find them.
    most: usize,
    /// Whether the book is to be read once to know all that is missing, if much is asked.
    may_read: bool,
    /// The own moves as far as they were followed.
    lines: Mutex<Lines>,
}

/// The positions that a book's own moves reach, as far as they were followed.
#[derive(Debug, Default)]
struct Lines {
    met: Met,
    /// Positions that were met, and whose moves are to be followed.
    waiting: VecDeque<HeldPosition>,
    /// What is left of the line from one of these on that is followed to its end.
    line: DepthFirst,
    /// The positions with moves among those that were followed.
    count: usize,
    /// From how many positions replies were asked for.
    asked: usize,
    /// Looks for single positions.
    search: Search,
}

/// Looks for single positions among those that moves lead to. Only what may lead there is followed.
#[derive(Debug, Default)]
pub struct Search {
    /// Where the moves begin.
    starts: Vec<Position>,
    /// How many positions were followed, and the moves of these.
    followed: usize,
    moves: HashMap<u64, Vec<Move>, BuildHasherDefault<KeyHasher>>,
    /// What was looked for, and whether it is reached.
    found: HashMap<u64, bool, BuildHasherDefault<KeyHasher>>,
}

impl Search {
    /// A search of what is reached from these positions.
    pub fn from_starts(starts: Vec<Position>) -> Self {
        Self { starts, ..Self::default() }
    }

    /// Whether the moves that `follow` appends reach a position, or one that some formats do not distinguish from it if it `merges`
    /// those; `None` if that takes too long, or the position is not one of standard chess.
    pub fn reaches(
        &mut self,
        wanted: &Position,
        merges: bool,
        mut follow: impl FnMut(&Position, &mut Vec<Move>),
    ) -> Option<bool> {
        if let Some(found) = self.found.get(&wanted.key()) {
            return Some(*found);
        }
        let goal = wanted.standard()?.clone();
        let goals = if merges { forms(goal) } else { vec![goal] };
        let keys: Keys = goals.iter().map(|goal| Position::from_chess(goal.clone()).key()).collect();
        let (mut met, mut waiting) = (Met::default(), self.starts.clone());
        let mut found = waiting.iter().any(|at| keys.contains(&at.key()));
        while let Some(at) = waiting.pop().filter(|_| !found) {
            self.followed += 1;
            if self.followed > SOUGHT {
                return None;
            }
            let moves = self.moves.entry(at.key()).or_insert_with(|| {
                let mut moves = Vec::new();
                follow(&at, &mut moves);
                moves
            });
            for &mv in &*moves {
                found |= keys.contains(&at.key_after(mv));
                if !found && met.may_be_new(&at, mv) {
                    let next = at.after(mv);
                    let leads = |from: &Chess| goals.iter().any(|goal| may_lead(from, goal));
                    let leads = next.standard().is_some_and(leads);
                    waiting.extend((met.insert(&next) && leads).then_some(next));
                }
            }
        }
        self.found.insert(wanted.key(), found);
        Some(found)
    }
}

impl Lines {
    /// Those that begin in the starting position.
    fn new(variant: Variant) -> Self {
        let start = Position::start_of(variant);
        let mut lines = Self { search: Search::from_starts(vec![start.clone()]), ..Self::default() };
        lines.arrive(&start);
        lines
    }

    fn arrive(&mut self, at: &Position) {
        if self.met.insert(at) {
            self.waiting.extend(HeldPosition::new(at, 0));
        }
    }

    /// The next position to follow.
    fn next(&mut self) -> Option<Position> {
        while let Some(at) = self.line.next() {
            if self.met.insert(&at) {
                return Some(at);
            }
        }
        std::iter::from_fn(|| self.waiting.pop_front()).find_map(|held| held.position())
    }

    /// Follows the moves of the next position; `false` if none is left.
    fn follow<B: Moves + ?Sized>(&mut self, book: &B, moves: &mut Vec<MoveFacts>) -> bool {
        let Some(at) = self.next() else { return false };
        moves.clear();
        book.moves(&at, moves);
        self.count += usize::from(!moves.is_empty());
        let mut new: Vec<_> = moves.iter().map(|facts| facts.mv).collect();
        new.retain(|mv| self.met.may_be_new(&at, *mv));
        if self.count > NEAR {
            self.line.follow(at, &new);
        } else {
            new.into_iter().for_each(|mv| self.arrive(&at.after(mv)));
        }
        true
    }
}

impl From<Option<Met>> for Replies {
    /// Replies to positions that are not among these, which the book's own moves reach; without them no replies.
    fn from(own: Option<Met>) -> Self {
        Self { own: own.into(), ..Self::within(0) }
    }
}

impl Default for Replies {
    fn default() -> Self {
        None.into()
    }
}

impl Replies {
    /// Those to the positions of a book that its own moves do not reach, or of which they do not reach all moves.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn find(book: &dyn Moves) -> Result<Self> {
        // Other formats may find a position by the key of another one.
        if is_known_by_key(book.variant()) && !book.holds_positions() {
            return Ok(Self { may_read: has_one_key(book.variant()), ..Self::within(usize::MAX) });
        }
        let replies = Self::default();
        let Some(own) = own_lines(book, usize::MAX) else { return interrupt::check().map(|()| replies) };
        let missing = missing(book, &own)?;
        Ok(if missing.is_empty() { replies } else { Self::of_missing(own, missing) })
    }

    /// Those of one book beyond its own moves, which do not reach all of its positions, or may not reach all of its moves; `None`
    /// if they do.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub(super) fn beyond<B: Moves + ?Sized>(book: &B, own: Met) -> Result<Option<Self>> {
        if is_known_by_key(book.variant()) {
            let may_read = !book.holds_positions() && has_one_key(book.variant());
            return Ok(Some(Self { may_read, ..Some(own).into() }));
        }
        let missing = missing(book, &own)?;
        Ok((!missing.is_empty()).then(|| Self::of_missing(own, missing)))
    }

    /// Those of one book beyond its own moves, which has moves in no other positions than those with these keys.
    pub fn among(own: Met, held: HeldKeys) -> Self {
        Self { held: Some(held), ..Some(own).into() }
    }

    fn of_missing(own: Met, missing: HeldKeys) -> Self {
        Self { missing: missing.into(), ..Some(own).into() }
    }

    /// Those of one book, whose own moves are followed as soon as a move may be a reply. If they reach more than `most`
    /// positions, no replies are followed.
    pub fn within(most: usize) -> Self {
        let (own, missing, lines) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Self { own, missing, held: None, most, may_read: false, lines }
    }

    /// Appends the replies to follow from a position: legal moves to positions of the book that its own moves do not reach.
    pub fn append<B: Moves + ?Sized>(&self, book: &B, at: &Position, out: &mut Vec<Move>) {
        self.append_new(book, at, None, out);
    }

    /// Whether the book's own moves are known to reach a position.
    pub(super) fn has_own(&self, at: &Position) -> bool {
        matches!(self.own.get(), Some(Some(own)) if own.contains(at))
    }

    /// As [`Replies::append`], but replies to positions that are known to be `met` need not be found.
    pub(super) fn append_new<B: Moves + ?Sized>(
        &self,
        book: &B,
        at: &Position,
        met: Option<&Met>,
        out: &mut Vec<Move>,
    ) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.asked = lines.asked.saturating_add(1);
        if lines.asked > MANY {
            self.read(book, &mut lines);
        }
        if self.append_missing(at, out) {
            return;
        }
        let own = out.len();
        let mut there: Vec<MoveFacts> = Vec::new();
        let mut replies = at.chess().legal_moves().to_vec();
        replies.retain(|mv| {
            let key = at.key_after(*mv);
            let is_reached = || match self.own.get() {
                Some(own) => own.as_ref().is_none_or(|own| own.keys().contains(&key)),
                None => lines.met.keys().contains(&key),
            };
            let is_met = || met.is_some_and(|met| !met.may_be_new(at, *mv));
            let is_held = || self.held.as_ref().is_none_or(|held| held.contains(key));
            !is_reached() && !out.contains(mv) && !is_met() && is_held()
        });
        if self.held.is_none() {
            book.drop_absent(at, &mut replies);
        }
        for mv in replies {
            there.clear();
            let next = at.after(mv);
            book.moves(&next, &mut there);
            if there.is_empty() {
                // Its entries may have moves that are not legal here: only reading the book shows it.
                if self.read(book, &mut lines) {
                    out.truncate(own);
                    self.append_missing(at, out);
                    return;
                }
            } else if !self.reaches(book, &next, &mut lines) {
                out.push(mv);
            }
        }
    }

    /// Appends the moves to positions that are known to be missing; `false` if it is not known which are.
    fn append_missing(&self, at: &Position, out: &mut Vec<Move>) -> bool {
        if matches!(self.own.get(), Some(None)) {
            return true;
        }
        let Some(missing) = self.missing.get() else { return false };
        if !missing.is_empty() {
            let mut replies = at.chess().legal_moves().to_vec();
            missing.retain(&mut replies, |mv| at.key_after(*mv));
            replies.retain(|mv| !out.contains(mv));
            out.extend(replies);
        }
        true
    }

    /// Whether the own moves reach a position, or too many of them: follows them until this is known.
    fn reaches<B: Moves + ?Sized>(&self, book: &B, at: &Position, lines: &mut Lines) -> bool {
        let key = at.key();
        self.follow(book, lines, |lines| lines.met.keys().contains(&key) || lines.count > NEAR);
        if self.own.get().is_none() && !lines.met.keys().contains(&key) {
            let own = |at: &Position, out: &mut Vec<Move>| {
                out.extend(book.moves_in(at).iter().map(|facts| facts.mv))
            };
            match lines.search.reaches(at, false, own) {
                Some(true) => return true,
                // There may be too many of them.
                Some(false) if self.most == usize::MAX => return false,
                _ => self.follow(book, lines, |lines| lines.met.keys().contains(&key)),
            }
        }
        let own = self.own.get();
        own.is_none_or(|own| own.as_ref().is_none_or(|own| own.keys().contains(&key)))
    }

    /// Follows the own moves until `is_enough`, or all are known, or the work is interrupted.
    fn follow<B: Moves + ?Sized>(&self, book: &B, lines: &mut Lines, is_enough: impl Fn(&Lines) -> bool) {
        if self.own.get().is_some() {
            return;
        }
        if !is_known_by_key(book.variant()) {
            self.own.get_or_init(|| own_lines(book, self.most));
            return;
        }
        if lines.met.is_empty() {
            *lines = Lines { asked: lines.asked, ..Lines::new(book.variant()) };
        }
        let mut moves = Vec::new();
        while !is_enough(lines) && interrupt::check().is_ok() {
            let goes_on = lines.follow(book, &mut moves);
            if !goes_on || lines.count > self.most {
                let met = std::mem::take(lines).met;
                self.own.get_or_init(|| (!goes_on).then_some(met));
                return;
            }
        }
    }

    /// Reads the whole book to know all positions that are missing, if that is wanted. Returns whether they are known.
    fn read<B: Moves + ?Sized>(&self, book: &B, lines: &mut Lines) -> bool {
        if !self.may_read || self.missing.get().is_some() {
            return self.may_read;
        }
        self.follow(book, lines, |_| false);
        let Some(Some(own)) = self.own.get() else { return false };
        // Whoever asks finds that the work is interrupted.
        let Ok(missing) = missing(book, own) else { return false };
        self.missing.get_or_init(|| missing);
        true
    }
}

/// Whether books have each position under one key. Those of antichess may have castling rights in it.
pub fn has_one_key(variant: Variant) -> bool {
    !variant_facts(variant).has_common_kings
}

/// The positions with moves of a book that its own moves do not reach, or of which they do not reach all moves. Positions that
/// a format does not distinguish, mirrored or with colours swapped, count as one.
fn missing<B: Moves + ?Sized>(book: &B, own: &Met) -> Result<HeldKeys> {
    let mut missing = Vec::new();
    if is_known_by_key(book.variant()) && !book.holds_positions() {
        book.each_key(&mut |key| {
            if !own.keys().contains(&key) {
                missing.push(key);
            }
        })?;
        return Ok(missing.into());
    }
    book.each(Scope::All, &Progress::none(), &mut |known| {
        let is_reached = || has_form(known.key, known.position.as_ref(), own.keys());
        let lacks_one = || known.moves.iter().any(|facts| !own.has_shown(known.key, facts.mv));
        if !known.moves.is_empty() && (!is_reached() || lacks_one()) {
            missing.push(known.key);
        }
        Ok(())
    })?;
    Ok(missing.into())
}

/// Whether a position is among these, or another one that some formats do not distinguish from it.
pub fn has_form(key: u64, position: Option<&Position>, keys: &Keys) -> bool {
    let is_in = |chess: Chess| keys.contains(&Position::from_chess(chess).key());
    keys.contains(&key)
        || position
            .and_then(Position::standard)
            .is_some_and(|chess| forms(chess.clone()).into_iter().any(is_in))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;
    use tabiya_base::visit::Break;

    use super::*;
    use crate::tests::{LineBook, after, moves, mv};
    use crate::{PositionRecord, Visit};

    const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

    fn visited(book: &LineBook, from: ByPlies) -> Vec<(u32, u64)> {
        let mut visited = Vec::new();
        let replies = Replies::from(own_lines(book, usize::MAX));
        let seen = from.each(&Progress::none(), |Visited { at, plies, number, tracks }, follow| {
            visited.push((*plies, at.key()));
            let mut end = Position::start();
            for mv in tracks.line(*number) {
                end.play(MoveFacts::new(mv, 0).at(&end).unwrap().mv);
            }
            assert_eq!(end.key(), at.key());
            follow.extend(moves(book, at).iter().map(|facts| facts.mv));
            replies.append(book, at, follow);
            Ok(())
        });
        assert!(visited.iter().all(|(_, key)| seen.as_ref().unwrap().contains(key)));
        visited
    }

    #[test]
    fn each_position_comes_after_its_least_plies() {
        let book = LineBook::new(&[&LINES[..], &["g1f3 b8c6 e2e4 e7e5 f1b5"]].concat(), |_| true);
        let visited = visited(&book, ByPlies::default());
        assert!(visited.is_sorted_by_key(|(plies, _)| *plies));
        let plies =
            |line: &str| visited.iter().find(|(_, key)| *key == after(line).key()).map(|(plies, _)| *plies);
        assert_eq!(plies(""), Some(0));
        assert_eq!(plies("e2e4 e7e5 g1f3 b8c6"), Some(4));
        assert_eq!(plies("g1f3 b8c6 e2e4 e7e5 f1b5"), Some(5));
        let mut keys: Vec<_> = visited.iter().map(|(_, key)| *key).collect();
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_book_for_one_side_is_followed_along_replies() {
        for parity in [0, 1] {
            let book = LineBook::new(&LINES, |ply| ply % 2 == parity);
            let visited = visited(&book, ByPlies::default());
            assert!(book.moves.keys().all(|key| visited.iter().any(|(_, seen)| seen == key)));
        }
        let white = LineBook::new(&LINES, |ply| ply % 2 == 0);
        assert_eq!(visited(&white, ByPlies::default()).len(), 1 + 2 + 2 + 2);
    }

    /// A book as one whose keys alone are known.
    struct ByKey(LineBook);

    impl Moves for ByKey {
        fn variant(&self) -> Variant {
            Variant::Chess
        }

        fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
            let from = out.len();
            self.0.moves(at, out);
            // Of a key that others share not all moves are legal.
            let legal = at.chess().legal_moves();
            let mut place = 0;
            out.retain(|facts| {
                place += 1;
                place <= from || legal.contains(&facts.mv)
            });
        }

        fn drop_absent(&self, at: &Position, moves: &mut Vec<Move>) {
            moves.retain(|mv| self.0.moves.contains_key(&at.key_after(*mv)));
        }

        fn each(&self, _: Scope, _: &Progress, visit: Visit<'_>) -> Result<u64> {
            for (key, moves) in &self.0.moves {
                let moves = moves.iter().map(|mv| MoveFacts::new(MoveCode::from_move(*mv), 1)).collect();
                to_the_end(visit(&PositionRecord { key: *key, moves, ..PositionRecord::default() }))?;
            }
            Ok(0)
        }

        fn holds_positions(&self) -> bool {
            false
        }
    }

    /// The replies from each position of some games, in turn.
    fn appended(replies: &Replies, book: &ByKey, asked: &[Position]) -> Vec<Vec<Move>> {
        let append = |at: &Position| {
            let mut out = book.moves_in(at).iter().map(|facts| facts.mv).collect();
            replies.append(book, at, &mut out);
            out
        };
        asked.iter().map(append).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 1024)))]

        /// Few moves to choose from make transpositions and cycles; the pawns of the second start meet en passant.
        #[test]
        fn what_is_asked_alone_is_what_reading_the_book_shows(
            lines in prop::collection::vec(prop::collection::vec(0_usize..40, 1..12), 1..12),
            few in 1_usize..6,
            kept in any::<u64>(),
            collision in any::<Option<Index>>(),
            most in 0_usize..30,
        ) {
            let (mut book, mut asked) = (LineBook::default(), vec![Position::start()]);
            for (number, line) in lines.iter().enumerate() {
                let mut at = if number % 3 == 2 { after("e2e4 a7a6 e4e5 d7d5") } else { Position::start() };
                for (ply, choice) in line.iter().enumerate() {
                    let legal = at.chess().legal_moves();
                    let back = legal.iter().filter(|mv| !mv.is_zeroing()).count().max(1);
                    let place = if ply % 2 == 0 { choice % few } else { legal.len() - 1 - choice % few.min(back) };
                    let Some(mv) = legal.get(place % legal.len().max(1)).copied() else { break };
                    if kept >> ((ply + number) % 64) & 1 == 0 {
                        book.add(&at, mv);
                    }
                    at.play(mv);
                    asked.push(at.clone());
                }
            }
            if let Some(index) = collision {
                // As if another position had the same key.
                let at = index.get(&asked);
                book.moves.insert(at.key(), vec![mv(&after("a2a4"), "b8c6")]);
            }
            let book = ByKey(book);
            let own = own_lines(&book, usize::MAX).unwrap();
            let whole = Replies::of_missing(own.clone(), missing(&book, &own).unwrap());
            let expected = appended(&whole, &book, &asked);
            prop_assert_eq!(appended(&Replies::find(&book).unwrap(), &book, &asked), expected.clone());
            asked.reverse();
            let reversed: Vec<_> = expected.into_iter().rev().collect();
            prop_assert_eq!(appended(&Replies::find(&book).unwrap(), &book, &asked), reversed);
            let held: Vec<u64> = book.0.moves.keys().copied().collect();
            prop_assert_eq!(
                appended(&Replies::among(own.clone(), held.into()), &book, &asked),
                appended(&Replies::from(Some(own)), &book, &asked)
            );
            let at_once = Replies::from(own_lines(&book, most));
            prop_assert_eq!(
                appended(&Replies::within(most), &book, &asked),
                appended(&at_once, &book, &asked)
            );
        }
    }

    #[test]
    fn what_is_asked_decides_what_is_read() {
        let line = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1h1 f8e7 f1e1 b7b5";
        let other = "g1f3 e7e5 e2e4";
        let book = ByKey(LineBook::new(&[line, other], |_| true));
        let replies = Replies::find(&book).unwrap();
        book.0.asked();
        assert_eq!(appended(&replies, &book, &[after("g1f3 e7e5")])[0].len(), 1);
        assert!(book.0.asked() < 4);
        // The one transposition is found after few plies.
        assert_eq!(appended(&replies, &book, &[after("e2e4")])[0].len(), 1);
        assert!(replies.own.get().is_none() && replies.missing.get().is_none());
    }

    #[test]
    fn a_cycle_ends_unless_positions_count_again() {
        let book = LineBook::new(&["g1f3 g8f6 f3g1 f6g8"], |_| true);
        assert_eq!(visited(&book, ByPlies::default()).len(), 4);
        let mut last = 0;
        let from = ByPlies { again: true, ..ByPlies::default() };
        from.each(&Progress::none(), |visited, follow| {
            last = visited.plies;
            follow.extend(moves(&book, visited.at).iter().map(|facts| facts.mv));
            if last == 9 { Err(Break::Enough) } else { Ok(()) }
        })
        .unwrap();
        assert_eq!(last, 9);
    }

    #[test]
    fn several_starts_and_a_bound() {
        let book = LineBook::new(&LINES, |_| true);
        let starts = vec![(2, after("e2e4 e7e5")), (1, after("d2d4"))];
        let mut seen = Vec::new();
        let from = ByPlies { starts, most: 3, ..ByPlies::default() };
        from.each(&Progress::none(), |visited, follow| {
            seen.push((visited.plies, visited.at.key()));
            follow.extend(moves(&book, visited.at).iter().map(|facts| facts.mv));
            Ok(())
        })
        .unwrap();
        let expected = [(1, "d2d4"), (2, "d2d4 d7d5"), (2, "e2e4 e7e5")];
        assert_eq!(seen, expected.map(|(plies, line)| (plies, after(line).key())));
    }
}
