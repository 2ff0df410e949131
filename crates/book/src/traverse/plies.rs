//! Traverses a book breadth first with the plies of each position. Every position takes 8 bytes for its track and a key in
//! a set, and 32 bytes more while it waits.

use std::sync::OnceLock;

use shakmaty::{Chess, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Break, Seen, to_the_end};
use tabiya_chess::normal::forms;
use tabiya_chess::{HeldPosition, MoveCode, Position, Variant, is_known_by_key};

use super::{Keys, Met, own_lines};
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

/// The replies that a book does not have but that lead back into it, as in a book for one side.
#[derive(Clone, Debug)]
pub struct Replies {
    /// The positions that the book's own moves reach; `None` if they reach everything, and no reply has to be followed.
    own: OnceLock<Option<Met>>,
    /// The keys of the positions that they do not reach, or of which they do not reach all moves, where these are known.
    missing: Option<Keys>,
    /// At how many positions at most is looked to find them.
    most: usize,
}

impl From<Option<Met>> for Replies {
    /// Replies to positions that are not among these, which the book's own moves reach; without them no replies.
    fn from(own: Option<Met>) -> Self {
        Self { own: own.into(), missing: None, most: 0 }
    }
}

impl Default for Replies {
    fn default() -> Self {
        None.into()
    }
}

impl Replies {
    /// Finds out whether the `lines` of some books together leave out positions of any of the `books`. If the lines reach
    /// more than `most` positions, no replies are followed.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn find<B: Moves + ?Sized>(lines: &B, books: &[&dyn Moves], most: usize) -> Result<Self> {
        let Some(own) = own_lines(lines, most) else { return Ok(Self::default()) };
        let mut missing = Keys::default();
        for book in books {
            if !add_missing(*book, &own, most, &mut missing)? {
                return Ok(Some(own).into());
            }
        }
        if missing.is_empty() {
            return Ok(Self::default());
        }
        Ok(Self { own: Some(own).into(), missing: Some(missing), most: 0 })
    }

    /// Those of one book beyond its own moves, which do not reach all of its positions, or may not reach all of its moves; `None`
    /// if they do.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub(super) fn beyond<B: Moves + ?Sized>(book: &B, own: Met) -> Result<Option<Self>> {
        if is_known_by_key(book.variant()) {
            return Ok(Some(Some(own).into()));
        }
        let mut missing = Keys::default();
        add_missing(book, &own, usize::MAX, &mut missing)?;
        let replies = Self { own: Some(own).into(), missing: Some(missing), most: 0 };
        Ok(Some(replies).filter(|replies| replies.missing.as_ref().is_some_and(|keys| !keys.is_empty())))
    }

    /// Those of one book, whose own moves are followed as soon as a move may be a reply. If they reach more than `most`
    /// positions, no replies are followed.
    pub fn within(most: usize) -> Self {
        Self { own: OnceLock::new(), missing: None, most }
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
        if matches!(self.own.get(), Some(None)) {
            return;
        }
        if let Some(missing) = &self.missing {
            let mut replies = at.chess().legal_moves();
            replies.retain(|mv| missing.contains(&at.key_after(*mv)) && !out.contains(mv));
            return out.extend(replies);
        }
        let mut there: Vec<MoveFacts> = Vec::new();
        for mv in at.chess().legal_moves() {
            let key = at.key_after(mv);
            let is_reached = |own: &Option<Met>| own.as_ref().is_none_or(|own| own.keys().contains(&key));
            let is_met = || met.is_some_and(|met| !met.may_be_new(at, mv));
            if self.own.get().is_some_and(is_reached) || out.contains(&mv) || is_met() || book.lacks(key) {
                continue;
            }
            there.clear();
            book.moves(&at.after(mv), &mut there);
            if !there.is_empty() && !is_reached(self.own.get_or_init(|| own_lines(book, self.most))) {
                out.push(mv);
            }
        }
    }
}

/// Adds the positions with moves of a book that its own moves do not reach, or of which they do not reach all moves. Positions that
/// a format does not distinguish, mirrored or with colours swapped, count as one. Returns whether there are at most `most`.
fn add_missing<B: Moves + ?Sized>(book: &B, own: &Met, most: usize, missing: &mut Keys) -> Result<bool> {
    book.each(Scope::All, &Progress::none(), &mut |known| {
        let is_reached = || has_form(known.key, known.position.as_ref(), own.keys());
        let lacks_one = || known.moves.iter().any(|facts| !own.has_shown(known.key, facts.mv));
        if !known.moves.is_empty() && (!is_reached() || lacks_one()) {
            missing.insert(known.key);
        }
        if missing.len() > most { Err(Break::Enough) } else { Ok(()) }
    })?;
    Ok(missing.len() <= most)
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
    use super::*;
    use crate::tests::{LineBook, after, moves};

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
        assert!(Replies::find(&white, &[&white], 0).unwrap().own.get().unwrap().is_none());
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
