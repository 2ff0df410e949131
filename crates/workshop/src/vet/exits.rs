//! What play comes to where it leaves the book.
#![allow(clippy::cast_possible_truncation, reason = "a mean is between the values")]

use shakmaty::{ByColor, Position as _};

use tabiya_chess::Value;

use crate::values::{Backed, Graph};

/// Values beyond this, 20 pawns, count as this in a mean, so that one mate does not outweigh everything.
const MAX_IN_MEAN: Value = 2000;

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

/// Where play leaves a book, by the side to move.
pub type Exits = ByColor<Leaving>;

/// Where play leaves a book: from the probabilities of a graph's positions, whether each has no move to play, and the values.
pub fn exits(graph: &Graph, backed: &Backed, (reach, ends): &(Vec<f64>, Vec<bool>)) -> Exits {
    let (mut exits, mut sums) = (Exits::default(), ByColor::<(f64, f64)>::default());
    for ((number, chance), _) in
        (0_u32..).zip(reach).zip(ends).filter(|((_, chance), end)| **end && **chance > 0.0)
    {
        let Some(at) = graph.positions().get(number) else { continue };
        let turn = at.chess().turn();
        let Some(value) = backed.get(turn.is_white(), number) else { continue };
        let leaving = exits.get_mut(turn);
        leaving.positions += 1;
        if leaving.worst.is_none_or(|worst| value < worst) {
            (leaving.worst, leaving.at) = (Some(value), Some(at.whole_key()));
        }
        let (sum, weight) = sums.get_mut(turn);
        *sum += chance * f64::from(value.clamp(-MAX_IN_MEAN, MAX_IN_MEAN));
        *weight += chance;
    }
    exits.zip(sums).map(|(leaving, (sum, weight))| {
        let mean = (weight > 0.0).then(|| (sum / weight * 10.0).round() / 10.0);
        Leaving { mean, ..leaving }
    })
}
