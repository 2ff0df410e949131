//! The board beside shakmaty's.

use super::*;
use proptest::prelude::*;
use shakmaty::CastlingMode;
use shakmaty::fen::Fen;

/// What a board says of every pair of squares and both castlings.
fn legal(board: &Board) -> Vec<Move> {
    let mut legal = Vec::new();
    for from in Square::ALL {
        for to in Square::ALL {
            let Ok(mv) = board.between(from, to, None) else { continue };
            legal.push(mv);
            if mv.is_promotion() {
                for role in [Role::Rook, Role::Bishop, Role::Knight] {
                    legal.extend(board.between(from, to, Some(role)));
                }
            }
        }
    }
    legal.extend([true, false].into_iter().filter_map(|short| board.castling(short).ok()));
    legal
}

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_by_key(|mv| format!("{mv:?}"));
    moves
}

fn compare(chess: &Chess, board: &Board) {
    let expected: Vec<Move> = chess.legal_moves().into_iter().collect();
    let fen = Fen::from_position(chess, shakmaty::EnPassantMode::Legal);
    assert_eq!(sorted(legal(board)), sorted(expected), "{fen}");
    assert_eq!(board.is_check(), chess.is_check(), "{fen}");
    assert_eq!(board.is_check() && board.is_mate(), chess.is_checkmate(), "{fen}");
    assert_eq!(board.to_chess().unwrap().board(), chess.board());
    for color in Color::ALL {
        for role in Role::ALL {
            let listed = board.lists[color as usize][role as usize].iter().filter(|&&at| at != NONE);
            let on_board = chess.board().by_color(color) & chess.board().by_role(role);
            assert_eq!(listed.map(|&at| square(at)).collect::<Bitboard>(), on_board);
        }
    }
}

fn play(mut chess: Chess, steps: &[prop::sample::Index]) {
    let mut board = Board::new(&chess, false);
    let of = |chess: &Chess| tabiya_chess::Position::from_chess(chess.clone()).key();
    let mut key = Key::new(&board, of(&chess));
    for step in steps {
        compare(&chess, &board);
        assert_eq!(key.get(), of(&chess));
        let moves = chess.legal_moves();
        if moves.is_empty() {
            return;
        }
        let mv = *step.get(&moves);
        chess.play_unchecked(mv);
        let moved = key.moved(&board, mv);
        board.play(mv);
        key.play(&board, moved);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(30, 60)))]
    #[test]
    fn it_accepts_exactly_the_legal_moves(steps in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        play(Chess::default(), &steps);
    }

    #[test]
    fn it_accepts_exactly_the_legal_moves_of_rich_positions(
        number in 0_u32..960, start in 0_usize..4,
        steps in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
    ) {
        let mut setup = Setup::initial();
        setup.board = shakmaty::Board::chess960(number);
        setup.castling_rights = setup.board.rooks();
        play(setup.position(CastlingMode::Chess960).unwrap(), &steps);
        let fen = [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        ][start];
        play(fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap(), &steps);
    }
}

#[test]
fn later_pieces_move_down_and_pawns_keep_their_numbers() {
    let fen: Fen = "4k3/8/8/2n5/P1P5/8/8/RNR1K1R1 b - - 0 1".parse().unwrap();
    let mut board = Board::new(&fen.into_position(CastlingMode::Standard).unwrap(), false);
    board.play(Move::Normal {
        role: Role::Knight,
        from: Square::C5,
        capture: Some(Role::Pawn),
        to: Square::A4,
        promotion: None,
    });
    assert_eq!(board.find(Role::Pawn, 0), Err(MoveError::NoPiece));
    assert_eq!(board.find(Role::Pawn, 1), Ok(Square::C4));
    board.pass().unwrap();
    board.play(Move::Normal {
        role: Role::Knight,
        from: Square::A4,
        capture: Some(Role::Rook),
        to: Square::A1,
        promotion: None,
    });
    assert_eq!(board.find(Role::Rook, 0), Ok(Square::C1));
    assert_eq!(board.find(Role::Rook, 1), Ok(Square::G1));
    assert_eq!(board.find(Role::Rook, 2), Err(MoveError::NoPiece));
}

#[test]
fn the_order_can_be_reversed() {
    let mut board = Board::new(&Chess::default(), true);
    assert_eq!(board.find(Role::Rook, 0), Ok(Square::H1));
    assert_eq!(board.find(Role::Pawn, 0), Ok(Square::H2));
    board.pass().unwrap();
    assert_eq!(board.find(Role::Knight, 1), Ok(Square::B8));
}
