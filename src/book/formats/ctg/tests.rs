//! Books written here, good and broken, and what the reader makes of them.

mod broken;
mod made;
mod reading;
mod samples;
mod writing;

pub use made::{Known, Made, after, ctb, cto, fen};
