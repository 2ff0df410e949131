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
use tabiya_workshop::bookmaker::{
    Filter, Input, NewCounts, OpenCounts, Repeated, Resources, add_up, write_counts,
};

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

/// Rows of 20,000 keys all over the key space, which grow with `step`.
fn spread(step: u64) -> Vec<CountsRow> {
    within(step, 900_000_000_000_000)
}

/// The same with keys that are so far from one another.
fn within(step: u64, distance: u64) -> Vec<CountsRow> {
    (1..=20_000_u64).map(|number| line(number * distance + step, [step, 0, 0])).collect()
}

/// Merges files with little memory and no folder for temporary files, and gives the rows and what could not be read.
fn merged_in_stretches(files: Vec<Vec<u8>>) -> (Vec<CountsRow>, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("all.parquet");
    let files = files.into_iter().map(|file| CountFile::from_bytes("a.parquet", file).unwrap());
    let files = OpenCounts::from(files.collect::<Vec<_>>());
    let resources = Resources { threads: 2, memory: 5 << 19, temp: folder.path().join("missing") };
    let new = NewCounts::create(&path, false, By::default(), Variant::Chess, false).unwrap();
    let (_, written) = add_up(&files, &Filter::default(), &resources, new, &Progress::none()).unwrap();
    let found = files.damage().into_iter().flat_map(|(_, found)| found).map(|finding| finding.to_string());
    let rows = rows(fs::read(&path).unwrap(), false).unwrap();
    assert_eq!(rows.len() as u64, written.rows);
    (rows, found.collect())
}

#[test]
fn sorted_files_are_merged_without_temporary_files() {
    // All over the key space, or all in a stretch of it.
    for distance in [900_000_000_000_000, 50_000_000_000_000] {
        let all = [1, 2, 3].map(|step| within(step, distance));
        let (rows, found) = merged_in_stretches(all.iter().map(|lines| ours(lines, false)).collect());
        let mut expected = all.concat();
        expected.sort_by_key(|line| line.key);
        assert!(rows == expected && found.is_empty(), "{found:?}");
    }
    let all = [1, 2, 3].map(spread);
    // More rows of the same keys, in a file that is not sorted.
    let (mut sorted, mut other) = (spread(1), spread(1));
    other.truncate(5_000);
    other.reverse();
    let (rows, found) =
        merged_in_stretches([&sorted, &all[1], &all[2], &other].map(|lines| ours(lines, false)).into());
    sorted[..5_000].iter_mut().for_each(|line| line.wins = 2);
    let mut expected = [sorted, all[1].clone(), all[2].clone()].concat();
    expected.sort_by_key(|line| line.key);
    assert!(rows == expected && found.is_empty(), "{found:?}");
}

#[test]
fn what_cannot_be_found_in_sorted_files_is_reported() {
    let lines = [1, 2, 3].map(spread);
    let files = lines.each_ref().map(|lines| ours(lines, false));
    let (all, _) = merged_in_stretches(files.clone().into());
    let lost = |bytes: Vec<u8>| {
        let (rows, found) = merged_in_stretches(vec![files[0].clone(), bytes, files[2].clone()]);
        let is_missing = |line: &&CountsRow| rows.binary_search_by_key(&line.key, |row| row.key).is_err();
        let missing: Vec<_> = all.iter().filter(is_missing).map(|line| (line.key, line.wins)).collect();
        assert_eq!(rows.len() + missing.len(), all.len());
        (missing, found)
    };
    // A page of counts: what comes after it in its row group is not read, as when the file is read from its start.
    let mut damaged = files[1].clone();
    let all_pages = pages(&damaged);
    let of_column = all_pages.len() / 5;
    let at = all_pages[2 * of_column + of_column / 2].start + 20;
    damaged[at] ^= 1;
    let (missing, found) = lost(damaged);
    assert!(found.len() == 1 && found[0].contains("row "), "{found:?}");
    assert!((1_000..19_000).contains(&missing.len()) && missing.iter().all(|(_, wins)| *wins == 2));
    assert!(missing.iter().any(|(key, _)| *key == lines[1].last().unwrap().key));
    // An index by which the keys of three pages are those of the next one.
    let mut wrong = files[1].clone();
    let index = all_pages.last().unwrap().end;
    let key = |row: usize| lines[1][row].key.to_le_bytes();
    for row in (5..8).flat_map(|page| [page * 1024, page * 1024 + 1023]) {
        let at = index + wrong[index..].windows(8).position(|bytes| bytes == key(row)).unwrap();
        wrong[at..at + 8].copy_from_slice(&key(8 * 1024));
    }
    let (missing, found) = lost(wrong);
    let said = format!("{} rows were not found: their keys are not where the file says", missing.len());
    assert!(
        !missing.is_empty() && found.len() == 1 && found[0].contains(&said),
        "{found:?} {}",
        missing.len()
    );
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
