//! `build`, `merge` and `convert` as their users meet them: the real executable, its books, words and exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use tabiya::book::polyglot::Entries;
use tabiya::book::polyglot::layout::{Entry, RawMove};
use tabiya::chess::Position;
use tempfile::TempDir;

/// Two games that agree for two half-moves.
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
        Entries::new(&bytes).iter().map(|entry| ((entry.key, entry.mv.0), entry.weight)).collect()
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
            last = Some((position.key(), RawMove::from_move(mv).0));
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
    assert_eq!(ended.out, "2 games read, 2 used, 6 half-moves\na.bin: 3 positions, 4 moves\n");
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
        ("--player anna --side black", &["e2e4 1", "e2e4 e7e5 1", "e2e4 e7e5 f1c4 1"]),
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
        ["--only player", "--side white", "--from x", "--min-score 101", "--memory 1K", "--threads 0"]
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
        format!("[Event \"a\"]\n\n1. e4 e5{escape} *\n\n"),
    ];
    folder.write("games.pgn", games.concat());
    let ended = folder.run("build games.pgn -o a.bin --min-games 1", 0);
    assert!(ended.out.contains("another kind of chess") && ended.out.contains("unreadable move"));
    assert!(ended.out.chars().all(|c| c == '\n' || !c.is_control()), "{ended:?}");
}

#[test]
fn merged_books_are_added_up_and_repaired() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.run("build games.pgn -o a.bin --min-games 1", 0);
    let start = Position::start().key();
    let e4 = UciMove::from_ascii(b"e2e4").unwrap().to_move(Position::start().chess()).unwrap();
    let entry = Entry { key: start, mv: RawMove::from_move(e4), weight: 65_535, games: 0, halfpoints: 0 };
    // Twice the same, unsorted, and a few bytes more.
    let later = Entry { key: u64::MAX, mv: RawMove(0x31c), weight: 5, ..entry };
    let bytes = [later.to_bytes(), entry.to_bytes(), entry.to_bytes()].concat();
    folder.write("b.bin", [&bytes[..], b"abc"].concat());
    folder.run("merge a.bin b.bin -o c.bin", 0);
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
    let expected = BTreeMap::from([((position.key(), RawMove::from_move(castling).0), 2)]);
    assert_eq!(folder.book("a.bin"), expected);
}

#[test]
fn an_empty_result_writes_nothing_and_says_why() {
    let folder = Folder::new();
    folder.write("games.pgn", GAMES);
    folder.write("none.pgn", "");
    folder.write("lost.pgn", "[Event \"a\"]\n[Result \"0-1\"]\n\n1. e4 0-1\n");
    let few = "no move passed the filters: 4 moves have fewer than 3 games (--min-games): few games need --min-games 1";
    for (args, why) in [
        ("games.pgn", few),
        ("games.pgn --player Nobody", "none of 2 games passed the filters: 2 games left out by --player"),
        ("games.pgn --min-elo 1", "none of 2 games passed the filters: 2 games left out by --min-elo"),
        (
            "games.pgn --max-ply 1 --only black",
            "no move counted: the games have none, or --only and --max-ply leave none",
        ),
        ("none.pgn", "there are no games in the sources"),
    ] {
        for output in ["a.bin", "a.ctg", "a.abk", "a.kob", "a.parquet"] {
            let counts = if output.ends_with("parquet") { " --counts" } else { "" };
            if why == few && !counts.is_empty() {
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
                let ended = folder.run(&format!("build {args} -o {output}{counts}{force}"), 1);
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
    assert_eq!(lost.err, "tabiya: a.bin: not written: no move passed the filters: 1 move only lost\n");
}

#[test]
fn an_empty_merge_and_conversion_write_nothing() {
    let folder = Folder::new();
    // An entry that no line from the start reaches.
    let away = Entry { key: 5, mv: RawMove(0o1434), weight: 1, games: 0, halfpoints: 0 };
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
