//! Sixteen processes learn from PGN into one book at once; then again, while one in ten of them is killed.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::start;
use super::world::{Play, World};

/// Processes at once.
const CROWD: usize = 16;

/// Games that each of them learns: ten times as many before a release.
fn games() -> usize {
    if std::env::var_os("TABIYA_FULL_TESTS").is_some() { 2000 } else { 200 }
}

/// Processes, one after another, that learn one share where some are killed.
const PARTS: usize = 10;

/// Attempts at a kill within a transaction.
const ROUNDS: u64 = 20;

/// The exit code for files that cannot be read, written, or had alone.
const FILE_ERROR: i32 = 3;

/// How long the games of one process may take, others included.
const LEARN_LIMIT: Duration = Duration::from_secs(1800);

fn learn(book: &Path, games: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabiya"));
    command
        .args(["learn".as_ref(), "games".as_ref(), book.as_os_str(), games.as_os_str()])
        .args(["--player", "us", "--list"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    start(&mut command)
}

/// What a process reported.
#[derive(Default)]
struct Report {
    /// The games learned, or learned before.
    games: HashSet<usize>,
    /// It was killed before it had done all.
    killed: bool,
    /// It gave up, because others kept the journal for too long.
    busy: bool,
}

/// What a process reports until it ends.
fn report(mut child: Child, doomed: bool) -> Report {
    let mut report = Report::default();
    let out = BufReader::new(child.stdout.take().unwrap());
    for line in out.lines() {
        // Under Windows nobody can read a locked journal: there a doomed process is killed as soon as it says a word.
        if cfg!(windows) && doomed && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
        }
        // What a killed process had begun to print counts where the line is whole.
        let Ok(line) = line else { break };
        if let Some((game, what)) = line.split_once(": learned")
            && (what.starts_with(", ") || what == " before")
        {
            report.games.insert(game.rsplit(' ').next().unwrap().parse().unwrap());
        }
    }
    let ended = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&ended.stderr);
    match ended.status.code() {
        Some(0) => {}
        Some(FILE_ERROR) if error.contains("journal") => report.busy = true,
        // A process that is killed has no code, except under Windows.
        code => {
            assert!(doomed && (cfg!(windows) || code.is_none()), "{}: {error}", ended.status);
            report.killed = true;
        }
    }
    report
}

/// Kills a process as soon as the journal has the record of this game, which it learns, unless it has ended by then.
fn kill_within(child: &mut Child, world: &World, play: &Play) {
    while child.try_wait().unwrap().is_none() {
        if world.is_in_journal(play) {
            child.kill().unwrap();
        }
    }
}

/// What processes report that learn these games, one after another until one has learned all of them: each gives up
/// after seconds where the disk is slow.
fn learn_all(book: &Path, games: &Path) -> HashSet<usize> {
    let until = Instant::now() + LEARN_LIMIT;
    let mut all = HashSet::new();
    loop {
        let Report { games, busy, .. } = report(learn(book, games), false);
        all.extend(games);
        if !busy {
            return all;
        }
        assert!(Instant::now() < until, "others keep the journal for ever");
    }
}

fn numbers(plays: &[Play]) -> HashSet<usize> {
    plays.iter().map(|play| play.number).collect()
}

#[test]
fn sixteen_processes_learn_every_game_of_theirs() {
    let world = World::new(CROWD * games());
    let shares: Vec<_> = world.plays.chunks(games()).collect();
    let files: Vec<_> =
        shares.iter().enumerate().map(|(number, share)| world.pgn(&format!("{number}.pgn"), share)).collect();
    let book = &world.book();
    thread::scope(|scope| {
        for (file, share) in files.iter().zip(&shares) {
            scope.spawn(move || assert_eq!(learn_all(book, file), numbers(share)));
        }
    });
    world.check(&world.plays);
    // Once more: nothing changes.
    assert_eq!(learn_all(book, &files[0]), numbers(shares[0]));
    world.check(&world.plays);
}

#[test]
fn one_in_ten_is_killed_and_what_was_reported_is_there_once() {
    let world = World::new(CROWD * games());
    // Who is killed, and where, is the scheduler's choice: until it was within a transaction.
    for round in 1..=ROUNDS {
        if kill_one_in_ten(&world, round) {
            return;
        }
        world.restore();
    }
    panic!("no process was killed within a transaction");
}

/// Lets all processes learn, kills one in ten of them, and checks the book. Whether one was killed within a transaction;
/// under Windows, whether one was killed.
fn kill_one_in_ten(world: &World, round: u64) -> bool {
    let book = world.book();
    let reports: Vec<Report> = thread::scope(|scope| {
        let running: Vec<_> = world
            .plays
            .chunks(games())
            .enumerate()
            .map(|(worker, share)| {
                let book = &book;
                scope.spawn(move || {
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(round << 8 | worker as u64);
                    let doomed = random.random_range(0..PARTS);
                    let mut reports = Vec::new();
                    for (part, plays) in share.chunks(games() / PARTS).enumerate() {
                        let file = world.pgn(&format!("{worker}-{part}.pgn"), plays);
                        let mut child = learn(book, &file);
                        if part == doomed && cfg!(unix) {
                            kill_within(&mut child, world, plays.choose(&mut random).unwrap());
                        }
                        reports.push(report(child, part == doomed));
                    }
                    reports
                })
            })
            .collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let reported: HashSet<usize> = reports.iter().flat_map(|report| &report.games).copied().collect();
    let (killed, busy) = (
        reports.iter().filter(|report| report.killed).count(),
        reports.iter().filter(|report| report.busy).count(),
    );
    // The next opener finishes what a killed one began.
    tabiya_learn::settle(&book);
    let learned = world.learned();
    assert!(reported.is_subset(&learned));
    world.check(world.plays.iter().filter(|play| learned.contains(&play.number)));
    let unreported = learned.difference(&reported).count();
    println!(
        "{killed} processes killed of {}, {busy} gave up; {} games reported, {unreported} more are there, {} are not",
        CROWD * PARTS,
        reported.len(),
        world.plays.len() - learned.len()
    );
    // All of them once more: what is missing is learned, and nothing twice.
    let all = world.pgn("all.pgn", &world.plays);
    assert_eq!(learn_all(&book, &all), numbers(&world.plays));
    world.check(&world.plays);
    killed > 0 && (cfg!(windows) || unreported > 0)
}
