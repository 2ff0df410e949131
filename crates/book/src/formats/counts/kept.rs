//! Pages of rows that are kept while a book is followed: whoever looks up many of its positions comes to each page again and again.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tabiya_chess::MoveCode;
use tabiya_parquet::recent::Recent;

use super::seek::Keys;
use super::{CountFile, CountsRow};
use crate::{By, Slice};

/// Look-ups after which pages are kept, more than games ask for. Before, of each page only the rows of the key are decoded, which takes
/// less time.
const FEW: usize = 1 << 13;

/// Bytes of the rows that are kept of a book, for about 5 million rows. A walk over that many positions needs as much memory to
/// remember where it was.
const MAX_BYTES: usize = 1 << 27;

/// Rows of a page at most: files without an index have pages as large as their row groups.
const MAX_ROWS: u64 = 1 << 20;

/// The rows of one page, sorted by their keys; `None` if they are too many, or one cannot be read or has larger counts.
type Page = Option<Box<[KeptRow]>>;

/// Where a page is: the numbers of its file, its row group and its first row, and whether speeds and ratings were read.
type Place = (usize, usize, u64, [bool; 2]);

/// The rows that are kept of a book.
pub(super) struct KeptRows {
    /// How many keys were looked up.
    asked: AtomicUsize,
    pages: Recent<Place, Page>,
}

/// A row in few bytes.
#[derive(Clone, Copy)]
struct KeptRow {
    key: u64,
    /// Wins, draws and losses.
    counts: [u32; 3],
    mv: MoveCode,
    slice: Slice,
}

impl KeptRow {
    /// `None` if a count is too large.
    fn new(row: &CountsRow) -> Option<Self> {
        let [Ok(wins), Ok(draws), Ok(losses)] = [row.wins, row.draws, row.losses].map(u32::try_from) else {
            return None;
        };
        Some(Self { key: row.key, counts: [wins, draws, losses], mv: row.mv, slice: row.slice })
    }

    fn row(&self) -> CountsRow {
        let Self { key, counts, mv, slice } = *self;
        let [wins, draws, losses] = counts.map(u64::from);
        CountsRow { key, mv, wins, draws, losses, packed: None, slice }
    }
}

impl Default for KeptRows {
    fn default() -> Self {
        Self { asked: AtomicUsize::new(0), pages: Recent::up_to(MAX_BYTES) }
    }
}

impl KeptRows {
    /// Those of a book of which many positions were looked up.
    #[cfg(test)]
    pub fn after_many() -> Self {
        Self { asked: FEW.into(), ..Self::default() }
    }

    /// Shows the rows of a key, as [`CountFile::of_key`] does, in a file of this `number` in the book. Returns whether they are
    /// known; otherwise none is shown.
    pub fn of_key(
        &self,
        (number, file, keys): (usize, &CountFile, &Keys),
        key: u64,
        by: By,
        mut see: impl FnMut(&CountsRow),
    ) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed) < FEW {
            return false;
        }
        let page = |(group, rows): (usize, Range<u64>)| {
            let place = (number, group, rows.start, [by.speed, by.rating]);
            let page = self.pages.get(place, || keep(file, group, rows, by));
            page.is_some().then_some(page)
        };
        let pages = file.pages_of(keys, key).and_then(|pages| pages.into_iter().map(page).collect());
        let Some(pages): Option<Vec<Arc<Page>>> = pages else { return false };
        for rows in pages.iter().filter_map(|page| page.as_deref()) {
            let rows = rows.iter().skip(rows.partition_point(|row| row.key < key));
            rows.take_while(|row| row.key == key).for_each(|row| see(&row.row()));
        }
        true
    }
}

/// Reads a page, and returns it with the bytes that it takes.
fn keep(file: &CountFile, group: usize, rows: Range<u64>, by: By) -> (Page, usize) {
    let few = Some(rows).filter(|rows| rows.end.saturating_sub(rows.start) <= MAX_ROWS);
    let page = few.and_then(|rows| file.page(group, rows, by, KeptRow::new));
    let page = page.map(|mut page| {
        // Negative numbers, as which programs without unsigned ones write the upper half of all keys, come first.
        page.sort_by_key(|row| row.key);
        page.into_boxed_slice()
    });
    let bytes = page.as_deref().map_or(0, size_of_val);
    (page, bytes)
}
