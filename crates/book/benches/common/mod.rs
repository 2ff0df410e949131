//! What the benches of all book formats share.
#![allow(dead_code, reason = "each bench uses a part")]

use std::collections::HashSet;
use std::hint::black_box;

use criterion::BenchmarkGroup;
use criterion::measurement::WallTime;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{PositionRecord, Scope};
use tabiya_chess::Position;

/// All positions of a book, by their keys.
pub fn every(book: &dyn Book, scope: Scope) -> Vec<PositionRecord> {
    let mut every: Vec<PositionRecord> = Vec::new();
    book.each(scope, &Progress::none(), &mut |known| {
        every.push(known.clone());
        Ok(())
    })
    .unwrap();
    every.sort_by_key(|known| known.key);
    every
}

/// The positions that a book's own moves reach and `keep` accepts, those of fewer plies first.
pub fn reached(book: &dyn Book, keep: impl Fn(&Position) -> bool) -> Vec<Position> {
    let mut known = HashSet::from([Position::start().key()]);
    let mut positions = vec![Position::start()];
    let mut moves = Vec::new();
    let mut at = 0;
    while let Some(position) = positions.get(at).cloned() {
        moves.clear();
        book.moves(&position, &mut moves);
        let next = moves.iter().map(|known| position.after(known.mv));
        positions.extend(next.filter(|next| keep(next) && known.insert(next.key())));
        at += 1;
    }
    positions
}

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
