//! The header's factors of the weights, and its limits.

use super::*;
use crate::Recommendation;
use crate::choose::{Policy, chances};

#[test]
fn the_headers_factors_weigh() {
    let weigh = |factors: [i32; 3]| {
        let mut tree = Tree::new();
        tree.say("e2e4", Said { priority: 9, games: 99, wins: 99, losses: 0 });
        tree.say("d2d4", Said { priority: 1, games: 1, wins: 0, losses: 1 });
        tree.say("c2c4", Said { priority: 0, games: 500, wins: 300, losses: 0 });
        for (at, factor) in [0xee, 0xf2, 0xf6].into_iter().zip(factors) {
            tree.set(at, factor);
        }
        let mut weights = weights(&tree.book(), "");
        assert_eq!(weights.pop(), Some(("c2c4".to_owned(), 0)));
        weights.into_iter().map(|(_, weight)| weight).collect::<Vec<_>>()
    };
    assert_eq!(weigh([0, 0, 0]), [100, 100]);
    assert_eq!(weigh([15, 0, 0]), [900, 100]);
    assert_eq!(weigh([1, 1, 0]), [89_100, 100]);
    // The score is (99 + 0.5) / 100, and 0.5 / 2.
    assert_eq!(weigh([0, 0, 7]), [100, 25]);
    // Games count half as much as the priority: their root.
    assert_eq!(weigh([10, 5, -3]), [(900.0 * 99_f64.sqrt()).round() as u64, 100]);
    assert_eq!(weigh([i32::MAX, i32::MIN, 0]), [900, 100]);
}

#[test]
fn a_move_struck_out_on_one_path_only_becomes_rarer() {
    let mut tree = Tree::new();
    tree.say("g1f3 g8f6 c2c4", Said { priority: 0, ..PLAIN });
    tree.say("g1f3 g8f6 d2d4", Said { priority: 0, ..PLAIN });
    tree.say("b1c3 g8f6 g1f3 b8c6 c3b1 c6b8 c2c4", Said { priority: 4, ..PLAIN });
    assert_eq!(weights(&tree.book(), "g1f3 g8f6"), [("c2c4".to_owned(), 200), ("d2d4".to_owned(), 0)]);
}

#[test]
fn a_move_that_is_played_at_all_has_a_priority() {
    let mut tree = Tree::new();
    tree.say("g1f3 g8f6 c2c4", Said { priority: 0, games: 99, ..PLAIN });
    tree.say("c2c4 g8f6 g1f3 e7e6", PLAIN);
    tree.say("c2c4 g8f6 g1f3", Said { priority: 2, games: 1, ..PLAIN });
    tree.say("g1f3 d7d5 c2c4", PLAIN);
    tree.say("c2c4 d7d5 g1f3", Said { priority: 0, games: 0, ..PLAIN });
    tree.say("b1c3 g8f6 g1f3 b8c6 c3b1 c6b8 c2c4", Said { priority: 1, games: 1, ..PLAIN });
    let book = tree.book();
    let at = after("g1f3 g8f6");
    let mv = moves(&book, &at)[0];
    assert_eq!((mv.weight, book.own_number(&at, mv.mv)), (100, Some(1)));
}

#[test]
fn the_headers_limits_act_in_tournaments_only() {
    let playable = |set: &[(usize, i32)], line: &str, tournament: bool| {
        let mut tree = Tree::new();
        tree.say("e2e4", Said { priority: 5, games: 10, wins: 4, losses: 5 });
        tree.say("d2d4", Said { priority: 5, games: 3, wins: 2, losses: 1 });
        tree.say("e2e4 e7e5", Said { priority: 5, games: 10, wins: 4, losses: 5 });
        set.iter().for_each(|(at, number)| tree.set(*at, *number));
        let (book, at) = (tree.book(), after(line));
        let moves = moves(&book, &at);
        let mut out = Vec::new();
        chances(&moves, &Policy { tournament, ..Policy::default() }, |_| true, &mut out);
        let best = if tournament { book.best(&at) } else { book.heaviest(&at) };
        let chance_of =
            |best| moves.iter().zip(&out).any(|(known, chance)| known.mv == best && *chance > 0.0);
        assert_eq!(best.is_some(), out.iter().any(|chance| *chance > 0.0), "{set:?} {line}");
        assert!(best.is_none_or(chance_of), "{set:?} {line}");
        let mut playable: Vec<String> = moves
            .iter()
            .zip(out)
            .filter(|(_, chance)| *chance > 0.0)
            .map(|(known, _)| uci(known.mv))
            .collect();
        playable.sort();
        playable
    };
    for (set, line, expected) in [
        (&[][..], "", &["d2d4", "e2e4"][..]),
        (&[(0xde, 4)], "", &["e2e4"]),
        (&[(0xde, 10)], "", &["e2e4"]),
        (&[(0xde, 11)], "", &[]),
        (&[(0xe2, 3)], "", &["e2e4"]),
        (&[(0xe6, 40)], "", &["d2d4", "e2e4"]),
        (&[(0xe6, 41)], "", &["d2d4"]),
        (&[(0xe6, 41)], "e2e4", &["e7e5"]),
        (&[(0xea, 50)], "e2e4", &["e7e5"]),
        (&[(0xea, 51)], "e2e4", &[]),
        (&[(0xea, 51)], "", &["d2d4", "e2e4"]),
        (&[(0xfa, 1)], "", &["d2d4", "e2e4"]),
        (&[(0xfa, 1)], "e2e4", &[]),
        (&[(0xfa, 0)], "e2e4", &["e7e5"]),
        (&[(0xde, -1), (0xe2, -1), (0xe6, -1), (0xea, -1), (0xfa, -1)], "e2e4", &["e7e5"]),
    ] {
        assert_eq!(playable(set, line, true), expected, "{set:?} {line}");
        let all: &[&str] = if line.is_empty() { &["d2d4", "e2e4"] } else { &["e7e5"] };
        assert_eq!(playable(set, line, false), all, "{set:?} {line}");
    }
}

#[test]
fn fields_that_were_never_written_are_no_limits() {
    let mut tree = Tree::new();
    tree.say("e2e4", Said { priority: 9, games: 1, wins: 0, losses: 1 });
    for at in [0xde, 0xe2, 0xe6, 0xea, 0xee, 0xf2, 0xf6, 0xfa] {
        tree.set(at, i32::from_le_bytes(*b"xxxx"));
    }
    let found = moves(&tree.book(), &after(""));
    assert_eq!((found[0].recommended, found[0].weight), (None, 100));
}

#[test]
fn the_ply_is_that_of_the_shortest_path() {
    for (last_ply, verdict) in [(2, Some(Recommendation::Red)), (3, None), (6, None)] {
        let mut tree = Tree::new();
        tree.line("b1c3 g8f6 g1f3 b8c6 c3b1 c6b8 c2c4");
        tree.line("g1f3 g8f6 c2c4");
        tree.line("b1c3 g8f6 g1f3 b8c6 c3b1 c6b8 d2d4");
        tree.set(0xfa, last_ply);
        let found = moves(&tree.book(), &after("g1f3 g8f6"));
        let of = |name: &str| found.iter().find(|known| uci(known.mv) == name).map(|known| known.recommended);
        assert_eq!((of("c2c4"), of("d2d4")), (Some(verdict), Some(Some(Recommendation::Red))), "{last_ply}");
    }
}
