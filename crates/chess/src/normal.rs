//! The form in which ChessBase's and Kvetka's books store a position: as if White were to move, and with the king of
//! the side to move on the right half where neither side may castle.
#![allow(clippy::cast_possible_truncation, reason = "a board has 64 squares")]

use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Move, Position as _, Rank, Role,
    Setup, Square,
};

use super::allow_unusual;

/// The corners in the order of the four castling bits, highest first: k, q, K, Q of the normal form.
pub const CASTLES: [(Color, CastlingSide, Square); 4] = [
    (Color::Black, CastlingSide::KingSide, Square::H8),
    (Color::Black, CastlingSide::QueenSide, Square::A8),
    (Color::White, CastlingSide::KingSide, Square::H1),
    (Color::White, CastlingSide::QueenSide, Square::A1),
];

/// How a position was turned into the normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Black is to move: colours and ranks are swapped.
    pub swapped: bool,
    pub mirrored: bool,
}

impl Frame {
    /// The square of the board for coordinates in the normal form, each 0 to 7; larger ones count modulo 8.
    pub fn square(self, file: u32, rank: u32) -> Square {
        let file = if self.mirrored { 7 - file % 8 } else { file % 8 };
        let rank = if self.swapped { 7 - rank % 8 } else { rank % 8 };
        Square::from_coords(File::new(file), Rank::new(rank))
    }

    /// File and rank in the normal form of a square of the board.
    pub(crate) fn coords(self, square: Square) -> (u32, u32) {
        let (file, rank) = (u32::from(square.file()), u32::from(square.rank()));
        (if self.mirrored { 7 - file } else { file }, if self.swapped { 7 - rank } else { rank })
    }
}

/// A position in the normal form. Bit `8 * file + rank` of a set is a square: the order of the bits is the order in which
/// the formats count squares, a1 to a8, b1 to b8, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    /// The pieces of both sides by their kind: pawns, knights, bishops, rooks, queens, kings.
    pub roles: [u64; 6],
    /// The pieces of the side to move.
    pub us: u64,
    /// Who may castle, as four bits in the order of [`CASTLES`].
    pub castles: u8,
    /// The file, 0 to 7, of a pawn that was just pushed by two and has one of the other side beside it, whether or not
    /// that may capture.
    pub en_passant: Option<u32>,
    /// How it was turned.
    pub frame: Frame,
}

impl Normal {
    /// The normal form of a position; `None` where it has none, because a side may castle with a king or a rook that
    /// did not start on its square of ordinary chess.
    pub fn from_chess(chess: &Chess) -> Option<Self> {
        let board = chess.board();
        let turn = chess.turn();
        let mut castles = 0;
        if !chess.castles().is_empty() {
            for (bit, (color, side, corner)) in CASTLES.into_iter().enumerate() {
                let (color, corner) =
                    if turn == Color::Black { (!color, corner.flip_vertical()) } else { (color, corner) };
                let Some(rook) = chess.castles().rook(color, side) else { continue };
                if rook != corner || board.king_of(color)?.file() != File::E {
                    return None;
                }
                castles |= 8 >> bit;
            }
        }
        let king = board.king_of(turn)?;
        let frame = Frame { swapped: turn == Color::Black, mirrored: castles == 0 && king.file() <= File::D };
        let turned = |set: Bitboard| {
            let set = if frame.swapped { set.flip_vertical() } else { set };
            let set = if frame.mirrored { set.flip_horizontal() } else { set };
            set.flip_diagonal().0
        };
        let roles = Role::ALL.map(|role| turned(board.by_role(role)));
        let en_passant = chess.ep_square(EnPassantMode::PseudoLegal).map(|square| frame.coords(square).0);
        Some(Self { roles, us: turned(board.by_color(turn)), castles, en_passant, frame })
    }

    /// File and rank, 0 to 7, of the piece of this number, from 0, among those of its kind that the side to move has.
    pub fn nth(&self, role: Role, number: u8) -> Option<(u32, u32)> {
        let mut set = self.us & self.roles.get(usize::from(role) - 1)?;
        for _ in 0..number {
            set &= set.wrapping_sub(1);
        }
        (set != 0).then(|| (set.trailing_zeros() / 8, set.trailing_zeros() % 8))
    }

    /// The number of the piece on a square among those of its kind that the side to move has.
    fn number(&self, role: Role, file: u32, rank: u32) -> Option<u8> {
        let set = self.us & self.roles.get(usize::from(role) - 1)?;
        let square = 8 * file + rank;
        (set >> square & 1 != 0).then(|| (set & ((1 << square) - 1)).count_ones() as u8)
    }
}

/// The position of a setup in the normal form, as the books' readers build it from bits; lenient as
/// [`Position::from_fen`](super::Position::from_fen) is, but castling and en passant must fit the board.
pub fn playable(setup: Setup) -> Option<Chess> {
    setup.position::<Chess>(CastlingMode::Standard).or_else(allow_unusual).ok()
}

/// The positions that have the same normal form as the given one, which comes first: with colours swapped, and mirrored
/// where neither side may castle.
pub fn forms(chess: Chess) -> Vec<Chess> {
    let mut forms = vec![chess];
    if let [chess] = &forms[..]
        && chess.castles().is_empty()
    {
        let mut setup = chess.clone().to_setup(EnPassantMode::PseudoLegal);
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(|square| square.flip_horizontal());
        forms.extend(playable(setup));
    }
    for at in 0..forms.len() {
        if let Some(chess) = forms.get(at) {
            forms.extend(playable(chess.clone().to_setup(EnPassantMode::PseudoLegal).into_mirrored()));
        }
    }
    forms
}

/// A piece of the side to move and its step, in the normal form on a board whose edges are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceStep {
    pub role: Role,
    /// Its number among those of its kind, from 0, in the order a1 to a8, b1 to b8 and so on.
    pub number: u8,
    /// Files to the right, modulo 8.
    pub right: u8,
    /// Ranks up, modulo 8.
    pub up: u8,
}

impl PieceStep {
    /// The step of a move that is legal in the position whose normal form is given; `None` for castling and for a promotion
    /// to anything but a queen.
    pub fn from_move(mv: Move, normal: &Normal) -> Option<Self> {
        let (role, from, to) = match mv {
            Move::Normal { promotion: Some(role), .. } if role != Role::Queen => return None,
            Move::Normal { role, from, to, .. } => (role, from, to),
            Move::EnPassant { from, to } => (Role::Pawn, from, to),
            Move::Castle { .. } | Move::Put { .. } => return None,
        };
        let ((from_file, from_rank), (to_file, to_rank)) =
            (normal.frame.coords(from), normal.frame.coords(to));
        let number = normal.number(role, from_file, from_rank)?;
        let apart = |from: u32, to: u32| ((to + 8 - from) % 8) as u8;
        Some(Self { role, number, right: apart(from_file, to_file), up: apart(from_rank, to_rank) })
    }

    /// The move that the step is in a position, whose normal form is given too, legal or not. Pawns become queens.
    pub fn resolve(self, normal: &Normal, chess: &Chess) -> Option<Move> {
        let frame = normal.frame;
        let (file, rank) = normal.nth(self.role, self.number)?;
        let from = frame.square(file, rank);
        let to_rank = (rank + u32::from(self.up)) % 8;
        let to: Square = frame.square(file + u32::from(self.right), to_rank);
        let role = self.role;
        let capture = chess.board().role_at(to);
        if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
            return Some(Move::EnPassant { from, to });
        }
        let promotion = (role == Role::Pawn && to_rank == 7).then_some(Role::Queen);
        Some(Move::Normal { role, from, capture, to, promotion })
    }
}

/// Castling to a side by the side to move, legal or not.
pub fn castling(side: CastlingSide, chess: &Chess) -> Option<Move> {
    let king = chess.board().king_of(chess.turn())?;
    let rook = chess.castles().rook(chess.turn(), side)?;
    Some(Move::Castle { king, rook })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_testing::played;

    use super::*;

    proptest! {
        #[test]
        fn a_move_has_one_step_which_resolves_to_the_move(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            let chess = played(Chess::default(), &steps);
            let normal = Normal::from_chess(&chess).unwrap();
            for &mv in &chess.legal_moves() {
                let without = mv.is_castle() || mv.promotion().is_some_and(|role| role != Role::Queen);
                let step = PieceStep::from_move(mv, &normal);
                prop_assert_eq!(step.is_none(), without, "{:?}", mv);
                let resolved = step.and_then(|step| step.resolve(&normal, &chess));
                prop_assert_eq!(resolved, (!without).then_some(mv));
            }
        }
    }
}
