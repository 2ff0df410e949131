//! What is written comes back, whatever the order, the groups and the memory.

use proptest::prelude::*;

use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;

use super::super::*;
use super::rows::{line, lines, ours, pages, rows, shaped};
use crate::formats::counts::write::{MAX_GROUPS, rows_of_group};
use crate::slice::MAX_GAMES;
use tabiya_chess::{Position, RatingBand, Speed};
use tabiya_parquet::table::MAX_FOOTER;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(8, 48)))]

    #[test]
    fn what_is_written_is_read(lines in lines()) {
        prop_assert_eq!(rows(ours(&lines, false), false).unwrap(), lines);
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

/// Bytes of a file's footer.
fn footer_len(file: &[u8]) -> usize {
    let (_, tail) = file.split_at(file.len() - 8);
    u32::from_le_bytes(*tail.first_chunk().unwrap()) as usize
}

#[test]
fn the_largest_file_has_room_for_all_games_of_lichess_and_a_footer_that_is_read() {
    let of = |groups: u64| {
        let shape = Shape { positions: true, by: By { speed: true, rating: true } };
        let mut writer = CountWriter::new(Path::new("a.parquet"), Vec::new(), shape).unwrap();
        for group in 0..groups {
            let slice = Slice::new(Some(Speed::UltraBullet), RatingBand::from_lowest(2500));
            for (key, count) in [(group << 50, 1), (group << 50 | 0xffff_ffff, MAX_GAMES - 1)] {
                let packed = Packed::new(&Position::start());
                writer.add(&CountsRow { packed, slice, ..line(key, [count; 3]) }).unwrap();
            }
            writer.flush().unwrap();
        }
        footer_len(&writer.close().unwrap().0)
    };
    // In a large file each of the eight columns has four offsets, of up to six bytes more.
    let each = ((of(200) - of(100)) / 100 + 8 * 4 * 6) as u64;
    assert!(each * MAX_GROUPS as u64 <= MAX_FOOTER, "{each} bytes a group");
    let most: u64 = (0..MAX_GROUPS).map(|number| rows_of_group(number) as u64).sum();
    assert!(most > 50_000_000_000, "{most}");
    assert_eq!((rows_of_group(0), rows_of_group(8191), rows_of_group(8192)), (1 << 18, 1 << 18, 1 << 21));
}

#[test]
fn what_a_reader_would_refuse_is_not_written() {
    let mut writer = CountWriter::new(Path::new("a.parquet"), Vec::new(), Shape::default()).unwrap();
    writer.groups = MAX_GROUPS - 1;
    writer.add(&line(1, [1, 0, 0])).unwrap();
    writer.flush().unwrap();
    writer.add(&line(2, [1, 0, 0])).unwrap();
    let error = writer.close().unwrap_err().to_string();
    assert!(error.contains("no room for more rows") && error.contains("in several runs"), "{error}");
}
