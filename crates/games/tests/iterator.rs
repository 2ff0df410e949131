//! Games as an iterator, and the example that counts them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../examples/counter.rs"]
mod counter;

use std::fs;

use tabiya_games::{ErrorKind, GameResult, Variant, open, open_all};

const GAMES: &str = "[Event \"A\"]\n[White \"Anderssen\"]\n[ECO \"C33\"]\n\n1. e4 e5 2. f4 exf4 1-0\n\n\
    [White \"Cut\"]\n[WhiteElo \"2500\"]\n\n1. e4 e5 2. Ke3 *\n\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
    [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 1/2-1/2\n";

#[test]
fn games_come_in_order_with_errors_among_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    fs::write(&path, GAMES).unwrap();
    let games: Vec<_> = open(&path).unwrap().with_tags(["ECO"]).collect();
    let [Ok(first), Ok(cut), Err(error), Ok(last)] = &games[..] else { panic!("{games:?}") };
    assert_eq!((&*first.header.white, first.moves.len()), ("Anderssen", 4));
    assert_eq!((first.result, first.header.tag("eco").as_deref()), (Some(GameResult::White), Some("C33")));
    assert_eq!((cut.moves.len(), cut.result, cut.cut.is_some()), (2, None, true));
    assert_eq!((cut.header.white_elo, cut.header.black_elo), (std::num::NonZeroU16::new(2500), None));
    assert_eq!((error.kind(), error.path()), (ErrorKind::Format, Some(&*path)));
    assert_eq!(error.offset(), GAMES.find("[FEN").map(|at| at as u64));
    assert_eq!(last.start.fen(), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    assert_eq!(
        counter::count([path.display().to_string()]).unwrap(),
        "+1 -0 =1 *1, 7 moves; 1 games not read"
    );
}

#[test]
fn what_cannot_be_read_in_a_folder_is_an_error_before_the_games() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pgn"), GAMES).unwrap();
    fs::write(folder.path().join("b.pgn"), b"PK\x03\x04not a text").unwrap();
    let games: Vec<_> = open(folder.path()).unwrap().collect();
    assert_eq!(games.len(), 5, "{games:?}");
    assert_eq!(games[0].as_ref().unwrap_err().path(), Some(&*folder.path().join("b.pgn")));
    let missing = open_all([folder.path().join("a.pgn"), folder.path().join("none.pgn")]).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::File);
    let mut atomic = open(folder.path().join("a.pgn")).unwrap().of_variant(Variant::Atomic).unwrap();
    assert!(atomic.all(|game| game.is_err()));
}

#[test]
fn the_example_is_short_and_stands_in_the_readme() {
    let example = include_str!("../examples/counter.rs");
    assert!(include_str!("../README.md").contains(example.split_once("\n\n").unwrap().1));
    assert!(example.lines().count() <= 30);
}
