//! Sorting rows by their keys in memory.
//!
//! Keys are hashes, so their bits are spread evenly. Rows are not compared with one another but scattered by those bits
//! into so many parts that few share one; only these are compared.
#![allow(clippy::cast_possible_truncation, reason = "rows are in memory")]
#![allow(clippy::indexing_slicing, reason = "places are sums of the counts of the rows that are put there")]

use super::Sortable;

/// The most bits that rows are scattered by: writing to more places at once than a processor's caches can follow is slow.
const MAX_BITS: u32 = 15;

/// Rows that share a part on average, as a power of two.
const PART_BITS: u32 = 1;

/// So few rows are sorted by insertion alone.
const FEW_ROWS: usize = 32;

/// Memory in which one thread sorts rows: as much as the rows take.
#[derive(Debug)]
pub(crate) struct RadixBuffers<R> {
    aside: Vec<R>,
    ends: Vec<u32>,
}

impl<R> Default for RadixBuffers<R> {
    fn default() -> Self {
        Self { aside: Vec::new(), ends: Vec::new() }
    }
}

impl<R: Sortable> RadixBuffers<R> {
    /// Sorts rows whose keys have their first `same` bits in common, and adds up those that count the same thing.
    pub(crate) fn compact(&mut self, rows: &mut Vec<R>, same: u32) {
        let mut aside = std::mem::take(&mut self.aside);
        std::mem::swap(rows, &mut aside);
        rows.clear();
        self.gather(std::iter::once(&*aside), rows, same);
        self.aside = aside;
    }

    /// Sorts rows, whose keys have their first `same` bits in common, to the end of `rows`, and adds up those that count the same thing.
    pub(crate) fn gather<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a [R]> + Clone,
        rows: &mut Vec<R>,
        same: u32,
    ) {
        let (start, len) = (rows.len(), parts.clone().map(<[R]>::len).sum::<usize>());
        if !R::PRESORTED && len > FEW_ROWS && u32::try_from(len).is_ok() {
            rows.resize(start + len, R::zeroed());
            let kept = self.scatter(parts, &mut rows[start..], same);
            return rows.truncate(start + kept);
        }
        parts.for_each(|part| rows.extend_from_slice(part));
        let fresh = &mut rows[start..];
        let kept = if R::PRESORTED {
            fresh.sort_by(R::order);
            add_up_sorted(fresh)
        } else {
            add_up(fresh, 0, 0, len)
        };
        rows.truncate(start + kept);
    }

    /// Scatters rows into smaller parts, one after the other, and sorts and adds up each. Returns how many are left.
    fn scatter<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a [R]> + Clone,
        rows: &mut [R],
        same: u32,
    ) -> usize {
        let bits = rows.len().ilog2().saturating_sub(PART_BITS).min(MAX_BITS);
        let part = |row: &R| ((row.key() << same) >> (u64::BITS - bits)) as usize;
        let ends = &mut self.ends;
        ends.clear();
        ends.resize(1 << bits, 0);
        parts.clone().flat_map(<[R]>::iter).for_each(|row| ends[part(row)] += 1);
        let mut start = 0;
        for end in &mut *ends {
            start += std::mem::replace(end, start);
        }
        parts.flat_map(<[R]>::iter).for_each(|row| {
            let place = &mut ends[part(row)];
            rows[*place as usize] = *row;
            *place += 1;
        });
        let (mut kept, mut start) = (0, 0);
        for &end in &*ends {
            kept = add_up(rows, kept, start, end as usize);
            start = end as usize;
        }
        kept
    }
}

/// Adds up sorted rows that count the same thing, and returns how many are left.
fn add_up_sorted<R: Sortable>(rows: &mut [R]) -> usize {
    let mut kept = 0;
    for at in 0..rows.len() {
        let row = rows[at];
        if kept == 0 || !rows[kept - 1].absorb(&row) {
            rows[kept] = row;
            kept += 1;
        }
    }
    kept
}

/// Sorts the rows from `start` to `end`, adds up those that count the same thing, and moves the result after the first
/// `kept` rows. Returns how many are kept then.
#[inline]
fn add_up<R: Sortable>(rows: &mut [R], kept: usize, start: usize, end: usize) -> usize {
    if end - start > FEW_ROWS {
        rows[start..end].sort_unstable_by(R::order);
    }
    let mut next = kept;
    'rows: for at in start..end {
        let row = rows[at];
        let mut place = next;
        while place > kept {
            let before = &mut rows[place - 1];
            if before.absorb(&row) {
                continue 'rows;
            }
            if before.order(&row).is_le() {
                break;
            }
            place -= 1;
        }
        rows.copy_within(place..next, place + 1);
        rows[place] = row;
        next += 1;
    }
    next
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_book::Slice;
    use tabiya_chess::MoveCode;

    use super::super::super::row::{Count, CountRow, GameOutcome};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn rows_are_sorted_whatever_their_keys(
            drawn in prop::collection::vec((any::<u64>(), 0..3_u16), 0..400),
            spread in 0..64_u32,
            same in 0..16_u32,
        ) {
            let row = |(key, mv): (u64, u16)| {
                // The same in the first bits, in many of the others, or in all.
                let key = (key >> spread >> same) | 0xa5a5_u64 << 48 & !(u64::MAX >> same);
                let slice = Slice::default();
                CountRow::new(Count { key, mv: MoveCode(mv), slice, outcome: GameOutcome::Draw, games: 1 })
            };
            let mut rows: Vec<_> = drawn.into_iter().map(row).collect();
            let mut expected = rows.clone();
            expected.sort();
            expected.dedup_by(|next, kept| kept.absorb(next));
            let mut buffers = RadixBuffers::default();
            buffers.compact(&mut rows, same);
            prop_assert_eq!(&rows, &expected);
            // Used a second time.
            buffers.compact(&mut rows, same);
            prop_assert_eq!(&rows, &expected);
        }
    }
}
