//! The pages and the index of a book with entries that are changed or added: a page without room is split as `dbm` splits it.
#![allow(clippy::cast_possible_truncation, reason = "a page has 4096 bytes, and page numbers have 32 bits")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::patch::Patch;

use super::super::layout::{
    CTB_HIGH, CTB_LOW, CTG_PAGES, CTG_POSITIONS, CTO_COUNT, CTO_LOW, DEEPEST, NO_PAGE, PAGE_HEADER, PAGE_LEN,
    SPARE,
};
use super::super::read::Ctg;
use super::super::read::index::{CtgIndex, bit_offset, offset as number_offset};
use super::super::read::page::{Page, offset as page_offset, pages_in};
use super::super::signature::hash;

/// Which of a book's files.
const CTG: usize = 0;
const CTO: usize = 1;

/// Bytes of a file from an offset on, in place of those that it has there.
type CtgPatch = (u64, Vec<u8>);

/// A book with some pages changed.
pub(super) struct Pages<'a> {
    book: &'a Ctg,
    index: CtgIndex<'a>,
    /// The pages that are changed or added, each of [`PAGE_LEN`] bytes.
    changed: BTreeMap<u32, Vec<u8>>,
    /// How many pages there are.
    count: u32,
    /// The nodes that are split.
    split: BTreeSet<u64>,
    /// The page numbers that are changed or added.
    numbers: BTreeMap<u64, u32>,
    /// Positions that are added.
    added: u32,
}

/// A leaf of the index.
#[derive(Clone, Copy)]
struct Leaf {
    node: u64,
    level: u32,
}

impl<'a> Pages<'a> {
    /// A book without changes.
    ///
    /// # Errors
    /// When it has more pages than the format can number.
    pub fn new(book: &'a Ctg) -> Result<Self> {
        let count = u32::try_from(pages_in(book.ctg.len() as u64)).ok();
        let (Some(index), Some(count)) = (book.index(), count) else {
            return Err(damaged(book, CTG, 0, "the book has more pages than its index can name"));
        };
        let (changed, numbers) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { book, index, changed, count, split: BTreeSet::new(), numbers, added: 0 })
    }

    fn is_split(&self, node: u64) -> bool {
        self.index.split(node) || self.split.contains(&node)
    }

    fn leaf(&self, hash: u32) -> Leaf {
        let mut level = 0;
        loop {
            let mask = (1_u64 << level) - 1;
            let node = (u64::from(hash) & mask) + mask;
            // The nodes of the last level are beyond the bits of any file.
            if !self.is_split(node) {
                return Leaf { node, level };
            }
            level += 1;
        }
    }

    fn number(&self, node: u64) -> Option<u32> {
        match self.numbers.get(&node) {
            Some(number) => Some(*number).filter(|number| *number != NO_PAGE),
            None => self.index.page(node),
        }
    }

    /// The bytes of a page.
    fn page(&self, number: u32) -> Vec<u8> {
        let read = || Page::get(&self.book.ctg, number).map(|page| page.data.to_vec());
        self.changed.get(&number).cloned().or_else(read).unwrap_or_default()
    }

    /// Puts an entry in its page, by the bytes after its signature. It replaces the entry of this signature there.
    ///
    /// # Errors
    /// When the page or the index is damaged where it has to change, or the hashes of positions are too similar to give the
    /// entry room.
    pub fn put(&mut self, signature: &[u8], rest: &[u8]) -> Result<()> {
        let entry = [signature, rest].concat();
        loop {
            let leaf = self.leaf(hash(signature));
            let Some(number) = self.number(leaf.node) else {
                let number = self.append(&[&entry])?;
                self.name(leaf.node, number)?;
                self.added += 1;
                return Ok(());
            };
            let mut data = self.page(number);
            let page = Page::in_bytes(&data, number).ok_or_else(|| self.damaged_page(number))?;
            let old = page.find(signature).map(|old| old.at..old.end);
            if let Some(old) = old.clone().filter(|old| old.len() == entry.len()) {
                data.splice(old, entry);
                self.changed.insert(number, data);
                return Ok(());
            }
            let end = page.sound_end().ok_or_else(|| self.damaged_page(number))?;
            let (place, count) = match old {
                Some(old) => (old, page.count),
                None => (end..end, page.count.saturating_add(1)),
            };
            let new_end = end + entry.len() - place.len();
            if new_end > PAGE_LEN as usize {
                self.split(leaf, number)?;
                continue;
            }
            self.added += u32::from(place.is_empty());
            // What follows the last entry means nothing: it stays as far as there is room.
            data.truncate(PAGE_LEN as usize);
            let tail = data.split_off(end);
            data.splice(place, entry);
            data.extend(tail.iter().skip(new_end.saturating_sub(end)));
            data.resize(PAGE_LEN as usize, 0);
            data.splice(..PAGE_HEADER, [count, new_end as u16].into_iter().flat_map(u16::to_be_bytes));
            self.changed.insert(number, data);
            return Ok(());
        }
    }

    /// Splits a leaf: the entries whose next bit is set go to a page of their own.
    fn split(&mut self, Leaf { node, level }: Leaf, number: u32) -> Result<()> {
        if level >= DEEPEST.min(self.count.max(1).ilog2() + SPARE) {
            let what = "the book has no room for this position: others have hashes that are too similar";
            return Err(Error::new(ErrorKind::Format, what).at_path(self.file(CTG)));
        }
        let data = self.page(number);
        let page = Page::in_bytes(&data, number).ok_or_else(|| self.damaged_page(number))?;
        let mut halves = [Vec::new(), Vec::new()];
        for entry in page.entries() {
            let hash = hash(entry.signature);
            if self.leaf(hash).node != node {
                return Err(self.damaged_page(number));
            }
            let [clear, set] = &mut halves;
            let half = if hash >> level & 1 == 0 { clear } else { set };
            half.extend(data.get(entry.at..entry.end));
        }
        self.split.insert(node);
        let children = [node + (1 << level), node + (2 << level)];
        let [clear, set] = &halves;
        let numbers = match (clear.is_empty(), set.is_empty()) {
            (false, false) => {
                let other = self.append(set)?;
                self.changed.insert(number, filled(clear));
                [number, other]
            }
            (true, _) => [NO_PAGE, number],
            (_, true) => [number, NO_PAGE],
        };
        self.name(node, NO_PAGE)?;
        children.into_iter().zip(numbers).try_for_each(|(child, number)| self.name(child, number))
    }

    /// Adds a page of these entries, and returns its number.
    fn append(&mut self, entries: &[&[u8]]) -> Result<u32> {
        let len = self.book.ctg.len() as u64;
        if !len.is_multiple_of(PAGE_LEN) || self.count == NO_PAGE {
            return Err(damaged(self.book, CTG, len, "the last page of the book is cut off"));
        }
        let number = self.count;
        self.count += 1;
        self.changed.insert(number, filled(entries));
        Ok(number)
    }

    /// Gives a node its page.
    fn name(&mut self, node: u64, number: u32) -> Result<()> {
        if self.index.held() < self.index.count {
            return Err(damaged(self.book, CTO, CTO_COUNT, "the index of the book is cut off"));
        }
        self.numbers.insert(node, number);
        Ok(())
    }

    fn file(&self, which: usize) -> PathBuf {
        self.book.files.get(which).cloned().unwrap_or_default()
    }

    fn damaged_page(&self, number: u32) -> Error {
        damaged(self.book, CTG, page_offset(number.into()), &format!("page {number} of the book is damaged"))
    }

    /// The changes of the files that are different.
    ///
    /// # Errors
    /// When a change is not inside its file.
    pub fn patches(&self) -> Result<Vec<(PathBuf, Patch)>> {
        let [ctg, cto, ctb] = self.book.maps();
        let changes = [(ctg, self.in_pages()), (cto, self.in_numbers()), (ctb, self.in_bitmap())];
        let mut patches = Vec::new();
        for (which, (data, changes)) in changes.into_iter().enumerate() {
            let placed = changes.into_iter().filter_map(|bytes| placed(data, bytes));
            let patch = Patch::new(data, placed)
                .ok_or_else(|| damaged(self.book, which, 0, "the parts of the file overlap"))?;
            patches.extend(Some((self.file(which), patch)).filter(|(_, patch)| !patch.is_empty()));
        }
        Ok(patches)
    }

    fn in_pages(&self) -> Vec<CtgPatch> {
        let data = &self.book.ctg;
        let mut changes = Vec::new();
        if u64::from(self.count) != pages_in(data.len() as u64) {
            changes.push((CTG_PAGES, self.count.to_be_bytes().to_vec()));
        }
        let positions = bytes::u32_be(data, CTG_POSITIONS).unwrap_or_default().saturating_add(self.added);
        changes.push((CTG_POSITIONS, positions.to_be_bytes().to_vec()));
        changes
            .extend(self.changed.iter().map(|(number, page)| (page_offset((*number).into()), page.clone())));
        changes
    }

    fn in_numbers(&self) -> Vec<CtgPatch> {
        let old = self.index.count;
        let count = self.numbers.last_key_value().map_or(0, |(last, _)| last + 1).max(old);
        let mut changes = Vec::new();
        if count > old {
            changes.push((CTO_COUNT, (count as u32).to_be_bytes().to_vec()));
        }
        if !self.split.is_empty() {
            changes.push((CTO_LOW, self.low().to_be_bytes().to_vec()));
        }
        let new = |node: &u64| (*node, self.numbers.get(node).copied().unwrap_or(NO_PAGE));
        let changed = self.numbers.range(..old).map(|(node, number)| (*node, *number));
        let numbers = changed.chain((old..count).map(|node| new(&node)));
        changes.extend(numbers.map(|(node, number)| (number_offset(node), number.to_be_bytes().to_vec())));
        changes
    }

    /// The lower bound: the bits before the first byte of the bitmap that is not all ones.
    fn low(&self) -> u32 {
        let whole = (0_u64..).step_by(8).take_while(|node| (0..8).all(|bit| self.is_split(node + bit)));
        (whole.count() as u32).saturating_mul(8)
    }

    fn in_bitmap(&self) -> Vec<CtgPatch> {
        let Some(last) = self.split.last() else { return Vec::new() };
        let old = self.index.bits() / 8;
        let mut changes = vec![(CTB_LOW, self.low().to_be_bytes().to_vec())];
        if last / 8 >= old {
            changes.push((CTB_HIGH, ((last / 8 + 1) as u32 * 8).to_be_bytes().to_vec()));
        }
        let byte = |at: u64| (0..8).fold(0, |byte, bit| byte | u8::from(self.is_split(at * 8 + bit)) << bit);
        let changed: BTreeSet<u64> = self.split.iter().map(|node| node / 8).chain(old..=last / 8).collect();
        changes.extend(changed.into_iter().map(|at| (bit_offset(at * 8), vec![byte(at)])));
        changes
    }
}

/// Where bytes are put in a file; at its end they are added.
fn placed(data: &[u8], (at, bytes): CtgPatch) -> Option<(Range<usize>, Vec<u8>)> {
    let at = usize::try_from(at).ok()?.min(data.len());
    Some((at..(at + bytes.len()).min(data.len()), bytes))
}

/// A page of these entries.
fn filled(entries: &[&[u8]]) -> Vec<u8> {
    let end = PAGE_HEADER + entries.iter().map(|entry| entry.len()).sum::<usize>();
    let mut page: Vec<u8> =
        [entries.len() as u16, end as u16].into_iter().flat_map(u16::to_be_bytes).collect();
    page.extend(entries.concat());
    page.resize(PAGE_LEN as usize, 0);
    page
}

fn damaged(book: &Ctg, which: usize, at: u64, what: &str) -> Error {
    let file = book.files.get(which).cloned().unwrap_or_default();
    Error::format(file, what)
        .at_offset(at)
        .advice("convert the book, and edit the new one")
        .remedied_by(Remedy::Convert)
}
