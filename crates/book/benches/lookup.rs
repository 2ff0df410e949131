//! How long a Polyglot book takes to find a key, a position's moves and its best move, how long a count file takes to find a
//! position's moves, and how long the name of an opening takes.
//!
//! On a random book of 500,000 entries in memory, on the real book that `GNUCHESS_BOOK` names, if it is set, and on a random
//! count file of two million rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::HashSet;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use shakmaty::Position as _;
use tabiya_base::map::Map;
use tabiya_book::Slice;
#[cfg(feature = "counts")]
use tabiya_book::counts::{CountWriter, CountsRow, Shape};
use tabiya_book::polyglot::Polyglot;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::traits::Book as _;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_chess::openings::Opening;

use common::{moves_and_best, reached};

/// Entries of the random book.
const ENTRIES: usize = 500_000;

/// Positions of the random book; its other keys belong to no known position.
const POSITIONS: usize = 40_000;

/// Rows of the random count file, about three to a position.
#[cfg(feature = "counts")]
const ROWS: usize = 2_000_000;

/// Positions of random games, each once.
fn random_positions(rng: &mut Xoshiro256PlusPlus) -> Vec<Position> {
    let mut known = HashSet::new();
    let mut positions = Vec::new();
    while positions.len() < POSITIONS {
        let mut position = Position::start();
        for _ in 0..40 {
            let moves = position.chess().legal_moves();
            let Some(&mv) = moves.choose(rng) else { break };
            if known.insert(position.key()) {
                positions.push(position.clone());
            }
            position.play(mv);
        }
    }
    positions
}

fn random_book(positions: &[Position], rng: &mut Xoshiro256PlusPlus) -> Polyglot {
    let mut entries = Vec::with_capacity(ENTRIES);
    let mut add = |key, mv, rng: &mut Xoshiro256PlusPlus| {
        entries.push(PolyglotEntry { key, mv, weight: rng.random_range(1..1000), games: 0, halfpoints: 0 });
        entries.len() < ENTRIES
    };
    for position in positions {
        for mv in position.chess().legal_moves().iter().take(rng.random_range(1..6)) {
            add(position.key(), MoveCode::from_move(*mv), rng);
        }
    }
    'full: loop {
        let key = rng.random();
        for mv in 0..rng.random_range(1..6) {
            if !add(key, MoveCode(mv), rng) {
                break 'full;
            }
        }
    }
    entries.sort_by_key(|entry| (entry.key, u16::MAX - entry.weight));
    Polyglot::new("made.bin", entries.iter().flat_map(PolyglotEntry::to_bytes).collect::<Vec<_>>())
}

fn measure(criterion: &mut Criterion, name: &str, book: &Polyglot, positions: &[Position], keys: &[u64]) {
    let mut group = criterion.benchmark_group(name);
    let entries = book.entries();
    let absent: Vec<u64> = keys.iter().map(|key| key ^ 0x5555).collect();
    for (which, keys) in [("lookup present", keys), ("lookup absent", &absent)] {
        let mut next = keys.iter().cycle();
        group.bench_function(which, |bencher| {
            bencher.iter(|| {
                let found = next.next().map(|&key| entries.find(black_box(key)));
                found.into_iter().flatten().map(|entry| u64::from(entry.weight)).sum::<u64>()
            });
        });
    }
    moves_and_best(&mut group, book, positions);
    group.finish();
}

/// The moves of positions in a count file on the disk: of known positions among random keys.
#[cfg(feature = "counts")]
fn counts(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let positions = random_positions(&mut rng);
    let (known, absent) = positions.split_at(POSITIONS / 2);
    let mut rows: Vec<(u64, MoveCode)> = Vec::with_capacity(ROWS);
    for position in known {
        rows.extend(
            position.chess().legal_moves().iter().map(|mv| (position.key(), MoveCode::from_move(*mv))),
        );
    }
    while rows.len() < ROWS {
        let key = rng.random();
        rows.extend((0..rng.random_range(1..6)).map(|to| (key, MoveCode((12 << 6) | (20 + to)))));
    }
    rows.sort_unstable();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.parquet");
    let mut writer = CountWriter::create(&path, Shape::default(), false).unwrap();
    for (key, mv) in rows {
        // Few moves were played often.
        let mut count = || {
            let most = 1_u64 << rng.random::<u32>().leading_zeros().min(16);
            rng.random_range(0..=most)
        };
        let (wins, draws, losses) = (count(), count(), count());
        let line = CountsRow { key, mv, wins, draws, losses, packed: None, slice: Slice::default() };
        writer.add(&line).unwrap();
    }
    writer.finish().unwrap();
    let book = tabiya_book::open_book(&path).unwrap();
    let mut group = criterion.benchmark_group("counts");
    for (which, positions) in [("moves present", known), ("moves absent", absent)] {
        let mut next = positions.iter().cycle();
        group.bench_function(which, |bencher| {
            bencher.iter(|| {
                let mut moves = Vec::new();
                next.next().inspect(|at| book.moves(black_box(at), &mut moves));
                moves
            });
        });
    }
    group.finish();
}

#[cfg(not(feature = "counts"))]
fn counts(_: &mut Criterion) {
    eprintln!("built without count files: look-ups in them are not measured");
}

/// The names of positions that the starter book reaches: those that have one, and the others.
fn openings(criterion: &mut Criterion) {
    let book = tabiya_book::starter_book().unwrap();
    let mut positions = reached(&*book, |_| true);
    positions.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1));
    let (named, others): (Vec<_>, Vec<_>) = positions.iter().partition(|at| Opening::at(at).is_some());
    let mut group = criterion.benchmark_group("openings");
    for (which, positions) in [("name present", named), ("name absent", others)] {
        let mut next = positions.iter().cycle();
        group.bench_function(which, |bencher| {
            bencher.iter(|| next.next().and_then(|at| Opening::at(black_box(at))));
        });
    }
    group.finish();
}

fn lookup(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut positions = random_positions(&mut rng);
    let book = random_book(&positions, &mut rng);
    positions.shuffle(&mut rng);
    let mut keys: Vec<u64> = book.entries().iter().map(|entry| entry.key).collect();
    keys.dedup();
    keys.shuffle(&mut rng);
    measure(criterion, "made", &book, &positions, &keys);

    let Some(path) = std::env::var_os("GNUCHESS_BOOK") else {
        eprintln!("GNUCHESS_BOOK names no book: only the random one is measured");
        return;
    };
    match Map::open(&path) {
        Ok(map) => {
            let book = Polyglot::new(&path, map);
            let mut positions = reached(&book, |at| book.best(at).is_some());
            positions.shuffle(&mut rng);
            let keys: Vec<u64> = positions.iter().map(Position::key).collect();
            measure(criterion, "gnuchess", &book, &positions, &keys);
        }
        Err(error) => eprintln!("{error}"),
    }
}

criterion_group!(benches, lookup, counts, openings);
criterion_main!(benches);
