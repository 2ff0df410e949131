//! `tabiya learn` as its users meet it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use shakmaty::{ByColor, Color, KnownOutcome};
use tabiya_chess::Position;
use tabiya_learn::{FinishedGame, PATIENCE, Spool, identity};

use super::world::World;

/// What a command left behind.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

/// The words of `tabiya learn` on the book, with the subcommand first.
fn learn<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let (subcommand, rest) = args.split_at(args.len().min(1));
    [&["learn"], subcommand, &["crowd.bin"], rest].concat()
}

fn tabiya(folder: &Path, args: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_tabiya"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn folder(world: &World) -> std::path::PathBuf {
    world.path("")
}

#[test]
fn a_hundred_games_learned_twice_are_learned_once() {
    let world = World::new(100);
    world.pgn("games.pgn", &world.plays);
    let run = |more: &[&str]| {
        let args = [&["learn", "games", "crowd.bin", "games.pgn", "--player", "US"], more].concat();
        let ended = tabiya(&folder(&world), &args);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""));
        ended.out
    };
    // Each entry counts once, however many games it learned from.
    let entries = World::entries(&world.plays);
    assert_eq!(run(&[]), format!("crowd.bin: 100 games read, 100 learned into {entries} entries\n"));
    assert!(entries < 300);
    world.check(&world.plays);
    let once = fs::read(world.book()).unwrap();
    let again = "crowd.bin: 100 games read, 0 learned into 0 entries\n  not learned: 100 learned before\n";
    assert_eq!(run(&[]), again);
    assert_eq!(fs::read(world.book()).unwrap(), once);
    // The other side has not been learned, but its moves are no entries.
    let both = run(&["--both"]);
    assert!(both.ends_with("  not learned: 100 without a move of the book\n"), "{both}");
    assert_eq!(fs::read(world.book()).unwrap(), once);
    assert!(run(&["--again"]).contains(&format!(" 100 learned into {entries} entries\n")));
    world.check(world.plays.iter().chain(&world.plays));
}

#[test]
fn the_rest_of_a_file_is_no_game() {
    let world = World::new(3);
    let path = world.pgn("games.pgn", &world.plays);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}[Event \"Cut")).unwrap();
    let ended = tabiya(&folder(&world), &["learn", "games", "crowd.bin", "games.pgn", "--both"]);
    let (first, rest) = ended.out.split_once('\n').unwrap();
    let entries = World::entries(&world.plays);
    assert_eq!(first, format!("crowd.bin: 3 games read, 3 learned into {entries} entries"));
    let line = whole.lines().count() + 1;
    let why = "the file ends inside the tags of this game: the games before it are used";
    assert_eq!(rest, format!("  games.pgn: line {line}: {why} (byte {})\n", whole.len()));
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
}

#[test]
fn games_are_taken_back_and_all_is_reset() {
    let world = World::new(50);
    world.pgn("games.pgn", &world.plays);
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    assert_eq!(run(&["undo", "3"]).code, Some(1));
    run(&["games", "games.pgn", "--both"]);
    let undone = run(&["undo", "20"]);
    assert_eq!((undone.code, &*undone.out), (Some(0), "crowd.bin: 20 games undone\n"));
    world.check(&world.plays[..30]);
    let rest = run(&["undo", "100"]);
    assert_eq!(
        (rest.code, &*rest.out),
        (Some(1), "crowd.bin: 30 games undone: its journal has no more that can be\n")
    );
    world.check(&[]);
    run(&["games", "games.pgn", "--both"]);
    assert_eq!(run(&["undo", "--all"]).out, "crowd.bin: everything that it had learned is cleared\n");
    world.check(&[]);
    let learned = format!(" 50 learned into {} entries\n", World::entries(&world.plays));
    assert!(run(&["games", "games.pgn", "--both"]).out.contains(&learned));
    world.check(&world.plays);
}

#[test]
fn what_was_learned_is_shown_by_line() {
    let world = World::new(3);
    world.pgn("games.pgn", &world.plays);
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args)).out;
    assert_eq!(run(&["show"]), "crowd.bin: 0 entries have learned; the journal knows 0 games\n");
    run(&["games", "games.pgn", "--player", "us"]);
    let shown = run(&["show"]);
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("crowd.bin: 5 entries have learned; the journal knows 3 games"));
    let last: Vec<&str> = lines.next().unwrap().split("  ").filter(|cell| !cell.is_empty()).collect();
    let (date, rest) = last.split_first().unwrap();
    assert!(date.len() == 10 && date.starts_with("20"), "{shown}");
    assert_eq!(rest[..2], ["1-0", "Us - Them 1-0, round 2 (3 entries)"]);
    assert!(rest[2].starts_with("1. a3 "), "{shown}");
    let start = lines.find(|line| line.contains(" start ")).unwrap();
    assert_eq!(start.split_whitespace().skip(2).collect::<Vec<_>>(), ["7", "1.5/3", "100.0%"], "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("  0/1 ")).count(), 1, "{shown}");
    assert!(!shown.contains("position "), "{shown}");
}

#[test]
fn what_was_learned_is_shown_within_the_columns_of_the_terminal() {
    let world = World::new(40);
    world.pgn("games.pgn", &world.plays);
    assert_eq!(
        tabiya(&folder(&world), &["learn", "games", "crowd.bin", "games.pgn", "--both"]).code,
        Some(0)
    );
    for (said, columns) in [("44", 44), ("60", 60), ("200", 200), ("0", 100), ("many", 100)] {
        let output = Command::new(env!("CARGO_BIN_EXE_tabiya"))
            .args(["learn", "show", "crowd.bin"])
            .current_dir(folder(&world))
            .env("COLUMNS", said)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() > 12, "{text}");
        for line in text.lines().skip(1) {
            assert!(line.chars().count() <= columns, "{said}: {line}");
        }
    }
}

#[test]
fn an_older_copy_of_the_book_is_refused() {
    let world = World::new(10);
    world.pgn("games.pgn", &world.plays);
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    let pristine = fs::read(world.book()).unwrap();
    run(&["games", "games.pgn", "--player", "us"]);
    fs::write(world.path("copy.bin"), &pristine).unwrap();
    fs::rename(world.path("copy.bin"), world.book()).unwrap();
    for args in [&["games", "games.pgn", "--player", "us"][..], &["undo", "1"]] {
        let refused = run(args);
        assert_eq!((refused.code, &*refused.out), (Some(3), ""));
        let what = "what its journal crowd.bin.learn says was learned last is not in it";
        assert!(
            refused.err.contains(what) && refused.err.contains("move the journal away"),
            "{}",
            refused.err
        );
    }
    let shown = run(&["show"]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.err.contains("this is an older copy of the book"), "{}", shown.err);
    assert_eq!(fs::read(world.book()).unwrap(), pristine);
    fs::rename(world.path("crowd.bin.learn"), world.path("old.learn")).unwrap();
    let learned = format!(" 10 learned into {} entries", World::entries(&world.plays));
    assert!(run(&["games", "games.pgn", "--player", "us"]).out.contains(&learned));
    world.check(&world.plays);
}

#[test]
fn a_file_of_another_kind_in_the_journals_place_is_left_alone() {
    let world = World::new(3);
    world.pgn("games.pgn", &world.plays);
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    for notes in ["n", "what I have learned today\n"] {
        fs::write(world.path("crowd.bin.learn"), notes).unwrap();
        for args in [&["games", "games.pgn", "--both"][..], &["show"], &["undo", "1"], &["undo", "--all"]] {
            let refused = run(args);
            assert_eq!(refused.code, Some(3));
            assert!(
                refused.err.contains("the file crowd.bin.learn is not a journal of tabiya"),
                "{}",
                refused.err
            );
            assert_eq!(fs::read_to_string(world.path("crowd.bin.learn")).unwrap(), notes);
        }
    }
    world.check(&[]);
}

#[test]
fn only_the_last_games_of_many_can_be_taken_back() {
    let world = World::new(9000);
    world.pgn("games.pgn", &world.plays);
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    assert_eq!(run(&["games", "games.pgn", "--player", "us"]).code, Some(0));
    world.check(&world.plays);
    let refused = run(&["undo", "9000"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("games that were learned can be undone"), "{}", refused.err);
    world.check(&world.plays);
    assert_eq!(run(&["undo", "1000"]).code, Some(0));
    world.check(&world.plays[..8000]);
    assert!(run(&["show"]).out.contains("the journal knows 8000 games"));
    let again = run(&["games", "games.pgn", "--player", "us"]).out;
    let learned = format!(" 1000 learned into {} entries", World::entries(&world.plays[8000..]));
    assert!(again.contains(&learned) && again.contains("8000 learned before"), "{again}");
    world.check(&world.plays);
}

#[test]
fn a_book_of_the_other_convention_is_refused_until_it_is_reset() {
    let world = World::new(10);
    world.pgn("games.pgn", &world.plays);
    let mut bytes = fs::read(world.book()).unwrap();
    bytes[28..32].copy_from_slice(&[0, 0, 0, 7]);
    fs::write(world.book(), &bytes).unwrap();
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    let refused = run(&["games", "games.pgn", "--both"]);
    assert_eq!((refused.code, &*refused.out), (Some(3), ""));
    assert!(
        refused.err.contains("holds something other than games and half-points (byte 16)"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("`tabiya learn undo BOOK --all`"), "{}", refused.err);
    // What it cannot be is not shown as games either.
    let shown = run(&["show"]);
    assert_eq!((shown.code, &*shown.out), (Some(3), ""));
    assert!(shown.err.contains("something other than games and half-points (byte 16)"), "{}", shown.err);
    assert_eq!(fs::read(world.book()).unwrap(), bytes);
    assert!(!world.path("crowd.bin.learn").exists());
    assert_eq!(run(&["undo", "--all"]).code, Some(0));
    assert_eq!(run(&["games", "games.pgn", "--both"]).code, Some(0));
    world.check(&world.plays);
}

#[test]
fn wrong_uses_are_told() {
    let world = World::new(2);
    world.pgn("games.pgn", &world.plays);
    fs::write(world.path("empty.pgn"), "\n").unwrap();
    let run = |args: &[&str]| tabiya(&folder(&world), &learn(args));
    assert_eq!(run(&[]).code, Some(2));
    assert_eq!(run(&["show", "--reset"]).code, Some(2));
    let sides = run(&["games", "games.pgn"]);
    assert_eq!(sides.code, Some(2));
    assert!(sides.err.contains("or learn the moves of both sides with --both"), "{}", sides.err);
    assert_eq!(run(&["games", "none.pgn", "--both"]).code, Some(3));
    assert_eq!(run(&["games", "empty.pgn", "--both"]).code, Some(1));
    let strangers = run(&["games", "games.pgn", "--player", "nobody"]).out;
    assert!(
        strangers.ends_with("  not learned: 2 of other players: the players are \"Them\" and \"Us\"\n"),
        "{strangers}"
    );
    world.check(&[]);
}

#[test]
fn a_game_without_a_result_or_with_an_illegal_move_is_not_learned() {
    let world = World::new(1);
    let text = "[White \"Us\"]\n[Result \"*\"]\n\n1. e4 *\n\n[White \"Us\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Ke3 1-0\n";
    fs::write(world.path("bad.pgn"), text).unwrap();
    let ended = tabiya(&folder(&world), &["learn", "games", "crowd.bin", "bad.pgn", "--both"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("not learned: 1 without a result\n"), "{}", ended.out);
    assert!(ended.out.contains("not learned: 1 that cannot be read to the end\n"), "{}", ended.out);
    world.check(&[]);
}

#[cfg(unix)]
#[test]
fn a_book_that_may_not_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    /// The user called nobody, who has no rights.
    const NOBODY: u32 = 65_534;
    let world = World::new(2);
    world.pgn("games.pgn", &world.plays);
    fs::set_permissions(world.book(), fs::Permissions::from_mode(0o444)).unwrap();
    // Where the program is, nobody may have no business.
    let program = world.path("tabiya");
    fs::copy(env!("CARGO_BIN_EXE_tabiya"), &program).unwrap();
    let mut command = Command::new(program);
    command.args(["learn", "games", "crowd.bin", "games.pgn", "--both"]).current_dir(folder(&world));
    if fs::File::options().write(true).open(world.book()).is_ok() {
        // We are root, who may write whatever the permissions say.
        for entry in
            fs::read_dir(folder(&world)).unwrap().map(|entry| entry.unwrap().path()).chain([folder(&world)])
        {
            std::os::unix::fs::chown(entry, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let ended = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write to the book"), "{said}");
    world.check(&[]);
}

#[test]
fn games_that_are_kept_are_listed_and_learned() {
    let world = World::new(3);
    let log = world.path("log");
    let spool = Spool::new(world.path("log.spool"));
    let games: Vec<_> = world
        .plays
        .iter()
        .map(|play| FinishedGame {
            start: Position::start(),
            moves: play.moves.clone(),
            first: 0,
            sides: ByColor { white: true, black: false },
            result: KnownOutcome::from_winner(
                [Some(Color::Black), None, Some(Color::White)][usize::from(play.points)],
            ),
            note: format!("game {}", play.number),
        })
        .map(|game| {
            let id = identity::of_parts([game.note.as_bytes()]);
            game.identified(id)
        })
        .collect();
    let (book, none) = (world.book(), world.path("none.bin"));
    let kept: Vec<_> = games.iter().map(|game| (book.as_path(), None, game)).collect();
    spool.put(&kept, PATIENCE).unwrap();
    spool.put(&[(none.as_path(), None, &games[0])], PATIENCE).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabiya"));
        // The user's own games are not to be touched.
        for name in ["XDG_STATE_HOME", "LOCALAPPDATA", "HOME"] {
            command.env(name, folder(&world));
        }
        let output = command.args(args).current_dir(folder(&world)).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let log = log.to_str().unwrap();
    let first = run(&["learn", "spool", "--log", log]);
    assert_eq!(first.code, Some(3), "{}{}", first.out, first.err);
    assert!(
        first.err.contains("none.bin") && first.err.contains("cannot learn into the book"),
        "{}",
        first.err
    );
    assert!(
        first.out.contains("  game 2; 5 plies; ") && first.out.contains("learned, 3 entries\n"),
        "{}",
        first.out
    );
    assert!(first.out.contains("none.bin: still kept\n"), "{}", first.out);
    assert!(first.out.contains("log.spool: 4 games were kept, 3 learned now\n"), "{}", first.out);
    world.check(&world.plays);
    fs::copy(world.book(), &none).unwrap();
    let rest = run(&["learn", "spool", "--log", log]);
    assert_eq!((rest.code, &*rest.err), (Some(0), ""));
    assert!(rest.out.contains("log.spool: 1 game was kept, 1 learned now\n"), "{}", rest.out);
    let nothing = run(&["learn", "spool"]);
    assert_eq!(nothing.code, Some(0));
    assert!(nothing.out.ends_with("games.spool: 0 games were kept, 0 learned now\n"), "{}", nothing.out);
    assert_eq!(fs::metadata(spool.path()).unwrap().len(), 0);
    world.check(&world.plays);
    for wrong in
        [&["learn", "spool", "crowd.bin"][..], &["learn", "show"], &["learn", "show", "a", "--log", "b"]]
    {
        assert_eq!(run(wrong).code, Some(2), "{wrong:?}");
    }
}
