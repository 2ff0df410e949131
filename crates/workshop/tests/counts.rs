//! Merging count files: what is written comes back, whatever the order, the groups and the memory.
#![cfg(feature = "counts")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../book/src/formats/counts/tests/rows.rs"]
mod rows;

use std::fs;

use proptest::prelude::*;
use shakmaty::Position as _;
use tempfile::TempDir;

use tabiya_base::error::Remedy;
use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_book::counts::{CountFile, CountsRow, Shape, sum};
use tabiya_chess::Variant;
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_games as games;
use tabiya_workshop::bookmaker::{Filter, Input, NewCounts, OpenCounts, Repeated, Resources, write_counts};

use rows::{line, lines, ours, pages, rows, shaped, slices_of};

/// Merges files into one, and gives its bytes.
fn merged(files: &[Vec<u8>], positions: bool, threads: usize, memory: usize) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("all.parquet");
    let files: Vec<_> =
        files.iter().map(|file| CountFile::from_bytes("a.parquet", file.clone()).unwrap()).collect();
    let resources = Resources { threads, memory, temp: folder.path().to_owned() };
    let by = files.iter().map(|file| file.shape().by).reduce(By::and).unwrap_or_default();
    let input = Input {
        games: &mut games::open_files(&[]).unwrap(),
        repeated: &Repeated::default(),
        counts: &files.into(),
        work: None,
    };
    let new = NewCounts::create(&path, positions, by, Variant::Chess, false).unwrap();
    write_counts(input, &Filter::default(), &resources, new, &Progress::none()).unwrap();
    fs::read(&path).unwrap()
}

/// Positions of a game, with their keys, as rows.
fn placed(steps: &[prop::sample::Index]) -> Vec<CountsRow> {
    let mut position = Position::start();
    let mut lines = Vec::new();
    for step in steps {
        let legal = position.chess().legal_moves();
        if legal.is_empty() {
            break;
        }
        let mv = *step.get(&legal);
        let packed = Packed::new(&position);
        lines.push(CountsRow { mv: MoveCode::from_move(mv), packed, ..line(position.key(), [1, 2, 3]) });
        position.play(mv);
    }
    lines.sort_by_key(|line| (line.key, line.mv));
    lines.dedup_by_key(|line| (line.key, line.mv));
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(8, 48)))]

    #[test]
    fn slices_come_back_and_add_up(lines in slices_of(7, 10)) {
        prop_assume!(!lines.is_empty());
        let by = By { speed: true, rating: true };
        let file = shaped(&lines, Shape { positions: false, by });
        prop_assert_eq!(&rows(file.clone(), false).unwrap(), &lines);
        prop_assert_eq!(&merged(std::slice::from_ref(&file), false, 2, 1 << 12), &file);
        let (sum, found) = summed(|findings| {
            let open = CountFile::from_bytes("a.parquet", file.clone()).unwrap();
            sum(&open, &Progress::none(), findings)
        });
        prop_assert_eq!((sum.unwrap().rows, found.len()), (lines.len() as u64, 0));
        // Without the columns each move is in one row.
        let mut model = std::collections::BTreeMap::<_, [u64; 3]>::new();
        for line in &lines {
            let counts = model.entry((line.key, line.mv)).or_default();
            for (sum, count) in counts.iter_mut().zip([line.wins, line.draws, line.losses]) {
                *sum += count;
            }
        }
        let expected: Vec<_> =
            model.into_iter().map(|((key, mv), counts)| CountsRow { mv, ..line(key, counts) }).collect();
        prop_assert_eq!(&merged(&[file, ours(&[], false)], false, 1, 1 << 20), &ours(&expected, false));
    }

    #[test]
    fn positions_come_back(steps in prop::collection::vec(any::<prop::sample::Index>(), 1..80)) {
        let lines = placed(&steps);
        let file = ours(&lines, true);
        prop_assert_eq!(&rows(file.clone(), true).unwrap(), &lines);
        let files = [file];
        prop_assert_eq!(&merged(&files, true, 2, 1 << 20), &files[0]);
    }

    #[test]
    fn merging_is_exact_whatever_the_order_the_groups_and_the_memory(
        a in lines(), b in lines(), c in lines(),
    ) {
        let files = [&a, &b, &c].map(|lines| ours(lines, false));
        let all = merged(&files, false, 1, 1 << 20);
        let [a_file, b_file, c_file] = files.clone();
        let once = |files: &[Vec<u8>]| merged(files, false, 2, 1 << 12);
        prop_assert_eq!(&once(&[once(&[c_file.clone(), a_file.clone()]), b_file.clone()]), &all);
        prop_assert_eq!(&once(&[c_file, once(&[b_file, a_file])]), &all);
        let mut model = std::collections::BTreeMap::new();
        for line in a.iter().chain(&b).chain(&c) {
            let counts: &mut [u64; 3] = model.entry((line.key, line.mv)).or_default();
            for (sum, count) in counts.iter_mut().zip([line.wins, line.draws, line.losses]) {
                *sum += count;
            }
        }
        let expected: Vec<_> =
            model.into_iter().map(|((key, mv), counts)| CountsRow { mv, ..line(key, counts) }).collect();
        prop_assert_eq!(rows(all, false).unwrap(), expected);
    }
}

#[test]
fn missing_positions_are_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.parquet");
    fs::write(&path, ours(&[line(1, [1, 0, 0])], false)).unwrap();
    let file = OpenCounts::from(vec![CountFile::open(&path).unwrap()]);
    let to = |positions| {
        let path = folder.path().join("b.parquet");
        NewCounts::create(&path, positions, By::default(), Variant::Chess, false).unwrap()
    };
    let resources = Resources { threads: 1, memory: 1 << 20, temp: folder.path().to_owned() };
    let write = |positions| {
        let input = Input {
            games: &mut games::open_files(&[]).unwrap(),
            repeated: &Repeated::default(),
            counts: &file,
            work: None,
        };
        write_counts(input, &Filter::default(), &resources, to(positions), &Progress::none())
    };
    assert_eq!(write(true).unwrap_err().remedy(), Some(Remedy::CountPositions));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(write(false).unwrap().1.rows, 1);
}

#[test]
fn what_can_be_read_of_damaged_files_is_merged() {
    let folder = TempDir::new().unwrap();
    let sound = ours(&[line(1, [1, 2, 3])], false);
    let mut damaged = ours(&[line(2, [4, 5, 6])], false);
    let at = pages(&damaged)[0].start;
    damaged[at] ^= 1;
    let files = [sound, damaged].map(|file| CountFile::from_bytes("a.parquet", file).unwrap());
    let files = OpenCounts::from(Vec::from(files));
    let merge = || {
        let path = folder.path().join("all.parquet");
        let input = Input {
            games: &mut games::open_files(&[]).unwrap(),
            repeated: &Repeated::default(),
            counts: &files,
            work: None,
        };
        let resources = Resources { threads: 2, memory: 1 << 26, temp: folder.path().to_owned() };
        let new = NewCounts::create(&path, false, By::default(), Variant::Chess, true).unwrap();
        write_counts(input, &Filter::default(), &resources, new, &Progress::none()).unwrap();
        rows(fs::read(&path).unwrap(), false)
    };
    assert_eq!(merge().unwrap(), [line(1, [1, 2, 3])]);
    let [(_, sound), (_, found)] = &*files.damage() else { panic!("two files") };
    let ([], [found]) = (&**sound, &**found) else { panic!("one finding") };
    assert!(found.is_error() && found.offset.is_some_and(|offset| offset < at as u64), "{found}");
}
