//! How long an Arena book takes to open (until its index is ready), to find a position's moves, and to be written.
//!
//! On a random book of 140,000 records in memory: games of 40 plies, whose moves are chosen unevenly because lines of real
//! books share their beginnings. And on the real one among the samples, if `TABIYA_SAMPLES` names their folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod common;

use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use shakmaty::{CastlingMode, Position as _};
use tabiya_book::Scope;
use tabiya_book::abk::layout::{HEADER_LEN, ROOT};
use tabiya_book::abk::records::AbkRecord;
use tabiya_book::abk::{Abk, AbkDraft};
use tabiya_chess::Position;

use common::{every, moves_and_best, reached};

/// Bytes of memory that a writer has.
const MEMORY: usize = 64 << 20;

/// Records of the random book.
const RECORDS: usize = 140_000;

/// Plies of each of its games.
const PLIES: usize = 40;

/// A book of random games, and its positions, each once.
fn random_book(rng: &mut Xoshiro256PlusPlus) -> (Vec<u8>, Vec<Position>) {
    let mut records: Vec<AbkRecord> = Vec::with_capacity(RECORDS);
    // By the number of the move before (none at the start) and by the move: its record.
    let mut known: HashMap<(i32, String), usize> = HashMap::new();
    // By the number of the move before: its last reply.
    let mut last: HashMap<i32, usize> = HashMap::new();
    let mut keys = HashSet::new();
    let mut positions = Vec::new();
    'full: loop {
        let (mut position, mut before) = (Position::start(), -1);
        for _ in 0..PLIES {
            let legal = position.chess().legal_moves();
            if legal.is_empty() {
                break;
            }
            // A cube prefers the first ones.
            let pick = rng.random::<f64>().powi(3) * legal.len() as f64;
            let Some(&mv) = legal.get(pick as usize) else { break };
            let uci = mv.to_uci(CastlingMode::Standard).to_string();
            let number = match known.get(&(before, uci.clone())) {
                Some(number) => *number,
                None if records.len() == RECORDS => break 'full,
                None => {
                    let number = records.len();
                    let link = (number + ROOT as usize) as i32;
                    match last.insert(before, number) {
                        Some(sibling) => records[sibling].sibling = link,
                        None if before >= 0 => records[before as usize].child = link,
                        None => {}
                    }
                    known.insert((before, uci), number);
                    if keys.insert(position.key()) {
                        positions.push(position.clone());
                    }
                    records.push(AbkRecord { priority: 5, ..AbkRecord::from_move(mv) });
                    number
                }
            };
            records[number].games += 1;
            position.play(mv);
            before = number as i32;
        }
    }
    let mut data = b"\x03ABK\x70\x62\0\0\x1c\0\0\0".to_vec();
    data.resize(HEADER_LEN as usize, 0);
    // Priority and games count alike.
    data[0xee] = 1;
    data[0xf2] = 1;
    data.extend(records.iter().flat_map(AbkRecord::to_bytes));
    (data, positions)
}

fn measure(criterion: &mut Criterion, name: &str, data: &[u8], positions: &[Position]) {
    let mut group = criterion.benchmark_group(name);
    let open = |data: Vec<u8>| Abk::new("bench.abk", data).expect("the book is sound");
    // Each opening waits for the index of the one before, which would take its time otherwise.
    for (which, index) in [("open", false), ("open and index", true)] {
        group.bench_function(which, |bencher| {
            bencher.iter_custom(|times| {
                let mut spent = Duration::ZERO;
                for _ in 0..times {
                    let data = data.to_vec();
                    let start = Instant::now();
                    let book = open(data);
                    if index {
                        black_box(book.index());
                    }
                    spent += start.elapsed();
                    assert!(!book.index().all().is_empty());
                }
                spent
            });
        });
    }
    let book = open(data.to_vec());
    let index = book.index();
    let known = index.all().chunk_by(|a, b| a.key == b.key).count();
    eprintln!("{name}: {} moves of {known} positions", index.all().len());
    for (which, mask) in [("lookup present", 0), ("lookup absent", 0x5555)] {
        let mut next = positions.iter().cycle();
        group.bench_function(which, |bencher| {
            bencher.iter(|| next.next().map(|at| book.index().of_key(black_box(at.key() ^ mask)).len()));
        });
    }
    moves_and_best(&mut group, &book, positions);
    let every = every(&book, Scope::All);
    group.throughput(Throughput::Elements(every.len() as u64));
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            let mut draft = AbkDraft::new(&std::env::temp_dir(), MEMORY);
            every.iter().try_for_each(|known| draft.add(known)).expect("memory takes everything");
            let mut file: Vec<u8> = Vec::new();
            let put = |bytes: &[u8]| {
                file.extend(bytes);
                Ok(())
            };
            tabiya_book::abk::write_draft(draft, put).map(|written| written.moves).unwrap_or_default()
        });
    });
    group.finish();
}

fn abk(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (data, mut positions) = random_book(&mut rng);
    positions.shuffle(&mut rng);
    measure(criterion, "made", &data, &positions);

    let Some(folder) = std::env::var_os("TABIYA_SAMPLES") else {
        eprintln!("TABIYA_SAMPLES names no folder: only the random book is measured");
        return;
    };
    let path = Path::new(&folder).join("abk/Perfect2021.abk");
    match std::fs::read(&path) {
        Ok(data) => match Abk::new(&path, data.clone()) {
            Ok(book) => {
                let mut positions = reached(&book, |at| !book.index().of_key(at.key()).is_empty());
                positions.shuffle(&mut rng);
                measure(criterion, "Perfect2021", &data, &positions);
            }
            Err(error) => eprintln!("{error}"),
        },
        Err(error) => eprintln!("{}: {error}", path.display()),
    }
}

criterion_group!(benches, abk);
criterion_main!(benches);
