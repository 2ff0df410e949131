//! Broken books: what is wrong is reported, and the sound rest is played.

use tabiya_base::findings::Finding;

use super::*;

#[test]
fn cycles_and_links_out_of_the_file_are_reported_and_the_rest_is_played() {
    let mut tree = Tree::new();
    tree.line("e2e4 e7e5 g1f3");
    tree.line("d2d4 d7d5");
    let sound = tree.clone();
    assert_eq!(findings(&sound.book()), []);
    // Records: 0 e4, 1 e5, 2 Nf3, 3 d4, 4 d5.
    for (mend, expected) in [
        (
            &(|r: &mut Vec<AbkRecord>| r[2].child = 900) as &dyn Fn(&mut Vec<AbkRecord>),
            vec![(2, "the first reply, record 900, is already elsewhere")],
        ),
        (&|r| r[2].sibling = 902, vec![(2, "the next move, record 902, is already elsewhere")]),
        (&|r| r[4].child = 901, vec![(4, "the first reply, record 901, is already elsewhere")]),
        (&|r| r[4].child = 905, vec![(4, "the first reply, record 905, is outside the file")]),
        (&|r| r[4].sibling = i32::MAX, vec![(4, "the next move, record 2147483647, is outside the file")]),
        (&|r| r[4].child = 899, vec![(4, "the first reply, record 899, is outside the file")]),
        (&|r| (r[4].child, r[4].sibling) = (i32::MIN, 0), vec![]),
    ] {
        let mut broken = sound.clone();
        mend(&mut broken.records);
        let book = broken.book();
        let reported = findings(&book);
        assert_eq!(reported.len(), expected.len(), "{reported:?}");
        for ((offset, what, is_error), (number, begins)) in reported.iter().zip(&expected) {
            assert!(*is_error && *offset == at(*number) && what.starts_with(begins), "{reported:?}");
        }
        assert_eq!(book.summary(&Progress::none()).findings.len(), expected.len());
        for (line, expected) in
            [("", &["d2d4", "e2e4"][..]), ("e2e4", &["e7e5"]), ("e2e4 e7e5", &["g1f3"]), ("d2d4", &["d7d5"])]
        {
            assert_eq!(names(&book, line), expected, "{line}");
        }
    }
}

#[test]
fn illegal_moves_and_garbage_are_reported_and_end_their_branch() {
    let mut tree = Tree::new();
    tree.line("e2e4 e7e5 g1f3");
    tree.line("d2d4 d7d5");
    tree.records[1].to = 27;
    let book = tree.book();
    let first = findings(&book);
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(first[0].0 == at(1) && first[0].1.starts_with("the move e7d4 is not legal in rnbqkbnr/"));
    let lost = (at(2), "no line from the starting position reaches this record".to_owned(), false);
    assert_eq!(first[1], lost);
    assert_eq!((names(&book, "e2e4"), names(&book, "d2d4")), (vec![], vec!["d7d5".to_owned()]));
    let record = tree.records[1];
    for broken in [
        AbkRecord { from: 64, ..record },
        AbkRecord { to: 255, ..record },
        AbkRecord { promotion: 5, ..record },
        AbkRecord { promotion: -128, ..record },
    ] {
        tree.records[1] = broken;
        let reported = findings(&tree.book());
        assert!(reported[0].0 == at(1) && reported[0].1.ends_with(" is impossible"), "{reported:?}");
    }
    tree.records[1] = AbkRecord { to: 36, games: -1, priority: 10, ..record };
    let reported = findings(&tree.book());
    assert_eq!(
        reported,
        [
            (at(1), "-1 games with 0 won and 0 lost by White are impossible".to_owned(), true),
            (at(1), "the priority 10 of the move e7e5 is above 9, and counts as 9".to_owned(), false)
        ]
    );
    assert_eq!(weights(&tree.book(), "e2e4"), [("e7e5".to_owned(), 900)]);
}

#[test]
fn deleted_records_are_skipped_with_their_replies_but_not_their_siblings() {
    let mut tree = Tree::new();
    tree.line("e2e4 e7e5").flags = 250;
    tree.line("d2d4");
    tree.records[0].flags = 0x0100_0000;
    let book = tree.book();
    assert_eq!((names(&book, ""), names(&book, "e2e4")), (vec!["d2d4".to_owned()], vec![]));
    assert!(findings(&book).iter().all(|(_, _, is_error)| !is_error));
    let summary = book.summary(&Progress::none());
    let lines: Vec<_> = summary.findings.iter().map(Finding::to_string).collect();
    let expected = [
        format!("this record is deleted (byte {})", at(0)),
        format!("no line from the starting position reaches this record (byte {})", at(1)),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_file_cut_anywhere_is_refused_or_played() {
    let mut tree = Tree::new();
    tree.line("e2e4 e7e5 g1f3");
    let bytes = tree.bytes();
    for len in (0..bytes.len()).step_by(977).chain(25_195..bytes.len()) {
        let opened = Abk::new("cut.abk", bytes[..len].to_vec());
        let Ok(book) = opened else {
            assert!(len < 25_200);
            continue;
        };
        assert!(len >= 25_200);
        let whole = (len - 25_200) / 28;
        assert_eq!(book.index().all().len(), whole);
        let reported = findings(&book);
        if (len - 25_200) % 28 > 0 {
            assert_eq!(reported[0].0, at(whole as u32), "{reported:?}");
            assert!(
                reported[0].2 && reported[0].1.starts_with("the last record is cut off: it has "),
                "{reported:?}"
            );
        }
        if whole == 0 {
            assert_eq!(reported.last().unwrap().1, "no move follows the header");
            assert_eq!(names(&book, ""), Vec::<String>::new());
        }
    }
}

#[test]
fn a_line_without_end_is_cut() {
    let mut tree = Tree::new();
    let round = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let game: Vec<&str> = round.into_iter().cycle().take(MAX_LEN + 3).collect();
    tree.line(&game.join(" "));
    let book = tree.book();
    for ply in 0..4 {
        assert_eq!(names(&book, &round[..ply].join(" ")), [round[ply]]);
    }
    let reported = findings(&book);
    assert_eq!(reported[0].0, at(MAX_LEN as u32 - 1));
    assert!(reported[0].1.contains("more than 1024 plies deep"), "{reported:?}");
    assert_eq!(book.summary(&Progress::none()).deepest, Some(4));
}

proptest! {
    #[test]
    fn no_bytes_make_a_book_fail(
        records in prop::collection::vec((0..64_u8, 0..64_u8, -6..6_i8, any::<u8>(), any::<[i32; 3]>(), 890..960_i32, 890..960_i32), 0..60),
        deleted in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        header in prop::collection::vec((0..0x110_usize, any::<u8>()), 0..30),
        tail in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut tree = Tree::new();
        for (number, (from, to, promotion, priority, [games, white_wins, white_losses], child, sibling)) in
            records.into_iter().enumerate()
        {
            // Half of the moves are pawn steps, because the walk should get somewhere.
            let (from, to) = if number % 2 == 0 { (8 + from % 8, 16 + from % 8) } else { (from, to) };
            let promotion = if number % 2 == 0 { 0 } else { promotion };
            tree.records.push(AbkRecord { from, to, promotion, priority, games, white_wins, white_losses, child, sibling, ..AbkRecord::default() });
        }
        for index in deleted {
            if !tree.records.is_empty() {
                index.get_mut(&mut tree.records).flags = 0x0100_0000;
            }
        }
        for (at, byte) in header {
            if at >= 12 {
                tree.header[at] = byte;
            }
        }
        let mut bytes = tree.bytes();
        bytes.extend(tail);
        let book = Abk::new("random.abk", bytes.clone()).unwrap();
        let start = Position::start();
        let given = moves(&book, &start);
        prop_assert!(given.iter().all(|known| start.chess().is_legal(known.mv)));
        prop_assert_eq!(book.heaviest(&start).is_some(), given.iter().any(|known| known.weight > 0));
        let summary = book.summary(&Progress::none());
        prop_assert_eq!(summary.entries, Records::new(&bytes).len() as u64);
        prop_assert!(book.index().all().len() as u64 <= summary.entries);
        book.check(&Progress::none(), &mut |finding| assert!(finding.offset.is_none_or(|offset| offset < bytes.len() as u64)));
    }
}
