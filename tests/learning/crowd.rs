//! Sixteen processes learn from PGN into one book at once; then again, while one in ten of them is killed.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use super::world::{Play, World};

/// Processes at once.
const CROWD: usize = 16;

/// Games that each of them learns.
const GAMES: usize = 2000;

/// Processes, one after another, that learn one share where some are killed.
const PARTS: usize = 10;

fn learn(book: &Path, games: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tabiya"))
        .args(["learn".as_ref(), book.as_os_str(), "--games".as_ref(), games.as_os_str()])
        .args(["--player", "us", "--list"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The numbers of the games that a process reports learned, or learned before, until it ends. After `kill` lines it is
/// killed.
fn reported(mut child: Child, kill: Option<usize>) -> HashSet<usize> {
    let mut games = HashSet::new();
    let out = BufReader::new(child.stdout.take().unwrap());
    for (count, line) in out.lines().enumerate() {
        if kill == Some(count) {
            child.kill().unwrap();
        }
        // What a killed process had begun to print counts where the line is whole.
        let Ok(line) = line else { break };
        if let Some((game, what)) = line.split_once(": learned")
            && (what.starts_with(", ") || what == " before")
        {
            games.insert(game.rsplit(' ').next().unwrap().parse().unwrap());
        }
    }
    let ended = child.wait().unwrap();
    assert_eq!(ended.success(), kill.is_none(), "{ended}");
    games
}

fn numbers(plays: &[Play]) -> HashSet<usize> {
    plays.iter().map(|play| play.number).collect()
}

#[test]
fn sixteen_processes_learn_every_game_of_theirs() {
    let world = World::new(CROWD * GAMES);
    let shares: Vec<_> = world.plays.chunks(GAMES).collect();
    let files: Vec<_> =
        shares.iter().enumerate().map(|(number, share)| world.pgn(&format!("{number}.pgn"), share)).collect();
    let book = world.book();
    let running: Vec<_> = files.iter().map(|file| learn(&book, file)).collect();
    thread::scope(|scope| {
        for (child, share) in running.into_iter().zip(&shares) {
            scope.spawn(move || assert_eq!(reported(child, None), numbers(share)));
        }
    });
    world.check(&world.plays);
    // Once more: nothing changes.
    assert_eq!(reported(learn(&book, &files[0]), None), numbers(shares[0]));
    world.check(&world.plays);
}

#[test]
fn one_in_ten_is_killed_and_what_was_reported_is_there_once() {
    let world = World::new(CROWD * GAMES);
    let book = world.book();
    let (mut killed, mut unreported) = (0, 0);
    let kept: Vec<(HashSet<usize>, usize)> = thread::scope(|scope| {
        let running: Vec<_> = world
            .plays
            .chunks(GAMES)
            .enumerate()
            .map(|(worker, share)| {
                let (world, book) = (&world, &book);
                scope.spawn(move || {
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(worker as u64);
                    let (mut games, mut killed) = (HashSet::new(), 0);
                    let doomed = random.random_range(0..PARTS);
                    for (part, plays) in share.chunks(GAMES / PARTS).enumerate() {
                        let file = world.pgn(&format!("{worker}-{part}.pgn"), plays);
                        let kill = (part == doomed).then(|| random.random_range(0..plays.len()));
                        killed += usize::from(kill.is_some());
                        games.extend(reported(learn(book, &file), kill));
                    }
                    (games, killed)
                })
            })
            .collect();
        running.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let mut reported_all = HashSet::new();
    for (games, count) in kept {
        reported_all.extend(games);
        killed += count;
    }
    // The next opener finishes what a killed one began.
    tabiya::learn::settle(&book);
    let learned = world.learned();
    unreported += learned.difference(&reported_all).count();
    assert!(reported_all.is_subset(&learned));
    world.check(world.plays.iter().filter(|play| learned.contains(&play.number)));
    println!(
        "{killed} processes killed of {}; {} games reported, {unreported} more are there, {} are not",
        CROWD * PARTS,
        reported_all.len(),
        world.plays.len() - learned.len()
    );
    assert_eq!(killed, CROWD);
    // All of them once more: what is missing is learned, and nothing twice.
    let all = world.pgn("all.pgn", &world.plays);
    assert_eq!(reported(learn(&book, &all), None), numbers(&world.plays));
    world.check(&world.plays);
}
