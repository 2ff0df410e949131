//! Broken books: what is said of them, and that the rest is played.

use std::fs;

use proptest::prelude::*;

use tabiya_base::error::ErrorKind;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::super::Kvetka;
use super::super::layout::BLOCK_LEN;
use super::fixtures::{damages, findings, ksf, many};
use super::{Fixture, Packed, after};
use crate::traits::Book;
use crate::{self as book, Moves, Remarks};

fn open(kob: Vec<Vec<u8>>, kin: Option<Vec<u8>>) -> Kvetka {
    Kvetka::with_files("a.kob", kob, kin, None).unwrap()
}

fn known(fixture: &Fixture, book: &Kvetka) -> usize {
    let at = |key: super::super::Key| Position::from_chess(key.position().unwrap());
    fixture
        .elements()
        .iter()
        .filter(|element| book.results(&at(element.key)) == Some(element.results))
        .count()
}

/// A header's length, with an empty caption.
const START: usize = 20;

#[test]
fn a_file_without_a_header_is_refused_with_the_offset() {
    let Packed { kob, .. } = many(5).packed();
    let refusal = |bytes: Vec<u8>| Kvetka::new("a.kob", bytes).unwrap_err().to_string();
    for kind in [0, 2, 3, 0x50] {
        let mut bytes = kob[0].clone();
        bytes[0] = kind;
        let expected = format!(
            "a.kob: this kind of Kvetka book, {kind}, is not supported: only kind 1 is described (byte 0): "
        );
        assert!(refusal(bytes).starts_with(&expected));
    }
    let mut bytes = kob[0].clone();
    bytes[1..5].copy_from_slice(&[0xff; 4]);
    let expected =
        "a.kob: the header of the Kvetka book has a text that is longer than the rest (byte 1): copy";
    assert!(refusal(bytes).starts_with(expected));
    for len in 1..START {
        let text = refusal(kob[0][..len].to_vec());
        assert!(text.contains("the header of the Kvetka book continues past the end (byte "), "{text}");
    }
    assert!(Kvetka::new("a.kob", kob[0][..START].to_vec()).unwrap().best(&Position::start()).is_none());
}

#[test]
fn a_wrong_number_of_blocks_is_reported_and_all_are_played() {
    let fixture = many(300);
    let Packed { kob, kin } = fixture.packed();
    let blocks = kin.len() / 22;
    for said in [0, 1, blocks as u32 / 2, blocks as u32 + 1, u32::MAX] {
        let mut kob = kob.clone();
        kob[0][START - 4..START].copy_from_slice(&said.to_be_bytes());
        let book = open(kob, Some(kin.clone()));
        assert_eq!(known(&fixture, &book), fixture.elements().len(), "{said}");
        let expected = format!("the header counts {said} blocks, but the book has {blocks}");
        assert!(
            book.warnings()[0].contains(&format!("a_0.kob: {expected} (byte 16): copy")),
            "{:?}",
            book.warnings()
        );
        assert_eq!(damages(&book), [format!("{expected} (byte 16 of a_0.kob)")]);
    }
}

#[test]
fn missing_files_are_reported_and_the_others_are_played() {
    let fixture = many(600);
    let Packed { kob, kin } = fixture.in_small_files();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (number, bytes) in kob.iter().enumerate() {
        fs::write(path(&format!("b_{number}.kob")), bytes).unwrap();
    }
    fs::write(path("b.kin"), &kin).unwrap();
    let all = fixture.elements().len();
    assert_eq!(known(&fixture, &Kvetka::open(path("b")).unwrap()), all);
    let positions_in = |number: usize| {
        let start = if number == 0 { START } else { 0 };
        kob[number][start..]
            .chunks(BLOCK_LEN as usize)
            .map(|block| super::super::block::Block::new(block).elements().count())
            .sum::<usize>()
    };
    fs::remove_file(path("b_1.kob")).unwrap();
    let book = Kvetka::open(path("b_0.kob")).unwrap();
    assert_eq!(known(&fixture, &book), all - positions_in(1));
    let warnings = book.warnings().join("\n");
    assert!(
        warnings
            .contains("b_2.kob: _1.kob is missing before this file, with all positions in there (byte 0)"),
        "{warnings}"
    );
    assert!(warnings.contains("b.kin: the index has "), "{warnings}");
    // Windows does not delete files that are mapped.
    drop(book);
    fs::remove_file(path("b_0.kob")).unwrap();
    let book = Kvetka::open(path("b.kin")).unwrap();
    assert_eq!(known(&fixture, &book), all - positions_in(1) - positions_in(0));
    let findings = damages(&book);
    assert!(findings[0].starts_with("_0.kob to _1.kob are missing before this file"), "{findings:?}");
    assert!(book::open_book(path("b_3.kob")).unwrap().warnings().len() == 2);
    assert!(book::open_book(path("b_0.kob")).unwrap().warnings()[0].contains("_0.kob to _1.kob are missing"));
    let Err(error) = book::open_book(path("c_0.kob")) else { panic!() };
    assert_eq!(error.kind(), ErrorKind::File);
}

#[test]
fn a_wrong_index_is_reported_and_not_used() {
    let fixture = many(tabiya_testing::times(150, 300));
    let Packed { kob, kin } = fixture.packed();
    let all = fixture.elements().len();
    for (len, at) in [(kin.len() - 22, kin.len() - 22), (0, 0), (kin.len() + 5, kin.len())] {
        let mut kin = kin.clone();
        kin.resize(len, 0);
        let book = open(kob.clone(), Some(kin));
        assert_eq!(known(&fixture, &book), all);
        assert!(
            book.warnings()[0].starts_with(&format!("a.kin: the index has {len} bytes, but ")),
            "{:?}",
            book.warnings()
        );
        assert!(book.warnings()[0].contains(&format!(" (byte {at}): the book is read without it")));
    }
    let blocks = kin.len() / 22;
    for block in (0..blocks).step_by(tabiya_testing::times(9, 1)) {
        for byte in [0, 0xff] {
            let mut kin = kin.clone();
            kin[22 * block..22 * block + 22].fill(byte);
            let book = open(kob.clone(), Some(kin));
            assert_eq!(known(&fixture, &book), all, "{block}");
            let findings = damages(&book);
            let expected = format!(
                "the index has a different first key for block {block} (byte {} of a.kin)",
                22 * block
            );
            assert_eq!(findings, [expected]);
        }
    }
}

#[test]
fn an_element_past_the_end_of_its_block_is_reported_and_those_before_it_are_played() {
    let fixture = many(60);
    let Packed { mut kob, .. } = fixture.packed();
    // The length of the third element of the first block.
    let block = super::super::block::Block::new(&kob[0][START..]);
    let third = block.elements().nth(2).unwrap().unwrap().at;
    let lost = block.elements().count() - 2;
    for (bytes, what) in [
        (&[0x8f, 0x7f][..], "continues past the end"),
        (&[0x80; 12][..], "has a number that does not end"),
        (&[0][..], "continues past the end"),
    ] {
        let mut kob = kob.clone();
        kob[0][START + third..START + third + bytes.len()].copy_from_slice(bytes);
        let book = open(kob, None);
        assert_eq!(known(&fixture, &book), fixture.elements().len() - lost);
        let expected =
            format!("an element of block 0 {what} of the used bytes (byte {} of a_0.kob)", START + third);
        assert_eq!(damages(&book), [expected]);
    }
    // A block that says to be longer than it is, or to have nothing.
    for said in [0, 1, 2049, u16::MAX] {
        kob[0][START..START + 2].copy_from_slice(&said.to_be_bytes());
        let findings = damages(&open(kob.clone(), None));
        let expected =
            format!("block 0 claims that {said} of its 2048 bytes are in use (byte {START} of a_0.kob)");
        assert_eq!(findings[0], expected);
    }
}

#[test]
fn counts_that_do_not_end_are_reported_with_their_element() {
    let e4 = after("e2e4");
    let fixture = Fixture::default().games("e2e4 e7e5", [1, 1, 1]);
    let Packed { kob, .. } = fixture.packed();
    let key = super::super::Key::from_chess(e4.standard().unwrap()).unwrap();
    let at = kob[0].windows(22).position(|window| window == key.0).unwrap();
    let mut bad = kob.clone();
    bad[0][at + 22..at + 25].copy_from_slice(&[0x80; 3]);
    let book = open(bad, None);
    assert!(book.results(&e4).is_none() && book.best(&Position::start()).is_some());
    let findings = damages(&book);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains(&format!(" of it (byte {} of a_0.kob)", at - 1)), "{findings:?}");
    // The moves are told too long for the element.
    let mut bad = kob.clone();
    bad[0][at + 25] = 200;
    assert!(damages(&open(bad, None))[0].starts_with("an element of block 0 continues past the end of it"));
    // A code that means nothing, and one that is not legal.
    for (code, what) in
        [(0x3a, "the move code 0x3a is unknown in "), (0x67, "the move code 0x67 is not legal in ")]
    {
        let mut bad = kob.clone();
        bad[0][at + 26] = code;
        let book = open(bad, None);
        assert!(book.best(&e4).is_none());
        assert!(damages(&book)[0].starts_with(what));
    }
    // A flag that announces a comment which is not there.
    let mut bad = kob;
    bad[0][at + 27] = 1;
    let findings = damages(&open(bad, None));
    assert!(
        findings[0].starts_with("the part after the moves continues past the end of its element"),
        "{findings:?}"
    );
}

#[test]
fn elements_out_of_order_are_reported_and_found_in_their_block() {
    let fixture = many(8);
    let mut elements = fixture.elements();
    elements.swap(3, 4);
    let book = open(Packed::new(&fixture.header, &elements).kob, None);
    let findings = damages(&book);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("the element before has a higher key"));
    assert_eq!(known(&fixture, &book), elements.len());
    let twice = [&fixture.elements()[..2], &fixture.elements()[1..]].concat();
    let findings = damages(&open(Packed::new(&fixture.header, &twice).kob, None));
    assert!(findings[0].starts_with("the element before has the same position"), "{findings:?}");
}

#[test]
fn a_key_without_a_position_is_reported() {
    let fixture = Fixture::default().games("e2e4", [1, 0, 0]);
    let mut elements = fixture.elements();
    elements[1].key.0 = [0xff; 22];
    let findings = damages(&open(Packed::new(&fixture.header, &elements).kob, None));
    assert!(findings[0].starts_with("these bits are not a position"), "{findings:?}");
}

#[test]
fn a_file_cut_within_a_block_keeps_its_other_blocks() {
    let fixture = many(100);
    let Packed { mut kob, .. } = fixture.packed();
    let len = kob[0].len();
    kob[0].truncate(len - 2048 - 1000);
    let book = open(kob, None);
    assert!(known(&fixture, &book) > fixture.elements().len() / 3);
    let findings = damages(&book);
    assert!(
        findings[0].starts_with("the last block is cut off: it has 1048 of 2048 bytes (byte "),
        "{findings:?}"
    );
}

#[test]
fn unknown_flags_are_a_warning_and_an_overlong_element_is_an_error() {
    let e4 = after("e2e4");
    let fixture = Fixture::default().games("e2e4 e7e5", [1, 1, 1]);
    let book = fixture.clone().change(&e4, |element| element.extras.flags = 0x40).book();
    assert!(findings(&book, false)[0].starts_with("the flags 0x40 have no known meaning"));
    let book = fixture.clone().change(&e4, |element| element.extras.rest = vec![1; 9]).book();
    assert!(findings(&book, false)[0].starts_with("no flag announces the last 9 bytes of an element"));
    // Links of the undescribed form are no finding.
    let book =
        fixture.change(&e4, |element| (element.extras.flags, element.extras.rest) = (2, vec![1; 9])).book();
    assert_eq!(findings(&book, false), [""; 0]);
    let Packed { mut kob, .. } = Fixture::default().games("e2e4", [1, 1, 1]).packed();
    let mut long = vec![0x86, 0x00];
    long.extend(&kob[0][START + 3..START + 3 + 22]);
    long.resize(2 + 6 * 128, 0);
    kob[0][START + 2..START + 2 + long.len()].copy_from_slice(&long);
    kob[0][START..START + 2].copy_from_slice(&(2 + long.len() as u16).to_be_bytes());
    assert!(
        damages(&open(kob, None))[0].starts_with("an element has 770 bytes, but at most 682 are allowed")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(32, 256)))]

    #[test]
    fn a_book_with_random_damage_gives_legal_moves(
        damage in prop::collection::vec((0..4_usize, any::<prop::sample::Index>(), any::<u8>()), 1..60),
        cut in prop::option::of((0..4_usize, any::<prop::sample::Index>())),
    ) {
        let fixture = many(40).link(&after("e2e4"), 0, 0);
        let Packed { kob, kin } = fixture.in_small_files();
        let mut files = [kob[0].clone(), kob[1].clone(), kin, ksf()];
        for (part, at, byte) in damage {
            let len = files[part].len();
            files[part][at.index(len)] = byte;
        }
        if let Some((part, at)) = cut {
            let len = files[part].len();
            files[part].truncate(at.index(len));
        }
        let [first, second, kin, ksf] = files;
        let rest = kob[2..].iter().cloned();
        let kob: Vec<_> = [first, second].into_iter().chain(rest).collect();
        if let Ok(book) = Kvetka::with_files("a.kob", kob, Some(kin), Some(ksf)) {
            for line in ["", "e2e4", "a2a3", "b1c3"] {
                let at = after(line);
                let mut moves = Vec::new();
                book.moves(&at, &mut moves);
                for known in &moves {
                    prop_assert!(shakmaty::Position::is_legal(at.standard().unwrap(), known.mv));
                }
                book.comment(&at);
                book.game(&at);
            }
            damages(&book);
            book.summary(&Progress::none());
        }
    }
}
