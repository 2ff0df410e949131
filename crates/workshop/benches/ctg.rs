//! How long a CTG book takes to open, to find an entry, to give a position's moves with the statistics of each, to be
//! written, and to be converted.
//!
//! On the sample book perfect2021 in the folder that `TABIYA_SAMPLES` names, and on a sparse file of 100 GB.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../book/benches/common/mod.rs"]
mod common;

use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use tabiya_base::progress::Progress;
use tabiya_book::ctg::layout::{CTB_START, CTG_START, CTO_START};
use tabiya_book::ctg::{Ctg, CtgDraft};
use tabiya_book::{self as book, Green, Moves, Scope, Weights, WriteOptions};
use tabiya_chess::Position;
use tabiya_workshop::bookmaker;

use common::{every, moves_and_best, reached};

/// Bytes of memory that a writer has.
const MEMORY: usize = 64 << 20;

/// Bytes of the sparse book.
const HUGE: u64 = 100_000_000_000;

fn measure(criterion: &mut Criterion, name: &str, book: &Ctg, positions: &[Position]) {
    let mut group = criterion.benchmark_group(name);
    let mut next = positions.iter().cycle();
    group.bench_function("entry", |bencher| {
        bencher.iter(|| {
            next.next().and_then(|position| book.entry(black_box(position)).map(|entry| entry.statistics()))
        });
    });
    moves_and_best(&mut group, book, positions);
    group.finish();
}

/// A book's positions written into memory, and the book converted as `tabiya convert` does, to each format.
fn write(criterion: &mut Criterion, folder: &Path, book: &Ctg) {
    let every = every(book, Scope::Reachable);
    let mut group = criterion.benchmark_group("perfect2021");
    group.sample_size(10);
    group.throughput(Throughput::Elements(every.len() as u64));
    group.bench_function("write .ctg", |bencher| {
        bencher.iter_batched_ref(
            Vec::new,
            |pages: &mut Vec<u8>| {
                let mut draft = CtgDraft::new(Green::default(), &std::env::temp_dir(), MEMORY);
                every.iter().try_for_each(|known| draft.add(known)).expect("memory takes everything");
                let put = |page: &[u8]| {
                    pages.extend(page);
                    Ok(())
                };
                draft.write(put).map(|beside| beside.written.positions).unwrap_or_default()
            },
            BatchSize::PerIteration,
        );
    });
    group.throughput(Throughput::Elements(1));
    let mut options = WriteOptions::default();
    options.force = true;
    for end in ["bin", "ctg", "abk"] {
        let path = folder.join("converted").with_extension(end);
        group.bench_function(format!("convert to .{end}"), |bencher| {
            bencher.iter(|| {
                let resources =
                    bookmaker::Resources::new(None, None, None).expect("a folder for temporary files");
                let writer = book::create_book(&path, &options).expect("a folder to write to");
                bookmaker::merge(
                    &[(book, Scope::Reachable)],
                    Weights::Points,
                    &resources,
                    writer,
                    &Progress::none(),
                )
                .is_ok()
            });
        });
    }
    group.finish();
}

/// A book of 100 GB with one page that is in use.
fn huge(folder: &Path) -> std::io::Result<()> {
    let mut header = CTG_START.to_vec();
    header.resize(4096, 0);
    fs::write(folder.join("huge.ctg"), &header)?;
    File::options().write(true).open(folder.join("huge.ctg"))?.set_len(HUGE)?;
    fs::write(folder.join("huge.cto"), [&CTO_START[..], &[0, 0, 0, 1], &[0; 12]].concat())?;
    fs::write(folder.join("huge.ctb"), [&CTB_START[..], &[0; 8]].concat())
}

fn ctg(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    match huge(folder.path()) {
        Ok(()) => {
            let path = folder.path().join("huge.ctg");
            criterion.bench_function("open 100 GB", |bencher| {
                bencher.iter(|| Ctg::open(black_box(&path)).is_ok());
            });
        }
        Err(error) => eprintln!("no sparse file can be made here: {error}"),
    }
    let Some(samples) = std::env::var_os("TABIYA_SAMPLES") else {
        eprintln!("TABIYA_SAMPLES names no folder of sample books: only opening is measured");
        return;
    };
    let path = Path::new(&samples).join("ctg/perfect2021/Perfect2021.ctg");
    let book = match Ctg::open(&path) {
        Ok(book) => book,
        Err(error) => return eprintln!("{error}"),
    };
    criterion.bench_function("open perfect2021", |bencher| {
        bencher.iter(|| Ctg::open(black_box(&path)).is_ok());
    });
    write(criterion, folder.path(), &book);
    let mut positions = reached(&book, |_| true);
    let shallow: Vec<Position> = positions.iter().take(1000).cloned().collect();
    positions.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1));
    measure(criterion, "perfect2021", &book, &positions);
    let many: Vec<Position> = shallow
        .into_iter()
        .filter(|position| {
            let mut moves = Vec::new();
            book.moves(position, &mut moves);
            moves.len() >= 5
        })
        .collect();
    measure(criterion, "perfect2021, five moves and more", &book, &many);
}

criterion_group!(benches, ctg);
criterion_main!(benches);
