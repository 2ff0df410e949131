//! Opening suites for matches of engines: the positions of books and games that a match can begin with.
//!
//! | step | module |
//! |---|---|
//! | the positions after some plies, and the most played line to each | [`Candidates`] |
//! | the starts of Chess960, in their place | [`Starts`] |
//! | what a position must be like | [`Conditions`] |
//! | drawing evenly over openings and plies | [`draw()`] |
//! | leaving out what games have shown to be unfit | [`Played`] |
//! | writing EPD and PGN, and summing up | [`write`](mod@write) |

mod candidates;
mod conditions;
mod draw;
mod played;
mod starts;
mod write;

pub use candidates::{Candidate, Candidates, Search, SuiteSource};
pub use conditions::{Conditions, DrawRate, Window};
pub use draw::{Draw, OpeningGroup, draw};
pub use played::{Keep, PairVerdict, Played};
pub use starts::{Start, Starts};
pub use write::{SuiteEntry, SuiteSummary, epd, pgn};
