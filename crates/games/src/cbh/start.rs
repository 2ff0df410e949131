//! The position that a game starts from.

use std::num::NonZeroU32;

use shakmaty::{Bitboard, CastlingMode, Chess, Color, File, Piece, Rank, Role, Setup, Square};

use tabiya_base::bytes;
use tabiya_chess::setup_leniently;

use super::layout::{
    CHESS960_LEN, CHESS960_ROOKS, SETUP_BLACK, SETUP_BOARD, SETUP_BOARD_LEN, SETUP_EN_PASSANT, SETUP_LEN,
};

/// The square of ChessBase's number: a1 is 0, a2 is 1, b1 is 8.
#[inline]
pub fn square(number: u8) -> Square {
    let number = u32::from(number & 63);
    Square::new((number & 7) << 3 | number >> 3)
}

/// ChessBase's number of a square.
#[cfg(test)]
pub fn number(square: Square) -> u8 {
    (square as u8 & 7) << 3 | square as u8 >> 3
}

/// A position that a game starts from.
#[derive(Clone, Debug)]
pub struct Start {
    /// The position.
    pub chess: Chess,
    /// Its bytes in the game.
    pub len: u64,
}

impl Start {
    /// A starting position of Chess960 by its number; `None` from 960 on.
    pub fn chess960(number: u16) -> Option<Self> {
        let mut setup = Setup::initial();
        setup.board = shakmaty::Board::chess960(Some(u32::from(number)).filter(|&number| number < 960)?);
        setup.castling_rights = setup.board.rooks();
        let chess = setup.position(CastlingMode::Chess960).ok()?;
        Some(Self { chess, len: 0 })
    }

    /// Reads a set-up position, and in a game of Chess960 the bytes after it.
    ///
    /// # Errors
    /// With what is wrong, as a clause.
    pub fn read(data: &[u8], chess960: bool) -> Result<Self, &'static str> {
        let len = SETUP_LEN + if chess960 { CHESS960_LEN } else { 0 };
        let data = bytes::slice(data, 0, len).ok_or("the starting position is cut off")?;
        let (head, board) = data.split_at_checked(SETUP_BOARD).ok_or("the starting position is cut off")?;
        let &[_, flags, rights, first] = head else { return Err("the starting position is cut off") };
        let board = board.get(..SETUP_BOARD_LEN).unwrap_or_default();
        let mut setup = Setup::empty();
        setup.board = pieces(board).ok_or("the starting position has an unknown piece")?;
        setup.turn = if flags & SETUP_BLACK == 0 { Color::White } else { Color::Black };
        setup.fullmoves = NonZeroU32::new(u32::from(first)).unwrap_or(NonZeroU32::MIN);
        let rank = setup.turn.fold_wb(Rank::Sixth, Rank::Third);
        setup.ep_square = file(flags & SETUP_EN_PASSANT).map(|file| Square::from_coords(file, rank));
        setup.castling_rights = rooks(&setup.board, rights, data.get(SETUP_BOARD + SETUP_BOARD_LEN..));
        let mode = if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let chess = playable(setup, mode).ok_or("the starting position is not legal")?;
        Ok(Self { chess, len })
    }

    /// The same position with a castling right that it lacks, if king and rook are on their squares.
    pub(crate) fn with_right(&self, color: Color, short: bool) -> Option<Self> {
        use shakmaty::Position as _;
        if self.chess.castles().mode() == CastlingMode::Chess960 {
            return None;
        }
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        let rook = Square::from_coords(if short { File::H } else { File::A }, rank);
        let board = self.chess.board();
        let has = |role, at| board.piece_at(at) == Some(Piece { color, role });
        if !has(Role::King, Square::from_coords(File::E, rank)) || !has(Role::Rook, rook) {
            return None;
        }
        let mut setup = self.chess.to_setup(shakmaty::EnPassantMode::PseudoLegal);
        if setup.castling_rights.contains(rook) {
            return None;
        }
        setup.castling_rights.add(rook);
        Some(Self { chess: playable(setup, CastlingMode::Standard)?, ..*self })
    }
}

/// A position in which moves can be played, however odd.
fn playable(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    setup.position::<Chess>(mode).or_else(setup_leniently).ok()
}

fn file(number: u8) -> Option<File> {
    File::ALL.get(usize::from(number.checked_sub(1)?)).copied()
}

/// Reads the board, a stream of bits from a1 up and file by file: 0 for an empty square; 1, side and kind for a piece.
fn pieces(data: &[u8]) -> Option<shakmaty::Board> {
    let mut bits = data.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let mut board = shakmaty::Board::empty();
    for at in 0..64 {
        if bits.next()? == 0 {
            continue;
        }
        let color = if bits.next()? == 0 { Color::White } else { Color::Black };
        let kind = (0..3).try_fold(0, |kind, _| Some(kind << 1 | bits.next()?))?;
        let role = match kind {
            1 => Role::King,
            2 => Role::Queen,
            3 => Role::Knight,
            4 => Role::Bishop,
            5 => Role::Rook,
            6 => Role::Pawn,
            _ => return None,
        };
        board.set_piece_at(square(at), Piece { color, role });
    }
    Some(board)
}

/// The rooks that may castle: those that a game of Chess960 names, or else the outermost ones.
fn rooks(board: &shakmaty::Board, rights: u8, named: Option<&[u8]>) -> Bitboard {
    let mut rooks = Bitboard::EMPTY;
    let sides = [(Color::White, false), (Color::White, true), (Color::Black, false), (Color::Black, true)];
    for ((bit, (color, short)), place) in (0..).zip(sides).zip(CHESS960_ROOKS) {
        if rights >> bit & 1 == 0 {
            continue;
        }
        let own = board.by_color(color) & board.rooks();
        let named = named.and_then(|named| named.get(place)).filter(|&&square| square < 64);
        let named = named.map(|&number| square(number)).filter(|&at| own.contains(at));
        let Some(king) = board.king_of(color) else { continue };
        let home = own & Bitboard::from(king.rank());
        let outermost = if short {
            home.last().filter(|&rook| rook > king)
        } else {
            home.first().filter(|&rook| rook < king)
        };
        rooks |= named.or(outermost).map_or(Bitboard::EMPTY, Bitboard::from);
    }
    rooks
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::set_up;
    use super::*;
    use shakmaty::fen::Fen;
    use shakmaty::{EnPassantMode, Position as _};

    #[test]
    fn squares_go_file_by_file() {
        assert_eq!([0, 1, 8, 63].map(square), [Square::A1, Square::A2, Square::B1, Square::H8]);
        assert!(Square::ALL.into_iter().all(|at| square(number(at)) == at));
    }

    #[test]
    fn the_example_of_the_description_is_read() {
        // 58 0e 93: a white pawn on a2, a black rook on b1, a white knight on b4.
        let mut data = [0; 24];
        data[..3].copy_from_slice(&[0x58, 0x0e, 0x93]);
        let board = pieces(&data).unwrap();
        assert_eq!(board.piece_at(Square::A2), Some(Color::White.pawn()));
        assert_eq!(board.piece_at(Square::B1), Some(Color::Black.rook()));
        assert_eq!(board.piece_at(Square::B4), Some(Color::White.knight()));
        assert_eq!(board.occupied().count(), 3);
    }

    #[test]
    fn a_position_is_read_as_it_was_written() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "4k2r/8/8/3pP3/8/8/8/R3K3 w Qk d6 0 17",
            "k7/8/8/8/8/8/8/7K b - - 0 200",
        ] {
            let data = set_up(fen, None);
            let start = Start::read(&data, false).unwrap();
            assert_eq!(Fen::from_position(&start.chess, EnPassantMode::Always).to_string(), fen);
            assert_eq!(start.len, 28);
        }
    }

    #[test]
    fn impossible_positions_are_refused() {
        assert!(Start::read(&[1; 27], false).is_err());
        assert!(Start::read(&set_up("rnbqkbnr/pppppppp/8/8/8/8/8/8 w - - 0 1", None), false).is_err());
        let mut data = set_up("k7/8/8/8/8/8/8/7K w - - 0 1", None);
        data[4..].fill(0xff);
        assert!(Start::read(&data, false).is_err());
    }

    #[test]
    fn chess960_names_its_rooks_or_else_has_the_outermost_ones() {
        let fen = "1r1k2r1/8/8/8/8/8/8/1R1K2R1 w KQkq - 0 1";
        for (squares, number) in [([24, 31, 48, 8, 55, 15], 518), ([200, 255, 64, 100, 65, 99], 65000)] {
            let start = Start::read(&set_up(fen, Some((squares, number))), true).unwrap();
            assert_eq!(Fen::from_position(&start.chess, EnPassantMode::Legal).to_string(), fen);
            assert_eq!(start.len, 36);
        }
        assert!(Start::chess960(960).is_none());
        assert_eq!(Start::chess960(518).unwrap().chess.castles().castling_rights().count(), 4);
    }

    #[test]
    fn a_right_is_granted_only_where_king_and_rook_are_at_home() {
        let start = Start::read(&set_up("4k2r/8/8/8/8/8/8/R3K3 w - - 0 1", None), false).unwrap();
        assert!(start.with_right(Color::White, false).is_some());
        assert!(start.with_right(Color::White, true).is_none());
        let start = start.with_right(Color::Black, true).unwrap();
        assert!(start.with_right(Color::Black, true).is_none());
    }
}
