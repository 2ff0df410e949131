//! What shakmaty does not do for us, and only that: positions with their book key, and the game a GUI describes.

mod game;
mod packed;
mod position;

pub use game::{Ending, Game};
pub use packed::{PACKED_LEN, Packed};
pub use position::{FenError, Position};
