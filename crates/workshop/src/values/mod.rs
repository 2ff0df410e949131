//! What positions are worth and how probable they are, in a book or in one that grows.
//!
//! | step | module |
//! |---|---|
//! | positions with numbers, each once | [`Positions`] |
//! | the moves between them, and their cycles | [`Links`], [`Components`], [`Structure`] |
//! | how probable each position is | [`Structure::reach`] |
//! | backing values up, with a rule for cycles | [`Backed`] |
//! | the positions that a book reaches | [`Graph`] |
//! | what a store has for one position and its moves | [`Look`] |

mod graph;
mod links;
mod look;
mod minimax;
mod positions;
mod reach;
mod structure;

pub use graph::Graph;
pub use links::{Components, Links};
pub use look::Look;
pub(crate) use minimax::winning_chances;
pub use minimax::{Backed, KnownValues, UNKNOWN};
pub use positions::Positions;
pub use structure::Structure;
