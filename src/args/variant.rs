//! The variant of chess whose books and games a command takes, as an argument.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_chess::{Variant, known_variants, rules_of};
use tabiya_learn as learn;

use crate::output::{advice, warn};

/// `--variant`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct VariantArgs {
    /// The variant of chess: antichess, atomic, crazyhouse, horde, kingofthehill, racingkings or 3check [default: chess]
    #[arg(long = "variant", id = "variant", value_name = "NAME", value_parser = parse, hide_short_help = true)]
    named: Option<Variant>,
}

impl VariantArgs {
    /// The variant: standard chess, which is Chess960 too, unless another is named.
    pub(crate) fn variant(self) -> Variant {
        self.named.unwrap_or_default()
    }

    /// The variant that is named.
    pub(crate) fn named(self) -> Option<Variant> {
        self.named
    }
}

/// Opens a book of a variant.
///
/// # Errors
/// When it cannot be opened; where games are, that says what to do with them.
pub(crate) fn open_book(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    learn::open_settled_as(path, variant).map_err(|error| advice::no_book(path, error))
}

/// Opens a book of a variant whose positions are to be searched.
///
/// # Errors
/// When it cannot be opened, or its moves obey other rules.
pub(crate) fn open_of(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    let book = open_book(path, variant)?;
    match book.other_rules(variant, &Progress::none()) {
        Some(other) => Err(Error::new(ErrorKind::Usage, advice::other_rules(path, &other))),
        None => Ok(book),
    }
}

/// Opens a book of a variant, and warns where its moves obey other rules: then they are taken as damage.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_warned(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    let book = open_book(path, variant)?;
    if let Some(other) = book.other_rules(variant, &Progress::none()) {
        warn(&advice::other_rules(path, &other));
    }
    Ok(book)
}

/// The variant of a name.
fn parse(name: &str) -> std::result::Result<Variant, String> {
    rules_of(name).ok_or_else(|| format!("write chess, or one of {}", known_variants()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_have_the_names_of_other_programs() {
        assert_eq!(parse("King of the Hill"), Ok(Variant::KingOfTheHill));
        assert_eq!(parse("threeCheck"), Ok(Variant::ThreeCheck));
        assert_eq!(parse("chess960"), Ok(Variant::Chess));
        assert!(parse("shogi").unwrap_err().contains("antichess"));
    }
}
