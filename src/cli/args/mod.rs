//! Arguments that several commands share.

pub mod adapter;
pub mod engine;
pub mod policy;
pub mod positions;
pub mod resources;
mod settings;
pub mod slices;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use shakmaty::Color;

/// A side: `white` or `black`.
pub(crate) fn side() -> impl TypedValueParser<Value = Color> {
    PossibleValuesParser::new(["white", "black"]).map(|side| Color::from_white(side == "white"))
}
