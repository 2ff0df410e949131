//! Moves in every mode, from every kind of start.

use proptest::prelude::*;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

use super::super::mode::Mode;
use super::fixtures::{TestDatabase, moves};
use super::{ALL, exported, lines};

/// A game as the format's page has it, with variations in variations, in the order in which it is stored.
const TREE: &str = "e4 < c5 Nf3 < d6 d4 > Nc6 Bb5 > < c6 d4 > Nf6 e5 >";

/// The same as PGN.
const TREE_PGN: &str = "1. e4 c5 (1... c6 2. d4) (1... Nf6 2. e5) 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4 1-0";

#[test]
fn every_mode_gives_the_same_tree() {
    for mode in (0..=7).filter_map(Mode::from_number) {
        for wide in [false, true] {
            let mut database = TestDatabase::default();
            database.game(mode.number, &moves(&Chess::default(), mode, TREE, wide), &[]);
            let found = exported(&database.open().unwrap(), &ALL);
            assert_eq!(lines(&found.text), [TREE_PGN], "mode {}", mode.number);
            assert!(found.errors.is_empty(), "{:?}", found.errors);
        }
    }
}

#[test]
fn chess960_castles_both_ways() {
    for mode in [10, 11] {
        let mut database = TestDatabase::default();
        let fen = "1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w KQkq - 0 1";
        database.play_from(fen, mode, "O-O O-O-O Kh1 Kb8 >");
        let found = exported(&database.open().unwrap(), &ALL);
        assert_eq!(lines(&found.text), ["1. O-O O-O-O 2. Kh1 Kb8 1-0"]);
        assert!(found.text.contains("[FEN \"1r3kr1/"), "{}", found.text);
        assert!(found.text.contains("[SetUp \"1\"]\n[Variant \"Chess960\"]\n"), "{}", found.text);
    }
}

#[test]
fn a_set_up_game_may_castle_without_the_stored_right() {
    let mut database = TestDatabase::default();
    // The move is written with the right, the start without it.
    let with = "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1";
    database.play_from(with, 0, "O-O-O O-O >");
    let at = database.file("cbg").len() - database.file("cbg").len() + 26 + 4 + 2;
    database.file("cbg")[at] = 0;
    let found = exported(&database.open().unwrap(), &ALL);
    assert_eq!(lines(&found.text), ["1. O-O-O O-O 1-0"]);
    assert!(found.text.contains("[FEN \"4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1\"]"), "{}", found.text);
    // In a game from the ordinary position a lost right stays lost.
    let mut database = TestDatabase::default();
    database.play("e4 e5 Nf3 Nc6 Bc4 Bc5 Rg1 Nf6 Rh1 O-O", &[]);
    let mut bytes = database.file("cbg").clone();
    let castle = Mode::from_number(0).unwrap().hidden(9, 10);
    bytes.pop();
    bytes.push(castle);
    let len = bytes.len() as u32 - 26;
    bytes[27..30].copy_from_slice(&len.to_be_bytes()[1..]);
    *database.file("cbg") = bytes;
    let found = exported(&database.open().unwrap(), &ALL);
    assert_eq!(found.errors.len(), 1);
    assert!(found.errors[0].contains("castling without the right"), "{:?}", found.errors);
    assert!(lines(&found.text)[0].ends_with("5. Rh1 O-O 1-0"));
}

#[test]
fn many_queens_null_moves_and_promotions_are_read() {
    let mut database = TestDatabase::default();
    let fen = "8/PPP4k/8/8/8/QQ6/5ppp/K7 w - - 0 40";
    database.play_from(fen, 0, "a8=Q f1=N b8=R g1=B c8=Q h1=Q Qcc6 -- -- Qxc6 >");
    let found = exported(&database.open().unwrap(), &ALL);
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    let line = "40. a8=Q f1=N 41. b8=R g1=B 42. c8=Q h1=Q 43. Qcc6 -- 44. -- Qxc6 1-0";
    assert_eq!(lines(&found.text), [line]);
}

#[test]
fn variations_of_the_first_move_and_of_the_last_are_read() {
    let mut database = TestDatabase::default();
    database.play("< e4 < e5 > c5 > d4 < d5 > Nf6", &[]);
    let found = exported(&database.open().unwrap(), &ALL);
    assert_eq!(lines(&found.text), ["1. e4 (1. d4 d5 (1... Nf6)) 1... e5 (1... c5) 1-0"]);
}

#[test]
fn bytes_after_the_last_end_are_ignored_and_it_may_be_missing() {
    let mut database = TestDatabase::default();
    let mode = Mode::from_number(0).unwrap();
    let whole = moves(&Chess::default(), mode, "e4 e5 >", false);
    database.game(0, &[&whole[..], &[1, 2, 3, 4]].concat(), &[]);
    database.game(0, &whole[..2], &[]);
    database.game(0, &[], &[]);
    let found = exported(&database.open().unwrap(), &ALL);
    assert_eq!(lines(&found.text), ["1. e4 e5 1-0", "1. e4 e5 1-0", "1-0"]);
    assert!(found.errors.is_empty());
}

#[test]
fn deep_nesting_is_read_and_endless_nesting_is_reported() {
    let mode = Mode::from_number(0).unwrap();
    let nest = |depth: usize| {
        let mut text = String::new();
        let knights = ["Nf3", "Nf6", "Ng1", "Ng8"];
        (0..depth).for_each(|ply| text += &format!("< {} ", knights[ply % 4]));
        text += &format!("{} > ", knights[depth % 4]);
        (0..depth).rev().for_each(|ply| text += if ply % 4 < 2 { "a" } else { "" });
        moves(&Chess::default(), mode, text.trim_end_matches('a'), false)
    };
    let mut database = TestDatabase::default();
    database.game(0, &nest(74), &[]);
    database.game(0, &nest(2000), &[]);
    let found = exported(&database.open().unwrap(), &ALL);
    assert_eq!(found.errors.len(), 1);
    assert!(found.errors[0].contains("game 2: variations are nested too deep"), "{:?}", found.errors);
    assert_eq!(lines(&found.text).len(), 2);
}

/// Plays random moves and writes each down, with a variation now and then.
fn random(steps: &[(prop::sample::Index, u8)]) -> (String, String) {
    let mut chess = Chess::default();
    let (mut stored, mut plain) = (String::new(), String::new());
    for (step, _) in steps {
        let legal = chess.legal_moves();
        if legal.is_empty() {
            break;
        }
        let mv = *step.get(&legal);
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, mv).to_string();
        stored += &san;
        stored.push(' ');
        plain += &san;
        plain.push(' ');
    }
    (stored + ">", plain.trim_end().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_game_comes_back_in_any_mode(
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..200),
        mode in prop::sample::select(vec![0_u8, 1, 2, 3, 4, 5, 6, 7]),
        wide in any::<bool>(),
    ) {
        let (stored, plain) = random(&steps);
        let mode = Mode::from_number(mode).unwrap();
        let mut database = TestDatabase::default();
        database.game(mode.number, &moves(&Chess::default(), mode, &stored, wide), &[]);
        let found = exported(&database.open().unwrap(), &ALL);
        prop_assert!(found.errors.is_empty(), "{:?}", found.errors);
        let lines = lines(&found.text);
        let sans: Vec<&str> = lines[0].split(' ').filter(|word| !word.ends_with('.')).collect();
        prop_assert_eq!(sans.join(" "), format!("{plain} 1-0").trim().to_owned());
    }

    #[test]
    fn any_bytes_give_legal_moves_and_end(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        mode in prop::sample::select(vec![0_u8, 1, 2, 3, 4, 5, 6, 7, 10, 11]),
        set_up in any::<bool>(),
    ) {
        let mut database = TestDatabase::default();
        database.game(mode | if set_up { 0x40 } else { 0 }, &bytes, &[]);
        let found = exported(&database.open().unwrap(), &ALL);
        prop_assert_eq!(found.totals.games, 1);
    }
}
