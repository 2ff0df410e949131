//! What the grown book plays, and how far games go in it.
#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "numbers of positions and moves come from the tree itself, and are below 2^32"
)]

use shakmaty::Color;

use tabiya_book::choose::Loss;
use tabiya_chess::{MoveCode, Value};

use super::drop_out::{OUR_ERROR, View};
use super::figures::{Figures, KnownPosition};
use super::growth::Answer;
use super::tree::{Edge, Shape, State, Tree};

/// The weight of the best move.
const MAX_WEIGHT: f64 = 1000.0;

/// A move that the book plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplyChoice {
    /// The move.
    pub mv: MoveCode,
    /// Its weight.
    pub weight: u64,
    /// What it is worth for the side that makes it.
    pub value: Value,
    /// What it loses against the best one, in centipawns.
    pub loss: u32,
    /// The number of the position after it.
    pub(crate) to: u32,
}

/// What the book plays for one side.
#[derive(Debug)]
pub struct Play<'a> {
    view: View<'a>,
    max_loss: u32,
    /// How probable it is that a game reaches each position, if the side plays from the book.
    reach: Vec<f64>,
    figures: Figures,
}

impl<'a> Play<'a> {
    /// The moves that lose at most `max_loss` centipawns.
    pub(crate) fn new(tree: &'a Tree, shape: &'a Shape, side: Color, max_loss: u32) -> Self {
        let view = View::new(tree, shape, side);
        let none = Figures { side, value: None, plies: 0.0, covered: 0.0, positions: 0 };
        let mut play = Self { view, max_loss, reach: Vec::new(), figures: none };
        let mut chances = Vec::with_capacity(shape.structure.links.moves());
        let (mut moves, mut replies) = (Vec::new(), Vec::new());
        for (number, node) in (0_u32..).zip(&tree.nodes) {
            if play.view.is_ours(node) {
                play.choose(number, &mut moves);
                let sum: u64 = moves.iter().map(|choice| choice.weight).sum();
                chances.extend(play.view.edges(number).map(|(_, edge)| {
                    let chosen = moves.iter().find(|choice| choice.mv == edge.mv);
                    chosen.map_or(0.0, |choice| choice.weight as f64 / sum as f64) as f32
                }));
            } else {
                play.view.replies(number, &mut replies);
                chances.extend(replies.iter().map(|chance| *chance as f32));
            }
        }
        play.reach = shape.structure.reach(&chances);
        play.figures = play.count();
        play
    }

    /// The side.
    pub fn side(&self) -> Color {
        self.view.side
    }

    /// How probable it is that a game reaches a position.
    pub fn reach(&self, number: u32) -> f64 {
        self.reach[number as usize]
    }

    /// What a position is worth for the side.
    pub fn value(&self, number: u32) -> Option<Value> {
        self.view.value(number)
    }

    /// The moves that the side plays in a position, in place of what `out` holds.
    pub fn choose(&self, number: u32, out: &mut Vec<ReplyChoice>) {
        out.clear();
        let node = &self.view.tree.nodes[number as usize];
        if node.state != State::Searched || !self.view.is_ours(node) {
            return;
        }
        // A move that nobody has looked into is played only if the last search says that it is the best.
        let is_known = |number: u32, edge: &Edge| {
            let counts = edge.reason.ours || edge.reason.engine;
            counts && (self.value(edge.to).is_some() || node.best == number)
        };
        let known = || self.view.edges(number).filter(|(number, edge)| is_known(*number, edge));
        let Some(best) = known().map(|(_, edge)| self.view.worth(node, edge)).max() else { return };
        for (_, edge) in known() {
            let value = self.view.worth(node, edge);
            let loss = Loss::new(value, best).centipawns();
            if loss <= self.max_loss {
                let weight = (MAX_WEIGHT * libm::exp(-f64::from(loss) / OUR_ERROR)).round().max(1.0);
                out.push(ReplyChoice { mv: edge.mv, weight: weight as u64, value, loss, to: edge.to });
            }
        }
    }

    /// Whether the opponent plays from its books in a position.
    pub fn is_from_book(&self, number: u32) -> bool {
        let node = &self.view.tree.nodes[number as usize];
        node.left < 1.0 && !self.view.is_ours(node)
    }

    /// Whether the book has a move in a position.
    fn has_move(&self, number: u32) -> bool {
        let node = &self.view.tree.nodes[number as usize];
        node.state == State::Searched && self.view.is_ours(node) && self.view.edges(number).next().is_some()
    }

    /// How far games go in the book.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    fn count(&self) -> Figures {
        let (mut positions, mut plies) = (0, 0.0);
        let (mut answered, mut asked) = (0.0, 0.0);
        for (number, node) in (0_u32..).zip(&self.view.tree.nodes) {
            let reach = self.reach(number);
            if reach <= 0.0 || node.state == State::Ended {
                continue;
            }
            if self.view.is_ours(node) {
                if self.has_move(number) {
                    positions += 1;
                    plies += reach;
                    answered += if number == 0 { 0.0 } else { reach };
                }
            } else {
                plies += reach;
                asked += reach;
            }
        }
        let covered = if asked > 0.0 { (answered / asked).min(1.0) } else { 0.0 };
        Figures { side: self.side(), value: self.value(0), plies, covered, positions }
    }

    /// The positions that were searched, by their numbers.
    pub fn searched(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = (0..).zip(&self.view.tree.nodes);
        nodes.filter(|(_, node)| node.state == State::Searched).map(|(number, _)| number)
    }

    /// The most probable positions whose value is known, at most `count`, the most probable first.
    pub(crate) fn most_probable(&self, count: usize) -> Vec<KnownPosition> {
        let tree = self.view.tree;
        let is_known = |number: &u32| self.reach(*number) > 0.0 && self.value(*number).is_some();
        let mut numbers: Vec<u32> = (0..tree.len() as u32).filter(is_known).collect();
        numbers.sort_by(|a, b| self.reach(*b).total_cmp(&self.reach(*a)));
        let known = |number| {
            let (key, value) = (tree.positions.get(number)?.whole_key(), self.value(number)?);
            Some(KnownPosition { key, side: self.side(), value, reach: self.reach(number) })
        };
        numbers.into_iter().take(count).filter_map(known).collect()
    }

    /// What the last search of a position found, for the side to move; `None` if the opponent's book has another move.
    pub fn last(&self, number: u32) -> Option<Answer> {
        let node = self.view.tree.nodes.get(number as usize)?;
        let edge = self.view.tree.edges.get(node.best as usize)?;
        Some(Answer { value: node.own, best: edge.mv })
    }

    /// The moves of a position, in place of what `out` holds: each with its value for the side that makes it, if something was found
    /// after it, and how often it is played.
    pub fn moves(&self, number: u32, out: &mut Vec<(MoveCode, Option<Value>, f64)>) {
        out.clear();
        let node = &self.view.tree.nodes[number as usize];
        let sign = if self.view.is_ours(node) { 1 } else { -1 };
        let (mut choices, mut replies) = (Vec::new(), Vec::new());
        if self.view.is_ours(node) {
            self.choose(number, &mut choices);
        } else {
            self.view.replies(number, &mut replies);
        }
        let sum: u64 = choices.iter().map(|choice| choice.weight).sum();
        for (place, (_, edge)) in self.view.edges(number).enumerate() {
            let chosen = choices.iter().find(|choice| choice.mv == edge.mv);
            let ours = chosen.map(|choice| choice.weight as f64 / sum as f64);
            let chance = ours.or(replies.get(place).copied()).unwrap_or(0.0);
            out.push((edge.mv, self.value(edge.to).map(|value| sign * value), chance));
        }
    }

    /// Where a move leads to.
    pub(crate) fn after(&self, number: u32, mv: MoveCode) -> Option<u32> {
        self.view.edges(number).find(|(_, edge)| edge.mv == mv).map(|(_, edge)| edge.to)
    }

    /// The moves of the line that reached a position first.
    pub fn line(&self, number: u32) -> Vec<MoveCode> {
        self.view.tree.positions.line(number)
    }
}
