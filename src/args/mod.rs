//! Arguments that several commands share.

pub mod adapter;
pub(crate) mod against;
pub mod engine;
pub mod new_book;
pub(crate) mod player;
pub mod policy;
pub mod positions;
pub mod resources;
pub(crate) mod screens;
pub(crate) mod search;
mod settings;
pub mod slices;
mod time;
pub(crate) mod unquoted;
pub mod variant;

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use shakmaty::Color;

use tabiya_adapter::settings::table::{SettingKind, thousandths};
use tabiya_book::Weights;
use tabiya_chess::openings::ChosenOpenings;

/// A share in percent with at most one decimal, as the thousandths that it is.
pub(crate) fn share(text: &str) -> Result<u16, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    thousandths(number)
        .ok_or_else(|| "write percent from 0 to 100 with at most one decimal, such as 5 or 0.5".to_owned())
}

/// Two numbers with this `between` them, the lower one first, or one number for both.
pub(crate) fn ends<T: FromStr + PartialOrd>(text: &str, between: &str) -> Option<RangeInclusive<T>> {
    let (low, high) = text.split_once(between).unwrap_or((text, text));
    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low <= high).then_some(low..=high)
}

/// A side: `white` or `black`.
pub(crate) fn side() -> impl TypedValueParser<Value = Color> {
    PossibleValuesParser::new(["white", "black"]).map(|side| Color::from_white(side == "white"))
}

/// The sides that a book is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides(pub &'static [Color]);

/// One or both sides: `white`, `black` or `both`.
pub(crate) fn sides() -> impl TypedValueParser<Value = Sides> {
    PossibleValuesParser::new(["white", "black", "both"]).map(|side| match side.as_str() {
        "white" => Sides(&[Color::White]),
        "black" => Sides(&[Color::Black]),
        _ => Sides(&[Color::White, Color::Black]),
    })
}

/// Openings by name or code.
pub(crate) fn opening(text: &str) -> Result<Arc<ChosenOpenings>, String> {
    ChosenOpenings::named(text).map_err(|unknown| match SettingKind::Openings.meant(text) {
        Some(meant) => format!("{unknown}: {meant}"),
        None => unknown.to_string(),
    })
}

/// Of what weights are made: `points` or `games`.
pub(crate) fn weights() -> impl TypedValueParser<Value = Weights> {
    PossibleValuesParser::new(Weights::NAMES).map(|name| Weights::of_name(&name).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_per_cent() {
        let expected = [
            ("0", 0),
            ("5", 50),
            ("0.5", 5),
            ("12.3", 123),
            ("100", 1000),
            ("100.0", 1000),
            ("5%", 50),
            ("0.5 %", 5),
        ];
        assert!(expected.iter().all(|(text, thousandths)| share(text) == Ok(*thousandths)));
        for text in ["", ".", "5.", ".5", "-1", "+1", "100.1", "101", "0.05", "%", "5%%", "1e1", "9999999"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
    #[test]
    fn ends_are_numbers_in_their_order() {
        assert_eq!((ends("1-3", "-"), ends(" 7 ", "-")), (Some(1..=3_u8), Some(7..=7)));
        assert_eq!(ends("-5 .. 5", ".."), Some(-5..=5_i64));
        for text in ["", "-", "3-1", "1-", "-1", "1-2-3", "1-300", "a-b"] {
            assert_eq!(ends::<u8>(text, "-"), None, "{text}");
        }
    }
}
