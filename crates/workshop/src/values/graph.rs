//! The positions that a book reaches, those in which its lines end, and the moves between them.
#![allow(clippy::cast_possible_truncation, reason = "chances are from 0 to 1")]

use std::ops::Range;

use shakmaty::Position as _;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::choose::{Policy, Worth, chances};
use tabiya_book::traverse::{ByPlies, Replies};
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::value::result;
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_search::Knowledge;
use tabiya_search::evals::{Limit, value};
use tabiya_uci::Score;

use super::links::Links;
use super::minimax::{Backed, KnownValues, UNKNOWN};
use super::positions::Positions;
use super::structure::Structure;

/// The graph of a book's positions. The starting position has the number 0, and positions after fewer plies have smaller numbers.
#[derive(Debug)]
pub struct Graph {
    positions: Positions,
    structure: Structure,
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
        let replies = Replies::find(book)?;
        let variant = book.variant();
        let mut positions = Positions::of_variant(variant);
        let (mut first, mut keys) = (vec![0_u32], Vec::<u64>::new());
        let (mut codes, mut chances, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let (mut moves, mut scratch) = (Vec::new(), Vec::new());
        let mut fits = true;
        progress.things(0, "positions");
        ByPlies::of_variant(variant).each(progress, |visited, follow| {
            let at = visited.at;
            fits = positions.add(at, visited.tracks.before(visited.number)).is_some();
            if !fits {
                return Err(Break::Enough);
            }
            moves.clear();
            book.moves(at, &mut moves);
            follow.extend(moves.iter().map(|facts| facts.mv));
            replies.append(book, at, follow);
            share(&moves, follow.len() - moves.len(), &mut scratch, &mut chances);
            keys.extend(follow.iter().map(|mv| at.whole_key_after(*mv)));
            codes.extend(follow.iter().map(|mv| MoveCode::from_move(*mv)));
            own.extend((0..follow.len()).map(|place| place < moves.len()));
            let end = u32::try_from(keys.len());
            fits = end.is_ok();
            first.push(end.unwrap_or_default());
            if fits { Ok(()) } else { Err(Break::Enough) }
        })?;
        let to: Option<Vec<u32>> = keys.iter().map(|key| positions.number(*key)).collect();
        let links = to.filter(|_| fits).and_then(|to| Links::new(first, to));
        let Some(links) = links else {
            return Err(Error::new(ErrorKind::File, "the book has more than 2^32 moves"));
        };
        Ok(Self { positions, structure: Structure::new(links), codes, chances, own })
    }

    /// The positions.
    pub fn positions(&self) -> &Positions {
        &self.positions
    }

    /// Whether the book has no move from the starting position.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The numbers of a position's moves.
    pub fn moves(&self, number: u32) -> Range<usize> {
        self.structure.links.range(number)
    }

    /// A move by its number: its code, where it leads to, its chance, and whether the book has it.
    pub fn step(&self, number: u32, mv: usize) -> Option<(MoveCode, u32, f32, bool)> {
        let to = self.structure.links.from(number).get(mv - self.structure.links.range(number).start)?;
        Some((*self.codes.get(mv)?, *to, *self.chances.get(mv)?, *self.own.get(mv)?))
    }

    /// Where a move leads to, if it is in the graph.
    pub fn after(&self, number: u32, mv: MoveCode) -> Option<u32> {
        let place = self.moves(number).find(|place| self.codes.get(*place) == Some(&mv))?;
        self.step(number, place).map(|(_, to, ..)| to)
    }

    /// The probability that play reaches each position, if both sides choose by the default policy.
    pub fn reach(&self) -> Vec<f64> {
        self.structure.reach(&self.chances)
    }

    /// The probability that play reaches each position if the moves are those of another book, which has no others.
    pub fn reach_under(&self, book: &dyn Moves) -> (Vec<f64>, Vec<bool>) {
        let mut changed = vec![0.0; self.codes.len()];
        let mut ends = vec![false; self.positions.len()];
        let (mut moves, mut shares, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        for (number, end) in (0_u32..).zip(&mut ends) {
            let Some(at) = self.positions.get(number) else { continue };
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
        (self.structure.reach(&changed), ends)
    }

    /// What is known of the positions before values are backed up: the evaluations that `find` returns for positions that
    /// are packed by [`Packed::strict`], and how games end.
    pub fn known(&self, mut find: impl FnMut(&Packed) -> Option<Score>) -> KnownValues {
        let mut known = KnownValues::default();
        for number in self.positions.numbers() {
            let at = self.positions.get(number);
            known.white.push(at.as_ref().is_none_or(|at| at.chess().turn().is_white()));
            let own = at.and_then(|at| result(&at).or_else(|| find(&Packed::strict(&at)?).map(value)));
            known.own.push(own.unwrap_or(UNKNOWN));
        }
        known
    }

    /// What a position of the graph and its moves are worth, by values that were backed up.
    pub fn worth(&self, backed: &Backed, at: &Position, moves: &[MoveFacts]) -> Option<Worth> {
        let number = self.positions.number(at.whole_key())?;
        let white = at.chess().turn().is_white();
        let of = |mv| backed.get(white, self.after(number, MoveCode::from_move(mv))?);
        Some(Worth::new(backed.get(white, number), moves.iter().map(|facts| (facts.mv, of(facts.mv)))))
    }

    /// Backs values up.
    pub fn back_up(&self, known: &KnownValues) -> Backed {
        self.structure.back_up(known)
    }

    /// Those of some positions, by their numbers, that are to be searched, the most probable first; and how many need no search.
    pub fn wanted(
        &self,
        numbers: impl IntoIterator<Item = u32>,
        knowledge: &Knowledge,
        limit: Limit,
    ) -> (Vec<u32>, u64) {
        let reach = self.reach();
        let positions = numbers.into_iter().filter_map(|number| Some((number, self.positions.get(number)?)));
        let (mut wanted, known) = knowledge.wanted(positions, limit);
        let chance = |number: &u32| reach.get(*number as usize).copied().unwrap_or_default();
        // Stable: of equally probable positions those after fewer plies come first.
        wanted.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
        (wanted, known)
    }
}
