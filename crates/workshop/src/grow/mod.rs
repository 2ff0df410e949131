//! A book that an engine makes: the positions that games are most likely to reach are searched, and the best moves are kept.
//!
//! | step | module |
//! |---|---|
//! | positions and moves, each once | `tree` |
//! | what the opponent plays | [`Expected`](crate::expected::Expected) |
//! | what is searched next | `drop_out` |
//! | taking what was found | [`Growth`] |
//! | several searches at the same time, and yet always the same book | [`Rounds`] |
//! | engines that make the searches | [`grow()`] |
//! | what the book plays, and how far games go in it | [`Play`] |
//! | the book with these moves | [`Grown`] |
//! | what a player reads of his opponent | [`Dossier`] |
//! | what is shown of it while it grows | [`GrowthState`] |

mod book;
mod dossier;
mod drop_out;
mod figures;
mod growth;
mod play;
mod rounds;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod work;

pub use book::Grown;
pub use dossier::{Dossier, DossierLine, Opponent};
pub use figures::{Figures, KnownPosition};
pub use growth::{Answer, Growth, Task};
pub use play::{Play, ReplyChoice};
pub use rounds::{Finished, Rounds, Step};
pub use state::{ExpectedError, GrowthState, NextSearch};
pub use tree::Shape;
pub use work::{finish, grow, search};
