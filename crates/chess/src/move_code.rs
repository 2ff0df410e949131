//! A move in 16 bits, as Polyglot writes it and as we count moves (docs/formats/polyglot.md, Move).
#![allow(clippy::cast_possible_truncation, reason = "there are few promotions")]

use std::fmt;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, File, Move, Position, Rank, Role, Square};

use super::Variant;
use super::variant::variant_facts;

/// Bits of a square. The lowest are the square that the move goes to, the next the square that it comes from
/// (docs/formats/polyglot.md, Move).
const SQUARE_BITS: u32 = 6;
/// The first of the three bits that hold the promotion.
const PROMOTION_SHIFT: u32 = 12;
/// The promotion pieces by their number in the book; 0 is none.
const PROMOTIONS: [Option<Role>; 6] = [
    None,
    Some(Role::Knight),
    Some(Role::Bishop),
    Some(Role::Rook),
    Some(Role::Queen),
    // In antichess alone (docs/formats/polyglot.md, Variants).
    Some(Role::King),
];

/// A move as the book writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveCode(pub u16);

impl MoveCode {
    /// a1a1, which is no move and must be skipped.
    pub const NULL: Self = Self(0);

    /// A move from its squares; castling is the king taking its own rook. A pawn as promotion is ignored.
    pub fn new(from: Square, to: Square, promotion: Option<Role>) -> Self {
        let number = PROMOTIONS.iter().position(|&role| role == promotion).unwrap_or_default() as u16;
        Self(number << PROMOTION_SHIFT | u16::from(u8::from(from)) << SQUARE_BITS | u16::from(u8::from(to)))
    }

    /// The code of a legal move. A piece that is dropped goes from its square to the same square, and stands where a
    /// promotion does; a pawn has no number there (docs/formats/polyglot.md, Variants).
    pub fn from_move(mv: Move) -> Self {
        match mv {
            Move::Put { role, to } => Self::new(to, to, Some(role)),
            Move::Normal { from, to, promotion, .. } => Self::new(from, to, promotion),
            Move::EnPassant { from, to } | Move::Castle { king: from, rook: to } => Self::new(from, to, None),
        }
    }

    /// The square that it comes from.
    pub fn from(self) -> Square {
        Square::new(u32::from(self.0 >> SQUARE_BITS) % 64)
    }

    /// The square that it goes to.
    pub fn to(self) -> Square {
        Square::new(u32::from(self.0) % 64)
    }

    /// What the pawn becomes; `Err` where the number, or the bit above it, has no meaning.
    #[allow(clippy::result_unit_err, reason = "MoveCode::error gives the reason")]
    pub fn promotion(self) -> Result<Option<Role>, ()> {
        PROMOTIONS.get(usize::from(self.0 >> PROMOTION_SHIFT)).copied().ok_or(())
    }

    /// Why it is not a legal move in any position of a variant, as a clause; `None` where it can be legal in some.
    pub fn error(self, variant: Variant) -> Option<&'static str> {
        let (from, to) = (self.from(), self.to());
        let (files, ranks) = (from.file().distance(to.file()), from.rank().distance(to.rank()));
        if self == Self::NULL {
            return Some("means no move");
        }
        let Ok(promotion) = self.promotion() else { return Some("means nothing") };
        if promotion == Some(Role::King) && !variant_facts(variant).has_common_kings {
            return Some("means nothing");
        }
        if from == to {
            let on_last = promotion.is_none() && matches!(to.rank(), Rank::First | Rank::Eighth);
            return (!variant_facts(variant).has_drops || on_last).then_some("ends where it starts");
        }
        let line = files == 0 || ranks == 0 || files == ranks;
        let jump = files + ranks == 3;
        if !line && !jump {
            return Some("fits no piece");
        }
        let promotes = files <= 1
            && matches!(
                (from.rank(), to.rank()),
                (Rank::Seventh, Rank::Eighth) | (Rank::Second, Rank::First)
            );
        (promotion.is_some() && !promotes).then_some("promotes where no pawn can")
    }

    /// The move as UCI writes it in a variant, whatever the position: a piece that is dropped is no step from a square to itself.
    pub fn worded(self, variant: Variant) -> String {
        if variant_facts(variant).has_drops { self.with_drops() } else { self.to_string() }
    }

    /// The same where the variant is not known: a move that stays on its square is a drop.
    pub fn with_drops(self) -> String {
        match self.promotion() {
            Ok(role) if self.from() == self.to() && self != Self::NULL => {
                UciMove::Put { role: role.unwrap_or(Role::Pawn), to: self.to() }.to_string()
            }
            _ => self.to_string(),
        }
    }

    /// The move that a code stands for in a position, or `None` where no piece of the side to move fits.
    ///
    /// It need not be legal: see [`shakmaty::Position::is_legal`]. Castling is read as the king taking its own rook, in
    /// ordinary chess and in Chess960, and also in the form of old books: e1g1, where a king with the right to castle
    /// is on e1, because no king makes that step otherwise.
    #[inline]
    pub fn resolve(self, chess: &impl Position) -> Option<Move> {
        let (from, to) = (self.from(), self.to());
        let promotion = self.promotion().ok()?;
        if from == to {
            // shakmaty compares drops with the pieces in hand, and finds no other legal.
            let role = promotion.unwrap_or(Role::Pawn);
            return chess.pockets().is_some().then_some(Move::Put { role, to });
        }
        let role = chess.us().contains(from).then(|| chess.board().role_at(from)).flatten()?;
        if role == Role::King
            && promotion.is_none()
            && let Some(rook) = castling_rook(chess, from, to)
        {
            return Some(Move::Castle { king: from, rook });
        }
        let capture = chess.board().role_at(to);
        if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
            return promotion.is_none().then_some(Move::EnPassant { from, to });
        }
        Some(Move::Normal { role, from, capture, to, promotion })
    }

    /// Whether a code for this castling names the square that the king goes to instead of its rook.
    pub fn is_old_castling(self, mv: Move) -> bool {
        matches!(mv, Move::Castle { rook, .. } if rook != self.to())
    }

    /// The codes under which a book can hold a legal move: the usual one, and the old one of castling in ordinary
    /// chess, else the usual one twice.
    pub fn codes(mv: Move, chess: &impl Position) -> [Self; 2] {
        let usual = Self::from_move(mv);
        let Move::Castle { king, rook } = mv else { return [usual; 2] };
        let file = if rook > king { File::G } else { File::C };
        let old = Self::new(king, Square::from_coords(file, king.rank()), None);
        [usual, if old.resolve(chess) == Some(mv) { old } else { usual }]
    }
}

impl fmt::Display for MoveCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.promotion() {
            Ok(promotion) => {
                write!(f, "{}{}", self.from(), self.to())?;
                promotion.map_or(Ok(()), |role| write!(f, "{}", role.char()))
            }
            Err(()) => write!(f, "0x{:04x}", self.0),
        }
    }
}

/// The rook that a king's move from one square to another castles with.
fn castling_rook(chess: &impl Position, from: Square, to: Square) -> Option<Square> {
    if chess.us().contains(to) {
        return chess.board().rooks().contains(to).then_some(to);
    }
    let side = match (from.file(), to.file()) {
        (File::E, File::G) => CastlingSide::KingSide,
        (File::E, File::C) => CastlingSide::QueenSide,
        _ => return None,
    };
    let rook = chess.castles().rook(chess.turn(), side)?;
    (from.rank() == rook.rank() && to.rank() == rook.rank()).then_some(rook)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{CastlingMode, Chess, Position as _};
    use tabiya_testing::played;

    use super::*;
    use crate::Position;

    fn at(fen: &str, mode: CastlingMode) -> Chess {
        Position::from_fen(fen.as_bytes(), mode).unwrap().standard().unwrap().clone()
    }

    #[test]
    fn a_move_has_the_codes_that_resolve_to_it() {
        for (fen, mode) in [
            ("r3k2r/P7/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", CastlingMode::Standard),
            ("5k2/p7/8/8/8/8/8/1R3KR1 w GB - 0 1", CastlingMode::Chess960),
            ("4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", CastlingMode::Chess960),
        ] {
            let chess = at(fen, mode);
            let mut castlings = 0;
            for mv in chess.legal_moves() {
                let [usual, old] = MoveCode::codes(mv, &chess);
                assert_eq!(
                    (usual.resolve(&chess), old.resolve(&chess)),
                    (Some(mv), Some(mv)),
                    "{fen} {mv:?}"
                );
                castlings += usize::from(usual != old);
            }
            let ordinary = chess.board().king_of(chess.turn()) == Some(Square::E1);
            assert_eq!(castlings > 0, ordinary, "{fen}");
        }
    }

    fn legal(raw: MoveCode, chess: &Chess) -> Option<Move> {
        raw.resolve(chess).filter(|&mv| chess.is_legal(mv))
    }

    fn raw(from: Square, to: Square) -> MoveCode {
        MoveCode::new(from, to, None)
    }

    #[test]
    fn a_drop_is_worded_as_one() {
        let pawn = raw(Square::H3, Square::H3);
        let knight = MoveCode::new(Square::H3, Square::H3, Some(Role::Knight));
        assert_eq!([pawn, knight].map(|mv| mv.worded(Variant::Crazyhouse)), ["P@h3", "N@h3"]);
        assert_eq!(
            (pawn.worded(Variant::Chess), MoveCode::NULL.worded(Variant::Crazyhouse)),
            ("h3h3".to_owned(), "a1a1".to_owned())
        );
    }

    #[test]
    fn castling_is_read_in_both_forms() {
        let chess = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", CastlingMode::Standard);
        for (to, rook) in [
            (Square::H1, Square::H1),
            (Square::G1, Square::H1),
            (Square::A1, Square::A1),
            (Square::C1, Square::A1),
        ] {
            let castling = Move::Castle { king: Square::E1, rook };
            assert_eq!(legal(raw(Square::E1, to), &chess), Some(castling));
            assert_eq!(raw(Square::E1, to).is_old_castling(castling), rook != to);
        }
        assert_eq!(legal(raw(Square::E8, Square::G8), &chess), None);
    }

    #[test]
    fn castling_in_chess960_is_the_king_taking_its_rook() {
        let chess = at("5k2/p7/8/8/8/8/8/1R3KR1 w GB - 0 1", CastlingMode::Chess960);
        let castling = Move::Castle { king: Square::F1, rook: Square::G1 };
        assert_eq!(legal(raw(Square::F1, Square::G1), &chess), Some(castling));
        let castling = Move::Castle { king: Square::F1, rook: Square::B1 };
        assert_eq!(legal(raw(Square::F1, Square::B1), &chess), Some(castling));
        assert_eq!(legal(raw(Square::F1, Square::C1), &chess), None);
    }

    #[test]
    fn a_step_of_a_king_is_not_castling_and_a_rook_on_e1_does_not_castle() {
        let chess = at("7k/8/8/8/8/8/8/R3RK2 w - - 0 1", CastlingMode::Standard);
        let step = legal(raw(Square::F1, Square::G1), &chess);
        assert!(matches!(step, Some(Move::Normal { role: Role::King, .. })));
        let rook = legal(raw(Square::E1, Square::C1), &chess);
        assert!(matches!(rook, Some(Move::Normal { role: Role::Rook, .. })));
        // A king beside its own rook without the right to castle.
        let chess = at("4k3/8/8/8/8/8/8/4K2R w - - 0 1", CastlingMode::Standard);
        assert_eq!(legal(raw(Square::E1, Square::H1), &chess), None);
        assert_eq!(legal(raw(Square::E1, Square::G1), &chess), None);
    }

    #[test]
    fn a_promotion_goes_with_promotions_only() {
        let chess = at("1n2k3/P7/8/8/8/8/4P3/4K3 w - - 0 1", CastlingMode::Standard);
        assert!(legal(MoveCode::new(Square::A7, Square::B8, Some(Role::Rook)), &chess).is_some());
        assert!(legal(raw(Square::A7, Square::A8), &chess).is_none());
        assert!(legal(MoveCode::new(Square::E2, Square::E4, Some(Role::Queen)), &chess).is_none());
        assert!(legal(MoveCode::new(Square::E1, Square::D1, Some(Role::Queen)), &chess).is_none());
    }

    proptest! {
        /// Every legal move has a code that resolves to it, and no code resolves to a move that is not in the list.
        #[test]
        fn codes_resolve_to_the_legal_moves_and_no_others(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
            chess960: bool,
            codes in prop::collection::vec(any::<u16>(), 0..200),
        ) {
            let start = "brnkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BRNKQRNB w FBfb - 0 1";
            let start = if chess960 { at(start, CastlingMode::Chess960) } else { Chess::default() };
            let chess = played(start, &steps);
            let moves = chess.legal_moves();
            for &mv in &moves {
                let raw = MoveCode::new(mv.from().unwrap(), mv.to(), mv.promotion());
                prop_assert_eq!(legal(raw, &chess), Some(mv));
            }
            for code in codes {
                if let Some(mv) = legal(MoveCode(code), &chess) {
                    prop_assert!(moves.contains(&mv));
                }
            }
        }
    }

    #[test]
    fn promotions_are_numbered_from_the_knight() {
        for (number, text) in [(0, "a7b8"), (1, "a7b8n"), (2, "a7b8b"), (3, "a7b8r"), (4, "a7b8q")] {
            let mv = MoveCode(number << 12 | 48 << 6 | 57);
            assert_eq!(mv.to_string(), text);
            assert_eq!(mv.error(Variant::Chess), None);
            assert_eq!(MoveCode::new(mv.from(), mv.to(), mv.promotion().unwrap()), mv);
        }
    }

    #[test]
    fn what_can_never_be_legal_has_an_error() {
        let queen = Some(Role::Queen);
        for (mv, error) in [
            (MoveCode(0), "means no move"),
            (MoveCode(5 << 12 | 48 << 6 | 57), "means nothing"),
            (MoveCode(0x8000 | 0x031c), "means nothing"),
            (MoveCode::new(Square::E4, Square::E4, None), "ends where it starts"),
            (MoveCode::new(Square::A1, Square::B4, None), "fits no piece"),
            (MoveCode::new(Square::E2, Square::E4, queen), "promotes where no pawn can"),
            (MoveCode::new(Square::A7, Square::H8, queen), "fits no piece"),
            (MoveCode::new(Square::E8, Square::E7, queen), "promotes where no pawn can"),
        ] {
            assert_eq!(mv.error(Variant::Chess), Some(error), "{mv}");
        }
        assert_eq!(MoveCode::new(Square::E1, Square::A1, None).error(Variant::Chess), None);
    }

    proptest! {
        #[test]
        fn no_legal_move_has_an_error(steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150)) {
            let mut position = Chess::default();
            for step in steps {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                for mv in &legal {
                    let raw = MoveCode::new(mv.from().unwrap(), mv.to(), mv.promotion());
                    prop_assert_eq!(raw.error(Variant::Chess), None);
                }
                position.play_unchecked(*step.get(&legal));
            }
        }
    }
}
