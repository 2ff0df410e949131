//! How long it takes to find the cycles of a graph of positions and to back values up through it: a random graph of 100,000
//! moves, most of which are in one cycle. For ten million:
//! `TABIYA_FULL_TESTS=1 cargo test --release --lib millions_of -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tabiya_workshop::values::{Backed, Components, KnownValues, Links};

/// Positions of the graph, half of them White's.
const POSITIONS: u32 = 20_000;

/// Moves of each position.
const MOVES: u32 = 5;

fn back_up(c: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let first = (0..=POSITIONS).map(|at| at * MOVES).collect();
    let to = (0..POSITIONS * MOVES).map(|_| rng.random_range(0..POSITIONS)).collect();
    let links = Links::new(first, to).unwrap();
    let known = KnownValues {
        white: (0..POSITIONS).map(|at| at % 2 == 0).collect(),
        own: (0..POSITIONS).map(|_| rng.random_range(-300..300)).collect(),
        chances: Vec::new(),
    };
    c.bench_function("back values up through 100,000 moves", |b| {
        b.iter(|| {
            let components = Components::new(&links);
            Backed::new(black_box(&links), &links.reversed(), &components, &known)
        });
    });
}

criterion_group!(benches, back_up);
criterion_main!(benches);
