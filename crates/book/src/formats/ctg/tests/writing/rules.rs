//! How counts, colours and marks are written, and what the format cannot hold.

use tabiya_base::visit::Break;

use super::super::super::layout::RED;
use super::super::fixtures::Fixture;
use super::*;
use crate::tests::{after, fen};
use crate::{Decision, Extra, Learned, Moves, Ratings, Recommendation};

#[test]
fn games_on_several_paths_to_a_position_are_added_up() {
    let (start, one, two) = (Position::start(), after("g1f3 g8f6"), after("c2c4 g8f6"));
    let done = write(
        &[
            record_of(
                &start,
                vec![facts(&start, "g1f3", 6, counts(5, 2, 2, 1)), facts(&start, "c2c4", 1, None)],
            ),
            record_of(&one, vec![facts(&one, "c2c4", 2, counts(3, 1, 0, 1))]),
            record_of(&two, vec![facts(&two, "g1f3", 3, counts(4, 1, 1, 2))]),
        ],
        0,
    );
    let book = opened(&done);
    for at in [&one, &two] {
        assert_eq!(given(&book, at).into_values().next().unwrap().counts, counts(7, 2, 1, 3));
    }
    // The start has the sum of its moves.
    let start = book.entry(&start).unwrap().statistics();
    assert_eq!((start.games, start.wins, start.draws, start.losses), (5, 2, 2, 1));
    assert_eq!((done.written.positions, done.written.moves), (6, 4));
    let header = &done.files[0];
    assert_eq!((header[27], header[31]), (6, 5));
}

#[test]
fn a_positions_own_counts_outweigh_those_of_moves() {
    let (start, next) = (Position::start(), after("e2e4"));
    let mut known = [
        record_of(&start, vec![facts(&start, "e2e4", 6, counts(5, 2, 2, 1))]),
        PositionRecord { total: counts(9, 3, 3, 3), ..record_of(&next, vec![]) },
    ];
    known.reverse();
    let book = opened(&write(&known, 0));
    assert_eq!(given(&book, &start)["e2e4"].counts, counts(9, 3, 3, 3));
}

#[test]
fn mirrored_positions_are_one_entry() {
    // The same with colours swapped, and with files mirrored: the king's march and the other's.
    let (right, left) = (fen("8/8/8/4k3/8/8/4P3/6K1 w - - 0 1"), fen("8/8/8/3k4/8/8/3P4/1K6 w - - 0 1"));
    let black = fen("6k1/4p3/8/8/4K3/8/8/8 b - - 0 1");
    let of = |at: &Position, uci: &str, mark| PositionRecord {
        total: counts(2, 1, 1, 0),
        ..record_of(at, vec![MoveFacts { annotation: mark, ..facts(at, uci, 1, None) }])
    };
    let done = write(
        &[of(&right, "e2e3", None), of(&left, "d2d3", Some(Annotation::Good)), of(&black, "g8f8", None)],
        0,
    );
    let book = opened(&done);
    assert_eq!((done.written.positions, done.written.moves), (3, 2));
    for (at, pawn, king) in [(&right, "e2e3", "g1f1"), (&left, "d2d3", "b1c1"), (&black, "e7e6", "g8f8")] {
        let moves = given(&book, at);
        assert_eq!((moves[pawn].annotation, moves[king].annotation), (Some(Annotation::Good), None));
        assert_eq!(book.entry(at).unwrap().statistics().games, 6);
    }
}

#[test]
fn colours_come_from_weights_if_there_are_none() {
    let (start, next) = (Position::start(), after("e2e4"));
    let weights = [("e2e4", 600), ("d2d4", 300), ("c2c4", 99), ("h2h3", 1)];
    let moves: Vec<_> = weights.map(|(uci, weight)| facts(&start, uci, weight, None)).into();
    let mut red = facts(&next, "f7f6", 900, None);
    red.recommended = Some(Recommendation::Red);
    let coloured = record_of(&next, vec![facts(&next, "e7e5", 100, None), red]);
    for (green, expected) in [(0, 0), (1, 4), (2, 3), (99, 3), (100, 2), (300, 2), (301, 1), (601, 0)] {
        let done = write(&[record_of(&start, moves.clone()), coloured.clone()], green);
        let book = opened(&done);
        let colours: Vec<_> = given(&book, &start).into_values().map(|known| known.recommended).collect();
        assert_eq!(
            colours.iter().filter(|colour| **colour == Some(Recommendation::Green)).count(),
            expected,
            "{green}"
        );
        assert!(!colours.contains(&Some(Recommendation::Red)));
        // A book's own colours stay as they are.
        let replies = given(&book, &next);
        assert_eq!(
            (replies["e7e5"].recommended, replies["f7f6"].recommended),
            (None, Some(Recommendation::Red))
        );
        assert_eq!(done.written.lost_weights, if green == 0 { 4 } else { 0 }, "{:?}", done.written);
    }
}

#[test]
fn moves_of_weight_0_are_not_played() {
    let start = Position::start();
    let played = |moves: Vec<MoveFacts<MoveCode>>| {
        let book = opened(&write(&[record_of(&start, moves)], 0));
        let mut out = Vec::new();
        book.moves(&start, &mut out);
        let mut chances = Vec::new();
        for tournament in [true, false] {
            let policy = crate::choose::Policy { tournament, threshold: 0, ..Default::default() };
            crate::choose::chances(&out, &policy, |_| true, &mut chances);
            let played = out.iter().zip(&chances).filter(|(_, chance)| **chance > 0.0);
            assert_eq!(played.map(|(known, _)| known.mv.to().to_string()).collect::<Vec<_>>(), ["e4"]);
        }
        given(&book, &start).into_values().map(|known| known.annotation).collect::<Vec<_>>()
    };
    // Without results all moves would weigh the same.
    let marks = played(vec![facts(&start, "e2e4", 7, None), facts(&start, "f2f3", 0, None)]);
    assert_eq!(marks, [None, Some(Annotation::Bad)]);
    let won =
        vec![facts(&start, "e2e4", 7, counts(9, 3, 1, 5)), facts(&start, "f2f3", 0, counts(2, 1, 0, 1))];
    assert_eq!(played(won), [None, Some(Annotation::Bad)]);
    // Its results already keep it from being played.
    let lost =
        vec![facts(&start, "e2e4", 7, counts(9, 3, 1, 5)), facts(&start, "f2f3", 0, counts(2, 0, 0, 2))];
    assert_eq!(played(lost), [None, None]);
}

#[test]
fn everything_about_a_move_comes_back() {
    let (start, next) = (Position::start(), after("e2e4"));
    let marks = [
        (Some(Annotation::Good), Some(Recommendation::Green)),
        (Some(Annotation::Bad), Some(Recommendation::Red)),
        (Some(Annotation::Brilliant), None),
        (Some(Annotation::Blunder), Some(Recommendation::Green)),
        (Some(Annotation::Interesting), None),
        (Some(Annotation::Dubious), None),
        (Some(Annotation::Only), Some(Recommendation::Green)),
        (Some(Annotation::Zugzwang), None),
        (None, Some(Recommendation::Red)),
    ];
    let legal = start.chess().legal_moves();
    let moves = marks.iter().zip(&legal).zip(1..).map(|(((mark, colour), &mv), games)| MoveFacts {
        annotation: *mark,
        recommended: *colour,
        counts: counts(3 * games, games, games, games),
        ratings: Some(Ratings { average: Some(2500 + games as u32), performance: Some(2600) }),
        ..MoveFacts::new(MoveCode::from_move(mv), 3 * games)
    });
    let moves: Vec<_> = moves.collect();
    let known = PositionRecord {
        comment: Some("+=".to_owned()),
        total: counts(140, 45, 45, 45),
        ..record_of(&start, moves)
    };
    let odd = PositionRecord { comment: Some("a long story".to_owned()), ..record_of(&next, vec![]) };
    let done = write(&[known.clone(), odd], 0);
    assert_eq!(done.written.left_out, [("comments that the format has no symbol for".to_owned(), 1)]);
    let back = every(&opened(&done), Scope::Reachable);
    let back = back.iter().find(|back| back.key == known.key).unwrap();
    assert_eq!((&back.moves, back.total, &back.comment), (&known.moves, known.total, &known.comment));
}

#[test]
fn great_counts_are_halved_together() {
    let start = Position::start();
    let games = 1 << 24;
    let known = vec![
        facts(&start, "e2e4", 1, counts(games * 3, games, games, games)),
        facts(&start, "d2d4", 1, counts(games - 1, games - 1, 0, 0)),
        facts(&start, "c2c4", 1, counts(u64::MAX, 0, u64::MAX, 0)),
    ];
    let done = write(&[record_of(&start, known)], 0);
    let moves = given(&opened(&done), &start);
    assert_eq!(moves["e2e4"].counts, counts(games * 3 / 4, games / 4, games / 4, games / 4));
    assert_eq!(moves["d2d4"].counts, counts(games - 1, games - 1, 0, 0));
    assert_eq!(moves["c2c4"].counts, counts(games - 1, 0, games - 1, 0));
    // Three: these two moves, and the start with the sum of all.
    assert!(done.written.changed.iter().any(|(what, count)| what.contains("halved") && *count == 3));
}

#[test]
fn what_the_format_cannot_hold_is_counted() {
    let knights = fen("4k3/8/8/8/8/8/1N1N1N2/4K3 w - - 0 1");
    let promotion = fen("8/P3k3/8/8/8/8/8/4K3 w - - 0 1");
    let crowded = fen("QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQ2/8/k1K5 b - - 0 1");
    let chess960 =
        Position::from_fen(b"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", shakmaty::CastlingMode::Chess960);
    let start = Position::start();
    let learned = Some(Learned { games: 2, halfpoints: 1 });
    let illegal = MoveFacts::new(MoveCode::new(shakmaty::Square::E2, shakmaty::Square::E5, None), 1);
    let done = write(
        &[
            record_of(&knights, vec![facts(&knights, "f2g4", 1, None), facts(&knights, "b2a4", 1, None)]),
            record_of(
                &promotion,
                vec![facts(&promotion, "a7a8n", 1, None), facts(&promotion, "a7a8q", 1, None)],
            ),
            record_of(&crowded, vec![]),
            record_of(&chess960.unwrap(), vec![]),
            record_of(&start, vec![MoveFacts { learned, ..facts(&start, "e2e4", 1, None) }, illegal]),
            PositionRecord { key: 7, ..PositionRecord::default() },
        ],
        0,
    );
    let expected = [
        ("positions that the format cannot write", 3),
        ("moves that are not legal in their position", 1),
        ("moves that the format cannot write", 2),
        ("learned results of moves", 1),
    ];
    assert_eq!(done.written.left_out, expected.map(|(what, count)| (what.to_owned(), count)));
    let book = opened(&done);
    assert_eq!(given(&book, &knights).into_keys().collect::<Vec<_>>(), ["b2a4"]);
    assert_eq!(given(&book, &promotion).into_keys().collect::<Vec<_>>(), ["a7a8q"]);
}

#[test]
fn a_move_that_is_red_on_one_path_only_gets_a_mark_of_its_own() {
    let (one, two) = (after("g1f3 g8f6"), after("c2c4 g8f6"));
    let of = |at: &Position, uci, colour| {
        record_of(at, vec![MoveFacts { recommended: Some(colour), ..facts(at, uci, 1, None) }])
    };
    let done = write(&[of(&one, "c2c4", Recommendation::Green), of(&two, "g1f3", Recommendation::Red)], 0);
    assert!(done.written.changed[0].0.contains("moves marked ?"), "{:?}", done.written.changed);
    let book = opened(&done);
    let known = [&given(&book, &one)["c2c4"], &given(&book, &two)["g1f3"]]
        .map(|known| (known.recommended, known.annotation));
    let green = Some(Recommendation::Green);
    assert_eq!(known, [(green, None), (green, Some(Annotation::Bad))]);
}

#[test]
fn what_one_book_has_red_is_played_where_another_says_so() {
    // The entry of a position, red and with a factor that means never, which both moves lead to.
    let (one, two, met) = (after("g1f3 g8f6"), after("c2c4 g8f6"), after("g1f3 g8f6 c2c4"));
    let mut bytes = vec![0, 1];
    bytes.extend([0; STATISTICS_LEN - 3]);
    bytes.extend([RED, (-125_i8).cast_unsigned(), 0]);
    let entry = PositionRecord {
        extras: vec![Extra { format: crate::ctg::FORMAT, book: 1, bytes }],
        ..record_of(&met, vec![])
    };
    let red = MoveFacts {
        recommended: Some(Recommendation::Red),
        factor: Some(-125),
        ..facts(&two, "g1f3", 2, counts(2, 1, 0, 1))
    };
    let plain = facts(&one, "c2c4", 2, counts(2, 1, 0, 1));
    let known = |moves: &[(&Position, &MoveFacts<MoveCode>)]| {
        let mut all: Vec<_> = moves.iter().map(|(at, facts)| record_of(at, vec![**facts])).collect();
        all.push(entry.clone());
        opened(&write(&all, 0))
    };
    let said = |known: &MoveFacts| (known.recommended, known.factor, known.annotation);
    let alone = known(&[(&two, &red)]);
    assert_eq!(said(&given(&alone, &two)["g1f3"]), (Some(Recommendation::Red), Some(-125), None));
    let both = known(&[(&one, &plain), (&two, &red)]);
    assert_eq!(said(&given(&both, &one)["c2c4"]), (None, None, None));
    assert_eq!(said(&given(&both, &two)["g1f3"]), (None, None, Some(Annotation::Bad)));
}

#[test]
fn what_was_chosen_is_played_with_colors_swapped_too() {
    let (one, two) = (fen("4k3/4p3/8/8/8/8/4P3/4K2R w K - 0 1"), fen("4k2r/4p3/8/8/8/8/4P3/4K3 b k - 0 1"));
    let chosen = MoveFacts { decision: Some(Decision::Chosen), ..facts(&one, "e2e4", 9, None) };
    let other = facts(&two, "e7e6", 9, None);
    for records in [[(&one, chosen), (&two, other)], [(&two, other), (&one, chosen)]] {
        let records = records.map(|(at, facts)| record_of(at, vec![facts]));
        let marks = |at| given(&opened(&write(&records, 0)), at).into_values().map(|known| known.annotation);
        assert_eq!(marks(&one).collect::<Vec<_>>(), [Some(Annotation::Bad), None]);
        assert_eq!(marks(&two).collect::<Vec<_>>(), [None, Some(Annotation::Bad)]);
    }
}

#[test]
fn an_empty_book_opens_and_has_nothing() {
    let done = write(&[], 0);
    assert_eq!(done.files.each_ref().map(Vec::len), [4096, 20, 12]);
    let book = opened(&done);
    assert!(book.best(&Position::start()).is_none() && every(&book, Scope::All).is_empty());
}

#[test]
fn all_three_files_are_replaced_by_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("B.CTB"), "old").unwrap();
    let options = WriteOptions::default();
    let error = CtgWriter::new(&path("B.CTG"), &options).unwrap_err();
    assert!(error.to_string().contains("B.CTB: this file exists already"), "{error}");
    let forced = CtgWriter::new(&path("B.CTG"), &WriteOptions { force: true, ..options.clone() }).unwrap();
    // No file appears before the end.
    assert!(!path("B.CTG").exists());
    let written = Box::new(forced).finish().unwrap();
    assert_eq!(written.files, ["B.CTG", "B.CTO", "B.CTB"].map(path));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    Ctg::open(path("B.CTO")).unwrap();
    // A file that appears meanwhile stays, and the files put in place before it are removed again.
    let late = CtgWriter::new(&path("c.ctg"), &options).unwrap();
    std::fs::write(path("c.ctg"), "mine").unwrap();
    assert!(Box::new(late).finish().is_err());
    assert_eq!(std::fs::read(path("c.ctg")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    // If one part cannot be replaced, the others stay as they were.
    ["c.cto", "c.ctb"].iter().for_each(|name| std::fs::write(path(name), "mine").unwrap());
    let late = CtgWriter::new(&path("c.ctg"), &WriteOptions { force: true, ..options }).unwrap();
    std::fs::remove_file(path("c.ctg")).unwrap();
    std::fs::create_dir(path("c.ctg")).unwrap();
    let error = Box::new(late).finish().unwrap_err().to_string();
    assert!(error.ends_with("the old files are unchanged"), "{error}");
    assert!(["c.cto", "c.ctb"].iter().all(|name| std::fs::read(path(name)).unwrap() == b"mine"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
}

#[test]
fn positions_of_a_book_come_in_every_form() {
    let line = |moves: &str| after(moves);
    let made = Fixture::new(1)
        .with(&Position::start(), "e2e4", [4, 1, 1, 1], 0)
        .with(&line("e2e4"), "e7e5", [3, 1, 1, 1], 0x80)
        .with(&line("e2e4 e7e5"), "", [2, 1, 1, 0], 0)
        // No line leads to these two.
        .with(&fen("8/8/8/4k3/8/8/4P3/6K1 w - - 0 1"), "e2e3", [5, 1, 1, 1], 0)
        .with(&fen("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"), "e1c1", [6, 1, 1, 1], 0);
    let book = made.book();
    let reached = every(&book, Scope::Reachable);
    assert_eq!(reached.len(), 3);
    assert_eq!(reached.iter().filter(|known| known.moves.is_empty()).count(), 1);
    assert!(
        reached
            .iter()
            .all(|known| known.total.is_some() && known.key == known.position.as_ref().unwrap().key())
    );
    let all = every(&book, Scope::All);
    let more: Vec<_> =
        all.iter().filter(|known| reached.iter().all(|other| other.key != known.key)).collect();
    // Four forms of the first, two of the second, in which one side may castle.
    assert_eq!((all.len(), more.len()), (9, 6));
    assert_eq!(more.iter().filter(|known| known.total.is_some()).count(), 2);
    for known in more {
        let position = known.position.as_ref().unwrap();
        assert_eq!(known.moves.len(), 1);
        assert!(known.moves[0].at(position).is_some(), "{}", position.fen());
        let mut moves = Vec::new();
        book.moves(position, &mut moves);
        assert_eq!(known.moves, moves.into_iter().map(MoveFacts::from).collect::<Vec<_>>());
    }
    // A visitor that breaks off is not called again.
    for scope in [Scope::Reachable, Scope::All] {
        let mut count = 0;
        book.each(scope, &Progress::none(), &mut |_| {
            count += 1;
            Err(Break::Enough)
        })
        .unwrap();
        assert_eq!(count, 1);
    }
}
