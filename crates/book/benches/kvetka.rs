//! How long a Kvetka book takes to open, to give a position's moves with the statistics of each, and to be written.
//!
//! On a made book of 1,000,000 positions: random games of 40 plies, whose moves are chosen unevenly so that lines share
//! their beginnings as those of real books do. And on one of 1 GB in 20 MB files, most of it sparse.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod common;

use std::collections::HashSet;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use shakmaty::Position as _;
use tabiya_book::kvetka::layout::{BLOCK_LEN, MAX_FILE};
use tabiya_book::kvetka::{Kvetka, KvetkaWriter};
use tabiya_book::traits::Book;
use tabiya_book::{BookWriter, Counts, MoveFacts, PositionRecord, WriteOptions};
use tabiya_chess::MoveCode;
use tabiya_chess::{Packed, Position};

use common::moves_and_best;

/// Positions of the made book.
const POSITIONS: usize = 1_000_000;

/// Plies of each of its games.
const PLIES: usize = 40;

/// Positions that are looked up.
const ASKED: usize = 100_000;

/// Bytes of the sparse book.
const HUGE: u64 = 1_000_000_000;

/// A position with a move of it, as small as can be.
type Step = (Packed, u64, u16);

/// The moves of random games, until they have been in so many positions; sorted by position.
fn steps(rng: &mut Xoshiro256PlusPlus) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut keys = HashSet::new();
    while keys.len() < POSITIONS {
        let mut position = Position::start();
        for _ in 0..PLIES {
            let legal = position.chess().legal_moves();
            // A cube prefers the first ones.
            let pick = rng.random::<f64>().powi(3) * legal.len() as f64;
            let Some(&mv) = legal.get(pick as usize) else { break };
            if let Some(packed) = Packed::new(&position) {
                steps.push((packed, position.key(), MoveCode::from_move(mv).0));
            }
            keys.insert(position.key());
            position.play(mv);
        }
    }
    steps.sort_unstable_by_key(|(_, key, mv)| (*key, *mv));
    steps
}

/// Shows each position of the games with its moves, in the order of keys.
fn each_known(steps: &[Step], see: &mut dyn FnMut(&PositionRecord)) {
    let counts = |games: usize| {
        let games = games as u64;
        Counts { games, wins: games / 2, draws: games % 2, losses: games - games / 2 - games % 2 }
    };
    for here in steps.chunk_by(|a, b| a.1 == b.1) {
        let moves = here.chunk_by(|a, b| a.2 == b.2).map(|same| {
            let counts = counts(same.len());
            let weight = 2 * counts.wins + counts.draws;
            MoveFacts { counts: Some(counts), ..MoveFacts::new(MoveCode(same[0].2), weight) }
        });
        see(&PositionRecord {
            key: here[0].1,
            position: here[0].0.unpack(),
            moves: moves.collect(),
            total: Some(counts(here.len())),
            ..PositionRecord::default()
        });
    }
}

fn write(path: &Path, steps: &[Step]) -> (u64, Duration) {
    let mut options = WriteOptions::default();
    options.force = true;
    let mut spent = Duration::ZERO;
    let mut writer = Box::new(KvetkaWriter::new(path, &options).expect("the folder can be written"));
    // What makes the positions is no part of the writing.
    each_known(steps, &mut |known| {
        let start = Instant::now();
        writer.add(known).expect("there is room");
        spent += start.elapsed();
    });
    let start = Instant::now();
    let written = writer.finish().expect("there is room");
    (written.positions, spent + start.elapsed())
}

/// A book of 1 GB whose first block is that of a small one: the others are zeros.
fn huge(folder: &Path, small: &[u8]) -> std::io::Result<()> {
    let mut blocks = 0;
    for number in 0..HUGE.div_ceil(MAX_FILE) {
        let path = folder.join(format!("huge_{number}.kob"));
        let len = MAX_FILE - MAX_FILE % BLOCK_LEN;
        let start = if number == 0 { small.len() as u64 - BLOCK_LEN } else { 0 };
        fs::write(&path, if number == 0 { small } else { &[] })?;
        File::options().write(true).open(&path)?.set_len(start + len - BLOCK_LEN)?;
        blocks += len / BLOCK_LEN - 1;
    }
    let at = small.len() - BLOCK_LEN as usize - 4;
    let mut first = fs::read(folder.join("huge_0.kob"))?;
    first[at..at + 4].copy_from_slice(&(blocks as u32).to_be_bytes());
    fs::write(folder.join("huge_0.kob"), &first)?;
    fs::write(folder.join("huge.kin"), first_key(&first, at).repeat(blocks as usize))
}

/// The key of the first element behind a header that ends four bytes behind `at`.
fn first_key(file: &[u8], at: usize) -> Vec<u8> {
    file[at + 4 + 2 + 1..][..22].to_vec()
}

fn opening(criterion: &mut Criterion, name: &str, path: &Path) {
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| Kvetka::open(black_box(path)).is_ok());
    });
}

fn kvetka(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let steps = steps(&mut rng);
    for _ in 0..3 {
        let (positions, spent) = write(&path("made.kob"), &steps);
        let rate = positions as f64 / spent.as_secs_f64();
        eprintln!("writing: {positions} positions in {spent:.2?}, {rate:.0} a second");
    }
    let one = [steps[0]];
    write(&path("small.kob"), &one);
    let small = fs::read(path("small_0.kob")).expect("it was written");
    match huge(folder.path(), &small) {
        Ok(()) => {
            opening(criterion, "open 1 GB with .kin", &path("huge.kob"));
            fs::remove_file(path("huge.kin")).expect("it was written");
            opening(criterion, "open 1 GB without .kin", &path("huge.kob"));
        }
        Err(error) => eprintln!("no sparse files can be made here: {error}"),
    }
    // Each position as likely as any other.
    let mut keys: Vec<&[Step]> = steps.chunk_by(|a, b| a.1 == b.1).collect();
    keys.shuffle(&mut rng);
    let unpack = |steps: &&[Step]| steps[0].0.unpack();
    let positions: Vec<Position> = keys.iter().take(ASKED).filter_map(unpack).collect();
    let different = |steps: &[Step]| steps.chunk_by(|a, b| a.2 == b.2).count();
    let five: Vec<Position> = keys.iter().filter(|steps| different(steps) >= 5).filter_map(unpack).collect();
    opening(criterion, "open with .kin", &path("made.kob"));
    for index in ["with .kin", "without .kin"] {
        if index == "without .kin" {
            fs::remove_file(path("made.kin")).expect("it was written");
            opening(criterion, "open without .kin", &path("made.kob"));
        }
        let book = Kvetka::open(path("made.kob")).expect("it was written");
        assert!(book.warnings().is_empty());
        let mut group = criterion.benchmark_group(format!("1,000,000 positions {index}"));
        let mut next = positions.iter().cycle();
        group.bench_function("results", |bencher| {
            bencher.iter(|| next.next().and_then(|position| book.results(black_box(position))));
        });
        moves_and_best(&mut group, &book, &positions);
        group.finish();
        let mut group =
            criterion.benchmark_group(format!("{} positions of five moves and more {index}", five.len()));
        moves_and_best(&mut group, &book, &five);
        group.finish();
    }
}

criterion_group!(benches, kvetka);
criterion_main!(benches);
