//! The examples do what they say, are short, and stand in the README.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../examples/bot.rs"]
mod bot;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../examples/viewer.rs"]
mod viewer;

use shakmaty::{Chess, Position as _, san::SanPlus};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/books/starter.bin");

#[test]
fn a_bot_plays_a_legal_line_and_the_same_with_the_same_numbers() {
    let play = |number: u64| bot::play(STARTER, &mut || number).unwrap();
    let line = play(1 << 40);
    assert_eq!(line, play(1 << 40));
    assert!(line.len() >= 4, "{line:?}");
    let mut at = Chess::default();
    for san in line {
        let mv = san.parse::<SanPlus>().unwrap().san.to_move(&at).unwrap();
        at.play_unchecked(mv);
    }
}

#[test]
fn a_viewer_shows_moves_with_chances_and_counts_positions() {
    let text = viewer::view(STARTER, None).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (last, moves) = lines.split_last().unwrap();
    let chances = moves.iter().map(|line| {
        let (_, chance) = line.split_once(", ").unwrap();
        chance.split(' ').next().unwrap().parse::<f64>().unwrap()
    });
    assert!((chances.sum::<f64>() - 100.0).abs() < 1.0, "{text}");
    let book = tabiya_book::open(STARTER).unwrap();
    let found: Vec<_> = book.positions().map(Result::unwrap).collect();
    let moves: usize = found.iter().map(|known| known.moves.len()).sum();
    assert_eq!(*last, format!("{} positions, {moves} moves", found.len()));
    assert!(viewer::view(STARTER, Some("8/8/8/8/8/8/8/K1k5 w - - 0 1")).unwrap().starts_with(last));
}

#[test]
fn the_examples_are_short_and_stand_in_the_readme() {
    let readme = include_str!("../README.md");
    for example in [include_str!("../examples/bot.rs"), include_str!("../examples/viewer.rs")] {
        let shown = example.split_once("\n\n").unwrap().1;
        assert!(readme.contains(shown), "{shown}");
        assert!(example.lines().count() <= 30);
    }
}
