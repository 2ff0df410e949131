//! Sixteen adapters at once learn from the games that they play under UCI; one in ten is killed.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use shakmaty::{CastlingMode, Position as _};
use tabiya_chess::Game;

use super::start;
use super::world::{Play, World};

/// Adapters at once.
const CROWD: usize = 16;

/// Adapters that follow one another, each with its share of games.
const PARTS: usize = 10;

/// Games of each adapter.
const GAMES: usize = 10;

/// How long the spool of one log may take to be learned.
const DRAIN_LIMIT: Duration = Duration::from_secs(600);

/// The child engine of the tests, which cargo builds with the other examples.
fn scripted_engine() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_tabiya")).with_file_name("examples");
    let path = folder.join(format!("scripted-engine{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{}: build it with `cargo build --examples`", path.display());
    path
}

/// An adapter that learns, and what it says.
struct Adapter {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Lines until the process is killed.
    left: Option<usize>,
    /// It was killed before it had ended.
    killed: bool,
    /// Numbers of its games that it reported learned.
    learned: HashSet<usize>,
    /// Numbers of its games whose result it could not know.
    unknown: HashSet<usize>,
}

/// What became of an adapter's games.
struct Played {
    /// Numbers of the games that it reported learned.
    learned: HashSet<usize>,
    /// Numbers of those whose result it could not know.
    unknown: HashSet<usize>,
    /// It was killed.
    killed: bool,
}

impl Adapter {
    fn start(world: &World, log: &str, score: &str, kill: Option<usize>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabiya"));
        command
            .arg("--engine")
            .arg(scripted_engine())
            .args(["--engine-arg=--legal", "--engine-arg=--score", &format!("--engine-arg={score}")])
            .arg("--book")
            .arg(world.book())
            .args(["--set", "Book Learn=true", "--set", "Book Threshold=0"])
            .env("XDG_STATE_HOME", world.path("state"))
            .arg("--log")
            .arg(world.path(log))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = start(&mut command);
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self {
            process,
            input,
            output: BufReader::new(output),
            left: kill,
            killed: false,
            learned: HashSet::new(),
            unknown: HashSet::new(),
        }
    }

    /// Says a line; nobody listens once the process is killed.
    fn say(&mut self, line: &str) {
        let _ = writeln!(self.input, "{line}");
    }

    /// The next line that begins with one of these words; `None` at the end.
    fn until(&mut self, words: &[&str]) -> Option<String> {
        loop {
            let mut line = String::new();
            // What a killed process had begun to say has no end.
            if self.output.read_line(&mut line).unwrap_or(0) == 0 || !line.ends_with('\n') {
                return None;
            }
            if self.left == Some(0) && !self.killed && self.process.try_wait().unwrap().is_none() {
                self.process.kill().unwrap();
                self.killed = true;
            }
            self.left = self.left.map(|left| left.saturating_sub(1));
            let line = line.trim_end();
            if let Some(rest) = line.strip_prefix("info string tabiya: game ")
                && rest.contains(": learned: ")
            {
                let number = rest.split(' ').next().unwrap().parse().unwrap();
                assert!(self.learned.insert(number), "{line}");
            }
            // After few moves without sense some opponents can mate at once.
            if let Some(rest) = line.strip_prefix("info string tabiya: game ")
                && rest.contains("the opponent's last move may have ")
            {
                self.unknown.insert(rest.split(' ').next().unwrap().parse().unwrap());
            }
            if words.contains(&line.split(' ').next().unwrap_or_default()) {
                return Some(line.to_owned());
            }
        }
    }

    /// Plays a game: the book's move, then three of the engine's. `None` when the process has gone.
    fn play(&mut self, play: &Play) -> Option<()> {
        let mut game = Game::start();
        for mv in &play.moves[..4] {
            game.push(*mv);
        }
        for turn in 0..4 {
            let moves: Vec<String> =
                game.moves().iter().map(|mv| mv.to_uci(CastlingMode::Standard).to_string()).collect();
            self.say(&format!("position startpos moves {}", moves.join(" ")));
            self.say("go depth 1");
            let answer = self.until(&["bestmove"])?;
            let best = answer.split(' ').nth(1).unwrap();
            if turn == 0 {
                assert_eq!(best, play.moves[4].to_uci(CastlingMode::Standard).to_string());
            }
            assert!(game.push_uci(best.as_bytes()));
            let reply = game.position().chess().legal_moves()[0];
            game.push(reply);
        }
        self.say("ucinewgame");
        self.say("isready");
        self.until(&["readyok"]).map(|_| ())
    }

    /// Plays all games and quits.
    fn play_all(mut self, plays: &[&Play]) -> Played {
        self.say("uci");
        let mut alive = self.until(&["uciok"]);
        for play in plays {
            if alive.is_some() {
                alive = self.play(play).map(|()| String::new());
            }
        }
        self.say("quit");
        self.until(&[]);
        let ended = self.process.wait().unwrap();
        // It may have ended while it was being killed.
        assert!(ended.success() || self.killed && (cfg!(windows) || ended.code().is_none()), "{ended}");
        let numbers = |games: &HashSet<usize>| games.iter().map(|number| plays[number - 1].number).collect();
        Played { learned: numbers(&self.learned), unknown: numbers(&self.unknown), killed: self.killed }
    }
}

/// Whether games wait in the spool of a log.
fn waits(world: &World, log: &str) -> bool {
    let spool = fs::read(world.path(&format!("{log}.spool"))).unwrap_or_default();
    // A line without an end was being written when its adapter was killed.
    spool.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"+ ") && line.ends_with(b"}"))
}

/// Lets adapters learn the games that wait in the spool of a log, one adapter after another: each gives up after seconds
/// where the disk is slow. Returns whether there were any.
fn drain(world: &World, log: &str) -> bool {
    let any = waits(world, log);
    let until = Instant::now() + DRAIN_LIMIT;
    while waits(world, log) {
        assert!(Instant::now() < until, "games wait in the spool of {log} for ever");
        Adapter::start(world, log, "cp 0", None).play_all(&[]);
    }
    any
}

#[test]
fn adapters_learn_their_games_and_a_kill_loses_only_what_was_not_reported() {
    let mut world = World::new(CROWD * PARTS * GAMES);
    // Each adapter wins, or loses, all its games.
    world
        .plays
        .iter_mut()
        .for_each(|play| play.points = if (play.number / GAMES).is_multiple_of(2) { 2 } else { 0 });
    let world = &world;
    let log = |worker: usize, part: usize| format!("{worker}-{part}.log");
    let played: Vec<(HashSet<usize>, HashSet<usize>, usize)> = thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD)
            .map(|worker| {
                scope.spawn(move || {
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(worker as u64);
                    let doomed = random.random_range(0..PARTS);
                    let (mut reported, mut whole, mut killed) = (HashSet::new(), HashSet::new(), 0);
                    for part in 0..PARTS {
                        let first = (worker * PARTS + part) * GAMES;
                        let plays: Vec<&Play> = world.plays[first..first + GAMES].iter().collect();
                        // About as many lines as an adapter says in all.
                        let kill = (part == doomed).then(|| random.random_range(30..220));
                        let score = if plays[0].points == 2 { "cp 900" } else { "cp -900" };
                        let adapter = Adapter::start(world, &log(worker, part), score, kill);
                        let played = adapter.play_all(&plays);
                        reported.extend(played.learned);
                        if played.killed {
                            killed += 1;
                        } else {
                            let numbers = plays.iter().map(|play| play.number);
                            whole.extend(numbers.filter(|number| !played.unknown.contains(number)));
                        }
                    }
                    (reported, whole, killed)
                })
            })
            .collect();
        running.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let (mut reported, mut whole, mut killed) = (HashSet::new(), HashSet::new(), 0);
    for (reports, games, kills) in played {
        reported.extend(reports);
        whole.extend(games);
        killed += kills;
    }
    // The first of a doomed adapter's lines at which it may be killed comes long before its last.
    assert!(killed > 0, "each adapter ended before it was killed");
    tabiya_learn::settle(&world.book());
    // What was reported is in the book; on a slow disk other games wait in their adapters' spools.
    assert!(reported.is_subset(&world.learned()));
    let logs: Vec<String> = (0..CROWD * PARTS).map(|number| log(number / PARTS, number % PARTS)).collect();
    let kept = logs.iter().filter(|log| drain(world, log)).count();
    let learned = world.learned();
    // An adapter that lived has kept or learned all of its games, whatever it had the time to report.
    assert!(whole.is_subset(&learned), "{:?}", whole.difference(&learned));
    world.check_last(world.plays.iter().filter(|play| learned.contains(&play.number)));
    println!(
        "{killed} adapters killed of {}; {} games reported, {} more are there, {} are not; {kept} adapters kept games",
        CROWD * PARTS,
        reported.len(),
        learned.difference(&reported).count(),
        world.plays.len() - learned.len()
    );
}
