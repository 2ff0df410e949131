//! Rows into the order of their keys.
//!
//! Keys are hashes: their bits tell rows apart as well as any. So rows are not compared with one another but dealt out,
//! by those bits, into so many parts that few come together in one; only these are compared.
#![allow(clippy::indexing_slicing, reason = "places are sums of the counts of the rows that are put there")]

use super::Sortable;

/// Bits that rows are dealt out by at most: more places at once than a processor's caches keep track of are slow.
const MOST_BITS: u32 = 12;

/// Rows that come together in a part, as a power of two.
const PART_BITS: u32 = 1;

/// So few rows are compared one by one.
const FEW_ROWS: usize = 32;

/// Memory of one thread for putting rows into order: as much as the rows themselves.
#[derive(Debug)]
pub struct Dealer<R> {
    aside: Vec<R>,
    ends: Vec<u32>,
}

impl<R> Default for Dealer<R> {
    fn default() -> Self {
        Self { aside: Vec::new(), ends: Vec::new() }
    }
}

impl<R: Sortable> Dealer<R> {
    /// Sorts rows, whose keys have their first `same` bits in common, and adds up those that tell the same.
    pub fn compact(&mut self, rows: &mut Vec<R>, same: u32) {
        if R::PRESORTED {
            rows.sort_by(R::order);
            rows.dedup_by(|next, kept| kept.absorb(next));
        } else if rows.len() <= FEW_ROWS || u32::try_from(rows.len()).is_err() {
            let end = rows.len();
            let kept = add_up(rows, 0, 0, end);
            rows.truncate(kept);
        } else {
            self.deal_out(rows, same);
        }
    }

    /// Deals rows out into parts, one behind the other, and sorts and adds up each.
    fn deal_out(&mut self, rows: &mut Vec<R>, same: u32) {
        let bits = rows.len().ilog2().saturating_sub(PART_BITS).min(MOST_BITS);
        let part = |row: &R| ((row.key() << same) >> (u64::BITS - bits)) as usize;
        let Self { aside, ends } = self;
        aside.resize(rows.len(), R::zeroed());
        ends.clear();
        ends.resize(1 << bits, 0);
        for row in &*rows {
            ends[part(row)] += 1;
        }
        let mut start = 0;
        for end in &mut *ends {
            start += std::mem::replace(end, start);
        }
        for row in &*rows {
            let place = &mut ends[part(row)];
            aside[*place as usize] = *row;
            *place += 1;
        }
        std::mem::swap(rows, aside);
        let (mut kept, mut start) = (0, 0);
        for &end in &*ends {
            kept = add_up(rows, kept, start, end as usize);
            start = end as usize;
        }
        rows.truncate(kept);
    }
}

/// Sorts the rows from `start` to `end`, adds up those that tell the same, and puts what remains behind the first
/// `kept` rows; how many are kept then.
#[inline]
fn add_up<R: Sortable>(rows: &mut [R], kept: usize, start: usize, end: usize) -> usize {
    if end - start > FEW_ROWS {
        rows[start..end].sort_unstable_by(R::order);
    }
    let mut behind = kept;
    'rows: for at in start..end {
        let row = rows[at];
        let mut place = behind;
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
        rows.copy_within(place..behind, place + 1);
        rows[place] = row;
        behind += 1;
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::super::super::row::{Count, CountRow, Outcome};
    use super::*;
    use crate::chess::MoveCode;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn rows_come_into_order_whatever_their_keys(
            drawn in prop::collection::vec((any::<u64>(), 0..3_u16), 0..400),
            spread in 0..64_u32,
            same in 0..16_u32,
        ) {
            let row = |(key, mv): (u64, u16)| {
                // Alike in the first bits, in many of the others, or in all.
                let key = (key >> spread >> same) | 0xa5a5_u64 << 48 & !(u64::MAX >> same);
                CountRow::new(Count { key, mv: MoveCode(mv), outcome: Outcome::Draw, games: 1 })
            };
            let mut rows: Vec<_> = drawn.into_iter().map(row).collect();
            let mut expected = rows.clone();
            expected.sort();
            expected.dedup_by(|next, kept| kept.absorb(next));
            let mut dealer = Dealer::default();
            dealer.compact(&mut rows, same);
            prop_assert_eq!(&rows, &expected);
            // Used a second time.
            dealer.compact(&mut rows, same);
            prop_assert_eq!(&rows, &expected);
        }
    }
}
