//! What is searched next: drop-out expansion.
//!
//! A position is the more urgent the more probable a game reaches it, and the likelier the book goes on through it. So the
//! chance of each move on the way counts, and costs make it smaller:
//!
//! | cost | constant |
//! |---|---|
//! | an error of ours: the book plays a better move unless that turns out to be worse | [`OUR_ERROR`] |
//! | an error of theirs: the game is easier to win without the book | [`THEIR_ERROR`] |
//! | each ply | [`DEPTH`] |
//!
//! The three costs are those of T. R. Lincke, "Strategies for the Automatic Construction of Opening Books" (CG 2000, LNCS 2063),
//! where the leaf of the least sum is expanded, and the moves of the opponent all count alike. Here they have their chances, as in
//! "Search-Based Opening Book Construction" (ICGA Journal 2018, doi 10.3233/ICG-180039).
#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "numbers of positions and moves come from the tree itself, and are below 2^32"
)]

use shakmaty::Color;

use tabiya_book::choose::Loss;
use tabiya_chess::Value;

use crate::values::Backed;

use super::tree::{Edge, NONE, Next, Node, Shape, State, Tree, next_worth};

/// An error of ours of this many centipawns makes a line e times less urgent. Weights of moves are divided by it too: what makes
/// a move be played less makes it be looked into less. With 30, 30,000 searches from gnuchess's book left only 750 positions with a
/// move of ours: they went to too many good moves.
pub(crate) const OUR_ERROR: f64 = 5.0;

/// The same of an error of theirs.
const THEIR_ERROR: f64 = 120.0;

/// The same in plies.
const DEPTH: f64 = 60.0;

/// What an engine's opponent loses, in centipawns, that makes its move e times less probable.
const TEMPERATURE: f64 = 30.0;

/// How often the opponent plays the engine's best move instead of those of its book, where a book for both sides has that move.
const SURPRISE: f64 = 0.01;

/// What is to be searched, and how urgent that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// How probable it is that the book needs it.
    pub urgency: f64,
    pub number: u32,
    /// Whether the position has been searched, and the next move is looked for.
    pub next: bool,
}

/// Values and chances of a tree for a book of one side.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub tree: &'a Tree,
    pub shape: &'a Shape,
    pub side: Color,
    pub backed: Backed,
}

impl<'a> View<'a> {
    /// Backs the values up.
    pub fn new(tree: &'a Tree, shape: &'a Shape, side: Color) -> Self {
        let backed = shape.structure.back_up(&tree.known(shape, side));
        Self { tree, shape, side, backed }
    }

    /// What a position is worth for the side of the book.
    pub fn value(&self, number: u32) -> Option<Value> {
        self.backed.get(self.side.is_white(), number)
    }

    /// Whether the side of the book is to move.
    pub fn is_ours(&self, node: &Node) -> bool {
        node.white == self.side.is_white()
    }

    /// The moves of a position.
    pub fn edges(&self, number: u32) -> impl Iterator<Item = (u32, &'a Edge)> + Clone {
        let numbers = &self.shape.order[self.shape.structure.links.range(number)];
        numbers.iter().map(|number| (*number, &self.tree.edges[*number as usize]))
    }

    /// What a move is worth for the side that makes it: what was found after it, or else what the search that found it says.
    pub fn worth(&self, node: &Node, edge: &Edge) -> Value {
        match self.value(edge.to) {
            Some(value) if self.is_ours(node) => value,
            Some(value) => -value,
            None => node.own,
        }
    }

    /// What the move after those of a position may be worth for the side that makes it.
    fn next_worth(&self, node: &Node) -> Option<Value> {
        let may_be = node.state == State::Searched && node.next != Next::None && node.best != NONE;
        (may_be && self.tree.is_followed(node)).then(|| next_worth(node))
    }

    /// What each move of a position is worth that counts there, in their order.
    fn worths(&self, number: u32, out: &mut Vec<Option<Value>>) {
        let node = &self.tree.nodes[number as usize];
        let counts = |edge: &Edge| match self.is_ours(node) {
            true => edge.reason.ours || edge.reason.engine,
            false => edge.reason.chance > 0.0 || edge.reason.engine,
        };
        out.clear();
        out.extend(self.edges(number).map(|(_, edge)| counts(edge).then(|| self.worth(node, edge))));
    }

    /// How probable the moves of a position are, in their order, if they are chosen by what they lose; and the move after them.
    fn by_loss(
        worths: impl Iterator<Item = Option<Value>> + Clone,
        next: Option<Value>,
        scale: f64,
        out: &mut Vec<f64>,
    ) -> f64 {
        let best = worths.clone().chain([next]).flatten().max();
        let weigh = |worth: Option<Value>| match (worth, best) {
            (Some(worth), Some(best)) => weight(worth, best, scale),
            _ => 0.0,
        };
        out.clear();
        out.extend(worths.map(weigh));
        let next = weigh(next);
        let sum = (out.iter().sum::<f64>() + next).max(f64::MIN_POSITIVE);
        out.iter_mut().for_each(|chance| *chance /= sum);
        next / sum
    }

    /// How probable the moves of a position of theirs are, in their order; and the move after them. `surprise` is the chance that
    /// they leave their books for the engine's best move.
    fn theirs(&self, number: u32, worths: &[Option<Value>], surprise: f64, out: &mut Vec<f64>) -> f64 {
        let node = &self.tree.nodes[number as usize];
        let left = f64::from(node.left);
        let engine =
            self.edges(number).zip(worths).map(|((_, edge), worth)| worth.filter(|_| edge.reason.engine));
        let next = Self::by_loss(engine, self.next_worth(node), TEMPERATURE, out);
        let mut rest = surprise * (1.0 - left);
        for ((_, edge), chance) in self.edges(number).zip(out) {
            let from_books = match f64::from(edge.reason.chance) {
                0.0 if edge.reason.engine => std::mem::take(&mut rest),
                chance => chance * (1.0 - surprise),
            };
            *chance = *chance * left + from_books;
        }
        next * left
    }

    /// As [`View::theirs`], without surprises.
    pub fn replies(&self, number: u32, out: &mut Vec<f64>) {
        let mut worths = Vec::new();
        self.worths(number, &mut worths);
        self.theirs(number, &worths, 0.0, out);
    }

    /// The chances of a position's moves, times what lowers them, in their order; and that of the move after them.
    fn spread(&self, number: u32, worths: &mut Vec<Option<Value>>, moves: &mut Vec<f64>) -> f64 {
        let node = &self.tree.nodes[number as usize];
        self.worths(number, worths);
        let ply = libm::exp(-1.0 / DEPTH);
        if self.is_ours(node) {
            let next = Self::by_loss(worths.iter().copied(), self.next_worth(node), OUR_ERROR, moves);
            moves.iter_mut().for_each(|chance| *chance *= ply);
            return next;
        }
        let next = self.theirs(number, worths, SURPRISE, moves);
        let best = worths.iter().copied().flatten().max();
        for (chance, worth) in moves.iter_mut().zip(worths) {
            if let (Some(worth), Some(best)) = (*worth, best) {
                *chance *= ply * weight(worth, best, THEIR_ERROR);
            }
        }
        next
    }

    /// Adds how urgent it is to search each position, and to look for its next move.
    pub(crate) fn add_urgency(&self, new: &mut [f64], next: &mut [f64]) {
        let mut chances = Vec::with_capacity(self.shape.structure.links.moves());
        let (mut worths, mut moves) = (Vec::new(), Vec::new());
        let mut after = vec![0.0_f32; self.tree.len()];
        for (number, after) in (0_u32..).zip(&mut after) {
            *after = self.spread(number, &mut worths, &mut moves) as f32;
            chances.extend(moves.iter().map(|chance| *chance as f32));
        }
        let reach = self.shape.structure.reach(&chances);
        for (number, node) in self.tree.nodes.iter().enumerate() {
            match node.state {
                State::New => new[number] += reach[number],
                State::Searched if node.next == Next::Open => {
                    next[number] += reach[number] * f64::from(after[number])
                }
                _ => {}
            }
        }
    }
}

/// By how much a loss makes a move less probable.
fn weight(worth: Value, best: Value, scale: f64) -> f64 {
    libm::exp(-f64::from(Loss::new(worth, best).centipawns()) / scale)
}

/// The most urgent searches, at most `count`, the most urgent first.
pub(crate) fn most_urgent(tree: &Tree, shape: &Shape, sides: &[Color], count: usize) -> Vec<Candidate> {
    let (mut new, mut next) = (vec![0.0; tree.len()], vec![0.0; tree.len()]);
    for side in sides {
        View::new(tree, shape, *side).add_urgency(&mut new, &mut next);
    }
    let candidate =
        |next| move |(number, urgency): (u32, &f64)| Candidate { urgency: *urgency, number, next };
    let all = (0..).zip(&new).map(candidate(false)).chain((0..).zip(&next).map(candidate(true)));
    let mut all: Vec<_> = all.filter(|candidate| candidate.urgency > 0.0).collect();
    // Of equally urgent ones the earlier position, so that the order never depends on anything else.
    let order = |a: &Candidate, b: &Candidate| {
        b.urgency.total_cmp(&a.urgency).then(a.number.cmp(&b.number)).then(a.next.cmp(&b.next))
    };
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}
