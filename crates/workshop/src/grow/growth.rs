//! A book while it grows: which searches are made next, and what becomes of what they find. Pure: no engine, no clock.
#![allow(clippy::indexing_slicing, reason = "numbers of positions and moves come from the tree itself")]

use shakmaty::{Color, Move, Position as _};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::choose::{Policy, chances};
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::{MoveCode, Position, Value, Variant};
use tabiya_search::PositionSearch;
use tabiya_search::evals::Limit;

use crate::expected::{Expected, ExpectedMove};

use super::drop_out::most_urgent;
use super::tree::{Next, Reason, Shape, State, Tree};

/// The greatest effort of a search, as a power of two.
const MAX_EFFORT: u32 = 5;

/// A search that is to be made.
#[derive(Clone, Debug)]
pub struct Task {
    /// The position.
    pub at: Position,
    /// Moves that the engine must not choose.
    pub without: Vec<MoveCode>,
    /// How many times as long as the least probable positions it is searched.
    pub times: u64,
    /// The number of the position.
    number: u32,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The value of the position for the side to move.
    pub value: Value,
    /// The best move.
    pub best: MoveCode,
}

impl Task {
    /// A search that belongs to no growth here, such as one from a plan.
    pub fn new(at: Position, without: Vec<MoveCode>, times: u64) -> Self {
        Self { at, without, times: times.max(1), number: 0 }
    }

    /// How long it lasts where `limit` is that of the least probable positions.
    pub(crate) fn limit(&self, limit: Limit) -> Limit {
        if self.times == 1 { limit } else { limit.times(self.times) }
    }

    /// What an engine is to do.
    pub(crate) fn search(self, limit: Limit) -> PositionSearch {
        let limit = self.limit(limit);
        PositionSearch { at: self.at, without: self.without, limit }
    }
}

/// A growing book.
#[derive(Debug)]
pub struct Growth<'a> {
    pub(crate) tree: Tree,
    /// The book that it grows from.
    seed: Option<&'a dyn Moves>,
    opponent: Expected<'a>,
    /// The sides that it is for.
    pub(crate) sides: Vec<Color>,
}

/// How many times as long a position of this urgency is searched. It follows the square root of the probability: 32 times where
/// a quarter of the games come, once where fewer than one in 1024 do.
fn times(urgency: f64) -> u64 {
    (1..=MAX_EFFORT)
        .fold((1 << MAX_EFFORT, 1.0), |(times, least), _| match least / 4.0 {
            least if urgency < least => (times / 2, least),
            least => (times, least),
        })
        .0
}

impl<'a> Growth<'a> {
    /// Nothing but the starting position of a variant, which is that of the books.
    pub fn new(
        variant: Variant,
        seed: Option<&'a dyn Moves>,
        opponent: Expected<'a>,
        sides: &[Color],
    ) -> Self {
        Self { tree: Tree::new(variant), seed, opponent, sides: sides.to_vec() }
    }

    /// The variant of chess.
    pub fn variant(&self) -> Variant {
        self.tree.positions.variant()
    }

    /// The book that it grows from.
    pub(crate) fn seed(&self) -> Option<&'a dyn Moves> {
        self.seed
    }

    /// What the opponent is expected to play.
    pub(crate) fn opponent(&self) -> &Expected<'a> {
        &self.opponent
    }

    /// How many positions it knows, those that no search has looked at yet among them.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether it knows no position; never.
    pub fn is_empty(&self) -> bool {
        self.tree.len() == 0
    }

    /// The moves in the order of their positions.
    ///
    /// # Errors
    /// When there are more than 2^32.
    pub fn shape(&self) -> Result<Shape> {
        let what = "the book has more than 2^32 moves";
        self.tree.shape().ok_or_else(|| Error::new(ErrorKind::File, what))
    }

    /// The most urgent searches, at most `count`. They count as being made from now on.
    pub fn plan(&mut self, count: usize) -> Vec<Task> {
        let mut tasks = Vec::new();
        while tasks.is_empty() && count > 0 {
            let Some(shape) = self.tree.shape() else { break };
            let candidates = most_urgent(&self.tree, &shape, &self.sides, count);
            if candidates.is_empty() {
                break;
            }
            for candidate in candidates {
                let number = candidate.number;
                let Some(at) = self.tree.positions.get(number) else { continue };
                let mut without = Vec::new();
                if candidate.next {
                    let numbers = &shape.order[shape.structure.links.range(number)];
                    without.extend(numbers.iter().map(|edge| self.tree.edges[*edge as usize].mv));
                    let is_left = |mv: &Move| !without.contains(&MoveCode::from_move(*mv));
                    let node = &mut self.tree.nodes[number as usize];
                    if !at.chess().legal_moves().iter().any(is_left) {
                        node.next = Next::None;
                        continue;
                    }
                    node.next = Next::Planned;
                } else {
                    self.tree.nodes[number as usize].state = State::Planned;
                }
                tasks.push(Task { at, without, times: times(candidate.urgency), number });
            }
        }
        tasks
    }

    /// Takes what a search found; `None` if no engine could make it.
    pub fn apply(&mut self, task: &Task, answer: Option<Answer>) {
        let node = &mut self.tree.nodes[task.number as usize];
        let is_next = !task.without.is_empty();
        let legal = |answer: &Answer| {
            let mv = answer.best.resolve(task.at.chess()).filter(|mv| task.at.chess().is_legal(*mv))?;
            (!task.without.contains(&MoveCode::from_move(mv))).then_some(mv)
        };
        match (answer, answer.as_ref().and_then(legal)) {
            (Some(answer), Some(mv)) if is_next => {
                node.next = Next::Open;
                self.found(task, mv, answer.value);
            }
            (Some(answer), mv) if !is_next => {
                (node.state, node.own, node.first) = (State::Searched, answer.value, answer.value);
                self.add_books(task);
                if let Some(mv) = mv {
                    self.found(task, mv, answer.value);
                }
            }
            _ if is_next => node.next = Next::None,
            _ => node.state = State::Failed,
        }
    }

    /// Notes the best move of a search.
    fn found(&mut self, task: &Task, mv: Move, value: Value) {
        let code = MoveCode::from_move(mv);
        // Moves of the books were added just before.
        let known = self.tree.edges.iter().rposition(|edge| edge.from != task.number);
        let first = known.map_or(0, |before| before + 1);
        let found = (first..self.tree.edges.len()).find(|edge| self.tree.edges[*edge].mv == code);
        let is_theirs = !self.sides.contains(&task.at.chess().turn());
        let edge = match found {
            Some(edge) => {
                self.tree.edges[edge].reason.engine = true;
                u32::try_from(edge).ok()
            }
            // They play what their books have, and nothing else.
            None if is_theirs && self.tree.nodes[task.number as usize].left <= 0.0 => None,
            None => {
                self.tree.add_move(task.number, &task.at, mv, Reason { engine: true, ..Reason::default() })
            }
        };
        if let Some(edge) = edge {
            let node = &mut self.tree.nodes[task.number as usize];
            (node.best, node.own) = (edge, value);
        }
    }

    /// Adds the moves that the books have in a position.
    #[expect(clippy::cast_possible_truncation, reason = "chances are from 0 to 1")]
    fn add_books(&mut self, task: &Task) {
        let turn = task.at.chess().turn();
        let (mut facts, mut ours) = (Vec::<MoveFacts>::new(), Vec::new());
        let mut theirs = Vec::<ExpectedMove>::new();
        if let Some(seed) = self.seed.filter(|_| self.sides.contains(&turn)) {
            seed.moves(&task.at, &mut facts);
            let mut shares = Vec::new();
            chances(&facts, &Policy::default(), |_| true, &mut shares);
            let playable = facts.iter().zip(shares).filter(|(_, chance)| *chance > 0.0);
            ours.extend(playable.map(|(facts, _)| facts.mv));
        }
        if self.sides.contains(&!turn) {
            let left = self.opponent.moves_and_rest(&task.at, &mut theirs);
            self.tree.nodes[task.number as usize].left = left as f32;
        }
        let chance =
            |mv: Move| theirs.iter().find(|known| known.mv == mv).map_or(0.0, |known| known.chance as f32);
        for mv in &ours {
            let reason = Reason { ours: true, engine: false, chance: chance(*mv) };
            self.tree.add_move(task.number, &task.at, *mv, reason);
        }
        for known in theirs.iter().filter(|known| !ours.contains(&known.mv)) {
            let reason = Reason { chance: known.chance as f32, ..Reason::default() };
            self.tree.add_move(task.number, &task.at, known.mv, reason);
        }
    }
}
