//! What play comes to where it leaves the book.
#![allow(clippy::cast_possible_truncation, reason = "a mean is between the values")]

use shakmaty::{Color, Position as _};

use super::graph::Graph;
use super::minimax::Backed;
use crate::chess::Value;

/// Values beyond this, 20 pawns, count as this in a mean, so that one mate does not outweigh everything.
const MOST_IN_MEAN: Value = 2000;

/// The positions in which a side is to move and the book has no move to play.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leaving {
    /// How many there are with a value.
    pub positions: u64,
    /// The mean of their values for this side by their probability, in centipawns.
    pub mean: Option<f64>,
    /// The least of them.
    pub worst: Option<Value>,
    /// The key of that position.
    pub at: Option<u64>,
}

/// Where play leaves a book, for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exits {
    /// Where White is to move.
    pub white: Leaving,
    /// Where Black is to move.
    pub black: Leaving,
}

impl Exits {
    /// From the probabilities of a graph's positions, whether each has no move to play, and the values.
    pub fn new(graph: &Graph, backed: &Backed, (reach, ends): &(Vec<f64>, Vec<bool>)) -> Self {
        let mut exits = Self::default();
        let (mut sums, mut weights) = ([0.0; 2], [0.0; 2]);
        for ((number, chance), _) in
            (0_u32..).zip(reach).zip(ends).filter(|((_, chance), end)| **end && **chance > 0.0)
        {
            let Some(at) = graph.position(number) else { continue };
            let white = at.chess().turn() == Color::White;
            let Some(value) = backed.of(white, number) else { continue };
            let leaving = if white { &mut exits.white } else { &mut exits.black };
            leaving.positions += 1;
            if leaving.worst.is_none_or(|worst| value < worst) {
                (leaving.worst, leaving.at) = (Some(value), Some(at.key()));
            }
            if let (Some(sum), Some(weight)) =
                (sums.get_mut(usize::from(white)), weights.get_mut(usize::from(white)))
            {
                *sum += chance * f64::from(value.clamp(-MOST_IN_MEAN, MOST_IN_MEAN));
                *weight += chance;
            }
        }
        let mean = |sum: f64, weight: f64| (weight > 0.0).then(|| (sum / weight * 10.0).round() / 10.0);
        let [black, white] = sums;
        let [black_weight, white_weight] = weights;
        (exits.white.mean, exits.black.mean) = (mean(white, white_weight), mean(black, black_weight));
        exits
    }
}
