//! Broken books: what is wrong is reported, and the rest is played.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use tabiya_base::error::ErrorKind;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::super::Ctg;
use super::super::layout::STATISTICS_LEN;
use super::fixtures::entry;
use super::{Fixture, Known};
use crate::tests::after;
use crate::traits::Book;
use crate::{self as book, Moves};

/// Three moves and the positions after them, on several pages.
fn fixture() -> Fixture {
    Fixture::new(2)
        .with(&Position::start(), "e2e4 d2d4", [9, 3, 3, 3], 0)
        .with(&after("e2e4"), "e7e5", [5, 1, 1, 1], 0x80)
        .with(&after("d2d4"), "d7d5", [4, 1, 1, 1], 0)
        .with(&after("e2e4 e7e5"), "", [1, 1, 0, 0], 0)
        .with(&after("d2d4 d7d5"), "", [1, 0, 0, 1], 0)
}

fn opened([ctg, cto, ctb]: [Vec<u8>; 3]) -> Result<Ctg, String> {
    Ctg::new("made.ctg", ctg, cto, ctb).map_err(|error| error.to_string())
}

/// The errors that `check` reports.
fn errors(book: &Ctg) -> Vec<String> {
    let mut reported = Vec::new();
    book.check(&Progress::none(), &mut |finding| {
        reported.extend(finding.is_error().then(|| finding.to_string()))
    });
    reported
}

fn known(book: &Ctg) -> usize {
    let lines = ["", "e2e4", "d2d4", "e2e4 e7e5", "d2d4 d7d5"];
    lines.into_iter().filter(|line| book.entry(&after(line)).is_some()).count()
}

#[test]
fn a_sound_book_has_no_errors() {
    let book = fixture().book();
    assert_eq!((errors(&book), known(&book)), (vec![], 5));
}

#[test]
fn files_that_are_no_part_of_a_book_are_refused_with_their_name() {
    let whole = fixture().files();
    let names = ["made.ctg", "made.cto", "made.ctb"];
    for (part, header) in [(0, 4096), (1, 16), (2, 12)] {
        let mut files = whole.clone();
        files[part][0] ^= 1;
        let error = opened(files).unwrap_err();
        assert!(error.starts_with(&format!("{}: this is not ", names[part])), "{error}");
        assert!(error.contains(" (byte 0): put the .ctg, .cto and .ctb"), "{error}");
        let mut files = whole.clone();
        files[part].truncate(header - 1);
        let error = opened(files).unwrap_err();
        let expected = format!(
            "it has {} bytes, and its header alone has {header} (byte {0}): copy the book again",
            header - 1
        );
        assert!(error.starts_with(names[part]) && error.ends_with(&expected), "{error}");
    }
}

#[test]
fn files_of_different_books_are_distinguished() {
    let (small, big) = (fixture().files(), fixture().split(4).files());
    let mixed = |ctg: &[Vec<u8>; 3], cto: &[Vec<u8>; 3], ctb: &[Vec<u8>; 3]| {
        opened([ctg[0].clone(), cto[1].clone(), ctb[2].clone()]).err().unwrap_or_default()
    };
    let expected = "made.cto: the index claims to hold 7 page numbers, but its bitmap needs 31: \
                    it does not belong to made.ctb (byte 4): put the .ctg, .cto and .ctb of the same book together \
                    again, from a complete copy";
    assert_eq!(mixed(&small, &small, &big), expected);
    assert!(mixed(&small, &big, &small).contains("does not belong to made.ctb (byte 4)"));
    // Other pages, but as many: the index does not lead to their entries.
    let line = ["g1f3", "b1c3", "c2c4", "a2a3", "h2h3", "g2g3", "b2b3", "f2f4"];
    let other =
        line.into_iter().fold(Fixture::new(4), |made, mv| made.with(&after(mv), "", [0; 4], 0)).files();
    let error = mixed(&other, &big, &big);
    assert!(
        error.contains("the index names page") && error.contains("does not belong to made.ctg (byte "),
        "{error}"
    );
}

#[test]
fn an_index_with_room_to_spare_is_sound() {
    let mut files = fixture().files();
    files[1].extend([0xff; 4]);
    files[1][7] += 1;
    let book = opened(files.clone()).unwrap();
    assert_eq!((errors(&book), known(&book)), (vec![], 5));
    // Numbers after the last leaf name no page, or belong to another bitmap.
    let len = files[1].len();
    files[1][len - 4..].copy_from_slice(&[0; 4]);
    assert!(opened(files).unwrap_err().contains("hold 8 page numbers, but its bitmap needs 7"));
}

#[test]
fn a_page_number_beyond_the_file_is_reported_and_the_rest_is_played() {
    let mut files = fixture().files();
    let leaf = (0..7).find(|at| files[1][16 + at * 4..][..4] != [0xff; 4]).unwrap();
    files[1][16 + leaf * 4..][..4].copy_from_slice(&[0x7f, 0, 0, 1]);
    let book = opened(files).unwrap();
    assert!(known(&book) < 5);
    let reported = errors(&book);
    let expected = format!("leaf {leaf} names page 2130706433, but the file has only ");
    assert!(
        reported.iter().any(|what| what.starts_with(&expected) && what.ends_with(" of made.cto)")),
        "{reported:?}"
    );
    // If no page agrees, the index belongs to another book.
    let mut files = Fixture::new(0).with(&Position::start(), "", [0; 4], 0).files();
    files[1][19] = 9;
    let error = opened(files).unwrap_err();
    assert!(
        error.starts_with(
            "made.cto: the index names page 9, but the file has only 1: it does not belong to made.ctg (byte 16): put"
        )
    );
}

#[test]
fn a_length_past_the_page_is_reported_and_its_entries_are_played() {
    let mut files = fixture().files();
    files[0][4098..4100].copy_from_slice(&[0xff, 0xff]);
    let book = opened(files).unwrap();
    assert_eq!(known(&book), 5);
    let reported = errors(&book);
    assert!(
        reported[0].starts_with("page 0 claims to end at 65535 of its 4096 bytes (byte 4098)"),
        "{reported:?}"
    );
}

#[test]
fn an_even_length_of_moves_ends_its_page_only() {
    let start = Position::start();
    let sound = entry(&[], &Known::default());
    let even = [&[2, 0][..], &[0; STATISTICS_LEN]].concat();
    let book =
        Fixture::new(0).raw(&after("a2a3"), &sound).raw(&start, &even).raw(&after("e2e4"), &sound).book();
    assert!(book.entry(&after("a2a3")).is_some());
    assert!(book.entry(&start).is_none() && book.entry(&after("e2e4")).is_none());
    let reported = errors(&book);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("entry 2 of 3 in page 0 ends inside a move (byte 41"), "{reported:?}");
    let long = [&[255][..], &[0; 100]].concat();
    let book = Fixture::new(0).raw(&start, &long).book();
    assert!(book.best(&start).is_none());
    assert!(errors(&book)[0].contains("entry 1 of 1 in page 0 ends after its page"));
}

#[test]
fn a_bitmap_shorter_than_its_bounds_is_reported_and_what_it_reaches_is_played() {
    let mut files = fixture().split(5).files();
    files[2].truncate(12 + 2);
    let book = opened(files).unwrap();
    let reported = errors(&book);
    let expected = "the bitmap has 16 bits, but its upper bound is 32 (byte 8 of made.ctb)";
    assert!(reported.iter().any(|what| what == expected), "{reported:?}");
    assert!(
        reported.iter().any(|what| what.contains("the index does not lead to this entry")),
        "{reported:?}"
    );
    let mut files = fixture().files();
    files[1].truncate(16 + 3 * 4);
    let book = opened(files).unwrap();
    assert!(
        errors(&book)[0].contains("the index is cut off: it holds 3 of 7 page numbers (byte 4 of made.cto)")
    );
}

#[test]
fn a_cut_page_file_keeps_what_it_has() {
    let mut files = fixture().files();
    let len = files[0].len();
    files[0].truncate(len - 4000);
    let book = opened(files).unwrap();
    let reported = errors(&book);
    assert!(reported.iter().any(|what| what.contains(" is cut off (byte ")), "{reported:?}");
    let mut files = fixture().files();
    files[0].truncate(4096);
    let book = opened(files).unwrap();
    assert_eq!(known(&book), 0);
    assert!(errors(&book)[0].starts_with("the header counts "));
}

#[test]
fn moves_that_cannot_be_played_are_reported_and_left_out() {
    let start = Position::start();
    // 0x0c is a capture of the first pawn to the left, 0x02 means nothing; 0xec is a2a3, with an unknown mark.
    let book = Fixture::new(0).raw(&start, &entry(&[0x0c, 0, 0x02, 0, 0xec, 0x1f], &Known::default())).book();
    let mut moves = Vec::new();
    book.moves(&start, &mut moves);
    assert_eq!(moves.len(), 1);
    let reported = errors(&book);
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].starts_with("the move code 0x0c is not legal in rnbqkbnr/"), "{reported:?}");
    assert!(reported[1].starts_with("the move code 0x02 is unknown in rnbqkbnr/"), "{reported:?}");
    let mut found = Vec::new();
    book.check(&Progress::none(), &mut |finding| found.push(finding.to_string()));
    let mark = "the mark 0x1f of a2a3 has no known meaning (byte ";
    assert!(found.iter().any(|what| what.starts_with(mark)), "{found:?}");
}

#[test]
fn only_legal_moves_are_counted_and_each_once() {
    let bytes = entry(&[0xec, 0, 0x0c, 0, 0xec, 1, 0x02, 0, 0xdb, 0], &Known::default());
    let summary = Fixture::new(0).raw(&Position::start(), &bytes).book().summary(&Progress::none());
    assert_eq!((summary.entries, summary.moves), (1, Some(2)));
}

#[test]
fn more_results_than_games_are_an_error_and_fewer_are_not() {
    let start = Position::start();
    for counts in [[2, 1, 1, 1], [1, 2, 0, 0], [0, 0, 0, 1]] {
        let book = Fixture::new(0).with(&start, "e2e4", counts, 0).book();
        let [games, wins, losses, draws] = counts;
        let what = format!("{games} games with {wins} won, {draws} drawn and {losses} lost are impossible");
        let found = errors(&book);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&what), "{found:?}");
    }
    let unfinished = Fixture::new(0).with(&start, "e2e4", [9, 1, 1, 1], 0).book();
    assert_eq!(errors(&unfinished), [""; 0]);
}

#[test]
fn many_errors_of_one_kind_are_few_lines() {
    let moves: Vec<u8> = [0x02, 0].repeat(127);
    let book = Fixture::new(0).raw(&Position::start(), &entry(&moves, &Known::default())).book();
    let reported = errors(&book);
    assert_eq!(reported.len(), 21);
    assert!(
        reported[20].starts_with("107 more move codes that are not legal in their position (first at byte "),
        "{}",
        reported[20]
    );
}

#[test]
fn any_of_the_three_names_opens_the_book_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in ["Book.ctg", "BOOK.CTO", "book.Ctb"].into_iter().zip(fixture().files()) {
        fs::write(path(name), bytes).unwrap();
    }
    for (name, first) in [("Book.ctg", "Book.ctg"), ("book.CTB", "book.Ctb"), ("book.cto", "BOOK.CTO")] {
        let book = book::open_book(path(name)).unwrap();
        assert_eq!((book.path(), book.format()), (&*path(name), crate::ctg::FORMAT));
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        assert_eq!(lower(&book.files()[0]), lower(&path(first)));
        assert!(book.files().len() == 3 && book.best(&Position::start()).is_some());
    }
    fs::remove_file(path("BOOK.CTO")).unwrap();
    let Err(error) = book::open_book(path("Book.ctg")) else { panic!() };
    assert_eq!(error.kind(), ErrorKind::File);
    let text = error.to_string();
    assert!(
        text.contains("Book.cto: this part of the CTG book ") && text.contains(" is missing: put"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_book_of_a_hundred_gigabytes_is_opened_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let start = Fixture::new(0).with(&Position::start(), "e2e4", [0; 4], 0).files();
    // The last page has the start, so offsets exceed 32 bits.
    let page = 100_000_000_000_u64 / 4096 - 2;
    let file = fs::File::create(path("huge.ctg")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &start[0][..4096], 0).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &start[0][4096..], (page + 1) * 4096).unwrap();
    fs::write(path("huge.cto"), super::cto(&[page as u32], 0)).unwrap();
    fs::write(path("huge.ctb"), super::ctb(&[])).unwrap();
    let book = book::open_book(path("huge.ctg")).unwrap();
    assert!(book.best(&Position::start()).is_some() && book.best(&after("e2e4")).is_none());
}

proptest! {
    #[test]
    fn a_book_with_random_damage_gives_legal_moves(
        damage in prop::collection::vec((0..3_usize, any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::of((0..3_usize, any::<prop::sample::Index>())),
    ) {
        let mut files = fixture().files();
        for (part, at, byte) in damage {
            let len = files[part].len();
            files[part][at.index(len)] = byte;
        }
        if let Some((part, at)) = cut {
            let len = files[part].len();
            files[part].truncate(at.index(len));
        }
        if let Ok(book) = opened(files) {
            for line in ["", "e2e4", "d2d4"] {
                let at = after(line);
                let mut moves = Vec::new();
                book.moves(&at, &mut moves);
                for known in &moves {
                    prop_assert!(shakmaty::Position::is_legal(at.standard().unwrap(), known.mv));
                }
                prop_assert!(book.best(&at).is_none_or(|best| moves.iter().any(|known| known.mv == best)));
            }
            errors(&book);
            book.summary(&Progress::none());
        }
    }
}
