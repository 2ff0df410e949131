//! Books written here, good and broken, and what the reader makes of them.

mod broken;
mod made;
mod reading;
mod samples;

pub use made::{Known, Made, after, ctb, cto, fen};
