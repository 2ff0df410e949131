//! Judging a book by the values of its positions: which of its moves lose, and where play leaves it.
//!
//! | step | module |
//! |---|---|
//! | searching again what decides that moves are dropped | [`confirm()`] |
//! | which moves are dropped, and how often the others are played | [`VetLimits`] |
//! | the book with these changes | [`Vetted`] |
//! | what play comes to where it leaves the book | [`Exits`] |

mod confirm;
mod exits;
mod judge;
mod judged;
mod vetted;

pub use confirm::confirm;
pub use exits::{Exits, Leaving, exits};
pub use judge::{Fate, VetLimits};
pub use judged::{Judged, JudgedBook};
pub use vetted::Vetted;
