//! Whether bytes are a Polyglot book at all. The format has no mark, but its keys ascend, which bytes of any other format
//! do in half of the places only.

use tabiya_chess::{MoveCode, Variant};

use super::entry::PolyglotEntry;
use super::layout::ENTRY_LEN;
use super::read::PolyglotEntries;

/// Pages that are looked at, spread evenly over the file, so that opening takes the same time whatever its size.
const SAMPLES: usize = 16;

/// Entries of a page: 4 KiB.
const PAGE: usize = 256;

/// Pairs of different neighbouring keys from which their order alone decides about a page.
const ENOUGH: usize = 32;

/// Where more than one of so many pairs falls, nothing is sorted: of any bytes it is half of them.
const OUT_OF_ORDER: usize = 3;

/// Neighbouring entries with different keys, and those of them whose key falls.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    pairs: usize,
    falls: usize,
}

impl Order {
    fn from_page(page: PolyglotEntries<'_>) -> Self {
        let pairs = pairs(page).filter(|(one, other)| one != other);
        pairs.fold(Self::default(), |order, (one, other)| Self {
            pairs: order.pairs + 1,
            falls: order.falls + usize::from(one > other),
        })
    }

    fn is_lost(self) -> bool {
        self.falls * OUT_OF_ORDER > self.pairs
    }
}

/// The keys of neighbouring entries.
fn pairs(page: PolyglotEntries<'_>) -> impl Iterator<Item = (u64, u64)> {
    page.keys().zip(page.keys().skip(1))
}

/// The sampled pages: their first entry's number, and their entries.
fn pages(entries: PolyglotEntries<'_>) -> impl Iterator<Item = (usize, PolyglotEntries<'_>)> {
    let last = entries.len().saturating_sub(PAGE);
    let samples = if last == 0 { 1 } else { SAMPLES };
    let mut firsts: Vec<usize> = (0..samples).map(|sample| last * sample / SAMPLES.max(2)).collect();
    firsts.push(last);
    firsts.dedup();
    firsts.into_iter().map(move |first| (first, entries.some_from(first, PAGE)))
}

/// Whether no variant has such a move.
fn impossible_in_all(mv: MoveCode) -> bool {
    Variant::ALL.into_iter().all(|variant| mv.error(variant).is_some())
}

/// Why bytes are no Polyglot book, or `None` where they may be one.
///
/// A book with a few breaks, or of which the end or a part is missing, is one: it is played as far as it can be read.
pub(crate) fn foreign(data: &[u8]) -> Option<String> {
    let entries = PolyglotEntries::new(data);
    let (mut decided, mut lost, mut first_lost) = (0, 0, true);
    let (mut few, mut read, mut impossible) = (Order::default(), 0, 0);
    for (first, page) in pages(entries) {
        let order = Order::from_page(page);
        if order.pairs >= ENOUGH {
            decided += 1;
            lost += usize::from(order.is_lost());
            first_lost &= first > 0 || order.is_lost();
        } else {
            few = Order { pairs: few.pairs + order.pairs, falls: few.falls + order.falls };
            read += page.len();
            let is_impossible =
                |entry: &PolyglotEntry| entry.mv != MoveCode::NULL && impossible_in_all(entry.mv);
            impossible += page.iter().filter(is_impossible).count();
        }
    }
    let is_foreign = if decided > 0 {
        first_lost && lost * 2 > decided
    } else {
        // Of a few entries the moves have to be impossible too.
        let is_torn = few.pairs == 0 && entries.trailing > 0;
        (few.is_lost() || is_torn) && impossible * 2 > read
    };
    is_foreign.then(|| {
        let mut what = "this is no Polyglot book, though its name may say so: ".to_owned();
        what += if decided > 0 {
            "its keys are out of order from the first page on"
        } else {
            "most of its entries have impossible moves, and their keys do not ascend"
        };
        if entries.trailing > 0 {
            what += &format!(", and its length of {} bytes is no multiple of {ENTRY_LEN}", data.len());
        }
        what
    })
}

/// The number of the first entry of the sampled pages whose key is lower than that of the entry before.
pub(super) fn first_fall(entries: PolyglotEntries<'_>) -> Option<usize> {
    pages(entries).find_map(|(first, page)| {
        let fall = pairs(page).position(|(one, other)| one > other)?;
        Some(first + fall + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::bytes;
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand::rngs::SmallRng;

    fn book(keys: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let entry = |key| PolyglotEntry { key, mv: MoveCode(796), weight: 1, games: 0, halfpoints: 0 };
        bytes(&keys.into_iter().map(entry).collect::<Vec<_>>())
    }

    /// Records of another format: the given bytes sorted, then any.
    fn records(count: usize, sorted: usize, len: usize, seed: u64) -> Vec<u8> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut rows: Vec<Vec<u8>> =
            (0..count).map(|_| (0..len).map(|_| random.random()).collect()).collect();
        rows.sort_by(|a, b| a[..sorted].cmp(&b[..sorted]));
        rows.concat()
    }

    #[test]
    fn bytes_of_other_formats_are_no_book() {
        for count in [40, 300, 5000, 60_000] {
            // Sorted records of other lengths, a header that shifts entries, keys of which the lowest byte comes first.
            let others = [
                records(count, 0, 16, 1),
                records(count, 8, 12, 2),
                records(count, 8, 24, 3),
                records(count, 8, 32, 4),
                [&[1, 2, 3, 4][..], &records(count, 8, 16, 5)].concat(),
                records(count, 8, 16, 6).chunks(16).flat_map(|row| row.iter().rev().copied()).collect(),
                [&[0; 4096][..], &records(count.max(1000), 0, 16, 7)].concat(),
            ];
            for (kind, other) in others.iter().enumerate() {
                let why = foreign(other).unwrap_or_else(|| panic!("{count} records of kind {kind}"));
                assert_eq!(why.contains("no multiple of 16"), other.len() % 16 != 0, "{why}");
            }
        }
    }

    #[test]
    fn a_few_breaks_a_missing_end_and_bytes_too_many_leave_a_book() {
        let keys = |count: u64| (0..count).map(|key| key * 1000);
        for count in [1, 2, 40, 300, 100_000] {
            let sound = book(keys(count));
            for len in [sound.len(), sound.len() - 9, sound.len() / 2 + 8] {
                assert_eq!(foreign(&sound[..len.max(16)]), None, "{count} entries, {len} bytes");
            }
            assert_eq!(foreign(&[&sound[..], &[7]].concat()), None);
            // A second book after the first, and one byte too many in the middle.
            assert_eq!(foreign(&[&sound[..], &sound[..]].concat()), None);
            let half = sound.len() / 32 * 16;
            assert_eq!(foreign(&[&sound[..half], &[7], &sound[half..]].concat()), None);
        }
        let moves = [book([5, 4]), book([3, 9, 1]), vec![0; 17], vec![0; 1 << 16], vec![0xff; 1600]];
        assert!(moves.iter().all(|data| foreign(data).is_none()));
    }

    proptest! {
        #[test]
        fn a_sorted_book_is_never_refused(mut keys in prop::collection::vec(any::<u64>(), 1..900), cut in 0_usize..16) {
            keys.sort_unstable();
            let data = book(keys);
            prop_assert_eq!(foreign(&data[..data.len() - cut.min(data.len() - 16)]), None);
        }
    }
}
