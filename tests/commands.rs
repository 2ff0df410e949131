//! `show`, `info` and `check` as their users meet them: the real executable, its output and its exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use shakmaty::Square;
use tabiya_book::ctg::Signature;
use tabiya_book::ctg::layout::{CTB_START, CTG_START, CTO_START, PAGE_LEN};
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::Game;
use tabiya_chess::MoveCode;
use tempfile::TempDir;

/// A folder with books in it.
struct Folder(TempDir);

/// What a command left behind.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// A book of lines, each `moves weight` where the weight is that of the last move.
    fn book(&self, name: &str, lines: &[(&str, u16)]) {
        self.write(name, book(lines));
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabiya"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        let output = self.command(args).output().unwrap();
        Ended {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    #[track_caller]
    fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn raw(text: &str) -> MoveCode {
    let square = |at: usize| text[at..at + 2].parse::<Square>().unwrap();
    MoveCode::new(square(0), square(2), None)
}

fn entry(line: &str, weight: u16) -> PolyglotEntry {
    let mut words: Vec<_> = line.split_whitespace().collect();
    let last = words.pop().unwrap();
    let mut game = Game::start();
    words.iter().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
    PolyglotEntry { key: game.position().key(), mv: raw(last), weight, games: 0, halfpoints: 0 }
}

fn book(lines: &[(&str, u16)]) -> Vec<u8> {
    let mut entries: Vec<_> = lines.iter().map(|(line, weight)| entry(line, *weight)).collect();
    entries.sort_by_key(|entry| (entry.key, u16::MAX - entry.weight));
    entries.iter().flat_map(PolyglotEntry::to_bytes).collect()
}

const LINES: [(&str, u16); 5] =
    [("e2e4", 3), ("d2d4", 1), ("a2a3", 0), ("e2e4 e7e5", 8), ("e2e4 e7e5 g1f3", 2)];

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn show_prints_a_table_without_a_picture_where_nobody_looks() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    let expected = format!(
        "{START}\n\
a.bin (polyglot): 2 of 3 moves, line ends in 3 plies
 not played: 1 of weight 0
 move  uci   weight  chance  opening
 e4    e2e4       3   75.0%  King's Pawn Game
 d4    d2d4       1   25.0%  Queen's Pawn Game
 a3    a2a3       0       -  Anderssen's Opening

"
    );
    let ended = folder.run(&["show", "a.bin"]).with(0);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), (expected.as_str(), ""));
}

#[test]
fn show_keeps_its_table_within_the_columns_of_the_terminal() {
    let folder = Folder::new();
    folder.book("a.bin", &[("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6", 1)]);
    let moves = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3";
    for (columns, is_whole) in [("200", true), ("65", true), ("50", false), ("40", false)] {
        let mut command = folder.command(&["show", "a.bin", "--moves", moves]);
        let output = command.env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut table = text.lines().skip_while(|line| !line.starts_with(" move ")).peekable();
        assert!(table.peek().is_some(), "{text}");
        assert!(table.all(|line| line.chars().count() <= columns.parse().unwrap()), "{columns}: {text}");
        let row = text.lines().find(|line| line.starts_with(" a6 ")).unwrap();
        assert_eq!(row.ends_with("Sicilian Defense: Najdorf Variation"), is_whole, "{columns}: {text}");
    }
}

#[test]
fn show_json_prints_a_line_for_each_position_and_book() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    folder.book("b.bin", &[("e2e4 e7e5", 1)]);
    let after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    folder.write("fens", format!("# two\n{START}\n\n{after}\r\n"));
    let lines = folder.run(&["show", "--json", "a.bin", "b.bin", "--fen-file", "fens"]).with(0).json();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            (
                text("fen"),
                text("book"),
                text("format"),
                line["found"] == true,
                line["moves"].as_array().unwrap().len(),
            )
        })
        .collect();
    let expected = [
        (START, "a.bin", true, 3),
        (START, "b.bin", false, 0),
        (after, "a.bin", true, 1),
        (after, "b.bin", true, 1),
    ];
    let expected = expected.map(|(fen, book, found, moves)| {
        (fen.to_owned(), book.to_owned(), "polyglot".to_owned(), found, moves)
    });
    assert_eq!(seen, expected);
    let first = &lines[0]["moves"][0];
    assert_eq!((&first["uci"], &first["san"], &first["weight"]), (&"e2e4".into(), &"e4".into(), &3.into()));
    assert_eq!(
        (&first["chance"], &first["playable"], &first["games"]),
        (&0.75.into(), &true.into(), &Value::Null)
    );
    assert_eq!(lines[0]["moves"][2]["playable"], false);
}

#[test]
fn show_of_a_position_that_no_book_knows_is_found_wanting() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    folder.book("b.bin", &[("d2d4 d7d5", 1)]);
    let ended = folder.run(&["show", "a.bin", "b.bin", "--moves", "g1f3"]).with(1);
    assert_eq!(ended.out.matches("does not know this position").count(), 2);
    folder.run(&["show", "a.bin", "b.bin", "--moves", "d2d4"]).with(0);
}

#[test]
fn show_writes_castling_by_the_rules_of_the_position() {
    let folder = Folder::new();
    let castling = |fen: &str, mode, mv: &str| {
        let position = tabiya_chess::Position::from_fen(fen.as_bytes(), mode).unwrap();
        let entry = PolyglotEntry { key: position.key(), mv: raw(mv), weight: 1, games: 0, halfpoints: 0 };
        folder.write("a.bin", entry.to_bytes());
        let ended = folder.run(&["show", "a.bin", "--json", "--fen", fen]).with(0);
        let mv = &ended.json()[0]["moves"][0];
        (mv["uci"].as_str().unwrap().to_owned(), mv["san"].as_str().unwrap().to_owned())
    };
    let ordinary = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let both = |uci: &str, san: &str| (uci.to_owned(), san.to_owned());
    for written in ["e1h1", "e1g1"] {
        assert_eq!(castling(ordinary, shakmaty::CastlingMode::Standard, written), both("e1g1", "O-O"));
    }
    let other = "1r2k1r1/pp4pp/8/8/8/8/PP4PP/1R2K1R1 w GBgb - 0 1";
    assert_eq!(castling(other, shakmaty::CastlingMode::Chess960, "e1g1"), both("e1g1", "O-O"));
    assert_eq!(castling(other, shakmaty::CastlingMode::Chess960, "e1b1"), both("e1b1", "O-O-O"));
}

#[test]
fn show_takes_the_policy() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    let playable = |args: &[&str]| {
        let args = [&["show", "a.bin", "--json"], args].concat();
        let line = folder.run(&args).with(0).json().remove(0);
        let moves = line["moves"].as_array().unwrap().clone();
        let playable = moves.iter().filter(|mv| mv["playable"] == true);
        playable.map(|mv| mv["uci"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(playable(&[]), ["e2e4", "d2d4"]);
    assert_eq!(playable(&["--set", "Book Variety=0"]), ["e2e4"]);
    assert_eq!(playable(&["--set", "Book Threshold=300"]), ["e2e4"]);
    assert_eq!(playable(&["--set", "Book Reserve=2"]), ["e2e4"]);
    assert_eq!(playable(&["--set", "Book Reserve=4"]), [""; 0]);
    assert_eq!(playable(&["--set", "Book Depth=1", "--moves", "e2e4 e7e5"]), [""; 0]);
    assert_eq!(playable(&["--set", "Book Depth=2", "--moves", "e2e4 e7e5"]), ["g1f3"]);
}

#[test]
fn what_cannot_be_asked_is_a_usage_error_that_names_it() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    folder.write("fens", format!("{START}\nnonsense\n"));
    for (args, named) in [
        (&["--fen", "nonsense"][..], "\"nonsense\""),
        (&["--fen", ""], "\"\""),
        (&["--fen", "8/8/8/8/8/8/8/8 w - - 0 1"], "\"8/8/8/8/8/8/8/8 w - - 0 1\""),
        (&["--moves", "e2e4 e2e4"], "\"e2e4\", number 2,"),
        (&["--moves", "e2e5"], "\"e2e5\", number 1,"),
        (&["--fen-file", "fens"], "fens: line 2: \"nonsense\""),
        (&["--fen", START, "--moves", "e2e4"], "cannot be used with"),
        (&["--set", "Book Variety=101"], "from 0 to 100"),
        (&["--set", "Hash=1"], "Hash does not decide"),
        (&["--color"], "--color"),
    ] {
        let ended = folder.run(&[&["show", "a.bin"], args].concat()).with(2);
        assert!(ended.err.contains(named), "{named}: {ended:?}");
        // What comes before a bad line of a file has been answered.
        assert!(ended.out.is_empty() || args[0] == "--fen-file", "{named}: {ended:?}");
    }
    for command in ["show", "info", "check"] {
        folder.run(&[command]).with(2);
    }
    folder.run(&["show", "a.bin", "--fen-file", "none"]).with(3);
}

#[test]
fn a_book_that_cannot_be_read_is_reported_and_the_others_are_done() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    fs::create_dir(folder.path("folder.bin")).unwrap();
    folder.write("empty.bin", b"");
    folder.write("short.bin", b"\0\0");
    folder.write("games.bin", b"[Event \"?\"]\n\n1. e4 *\n");
    // Sorted records of 24 bytes, as an engine's own format has them.
    let records = |key: u64| [(key << 50).to_be_bytes(), [3, 0x1c, 0, 1, 0, 0, 0, 0], [7; 8]].concat();
    let other: Vec<u8> = (0..100).flat_map(records).collect();
    folder.write("odd.bin", &other[9..]);
    folder.write("other.bin", &other);
    folder.write("other.ctg", [0; 64]);
    folder.write("other.kob", [0; 64]);
    for (bad, says) in [
        ("none.bin", "cannot open the file: "),
        ("folder.bin", "this is a folder: name a file in it"),
        (
            "empty.bin",
            "the file is empty: name a Polyglot (.bin), ChessBase (.ctg), Arena (.abk), Kvetka (.kob) or Chessmaster (.obk) book",
        ),
        ("short.bin", "the file is too short for a book: it has 2 bytes"),
        ("games.bin", "this is text, not a book"),
        (
            "other.bin",
            "this is no Polyglot book, though its name may say so: its keys are out of order from the first page on: ",
        ),
        (
            "odd.bin",
            "this is no Polyglot book, though its name may say so: its keys are out of order from the first page on, and its length of 2391 bytes is no multiple of 16: ",
        ),
        ("other.ctg", "this is not the page file of a CTG book (byte 0): put the .ctg, .cto and .ctb"),
        ("other.kob", "this kind of Kvetka book, 0, is not supported: only kind 1 is described (byte 0)"),
    ] {
        for command in ["show", "info", "check"] {
            let ended = folder.run(&[command, bad, "a.bin"]).with(3);
            let expected = format!("tabiya: {bad}: {says}");
            assert!(ended.err.starts_with(&expected) && ended.err.lines().count() == 1, "{}", ended.err);
            assert!(ended.out.contains("a.bin"), "{command} {bad}: {}", ended.out);
        }
    }
    for command in [
        &["learn", "show"][..],
        &["learn", "undo", "--all"],
        &["tree"],
        &["export"],
        &["edit", "--delete", "e4"],
    ] {
        let ended = folder.run(&[command, &["other.bin"]].concat()).with(3);
        assert!(ended.err.contains("no Polyglot book") && ended.out.is_empty(), "{command:?}: {}", ended.err);
    }
    assert_eq!(fs::read(folder.path("other.bin")).unwrap(), other);
}

/// A CTG book of one page: e2e4 marked !, which leads to a green position of three games, and d2d4.
fn ctg(folder: &Folder, names: [&str; 3]) {
    let entry = |line: &str, moves: &[u8], counts: [u8; 4], recommendation: u8| {
        let mut game = Game::start();
        line.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
        let mut entry = Signature::from_chess(game.position().standard().unwrap()).unwrap().bytes().to_vec();
        entry.push(moves.len() as u8 + 1);
        entry.extend(moves);
        counts.into_iter().for_each(|count| entry.extend([0, 0, count]));
        entry.extend([0; 18]);
        entry.extend([recommendation, 0, 0]);
        entry
    };
    // The fifth and the fourth pawn go two squares up.
    let start = entry("", &[0x5f, 1, 0xe6, 0], [9, 0, 0, 0], 0);
    let entries = [start, entry("e2e4", &[], [3, 1, 1, 1], 0x80)].concat();
    let mut pages = CTG_START.to_vec();
    pages.resize(PAGE_LEN as usize, 0);
    pages[19] = 1;
    pages.extend([0, 2]);
    pages.extend((4 + entries.len() as u16).to_be_bytes());
    pages.extend(entries);
    pages.resize(2 * PAGE_LEN as usize, 0);
    let [ctg, cto, ctb] = names;
    folder.write(ctg, pages);
    folder.write(cto, [&CTO_START[..], &[0, 0, 0, 1], &[0; 12]].concat());
    folder.write(ctb, [&CTB_START[..], &[0; 8]].concat());
}

#[test]
fn a_ctg_book_is_shown_summed_up_and_checked() {
    let folder = Folder::new();
    ctg(&folder, ["a.ctg", "a.cto", "a.ctb"]);
    let expected = format!(
        "{START}\n\
a.ctg (ctg): 1 of 2 moves, line ends in 1 ply
 not played: 1 of weight 0
 move  uci   weight  chance  games  wins  draws  losses  score  mark
 e4    e2e4       3  100.0%      3     1      1       1  50.0%  ! green
 d4    d2d4       0       -      -     -      -       -      -  -

"
    );
    assert_eq!(folder.run(&["show", "a.ctg"]).with(0).out, expected);
    let line = folder.run(&["show", "--json", "a.ctb"]).with(0).json().remove(0);
    assert_eq!((&line["format"], &line["book"]), (&"ctg".into(), &"a.ctb".into()));
    let (e4, d4) = (&line["moves"][0], &line["moves"][1]);
    assert_eq!((&e4["annotation"], &e4["recommended"], &e4["wins"]), (&"!".into(), &true.into(), &1.into()));
    assert_eq!(
        (&d4["games"], &d4["recommended"], &d4["playable"]),
        (&Value::Null, &Value::Null, &false.into())
    );
    let line = folder.run(&["info", "--json", "a.cto"]).with(0).json().remove(0);
    let files: Vec<_> = line["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(files, ["a.cto", "a.ctg", "a.ctb"]);
    assert_eq!((&line["entries"], &line["moves"], &line["reachable"]), (&2.into(), &2.into(), &2.into()));
    let checked = folder.run(&["check", "a.ctg"]).with(0).out;
    let expected = "a.ctg: warning: the move d2d4 leads to a position that the book does not have (byte 41";
    assert!(
        checked.starts_with(expected)
            && checked
                .ends_with("): they are played only where no move has a game\na.ctg: sound, 1 warning\n"),
        "{checked}"
    );
    fs::remove_file(folder.path("a.ctb")).unwrap();
    let ended = folder.run(&["check", "a.ctg"]).with(3);
    let expected = "tabiya: a.ctb: this part of the CTG book a.ctg is missing: put the .ctg, .cto and .ctb of one book \
                    into one folder, with the same name before the dot\n";
    assert_eq!(ended.err, expected);
}

#[test]
fn info_sums_a_book_up() {
    let folder = Folder::new();
    let mut data = book(&LINES);
    folder.write("a.bin", &data);
    let expected = "\
a.bin
  format           polyglot
  file             a.bin (80 bytes)
  entries          5
  positions        3
  moves            5
  deepest line     3 plies
  reached in play  3 of 3 positions
  learned entries  0
  warning          the move a2a3 has weight 0 and is never played (byte 48)
";
    assert_eq!(folder.run(&["info", "a.bin"]).with(0).out, expected);
    data.push(0);
    folder.write("b.bin", data);
    let learned = PolyglotEntry { games: 7, halfpoints: 9, ..entry("e2e4", 3) };
    folder.write("c.bin", [learned, entry("d2d4", 1)].map(|entry| entry.to_bytes()).concat());
    let moves = folder.run(&["show", "--json", "c.bin"]).with(0).json().remove(0)["moves"].take();
    assert_eq!((&moves[0]["learn"]["games"], &moves[0]["learn"]["halfpoints"]), (&7.into(), &9.into()));
    assert_eq!(moves[1]["learn"], Value::Null);
    let lines = folder.run(&["info", "--json", "b.bin", "c.bin"]).with(0).json();
    assert_eq!((lines.len(), &lines[1]["book"]), (2, &"c.bin".into()));
    let line = lines[0].as_object().unwrap();
    assert_eq!(lines[1]["learned"], 1);
    let expected = [
        ("entries", Value::from(5)),
        ("positions", 3.into()),
        ("moves", 5.into()),
        ("games", Value::Null),
        ("deepest", 3.into()),
        ("reachable", 3.into()),
        ("learned", 0.into()),
    ];
    for (key, value) in expected {
        assert_eq!(line[key], value, "{key}");
    }
    assert_eq!(line["files"][0]["bytes"], 81);
    assert_eq!(line["oddities"][0], "the last entry is cut off: it has 1 of 16 bytes (byte 80)");
}

#[test]
fn check_names_each_finding_with_its_offset() {
    let folder = Folder::new();
    folder.book("sound.bin", &LINES[..2]);
    folder.book("odd.bin", &LINES);
    folder.write("cut.bin", &book(&LINES)[..77]);
    let last = entry("e2e4", 1);
    folder.write("unsorted.bin", [last.to_bytes(), PolyglotEntry { key: 5, ..last }.to_bytes()].concat());
    folder.book("illegal.bin", &[("e2e4", 1), ("e2e5", 1)]);
    assert_eq!(folder.run(&["check", "sound.bin"]).with(0).out, "sound.bin: sound\n");
    assert_eq!(
        folder.run(&["check", "odd.bin"]).with(0).out,
        "odd.bin: warning: the move a2a3 has weight 0 and is never played (byte 48)\nodd.bin: sound, 1 warning\n"
    );
    let cut = folder.run(&["check", "cut.bin"]).with(1).out;
    assert!(
        cut.contains("cut.bin: error: the last entry is cut off: it has 13 of 16 bytes (byte 64)\n"),
        "{cut}"
    );
    for command in [&["show"][..], &["tree"], &["learn", "show"]] {
        let said = |name| folder.run(&[command, &[name]].concat()).with(0).err;
        let cut = "tabiya: cut.bin: the last entry is cut off: it has 13 of 16 bytes (byte 64)\n";
        assert_eq!((said("cut.bin"), said("sound.bin")), (cut.to_owned(), String::new()), "{command:?}");
        let broken = said("unsorted.bin");
        assert!(
            broken.starts_with("tabiya: unsorted.bin: its keys are out of order")
                && broken.ends_with("(byte 16)\n"),
            "{broken}"
        );
    }
    let unsorted = folder.run(&["check", "unsorted.bin"]).with(1).out;
    assert!(
        unsorted.starts_with("unsorted.bin: error: key 0000000000000005 follows the higher key "),
        "{unsorted}"
    );
    let illegal = folder.run(&["check", "illegal.bin"]).with(1).out;
    assert!(illegal.contains(&format!("the move e2e5 is not legal in {START} (byte 16)")), "{illegal}");
    let several = folder.run(&["check", "cut.bin", "none.bin", "sound.bin"]).with(3);
    assert!(several.out.ends_with("cut.bin: 1 error, 1 warning\nsound.bin: sound\n"), "{several:?}");
    folder.run(&["check", "cut.bin", "sound.bin"]).with(1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    // Far more lines than a pipe holds: e2e4 in as many positions.
    let entry = |key: u64| [key.to_be_bytes(), [3, 0x1c, 0, 1, 0, 0, 0, 0]].concat();
    folder.write("a.bin", (0..40_000).flat_map(entry).collect::<Vec<u8>>());
    folder.write("fens", format!("{START}\n").repeat(20_000));
    for args in [&["export", "a.bin"][..], &["show", "a.bin", "--fen-file", "fens"]] {
        let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut few = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut few).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
        assert_eq!(ended.status.code(), Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_sparse_book_of_four_gigabytes_is_opened() {
    let folder = Folder::new();
    let file = fs::File::create(folder.path("huge.bin")).unwrap();
    file.set_len(4 << 30).unwrap();
    folder.run(&["show", "huge.bin"]).with(1);
}

#[test]
fn a_path_is_shown_as_it_was_given() {
    let folder = Folder::new();
    fs::create_dir(folder.path("b ü")).unwrap();
    folder.book("b ü/a b.bin", &LINES);
    let given = Path::new("b ü").join("a b.bin");
    let given = given.to_str().unwrap();
    let ended = folder.run(&["show", "--json", given]).with(0);
    assert_eq!(ended.json()[0]["book"], given);
}

#[test]
fn moves_are_given_as_people_write_them() {
    let folder = Folder::new();
    folder.book("a.bin", &LINES);
    for moves in ["e2e4 e7e5", "1. e4 e5", "1.e4, 1...e5", "e4,e5", "1. e4! e7e5 *"] {
        let line = folder.run(&["show", "a.bin", "--json", "--moves", moves]).with(0).json().remove(0);
        assert_eq!(line["moves"][0]["san"], "Nf3", "{moves}");
        folder.run(&["tree", "a.bin", "--moves", moves]).with(0);
    }
    for (moves, says) in [
        ("1. e4 e5 2. Ke3", "\"Ke3\", number 3, is not a legal move in rnbqkbnr/"),
        ("d4 d5 Nf3 Nf6 Nd2", "\"Nd2\", number 5, is ambiguous: it can be Nbd2 or Nfd2 in "),
        ("e4 hello", "\"hello\", number 2, is not a legal move in "),
    ] {
        let ended = folder.run(&["show", "a.bin", "--moves", moves]).with(2);
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}

#[test]
fn a_database_is_no_book_and_says_so() {
    let folder = Folder::new();
    for (name, says) in
        [("a.cbh", "`tabiya export` writes it as PGN"), ("a.cbv", "`tabiya export` writes it as PGN")]
    {
        folder.write(name, [7; 4096]);
        for args in
            [&["show", name][..], &["tree", name], &["diff", name, name], &["convert", name, "-o", "b.bin"]]
        {
            let ended = folder.run(args).with(3);
            assert!(ended.err.contains("ChessBase database") && ended.err.contains(says), "{}", ended.err);
        }
    }
}

#[test]
fn doctor_takes_the_options_of_the_adapter_before_its_name_too() {
    let folder = Folder::new();
    let after = folder.run(&["doctor", "--engine", "none", "--book", "a.bin", "--book", "b.bin"]).with(4);
    assert!(after.out.contains("none: no such engine") && after.out.contains("b.bin"), "{}", after.out);
    for args in [
        &["--engine", "none", "--book", "a.bin", "doctor", "--book", "b.bin"][..],
        &["--book", "a.bin", "--book", "b.bin", "--engine", "other", "doctor", "--engine", "none"],
    ] {
        assert_eq!(folder.run(args).with(4).out, after.out);
    }
    let refused = folder.run(&["--engine", "none", "info", "a.bin"]).with(2);
    assert!(refused.err.contains("before no command except doctor"), "{}", refused.err);
}

#[test]
fn castling_is_dumped_as_it_is_shown() {
    let folder = Folder::new();
    let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1";
    let words: Vec<_> = line.split(' ').collect();
    let lines: Vec<_> = (1..=words.len()).map(|len| (words[..len].join(" "), 1)).collect();
    let lines: Vec<_> = lines.iter().map(|(line, weight)| (line.as_str(), *weight)).collect();
    folder.book("a.bin", &lines);
    // A rook's way into the corner, in a position that no line reaches: nobody knows what it is.
    let away = PolyglotEntry { key: u64::MAX, mv: raw("e1h1"), weight: 1, games: 0, halfpoints: 0 };
    folder.write("b.bin", [book(&lines), away.to_bytes().to_vec()].concat());
    for (args, count) in
        [(&["export", "a.bin"][..], 0), (&["export", "a.bin", "--reachable"], 0), (&["export", "b.bin"], 1)]
    {
        for format in ["tsv", "json"] {
            let out = folder.run(&[args, &["--format", format]].concat()).with(0).out;
            assert_eq!(
                (out.matches("e1g1").count(), out.matches("e1h1").count()),
                (1, count),
                "{args:?} {out}"
            );
        }
    }
}

#[test]
fn a_book_for_one_side_is_followed_through_the_replies() {
    let folder = Folder::new();
    let white = [("e2e4", 1), ("e2e4 e7e5 g1f3", 1), ("e2e4 c7c5 g1f3", 1), ("e2e4 c7c5 g1f3 d7d6 d2d4", 1)];
    folder.book("white.bin", &white);
    let tree = folder.run(&["tree", "white.bin"]).with(0).out;
    assert!(tree.contains("c5 (reply)") && tree.contains("e5 (reply)") && tree.contains("d4"), "{tree}");
    let pgn = folder.run(&["export", "white.bin", "--format", "pgn"]).with(0);
    assert_eq!((pgn.out.matches("Nf3").count(), pgn.out.matches("d4").count(), &*pgn.err), (2, 1, ""));
    let black = [("e2e4 e7e5", 1), ("e2e4 e7e5 g1f3 b8c6", 1), ("d2d4 d7d5", 1)];
    folder.book("black.bin", &black);
    let pgn = folder.run(&["export", "black.bin", "--format", "pgn"]).with(0);
    assert!(pgn.out.contains("Nc6") && pgn.out.contains("d5") && pgn.err.is_empty(), "{pgn:?}");
    assert!(folder.run(&["tree", "black.bin"]).with(0).out.contains("1. e4 (reply)"));
    for name in ["white", "black"] {
        let (book, json) = (format!("{name}.bin"), ["info", "--json"]);
        let line = folder.run(&[&json[..], &[&book]].concat()).with(0).json().remove(0);
        assert_eq!(line["reachable"], line["positions"], "{name}");
        let ended = folder.run(&["convert", &book, "-o", &format!("{name}.abk")]).with(0);
        assert!(!ended.out.contains("left out"), "{}", ended.out);
    }
    // What nothing reaches is counted.
    let away = PolyglotEntry { key: u64::MAX, mv: raw("e2e4"), weight: 1, games: 0, halfpoints: 0 };
    folder.write("away.bin", [book(&white), away.to_bytes().to_vec()].concat());
    let pgn = folder.run(&["export", "away.bin", "--format", "pgn"]).with(0);
    assert!(pgn.err.starts_with("tabiya: away.bin: 1 move is left out: no line from"), "{}", pgn.err);
}
