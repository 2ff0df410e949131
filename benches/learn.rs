//! How many games a second are learned into a Polyglot book, each on the disk before it is reported: alone and with
//! sixteen processes, one by one and in the batches of `tabiya learn --games`; how long the first game of a new process
//! takes where the journal knows a million; and what learning costs a `readyok`.
//!
//! The folder is the system's for temporary files, or the one that `--dir` names: a disk of one's own, for what is
//! measured is mostly the disk. `--known N` measures only the first games after N others. `--smoke` measures nothing and shows in seconds that everything runs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

#[path = "../tests/learning/world.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod world;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shakmaty::{ByColor, CastlingMode, Color, KnownOutcome, Position as _};
use tabiya_chess::{Game, Position};
use tabiya_learn::identity::{self, Id};
use tabiya_learn::{FinishedGame, IdentifiedGame, LearnOutcome, Learner, PATIENCE};

use world::{Play, World, fields, learnable};

/// Processes at once.
const CROWD: usize = 16;

/// Games that `tabiya learn --games` learns in one go.
const BATCH: usize = 128;

/// The argument by which this program starts itself as one of the crowd.
const WORKER: &str = "--worker";

/// The argument by which this program starts itself to learn one more game.
const NEXT: &str = "--next";

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    if let Some([book, first, last, batch]) =
        args.iter().position(|arg| arg == WORKER).and_then(|at| args.get(at + 1..at + 5))
    {
        let number = |text: &String| text.parse().map_err(io::Error::other);
        return work(Path::new(book), number(first)?, number(last)?, number(batch)?);
    }
    if let Some([book, number]) =
        args.iter().position(|arg| arg == NEXT).and_then(|at| args.get(at + 1..at + 3))
    {
        return next(Path::new(book), number.parse().map_err(io::Error::other)?);
    }
    if let Some(folder) = value("--dir") {
        // Where temporary files are made is not to be changed once threads run; there is none yet.
        tempfile::env::override_temp_dir(Path::new(folder))
            .map_err(|old| io::Error::other(old.display().to_string()))?;
    }
    let smoke = args.iter().any(|arg| arg == "--smoke");
    let games = if smoke { 320 } else { 32_000 };
    if let Some(known) = value("--known") {
        return firsts(&World::new(320), known.parse().map_err(io::Error::other)?);
    }
    let world = World::new(games);
    println!("| what | games | seconds | games a second |\n|---|---:|---:|---:|");
    raw(&world, if smoke { 20 } else { 2000 })?;
    for (name, batch, count) in [("alone, one by one", 1, games / 8), ("alone, 128 at once", BATCH, games)] {
        world.restore();
        let start = Instant::now();
        work(&world.book(), 0, count, batch)?;
        tell(name, count, start.elapsed());
        world.check(&world.plays[..count]);
    }
    for (name, batch, count) in
        [("sixteen processes, one by one", 1, games / 8), ("sixteen processes, 128 at once", BATCH, games)]
    {
        let count = count / CROWD * CROWD;
        world.restore();
        let time = crowd(&world, count, batch)?;
        tell(name, count, time);
        world.check(&world.plays[..count]);
    }
    firsts(&world, if smoke { 10_000 } else { 1_000_000 })?;
    ready(&world, if smoke { 3 } else { 300 })
}

fn tell(name: &str, games: usize, time: Duration) {
    let seconds = time.as_secs_f64();
    println!("| {name} | {games} | {seconds:.2} | {:.0} |", games as f64 / seconds);
}

/// What the disk can do at most: two small writes to two files, each synced, which is what one game takes.
fn raw(world: &World, count: usize) -> io::Result<()> {
    use tabiya_learn::StoredBytes as _;
    let (mut journal, mut book) =
        (File::create(world.path("raw-journal"))?, File::create(world.path("raw-book"))?);
    book.write_all(&[0; 4096])?;
    book.sync()?;
    let start = Instant::now();
    for number in 0..count as u64 {
        journal.write_at(number * 200, &[1; 200])?;
        journal.sync()?;
        book.write_at(number * 16 % 4096, &[1; 4])?;
        book.sync()?;
    }
    tell("two synced writes, for comparison", count, start.elapsed());
    Ok(())
}

fn finished(play: &Play) -> FinishedGame {
    let winner = [Some(Color::Black), None, Some(Color::White)][usize::from(play.points)];
    FinishedGame {
        start: Position::start(),
        moves: play.moves.clone(),
        first: 0,
        sides: ByColor { white: true, black: false },
        result: KnownOutcome::from_winner(winner),
        note: format!("game {}", play.number),
    }
}

/// The identity of a play.
fn of_number(number: usize) -> Id {
    identity::of_parts([number.to_string().as_bytes()])
}

/// The identity of a game where there are more games than plays.
fn of_many(number: usize) -> Id {
    identity::of_parts([&b"many"[..], &number.to_be_bytes()])
}

/// Learns the games from one number up to another.
fn work(book: &Path, first: usize, last: usize, batch: usize) -> io::Result<()> {
    // The crowd makes its games anew; the line read says that all have.
    let mut plays = World::new(last).plays;
    let identified = |play: Play| finished(&play).identified(of_number(play.number));
    let games: Vec<_> = plays.drain(first..).map(identified).collect();
    if first > 0 || std::env::args().any(|arg| arg == WORKER) {
        println!("ready");
        io::stdin().lock().read_line(&mut String::new())?;
    }
    let mut learner =
        Learner::new(book).map_err(|error| io::Error::other(error.to_string()))?.patience(6 * PATIENCE);
    for games in games.chunks(batch) {
        let outcomes = learner.learn(games, false).map_err(|error| io::Error::other(error.to_string()))?;
        assert!(outcomes.iter().all(|outcome| matches!(outcome, LearnOutcome::Learned(_))));
    }
    Ok(())
}

/// The game of this number, where there are more games than plays.
fn numbered(world: &World, number: usize) -> IdentifiedGame {
    finished(&world.plays[number % world.plays.len()]).identified(of_many(number))
}

/// How long processes that have just been started take for their first game, where the journal knows so many.
fn firsts(world: &World, known: usize) -> io::Result<()> {
    world.restore();
    let error = |error: tabiya_base::error::Error| io::Error::other(error.to_string());
    let start = Instant::now();
    let mut learner = Learner::new(&world.book()).map_err(error)?;
    for first in (0..known).step_by(1000) {
        let games: Vec<_> = (first..first + 1000).map(|number| numbered(world, number)).collect();
        learner.learn(&games, false).map_err(error)?;
    }
    tell("alone, 1000 at once", known, start.elapsed());
    drop(learner);
    let journal = world.book().with_file_name("crowd.bin.learn").metadata()?.len();
    println!("\n| first game of a process after | journal MB | median ms | greatest | peak memory MB |");
    println!("|---:|---:|---:|---:|---:|");
    let (mut times, mut memory) = (Vec::new(), 0_u64);
    for number in 0..20 {
        let next = Command::new(std::env::current_exe()?)
            .arg(NEXT)
            .arg(world.book())
            .arg((known + number).to_string())
            .output()?;
        let text = String::from_utf8_lossy(&next.stdout);
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(micros)), Some(Ok(kilobytes))) = (numbers.next(), numbers.next()) else {
            return Err(io::Error::other(format!("{text}{}", String::from_utf8_lossy(&next.stderr))));
        };
        times.push(micros as f64 / 1000.0);
        memory = memory.max(kilobytes);
    }
    times.sort_by(f64::total_cmp);
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "| {known} | {:.1} | {median:.2} | {most:.2} | {:.1} |",
        journal as f64 / 1e6,
        memory as f64 / 1e3
    );
    Ok(())
}

/// Learns one more game, and prints the microseconds that it took and the kilobytes of memory at most.
fn next(book: &Path, number: usize) -> io::Result<()> {
    let mut line = Game::start();
    // The first move of every play.
    assert!(["a2a3", "a7a6"].iter().all(|mv| line.push_uci(mv.as_bytes())));
    let play = Play { number, moves: line.moves().to_vec(), points: 2 };
    let game = finished(&play).identified(of_many(number));
    let start = Instant::now();
    let outcomes = Learner::new(book).and_then(|mut learner| learner.learn(&[game], false));
    let outcomes = outcomes.map_err(|error| io::Error::other(error.to_string()))?;
    let micros = start.elapsed().as_micros();
    assert!(matches!(outcomes[..], [LearnOutcome::Learned(_)]), "{outcomes:?}");
    // Only Linux says it in a file.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    println!("{micros} {}", peak.split_whitespace().next().unwrap_or("0"));
    Ok(())
}

/// Sixteen processes that begin together.
fn crowd(world: &World, games: usize, batch: usize) -> io::Result<Duration> {
    let share = games / CROWD;
    let mut workers = Vec::new();
    for worker in 0..CROWD {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(WORKER)
            .arg(world.book())
            .args([worker * share, (worker + 1) * share, batch].map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = &mut process.stdout {
            BufReader::new(out).read_line(&mut line)?;
        }
        assert_eq!(line, "ready\n");
        workers.push(process);
    }
    let start = Instant::now();
    for worker in &mut workers {
        if let Some(input) = &mut worker.stdin {
            input.write_all(b"go\n")?;
        }
    }
    for mut worker in workers {
        assert!(worker.wait()?.success());
    }
    Ok(start.elapsed())
}

/// The time from `isready` to `readyok` right behind the end of a game, with learning and without.
fn ready(world: &World, games: usize) -> io::Result<()> {
    let exe = PathBuf::from(env!("CARGO_BIN_EXE_tabiya"));
    let engine =
        exe.with_file_name("examples").join(format!("scripted-engine{}", std::env::consts::EXE_SUFFIX));
    println!("\n| isready to readyok behind a game | median ms | 99 % | greatest |\n|---|---:|---:|---:|");
    for learn in ["false", "true"] {
        world.restore();
        let mut process = Command::new(&exe)
            .arg("--engine")
            .arg(&engine)
            .args(["--engine-arg=--legal", "--engine-arg=--score", "--engine-arg=cp 900", "--book"])
            .arg(world.book())
            .args(["--set", &format!("Book Learn={learn}"), "--set", "Book Threshold=0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) else { continue };
        let mut output = BufReader::new(output);
        let mut until = |word: &str| -> io::Result<String> {
            let mut line = String::new();
            loop {
                line.clear();
                if output.read_line(&mut line)? == 0 {
                    return Err(io::Error::other("the adapter has gone"));
                }
                if line.starts_with(word) {
                    return Ok(line);
                }
            }
        };
        let mut times = Vec::new();
        for play in &world.plays[..games] {
            let mut game = Game::start();
            play.moves[..4].iter().for_each(|mv| game.push(*mv));
            // Long enough for two scores of the engine wherever the book goes on by a transposition.
            for _ in 0..5 {
                let moves = game.moves().iter().map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
                let line = moves.collect::<Vec<_>>().join(" ");
                write!(input, "position startpos moves {line}\ngo depth 1\n")?;
                let answer = until("bestmove")?;
                assert!(game.push_uci(answer.split(' ').nth(1).unwrap_or_default().trim().as_bytes()));
                let reply = game.position().chess().legal_moves()[0];
                game.push(reply);
            }
            input.write_all(b"ucinewgame\n")?;
            // While the game is being learned, again and again.
            for _ in 0..10 {
                let start = Instant::now();
                input.write_all(b"isready\n")?;
                until("readyok")?;
                times.push(start.elapsed());
            }
        }
        input.write_all(b"quit\n")?;
        drop(input);
        process.wait()?;
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
        println!("| Book Learn {learn} | {:.3} | {:.3} | {:.3} |", at(0.5), at(0.99), at(1.0));
        let fields = fields(&world.book());
        let own = |play: &Play| learnable(play).last().map(|(key, mv)| (*key, mv.0));
        let learned = world.plays.iter().filter_map(own).filter(|entry| fields.contains_key(entry)).count();
        // By transpositions a game may meet entries of others besides its own.
        assert!(if learn == "true" { learned >= games } else { learned == 0 }, "{learned} of {games}");
    }
    Ok(())
}
