//! What the benches of all book formats measure alike.

use std::hint::black_box;

use criterion::BenchmarkGroup;
use criterion::measurement::WallTime;
use tabiya::book::Book;
use tabiya::chess::Position;

/// All moves of a position, and the best alone, one position after the other.
pub fn moves_and_best(group: &mut BenchmarkGroup<'_, WallTime>, book: &impl Book, positions: &[Position]) {
    let mut moves = Vec::new();
    let mut next = positions.iter().cycle();
    group.bench_function("moves", |bencher| {
        bencher.iter(|| {
            moves.clear();
            if let Some(position) = next.next() {
                book.moves(black_box(position), &mut moves);
            }
            moves.len()
        });
    });
    let mut next = positions.iter().cycle();
    group.bench_function("best", |bencher| {
        bencher.iter(|| next.next().and_then(|position| book.best(black_box(position))));
    });
}
