//! What shakmaty does not do: positions with their book key, the game that a GUI describes, and the form and code in
//! which some books write positions and moves.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

mod blank;
mod game;
mod held;
#[doc(hidden)]
pub mod huffman;
mod legal;
mod move_code;
#[doc(hidden)]
pub mod normal;
#[doc(hidden)]
pub mod notation;
#[doc(hidden)]
pub mod openings;
mod packed;
mod position;
mod rating;
mod san;
mod speed;
#[doc(hidden)]
pub mod step_codes;
#[doc(hidden)]
pub mod value;
mod variant;
mod written;
mod zobrist;

pub use position::{FenError, Position};
pub use variant::Variant;

// What the other crates of tabiya need: no promise.
#[doc(hidden)]
pub use blank::{char_at, is_blank, is_invisible, trim_blanks};
#[doc(hidden)]
pub use game::{Ending, Game};
#[doc(hidden)]
pub use held::HeldPosition;
#[doc(hidden)]
pub use move_code::MoveCode;
#[doc(hidden)]
pub use packed::{PACKED_LEN, Packed};
#[doc(hidden)]
pub use position::{CHESS960_STARTS, allow_unusual, setup_leniently};
#[doc(hidden)]
pub use rating::{RatingBand, rating_number};
#[doc(hidden)]
pub use san::{is_safe, plain_move};
#[doc(hidden)]
pub use speed::Speed;
#[doc(hidden)]
pub use value::Value;
#[doc(hidden)]
pub use variant::{
    AnyChess, NamedVariant, VariantFacts, is_known_by_key, known_variants, named_variant, rules_of,
    spelled_as, variant_facts, variant_name,
};
#[doc(hidden)]
pub use written::{DASHES, ReadMoveError, is_san, may_be_move, read_move};
