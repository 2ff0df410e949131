//! Positions of variants against those of python-chess.

use shakmaty::{CastlingMode, Position as _};
use tabiya_chess::{Game, MoveCode, Position, Variant, read_move};

/// Positions of random games, by python-chess: the variant, the moves from the start, the key, the FEN, and how many moves are legal.
const PLAYED: &str = include_str!("variants.tsv");

#[test]
fn keys_moves_and_codes_are_those_of_python_chess() {
    let mut rows = 0;
    for row in PLAYED.lines().filter(|row| !row.starts_with('#')) {
        let [name, moves, key, fen, legal] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let variant = Variant::from_uci(name).unwrap();
        let mut game = Game::start_of(variant);
        for uci in moves.split_whitespace() {
            let at = game.position().clone();
            assert!(game.push_uci(uci.as_bytes()), "{uci} in {row}");
            let mv = *game.moves().last().unwrap();
            let san = shakmaty::san::SanPlus::from_move(at.chess().clone(), mv).to_string();
            for code in MoveCode::codes(mv, at.chess()) {
                assert_eq!(code.resolve(at.chess()), Some(mv), "{code} in {row}");
                assert_eq!(code.error(variant), None, "{code} in {row}");
            }
            assert_eq!(read_move(&san, &at), Ok(mv), "{san} in {row}");
            assert_eq!(read_move(uci, &at), Ok(mv), "{uci} in {row}");
        }
        let key = u64::from_str_radix(key, 16).unwrap();
        assert_eq!(game.position().key(), key, "{row}");
        let read = Position::from_fen_of(variant, fen.as_bytes(), CastlingMode::Standard).unwrap();
        assert_eq!(read.key(), key, "{row}");
        assert_eq!(Position::from_any_fen_of(variant, read.fen().as_bytes()).unwrap().fen(), read.fen());
        for at in [&read, game.position()] {
            assert_eq!(at.chess().legal_moves().len().to_string(), legal, "{row}");
            assert_eq!(at.variant(), variant);
        }
        rows += 1;
    }
    assert!(rows > 40);
}

#[test]
fn each_form_of_a_fen_is_read() {
    let key = |variant, fen: &str| Position::from_any_fen_of(variant, fen.as_bytes()).map(|at| at.fen());
    let board = "rnbqkb1r/ppp1pppp/5n2/8/8/8/PPPP1PPP/RNBQKBNR";
    let in_hand = ["[Pp]", "[pP]", "/Pp"].map(|hand| format!("{board}{hand} w KQkq - 0 4"));
    let read = in_hand.map(|fen| key(Variant::Crazyhouse, &fen).unwrap());
    assert!(read.iter().all(|fen| *fen == read[0]), "{read:?}");
    let empty = ["[]", "[-]", ""].map(|hand| format!("{board}{hand} w KQkq - 0 4"));
    let read = empty.map(|fen| key(Variant::Crazyhouse, &fen).unwrap());
    assert!(read.iter().all(|fen| *fen == read[0]), "{read:?}");
    let checks = ["w KQkq - 1+3 0 4", "w KQkq - 0 4 +2+0"].map(|rest| format!("{board} {rest}"));
    let read = checks.map(|fen| key(Variant::ThreeCheck, &fen).unwrap());
    assert_eq!(read[0], read[1]);
    assert!(key(Variant::Chess, "8/8/8/8/8/8/8/8 w - - 0 1").is_err());
    assert!(key(Variant::Antichess, "8/8/8/8/8/4p3/8/4R3 w - - 0 1").is_ok());
}

#[test]
fn giveaway_castles_and_antichess_does_not() {
    let mut game = Game::start_of(Variant::Antichess);
    for uci in ["e2e3", "b7b6", "g1h3", "g7g6", "f1d3", "a7a6"] {
        assert!(game.push_uci(uci.as_bytes()), "{uci}");
    }
    assert!(!game.push_uci(b"e1g1"));
}

#[test]
fn variants_end_by_their_own_rules() {
    use tabiya_chess::Ending;
    let ending = |variant, moves: &str| {
        let mut game = Game::start_of(variant);
        moves.split_whitespace().for_each(|uci| assert!(game.push_uci(uci.as_bytes()), "{uci}"));
        game.ending().map(|(ending, outcome)| (ending, outcome.winner()))
    };
    let white = Some((Ending::Variant, Some(shakmaty::Color::White)));
    // The king explodes.
    assert_eq!(ending(Variant::Atomic, "g1f3 a7a6 f3g5 a6a5 g5f7"), white);
    let hill = "e2e4 a7a6 e1e2 a6a5 e2e3 a5a4 e3d4";
    assert_eq!(ending(Variant::KingOfTheHill, hill), white);
    assert_eq!(ending(Variant::Chess, hill), None);
    let checks = "e2e4 f7f6 d1h5 g7g6 h5g6 h7g6 f1b5 c7c6 b5c6 d7c6 g1f3 e8d7 f3e5";
    assert!(ending(Variant::ThreeCheck, checks).is_some());
}

#[test]
fn the_same_board_with_fewer_checks_left_is_no_repetition() {
    let ending = |variant, fen: &str| {
        let mut game = Game::from_position(Position::from_any_fen_of(variant, fen.as_bytes()).unwrap());
        for uci in "a2h2 h8g8 h2a2 g8h8 ".repeat(2).split_whitespace() {
            assert!(game.push_uci(uci.as_bytes()), "{uci}");
        }
        game.ending().map(|(ending, _)| ending)
    };
    assert_eq!(ending(Variant::ThreeCheck, "7k/8/8/8/8/8/R7/K7 w - - 3+3 0 1"), None);
    let repeated = Some(tabiya_chess::Ending::Repetition);
    assert_eq!(ending(Variant::Atomic, "7k/8/8/8/8/8/Q7/K7 w - - 0 1"), repeated);
    assert_eq!(ending(Variant::Chess, "7k/8/8/8/8/8/Q7/K7 w - - 0 1"), repeated);
}
