//! Engines that search positions, and what is known of positions.
//!
//! | step | module |
//! |---|---|
//! | what an engine offers, and how it is set up for a variant and a search: for every command that starts one | [`greet`] |
//! | which options of an engine spoil its scores, or make it another engine | [`spoils_scores`] |
//! | an engine that searches one position after another | `searcher` |
//! | several of them at the same time | [`search_all`] |
//! | evaluating positions | [`evaluate()`] |
//! | what is known from a store and from searches | [`Knowledge`] |
//! | the store, a file that several processes append to | [`evals`] |
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub mod evals;
mod evaluate;
mod greeting;
mod knowledge;
mod options;
mod pool;
mod searcher;

pub use evaluate::evaluate;
pub use greeting::{Offer, Preparation, Unprepared, greet, offered_as, set_chess};
pub use knowledge::{Evaluated, Knowledge, Pooled, best_wdl};
pub use options::spoils_scores;
pub use pool::{Outcome, search_all};
pub use searcher::{PositionSearch, Work};
