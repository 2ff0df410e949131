//! What is written comes back, whatever the order, the groups and the memory.

use proptest::prelude::*;

use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;

use super::super::*;
use super::rows::{line, lines, ours, pages, rows, shaped};

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
