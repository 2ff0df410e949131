//! Values are backed up from the ends of lines through the graph of positions.
//!
//! A position is worth the better of its own evaluation and its best move, because neither side has to stay in the book.
//! What a move is worth is what the side that makes it is then sure of.
//!
//! # Cycles
//! Where positions lead to each other in a cycle, a side is sure only of what it can force by leaving the cycle, in finitely many
//! moves and whatever the other side does: repeating positions guarantees nothing to either side. So each position has two
//! values, what White can force and what Black can force. They are the same outside of cycles, and in cycles whose positions are
//! all evaluated and where each side would rather leave than let the other one leave. A value is never better for a side than the
//! ways out that it can reach, because each is the value of one of them.
//!
//! A side that is to move may stop at its own evaluation of the position. The other side cannot make it leave where it can
//! go on, and a position without an evaluation offers no way out at all; so a move from it counts for neither side unless that
//! move can be forced. What neither side can force has no value, and moves there are not judged.
//!
//! An evaluation covers all moves of its position. So where nothing is known of a move, the other moves and the
//! evaluation decide what its position is worth to the other side; without an evaluation it is not known.
//!
//! # Chances
//! Where it is known how often the other side plays each move, and no cycle leads back, a position is worth the average of
//! its moves: see [`average()`]. What the chances lack to 1 it plays what is best for it.
#![allow(clippy::indexing_slicing, reason = "numbers of positions come from the graph itself")]
#![allow(clippy::cast_possible_truncation, reason = "a position has fewer than 2^32 moves")]

mod average;
#[cfg(test)]
mod tests;

use std::collections::BinaryHeap;

use tabiya_chess::Value;

use super::links::{Components, Links};

use average::average;
pub(crate) use average::winning_chances;

/// A value that is not known.
pub const UNKNOWN: Value = Value::MIN;

/// What chances lack to 1 though they are all that is played.
const ROUNDING: f64 = 1e-4;

/// What is known of each position before values are backed up.
#[derive(Clone, Debug, Default)]
pub struct KnownValues {
    /// Whether White is to move.
    pub white: Vec<bool>,
    /// Its own evaluation for the side to move, or [`UNKNOWN`].
    pub own: Vec<Value>,
    /// How often each move is played, in the order of the moves. What those of a position lack to 1 is how often its side to move
    /// plays what is best for it; so they may all be 0. Empty if there are no others.
    pub chances: Vec<f32>,
}

/// What each side can force in each position.
#[derive(Clone, Debug, Default)]
pub struct Backed {
    /// For White, from White's point of view.
    by_white: Vec<Value>,
    /// For Black, from Black's point of view.
    by_black: Vec<Value>,
}

impl Backed {
    /// Backs values up through a graph, in time proportional to its moves, apart from sorting within cycles.
    pub fn new(links: &Links, backwards: &Links, components: &Components, known: &KnownValues) -> Self {
        let pass = |us| Pass::new(links, backwards, components, known, us).values;
        Self { by_white: pass(true), by_black: pass(false) }
    }

    /// What a side can force from a position, from its own point of view.
    pub fn get(&self, white: bool, at: u32) -> Option<Value> {
        let values = if white { &self.by_white } else { &self.by_black };
        values.get(at as usize).copied().filter(|value| *value != UNKNOWN)
    }
}

/// The calculation of what one side can force.
struct Pass<'a> {
    links: &'a Links,
    backwards: &'a Links,
    components: &'a Components,
    known: &'a KnownValues,
    us: bool,
    /// What we can force, from our point of view.
    values: Vec<Value>,
    /// Within a cycle: what is known so far of the position's evaluation and of the moves that lead out of the cycle or
    /// to positions whose value is known.
    bounds: Vec<Value>,
    /// Within a cycle, where they are to move: how many moves lead to positions whose value is not known.
    waiting: Vec<u32>,
}

impl<'a> Pass<'a> {
    fn new(
        links: &'a Links,
        backwards: &'a Links,
        components: &'a Components,
        known: &'a KnownValues,
        us: bool,
    ) -> Self {
        let positions = links.positions();
        let values = vec![UNKNOWN; positions];
        let (bounds, waiting) = (vec![UNKNOWN; positions], vec![0; positions]);
        let mut pass = Self { links, backwards, components, known, us, values, bounds, waiting };
        for number in 0..components.len() {
            if components.is_cycle(number, links) {
                pass.cycle(components.members(number));
            } else if let [at] = components.members(number) {
                let (bound, unknown) = pass.look(*at);
                let counts = unknown == 0 || pass.is_ours(*at) || pass.is_evaluated(*at);
                let forced = if counts { bound } else { UNKNOWN };
                pass.values[*at as usize] = pass.expected(*at, forced).unwrap_or(forced);
            }
        }
        pass
    }

    fn is_ours(&self, at: u32) -> bool {
        self.known.white[at as usize] == self.us
    }

    fn is_evaluated(&self, at: u32) -> bool {
        self.known.own[at as usize] != UNKNOWN
    }

    /// The better one for the side that is to move at a position.
    fn join(&self, at: u32, one: Value, other: Value) -> Value {
        match (one, other) {
            (UNKNOWN, value) | (value, UNKNOWN) => value,
            _ if self.is_ours(at) => one.max(other),
            _ => one.min(other),
        }
    }

    /// The best for the side to move of the position's evaluation and the known moves; and how many moves are not known.
    fn look(&self, at: u32) -> (Value, u32) {
        let own = self.known.own[at as usize];
        let own = if self.is_ours(at) || own == UNKNOWN { own } else { -own };
        let (mut bound, mut unknown) = (own, 0);
        for to in self.links.from(at) {
            match self.values[*to as usize] {
                UNKNOWN => unknown += 1,
                value => bound = self.join(at, bound, value),
            }
        }
        (bound, unknown)
    }

    /// What a position of theirs is worth where it is known how often they play each move, and `forced` where it is not. A move
    /// after which nothing is known counts as the position's evaluation.
    fn expected(&self, at: u32, forced: Value) -> Option<Value> {
        let chances = self.known.chances.get(self.links.range(at)).filter(|_| !self.is_ours(at))?;
        let own = if self.is_evaluated(at) { -self.known.own[at as usize] } else { UNKNOWN };
        let value = |to: u32| Some(self.values[to as usize]).filter(|value| *value != UNKNOWN).unwrap_or(own);
        let moves = self.links.from(at).iter().zip(chances).filter(|(_, chance)| **chance > 0.0);
        let left = 1.0 - chances.iter().copied().map(f64::from).sum::<f64>();
        let rest = (left > ROUNDING && left < 1.0).then_some((forced, left));
        average(moves.map(|(to, chance)| (value(*to), f64::from(*chance))).chain(rest))
    }

    /// Positions get their values from the greatest down. At a position of ours the first value that a move reaches is
    /// the best; at one of theirs the last. What is left then cannot be forced.
    fn cycle(&mut self, members: &[u32]) {
        let number = members.first().map(|at| self.components.get(*at));
        let inside = |at: u32, components: &Components| Some(components.get(at)) == number;
        let mut ready = BinaryHeap::new();
        for &at in members {
            let (bound, mut unknown) = self.look(at);
            if self.is_evaluated(at) {
                // Only moves within the cycle may become known.
                unknown =
                    self.links.from(at).iter().filter(|to| inside(**to, self.components)).count() as u32;
            }
            (self.bounds[at as usize], self.waiting[at as usize]) = (bound, unknown);
            if bound != UNKNOWN && (self.is_ours(at) || unknown == 0) {
                ready.push((bound, at));
            }
        }
        let mut same = Vec::new();
        while let Some((value, at)) = ready.pop() {
            same.push(at);
            while let Some(at) = same.pop() {
                if self.values[at as usize] != UNKNOWN {
                    continue;
                }
                self.values[at as usize] = value;
                for &before in self.backwards.from(at) {
                    let place = before as usize;
                    if !inside(before, self.components) || self.values[place] != UNKNOWN {
                        continue;
                    }
                    if self.is_ours(before) {
                        same.push(before);
                        continue;
                    }
                    self.bounds[place] = self.join(before, self.bounds[place], value);
                    self.waiting[place] -= 1;
                    match self.bounds[place] {
                        bound if self.waiting[place] > 0 || bound == UNKNOWN => {}
                        bound if bound >= value => same.push(before),
                        bound => ready.push((bound, before)),
                    }
                }
            }
        }
        for &at in members {
            // From outside, an evaluation counts where the other side can go round without end.
            if self.values[at as usize] == UNKNOWN && self.is_evaluated(at) {
                self.values[at as usize] = self.bounds[at as usize];
            }
        }
    }
}
