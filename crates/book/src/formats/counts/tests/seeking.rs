//! Positions are found in place, whoever wrote the file, and a count file is a book.

use parquet::file::properties::EnabledStatistics;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng};
use shakmaty::Position as _;

use tabiya_base::error::ErrorKind;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_chess::Position;

use super::super::kept::KeptRows;
use super::super::*;
use super::rows::{E2E4, line, ours, pages, shaped};
use super::{Column, plain, theirs};
use crate::traits::Book;
use crate::{self as book, Counts, MoveFacts, PositionRecord, Scope};

/// Squares that some piece on e2 moves to.
const TO: [u16; 7] = [19, 20, 21, 28, 36, 44, 52];

/// Rows of keys with one to seven moves, over several row groups: some keys are on two pages, or in two groups.
fn many(rows: usize, seed: u64) -> Vec<CountsRow> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut lines = Vec::with_capacity(rows + 7);
    while lines.len() < rows {
        let key = random.random();
        for to in TO.iter().take(random.random_range(1..=TO.len())) {
            let mv = MoveCode(E2E4.0 & !63 | to);
            lines.push(CountsRow { mv, ..line(key, [random.random_range(0..1000), 1, 2]) });
        }
    }
    lines.sort_by_key(|line| (line.key, line.mv));
    lines
}

/// Compares what is found in place, and in pages that are kept, with the rows themselves, for keys of the file and around them.
fn compare(bytes: Vec<u8>, lines: &[CountsRow], step: usize) {
    let file = CountFile::from_bytes("a.parquet", bytes).unwrap();
    let (keys, kept) = (file.keys().unwrap(), KeptRows::after_many());
    let of_key = |file: &CountFile, key| {
        let [all, _] = [By::default(), file.shape().by].map(|by| {
            let (mut found, mut of_pages) = (Vec::new(), Vec::new());
            file.of_key(&keys, key, by, |line| found.push(*line));
            assert!(kept.of_key((0, file, &keys), key, by, |line| of_pages.push(*line)));
            assert_eq!(found, of_pages, "{key:x} {by:?}");
            found
        });
        all
    };
    compare_stretches(&file, &keys, lines);
    for line in lines.iter().step_by(step) {
        for key in [line.key, line.key.wrapping_add(1)] {
            let expected: Vec<_> = lines.iter().filter(|line| line.key == key).copied().collect();
            assert_eq!(of_key(&file, key), expected, "{key:x}");
        }
    }
    for key in [0, u64::MAX, 1 << 63, (1 << 63) - 1] {
        let expected: Vec<_> = lines.iter().filter(|line| line.key == key).copied().collect();
        assert_eq!(of_key(&file, key), expected, "{key:x}");
    }
}

/// Reads a file in stretches of the keys: each row once, and few that are not of the stretch.
fn compare_stretches(file: &CountFile, keys: &Keys, lines: &[CountsRow]) {
    let mut sorted = lines.to_vec();
    sorted.sort_by_key(|line| (line.key, line.mv, line.slice));
    let least = file.least_rows(keys);
    for stretches in [1, 2, 3, 16] {
        let bound = |stretch: u64| (u128::from(stretch) << 64).div_euclid(stretches);
        let (mut found, mut read) = (Vec::new(), 0);
        for stretch in 0..u64::try_from(stretches).unwrap() {
            let last = u64::try_from(bound(stretch + 1) - 1).unwrap();
            let wanted = u64::try_from(bound(stretch)).unwrap()..=last;
            for (group, rows) in file.between(keys, &wanted) {
                file.rows_in(group, rows, Shape { positions: false, by: file.shape().by }, |line| {
                    read += 1;
                    found.extend(Some(*line).filter(|line| wanted.contains(&line.key)));
                    Ok(())
                })
                .unwrap();
            }
        }
        found.sort_by_key(|line| (line.key, line.mv, line.slice));
        assert!(found == sorted, "{stretches}");
        // The page of the bound and its neighbours, of the numbers with a sign too.
        assert!(read <= sorted.len() as u64 + (stretches as u64 + 1) * 4 * least, "{stretches}: {read}");
    }
}

#[test]
fn a_look_up_decodes_one_page_of_keys() {
    let lines = many(300_000, 8);
    let file = CountFile::from_bytes("a.parquet", ours(&lines, false)).unwrap();
    for line in lines.iter().step_by(997) {
        let rows = file.rows_read(line.key).unwrap();
        // A key may begin on one page and end on the next.
        assert!(rows.clone().count() <= 2048, "{rows:?}");
        let first = lines.iter().position(|other| other.key == line.key).unwrap() as u64;
        assert!(rows.contains(&(first % (1 << 18))), "{rows:?} {first}");
    }
    let (signed, _) = signed(&lines[..3_000], 1_000, false, EnabledStatistics::Page);
    let file = CountFile::from_bytes("a.parquet", signed).unwrap();
    let rows = file.rows_read(lines[0].key).unwrap();
    assert!(rows.clone().count() <= 200, "{rows:?}");
}

#[test]
fn every_key_is_found_on_its_page() {
    // A row group or two, and some pages of another.
    let lines = many(tabiya_testing::times(1 << 18, 1 << 19) + 10_000, 1);
    compare(ours(&lines, false), &lines, 9_973);
    compare(ours(&[], false), &[], 1);
    let by = By { speed: true, rating: true };
    let few = many(20_000, 2);
    compare(shaped(&few, Shape { positions: false, by }), &few, 501);
}

/// The rows as another program writes them: keys with a sign, in their order, in groups of some rows.
fn signed(
    lines: &[CountsRow],
    rows: usize,
    decimal: bool,
    statistics: EnabledStatistics,
) -> (Vec<u8>, Vec<CountsRow>) {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|line| (line.key.cast_signed(), line.mv));
    let key = if decimal { "fixed_len_byte_array(9) key (DECIMAL(20,0))" } else { "int64 key" };
    let schema = format!(
        "required {key}; required int32 move; required int64 wins; required int64 draws; required int64 losses;"
    );
    let wide = |key: u64| i128::from(key.cast_signed()).to_be_bytes()[7..].to_vec();
    let groups: Vec<_> = lines
        .chunks(rows)
        .map(|lines| {
            let count = |count: fn(&CountsRow) -> u64| {
                Column::I64(lines.iter().map(|line| count(line).cast_signed()).collect())
            };
            vec![
                if decimal {
                    Column::Fixed(lines.iter().map(|line| wide(line.key)).collect())
                } else {
                    count(|line| line.key)
                },
                Column::I32(lines.iter().map(|line| line.mv.0.into()).collect()),
                count(|line| line.wins),
                count(|line| line.draws),
                count(|line| line.losses),
            ]
        })
        .collect();
    let properties = plain()
        .set_statistics_enabled(statistics)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50);
    (theirs(&schema, &groups, properties), lines)
}

#[test]
fn keys_with_a_sign_and_files_without_an_index_of_pages_are_read_in_place() {
    let lines = many(3_000, 3);
    for statistics in [EnabledStatistics::Page, EnabledStatistics::Chunk] {
        for decimal in [false, true] {
            let (bytes, sorted) = signed(&lines, 1_000, decimal, statistics);
            compare(bytes, &sorted, 101);
        }
    }
}

#[test]
fn a_file_in_which_nothing_can_be_found_is_no_book() {
    let refusal = |bytes: Vec<u8>| book::open_bytes("a.parquet", bytes).err().map(|error| error.to_string());
    let said = "a.parquet: cannot look up positions in this count file: it is not sorted by key: \
        sort it";
    let mut lines = many(tabiya_testing::times(300_000, 600_000), 4);
    lines.reverse();
    assert_eq!(refusal(ours(&lines, false)).as_deref(), Some(said));
    let (bytes, _) = signed(&lines[..3_000], 1_000, false, EnabledStatistics::None);
    assert_eq!(refusal(bytes).as_deref(), Some(said));
}

/// Some random games, as the rows of all of them and for each position its moves.
fn games(seed: u64) -> Vec<CountsRow> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut lines: Vec<CountsRow> = Vec::new();
    let mut add = |at: &Position, mv: MoveCode, wins: u64, losses: u64| {
        let packed = Packed::new(at);
        match lines.iter_mut().find(|line| (line.key, line.mv) == (at.key(), mv)) {
            Some(line) => (line.wins, line.losses) = (line.wins + wins, line.losses + losses),
            None => lines.push(CountsRow { mv, packed, ..line(at.key(), [wins, 0, losses]) }),
        }
    };
    for game in 0..60 {
        let mut position = Position::start();
        let mut wins = game % 2;
        for _ in 0..random.random_range(4..12) {
            let legal = position.chess().legal_moves();
            let mv = *legal.get(random.random_range(0..legal.len().min(3))).unwrap();
            add(&position, MoveCode::from_move(mv), wins, 1 - wins);
            position.play(mv);
            wins = 1 - wins;
        }
        add(&position, MoveCode::NULL, wins, 1 - wins);
    }
    lines.sort_by_key(|line| (line.key, line.mv));
    lines
}

fn records(book: &dyn Book, scope: Scope) -> (Vec<PositionRecord>, u64) {
    let mut records = Vec::new();
    let left_out = book
        .each(scope, &Progress::none(), &mut |record| {
            records.push(record.clone());
            Ok(())
        })
        .unwrap();
    (records, left_out)
}

#[test]
fn a_count_file_is_a_book_of_its_positions() {
    let lines = games(5);
    let book = book::open_bytes("a.parquet", ours(&lines, true)).unwrap();
    assert_eq!(book.format().to_string(), "counts");
    assert!(book.holds_positions());
    let (all, _) = records(&*book, Scope::All);
    let moves = lines.iter().filter(|line| line.mv != MoveCode::NULL).count();
    assert_eq!(all.iter().map(|record| record.moves.len()).sum::<usize>(), moves);
    for record in &all {
        let position = record.position.as_ref().unwrap();
        let rows: Vec<_> = lines.iter().filter(|line| line.key == record.key).collect();
        let total = rows.iter().fold(0, |sum, line| sum + line.wins + line.losses);
        assert_eq!(record.total.unwrap().games, total);
        let mut found = Vec::new();
        book.moves(position, &mut found);
        let found: Vec<_> = found.into_iter().map(MoveFacts::<MoveCode>::from).collect();
        assert_eq!(found, record.moves);
        let rows = rows.iter().filter(|line| line.mv != MoveCode::NULL);
        for (facts, line) in record.moves.iter().zip(rows) {
            let counts =
                Counts { games: line.wins + line.losses, wins: line.wins, draws: 0, losses: line.losses };
            assert_eq!((facts.mv, facts.counts, facts.weight), (line.mv, Some(counts), 2 * line.wins));
        }
    }
    // A position of a move that weighs nothing is reached as well.
    let (reached, left_out) = records(&*book, Scope::Reachable);
    assert_eq!((reached.len(), left_out), (all.len(), 0));
    let visited = std::cell::Cell::new(0);
    book.each(Scope::All, &Progress::none(), &mut |_| {
        visited.set(visited.get() + 1);
        Err(Break::Enough)
    })
    .unwrap();
    assert_eq!(visited.get(), 1);
}

#[test]
fn files_of_a_folder_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (games(6), games(7));
    std::fs::write(folder.path().join("part-1.parquet"), ours(&first, true)).unwrap();
    std::fs::write(folder.path().join("part-0.parquet"), ours(&second, true)).unwrap();
    let book = book::open_book(folder.path()).unwrap();
    assert_eq!((book.path(), book.files().len()), (folder.path(), 2));
    let mut found = Vec::new();
    book.moves(&Position::start(), &mut found);
    let start = |lines: &[CountsRow], mv| {
        let fits = |line: &&CountsRow| (line.key, line.mv) == (Position::start().key(), mv);
        lines.iter().find(fits).map_or(0, |line| line.wins + line.losses)
    };
    assert!(found.len() >= 2);
    for facts in found {
        let mv = MoveCode::from_move(facts.mv);
        assert_eq!(facts.counts.unwrap().games, start(&first, mv) + start(&second, mv));
    }
    std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
    assert_eq!(book::open_book(folder.path()).err().unwrap().kind(), ErrorKind::File);
}

#[test]
fn what_look_ups_cannot_read_is_reported_and_nothing_else_is_read() {
    let file = ours(&games(5), true);
    // The positions are on the last page, which no look-up reads.
    for (place, page) in pages(&file).iter().enumerate() {
        let mut bytes = file.clone();
        bytes[page.start] ^= 4;
        let book = book::open_bytes("a.parquet", bytes).unwrap();
        let of_look_ups = || book.damage_to_look_ups(&Progress::none());
        assert_eq!(of_look_ups(), [], "{place}");
        let is_read = place + 1 < pages(&file).len();
        assert_eq!(book.moves_in(&Position::start()).is_empty(), is_read, "{place}");
        assert_eq!(of_look_ups().len(), usize::from(is_read), "{place}");
        let all = book.damage(&Progress::none());
        assert_eq!((all.len(), of_look_ups()), (1, all), "{place}");
    }
}
