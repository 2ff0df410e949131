//! The entries of a book, read one by one: finding an entry, the fingerprint, the learn fields.
#![allow(clippy::cast_possible_truncation, reason = "the place in a page is wanted")]

mod rewrite;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::fingerprint::Fingerprint;
use crate::fingerprint::fingerprint;
use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, Result};
use tabiya_book::polyglot::MAX_OF_ONE_KEY;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::polyglot::layout::{ENTRY_LEN, LEARN, WEIGHT};
use tabiya_book::traverse::KeyHasher;
use tabiya_chess::MoveCode;

use super::field::Field;
use super::journal::Owner;
use super::storage::{Stamp, StoredBytes};

/// Entries that are read at once where the whole book is read: 1 MiB.
const BLOCK: usize = 1 << 16;

/// Entries that are read at once where a key is looked for: 8 KiB.
const PAGE: usize = 512;

/// Guesses of where a key is before a search by halves.
const GUESSES: u32 = 8;

/// Pages that are kept: 4 MiB of them.
const MAX_PAGES: usize = 512;

/// The entries of moves, with their numbers, by the keys of their positions and their codes.
pub(super) type FoundEntries =
    HashMap<(u64, [MoveCode; 2]), (u64, PolyglotEntry), BuildHasherDefault<KeyHasher>>;

/// The entries of an open book.
pub struct BookEntries {
    book: Box<dyn StoredBytes>,
    /// Its name in messages.
    pub(super) path: PathBuf,
    /// Its length in bytes.
    pub(super) len: u64,
    /// Pages that were read to find entries.
    pages: HashMap<u64, Vec<u8>>,
    /// Their memory where it is free for others.
    spare: Vec<Vec<u8>>,
    /// The state of the file in which its keys were found to ascend.
    pub(super) ordered: Option<Stamp>,
    /// Whether anything was written, or tried to be.
    pub(super) is_written: bool,
}

impl BookEntries {
    /// The entries of a book; `path` is its name in messages.
    ///
    /// # Errors
    /// When the length of the book is not available.
    pub fn new(mut book: Box<dyn StoredBytes>, path: &Path) -> Result<Self> {
        let len = book.size().map_err(|error| cannot_read(path, error))?;
        Ok(Self {
            book,
            path: path.to_owned(),
            len,
            pages: HashMap::new(),
            spare: Vec::new(),
            ordered: None,
            is_written: false,
        })
    }

    /// What the journal of this book says of it.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn owner(&mut self) -> Result<Owner> {
        Ok(Owner { book_len: self.len, fingerprint: self.fingerprint()? })
    }

    /// Which file the book is and when it was last written, where that is known.
    ///
    /// # Errors
    /// When the system fails.
    pub(crate) fn stamp(&mut self) -> Result<Option<Stamp>> {
        self.book.stamp().map_err(|error| cannot_read(&self.path, error))
    }

    /// How many entries there are.
    pub(super) fn count(&self) -> u64 {
        self.len / ENTRY_LEN as u64
    }

    /// Fills `into` from the entry of this number on; returns how many bytes there were.
    pub(super) fn read_at(&mut self, index: u64, into: &mut [u8]) -> Result<usize> {
        let read = self.book.read_at(offset_of(index), into);
        read.map_err(|error| cannot_read(&self.path, error))
    }

    /// The entry of this number, from 0; `None` after the last.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn entry(&mut self, index: u64) -> Result<Option<PolyglotEntry>> {
        let mut bytes = [0; ENTRY_LEN];
        if index >= self.count() || self.read_at(index, &mut bytes)? < ENTRY_LEN {
            return Ok(None);
        }
        Ok(Some(PolyglotEntry::from_bytes(&bytes)))
    }

    /// The number of the first entry whose key is not less.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(super) fn first_of(&mut self, key: u64) -> Result<u64> {
        self.first_after((0, 0), key)
    }

    /// The same where the entry of the number `low` is known to have the key `least`, which is not greater.
    fn first_after(&mut self, (mut low, mut least): (u64, u64), key: u64) -> Result<u64> {
        let mut high = self.count();
        // Between these keys; they are spread evenly, so guesses read few pages of a large book.
        let mut most = u64::MAX;
        let mut guesses = 0..GUESSES;
        while low < high {
            let room = high - low;
            let guess = guesses.next().map(|_| {
                let share = u128::from(key.clamp(least, most.max(least)) - least) * u128::from(room);
                u64::try_from(share / (u128::from(most.saturating_sub(least)) + 1)).unwrap_or_default()
            });
            let middle = low + guess.unwrap_or(room / 2).min(room - 1);
            match self.paged(middle)?.map(|entry| entry.key) {
                Some(found) if found < key => (low, least) = (middle + 1, found),
                Some(found) => (high, most) = (middle, found),
                None => high = middle,
            }
        }
        Ok(low)
    }

    /// Forgets the pages that were read, so that [`BookEntries::paged`] sees what other programs wrote until now.
    pub(super) fn read_anew(&mut self) {
        self.spare.extend(self.pages.drain().map(|(_, page)| page));
    }

    /// The entry of this number as it was when its page was read, or as it was written here since: what other programs write since
    /// is seen by [`BookEntries::entry`] alone.
    pub(super) fn paged(&mut self, index: u64) -> Result<Option<PolyglotEntry>> {
        let (number, at) = (index / PAGE as u64, index as usize % PAGE);
        let entry = |page: &Vec<u8>| page.as_chunks().0.get(at).map(PolyglotEntry::from_bytes);
        if let Some(page) = self.pages.get(&number) {
            return Ok(entry(page));
        }
        if self.pages.len() >= MAX_PAGES {
            self.read_anew();
        }
        let mut page = self.spare.pop().unwrap_or_default();
        page.resize(PAGE * ENTRY_LEN, 0);
        let read = self.read_at(number * PAGE as u64, &mut page)?;
        page.truncate(read);
        let entry = entry(&page);
        self.pages.insert(number, page);
        Ok(entry)
    }

    /// What distinguishes this book from others: [`fingerprint`].
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(crate) fn fingerprint(&mut self) -> Result<Fingerprint> {
        fingerprint(self.len, |index| self.entry(index))
    }

    /// The number of the first entry of a key with one of these moves, and the entry. In a book that is out of order
    /// it may be missed, as when playing.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn find(&mut self, key: u64, moves: [MoveCode; 2]) -> Result<Option<(u64, PolyglotEntry)>> {
        let numbers = self.numbers_of((0, 0), key)?;
        self.find_in(numbers, key, moves)
    }

    /// [`BookEntries::find`] of many, in the order of their keys: each page is read about once, however many are looked for.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(super) fn find_each(&mut self, mut moves: Vec<(u64, [MoveCode; 2])>) -> Result<FoundEntries> {
        moves.sort_unstable();
        moves.dedup();
        let (mut found, mut last) = (FoundEntries::default(), (0, 0));
        for (key, codes) in moves {
            let numbers = self.numbers_of(last, key)?;
            let first = numbers.start;
            if let Some(entry) = self.find_in(numbers, key, codes)? {
                last = (first, key);
                found.insert((key, codes), entry);
            }
        }
        Ok(found)
    }

    /// All entries of a key with one of these moves, with their numbers: one, unless the book has the move twice.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(super) fn find_all(&mut self, key: u64, moves: [MoveCode; 2]) -> Result<Vec<(u64, PolyglotEntry)>> {
        let (mut found, mut numbers) = (Vec::new(), self.numbers_of((0, 0), key)?);
        while let Some(next) = self.find_in(numbers.clone(), key, moves)? {
            found.push(next);
            numbers.start = next.0 + 1;
        }
        Ok(found)
    }

    /// The numbers that the entries of a key have if there are as many as a position may have. `known`: the number and the key of an
    /// entry that does not come after them.
    fn numbers_of(&mut self, known: (u64, u64), key: u64) -> Result<Range<u64>> {
        let first = self.first_after(known, key)?;
        Ok(first..first.saturating_add(MAX_OF_ONE_KEY as u64))
    }

    /// The first entry of a key with one of these moves, among those with these numbers.
    fn find_in(
        &mut self,
        numbers: Range<u64>,
        key: u64,
        moves: [MoveCode; 2],
    ) -> Result<Option<(u64, PolyglotEntry)>> {
        for index in numbers {
            let Some(entry) = self.paged(index)?.filter(|entry| entry.key == key) else { break };
            if moves.contains(&entry.mv) {
                return Ok(Some((index, entry)));
            }
        }
        Ok(None)
    }

    /// Writes bytes of an entry, from this one of its own on, here and in the page that was read.
    fn write_part(&mut self, index: u64, from: u64, bytes: &[u8]) -> Result<()> {
        self.is_written = true;
        let number = index / PAGE as u64;
        // A write that fails may have been made in part.
        let page = self.pages.remove(&number);
        let written = self.book.write_at(offset_of(index) + from, bytes);
        written.map_err(|error| cannot_write(&self.path, error))?;
        if let Some(mut page) = page {
            let at = index as usize % PAGE * ENTRY_LEN + from as usize;
            let part = page.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len()));
            part.into_iter().for_each(|part| part.copy_from_slice(bytes));
            self.pages.insert(number, page);
        }
        Ok(())
    }

    /// Writes the learn field of an entry, and no other byte.
    ///
    /// # Errors
    /// When the book cannot be written.
    pub fn write(&mut self, index: u64, field: Field) -> Result<()> {
        self.write_part(index, LEARN, &field.to_bytes())
    }

    /// Writes the weight of an entry, and no other byte.
    ///
    /// # Errors
    /// When the book cannot be written.
    pub(super) fn write_weight(&mut self, index: u64, weight: u16) -> Result<()> {
        self.write_part(index, WEIGHT, &weight.to_be_bytes())
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// When the disk does not accept it.
    pub fn sync(&mut self) -> Result<()> {
        self.book.sync().map_err(|error| cannot_write(&self.path, error))
    }

    /// Shows `see` all entries from this number on, block by block with the number of the first, while it returns true.
    fn each_block(&mut self, from: u64, mut see: impl FnMut(u64, &[[u8; ENTRY_LEN]]) -> bool) -> Result<()> {
        let mut block = vec![0; BLOCK * ENTRY_LEN];
        let mut first = from;
        loop {
            let read = self.read_at(first, &mut block)?;
            let (entries, _) = block.part(..read).as_chunks();
            if !see(first, entries) || read < block.len() {
                return Ok(());
            }
            first += entries.len() as u64;
        }
    }

    /// The number of the first entry of which this is true.
    fn first_where(&mut self, mut wanted: impl FnMut(&[u8; ENTRY_LEN]) -> bool) -> Result<Option<u64>> {
        let mut found = None;
        self.each_block(0, |first, entries| {
            found = entries.iter().position(&mut wanted).map(|place| first + place as u64);
            found.is_none()
        })?;
        Ok(found)
    }

    /// The number of the first entry whose learn field holds something else than games and half-points.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(crate) fn first_implausible(&mut self) -> Result<Option<u64>> {
        self.first_where(|entry| !field_of(entry).is_plausible())
    }

    /// Sets every learn field to zero.
    ///
    /// # Errors
    /// When the book cannot be read or written.
    pub fn clear(&mut self) -> Result<()> {
        let mut next = Some(0);
        while let Some(from) = next.take() {
            let mut learned = Vec::new();
            self.each_block(from, |first, entries| {
                let is_learned = |(_, entry): &(u64, &[u8; ENTRY_LEN])| field_of(entry) != Field::default();
                learned.extend((first..).zip(entries).filter(is_learned).map(|(index, _)| index));
                next = Some(first + entries.len() as u64).filter(|_| !entries.is_empty());
                // A limited number at once, so that the memory is bounded whatever the book.
                learned.is_empty()
            })?;
            learned.into_iter().try_for_each(|index| self.write(index, Field::default()))?;
        }
        Ok(())
    }
}

/// Where the entry of this number, from 0, begins: bytes.
pub(crate) const fn offset_of(index: u64) -> u64 {
    index * ENTRY_LEN as u64
}

impl From<PolyglotEntry> for Field {
    fn from(entry: PolyglotEntry) -> Self {
        Self { games: entry.games, halfpoints: entry.halfpoints }
    }
}

fn field_of(entry: &[u8; ENTRY_LEN]) -> Field {
    Field::from(PolyglotEntry::from_bytes(entry))
}

fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::file(path, "cannot read the book", error)
}

/// The error of a book that cannot be opened for writing, or be written.
pub(super) fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::file(path, "cannot write to the book", error)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn entry(key: u64, mv: u16, learn: (u16, u16)) -> PolyglotEntry {
        PolyglotEntry { key, mv: MoveCode(mv), weight: 5, games: learn.0, halfpoints: learn.1 }
    }

    fn bytes(entries: &[PolyglotEntry]) -> Vec<u8> {
        entries.iter().flat_map(PolyglotEntry::to_bytes).collect()
    }

    /// A book in a temporary file, and the file.
    fn entries_of(bytes: &[u8]) -> (BookEntries, std::fs::File) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let book = Box::new(file.try_clone().unwrap());
        (BookEntries::new(book, Path::new("a.bin")).unwrap(), file)
    }

    #[test]
    fn the_first_of_equal_entries_is_found() {
        let entries: Vec<_> =
            [(1, 7), (3, 7), (3, 8), (3, 8), (9, 7)].map(|(key, mv)| entry(key, mv, (0, 0))).into();
        let (mut book, _) = entries_of(&bytes(&entries));
        let mut at = |key, mv| book.find(key, [MoveCode(mv); 2]).unwrap().map(|(index, _)| index);
        assert_eq!((at(1, 7), at(3, 8), at(9, 7)), (Some(0), Some(2), Some(4)));
        assert_eq!((at(0, 7), at(3, 9), at(10, 7)), (None, None, None));
    }

    /// A file that counts how often it is read.
    struct Counted(Box<dyn StoredBytes>, Arc<AtomicUsize>);

    impl StoredBytes for Counted {
        fn size(&mut self) -> io::Result<u64> {
            self.0.size()
        }

        fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read_at(at, into)
        }

        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            self.0.write_at(at, bytes)
        }

        fn set_len(&mut self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.0.sync()
        }
    }

    /// A book of these entries, and how often it was read.
    fn counted(entries: &[PolyglotEntry]) -> (BookEntries, Arc<AtomicUsize>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes(entries)).unwrap();
        let reads = Arc::new(AtomicUsize::new(0));
        let book = Box::new(Counted(Box::new(file), Arc::clone(&reads)));
        (BookEntries::new(book, Path::new("a.bin")).unwrap(), reads)
    }

    #[test]
    fn looking_for_keys_reads_each_page_once() {
        let all: Vec<_> = (0..10_000_u64).map(|key| entry(key << 40, 7, (0, 0))).collect();
        let (mut entries, reads) = counted(&all);
        for known in &all {
            assert_eq!(entries.find(known.key + 1, [known.mv; 2]).unwrap(), None);
        }
        let pages = all.len().div_ceil(PAGE);
        assert!(reads.load(Ordering::Relaxed) <= pages, "{reads:?} reads of {pages} pages");
        let found = entries.find(all[5000].key, [MoveCode(7); 2]).unwrap();
        assert_eq!(found, Some((5000, all[5000])));
    }

    #[test]
    fn looking_for_many_moves_reads_few_pages_of_a_book_with_more_than_are_kept() {
        let count = (2 * MAX_PAGES * PAGE) as u64;
        let all: Vec<_> = (0..count).map(|key| entry(key << 40, 7, (0, 0))).collect();
        let (mut entries, reads) = counted(&all);
        // Eight of each page, in an order that has nothing to do with keys; half of them are not in the book.
        let wanted = (0..count / 32).map(|number| number * 7919 % (count / 32) * 32);
        let moves = wanted.map(|at| (all[at as usize].key, [MoveCode(if at % 64 == 0 { 7 } else { 8 }); 2]));
        let found = entries.find_each(moves.collect()).unwrap();
        assert_eq!(found.len() as u64, count / 64);
        assert!(
            found
                .iter()
                .all(|((key, _), (index, entry))| entry.key == *key && all[*index as usize] == *entry)
        );
        let reads = reads.load(Ordering::Relaxed) as u64;
        // Each page twice, where keys are not spread evenly as these are not.
        assert!(reads <= 4 * MAX_PAGES as u64, "{reads}");
    }

    #[test]
    fn the_fingerprint_ignores_what_is_learned() {
        let print = |entries: &[PolyglotEntry]| entries_of(&bytes(entries)).0.fingerprint().unwrap();
        let first = print(&[entry(1, 7, (0, 0)), entry(2, 7, (0, 0))]);
        assert_eq!(print(&[entry(1, 7, (3, 2)), entry(2, 7, (0, 0))]), first);
        assert_ne!(print(&[entry(1, 8, (0, 0)), entry(2, 7, (0, 0))]), first);
        assert_ne!(print(&[entry(1, 7, (0, 0))]), first);
        assert_ne!(print(&[]), first);
    }

    #[test]
    fn clearing_changes_only_the_fields() {
        let entries: Vec<_> = (0..200_000_u64).map(|key| entry(key, 7, ((key % 3) as u16, 9))).collect();
        let (mut book, mut file) = entries_of(&[bytes(&entries), vec![1, 2, 3]].concat());
        assert_eq!(book.first_implausible().unwrap(), Some(0));
        book.clear().unwrap();
        assert_eq!(book.first_implausible().unwrap(), None);
        let clean: Vec<_> =
            entries.iter().map(|old| PolyglotEntry { games: 0, halfpoints: 0, ..*old }).collect();
        let mut cleared = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut cleared).unwrap();
        assert_eq!(cleared, [bytes(&clean), vec![1, 2, 3]].concat());
    }
}
