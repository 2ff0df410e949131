//! A position with its pieces numbered as the compact encoding does.

use shakmaty::{ByColor, ByRole, CastlingSide, Color, Move, Piece, Position as _, Role, Square};
use tabiya_chess::{AnyChess, Position};

use super::start;
use crate::database::{MoveError, NumberedBoard, castling, passed, stepped};

/// Pieces of a kind and side that have a number. Only an artificial position has more, and the encoding names pieces
/// from the fourth on by their squares anyway.
const MAX_NUMBERED: usize = 15;

/// A position with its pieces numbered.
#[derive(Clone, Debug)]
pub struct Board {
    position: Position,
    pieces: ByColor<ByRole<Numbered>>,
}

/// The squares of the pieces of one kind and side, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Numbered([Option<Square>; MAX_NUMBERED]);

impl Numbered {
    /// The place of a piece's square; of `None`, that of the next new piece.
    fn place(&mut self, square: Option<Square>) -> Option<&mut Option<Square>> {
        self.0.iter_mut().find(|place| **place == square)
    }

    fn add(&mut self, square: Square) {
        if let Some(free) = self.place(None) {
            *free = Some(square);
        }
    }

    fn shift(&mut self, from: Square, to: Square) {
        if let Some(place) = self.place(Some(from)) {
            *place = Some(to);
        }
    }

    /// Removes a piece. Later ones move down by one, but pawns keep their numbers.
    fn take(&mut self, role: Role, square: Square) {
        if role == Role::Pawn {
            if let Some(place) = self.place(Some(square)) {
                *place = None;
            }
        } else if let Some(number) = self.0.iter().position(|&place| place == Some(square)) {
            if let Some(later) = self.0.get_mut(number..) {
                later.rotate_left(1);
            }
            if let Some(last) = self.0.last_mut() {
                *last = None;
            }
        }
    }
}

impl Board {
    /// Numbers the pieces of a position from a1 up, file by file, or from h8 down.
    pub fn new(position: Position, reversed: bool) -> Self {
        let mut pieces: ByColor<ByRole<Numbered>> = ByColor::default();
        for number in 0..64 {
            let square = start::square(if reversed { 63 - number } else { number });
            if let Some(piece) = position.chess().board().piece_at(square) {
                pieces.get_mut(piece.color).get_mut(piece.role).add(square);
            }
        }
        Self { position, pieces }
    }

    /// The position.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// shakmaty's view of the position.
    #[inline]
    pub fn chess(&self) -> &AnyChess {
        self.position.chess()
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.chess().turn()
    }

    /// The square of a piece of the side to move, by its kind and number from 0.
    ///
    /// # Errors
    /// When there is no such piece.
    #[inline]
    pub fn find(&self, role: Role, number: u8) -> Result<Square, MoveError> {
        let Numbered(squares) = self.pieces.get(self.turn()).get(role);
        squares.get(usize::from(number)).copied().flatten().ok_or(MoveError::NoPiece)
    }

    /// The legal move of a piece of the side to move, by its kind, number and step; not castling. A pawn that reaches
    /// the last rank becomes a queen.
    ///
    /// # Errors
    /// When it is not legal.
    #[inline]
    pub fn piece(&self, role: Role, number: u8, right: u8, up: u8) -> Result<Move, MoveError> {
        let from = self.find(role, number)?;
        // A step over the edge leads to a square that the piece never reaches.
        let (file, rank) =
            (u32::from(from.file()) + u32::from(right), u32::from(from.rank()) + u32::from(up));
        stepped(&self.position, role, from, Square::new((rank & 7) << 3 | file & 7), None)
    }

    /// The legal move between two squares; not castling. A pawn that reaches the last rank becomes a queen unless
    /// `promotion` names another piece.
    ///
    /// # Errors
    /// When it is not legal.
    #[inline]
    pub fn between(&self, from: Square, to: Square, promotion: Option<Role>) -> Result<Move, MoveError> {
        match self.chess().board().piece_at(from) {
            Some(Piece { color, role }) if color == self.turn() => {
                stepped(&self.position, role, from, to, promotion)
            }
            _ => Err(MoveError::NoPiece),
        }
    }

    /// The legal castling to the g file or to the c file.
    ///
    /// # Errors
    /// When it is not legal.
    pub fn castling(&self, short: bool) -> Result<Move, MoveError> {
        castling(&self.position, short)
    }

    /// Lets the side to move pass.
    ///
    /// # Errors
    /// When it is in check.
    pub fn pass(&mut self) -> Result<(), MoveError> {
        self.position = passed(&self.position)?;
        Ok(())
    }

    /// Plays a move that is legal here.
    #[inline]
    pub fn play(&mut self, mv: Move) {
        let color = self.turn();
        let (own, other) = match color {
            Color::White => (&mut self.pieces.white, &mut self.pieces.black),
            Color::Black => (&mut self.pieces.black, &mut self.pieces.white),
        };
        if let Move::Normal { role, from, capture, to, promotion } = mv {
            if let Some(captured) = capture {
                other.get_mut(captured).take(captured, to);
            }
            if let Some(promotion) = promotion {
                own.get_mut(role).take(role, from);
                own.get_mut(promotion).add(to);
            } else {
                own.get_mut(role).shift(from, to);
            }
        } else {
            follow_special(mv, color, own, other);
        }
        self.position.play(mv);
    }
}

/// Follows castling and en passant; only variants of chess have drops.
#[inline(never)]
fn follow_special(mv: Move, color: Color, own: &mut ByRole<Numbered>, other: &mut ByRole<Numbered>) {
    match mv {
        Move::EnPassant { from, to } => {
            other.pawn.take(Role::Pawn, Square::from_coords(to.file(), from.rank()));
            own.pawn.shift(from, to);
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            own.king.shift(king, side.king_to(color));
            own.rook.shift(rook, side.rook_to(color));
        }
        Move::Normal { .. } | Move::Put { .. } => {}
    }
}

impl NumberedBoard for Board {
    #[inline(always)]
    fn position(&self) -> &Position {
        &self.position
    }

    #[inline(always)]
    fn play(&mut self, mv: Move) {
        Self::play(self, mv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{Bitboard, CastlingMode};

    fn board(fen: &str, reversed: bool) -> Board {
        Board::new(Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap(), reversed)
    }

    fn normal(role: Role, from: Square, to: Square, capture: Option<Role>) -> Move {
        Move::Normal { role, from, to, capture, promotion: None }
    }

    #[test]
    fn later_pieces_move_down_and_pawns_keep_their_numbers() {
        let mut board = board("4k3/8/8/2n5/P1P5/8/8/RNR1K1R1 b - - 0 1", false);
        board.play(normal(Role::Knight, Square::C5, Square::A4, Some(Role::Pawn)));
        assert_eq!(board.find(Role::Pawn, 0), Err(MoveError::NoPiece));
        assert_eq!(board.find(Role::Pawn, 1), Ok(Square::C4));
        board.pass().unwrap();
        board.play(normal(Role::Knight, Square::A4, Square::A1, Some(Role::Rook)));
        assert_eq!(board.find(Role::Rook, 0), Ok(Square::C1));
        assert_eq!(board.find(Role::Rook, 1), Ok(Square::G1));
        assert_eq!(board.find(Role::Rook, 2), Err(MoveError::NoPiece));
    }

    #[test]
    fn promoted_pieces_castling_and_en_passant_keep_the_numbers_right() {
        let mut board = board("r3k2r/P7/8/8/2p5/8/1P6/4K2R w Kkq - 0 1", false);
        board.play(board.castling(true).unwrap());
        assert_eq!((board.find(Role::King, 0), board.find(Role::Rook, 1)), (Ok(Square::E8), Ok(Square::H8)));
        board.play(board.castling(false).unwrap());
        assert_eq!((board.find(Role::Rook, 0), board.find(Role::Pawn, 1)), (Ok(Square::F1), Ok(Square::B2)));
        board.play(board.piece(Role::Pawn, 1, 0, 2).unwrap());
        assert_eq!(board.find(Role::Rook, 0), Ok(Square::D8));
        assert_eq!(
            board.piece(Role::Pawn, 0, 7, 7),
            Ok(Move::EnPassant { from: Square::C4, to: Square::B3 })
        );
        board.play(board.piece(Role::Pawn, 0, 7, 7).unwrap());
        assert_eq!(board.find(Role::Pawn, 1), Err(MoveError::NoPiece));
        board.play(board.between(Square::A7, Square::A8, Some(Role::Rook)).unwrap());
        board.play(board.between(Square::C8, Square::B7, None).unwrap());
        assert_eq!(board.find(Role::Pawn, 0), Err(MoveError::NoPiece));
        assert_eq!([0, 1].map(|number| board.find(Role::Rook, number)), [Ok(Square::F1), Ok(Square::A8)]);
    }

    #[test]
    fn the_order_can_be_reversed() {
        let mut board = Board::new(Position::start(), true);
        assert_eq!(board.find(Role::Rook, 0), Ok(Square::H1));
        assert_eq!(board.find(Role::Pawn, 0), Ok(Square::H2));
        board.pass().unwrap();
        assert_eq!(board.find(Role::Knight, 1), Ok(Square::B8));
    }

    #[test]
    fn an_illegal_move_has_its_reason() {
        let fen = "6k1/8/8/3pP3/8/4B3/4PP2/4K2r w - d6 0 1";
        for (from, to, reason) in [
            (Square::E4, Square::E5, MoveError::NoPiece),
            (Square::D5, Square::D4, MoveError::NoPiece),
            (Square::E3, Square::C4, MoveError::Unreachable),
            (Square::E3, Square::F2, MoveError::Unreachable),
            (Square::E3, Square::G7, MoveError::Unreachable),
            (Square::E2, Square::E3, MoveError::Unreachable),
            (Square::E2, Square::E4, MoveError::Unreachable),
            (Square::E2, Square::D3, MoveError::Unreachable),
            (Square::F2, Square::F5, MoveError::Unreachable),
            (Square::F2, Square::F1, MoveError::Unreachable),
            (Square::E5, Square::E7, MoveError::Unreachable),
            (Square::E5, Square::F6, MoveError::Unreachable),
            (Square::E3, Square::D2, MoveError::King),
            (Square::F2, Square::F4, MoveError::King),
            (Square::E5, Square::E6, MoveError::King),
            (Square::E5, Square::D6, MoveError::King),
            (Square::E1, Square::D1, MoveError::King),
        ] {
            assert_eq!(board(fen, false).between(from, to, None), Err(reason), "{from}{to}");
        }
        let castles = |fen: &str, short| board(fen, false).castling(short);
        let fen = "4k3/8/8/8/8/6n1/8/R3K2R w K - 0 1";
        assert_eq!(castles(fen, true), Err(MoveError::Castling));
        assert_eq!(castles(fen, false), Err(MoveError::NoRight { color: Color::White, short: false }));
        assert_eq!(board("4k3/8/8/8/8/8/8/4K2r w - - 0 1", false).pass(), Err(MoveError::Pass));
        // No game reaches it, but sides may pass in it.
        assert_eq!(board("4k3/8/8/8/8/QQQQ1QQQ/QQQQ1QQQ/4K3 b - - 0 1", false).pass(), Ok(()));
    }

    proptest::proptest! {
        /// Numbers stay those of the pieces on the board, and every way of naming a move agrees with the list of legal
        /// moves.
        #[test]
        fn numbers_name_exactly_the_pieces(
            number in 0_u32..960,
            steps in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..60),
        ) {
            let mut setup = shakmaty::Setup::initial();
            setup.board = shakmaty::Board::chess960(number);
            setup.castling_rights = setup.board.rooks();
            let chess: shakmaty::Chess = setup.position(CastlingMode::Chess960).unwrap();
            let mut board = Board::new(Position::from_chess(chess), false);
            for step in steps {
                for (piece, numbered) in board.pieces.as_ref().zip_color().into_iter().flat_map(|(color, kinds)| {
                    kinds.as_ref().zip_role().into_iter().map(move |(role, numbered)| (Piece { color, role }, numbered))
                }) {
                    let squares: Bitboard = numbered.0.iter().flatten().copied().collect();
                    assert_eq!(squares, board.chess().board().by_piece(piece));
                }
                let legal = board.chess().legal_moves();
                for &mv in legal.iter().filter(|mv| !mv.is_castle()) {
                    assert_eq!(board.between(mv.from().unwrap(), mv.to(), mv.promotion()), Ok(mv));
                }
                if legal.is_empty() {
                    break;
                }
                board.play(*step.get(&legal));
            }
        }
    }
}
