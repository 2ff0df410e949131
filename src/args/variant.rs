//! The variant of chess whose books and games a command takes, as an argument.

use tabiya_chess::{Variant, named_variant};

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

/// The variant of a name.
fn parse(name: &str) -> Result<Variant, String> {
    named_variant(name).map(|named| named.variant).ok_or_else(|| {
        let names: Vec<_> = Variant::ALL.into_iter().map(Variant::uci).collect();
        format!("write one of {}", names.join(", "))
    })
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
