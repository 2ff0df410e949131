//! Judging a book by evaluations of its positions: which of its moves lose, and where play leaves it.
//!
//! | step | module |
//! |---|---|
//! | the positions that the book reaches, and the moves between them | [`Graph`] |
//! | how probable each position is | [`Graph::reach`] |
//! | child engines that search one position after another | `pool` |
//! | evaluating positions with them, the most probable first | [`evaluate()`] |
//! | which options of the engine spoil its scores, or make it another engine | `options` |
//! | searching again what decides that moves are dropped | [`confirm()`] |
//! | backing values up, with a rule for cycles | [`Backed`] |
//! | which moves are dropped, and how often the others are played | [`Limits`] |
//! | the book with these changes | [`Vetted`] |
//! | what is known of one position | [`Look`] |
//! | what play comes to where it leaves the book | [`Exits`] |

mod confirm;
mod evaluate;
mod exits;
mod graph;
mod judge;
mod judged;
mod knowledge;
mod links;
mod look;
mod minimax;
mod options;
mod pool;
mod reach;
mod search;
mod vetted;

pub use confirm::confirm;
pub use evaluate::evaluate;
pub use exits::{Exits, Leaving, exits};
pub use graph::Graph;
pub use judge::{Fate, Limits};
pub use judged::{Judged, JudgedBook};
pub use knowledge::{Evaluated, Knowledge, best_wdl};
pub use links::{Components, Links};
pub use look::Look;
pub use minimax::{Backed, KnownValues, UNKNOWN};
pub use options::spoils_scores;
pub use pool::Outcome;
pub(crate) use pool::search_all;
pub(crate) use reach::reach;
pub use search::{Search, Work};
pub use vetted::Vetted;
pub(crate) use vetted::changed;
