//! Variants of chess: their names, and a position of any of them.

use std::num::NonZeroU32;

use shakmaty::variant::VariantPosition;
use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{
    Bitboard, Board, ByColor, ByRole, Castles, CastlingSide, Chess, Color, File, KnownOutcome, Move,
    MoveList, Outcome, Piece, Position, RemainingChecks, Role, Square,
};

pub use shakmaty::variant::Variant;

use crate::legal;

/// What is particular to a variant, besides the rules by which it is played.
#[derive(Clone, Copy, Debug)]
pub struct VariantFacts {
    /// Its name in text for people, and in the tag `Variant` of PGN: as Lichess writes it.
    pub name: &'static str,
    /// Its names without case, blanks and punctuation: of UCI, Lichess, Cute Chess, `PyChess`, FICS and chess.com. The word `chess`
    /// may follow each.
    names: &'static [&'static str],
    /// Its number in stores of evaluations (docs/formats/evals.md, Variants).
    pub number: u8,
    /// Whether kings are pieces like any other: pawns become kings too, and none castles.
    pub has_common_kings: bool,
    /// Whether pieces that were captured are dropped again.
    pub has_drops: bool,
    /// Whether it matters how many checks were given.
    pub counts_checks: bool,
    /// Whether captures take more than one piece off the board.
    pub has_explosions: bool,
    /// Whether games start with other pieces than those of standard chess, or on other squares.
    pub has_own_start: bool,
}

impl VariantFacts {
    const fn new(name: &'static str, names: &'static [&'static str], number: u8) -> Self {
        let (has_common_kings, has_drops, counts_checks) = (false, false, false);
        let (has_explosions, has_own_start) = (false, false);
        Self {
            name,
            names,
            number,
            has_common_kings,
            has_drops,
            counts_checks,
            has_explosions,
            has_own_start,
        }
    }
}

/// What is particular to each variant. Giveaway and suicide are antichess with other rules for castling or stalemate: their books
/// hold the same moves.
pub fn variant_facts(variant: Variant) -> &'static VariantFacts {
    const CHESS: VariantFacts = VariantFacts::new(
        "Standard",
        &["chess", "standard", "normal", "orthodox", "regular", "classical", "fromposition"],
        0,
    );
    const ATOMIC: VariantFacts =
        VariantFacts { has_explosions: true, ..VariantFacts::new("Atomic", &["atomic", "atom"], 2) };
    const ANTICHESS: VariantFacts = VariantFacts {
        has_common_kings: true,
        ..VariantFacts::new(
            "Antichess",
            &["antichess", "anti", "giveaway", "suicide", "antichessgiveaway"],
            1,
        )
    };
    const KING_OF_THE_HILL: VariantFacts =
        VariantFacts::new("King of the Hill", &["kingofthehill", "koth", "kingofhill"], 5);
    const THREE_CHECK: VariantFacts = VariantFacts {
        counts_checks: true,
        ..VariantFacts::new("Three-check", &["3check", "threecheck"], 7)
    };
    const CRAZYHOUSE: VariantFacts = VariantFacts {
        has_drops: true,
        ..VariantFacts::new("Crazyhouse", &["crazyhouse", "house", "zh"], 3)
    };
    const RACING_KINGS: VariantFacts = VariantFacts {
        has_own_start: true,
        ..VariantFacts::new("Racing Kings", &["racingkings", "racing", "race"], 6)
    };
    const HORDE: VariantFacts =
        VariantFacts { has_own_start: true, ..VariantFacts::new("Horde", &["horde"], 4) };
    match variant {
        Variant::Chess => &CHESS,
        Variant::Atomic => &ATOMIC,
        Variant::Antichess => &ANTICHESS,
        Variant::KingOfTheHill => &KING_OF_THE_HILL,
        Variant::ThreeCheck => &THREE_CHECK,
        Variant::Crazyhouse => &CRAZYHOUSE,
        Variant::RacingKings => &RACING_KINGS,
        Variant::Horde => &HORDE,
    }
}

/// Names of Chess960, in the same form.
const CHESS960: [&str; 6] = ["chess960", "960", "fischerandom", "fischerrandom", "frc", "freestyle"];

/// A variant as people and programs name it, and whether the name is one of Chess960.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedVariant {
    /// The variant: its rules once the pieces stand.
    pub variant: Variant,
    /// Whether the name is one of Chess960.
    pub is_chess960: bool,
}

/// The variant of a name: case, blanks, `-` and `_` do not matter. `None` for rules that are not known here.
///
/// ```
/// use tabiya_chess::{Variant, named_variant};
/// let variant = |name| named_variant(name).map(|named| named.variant);
/// assert_eq!(variant("King of the Hill"), Some(Variant::KingOfTheHill));
/// assert_eq!(variant("threeCheck"), Some(Variant::ThreeCheck));
/// assert_eq!(variant("fischerandom"), Some(Variant::Chess));
/// assert_eq!(variant("xiangqi"), None);
/// ```
pub fn named_variant(name: &str) -> Option<NamedVariant> {
    let folded: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_among = |names: &[&str]| {
        names.contains(&folded.as_str())
            || folded.strip_suffix("chess").is_some_and(|name| names.contains(&name))
    };
    if is_among(&CHESS960) || folded.starts_with("wildfr") {
        return Some(NamedVariant { variant: Variant::Chess, is_chess960: true });
    }
    let variant = Variant::ALL.into_iter().find(|variant| is_among(variant_facts(*variant).names))?;
    Some(NamedVariant { variant, is_chess960: false })
}

/// The variant that a name stands for, read as [`named_variant`] reads it.
pub fn rules_of(name: &str) -> Option<Variant> {
    named_variant(name).map(|named| named.variant)
}

/// Of the names that a program has for variants, the one for what `name` stands for: the same name, else one of the same variant.
///
/// ```
/// use tabiya_chess::spelled_as;
/// let offered = ["chess", "3check", "giveaway", "antichess"];
/// assert_eq!(spelled_as("threeCheck", offered), Some("3check"));
/// assert_eq!(spelled_as("Antichess", offered), Some("antichess"));
/// assert_eq!(spelled_as("fischerandom", offered), Some("chess"));
/// assert_eq!(spelled_as("horde", offered), None);
/// ```
pub fn spelled_as<'a>(name: &str, offered: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let named = named_variant(name);
    let likeness = |other: &str| {
        if other.eq_ignore_ascii_case(name) {
            return Some(0);
        }
        let (named, other) = (named?, named_variant(other)?);
        (named.variant == other.variant).then_some(if named == other { 1 } else { 2 })
    };
    let alike = offered.into_iter().filter_map(|other| Some((likeness(other)?, other)));
    alike.min_by_key(|(likeness, _)| *likeness).map(|(_, other)| other)
}

/// The names that UCI has for the variants besides standard chess, for text that says which are known.
pub fn known_variants() -> String {
    let known = Variant::ALL.into_iter().filter(|variant| *variant != Variant::Chess);
    known.map(Variant::uci).collect::<Vec<_>>().join(", ")
}

/// Whether the keys of books tell the positions of a variant apart. In crazyhouse the pieces in hand decide about the moves too, in
/// three-check the checks that are left, and neither is in the key.
pub fn is_known_by_key(variant: Variant) -> bool {
    let facts = variant_facts(variant);
    !facts.has_drops && !facts.counts_checks
}

/// The name of a variant in text for people, and in the tag `Variant` of PGN: as Lichess writes it.
pub fn variant_name(variant: Variant) -> &'static str {
    variant_facts(variant).name
}

/// A position of any variant. Standard chess costs no more than without the others: one comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyChess {
    /// Standard chess, and Chess960.
    Standard(Chess),
    /// Another variant.
    Other(Box<VariantPosition>),
}

impl AnyChess {
    /// The starting position.
    pub fn start(variant: Variant) -> Self {
        VariantPosition::new(variant).into()
    }

    /// Whose rules hold.
    pub fn variant(&self) -> Variant {
        match self {
            Self::Standard(_) => Variant::Chess,
            Self::Other(other) => other.variant(),
        }
    }

    /// The position, if it is one of standard chess.
    pub fn standard(&self) -> Option<&Chess> {
        match self {
            Self::Standard(chess) => Some(chess),
            Self::Other(_) => None,
        }
    }

    /// How the game has ended by a rule that the variant alone has; `None` where it has not.
    pub fn variant_end(&self) -> Option<KnownOutcome> {
        match self {
            Self::Standard(_) => None,
            Self::Other(other) => match other.variant_outcome() {
                Outcome::Known(outcome) => Some(outcome),
                Outcome::Unknown => None,
            },
        }
    }
}

impl From<Chess> for AnyChess {
    fn from(chess: Chess) -> Self {
        Self::Standard(chess)
    }
}

impl From<VariantPosition> for AnyChess {
    fn from(position: VariantPosition) -> Self {
        match position {
            VariantPosition::Chess(chess) => Self::Standard(chess),
            other => Self::Other(Box::new(other)),
        }
    }
}

/// Each method asks the position that it is.
macro_rules! asks {
    ($($(#[$meta:meta])* fn $name:ident(&self $(, $arg:ident: $of:ty)*) -> $result:ty;)*) => {
        $(
            #[inline]
            fn $name(&self $(, $arg: $of)*) -> $result {
                match self {
                    Self::Standard(chess) => chess.$name($($arg),*),
                    Self::Other(other) => other.$name($($arg),*),
                }
            }
        )*
    };
}

impl Position for AnyChess {
    asks! {
        fn board(&self) -> &Board;
        fn promoted(&self) -> Bitboard;
        fn pockets(&self) -> Option<&ByColor<ByRole<u8>>>;
        fn turn(&self) -> Color;
        fn castles(&self) -> &Castles;
        fn maybe_ep_square(&self) -> Option<Square>;
        fn remaining_checks(&self) -> Option<&ByColor<RemainingChecks>>;
        fn halfmoves(&self) -> u32;
        fn fullmoves(&self) -> NonZeroU32;
        fn legal_moves(&self) -> MoveList;
        fn san_candidates(&self, role: Role, to: Square) -> MoveList;
        fn castling_moves(&self, side: CastlingSide) -> MoveList;
        fn en_passant_moves(&self) -> MoveList;
        fn capture_moves(&self) -> MoveList;
        fn promotion_moves(&self) -> MoveList;
        fn is_irreversible(&self, mv: Move) -> bool;
        fn king_attackers(&self, square: Square, attacker: Color, occupied: Bitboard) -> Bitboard;
        fn is_variant_end(&self) -> bool;
        fn has_insufficient_material(&self, color: Color) -> bool;
        fn variant_outcome(&self) -> Outcome;
    }

    #[inline]
    fn is_legal(&self, mv: Move) -> bool {
        match self {
            Self::Standard(chess) => legal::is_legal(chess, mv),
            Self::Other(other) => other.is_legal(mv),
        }
    }

    #[inline]
    fn play_unchecked(&mut self, mv: Move) {
        match self {
            Self::Standard(chess) => chess.play_unchecked(mv),
            Self::Other(other) => other.play_unchecked(mv),
        }
    }
}

/// The key of books as shakmaty's hash of a position: pieces in hand, promoted pieces and checks are not in it
/// (docs/formats/polyglot.md, Variants).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BookKey(pub(crate) u64);

impl std::ops::BitXorAssign for BookKey {
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl From<Zobrist64> for BookKey {
    fn from(Zobrist64(key): Zobrist64) -> Self {
        Self(key)
    }
}

impl ZobristValue for BookKey {
    fn zobrist_for_piece(square: Square, piece: Piece) -> Self {
        Zobrist64::zobrist_for_piece(square, piece).into()
    }

    fn zobrist_for_white_turn() -> Self {
        Zobrist64::zobrist_for_white_turn().into()
    }

    fn zobrist_for_castling_right(color: Color, side: CastlingSide) -> Self {
        Zobrist64::zobrist_for_castling_right(color, side).into()
    }

    fn zobrist_for_en_passant_file(file: File) -> Self {
        Zobrist64::zobrist_for_en_passant_file(file).into()
    }

    fn zobrist_for_remaining_checks(_: Color, _: RemainingChecks) -> Self {
        Self(0)
    }

    fn zobrist_for_promoted(_: Square) -> Self {
        Self(0)
    }

    fn zobrist_for_pocket(_: Color, _: Role, _: u8) -> Self {
        Self(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_variant_agrees_with_its_rules() {
        let numbers: std::collections::BTreeSet<_> = Variant::ALL.map(|it| variant_facts(it).number).into();
        assert_eq!(numbers.len(), Variant::ALL.len());
        for variant in Variant::ALL {
            let (facts, start) = (variant_facts(variant), crate::Position::start_of(variant));
            let chess = start.chess();
            assert_eq!(facts.has_own_start, *chess.board() != Board::default(), "{variant:?}");
            assert_eq!(facts.has_drops, chess.pockets().is_some(), "{variant:?}");
            assert_eq!(facts.counts_checks, chess.remaining_checks().is_some(), "{variant:?}");
            assert_eq!(facts.has_common_kings, variant == Variant::Antichess);
            assert!(facts.names.contains(&&*variant.uci().to_lowercase()), "{variant:?}");
        }
    }

    #[test]
    fn names_of_many_programs_are_known() {
        for (variant, names) in [
            (Variant::Chess, "chess|Standard|From Position|Normal"),
            (Variant::Atomic, "atomic|Atomic"),
            (Variant::Antichess, "antichess|Antichess|giveaway|Suicide|Anti-chess"),
            (Variant::KingOfTheHill, "kingofthehill|kingOfTheHill|King of the Hill|Kingofthehill|KOTH"),
            (Variant::ThreeCheck, "3check|threeCheck|Three-check|3-Check|three_check"),
            (Variant::Crazyhouse, "crazyhouse|Crazyhouse|zh"),
            (Variant::RacingKings, "racingkings|racingKings|Racing Kings"),
            (Variant::Horde, "horde|Horde"),
        ] {
            for name in names.split('|') {
                assert_eq!(named_variant(name), Some(NamedVariant { variant, is_chess960: false }), "{name}");
            }
            assert_eq!(named_variant(variant_name(variant)).map(|named| named.variant), Some(variant));
            assert_eq!(named_variant(variant.uci()).map(|named| named.variant), Some(variant));
        }
        for name in [
            "Chess960",
            "fischerandom",
            "Fischer Random Chess",
            "chess 960",
            "Freestyle Chess",
            "FRC",
            "960 chess",
        ] {
            assert!(named_variant(name).is_some_and(|named| named.is_chess960), "{name}");
        }
        for name in ["", "losers", "codrus", "xiangqi", "FFA", "bughouse"] {
            assert_eq!(named_variant(name), None, "{name}");
        }
    }
}
