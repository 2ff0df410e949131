//! Every type of annotation (docs/formats/cbh.md, Annotations).

use super::fixtures::{TestDatabase, note};
use super::{ALL, exported, found, lines};

/// The moves of a game with these annotations, `1. e4 e5 2. Nf3` with `1... c5` beside `e5`.
fn written(items: &[Vec<u8>]) -> String {
    let mut database = TestDatabase::default();
    database.play("e4 < e5 Nf3 > c5", items);
    let found = exported(&database.open().unwrap(), &ALL);
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    lines(&found.text).pop().unwrap()
}

#[test]
fn each_type_is_written() {
    for (item, text) in [
        (note(0, 0x02, b"\0\0after"), "1. e4 {after} 1... e5 (1... c5) 2. Nf3 1-0"),
        (note(0, 0x82, b"\0\0before"), "{before} 1. e4 e5 (1... c5) 2. Nf3 1-0"),
        (note(-1, 0x02, b"\0\x2athe game"), "{the game} 1. e4 e5 (1... c5) 2. Nf3 1-0"),
        (note(3, 0x82, b"\0\0or"), "1. e4 e5 ({or} 1... c5) 2. Nf3 1-0"),
        (note(2, 0x02, b"\0\0H\xfcbner's \xa4f3 \x9e"), "1. e4 e5 (1... c5) 2. Nf3 {Hübner's ♘f3 [#]} 1-0"),
        (note(2, 0x02, "\0\0Šarić {1} }".as_bytes()), "1. e4 e5 (1... c5) 2. Nf3 {Šarić (1) )} 1-0"),
        (note(0, 0x03, &[1]), "1. e4 $1 e5 (1... c5) 2. Nf3 1-0"),
        (note(0, 0x03, &[0, 0x10, 0x8e]), "1. e4 $16 $142 e5 (1... c5) 2. Nf3 1-0"),
        (note(0, 0x04, &[2, 1, 3, 2, 4, 64, 7, 9]), "{[%csl Ga1,Ya2,Rh8,Bb1]}"),
        (note(0, 0x05, &[2, 33, 35, 4, 1, 64]), "{[%cal Ge1e3,Ra1h8]}"),
        (note(0, 0x07, &[1, 2, 3, 0x1e]), "{[%emt 1:02:03]}"),
        (note(0, 0x16, &[0, 0, 5, 0xdc]), "{[%clk 0:00:15]}"),
        (note(1, 0x17, &0x0006_ddd0_u32.to_be_bytes()), "{[%clk 1:15:00]}"),
        (note(0, 0x18, &[1]), "{[%crit opening]}"),
        (note(0, 0x18, &[2]), "{[%crit middlegame]}"),
        (note(0, 0x18, &[3]), "{[%crit endgame]}"),
        (note(0, 0x22, &[0, 0, 0x10, 8]), "{[%mdl 4104]}"),
        (note(0, 0x09, &[1, 0, 1, 0xff]), "{[%train 010001ff]}"),
    ] {
        let line = written(std::slice::from_ref(&item));
        assert!(line.contains(text), "{line}\n{text}");
    }
}

#[test]
fn annotations_of_the_game_become_tags() {
    let mut database = TestDatabase::default();
    let stage = |start: u32, increment: u32, moves: u16, kind: u8| {
        [&(start * 100).to_be_bytes()[..], &(increment * 100).to_be_bytes(), &moves.to_be_bytes(), &[kind]]
            .concat()
    };
    let control = [stage(5400, 30, 40, 1), stage(1800, 30, 1000, 3), stage(0, 0, 1000, 5)].concat();
    database.play(
        "e4",
        &[note(-1, 0x16, &[0, 0, 5, 0xdc]), note(-1, 0x17, &[0, 0, 3, 0x84]), note(-1, 0x24, &control)],
    );
    let text = exported(&database.open().unwrap(), &ALL).text;
    for tag in
        ["[WhiteClock \"0:00:15\"]", "[BlackClock \"0:00:09\"]", "[TimeControl \"40/5400+30:1800+30\"]"]
    {
        assert!(text.contains(tag), "{text}");
    }
}

#[test]
fn annotations_that_pgn_cannot_express_are_counted() {
    for kind in [0x10, 0x11, 0x13, 0x14, 0x15, 0x19, 0x20, 0x23, 0x61, 0x1c, 0x21, 0x25, 0x26, 0x77] {
        let mut database = TestDatabase::default();
        let text = note(0, 2, b"\0\0kept");
        database.play("e4", &[note(0, kind, &[1, 2, 3]), note(0, kind, &[]), text]);
        let db = database.open().unwrap();
        let exported = exported(&db, &ALL);
        assert_eq!(lines(&exported.text), ["1. e4 {kept} 1-0"]);
        // The first nine are known.
        let name = super::super::notes::name(kind);
        let known = name.is_some();
        let left_out = exported.totals.left_out.get(&(kind, name.unwrap_or("unknown")));
        assert_eq!(left_out, Some(&2), "{kind:#x}");
        assert_eq!(known, ![0x1c, 0x21, 0x25, 0x26, 0x77].contains(&kind));
        assert_eq!(found(&db).len(), usize::from(!known), "{kind:#x}");
    }
}

#[test]
fn commands_come_before_texts_and_texts_follow_each_other() {
    let line = written(&[
        note(0, 0x02, b"\0\x2aone"),
        note(0, 0x02, b"\0\x35zwei"),
        note(0, 0x05, &[2, 1, 2]),
        note(0, 0x04, &[4, 1]),
    ]);
    assert!(line.starts_with("1. e4 {[%cal Ga1a2] [%csl Ra1] one zwei} 1... e5"), "{line}");
}

#[test]
fn damaged_annotations_are_reported_and_the_others_are_read() {
    for (item, what) in [
        (note(0, 0x02, b"\0"), "a text is cut off"),
        (note(0, 0x04, &[2, 65]), "off the board"),
        (note(0, 0x04, &[2, 0]), "off the board"),
        (note(0, 0x05, &[2, 1]), "cut off"),
        (note(0, 0x04, &[9, 1]), "an unknown color"),
        (note(0, 0x07, &[1]), "a time is cut off"),
        (note(0, 0x16, &[1, 2]), "a clock is cut off"),
        (note(0, 0x18, &[4]), "has an unknown kind"),
        (note(0, 0x22, &[4]), "the medals are cut off"),
        (note(9, 0x02, b"\0\0far"), "a move that the game does not have"),
    ] {
        let mut database = TestDatabase::default();
        database.play("e4", &[item, note(0, 2, b"\0\0kept")]);
        let db = database.open().unwrap();
        let exported = exported(&db, &ALL);
        assert_eq!(lines(&exported.text), ["1. e4 {kept} 1-0"], "{what}");
        assert_eq!(exported.totals.notes_damaged, 1, "{what}");
        let found = found(&db);
        assert!(
            found.len() == 1 && found[0].starts_with("error: game 1: ") && found[0].contains(what),
            "{found:?}"
        );
    }
}

#[test]
fn a_wrong_game_id_does_not_void_them_and_a_cut_item_ends_them() {
    let mut database = TestDatabase::default();
    database.play("e4", &[note(0, 2, b"\0\0kept")]);
    database.file("cba")[26..29].copy_from_slice(&[0, 0, 99]);
    let db = database.open().unwrap();
    assert_eq!(lines(&exported(&db, &ALL).text), ["1. e4 {kept} 1-0"]);
    assert!(found(&db)[0].contains("say that they are for game 99"));
    let mut database = TestDatabase::default();
    database.play("e4", &[note(0, 2, b"\0\0kept"), note(0, 2, b"\0\0lost")]);
    let len = database.file("cba").len();
    // The last item says that it is longer than the annotations are.
    database.file("cba")[len - 8] = 0xff;
    let db = database.open().unwrap();
    assert_eq!(lines(&exported(&db, &ALL).text), ["1. e4 {kept} 1-0"]);
    assert!(found(&db)[0].contains("an annotation is cut off"));
}

#[test]
fn they_can_be_left_out_and_the_evaluation_of_a_line_follows_it() {
    let mut database = TestDatabase::default();
    let game = database.play("e4 < e5 > c5", &[note(0, 2, b"\0\0text"), note(1, 3, &[1])]);
    *database.record(game, 27) = 3;
    *database.record(game, 28) = 16;
    let db = database.open().unwrap();
    assert_eq!(lines(&exported(&db, &ALL).text), ["1. e4 {text} 1... e5 $1 $16 (1... c5) *"]);
    let bare = super::ExportOptions { bare: true, ..ALL };
    assert_eq!(lines(&exported(&db, &bare).text), ["1. e4 e5 (1... c5) *"]);
    let main = super::ExportOptions { main_line: true, ..ALL };
    assert_eq!(lines(&exported(&db, &main).text), ["1. e4 {text} 1... e5 $1 $16 *"]);
}
