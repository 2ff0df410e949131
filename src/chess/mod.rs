//! What shakmaty does not do: positions with their book key, the game that a GUI describes, and the form and code in
//! which some books write positions and moves.

mod game;
pub mod huffman;
mod move_code;
pub mod normal;
pub mod notation;
mod packed;
mod position;
mod written;

pub use game::{Ending, Game};
pub use move_code::MoveCode;
pub use packed::{PACKED_LEN, Packed};
pub use position::{FenError, Position, lenient, odd};
pub use written::{Misread, is_move_without_square, read_move};
