//! Damage of every kind is reported with game and place, and the other games are read.

use std::fs;

use super::super::database::Cbh;
use super::super::info::summary;
use super::super::layout::{CBJ_HEADER, CBJ_MOVES, CBJ_SIZE};
use super::super::mode::Mode;
use super::super::reader::{CbhReader, Counter};
use super::fixtures::{TestDatabase, entities};
use super::{ALL, ExportOptions, exported, found, lines};
use crate::Reason;

/// Three games, of which the second is to be broken.
fn three() -> TestDatabase {
    let mut database = TestDatabase::default();
    for _ in 0..3 {
        database.play("e4 e5 Nf3", &[]);
    }
    database
}

/// Looks at a database whose second game is broken.
fn second(database: &TestDatabase, line: &str, what: &str) {
    let db = database.open().unwrap();
    let exported = exported(&db, &ALL);
    assert_eq!(lines(&exported.text), ["1. e4 e5 2. Nf3 1-0", line, "1. e4 e5 2. Nf3 1-0"], "{what}");
    assert_eq!(exported.errors.len(), 1);
    assert!(exported.errors[0].starts_with("test.cbg: game 2: "), "{:?}", exported.errors);
    assert!(exported.errors[0].contains(what), "{:?}", exported.errors);
    let found = found(&db);
    assert!(
        found
            .iter()
            .any(|line| line.contains("game 2: ") && line.contains("of test.cbg)") && line.contains(what)),
        "{found:?}"
    );
}

#[test]
fn moves_before_the_damage_are_kept() {
    let mut database = three();
    let at = 26 + 8 + 4 + 2;
    database.file("cbg")[at] = Mode::from_number(0).unwrap().hidden(0x27, 2);
    second(&database, "1. e4 e5 1-0", "the piece cannot go there after 2 stored moves");
    database.file("cbg")[at] = Mode::from_number(0).unwrap().hidden(0xab, 2);
    second(&database, "1. e4 e5 1-0", "the piece that moves is not there");
    database.file("cbg")[at] = Mode::from_number(0).unwrap().hidden(9, 2);
    second(&database, "1. e4 e5 1-0", "castling is barred");
}

#[test]
fn impossible_offsets_and_sizes_are_reported() {
    for (offset, what) in [
        (0_u32, "outside the file of moves"),
        (9, "outside the file of moves"),
        (50, "outside the file of moves"),
        (u32::MAX, "outside the file of moves"),
        (48, "cut off by the end"),
    ] {
        let mut database = three();
        database.file("cbh")[2 * 46 + 1..2 * 46 + 5].copy_from_slice(&offset.to_be_bytes());
        assert_eq!(database.file("cbg").len(), 50);
        second(&database, "1-0", what);
    }
    let mut database = three();
    database.file("cbg")[34..38].copy_from_slice(&[0, 0, 0, 3]);
    second(&database, "1-0", "its size is too small");
    for (mode, what) in
        [(8, "mode 8"), (19, "mode 19"), (63, "an illegal position"), (10, "Chess960 position")]
    {
        database.file("cbg")[34..38].copy_from_slice(&[mode, 0, 0, 8]);
        second(&database, "1-0", what);
    }
    database.file("cbg")[34..38].copy_from_slice(&[0x40, 0, 0, 8]);
    second(&database, "1-0", "the starting position is cut off");
}

#[test]
fn a_game_of_16_megabytes_takes_what_the_file_has() {
    let mut database = three();
    // The last game, so that what it runs into is the end of the file.
    database.file("cbg")[42..46].copy_from_slice(&[0, 0xff, 0xff, 0xff]);
    database.file("cbg").truncate(49);
    let db = database.open().unwrap();
    let exported = exported(&db, &ALL);
    assert_eq!(lines(&exported.text)[2], "1. e4 e5 2. Nf3 1-0");
    assert!(exported.errors[0].contains("game 3: its moves are cut off"), "{:?}", exported.errors);
}

#[test]
fn squares_of_64_and_more_do_no_harm_to_chess960() {
    let mut database = TestDatabase::default();
    database.play_from("1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w KQkq - 0 1", 10, "a4 O-O >");
    assert!(exported(&database.open().unwrap(), &ALL).errors.is_empty());
    assert_eq!(database.file("cbg")[26 + 4 + 28], 255);
}

#[test]
fn missing_names_are_reported_and_written_as_unknown() {
    let mut database = three();
    *database.record(2, 9) = 0xff;
    *database.record(2, 15) = 1;
    let db = database.open().unwrap();
    let found = found(&db);
    assert!(found.iter().any(|line| line.starts_with("error: game 2: its player of White has the number")
        && line.contains("(byte 101 of test.cbh)")));
    assert!(found.iter().any(|line| line.contains("its tournament has the number 65536")));
    let text = exported(&db, &ALL).text;
    assert_eq!(text.matches("[White \"?\"]").count(), 1);
    assert_eq!(text.matches("[White \"Fischer, Robert James\"]").count(), 2);
}

#[test]
fn names_without_an_end_fill_their_fields() {
    let mut database = three();
    *database.file("cbp") = entities(58, &[&[b'x'; 58], b"Spassky"]);
    let text = exported(&database.open().unwrap(), &ALL).text;
    let name = format!("[White \"{}, {}\"]", "x".repeat(30), "x".repeat(20));
    assert_eq!(text.matches(&name).count(), 3);
}

#[test]
fn annotations_outside_their_file_are_reported() {
    for offset in [5_000_u32, u32::MAX, 20] {
        let mut database = three();
        database.file("cbh")[2 * 46 + 5..2 * 46 + 9].copy_from_slice(&offset.to_be_bytes());
        let db = database.open().unwrap();
        let exported = exported(&db, &ALL);
        assert_eq!(lines(&exported.text), ["1. e4 e5 2. Nf3 1-0"; 3]);
        assert_eq!(exported.totals.notes_damaged, 1);
        let found = found(&db);
        assert!(found[0].starts_with("error: game 2: ") && found[0].ends_with(" of test.cba)"), "{found:?}");
    }
}

#[test]
fn deleted_games_texts_and_others_are_counted() {
    let mut database = three();
    *database.record(1, 0) = 0x81;
    *database.record(2, 0) = 3;
    *database.record(3, 0) = 0;
    database.files.insert("cbm", vec![0; 32 + 700]);
    let db = database.open().unwrap();
    let totals = exported(&db, &ALL).totals;
    assert_eq!((totals.games, totals.deleted, totals.texts, totals.unknown), (0, 1, 1, 1));
    let totals = exported(&db, &ExportOptions { deleted: true, ..ALL }).totals;
    assert_eq!((totals.games, totals.deleted), (1, 0));
    let summary = summary(&db, &|_| Ok(())).unwrap();
    assert_eq!((summary.games, summary.deleted, summary.texts, summary.records), (0, 1, 1, 3));
    assert_eq!(summary.media, 700);
}

#[test]
fn headers_with_other_counts_are_reported() {
    for (count, games, says) in [(3_u32, 2, "holds 3"), (9, 3, "holds 3"), (0, 3, "holds 3")] {
        let mut database = three();
        database.file("cbh")[6..10].copy_from_slice(&count.to_be_bytes());
        let db = database.open().unwrap();
        assert_eq!(db.count(), games);
        assert!(db.findings()[0].contains(says), "{:?}", db.findings());
    }
    let mut database = three();
    database.file("cbh").truncate(46 * 4 - 5);
    let db = database.open().unwrap();
    assert_eq!((db.count(), db.findings().len()), (2, 2));
}

#[test]
fn missing_parts_are_reported() {
    for part in ["cba", "cbp", "cbt", "cbc", "cbs"] {
        let mut database = three();
        database.files.remove(part);
        let db = database.open().unwrap();
        assert!(db.findings()[0].contains(&format!("there is no .{part} file")), "{:?}", db.findings());
        assert_eq!(lines(&exported(&db, &ALL).text).len(), 3);
    }
    for part in ["cbh", "cbg"] {
        let mut database = three();
        database.files.remove(part);
        let error = database.open().unwrap_err().to_string();
        assert!(error.contains("this part of the database is missing"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cbh");
    fs::write(&path, &three().files["cbh"]).unwrap();
    let error = Cbh::open(&path).unwrap_err().to_string();
    assert!(error.contains("the moves of the database") && error.contains("one folder"), "{error}");
    fs::write(&path, b"1. e4").unwrap();
    fs::write(folder.path().join("a.cbg"), b"").unwrap();
    assert!(Cbh::open(&path).unwrap_err().to_string().contains("this is not a ChessBase database"));
}

#[test]
fn records_may_overlap_and_come_in_any_order() {
    let mut database = three();
    let record = |database: &mut TestDatabase, game: usize, offset: u32| {
        database.file("cbh")[game * 46 + 1..game * 46 + 5].copy_from_slice(&offset.to_be_bytes());
    };
    record(&mut database, 1, 42);
    record(&mut database, 2, 26);
    record(&mut database, 3, 26);
    let db = database.open().unwrap();
    assert_eq!(lines(&exported(&db, &ALL).text), ["1. e4 e5 2. Nf3 1-0"; 3]);
    assert_eq!(found(&db), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn files_beyond_4_gib_are_read_by_their_wide_offsets() {
    const FAR: u64 = (1 << 32) + 1000;
    let mut database = three();
    let folder = tempfile::tempdir().unwrap();
    let game =
        super::fixtures::moves(&shakmaty::Chess::default(), Mode::from_number(0).unwrap(), "d4 d5 >", false);
    let mut second = vec![0; 32 + 120 * 3];
    second[4..8].copy_from_slice(&120_u32.to_le_bytes());
    for (game, offset) in [(0, 26_u64), (1, FAR), (2, 42)] {
        let at = 32 + 120 * game;
        second[at..at + 12].fill(0xff);
        second[at + 0x1e..at + 0x26].copy_from_slice(&offset.to_be_bytes());
    }
    database.files.insert("cbj", second);
    for (part, bytes) in &database.files {
        fs::write(folder.path().join(format!("far.{part}")), bytes).unwrap();
    }
    // A hole takes no room on the disk.
    use std::io::{Seek, SeekFrom, Write};
    let mut file = fs::File::options().write(true).open(folder.path().join("far.cbg")).unwrap();
    file.seek(SeekFrom::Start(FAR)).unwrap();
    file.write_all(&(game.len() as u32 + 4).to_be_bytes()).unwrap();
    file.write_all(&game).unwrap();
    let db = Cbh::open(folder.path().join("far.cbh")).unwrap();
    assert_eq!(
        lines(&exported(&db, &ALL).text),
        ["1. e4 e5 2. Nf3 1-0", "1. d4 d5 1-0", "1. e4 e5 2. Nf3 1-0"]
    );
}

#[test]
fn teams_and_titles_come_from_the_second_records() {
    let mut database = three();
    let mut second = vec![0; 32 + 120 * 3];
    second[4..8].copy_from_slice(&120_u32.to_le_bytes());
    for game in 0..3 {
        second[32 + 120 * game..32 + 120 * game + 12].fill(0xff);
    }
    second[32 + 120..32 + 132].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    database.files.insert("cbj", second);
    let mut team = b"Argentina".to_vec();
    team.resize(55, 0);
    (team[45], team[54]) = (2, 7);
    database.files.insert("cbe", entities(63, &[&team, b"Rest"]));
    let mut title = vec![0; 200];
    title.extend(b"Der Titel");
    database.files.insert("cbl", entities(1608, &[&title]));
    let text = exported(&database.open().unwrap(), &ALL).text;
    for tag in [
        "[WhiteTeam \"Argentina II\"]\n[WhiteTeamCountry \"ARG\"]\n",
        "[BlackTeam \"Rest\"]\n",
        "[GameTitle \"Der Titel\"]",
    ] {
        assert_eq!(text.matches(tag).count(), 1, "{text}");
    }
}

#[test]
fn a_game_whose_moves_cannot_be_read_again_is_not_a_game_without_moves() {
    let mut database = TestDatabase::default();
    database.play("e4 e5 Nf3", &[]);
    // Far from the first game, so that reading it forgets the other.
    database.game(0, &vec![0x55; 1 << 19], &[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.cbh");
    database.write(&path);
    let db = Cbh::open(&path).unwrap();
    let mut reader = CbhReader::new(&db);
    let [first, second] = [1, 2].map(|number| reader.record(number).unwrap());
    let game = reader.find(&first).unwrap();
    for cut in [30, 0] {
        reader.find(&second).unwrap();
        let file = std::fs::File::options().write(true).open(path.with_extension("cbg")).unwrap();
        file.set_len(cut).unwrap();
        let ended = reader.decode(&game, &mut Counter::default());
        let error = reader.error(&game, ended).expect("the moves are gone");
        assert_eq!(error.reason, Reason::Damaged);
        assert!(error.why.contains("cannot be read"), "{}", error.why);
        database.write(&path);
    }
}

#[test]
fn a_game_beyond_4_gib_is_not_looked_for_where_the_short_offset_leads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.cbh");
    three().write(&path);
    // Zeros that take no room on the disk; and a .cbj file with room for offsets that ends before the first one.
    let file = fs::File::options().write(true).open(path.with_extension("cbg")).unwrap();
    file.set_len(5 << 30).unwrap();
    let mut second = vec![0; CBJ_HEADER as usize];
    second[CBJ_SIZE as usize..][..4].copy_from_slice(&(CBJ_MOVES as u32 + 8).to_le_bytes());
    fs::write(path.with_extension("cbj"), second).unwrap();
    let db = Cbh::open(&path).unwrap();
    let mut reader = CbhReader::new(&db);
    let record = reader.record(1).unwrap();
    let error = reader.find(&record).unwrap_err();
    assert_eq!((error.reason, error.games()), (Reason::Damaged, 1));
    assert!(error.why.contains("the .cbj file does not say where its moves are"), "{}", error.why);
}
