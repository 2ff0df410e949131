//! The positions of a growing book and the moves between them. Each position is there once, however many lines lead to it.
#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "numbers of positions and moves come from the tree itself, and are below 2^32"
)]

use shakmaty::{Color, Move, Position as _};

use tabiya_chess::value::result;
use tabiya_chess::{MoveCode, Position, Value, Variant};

use crate::values::{KnownValues, Links, Positions, Structure, UNKNOWN};

/// No move.
pub(crate) const NONE: u32 = u32::MAX;

/// What a move that the engine was not asked for yet loses, in centipawns, against the last one that it found.
const NEXT_LOSS: Value = 20;

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing yet.
    New,
    /// It is to be searched.
    Planned,
    /// It was searched.
    Searched,
    /// The game ends here.
    Ended,
    /// No engine can search it.
    Failed,
}

/// What is known of the move after those that a position has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing.
    Open,
    /// The engine is to search for it.
    Planned,
    /// No other move is legal, or no engine finds one.
    None,
}

/// A position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// What its last search says for the side to move, or how the game ends; [`UNKNOWN`] before that.
    pub own: Value,
    /// The same of its first search.
    pub first: Value,
    pub state: State,
    /// The move after those that it has.
    pub next: Next,
    /// Whether White is to move.
    pub white: bool,
    /// How often the opponent plays what an engine would play here, and not from its books: 1 where these have no move.
    pub left: f32,
    /// The number of the move that the last search found.
    pub best: u32,
    /// Plies of the line that reached it first.
    pub plies: u16,
}

/// Why a position has a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reason {
    /// The book that is grown may play it.
    pub ours: bool,
    /// An engine found it.
    pub engine: bool,
    /// How often the opponent plays it from its books.
    pub chance: f32,
}

/// A move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub mv: MoveCode,
    pub reason: Reason,
}

/// The moves in the order of their positions.
#[derive(Debug)]
pub struct Shape {
    pub(crate) structure: Structure,
    /// The numbers of the moves in this order.
    pub(crate) order: Vec<u32>,
}

/// What the move after those that a position has may be worth for the side that makes it.
pub(crate) fn next_worth(node: &Node) -> Value {
    node.own.saturating_sub(NEXT_LOSS)
}

/// The positions and moves. The starting position has the number 0.
#[derive(Debug)]
pub(crate) struct Tree {
    pub positions: Positions,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

impl Tree {
    /// The starting position of a variant alone.
    pub fn new(variant: Variant) -> Self {
        let positions = Positions::of_variant(variant);
        let mut tree = Self { positions, nodes: Vec::new(), edges: Vec::new() };
        tree.add_position(&Position::start_of(variant), None, 0);
        tree
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of a position, which is added if it is new.
    fn add_position(&mut self, at: &Position, before: Option<(u32, MoveCode)>, plies: u16) -> Option<u32> {
        if let Some(number) = self.positions.number(at.whole_key()) {
            return Some(number);
        }
        let number = self.positions.add(at, before)?;
        let ended = result(at);
        let white = at.chess().turn().is_white();
        let state = if ended.is_some() { State::Ended } else { State::New };
        let own = ended.unwrap_or(UNKNOWN);
        self.nodes.push(Node {
            own,
            first: own,
            state,
            next: Next::Open,
            white,
            left: 1.0,
            best: NONE,
            plies,
        });
        Some(number)
    }

    /// Adds a legal move to a position, which does not have it. Returns its number.
    pub fn add_move(&mut self, from: u32, at: &Position, mv: Move, reason: Reason) -> Option<u32> {
        let edge = u32::try_from(self.edges.len()).ok().filter(|number| *number != NONE)?;
        let code = MoveCode::from_move(mv);
        let plies = self.nodes[from as usize].plies.saturating_add(1);
        let to = self.add_position(&at.after(mv), Some((from, code)), plies)?;
        self.edges.push(Edge { from, to, mv: code, reason });
        Some(edge)
    }

    /// Whether something is known of a position's value by itself.
    pub fn is_known(&self, number: u32) -> bool {
        self.nodes[number as usize].own != UNKNOWN
    }

    /// Whether the move that the last search of a position found was looked into.
    pub(crate) fn is_followed(&self, node: &Node) -> bool {
        self.edges.get(node.best as usize).is_some_and(|edge| self.is_known(edge.to))
    }

    /// The moves in order.
    pub fn shape(&self) -> Option<Shape> {
        let mut first = vec![0_u32; self.len() + 1];
        self.edges.iter().for_each(|edge| first[edge.from as usize + 1] += 1);
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let (mut to, mut order) = (vec![0; self.edges.len()], vec![0; self.edges.len()]);
        for (number, edge) in (0_u32..).zip(&self.edges) {
            let place = &mut next[edge.from as usize];
            (to[*place as usize], order[*place as usize]) = (edge.to, number);
            *place += 1;
        }
        Some(Shape { structure: Structure::new(Links::new(first, to)?), order })
    }

    /// What is known of the positions before values are backed up, for a book of this side.
    ///
    /// Once the best move that a search found was looked into, a position of ours is worth its best move. In one of theirs they
    /// may have another move: one that is as good as this one looks now, or that the search would have found next. Where
    /// their books have moves, it is worth the average of these, each as often as it is played; one that was not looked into counts as
    /// the search says.
    pub fn known(&self, shape: &Shape, side: Color) -> KnownValues {
        let is_theirs = |node: &Node| node.white != side.is_white();
        let own = |node: &Node| match self.edges.get(node.best as usize) {
            _ if is_theirs(node) && node.left <= 0.0 => node.own,
            Some(edge) if self.is_known(edge.to) && node.white == side.is_white() => UNKNOWN,
            Some(edge) if self.is_known(edge.to) => next_worth(node).max(-self.nodes[edge.to as usize].first),
            _ => node.own,
        };
        let chance = |edge: &Edge| match is_theirs(&self.nodes[edge.from as usize]) {
            true => edge.reason.chance,
            false => 0.0,
        };
        KnownValues {
            white: self.nodes.iter().map(|node| node.white).collect(),
            own: self.nodes.iter().map(own).collect(),
            chances: shape.order.iter().map(|number| chance(&self.edges[*number as usize])).collect(),
        }
    }
}
