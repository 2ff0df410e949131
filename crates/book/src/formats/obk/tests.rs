//! Small books, and broken ones.

use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use shakmaty::Position as _;

use super::layout::RECORD_LEN;
use super::read::MAX_DEPTH;
use super::*;
use crate::open_bytes;
use crate::tests::{after, uci};

/// The moves of docs/formats/obk.md, Vectors: five lines.
const MOVES: [u8; 26] = [
    0x0c, 0xdc, 0x34, 0xe4, 0x46, 0xd5, 0x79, 0xea, 0x05, 0xa1, 0x7e, 0xed, 0xc4, 0xc6, 0xc5, 0x5a, 0x32,
    0xa2, 0xc6, 0xd5, 0xf4, 0x2c, 0x4b, 0x9b, 0xf3, 0xe3,
];

/// Texts of version 2: the name "Ruy Lopez", "C60" and "castles".
const TEXTS: &[u8; 37] = b"\x04\0\0\0\x09\x80Ruy Lopez\x04\0\0\0\x03\x82C60\x06\0\0\0\x07\x81castles";

fn file(version: u8, moves: &[u8], texts: &[u8]) -> Vec<u8> {
    let count = (moves.len() / RECORD_LEN) as u32;
    let mut bytes = if version == 1 { START_V1 } else { START_V2 }.to_vec();
    bytes.extend(count.to_le_bytes());
    if version == 2 {
        bytes.extend((texts.len() as u32).to_le_bytes());
    }
    [&bytes[..], moves, texts].concat()
}

fn moves(book: &dyn Book, line: &str) -> Vec<(String, u64)> {
    book.moves_in(&after(line)).iter().map(|known| (uci(known.mv), known.weight)).collect()
}

fn shown(moves: &[(&str, u64)]) -> Vec<(String, u64)> {
    moves.iter().map(|(mv, weight)| ((*mv).to_owned(), *weight)).collect()
}

fn findings(book: &dyn Book) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    book.check(&Progress::none(), &mut |finding| found.push((finding.to_string(), finding.is_error())));
    found
}

#[test]
fn both_versions_are_known_by_their_content_and_read() {
    for (version, texts) in [(1, &b""[..]), (2, &TEXTS[..])] {
        for name in ["a.obk", "a.bin", "a"] {
            let book = open_bytes(name, file(version, &MOVES, texts)).unwrap();
            assert_eq!(book.format(), crate::obk::FORMAT);
            assert_eq!(moves(&*book, ""), shown(&[("e2e4", 100), ("d2d4", 50)]));
            assert_eq!(moves(&*book, "e2e4"), shown(&[("e7e5", 100), ("c7c5", 50), ("e7e6", 0)]));
            assert_eq!(moves(&*book, "e2e4 e7e5 g1f3 b8c6"), shown(&[("f1b5", 50), ("f1c4", 25)]));
            assert_eq!(moves(&*book, "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6"), shown(&[("e1g1", 100)]));
            assert_eq!(moves(&*book, "g1f3 b8c6 e2e4 e7e5"), shown(&[("f1b5", 50), ("f1c4", 25)]));
            let summary = book.summary(&Progress::none());
            let counted = (summary.entries, summary.positions, summary.moves, summary.deepest);
            assert_eq!(counted, (13, Some(9), Some(13), Some(7)));
            let mut expected = vec![("a move of weight 0 is never played".to_owned(), false)];
            if version == 2 {
                expected.push(("names and remarks (37 bytes) are not read (byte 38)".to_owned(), false));
            }
            assert_eq!(findings(&*book), expected);
        }
    }
}

#[test]
fn a_move_of_several_lines_has_the_greatest_weight() {
    // Nf3 d5 d4(1); d4 d5 Nf3(2), then c4(1), and after Nf3 d5 d4 c4(3).
    let record = |from: u8, to: u8, weight: u8, is_last, is_leaf| {
        ObkRecord { from, to, weight, is_last, is_leaf }.to_bytes()
    };
    let (nf3, d5, d4, c4) = ((6, 21), (51, 35), (11, 27), (10, 26));
    let records = [
        record(nf3.0, nf3.1, 1, false, false),
        record(d5.0, d5.1, 1, true, false),
        record(d4.0, d4.1, 1, true, false),
        record(52, 44, 1, true, false),
        record(c4.0, c4.1, 3, true, true),
        record(d4.0, d4.1, 2, true, false),
        record(d5.0, d5.1, 2, true, false),
        record(nf3.0, nf3.1, 2, true, false),
        record(52, 44, 0, true, false),
        record(c4.0, c4.1, 1, true, true),
    ];
    let book = Obk::new("a.obk", file(1, &records.concat(), b"")).unwrap();
    assert_eq!(moves(&book, "d2d4 d7d5 g1f3 e7e6"), shown(&[("c2c4", 100)]));
    assert_eq!(moves(&book, "d2d4 d7d5 g1f3"), shown(&[("e7e6", 25)]));
    assert_eq!(findings(&book).len(), 1, "{:?}", findings(&book));
}

#[test]
fn a_move_that_is_not_legal_takes_only_its_own_replies_along() {
    let mut broken = MOVES;
    // 2. Nf3 from e1.
    broken[4] = 0x44;
    let book = Obk::new("a.obk", file(1, &broken, b"")).unwrap();
    assert_eq!(moves(&book, "e2e4"), shown(&[("e7e5", 100), ("c7c5", 50), ("e7e6", 0)]));
    assert_eq!(moves(&book, "d2d4"), shown(&[("d7d5", 100)]));
    let found = findings(&book);
    let lost = |at| ("this move follows one that is not legal".to_owned() + &format!(" (byte {at})"), true);
    let illegal = ("the move from square 4 to 21 is not legal in its position (byte 12)".to_owned(), true);
    assert_eq!(found[..6], [illegal, lost(14), lost(16), lost(18), lost(20), lost(22)]);
}

#[test]
fn what_does_not_fit_the_header_or_the_tree_is_reported() {
    let sound = file(1, &MOVES, b"");
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        let book = Obk::new("a.obk", bytes).unwrap();
        (findings(&book).into_iter().filter(|(what, _)| !what.contains("weight 0")).collect::<Vec<_>>(), book)
    };
    let (found, book) = changed(&|bytes| bytes[4] = 14);
    let missing = "the header counts 14 moves, but the file ends after 13";
    assert_eq!(found, [(format!("{missing} (byte 4)"), true)]);
    assert_eq!(book.warnings(), [format!("a.obk: {missing}")]);
    // A tree that ends early, within a line, and one that a null move ends.
    let (found, _) = changed(&|bytes| bytes[8] |= 0xc0);
    assert_eq!(found, [("12 moves follow the end of the tree (byte 10)".to_owned(), true)]);
    let (found, _) = changed(&|bytes| (bytes[4], bytes[32]) = (13, 0x73));
    assert_eq!(found, [("the tree ends within a line (byte 32)".to_owned(), false)]);
    let (found, _) = changed(&|bytes| {
        bytes[4] = 14;
        bytes.extend([0, 0]);
    });
    assert_eq!(found, []);
    let (found, book) = changed(&|bytes| bytes[4..].fill(0));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(book.moves_in(&Position::start()).is_empty());
    for bytes in [&b"BOO!\x01\0\0\0\0"[..], b"UGWS"] {
        let error = Obk::new("a.bin", bytes.to_vec()).unwrap_err().to_string();
        assert!(error.contains(&format!("inside its header (byte {})", bytes.len())), "{error}");
    }
    let error = open_bytes("a.OBK", vec![7; 40]).err().unwrap().to_string();
    assert!(error.contains("does not start like a Chessmaster book"), "{error}");
}

#[test]
fn a_line_has_a_limit() {
    // Knights go to and fro.
    let steps = [(6, 21), (62, 45), (21, 6), (45, 62)];
    let line = |plies: usize| -> Vec<u8> {
        let steps = steps.into_iter().cycle().take(plies).enumerate();
        let record = |(ply, (from, to))| {
            ObkRecord { from, to, weight: 1, is_last: true, is_leaf: ply + 1 == plies }.to_bytes()
        };
        steps.flat_map(record).collect()
    };
    for (plies, expected) in [(MAX_DEPTH, vec![]), (MAX_DEPTH + 2, vec![(MAX_DEPTH, 2)])] {
        let book = Obk::new("a.obk", file(1, &line(plies), b"")).unwrap();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(at, left)| {
                let what =
                    format!("a line is longer than {MAX_DEPTH} plies: the last {left} moves are not read");
                (format!("{what} (byte {})", 8 + 2 * at), true)
            })
            .collect();
        assert_eq!(findings(&book), expected);
    }
}

/// What holds of any bytes: they are refused or read, and what is read is legal.
fn look(bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let Ok(book) = open_bytes("a.obk", bytes) else { return };
    for at in [Position::start(), after("e2e4")] {
        assert!(book.moves_in(&at).iter().all(|known| at.standard().unwrap().is_legal(known.mv)));
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.positions <= summary.moves);
    book.check(&Progress::none(), &mut |finding| assert!(finding.offset.is_none_or(|offset| offset < len)));
}

#[test]
fn files_cut_off_anywhere_and_random_bytes_are_refused_or_read() {
    let begun = Instant::now();
    let mut random = SmallRng::seed_from_u64(49);
    for (version, texts) in [(1, &b""[..]), (2, &TEXTS[..])] {
        let sound = file(version, &MOVES, texts);
        for len in 0..sound.len() {
            look(sound[..len].to_vec());
        }
        for _ in 0..tabiya_testing::times(1000, 10_000) {
            let mut bytes = sound.clone();
            for _ in 0..random.random_range(1..12) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
            look(bytes);
            let mut bytes = vec![0; random.random_range(0..400)];
            random.fill_bytes(&mut bytes);
            look([&sound[..4], &bytes].concat());
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(600));
}
