//! Keys and codes of moves, against the words of docs/formats/kvetka.md, Key and Moves, and in random positions.

use proptest::prelude::*;
use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

use super::super::layout::KEY_LEN;
use super::super::{Key, code, legal};
use super::{after, fen};

/// A key built bit by bit: squares, en passant, castling (docs/formats/kvetka.md, Key).
fn described(position: &Position) -> Option<[u8; KEY_LEN]> {
    let chess = position.standard().unwrap();
    let (board, black) = (chess.board(), chess.turn() == Color::Black);
    let castles = chess.castles();
    // The king of who is to move; after the colours are swapped its file is the same.
    let king = board.king_of(chess.turn()).unwrap();
    let mirrored = castles.is_empty() && u32::from(king.file()) < 4;
    let mut bits = String::new();
    for file in 0..8_u32 {
        for rank in 0..8_u32 {
            let at = Square::from_coords(
                shakmaty::File::new(if mirrored { 7 - file } else { file }),
                shakmaty::Rank::new(if black { 7 - rank } else { rank }),
            );
            bits += &match board.piece_at(at) {
                None => "0".to_owned(),
                Some(piece) => {
                    let code = match piece.role {
                        Role::Pawn => "11",
                        Role::Rook => "1011",
                        Role::Bishop => "1010",
                        Role::Knight => "1001",
                        Role::Queen => "10001",
                        Role::King => "10000",
                    };
                    format!("{code}{}", u8::from(piece.color != chess.turn()))
                }
            };
        }
    }
    let pushed = chess.ep_square(shakmaty::EnPassantMode::PseudoLegal);
    let file = pushed.map(|square| u32::from(square.file()) + 1);
    bits += &format!("{:04b}", file.map_or(0, |file| if mirrored { 9 - file } else { file }));
    let (us, them) = (chess.turn(), !chess.turn());
    for color in [them, us] {
        for side in [shakmaty::CastlingSide::KingSide, shakmaty::CastlingSide::QueenSide] {
            bits.push(if castles.has(color, side) { '1' } else { '0' });
        }
    }
    if bits.len() > KEY_LEN * 8 {
        return None;
    }
    let bits = format!("{bits:0<176}");
    let bytes: Vec<u8> =
        (0..KEY_LEN).map(|at| u8::from_str_radix(&bits[8 * at..8 * at + 8], 2).unwrap()).collect();
    bytes.try_into().ok()
}

fn key(position: &Position) -> Key {
    Key::from_chess(position.standard().unwrap()).unwrap()
}

#[test]
fn mirrored_positions_have_one_key() {
    // Colours and ranks.
    assert_eq!(
        key(&fen("4k2r/8/8/8/4p3/8/3P4/4K3 w k - 0 1")),
        key(&fen("4k3/3p4/8/4P3/8/8/8/4K2R b K - 0 1"))
    );
    // Files, where nobody may castle and the king stands on the left.
    assert_eq!(key(&fen("8/8/2k5/8/8/5P2/8/1K6 w - - 0 1")), key(&fen("8/8/5k2/8/8/2P5/8/6K1 w - - 0 1")));
    // The king of the side to move, not White's.
    assert_eq!(key(&fen("8/8/2k5/8/8/5P2/8/6K1 b - - 0 1")), key(&fen("8/8/5k2/8/8/2P5/8/1K6 b - - 0 1")));
    assert_ne!(key(&fen("4k2r/8/8/8/8/8/8/1K6 w k - 0 1")), key(&fen("r3k3/8/8/8/8/8/8/6K1 w q - 0 1")));
    // En passant comes with the mirrored file, and only where a pawn stands to capture.
    let left = fen("8/2k5/8/pP6/8/8/8/1K6 w - a6 0 1");
    let right = fen("8/5k2/8/6Pp/8/8/8/6K1 w - h6 0 1");
    assert_eq!(key(&left), key(&right));
    assert_ne!(key(&left), key(&fen("8/2k5/8/pP6/8/8/8/1K6 w - - 0 1")));
    assert_eq!(key(&after("e2e4")), key(&fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")));
    // The capture would leave the king in check: it counts all the same.
    let pinned = fen("8/8/8/K2pP2q/8/8/8/7k w - d6 0 1");
    assert!(pinned.standard().unwrap().legal_ep_square().is_none());
    assert_ne!(key(&pinned), key(&fen("8/8/8/K2pP2q/8/8/8/7k w - - 0 1")));
}

#[test]
fn positions_that_the_format_cannot_hold_have_no_key() {
    let rooks = "rrrrkrrr/rrrrrrrr/8/8/8/8/RRRRRRRR/RRRRKRRR w - - 0 1";
    assert!(Key::from_chess(fen(rooks).standard().unwrap()).is_none());
    let chess960 =
        Position::from_fen(b"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", shakmaty::CastlingMode::Chess960);
    assert!(Key::from_chess(chess960.unwrap().standard().unwrap()).is_none());
}

#[test]
fn keys_without_a_position_say_why() {
    let good = key(&after("e2e4"));
    assert!(good.position().is_ok());
    assert_eq!(Key([0; KEY_LEN]).position().err(), Some("this position is not legal"));
    assert_eq!(Key([0xff; KEY_LEN]).position().err(), Some("these bits are not a position"));
    let mut padded = good;
    padded.0[KEY_LEN - 1] |= 1;
    assert_eq!(
        padded.position().err(),
        Some("this position is not in its normal form, so look-ups do not find it")
    );
}

#[test]
fn some_moves_have_no_code() {
    let at = fen("8/P5k1/8/8/8/8/NNN5/K7 w - - 0 1");
    let normal = Normal::from_chess(at.standard().unwrap()).unwrap();
    let coded = at
        .standard()
        .unwrap()
        .legal_moves()
        .into_iter()
        .filter(|&mv| code(mv, &normal).is_some())
        .collect::<Vec<_>>();
    // The mirrored board is counted from its own first file: the knight on c2 is the first, that on a2 the third.
    let from = |square| coded.iter().filter(|mv| mv.from() == Some(square)).count();
    assert!(from(Square::C2) > 0 && from(Square::B2) > 0 && from(Square::A2) == 0);
    let pawns: Vec<_> = coded.iter().filter(|mv| mv.role() == Role::Pawn).collect();
    assert!(matches!(pawns[..], [Move::Normal { promotion: Some(Role::Queen), .. }]));
}

/// Whether the format has a code for a legal move (docs/formats/kvetka.md, Moves).
fn has_code(mv: Move, chess: &Chess) -> bool {
    let Move::Normal { role, from, promotion, .. } = mv else { return true };
    let most = match role {
        Role::Pawn => 8,
        Role::King => 1,
        Role::Queen => 3,
        _ => 2,
    };
    let normal = Normal::from_chess(chess).unwrap();
    let is_on_square =
        |number| normal.nth(role, number).is_some_and(|(file, rank)| normal.frame.square(file, rank) == from);
    promotion.is_none_or(|role| role == Role::Queen) && (0..most).any(is_on_square)
}

/// A position reached by random moves. Rare ones are taken rather than common ones where `eager`: captures, promotions,
/// moves of kings and pawns by two, so that all four orientations and en passant come.
pub fn reached(steps: &[prop::sample::Index], eager: bool) -> Position {
    let mut at = Position::start();
    for step in steps {
        let moves = at.standard().unwrap().legal_moves();
        if moves.is_empty() {
            break;
        }
        let rare: Vec<Move> = moves
            .iter()
            .copied()
            .filter(|mv| mv.is_capture() || mv.is_promotion() || matches!(mv.role(), Role::King | Role::Pawn))
            .collect();
        at.play(if eager && !rare.is_empty() { *step.get(&rare) } else { *step.get(&moves) });
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn keys_and_moves_of_any_position_go_there_and_back(
        steps in prop::collection::vec(any::<prop::sample::Index>(), 0..160),
        eager: bool,
    ) {
        let at = reached(&steps, eager);
        let chess = at.standard().unwrap();
        let normal = Normal::from_chess(chess).unwrap();
        let key = Key::from_chess(chess);
        prop_assert_eq!(key.map(|key| key.0), described(&at));
        if let Some(key) = key {
            // The position that comes back is the same up to the two mirrorings.
            let back = key.position().unwrap();
            prop_assert_eq!(Key::from_chess(&back), Some(key));
            prop_assert_eq!(back.turn(), Color::White);
            prop_assert_eq!(back.legal_moves().len(), chess.legal_moves().len());
            prop_assert_eq!(back.board().occupied().count(), chess.board().occupied().count());
            let (same, turned) = (Normal::from_chess(&back).unwrap(), &normal);
            prop_assert_eq!((same.roles, same.us, same.castles), (turned.roles, turned.us, turned.castles));
        }
        let mut codes = Vec::new();
        for &mv in &chess.legal_moves() {
            let code = code(mv, &normal);
            prop_assert_eq!(code.is_some(), has_code(mv, chess), "{:?}", mv);
            if let Some(code) = code {
                prop_assert_eq!(legal(code, &normal, chess), Some(mv));
                prop_assert!(!codes.contains(&code));
                codes.push(code);
            }
        }
        let read = (0..=255).filter(|&code| legal(code, &normal, chess).is_some()).count();
        prop_assert_eq!(read, codes.len());
    }

    #[test]
    fn any_bytes_are_a_position_or_none(bytes: [u8; KEY_LEN]) {
        if let Ok(chess) = Key(bytes).position() {
            prop_assert_eq!(Key::from_chess(&chess), Some(Key(bytes)));
        }
    }
}
