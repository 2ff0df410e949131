//! Small files, real ones, and broken ones.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use shakmaty::Position as _;

use super::keys::{KeySet, keys};
use super::layout::{RECORD_LEN, SUGAR_V1, SUGAR_V2};
use super::*;
use crate::tests::{after, mv as legal, sample, uci};
use crate::{open_book as open, open_bytes};

/// A record of a move by its squares, in the layout of a family.
fn record(family: ExpFamily, at: &Position, mv: &str, [value, depth, count]: [i32; 3]) -> Vec<u8> {
    let key = keys(at.standard().unwrap(), family.keys()).next().unwrap();
    raw(family, key, code(at, mv), [value, depth, count])
}

/// The engines' own code of a legal move.
fn code(at: &Position, mv: &str) -> u16 {
    let mv = legal(at, mv);
    let (from, to) = (mv.from().unwrap(), mv.to());
    let squares = u16::from(u8::from(from)) << 6 | u16::from(u8::from(to));
    let promotion = mv.promotion().map_or(0, |role| 1 << 14 | (role as u16 - 2) << 12);
    squares | promotion | if mv.is_castle() { 3 << 14 } else { u16::from(mv.is_en_passant()) << 15 }
}

fn raw(family: ExpFamily, key: u64, mv: u16, [value, depth, count]: [i32; 3]) -> Vec<u8> {
    let mut bytes = key.to_le_bytes().to_vec();
    let mv = i32::from(mv);
    let fields = match family {
        ExpFamily::BrainLearn => [depth, value, mv, 100],
        ExpFamily::SugarV1 => [mv, value, depth, 0xff00_ff00_u32 as i32],
        ExpFamily::SugarV2 => [mv, value, depth, count],
    };
    bytes.extend(fields.into_iter().flat_map(i32::to_le_bytes));
    bytes
}

fn file(family: ExpFamily, records: &[Vec<u8>]) -> Vec<u8> {
    let start: &[u8] = match family {
        ExpFamily::BrainLearn => b"",
        ExpFamily::SugarV1 => &SUGAR_V1,
        ExpFamily::SugarV2 => &SUGAR_V2,
    };
    [start, &records.concat()].concat()
}

const FAMILIES: [ExpFamily; 3] = [ExpFamily::BrainLearn, ExpFamily::SugarV1, ExpFamily::SugarV2];

/// A file of a line with a gap, a castling, a promotion and a position that nothing reaches.
fn small(family: ExpFamily) -> Vec<u8> {
    let start = Position::start();
    let castles = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
    let promotes = Position::from_any_fen(b"8/P7/8/8/8/8/k6K/8 w - - 0 1").unwrap();
    file(
        family,
        &[
            record(family, &start, "e2e4", [40, 12, 1]),
            record(family, &start, "d2d4", [-10, 9, 1]),
            record(family, &after("e2e4"), "e7e5", [-20, 10, 2]),
            // No record of Nf3: only the reply leads on.
            record(family, &after("e2e4 e7e5 g1f3"), "g8f6", [-30, 10, 2]),
            record(family, &after("e2e4 e7e5 g1f3 g8f6"), "f1c4", [5, 4, 1]),
            record(family, &after("e2e4 e7e5 g1f3 g8f6 f1c4"), "f8c5", [5, 4, 1]),
            record(family, &after(castles), "e1g1", [5, 4, 1]),
            record(family, &promotes, "a7a8n", [31_990, 30, 9]),
        ],
    )
}

/// Moves with their weights after a line.
fn moves(book: &dyn Book, line: &str) -> Vec<(String, u64)> {
    book.moves_in(&after(line)).iter().map(|known| (uci(known.mv), known.weight)).collect()
}

fn findings(book: &dyn Book) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    book.check(&Progress::none(), &mut |finding| found.push((finding.to_string(), finding.is_error())));
    found
}

#[test]
fn each_family_is_known_by_its_content_and_walked_from_the_start() {
    for family in FAMILIES {
        for name in ["experience.bin", "a.exp", "a"] {
            let book = Exp::new(name, small(family)).unwrap();
            assert_eq!(book.family(), family);
            assert_eq!(open_bytes(name, small(family)).unwrap().format(), crate::exp::FORMAT);
            let start = moves(&book, "");
            assert_eq!(start, [("e2e4".to_owned(), 10_000), ("d2d4".to_owned(), 7071)]);
            assert_eq!(moves(&book, "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5"), [("e1g1".to_owned(), 10_000)]);
            assert_eq!(moves(&book, "e2e4 e7e5"), []);
            let promotes = Position::from_any_fen(b"8/P7/8/8/8/8/k6K/8 w - - 0 1").unwrap();
            let known = book.moves_in(&promotes);
            assert_eq!(known[0].mv.promotion(), Some(shakmaty::Role::Knight));
            let mut reached = Vec::new();
            let visit = &mut |known: &crate::PositionRecord| {
                reached.push(known.key);
                Ok(())
            };
            assert_eq!(book.each(Scope::All, &Progress::none(), visit).unwrap(), 1);
            assert_eq!(reached.len(), 6);
            let summary = book.summary(&Progress::none());
            let counted =
                (summary.entries, summary.positions, summary.moves, summary.reachable, summary.deepest);
            assert_eq!(counted, (8, Some(7), Some(8), Some(6), Some(7)));
            assert_eq!(findings(&book).len(), 1, "{:?}", findings(&book));
            assert!(!findings(&book)[0].1 && findings(&book)[0].0.starts_with("no line from"));
        }
    }
}

#[test]
fn records_of_one_move_are_taken_together_as_the_engines_do() {
    let start = Position::start();
    for (family, expected) in [(ExpFamily::BrainLearn, (50, 8, 1)), (ExpFamily::SugarV2, (-5, 8, 65_535))] {
        let said = [[10, 4, 5], [-60, 8, 7], [50, 8, 65_530], [99, 3, 1]];
        let records: Vec<_> = said.map(|said| record(family, &start, "e2e4", said)).into();
        let book = Exp::new("a.exp", file(family, &records)).unwrap();
        let [known] = book.index().all() else { panic!("one move") };
        assert_eq!(
            (known.value, known.depth, known.count, known.number),
            (expected.0, expected.1, expected.2, 0)
        );
    }
}

#[test]
fn moves_are_ranked_by_value_depth_and_count() {
    let start = Position::start();
    let family = ExpFamily::SugarV2;
    let said = [("e2e4", [100, 9, 1]), ("d2d4", [50, 29, 1]), ("c2c4", [40, 20, 6]), ("g1f3", [100, 9, 2])];
    let records: Vec<_> = said.map(|(mv, said)| record(family, &start, mv, said)).into();
    let book = Exp::new("a.exp", file(family, &records)).unwrap();
    // 160, and three times 100: the more frequent comes first, then the deeper one.
    let expected = [("c2c4", 10_000), ("g1f3", 6598), ("d2d4", 6598), ("e2e4", 6598)];
    let found = moves(&book, "");
    assert_eq!(found.iter().map(|(mv, weight)| (&**mv, *weight)).collect::<Vec<_>>(), expected);
    assert_eq!(book.best(&start).map(|mv| mv.to()), Some(shakmaty::Square::C4));
}

#[test]
fn a_file_of_engines_with_both_sets_of_keys_is_read() {
    let family = ExpFamily::BrainLearn;
    let at = after("e2e4");
    let other = keys(at.standard().unwrap(), KeySet::Old).next().unwrap();
    let records = [
        record(family, &Position::start(), "e2e4", [1, 4, 1]),
        raw(family, other, code(&at, "e7e5"), [1, 4, 1]),
    ];
    let book = Exp::new("a.exp", file(family, &records)).unwrap();
    assert_eq!(moves(&book, "e2e4"), [("e7e5".to_owned(), 10_000)]);
    let notes = book.summary(&Progress::none()).notes;
    let keys = "as Stockfish's before 2020 (1 positions), as Stockfish's since 2020 (1 positions)";
    assert_eq!(notes[1], ("keys", keys.to_owned()));
}

#[test]
fn other_families_and_other_files_are_refused() {
    let wide = [&SUGAR_V2[..], &[2], &[7; 8], &6_u32.to_le_bytes(), &34_u32.to_le_bytes(), &[1; 68]].concat();
    let nuls = [&SUGAR_V2[..], &[0; 40]].concat();
    for (bytes, says) in [
        (wide, "records of 34 bytes"),
        (nuls, "but not its records"),
        (b"SugaR and cream".to_vec(), "no records of SugaR's first version"),
        (b"# Revolution experience format v1\n1 2 3 4 5 6\n".to_vec(), "as text"),
        (b"Experience version 3.0 and so on".to_vec(), "viewer"),
        (vec![0xee; 240], "though its name says so"),
    ] {
        let Err(error) = open_bytes("a.exp", bytes) else { panic!("{says}") };
        assert!(
            error.to_string().contains(says) && error.to_string().contains("(byte 0): name one"),
            "{error}"
        );
    }
    // Nothing is known yet.
    for bytes in [b"".to_vec(), SUGAR_V2.to_vec(), SUGAR_V1.to_vec()] {
        let book = open_bytes("a.exp", bytes).unwrap();
        assert!(book.moves_in(&Position::start()).is_empty());
        assert_eq!(findings(&*book), [("the file has no records".to_owned(), false)]);
    }
}

#[test]
fn impossible_records_are_reported_and_the_rest_is_read() {
    let start = Position::start();
    let family = ExpFamily::BrainLearn;
    let key = keys(start.standard().unwrap(), KeySet::New).next().unwrap();
    let sound = || record(family, &start, "e2e4", [1, 4, 1]);
    let bad = |mv, value, depth| raw(family, key, mv, [value, depth, 1]);
    let d4 = code(&start, "d2d4");
    let records = [
        sound(),
        bad(d4, 32_003, 1),
        bad(d4, 1, 251),
        bad(130, 1, 1),
        bad(d4, 32_002, 1),
        bad(65, 1, 1),
        // The rook's move through the pawn.
        bad(16, 1, 1),
        sound(),
        sound(),
    ];
    let book = Exp::new("a.exp", file(family, &records)).unwrap();
    assert_eq!(moves(&book, ""), [("e2e4".to_owned(), 10_000)]);
    let fen = start.fen();
    assert_eq!(
        findings(&book),
        [
            ("the value is impossible (byte 24)".to_owned(), true),
            ("the depth is impossible (byte 48)".to_owned(), true),
            ("the move ends where it starts (byte 72)".to_owned(), true),
            (format!("the move a1a3 is not legal in {fen} (byte 144)"), true),
            ("this record has no move (byte 120)".to_owned(), false),
            ("this record has no value (byte 96)".to_owned(), false),
        ]
    );
}

#[test]
fn a_file_that_engines_append_to_is_read_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    for family in FAMILIES {
        let path = folder.path().join("experience.bin");
        let bytes = small(family);
        let begun = bytes.len() - 8 * RECORD_LEN + RECORD_LEN;
        fs::write(&path, &bytes[..begun]).unwrap();
        let mut appended = fs::File::options().append(true).open(&path).unwrap();
        let before = open(&path).unwrap();
        for (at, byte) in bytes.iter().enumerate().skip(begun) {
            appended.write_all(&[*byte]).unwrap();
            let book = open(&path).unwrap();
            let whole = (at + 1 - (bytes.len() - 8 * RECORD_LEN)) / RECORD_LEN;
            let summary = book.summary(&Progress::none());
            assert_eq!((book.format(), summary.entries), (crate::exp::FORMAT, whole as u64));
            assert!(summary.findings.iter().all(|finding| !finding.is_error()), "{:?}", summary.findings);
        }
        assert_eq!(before.summary(&Progress::none()).entries, 1);
    }
}

/// What holds of any bytes: they are refused or read, and what is read is legal.
fn look(bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let Ok(book) = open_bytes("a.exp", bytes) else { return };
    for at in [Position::start(), after("e2e4")] {
        let known = book.moves_in(&at);
        assert!(known.iter().all(|known| known.weight > 0 && at.standard().unwrap().is_legal(known.mv)));
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.reachable <= summary.positions);
    book.check(&Progress::none(), &mut |finding| assert!(finding.offset.is_none_or(|offset| offset < len)));
}

#[test]
fn files_cut_off_anywhere_and_random_bytes_are_refused_or_read() {
    let begun = Instant::now();
    let mut random = SmallRng::seed_from_u64(49);
    for family in FAMILIES {
        let sound = small(family);
        for len in 0..sound.len() {
            look(sound[..len].to_vec());
        }
        for _ in 0..tabiya_testing::times(1000, 10_000) {
            let mut bytes = sound.clone();
            for _ in 0..random.random_range(1..40) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
            look(bytes);
            let mut bytes = vec![0; random.random_range(0..400)];
            random.fill_bytes(&mut bytes);
            look([&sound[..family.header_len()], &bytes].concat());
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(600));
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn real_files_are_walked() {
    for (name, family, entries, positions, reachable) in [
        ("brainlearn.exp", ExpFamily::BrainLearn, 1181, 1116, 1080),
        ("sugar_made.exp", ExpFamily::SugarV2, 29, 26, 25),
    ] {
        let path = sample(&format!("exp/{name}"));
        let book = Exp::new(&path, fs::read(&path).unwrap()).unwrap();
        let summary = book.summary(&Progress::none());
        assert_eq!((book.family(), summary.entries, summary.positions), (family, entries, Some(positions)));
        assert_eq!(summary.reachable, Some(reachable));
        assert!(summary.findings.iter().all(|finding| !finding.is_error()), "{:?}", summary.findings);
    }
}
