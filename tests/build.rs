//! `build`, `merge` and `convert` as their users meet them: the real executable, its books, words and exit codes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use tabiya_book::polyglot::PolyglotEntries;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tempfile::TempDir;

/// Two games that agree for two plies.
const GAMES: &str = "[Event \"a\"]\n[White \"Anna\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
    [Event \"b\"]\n[Black \"Anna\"]\n[Result \"1/2-1/2\"]\n\n1. e4 e5 2. Bc4 1/2-1/2\n\n";

/// A folder to work in.
struct Folder(TempDir);

/// How a command ended.
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

    /// Runs tabiya in this folder, with `input` on standard input.
    fn fed(&self, args: &str, input: &[u8]) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tabiya"))
            .args(args.split(' '))
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that does not read ends with its input unread.
        let _ = stdin.write_all(input);
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        Ended {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn run(&self, args: &str, code: i32) -> Ended {
        let ended = self.fed(args, b"");
        assert_eq!(ended.code, Some(code), "{args}: {ended:?}");
        ended
    }

    /// The book's entries: position and move -> weight.
    fn book(&self, name: &str) -> BTreeMap<(u64, u16), u16> {
        let bytes = fs::read(self.path(name)).unwrap();
        PolyglotEntries::new(&bytes).iter().map(|entry| ((entry.key, entry.mv.0), entry.weight)).collect()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Entries by lines from the start, each `moves weight` where the weight is that of the last move.
fn expected(lines: &[&str]) -> BTreeMap<(u64, u16), u16> {
    let entry = |line: &&str| {
        let mut words: Vec<_> = line.split(' ').collect();
        let weight = words.pop().unwrap().parse().unwrap();
        let mut position = Position::start();
        let mut last = None;
        for word in words {
            let mv = word.parse::<UciMove>().unwrap().to_move(position.chess()).unwrap();
            last = Some((position.key(), MoveCode::from_move(mv).0));
            position.play(mv);
        }
        (last.unwrap(), weight)
    };
    lines.iter().map(entry).collect()
}

#[test]
fn a_book_holds_what_was_won_and_drawn() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    let ended = folder.run("build games.pgn -o a.bin --min-games 1", 0);
    assert_eq!(ended.out, "2 games read, 2 used, 6 plies\na.bin: 3 positions, 4 moves\n");
    let book = expected(&["e2e4 3", "e2e4 e7e5 1", "e2e4 e7e5 g1f3 2", "e2e4 e7e5 f1c4 1"]);
    assert_eq!(folder.book("a.bin"), book);
    // Standard input is a source like others.
    assert_eq!(folder.fed("build - -o b.bin --min-games 1", GAMES.as_bytes()).code, Some(0));
    assert_eq!(folder.book("b.bin"), book);
    assert_eq!(folder.names(), ["a.bin", "b.bin", "games.pgn"]);
}

#[test]
fn options_leave_out_games_and_moves() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    for (options, lines) in [
        ("--max-ply 1", &["e2e4 3"][..]),
        ("--player anna --only player", &["e2e4 2", "e2e4 e7e5 1", "e2e4 e7e5 g1f3 2"]),
        ("--player anna --player-side black", &["e2e4 1", "e2e4 e7e5 1", "e2e4 e7e5 f1c4 1"]),
        ("--only black", &["e2e4 e7e5 1"]),
        ("--min-score 60 --uniform", &["e2e4 1", "e2e4 e7e5 g1f3 1"]),
    ] {
        folder.run(&format!("build games.pgn -o a.bin --force --min-games 1 {options}"), 0);
        assert_eq!(folder.book("a.bin"), expected(lines), "{options}");
    }
    folder.run("build games.pgn -o a.bin --force --min-games 2", 0);
    assert_eq!(folder.book("a.bin"), expected(&["e2e4 3", "e2e4 e7e5 1"]));
    let nothing = folder.run("build games.pgn -o a.bin --force --min-elo 1", 1);
    assert!(nothing.out.contains("2 games left out by --min-elo\n"), "{nothing:?}");
    assert_eq!(folder.book("a.bin"), expected(&["e2e4 3", "e2e4 e7e5 1"]));
    for wrong in
        ["--only player", "--player-side white", "--date x", "--min-score 101", "--memory 1K", "--threads 0"]
    {
        folder.run(&format!("build games.pgn -o b.bin {wrong}"), 2);
    }
    assert_eq!(folder.names(), ["a.bin", "games.pgn"]);
}

#[test]
fn what_stands_there_is_replaced_only_by_force() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.write("a.bin", "old");
    let ended = folder.run("build games.pgn -o a.bin", 3);
    assert!(ended.err.ends_with("this file exists already: name another one, or replace it with --force\n"));
    folder.run("build none.pgn -o a.bin --force", 3);
    assert_eq!(fs::read(folder.path("a.bin")).unwrap(), b"old");
    folder.run("build games.pgn -o a.bin --force", 1);
    assert_eq!(fs::read(folder.path("a.bin")).unwrap(), b"old");
    assert_eq!(folder.names(), ["a.bin", "games.pgn"]);
}

#[test]
fn words_of_a_file_cannot_command_the_terminal() {
    let folder = Folder::new();
    let escape = "\u{1b}[31m\u{7}\u{9b}";
    let games = [
        format!("[Event \"a\"]\n[Variant \"{escape}\"]\n\n1. e4 *\n\n"),
        format!("[Event \"a\"]\n[FEN \"{escape}\"]\n\n1. e4 *\n\n"),
        format!("[Event \"a\"]\n\n1. e4 e5 Nf3x{escape} *\n\n"),
    ];
    folder.write("games.pgn", games.concat());
    let ended = folder.run("build games.pgn -o a.bin --min-games 1", 0);
    assert!(
        ["another chess variant", "legal starting position", "unreadable move"]
            .iter()
            .all(|why| ended.out.contains(why))
    );
    assert!(ended.out.chars().all(|c| c == '\n' || !c.is_control()), "{ended:?}");
}

#[test]
fn merged_books_are_added_up_and_repaired() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.run("build games.pgn -o a.bin --min-games 1", 0);
    let start = Position::start().key();
    let e4 = UciMove::from_ascii(b"e2e4").unwrap().to_move(Position::start().chess()).unwrap();
    let entry =
        PolyglotEntry { key: start, mv: MoveCode::from_move(e4), weight: 65_535, games: 0, halfpoints: 0 };
    // Twice the same, unsorted, and a few bytes more.
    let later = PolyglotEntry { key: u64::MAX, mv: MoveCode(0x31c), weight: 5, ..entry };
    let bytes = [later.to_bytes(), entry.to_bytes(), entry.to_bytes()].concat();
    folder.write("b.bin", [&bytes[..], b"abc"].concat());
    let merged = folder.run("merge a.bin b.bin -o c.bin", 1);
    assert!(merged.err.contains("b.bin: damaged: the last entry is cut off"), "{merged:?}");
    let mut sums = folder.book("a.bin");
    sums.insert((start, entry.mv.0), 65_535);
    sums.insert((u64::MAX, 0x31c), 5);
    assert_eq!(folder.book("c.bin"), sums);
    let ended = folder.run("convert c.bin -o d.bin", 0);
    assert_eq!(ended.out, "4 positions read\nd.bin: 4 positions, 5 moves\n");
    assert_eq!(fs::read(folder.path("d.bin")).unwrap(), fs::read(folder.path("c.bin")).unwrap());
    folder.run("convert c.bin -o d.bin", 3);
    folder.run("convert c.bin -o d.xyz", 2);
    assert_eq!(folder.names(), ["a.bin", "b.bin", "c.bin", "d.bin", "games.pgn"]);
}

#[test]
fn castling_in_chess960_is_written_as_king_takes_rook() {
    let folder = Folder::new();
    let fen = "7k/p7/8/8/8/8/8/1R3KR1 w GB - 0 1";
    folder.write("games.pgn", format!("[Event \"a\"]\n[FEN \"{fen}\"]\n[Result \"1-0\"]\n\n1. O-O 1-0\n"));
    folder.run("build games.pgn -o a.bin --min-games 1", 0);
    let position = Position::from_fen(fen.as_bytes(), CastlingMode::Chess960).unwrap();
    let castling = UciMove::from_ascii(b"f1g1").unwrap().to_move(position.chess()).unwrap();
    assert!(castling.is_castle() && position.chess().is_legal(castling));
    let expected = BTreeMap::from([((position.key(), MoveCode::from_move(castling).0), 2)]);
    assert_eq!(folder.book("a.bin"), expected);
}

#[test]
fn an_empty_result_writes_nothing_and_says_why() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.write("none.pgn", "");
    folder.write("lost.pgn", "[Event \"a\"]\n[Result \"0-1\"]\n\n1. e4 0-1\n");
    let few = "no move passed the filters: 4 moves with fewer than 3 games (--min-games): lower the limit with --min-games 1";
    for (args, why) in [
        ("games.pgn", few),
        (
            "games.pgn --player Nobody",
            "none of 2 games passed the filters: 2 games left out by --player: the only player is \"Anna\"",
        ),
        ("games.pgn --min-elo 1", "none of 2 games passed the filters: 2 games left out by --min-elo"),
        (
            "games.pgn --max-ply 1 --only black",
            "no move counted: the games have none, or --only and --max-ply leave none",
        ),
        ("none.pgn", "there are no games in the sources"),
    ] {
        for output in ["a.bin", "a.ctg", "a.abk", "a.kob", "a.parquet"] {
            if why == few && output.ends_with("parquet") {
                continue;
            }
            for (standing, force) in [(false, ""), (true, " --force")] {
                if standing {
                    // Whatever a book of this name consists of.
                    for name in ["a.bin", "a.ctg", "a.cto", "a.ctb", "a.abk", "a_0.kob", "a.kin", "a.parquet"]
                    {
                        folder.write(name, "old");
                    }
                }
                let before = folder.names();
                let ended = folder.run(&format!("build {args} -o {output}{force}"), 1);
                assert_eq!(ended.err, format!("tabiya: {output}: not written: {why}\n"), "{args}");
                assert_eq!(folder.names(), before, "{args} {output}");
                for name in before.iter().filter(|name| name.starts_with('a')) {
                    assert_eq!(fs::read(folder.path(name)).unwrap(), b"old", "{args} {output}");
                    fs::remove_file(folder.path(name)).unwrap();
                }
            }
        }
    }
    let lost = folder.run("build lost.pgn -o a.bin --min-games 1", 1);
    assert_eq!(
        lost.err,
        "tabiya: a.bin: not written: no move passed the filters: 1 move without a win or a draw (--uniform keeps them)\n"
    );
}

#[test]
fn an_empty_merge_and_conversion_write_nothing() {
    let folder = Folder::new();
    // An entry that no line from the start reaches.
    let away = PolyglotEntry { key: 5, mv: MoveCode(0o1434), weight: 1, games: 0, halfpoints: 0 };
    folder.write("rest.bin", away.to_bytes());
    for name in ["a.ctg", "a.abk", "a_0.kob"] {
        folder.write(name, "old");
    }
    let names = folder.names();
    for output in ["a.ctg", "a.abk", "a.kob"] {
        for command in ["convert", "merge"] {
            let ended = folder.run(&format!("{command} rest.bin -o {output} --force"), 1);
            assert!(ended.err.starts_with(&format!("tabiya: {output}: not written: ")), "{ended:?}");
            assert_eq!(folder.names(), names);
        }
    }
    assert_eq!(fs::read(folder.path("a.ctg")).unwrap(), b"old");
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.write("games.bin", GAMES);
    folder.run("build games.pgn -o a.ctg --min-games 1", 0);
    folder.run("build games.pgn -o a.kob --min-games 1", 0);
    folder.run("build games.pgn -o a.bin --min-games 1", 0);
    folder.run("build games.pgn -o a.parquet", 0);
    fs::hard_link(folder.path("a.cto"), folder.path("cto.bin")).unwrap();
    fs::hard_link(folder.path("a_0.kob"), folder.path("kob.abk")).unwrap();
    fs::create_dir(folder.path("all")).unwrap();
    fs::hard_link(folder.path("games.bin"), folder.path("all/games.pgn")).unwrap();
    let all = |folder: &Folder| -> BTreeMap<String, Vec<u8>> {
        let files = folder.names().into_iter().filter(|name| name != "all");
        files.map(|name| (name.clone(), fs::read(folder.path(&name)).unwrap())).collect()
    };
    let before = all(&folder);
    for args in [
        "build games.bin -o games.bin",
        "build all -o games.bin",
        "build a.parquet -o a.parquet",
        "merge a.parquet -o a.parquet",
        "merge a.bin a.ctg -o a.ctg",
        "merge a.bin a.ctg -o a.bin",
        "convert a.ctg -o cto.bin",
        "convert a.ctb -o a.ctg",
        "convert a.kob -o a.kob",
        "convert a.kob -o kob.abk",
    ] {
        for force in ["", " --force"] {
            let ended = folder.run(&format!("{args}{force}"), 2);
            assert!(
                ended.err.contains("this would replace an input of the command, "),
                "{args}: {}",
                ended.err
            );
        }
    }
    assert_eq!(all(&folder), before);
    // Others stay free to be replaced.
    folder.run("convert a.ctg -o a.bin --force", 0);
    for name in ["a.txt", "a.cbh", "a", "a.gz"] {
        let ended = folder.run(&format!("export none.cbh -o {name}"), 2);
        assert!(ended.err.contains("end the name with .pgn, .pgn.gz or .pgn.zst"), "{}", ended.err);
    }
}

#[test]
fn what_no_line_reaches_is_reported() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.run("build games.pgn -o a.bin --min-games 1", 0);
    let away = PolyglotEntry { key: u64::MAX, mv: MoveCode(0o1434), weight: 1, games: 0, halfpoints: 0 };
    let bytes = fs::read(folder.path("a.bin")).unwrap();
    folder.write("b.bin", [bytes, away.to_bytes().to_vec()].concat());
    let told = "left out: 1 position of 4, which no line from the starting position reaches";
    for command in ["convert", "merge"] {
        let ended = folder.run(&format!("{command} b.bin -o {command}.abk"), 0);
        assert!(ended.out.contains(&format!("{told} (the book holds only their keys)\n")), "{}", ended.out);
    }
    // Half of a game, which begins elsewhere: a book of positions has it, but no line does.
    let set_up =
        "[Event \"c\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n";
    folder.write("games.pgn", [GAMES, set_up].concat());
    for format in ["ctg", "kob"] {
        folder.run(&format!("build games.pgn -o c.{format} --min-games 1"), 0);
        let ended = folder.run(&format!("convert c.{format} -o {format}.bin --reachable"), 0);
        assert!(ended.out.contains("which no line from the starting position reaches (--reachable)\n"));
        assert!(ended.out.contains("left out: 4 counts of games"), "{}", ended.out);
        let ended = folder.run(&format!("convert c.{format} -o {format}.bin --force"), 0);
        assert!(!ended.out.contains("reaches"), "{}", ended.out);
    }
}

#[test]
fn a_book_of_weights_becomes_green_where_they_are_great() {
    let folder = Folder::new();
    let start = Position::start();
    let entry = |mv: u16, weight| PolyglotEntry {
        key: start.key(),
        mv: MoveCode(mv),
        weight,
        games: 0,
        halfpoints: 0,
    };
    // d2d4, e2e4, c2c4, a2a3.
    let entries = [entry(0o1333, 100), entry(0o1434, 50), entry(0o1232, 49), entry(0o1020, 0)];
    folder.write("a.bin", entries.map(|entry| entry.to_bytes()).concat());
    let green = |options: &str| {
        let told = folder.run(&format!("convert a.bin -o a.ctg --force{options}"), 0).out;
        let rows = folder.run("export a.ctg --reachable", 0).out;
        let green = rows.lines().filter(|row| row.contains("\tgreen\t"));
        let moves = green.map(|row| row.split('\t').nth(2).unwrap().to_owned()).collect::<Vec<_>>();
        (moves, told.contains("2 moves are marked green: those with at least half the weight"))
    };
    let moves = |moves: &[&str]| moves.iter().map(|mv| (*mv).to_owned()).collect::<Vec<_>>();
    assert_eq!(green(""), (moves(&["d2d4", "e2e4"]), true));
    assert_eq!(green(" --green 0"), (vec![], false));
    assert_eq!(green(" --green 30"), (moves(&["d2d4"]), false));
}
