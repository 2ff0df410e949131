//! The positions that a book reaches, those in which its lines end, and the moves between them.
#![allow(clippy::cast_possible_truncation, reason = "chances are from 0 to 1")]

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use shakmaty::Position as _;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::choose::{Policy, Worth, chances};
use tabiya_book::traverse::{ByPlies, KeyHasher, Replies, Tracks};
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::value::result;
use tabiya_chess::{HeldPosition, MoveCode, Packed, Position, Variant, is_known_by_key};
use tabiya_learn::evals::value;
use tabiya_uci::Score;

use super::links::{Components, Links};
use super::minimax::{Backed, KnownValues, UNKNOWN};
use super::reach::reach;

/// A graph of positions. The starting position has the number 0, and positions after fewer plies have smaller numbers.
#[derive(Debug)]
pub struct Graph {
    variant: Variant,
    positions: Vec<HeldPosition>,
    /// How each position is reached first.
    tracks: Tracks,
    /// By [`Position::whole_key`].
    numbers: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    /// By keys, where these do not tell positions apart.
    of_key: HashMap<u64, Vec<u32>, BuildHasherDefault<KeyHasher>>,
    links: Links,
    components: Components,
    codes: Vec<MoveCode>,
    /// The chance of each move under the default policy.
    chances: Vec<f32>,
    /// Whether the book has the move; others are replies that lead back into it.
    own: Vec<bool>,
}

/// What replies have together where the book has a move to play: they are played, but the book does not say how often.
const REPLIES: f64 = 0.01;

/// The chances of a position's moves under the default policy, and of replies that the book does not have: these share
/// a hundredth, or everything where the book has no move to play.
fn share(moves: &[MoveFacts], replies: usize, scratch: &mut Vec<f64>, out: &mut Vec<f32>) {
    chances(moves, &Policy::default(), |_| true, scratch);
    let sum: f64 = scratch.iter().sum();
    let of_replies = match replies {
        0 => 0.0,
        _ if sum > 0.0 => REPLIES,
        _ => 1.0,
    };
    scratch.iter_mut().for_each(|chance| *chance *= 1.0 - of_replies);
    scratch.resize(moves.len() + replies, of_replies / replies.max(1) as f64);
    out.extend(scratch.iter().map(|chance| *chance as f32));
}

impl Graph {
    /// Follows all moves of a book from the starting position, and replies that lead back into it.
    ///
    /// # Errors
    /// When the work is interrupted, or the book is too large.
    pub fn from_book(book: &dyn Moves, progress: &Progress) -> Result<Self> {
        let replies = Replies::find(book, &[book], usize::MAX)?;
        let (mut positions, mut tracks) = (Vec::new(), Tracks::default());
        let (mut numbers, mut of_key) = (HashMap::default(), HashMap::<u64, Vec<u32>, _>::default());
        let (mut first, mut keys) = (vec![0_u32], Vec::<u64>::new());
        let (mut codes, mut all_chances, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let (mut moves, mut scratch) = (Vec::new(), Vec::new());
        let mut fits = true;
        progress.things(0, "positions");
        let variant = book.variant();
        ByPlies::of_variant(variant).each(progress, |visited, follow| {
            let at = visited.at;
            let number = u32::try_from(positions.len()).ok();
            let Some((number, held)) =
                number.and_then(|number| Some((number, HeldPosition::new(at, number)?)))
            else {
                fits = false;
                return Err(Break::Enough);
            };
            numbers.insert(at.whole_key(), number);
            if !at.is_known_by_key() {
                of_key.entry(at.key()).or_default().push(number);
            }
            positions.push(held);
            tracks.push(visited.tracks.before(visited.number));
            moves.clear();
            book.moves(at, &mut moves);
            follow.extend(moves.iter().map(|facts| facts.mv));
            replies.append(book, at, follow);
            share(&moves, follow.len() - moves.len(), &mut scratch, &mut all_chances);
            keys.extend(follow.iter().map(|mv| at.whole_key_after(*mv)));
            codes.extend(follow.iter().map(|mv| MoveCode::from_move(*mv)));
            own.extend((0..follow.len()).map(|place| place < moves.len()));
            let end = u32::try_from(keys.len());
            fits = end.is_ok();
            first.push(end.unwrap_or_default());
            if fits { Ok(()) } else { Err(Break::Enough) }
        })?;
        let to: Option<Vec<u32>> = keys.iter().map(|key| numbers.get(key).copied()).collect();
        let links = to.filter(|_| fits).and_then(|to| Links::new(first, to));
        let Some(links) = links else {
            return Err(Error::new(ErrorKind::File, "the book has more than 2^32 moves"));
        };
        let components = Components::new(&links);
        let chances = all_chances;
        Ok(Self { variant, positions, tracks, numbers, of_key, links, components, codes, chances, own })
    }

    /// The variant of chess.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether the book has no move from the starting position.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The numbers of all positions.
    pub fn numbers(&self) -> Range<u32> {
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// The number of a position, by its [`Position::whole_key`].
    pub fn number(&self, whole_key: u64) -> Option<u32> {
        self.numbers.get(&whole_key).copied()
    }

    /// The positions that a book finds by a key: more than one where keys do not tell them apart.
    pub fn with_key(&self, key: u64) -> impl Iterator<Item = Position> {
        let one = if is_known_by_key(self.variant) { self.number(key) } else { None };
        let others = self.of_key.get(&key).into_iter().flatten().copied();
        one.into_iter().chain(others).filter_map(|number| self.position(number))
    }

    /// The position of a number. Its counters of moves are not those of a game.
    pub fn position(&self, number: u32) -> Option<Position> {
        self.positions.get(number as usize)?.position()
    }

    /// The positions that one move after another leads through, from the starting position to this one, and the moves.
    pub fn line(&self, number: u32) -> Vec<MoveCode> {
        self.tracks.line(number)
    }

    /// The numbers of a position's moves.
    pub fn moves(&self, number: u32) -> Range<usize> {
        self.links.range(number)
    }

    /// A move by its number: its code, where it leads to, its chance, and whether the book has it.
    pub fn step(&self, number: u32, mv: usize) -> Option<(MoveCode, u32, f32, bool)> {
        let to = self.links.from(number).get(mv - self.links.range(number).start)?;
        Some((*self.codes.get(mv)?, *to, *self.chances.get(mv)?, *self.own.get(mv)?))
    }

    /// Where a move leads to, if it is in the graph.
    pub fn after(&self, number: u32, mv: MoveCode) -> Option<u32> {
        let place = self.moves(number).find(|place| self.codes.get(*place) == Some(&mv))?;
        self.step(number, place).map(|(_, to, ..)| to)
    }

    /// The probability that play reaches each position, if both sides choose by the default policy.
    pub fn reach(&self) -> Vec<f64> {
        reach(&self.links, &self.components, &self.chances)
    }

    /// The probability that play reaches each position if the moves are those of another book, which has no others.
    pub fn reach_under(&self, book: &dyn Moves) -> (Vec<f64>, Vec<bool>) {
        let mut changed = vec![0.0; self.codes.len()];
        let mut ends = vec![false; self.len()];
        let (mut moves, mut shares, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        for (number, end) in (0_u32..).zip(&mut ends) {
            let Some(at) = self.position(number) else { continue };
            moves.clear();
            book.moves(&at, &mut moves);
            shares.clear();
            let replies = self.moves(number).filter(|place| self.own.get(*place) == Some(&false)).count();
            share(&moves, replies, &mut scratch, &mut shares);
            *end = !shares.iter().any(|share| *share > 0.0);
            for place in self.moves(number) {
                let (Some(chance), Some(code)) = (changed.get_mut(place), self.codes.get(place)) else {
                    continue;
                };
                let found = moves.iter().position(|facts| MoveCode::from_move(facts.mv) == *code);
                let is_reply = self.own.get(place) == Some(&false);
                let reply = if is_reply { shares.get(moves.len()) } else { None };
                *chance = found.and_then(|found| shares.get(found)).or(reply).copied().unwrap_or_default();
            }
        }
        (reach(&self.links, &self.components, &changed), ends)
    }

    /// What is known of the positions before values are backed up: the evaluations that `find` returns for positions that
    /// are packed by [`Packed::strict`], and how games end.
    pub fn known(&self, mut find: impl FnMut(&Packed) -> Option<Score>) -> KnownValues {
        let mut known = KnownValues::default();
        for held in &self.positions {
            let at = held.position();
            known.white.push(at.as_ref().is_none_or(|at| at.chess().turn().is_white()));
            let own = at.and_then(|at| result(&at).or_else(|| find(&Packed::strict(&at)?).map(value)));
            known.own.push(own.unwrap_or(UNKNOWN));
        }
        known
    }

    /// What a position of the graph and its moves are worth, by values that were backed up.
    pub fn worth(&self, backed: &Backed, at: &Position, moves: &[MoveFacts]) -> Option<Worth> {
        let number = self.number(at.whole_key())?;
        let white = at.chess().turn().is_white();
        let of = |mv| backed.get(white, self.after(number, MoveCode::from_move(mv))?);
        Some(Worth::new(backed.get(white, number), moves.iter().map(|facts| (facts.mv, of(facts.mv)))))
    }

    /// Backs values up.
    pub fn back_up(&self, known: &KnownValues) -> Backed {
        Backed::new(&self.links, &self.links.reversed(), &self.components, known)
    }
}
