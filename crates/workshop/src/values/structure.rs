//! How the positions of a graph lead to each other, both ways.

use super::links::{Components, Links};
use super::minimax::{Backed, KnownValues};
use super::reach::reach;

/// The moves of a graph, and what follows from them alone.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Where moves lead to.
    pub links: Links,
    /// The same backwards.
    pub backwards: Links,
    /// The cycles.
    pub components: Components,
}

impl Structure {
    /// From where moves lead to.
    pub fn new(links: Links) -> Self {
        let (backwards, components) = (links.reversed(), Components::new(&links));
        Self { links, backwards, components }
    }

    /// The probability that play reaches each position, from those of the moves.
    pub fn reach(&self, chances: &[f32]) -> Vec<f64> {
        reach(&self.links, &self.components, chances)
    }

    /// Backs values up.
    pub fn back_up(&self, known: &KnownValues) -> Backed {
        Backed::new(&self.links, &self.backwards, &self.components, known)
    }
}
