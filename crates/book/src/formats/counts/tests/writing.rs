//! What is written comes back, whatever the order, the groups and the memory.

use proptest::prelude::*;
use shakmaty::Position as _;
use tempfile::TempDir;

use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;
use tabiya_games as games;
use tabiya_workshop::bookmaker::{Damage, Filter, Input, Repeated, Resources, write_counts};

use super::super::*;
use super::{E2E4, line, ours, rows, shaped};

/// Merges files into one, and gives its bytes.
fn merged(files: &[Vec<u8>], positions: bool, threads: usize, memory: usize) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("all.parquet");
    let files: Vec<_> =
        files.iter().map(|file| CountFile::from_bytes("a.parquet", file.clone()).unwrap()).collect();
    let resources = Resources { threads, memory, temp: folder.path().to_owned() };
    let input = Input {
        games: &mut games::open(&[]).unwrap(),
        repeated: &Repeated::default(),
        counts: &files,
        work: None,
        damage: &Damage::default(),
    };
    let by = files.iter().map(|file| file.shape().by).reduce(By::and).unwrap_or_default();
    let writer = CountWriter::create(&path, Shape { positions, by }, false).unwrap();
    write_counts(input, &Filter::default(), &resources, writer, &Progress::none()).unwrap();
    fs::read(&path).unwrap()
}

/// Rows of a few keys, each pair once, sorted.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    slices_of(1, 1)
}

/// The same, in some slices.
fn slices_of(speeds: u8, ratings: u8) -> impl Strategy<Value = Vec<Line>> {
    let row = (0..40_u64, 0..3_u16, [0..9_u64, 0..9, 1..9], 0..speeds, 0..ratings);
    prop::collection::vec(row, 0..300).prop_map(|rows| {
        let mut lines: Vec<_> = rows
            .into_iter()
            .map(|(key, mv, counts, speed, rating)| Line {
                mv: MoveCode(E2E4.0 - mv),
                slice: Slice::numbered(speed << 4 | rating),
                ..line(key.wrapping_mul(0x9e37_79b9_7f4a_7c15), counts)
            })
            .collect();
        lines.sort_by_key(|line| (line.key, line.mv, line.slice));
        lines.dedup_by_key(|line| (line.key, line.mv, line.slice));
        lines
    })
}

/// Positions of a game, with their keys, as rows.
fn placed(steps: &[prop::sample::Index]) -> Vec<Line> {
    let mut position = Position::start();
    let mut lines = Vec::new();
    for step in steps {
        let legal = position.chess().legal_moves();
        if legal.is_empty() {
            break;
        }
        let mv = *step.get(&legal);
        let packed = Packed::new(&position);
        lines.push(Line { mv: MoveCode::from_move(mv), packed, ..line(position.key(), [1, 2, 3]) });
        position.play(mv);
    }
    lines.sort_by_key(|line| (line.key, line.mv));
    lines.dedup_by_key(|line| (line.key, line.mv));
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_base::times(8, 48)))]

    #[test]
    fn what_is_written_is_read(lines in lines()) {
        prop_assert_eq!(rows(ours(&lines, false), false).unwrap(), lines);
    }

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
            model.into_iter().map(|((key, mv), counts)| Line { mv, ..line(key, counts) }).collect();
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
            model.into_iter().map(|((key, mv), counts)| Line { mv, ..line(key, counts) }).collect();
        prop_assert_eq!(rows(all, false).unwrap(), expected);
    }

    #[test]
    fn a_broken_file_is_an_error_or_rows_and_never_a_panic(
        lines in lines(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = ours(&lines, false);
        let mut changed = whole.clone();
        for (at, byte) in changes {
            let at = at.index(changed.len());
            changed[at] = byte;
        }
        for file in [changed, whole[..cut.index(whole.len())].to_vec()] {
            if let Ok(file) = CountFile::from_bytes("a.parquet", file) {
                let (sum, found) = summed(|findings| sum(&file, &Progress::none(), findings));
                prop_assert!(sum.unwrap().rows <= file.rows());
                prop_assert!(found.iter().all(|finding| finding.file.as_deref() == Some("a.parquet")));
            }
        }
    }
}

/// The places of the bytes of all pages in a file, without their headers.
fn pages(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use polars_parquet_format::PageHeader;

    let reader = SerializedFileReader::new(bytes::Bytes::from(file.to_vec())).unwrap();
    let mut pages = Vec::new();
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let (start, len) = column.byte_range();
            let (mut at, end) = (start as usize, (start + len) as usize);
            while at < end {
                let (header, len) =
                    tabiya_parquet::footer::read::<PageHeader>(file.get(at..end).unwrap()).unwrap();
                assert!(header.crc.is_some());
                let data = at + len..at + len + header.compressed_page_size as usize;
                at = data.end;
                pages.push(data);
            }
        }
    }
    pages
}

#[test]
fn every_changed_byte_of_a_page_is_found_and_the_other_groups_are_merged() {
    let lines: Vec<_> = (0..200).map(|key| line(key, [key % 3, 1, key % 5])).collect();
    let by = By { speed: true, rating: true };
    let file = shaped(&lines, Shape { positions: false, by });
    let pages = pages(&file);
    assert!(pages.len() >= 7, "one of each column at least");
    for at in pages.into_iter().flatten() {
        let mut damaged = file.clone();
        damaged[at] ^= 4;
        let damaged = CountFile::from_bytes("a.parquet", damaged).unwrap();
        let (_, findings) = summed(|findings| sum(&damaged, &Progress::none(), findings).unwrap());
        let found: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let [found] = &*found else { panic!("{at}: {found:?}") };
        assert!(found.starts_with("the bytes of a page do not match its checksum (byte "), "{at}: {found}");
    }
}

#[test]
fn what_can_be_read_of_damaged_files_is_merged() {
    let folder = TempDir::new().unwrap();
    let sound = ours(&[line(1, [1, 2, 3])], false);
    let mut damaged = ours(&[line(2, [4, 5, 6])], false);
    let at = pages(&damaged)[0].start;
    damaged[at] ^= 1;
    let files = [sound, damaged].map(|file| CountFile::from_bytes("a.parquet", file).unwrap());
    let merge = |damage| {
        let path = folder.path().join("all.parquet");
        let input = Input {
            games: &mut games::open(&[]).unwrap(),
            repeated: &Repeated::default(),
            counts: &files,
            work: None,
            damage,
        };
        let resources = Resources { threads: 2, memory: 1 << 26, temp: folder.path().to_owned() };
        let writer = CountWriter::create(&path, Shape::default(), true).unwrap();
        write_counts(input, &Filter::default(), &resources, writer, &Progress::none()).unwrap();
        rows(fs::read(&path).unwrap(), false)
    };
    let damage = Damage::default();
    assert_eq!(merge(&damage).unwrap(), [line(1, [1, 2, 3])]);
    let [(_, sound), (_, found)] = &*damage.findings(&files) else { panic!("two files") };
    let ([], [found]) = (&**sound, &**found) else { panic!("one finding") };
    assert!(found.is_error() && found.offset.is_some_and(|offset| offset < at as u64), "{found}");
}
