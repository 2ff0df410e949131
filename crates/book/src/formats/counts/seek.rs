//! Finding the rows of a key in a file that is sorted by keys, without reading the rest: the footer has the least and the
//! greatest key of each row group, and an index has those of its pages.

use std::ops::{Range, RangeInclusive};

use tabiya_base::error::{Error, Result};
use tabiya_parquet::columns::Column;
use tabiya_parquet::footer::Bound;
use tabiya_parquet::recent::Recent;
use tabiya_parquet::table::Table;
use tabiya_parquet::values::number;

/// Where the keys of a file are.
#[derive(Debug)]
pub struct Keys {
    /// The row groups that have rows, each with its least and greatest key.
    groups: Vec<(usize, [i128; 2])>,
    /// The pages of keys of row groups.
    pages: Recent<usize, KeyPages>,
}

/// The pages of keys of a row group; none without an index of them.
#[derive(Debug)]
struct KeyPages {
    /// The rows of each page, and bounds of its keys: those of all numbers where the index has none.
    pages: Vec<(Range<u64>, [i128; 2])>,
    /// Whether the bounds are sorted.
    sorted: bool,
}

/// The rows of a key in a row group.
pub(super) struct KeyRows {
    pub group: usize,
    /// The first and the last row of the key, and what is between them.
    pub rows: Range<u64>,
    /// Whether all of these rows are of the key.
    pub all: bool,
}

/// The place of the keys among the columns that are read.
const KEYS: usize = 0;

impl Keys {
    /// `None` if the row groups are not sorted by keys, or do not say which they have.
    pub(super) fn new(table: &Table) -> Option<Self> {
        let column = table.columns().get(KEYS)?;
        let mut groups: Vec<(usize, [i128; 2])> = Vec::new();
        for group in (0..table.groups()).filter(|group| table.group_rows(*group) > 0) {
            let bounds = numbers(column, &table.chunk(group, KEYS)?.bounds)?;
            if groups.last().is_some_and(|(_, last)| last[1] > bounds[0]) {
                return None;
            }
            groups.push((group, bounds));
        }
        Some(Self { groups, pages: Recent::default() })
    }

    /// The least and the greatest key in the order of the file; `None` if it has no rows.
    pub(super) fn bounds(&self) -> Option<[i128; 2]> {
        Some([self.groups.first()?.1[0], self.groups.last()?.1[1]])
    }

    /// Shows where the rows of a key are; between them there may be other rows if the file is not sorted after all. Damaged
    /// parts of the file have none: the row group of these is shown with its error.
    pub(super) fn find(
        &self,
        table: &Table,
        key: u64,
        mut see: impl FnMut(std::result::Result<KeyRows, (usize, Error)>),
    ) {
        let Some(column) = table.columns().get(KEYS) else { return };
        for (group, value) in self.candidates(column, key) {
            let pages = self.pages.get(group, || KeyPages::read(table, group, column));
            match found(table, group, &pages, column, value) {
                Ok(found) => found.into_iter().for_each(|found| see(Ok(found))),
                Err(error) => see(Err((group, error))),
            }
        }
    }

    /// The pages that may have rows of a key, by their row groups; `None` if those of a row group are not sorted by their keys.
    pub(super) fn pages_of(&self, table: &Table, key: u64) -> Option<Vec<(usize, Range<u64>)>> {
        let column = table.columns().get(KEYS)?;
        let mut found = Vec::new();
        for (group, value) in self.candidates(column, key) {
            let pages = self.pages.get(group, || KeyPages::read(table, group, column));
            if pages.pages.is_empty() {
                found.push((group, 0..table.group_rows(group)));
            } else {
                found.extend(pages.sorted(value)?.iter().map(|(rows, _)| (group, rows.clone())));
            }
        }
        // A page may have both numbers of a key.
        found.dedup();
        Some(found)
    }

    /// The rows of row groups that may have keys of these, in their order: each row once, whole pages with one more on either side.
    /// All of a row group where its index and the footer do not say the same of its keys.
    pub(super) fn between(&self, table: &Table, keys: &RangeInclusive<u64>) -> Vec<(usize, Range<u64>)> {
        let Some(column) = table.columns().get(KEYS) else { return Vec::new() };
        let mut found: Vec<(usize, Range<u64>)> = Vec::new();
        for [low, high] in numbers_of(column, keys) {
            for (group, bounds) in self.overlapping([low, high]) {
                let pages = KeyPages::read(table, *group, column).0;
                found.push((
                    *group,
                    pages.overlapping(bounds, [low, high]).unwrap_or(0..table.group_rows(*group)),
                ));
            }
        }
        found.sort_by_key(|(group, rows)| (*group, rows.start));
        // A row group may have both numbers of keys.
        found.dedup_by(|(group, rows), (before, all)| {
            let follows = group == before && rows.start <= all.end;
            if follows {
                all.end = all.end.max(rows.end);
            }
            follows
        });
        found
    }

    /// Rows that are read at least where any are: those of a page, or of a row group without an index.
    pub(super) fn least_rows(&self, table: &Table) -> u64 {
        let (Some((group, bounds)), Some(column)) = (self.groups.first(), table.columns().get(KEYS)) else {
            return 0;
        };
        let pages = KeyPages::read(table, *group, column).0;
        match pages.overlapping(bounds, [bounds[0]; 2]) {
            Some(_) => table.group_rows(*group).div_ceil(pages.pages.len() as u64),
            None => table.group_rows(*group),
        }
    }

    /// The row groups that may have a key, each with the number that it is there.
    fn candidates(&self, column: &Column, key: u64) -> impl Iterator<Item = (usize, i128)> {
        let values = numbers_of(column, &(key..=key));
        values.flat_map(|[value, _]| self.overlapping([value; 2]).map(move |(group, _)| (*group, value)))
    }

    /// The row groups that may have numbers from one to another.
    fn overlapping(&self, [low, high]: [i128; 2]) -> impl Iterator<Item = &(usize, [i128; 2])> {
        let from = self.groups.partition_point(|(_, [_, greatest])| *greatest < low);
        self.groups.iter().skip(from).take_while(move |(_, [least, _])| *least <= high)
    }

    /// The rows of the pages that are read to find a key, in the first row group that may have it.
    #[cfg(test)]
    pub(super) fn rows_read(&self, table: &Table, key: u64) -> Option<Range<u64>> {
        let column = table.columns().get(KEYS)?;
        let (group, value) = self.candidates(column, key).next()?;
        KeyPages::read(table, group, column).0.around(value)
    }
}

impl KeyPages {
    /// Reads the index of a row group, and returns it with the bytes that it takes.
    fn read(table: &Table, group: usize, column: &Column) -> (Self, usize) {
        let bounds = |bounds: &[Bound; 2]| numbers(column, bounds).unwrap_or([i128::MIN, i128::MAX]);
        let pages = table.page_bounds(group, KEYS).into_iter();
        let pages: Vec<_> = pages.map(|(rows, found)| (rows, bounds(&found))).collect();
        let sorted = pages.is_sorted_by(|(_, a), (_, b)| a[0] <= b[0] && a[1] <= b[1]);
        let bytes = size_of_val(pages.as_slice());
        (Self { pages, sorted }, bytes)
    }

    /// The rows of the pages that may have numbers from one to another, and of their neighbours; `None` if the pages are not those
    /// of a row group with these bounds.
    fn overlapping(&self, bounds: &[i128; 2], [low, high]: [i128; 2]) -> Option<Range<u64>> {
        let (first, last) = (self.pages.first()?, self.pages.last()?);
        if !self.sorted || [first.1[0], last.1[1]] != *bounds {
            return None;
        }
        let from = self.pages.partition_point(|(_, [_, greatest])| *greatest < low).saturating_sub(1);
        let to = (self.pages.partition_point(|(_, [least, _])| *least <= high) + 1).min(self.pages.len());
        let (first, last) = (self.pages.get(from)?, self.pages.get(to.checked_sub(1)?)?);
        Some(first.0.start..last.0.end).filter(|rows| rows.start <= rows.end)
    }

    /// The pages that may have a key, if all are sorted.
    fn sorted(&self, key: i128) -> Option<&[(Range<u64>, [i128; 2])]> {
        let from = self.pages.partition_point(|(_, [_, greatest])| *greatest < key);
        let to = self.pages.partition_point(|(_, [least, _])| *least <= key);
        // A file may have the bounds of a page the wrong way round: `from` is then the greater one, and no page has the key.
        self.sorted.then(|| self.pages.get(from..to).unwrap_or_default())
    }

    /// The rows from the first page to the last that may have a key.
    fn around(&self, key: i128) -> Option<Range<u64>> {
        let mut within = self
            .sorted(key)
            .unwrap_or(&self.pages)
            .iter()
            .filter(|(_, [least, greatest])| (*least..=*greatest).contains(&key))
            .map(|(rows, _)| rows);
        let first = within.next()?;
        Some(first.start..within.next_back().unwrap_or(first).end)
    }
}

/// The rows of a key in a row group.
fn found(
    table: &Table,
    group: usize,
    pages: &KeyPages,
    column: &Column,
    key: i128,
) -> Result<Option<KeyRows>> {
    let end = table.group_rows(group);
    // Without an index, the whole group is read.
    let among = if pages.pages.is_empty() { Some(0..end) } else { pages.around(key) };
    let Some(among) = among else { return Ok(None) };
    let among = among.start..among.end.min(end);
    let first = table.group_first(group);
    let (mut found, mut hits): (Option<Range<u64>>, _) = (None, 0);
    table.rows_of(
        group,
        among,
        |other| other.at == column.at,
        |row, columns, rows| {
            let [keys] = columns else { return Ok(()) };
            keys.equal(key, rows, |at| {
                let row = row + at as u64 - first;
                found.get_or_insert(row..row).end = row + 1;
                hits += 1;
            });
            Ok(())
        },
    )?;
    Ok(found.map(|rows| KeyRows { group, all: rows.end - rows.start == hits, rows }))
}

/// The numbers of keys in a column, from the least to the greatest of a stretch. Programs without unsigned numbers write the upper
/// half of all keys as negative numbers.
fn numbers_of(column: &Column, keys: &RangeInclusive<u64>) -> impl Iterator<Item = [i128; 2]> + use<> {
    let (low, high) = (*keys.start(), *keys.end());
    let upper = [low.max(1 << 63), high].map(|key| i128::from(key.cast_signed()));
    let others = high.cast_signed() < 0 && !column.is_unsigned;
    [[low, high].map(i128::from)].into_iter().chain(others.then_some(upper))
}

/// The least and the greatest value of a column; `None` if they are not known.
fn numbers(column: &Column, bounds: &[Bound; 2]) -> Option<[i128; 2]> {
    let [least, greatest] = bounds.each_ref().map(|bound| number(column, bound.bytes()));
    Some([least?, greatest?]).filter(|[least, greatest]| least <= greatest)
}
