//! What shakmaty does not do: positions with their book key, the game that a GUI describes, and the form and code in
//! which some books write positions and moves.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

mod blank;
mod game;
mod held;
pub mod huffman;
mod legal;
mod move_code;
pub mod normal;
pub mod notation;
pub mod openings;
mod packed;
mod position;
mod rating;
mod san;
mod speed;
pub mod step_codes;
pub mod value;
mod variant;
mod written;
mod zobrist;

pub use blank::is_blank;
pub use blank::{char_at, is_invisible, trim_blanks};
pub use game::Game;

pub use game::Ending;
pub use held::HeldPosition;
pub use move_code::MoveCode;
pub use packed::PACKED_LEN;
pub use packed::Packed;
pub use position::setup_leniently;
pub use position::{FenError, Position, allow_unusual};
pub use rating::RatingBand;
pub use san::{is_safe, plain_move};
pub use speed::Speed;
pub use value::Value;
pub use variant::{
    AnyChess, NamedVariant, Variant, is_known_by_key, known_variants, named_variant, rules_of, spelled_as,
    variant_name,
};
pub use written::{DASHES, is_san, may_be_move};
pub use written::{ReadMoveError, read_move};
