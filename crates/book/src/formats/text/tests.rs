use std::path::Path;

use proptest::prelude::*;
use shakmaty::Position as _;

use tabiya_base::findings::Finding;
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::line::{Form, LONGEST, fields, is_book};
use super::*;
use crate::edit::{Change, Edit, EditValue};
use crate::tests::{after, every, fen, mv, uci};
use crate::{WriteOptions, create_book, open_as, open_bytes};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

fn book(text: &str) -> Arc<dyn Book> {
    open_bytes("a.epd", text.as_bytes().to_vec()).unwrap()
}

fn weights(book: &dyn Book, at: &Position) -> Vec<(String, u64)> {
    book.moves_in(at).into_iter().map(|known| (uci(known.mv), known.weight)).collect()
}

/// The moves of the starting position in a line about it.
fn read(rest: &str) -> Vec<(String, u64)> {
    weights(&*book(&format!("{START} {rest}\n")), &Position::start())
}

fn expected(moves: &[(&str, u64)]) -> Vec<(String, u64)> {
    moves.iter().map(|(mv, weight)| ((*mv).to_owned(), *weight)).collect()
}

fn found(text: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let book = TextBook::new(Path::new("a.epd"), text.to_vec().into(), Form::Epd, Variant::Chess);
    book.check(&Progress::none(), &mut |finding: Finding| {
        all.push(format!("{}: {finding}", finding.severity));
    });
    all
}

#[test]
fn both_forms_are_read_as_people_and_suites_write_them() {
    let both = expected(&[("e2e4", 60), ("d2d4", 40)]);
    for rest in [
        "bm e4 d4; c0 \"e4=60, d4=40\";",
        "0 1 bm e4,d4; id \"x; y\"; c0 \"e4=60,d4=40\"",
        "bm e4; ce 31; c0 \"e4=60, d4=40\";",
        "; e4 60, d4 40",
        "0 1; e2e4 60, d2d4 40",
        "0 1;e4=60 d4=40;",
        "; e2-e4! 60 d4 40",
    ] {
        assert_eq!(read(rest), both, "{rest}");
    }
    for (rest, moves) in [
        ("bm e4 d4;", &[("e2e4", 1), ("d2d4", 1)][..]),
        ("; e4 d4", &[("e2e4", 1), ("d2d4", 1)]),
        ("bm Nf3+; am a4;", &[("g1f3", 1), ("a2a4", 0)]),
        ("bm e4; am a4; c0 \"a4=7, e4=3\"", &[("e2e4", 3), ("a2a4", 0)]),
        // What is written twice adds up.
        ("; e4 2, d4, e2e4 3", &[("e2e4", 5), ("d2d4", 1)]),
        // What is no legal move is left out, and the rest is read.
        ("bm e5 e4 Qh5;", &[("e2e4", 1)]),
        ("; e5 9, e4 3, x 4, d4 -1", &[("e2e4", 3), ("d2d4", 1)]),
        ("bm e4; c0 \"best by test\"", &[("e2e4", 1)]),
        ("; e4 18446744073709551615, e4 1", &[("e2e4", u64::MAX)]),
    ] {
        assert_eq!(read(rest), expected(moves), "{rest}");
    }
}

#[test]
fn lines_end_and_begin_in_any_way() {
    let second = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2";
    for text in [
        format!("\u{feff}{START} bm e4;\r\n\r\n# a remark\r\n{second}; Nf3 3"),
        format!("{START} bm e4;\n\0\0\n{second} bm Nf3; c0 \"Nf3=3\"; c1 \"H\u{fc}bner\";\n\n"),
        format!("\n  {START} bm e4;  \n{second} ; Nf3 1\n{second}; g1f3 2\n"),
    ] {
        let book = book(&text);
        assert_eq!(weights(&*book, &Position::start()), expected(&[("e2e4", 1)]), "{text}");
        // Nobody can capture en passant, so this is the same position.
        assert_eq!(weights(&*book, &after("e2e4 e7e5")), expected(&[("g1f3", 3)]), "{text}");
        let summary = book.summary(&Progress::none());
        assert_eq!((summary.positions, summary.moves, summary.reachable), (Some(2), Some(2), Some(2)));
    }
    let old = [format!("{START} bm e4; c1 \"").as_bytes(), b"H\xfcbner\";"].concat();
    let book = open_bytes("a", old).unwrap();
    assert_eq!(book.as_remarks().unwrap().comment(&Position::start()).as_deref(), Some("H\u{fc}bner"));
}

#[test]
fn a_position_without_en_passant_is_found_where_none_is_legal() {
    // A pawn attacks the square, and is pinned.
    let at = fen("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1");
    let book = book("4r1k1/8/8/3pP3/8/8/8/4K3 w - - bm Kd2;\n");
    assert_eq!(weights(&*book, &at), expected(&[("e1d2", 1)]));
    let book = self::book("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 bm Kd2;\n");
    assert_eq!(weights(&*book, &at), expected(&[("e1d2", 1)]));
}

#[test]
fn replies_lead_to_positions_that_two_keys_have() {
    // After d7d5 the pawn on e5 could capture en passant, were it not pinned.
    let line: Vec<&str> = "e2e4 e7e5 f2f4 e5f4 e4e5 d8e7 a2a3 d7d5 g1f3".split(' ').collect();
    let text: String = (0..line.len())
        .step_by(2)
        .map(|ply| {
            let fen = after(&line[..ply].join(" ")).fen();
            format!("{} bm {};\n", fen.rsplitn(3, ' ').last().unwrap(), line[ply])
        })
        .collect();
    let text = text.replace(" d6 ", " - ");
    let book = book(&text);
    let last = after(&line[..7].join(" "));
    assert_ne!(last.key_after(mv(&last, "d7d5")), after(&line[..8].join(" ")).strict_key());
    let mut replies = last.chess().legal_moves().to_vec();
    book.drop_absent(&last, &mut replies);
    assert!(replies.contains(&mv(&last, "d7d5")) && replies.len() < 10, "{replies:?}");
    assert_eq!(book.summary(&Progress::none()).reachable, Some(5));
    assert_eq!(every(&*book, Scope::Reachable).len(), 5);
}

#[test]
fn moves_of_a_position_on_several_lines_count_once() {
    let book = book(&format!("{START} bm e4 d4;\n{START} bm d4 c4;\n{START} bm Nf3;\n"));
    let summary = book.summary(&Progress::none());
    assert_eq!((summary.entries, summary.positions, summary.moves), (3, Some(1), Some(4)));
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_offset() {
    let long = "x".repeat(LONGEST);
    let text = format!(
        "{START} bm e4 e5;\nnonsense\n\n{START} c0 \"1. e4\";\n8/8/8/8/8/8/8/8 w - - bm e4;\n{long}\n{START}; d4 0"
    );
    let at = |part: &str| text.find(part).unwrap();
    let expected = [
        "error: line 1: \"e5\" is not a legal move (byte 0)".to_owned(),
        format!("error: line 2 does not begin with a position (byte {})", at("nonsense")),
        format!("error: line 5: the position is not legal (byte {})", at("8/8/8/8/8/8/8/8 w")),
        format!("error: line 6 has 65537 bytes, and at most 65536 are read (byte {})", at("xxx")),
        format!("warning: line 4 has no moves (byte {})", text.match_indices(START).nth(1).unwrap().0),
        format!("warning: a move of weight 0 is never played (byte {})", text.rfind(START).unwrap()),
        format!("warning: a position is on several lines (byte {})", text.rfind(START).unwrap()),
    ];
    let mut found = found(text.as_bytes());
    found.sort_by_key(|line| line.starts_with("warning"));
    assert_eq!(found, expected);
    assert_eq!(read("bm e4;"), self::expected(&[("e2e4", 1)]));
}

#[test]
fn other_texts_are_no_books() {
    for text in [
        "",
        "[Event \"x\"]\n\n1. e4 *\n",
        &format!("[FEN \"{START} 0 1\"]\n[SetUp \"1\"]\n\n1. e4 *\n"),
        &format!("{START} ce 20; c0 \"1. e4 e5\";\n"),
        &format!("{START}\n{START} 0 1\n"),
        &format!("{START} hmvc 0; fmvn 1; id \"e4\";\n"),
        &format!("A letter to e4.\n{START} bm e4;\n"),
        "8/8/8/8/8/8/8 w - - bm e4;",
        "e4; d4",
        "a,b;c\n1,2;3\n",
    ] {
        assert_eq!(is_book(text.as_bytes(), false), None, "{text}");
        assert!(open_bytes("a.txt", text.as_bytes().to_vec()).is_err());
    }
    // A name helps where the first line is damaged.
    let damaged = format!("rnbqk\n{START} bm e4;\n");
    assert_eq!(is_book(damaged.as_bytes(), true), Some(Form::Epd));
    assert!(
        open_bytes("a.FEN", damaged.clone().into_bytes()).is_ok_and(|book| book.format().name() == "epd")
    );
    assert!(open_bytes("a.txt", damaged.into_bytes()).is_err());
    // The first line with moves decides, whatever the name.
    let lines = format!("{START}\n{START} bm e4;\n{START}; d4 2\n");
    assert_eq!(open_bytes("a.bin", lines.into_bytes()).unwrap().format().name(), "epd");
}

/// Writes positions, and returns the text and the book.
fn rewritten(name: &str, variant: Variant, known: &[PositionRecord]) -> (String, Arc<dyn Book>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let options = WriteOptions { variant, ..WriteOptions::default() };
    let mut writer = create_book(&path, &options).unwrap();
    known.iter().for_each(|known| writer.add(known).unwrap());
    writer.finish().unwrap();
    (std::fs::read_to_string(&path).unwrap(), open_as(&path, variant).unwrap())
}

fn record(at: &Position, moves: &[(&str, u64)]) -> PositionRecord {
    let moves: Vec<_> = moves.iter().map(|(text, weight)| MoveFacts::new(mv(at, text), *weight)).collect();
    PositionRecord::from_moves(at, &moves)
}

#[test]
fn a_book_is_written_in_one_way() {
    let start = Position::start();
    let mut known = record(&start, &[("g1f3", 0), ("d2d4", 40), ("e2e4", 60)]);
    known.comment = Some("the \"start\"\n".to_owned());
    let (text, _) = rewritten("a.epd", Variant::Chess, &[known.clone()]);
    let line = "bm e4 d4; am Nf3; c0 \"e4=60, d4=40, Nf3=0\"; c1 \"the 'start' \";";
    assert_eq!(text, format!("{START} {line}\n"));
    let (text, _) = rewritten("a.fen", Variant::Chess, &[known]);
    assert_eq!(text, format!("{START} 0 1; e4 60, d4 40, Nf3 0\n"));
    let (text, _) = rewritten("a.epd", Variant::Chess, &[record(&start, &[("e2e4", 1), ("g1f3", 0)])]);
    assert_eq!(text, format!("{START} bm e4; am Nf3;\n"));
}

#[test]
fn castling_of_chess960_is_written_so_that_it_is_read_again() {
    for (text, castling) in [
        ("1r2k1r1/8/8/8/8/8/8/R3K2R w HAgb - 0 1", "O-O-O"),
        ("bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNR1KRB w KQkq - 0 1", "bm O-O;"),
        ("rkr5/pppppppp/8/8/8/8/PPPPPPPP/RRK4R w HBca - 0 1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O"),
    ] {
        let at = Position::from_any_fen(text.as_bytes()).unwrap();
        let castles: Vec<_> = at.chess().legal_moves().into_iter().filter(|mv| mv.is_castle()).collect();
        let known: Vec<_> = castles.iter().map(|mv| MoveFacts::new(*mv, 3)).collect();
        for name in ["a.epd", "a.fen"] {
            let (line, book) = rewritten(name, Variant::Chess, &[PositionRecord::from_moves(&at, &known)]);
            assert!(castles.is_empty() || line.contains(castling) || name == "a.fen", "{line}");
            let read: Vec<_> = book.moves_in(&at).into_iter().map(|known| known.mv).collect();
            assert_eq!(read.len(), castles.len(), "{line}");
            assert!(castles.iter().all(|mv| read.contains(mv)), "{line}");
        }
    }
}

fn patched(text: &str, edits: &[PositionEdits]) -> Result<String> {
    let book = TextBook::new(Path::new("a.epd"), text.as_bytes().to_vec().into(), Form::Epd, Variant::Chess);
    let mut edited = Vec::new();
    for (_, patch) in book.patches(edits, &Progress::none())? {
        patch.write(text.as_bytes(), &mut edited).unwrap();
    }
    Ok(String::from_utf8(edited).unwrap())
}

fn edits(at: &Position, edits: &[(&str, Option<u64>, bool)]) -> PositionEdits {
    let edit = |&(text, weight, known): &(&str, Option<u64>, bool)| {
        let change = match weight.map(EditValue::Weight) {
            None => Change::Delete,
            Some(value) if known => Change::Set(value),
            Some(value) => Change::Add(value),
        };
        Edit { mv: mv(at, text), name: text.to_owned(), change }
    };
    PositionEdits { at: at.clone(), edits: edits.iter().map(edit).collect() }
}

#[test]
fn an_edit_changes_its_line_and_no_other() {
    let start = Position::start();
    let second = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1; c5 3, e5";
    let text = format!("# mine\r\n{START} id \"x\"; bm e4 d4;\r\nnonsense\r\n{second}");
    let set = edits(&start, &[("e2e4", Some(5), true), ("c2c4", Some(2), false), ("d2d4", None, true)]);
    let line = "bm e4 c4; c0 \"e4=5, c4=2\"; id \"x\";";
    assert_eq!(patched(&text, &[set]).unwrap(), format!("# mine\r\n{START} {line}\r\nnonsense\r\n{second}"));
    let at = after("e2e4");
    let set = edits(&at, &[("e7e5", Some(9), true)]);
    assert_eq!(patched(&text, &[set]).unwrap(), text.replace("c5 3, e5", "c5 3, e5 9"));
    // A new position comes last, and the last line gets its end.
    let new = patched(&text, &[edits(&after("d2d4"), &[("d7d5", Some(1), false)])]).unwrap();
    let d4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - bm d5;";
    assert_eq!(new, format!("{text}\r\n{d4}\r\n"));
    // A line whose last move goes, goes.
    let gone = patched(&text, &[edits(&start, &[("e2e4", None, true), ("d2d4", None, true)])]).unwrap();
    assert_eq!(gone, format!("# mine\r\nnonsense\r\n{second}"));
    let all = [
        edits(&start, &[("e2e4", None, true), ("d2d4", None, true)]),
        edits(&at, &[("e7e5", None, true), ("c7c5", None, true)]),
    ];
    assert!(patched(&text, &all).unwrap_err().to_string().contains("no moves left"));
    // Of a position on several lines the first gets everything.
    let twice = format!("{START} bm e4;\n{second}\n{START}; e4 2, d4\n");
    let set = patched(&twice, &[edits(&start, &[("d2d4", Some(4), true)])]).unwrap();
    assert_eq!(set, format!("{START} bm e4 d4; c0 \"e4=3, d4=4\";\n{second}\n"));
    let known = patched(&text, &[edits(&start, &[("e2e4", Some(1), false)])]).unwrap_err();
    assert!(known.to_string().contains("already has"), "{known}");
}

#[test]
fn positions_of_variants_are_written_and_read() {
    for (variant, line) in [
        (Variant::Crazyhouse, "rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR[Pp] w KQkq - 2 4"),
        (Variant::Crazyhouse, "rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR[] w KQkq - 2 4"),
        (Variant::ThreeCheck, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 2+3 0 1"),
        (Variant::Horde, "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1"),
        (Variant::Antichess, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"),
        (Variant::Atomic, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        (Variant::RacingKings, "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1"),
    ] {
        let at = Position::from_any_fen_of(variant, line.as_bytes()).unwrap();
        let legal: Vec<_> = at.chess().legal_moves().into_iter().map(|mv| MoveFacts::new(mv, 2)).collect();
        for name in ["a.epd", "a.fen"] {
            let (text, book) = rewritten(name, variant, &[PositionRecord::from_moves(&at, &legal)]);
            assert_eq!(book.moves_in(&at).len(), legal.len(), "{text}");
            assert_eq!(every(&*book, Scope::All)[0].key, at.key());
        }
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes_nothing_panics(
        parts in prop::collection::vec(prop_oneof![
            Just(START.as_bytes().to_vec()),
            Just(b" bm e4 d4;".to_vec()),
            Just(b"; e4 60, d4=40".to_vec()),
            Just(b" c0 \"e4=3".to_vec()),
            Just(b"\n".to_vec()),
            Just("\u{feff}\u{a0}\u{301}".as_bytes().to_vec()),
            Just(b"8/8/8/8/8/8/8/KkQ5[] w - - 3+3 99999999999".to_vec()),
            prop::collection::vec(any::<u8>(), 0..12),
        ], 0..12),
    ) {
        let text = parts.concat();
        found(&text);
        for variant in [Variant::Chess, Variant::Crazyhouse] {
            let book = TextBook::new(Path::new("a.epd"), text.clone().into(), Form::Fen, variant);
            let start = Position::start_of(variant);
            let moves = weights(&book, &start);
            prop_assert_eq!(every(&book, Scope::Reachable).is_empty(), moves.is_empty());
            if let Some((known, _)) = moves.first() {
                let set = [edits(&start, &[(known, Some(7), true)])];
                let mut edited = Vec::new();
                for (_, patch) in book.patches(&set, &Progress::none()).unwrap() {
                    patch.write(&text, &mut edited).unwrap();
                }
                let again = TextBook::new(Path::new("a.epd"), edited.into(), Form::Fen, variant);
                prop_assert!(weights(&again, &start).contains(&(known.clone(), 7)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(32, 256)))]

    #[test]
    fn positions_are_read_as_they_are_written(plies in prop::collection::vec(any::<prop::sample::Index>(), 0..60)) {
        let mut at = Position::start();
        for ply in plies {
            let legal = at.chess().legal_moves();
            if legal.is_empty() {
                break;
            }
            let known: Vec<_> = legal.iter().zip((0..legal.len() as u64).rev()).map(|(mv, weight)| MoveFacts::new(*mv, weight)).collect();
            for (name, form) in [("a.epd", Form::Epd), ("a.fen", Form::Fen)] {
                let moves: Vec<_> = known.iter().map(|known| (known.mv, known.weight)).collect();
                let text = line::written(form, &fields(form, &at), &at, &moves, []);
                let book = open_bytes(name, text.into_bytes()).unwrap();
                let all = every(&*book, Scope::All);
                let expected = PositionRecord::from_moves(&at, &known);
                prop_assert_eq!(all.len(), 1);
                prop_assert_eq!((all[0].key, &all[0].moves), (expected.key, &expected.moves));
            }
            at.play(legal[ply.index(legal.len())]);
        }
    }
}
