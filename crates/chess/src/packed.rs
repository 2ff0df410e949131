//! A position in 24 bytes, for tables of millions of them.

use shakmaty::zobrist::Zobrist128;
use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Piece, Position as _, Rank, Role, Setup,
    Square,
};

use super::variant::variant_facts;
use super::{Position, allow_unusual};

/// Bytes of a packed position: which squares are occupied (8), then four bits for each piece in the squares' order
/// (docs/formats/counts.md, Position).
pub const PACKED_LEN: usize = 24;

/// The first bytes of a position of a variant, and of no other: all squares are occupied.
const OF_VARIANT: [u8; 8] = [u8::MAX; 8];

const MAX_PIECES: usize = 32;

/// Four bits for each kind of piece: 0 to 11 are pawn to king of White and of Black, and four codes say more.
mod code {
    /// A pawn that has just gone two squares and may be captured in passing.
    pub(crate) const PASSED: u8 = 12;
    /// White's rook that may castle.
    pub(crate) const WHITE_ROOK: u8 = 13;
    /// Black's rook that may castle.
    pub(crate) const BLACK_ROOK: u8 = 14;
    /// Black's king where Black is to move.
    pub(crate) const BLACK_KING_TO_MOVE: u8 = 15;
}

/// A packed position: everything that its key and its moves depend on, but no counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(transparent)]
pub struct Packed(pub [u8; PACKED_LEN]);

impl Packed {
    /// Packs a position; `None` where it has more than 32 pieces, which no game reaches, and in other variants than
    /// standard chess, which have more to keep.
    pub fn new(position: &Position) -> Option<Self> {
        // As in the key: en passant counts where a pawn is beside it, legal or not.
        Self::with(position, EnPassantMode::PseudoLegal)
    }

    /// Packs a position so that en passant counts only where it is legal: positions with the same moves are the same. Positions
    /// of variants are hashed, since they do not fit: their bytes name them, and describe no position.
    pub fn strict(position: &Position) -> Option<Self> {
        match position.standard() {
            Some(_) => Self::with(position, EnPassantMode::Legal),
            None => Some(Self::hashed(position)),
        }
    }

    /// All squares occupied, 15 bytes of a hash of all that decides about the moves, and the number of the variant
    /// (docs/formats/evals.md, Variants).
    fn hashed(position: &Position) -> Self {
        let Zobrist128(hash) = position.chess().zobrist_hash(EnPassantMode::Legal);
        let mut bytes = [0; PACKED_LEN];
        bytes[..8].copy_from_slice(&OF_VARIANT);
        bytes[8..].copy_from_slice(&hash.to_le_bytes());
        bytes[PACKED_LEN - 1] = variant_facts(position.variant()).number;
        Self(bytes)
    }

    fn with(position: &Position, mode: EnPassantMode) -> Option<Self> {
        let chess = position.standard()?;
        let board = chess.board();
        let occupied = board.occupied();
        if occupied.count() > MAX_PIECES {
            return None;
        }
        let rooks = chess.castles().castling_rights();
        let passed = chess.ep_square(mode).map(|to| to.xor(Square::A2));
        let mut bytes = [0; PACKED_LEN];
        let (squares, pieces) = bytes.split_at_mut(8);
        squares.copy_from_slice(&u64::from(occupied).to_le_bytes());
        for (index, square) in occupied.into_iter().enumerate() {
            let Some(piece) = board.piece_at(square) else { continue };
            let code = if Some(square) == passed {
                code::PASSED
            } else if rooks.contains(square) {
                piece.color.fold_wb(code::WHITE_ROOK, code::BLACK_ROOK)
            } else if piece == Color::Black.king() && chess.turn() == Color::Black {
                code::BLACK_KING_TO_MOVE
            } else {
                piece.color.fold_wb(0, 6) + (u8::from(piece.role) - 1)
            };
            if let Some(byte) = pieces.get_mut(index / 2) {
                *byte |= code << (index % 2 * 4);
            }
        }
        Some(Self(bytes))
    }

    /// Whether these are the bytes of a position of a variant, which cannot be unpacked.
    pub fn is_of_variant(&self) -> bool {
        self.0.starts_with(&OF_VARIANT)
    }

    /// The position; `None` where the bytes do not describe one.
    pub fn unpack(&self) -> Option<Position> {
        let (squares, pieces) = self.0.split_first_chunk::<8>()?;
        let occupied = Bitboard(u64::from_le_bytes(*squares));
        let mut setup = Setup::empty();
        for (index, square) in occupied.into_iter().enumerate() {
            let code = pieces.get(index / 2)? >> (index % 2 * 4) & 0xf;
            let piece = match code {
                code::PASSED => {
                    // A pawn on the fourth rank is White's, and Black may capture it.
                    let color = if square.rank() == Rank::Fourth { Color::White } else { Color::Black };
                    setup.ep_square = Some(square.xor(Square::A2));
                    Piece { color, role: Role::Pawn }
                }
                code::WHITE_ROOK | code::BLACK_ROOK => {
                    setup.castling_rights.add(square);
                    Piece { color: Color::from_white(code == code::WHITE_ROOK), role: Role::Rook }
                }
                code::BLACK_KING_TO_MOVE => {
                    setup.turn = Color::Black;
                    Color::Black.king()
                }
                code => {
                    Piece { color: Color::from_white(code < 6), role: Role::try_from(code % 6 + 1).ok()? }
                }
            };
            setup.board.set_piece_at(square, piece);
        }
        let mode = CastlingMode::detect(&setup);
        Chess::from_setup(setup, mode).or_else(allow_unusual).ok().map(Position::from_chess)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Variant;

    fn round_trip(position: &Position) {
        let packed = Packed::new(position).unwrap();
        let again = packed.unpack().unwrap();
        assert_eq!(again.key(), position.key(), "{}", position.fen());
        assert_eq!(again.chess().board(), position.chess().board());
        assert_eq!(again.chess().legal_moves(), position.chess().legal_moves());
        assert_eq!(Packed::new(&again), Some(packed));
    }

    #[test]
    fn special_positions_are_unpacked() {
        for (fen, mode) in [
            ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", CastlingMode::Standard),
            ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", CastlingMode::Standard),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1", CastlingMode::Standard),
            ("brnkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BRNKQRNB w FBfb - 0 1", CastlingMode::Chess960),
            ("4k3/8/8/8/8/8/8/QQQQKQQQ w - - 0 1", CastlingMode::Standard),
        ] {
            round_trip(&Position::from_fen(fen.as_bytes(), mode).unwrap());
        }
    }

    #[test]
    fn an_illegal_capture_in_passing_is_left_out_of_a_strict_position() {
        // The pawn is pinned, and may not capture.
        let fen = |passed| format!("4r1k1/8/8/3pP3/8/8/8/4K3 w - {passed} 0 1");
        let at = |passed| Position::from_fen(fen(passed).as_bytes(), CastlingMode::Standard).unwrap();
        assert_ne!(Packed::new(&at("d6")), Packed::new(&at("-")));
        assert_eq!(Packed::strict(&at("d6")), Packed::new(&at("-")));
        assert_ne!(at("d6").strict_key(), at("d6").key());
        assert_eq!(at("d6").strict_key(), at("-").key());
    }

    #[test]
    fn too_many_pieces_do_not_fit() {
        let fen = b"4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/QQQQKQQQ b - - 0 1";
        let few = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        assert!(Packed::new(&few).is_some());
        let fen = b"4k3/8/8/QQQQQQQQ/8/QQQQQQQQ/QQQQQQQQ/QQQQKQQQ b - - 0 1";
        let many = Position::from_fen(fen, CastlingMode::Standard);
        assert!(many.is_err() || Packed::new(&many.unwrap()).is_none());
    }

    #[test]
    fn positions_of_variants_have_bytes_of_their_own_but_none_back() {
        let read = |variant, fen: &str| Position::from_any_fen_of(variant, fen.as_bytes()).unwrap();
        let board = "rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR";
        let with = |hand: &str| read(Variant::Crazyhouse, &format!("{board}{hand} w KQkq - 2 4"));
        let mut all = vec![Packed::strict(&Position::start()).unwrap()];
        all.extend(Variant::ALL.into_iter().skip(1).map(|v| Packed::strict(&Position::start_of(v)).unwrap()));
        all.extend([with("[Pp]"), with("[P]"), with("[]")].map(|at| Packed::strict(&at).unwrap()));
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(Packed::strict(&with("[pP]")), Packed::strict(&with("[Pp]")));
        assert!(all[1..].iter().all(|packed| packed.unpack().is_none()));
        assert!(Packed::new(&with("[]")).is_none());
        // Stores keep these bytes.
        let hex = |at: &Position| {
            Packed::strict(at).unwrap().0.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!(hex(&with("[Pp]")), "ffffffffffffffff3d7c54fc9e6b0288cc890e2d64c1e003");
    }

    proptest! {
        #[test]
        fn every_position_of_a_game_is_unpacked(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..160),
            chess960: bool,
        ) {
            let start = b"brnkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BRNKQRNB w FBfb - 0 1";
            let mut position = if chess960 {
                Position::from_fen(start, CastlingMode::Chess960).unwrap()
            } else {
                Position::start()
            };
            for step in steps {
                round_trip(&position);
                let moves = position.chess().legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play(*step.get(&moves));
            }
        }

        #[test]
        fn any_bytes_are_a_position_or_none(bytes: [u8; PACKED_LEN]) {
            if let Some(position) = Packed(bytes).unpack() {
                prop_assert!(Packed::new(&position).is_some());
            }
        }
    }
}
