//! A book's entries where only single places of the file are read: finding an entry, the fingerprint, the fields.

use std::io;

use super::field::{FIELD_LEN, Field};
use super::storage::Bytes;
use crate::book::Fingerprint;
use crate::book::polyglot::entry::Entry;
use crate::book::polyglot::layout::{ENTRY_LEN, LEARN};
use crate::book::polyglot::{MOST_OF_ONE_KEY, fingerprint};
use crate::chess::MoveCode;

/// Entries that are read at once where the whole book is read: 1 MiB.
const BLOCK: usize = 1 << 16;

/// The entries of an open book.
pub struct Pages<'a> {
    book: &'a mut dyn Bytes,
    len: u64,
}

impl<'a> Pages<'a> {
    /// The entries of a book.
    ///
    /// # Errors
    /// When the book's length cannot be had.
    pub fn new(book: &'a mut dyn Bytes) -> io::Result<Self> {
        let len = book.size()?;
        Ok(Self { book, len })
    }

    /// The book's length in bytes.
    pub fn bytes(&self) -> u64 {
        self.len
    }

    fn count(&self) -> u64 {
        self.len / ENTRY_LEN as u64
    }

    /// The entry of this number, from 0; `None` behind the last.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn entry(&mut self, index: u64) -> io::Result<Option<Entry>> {
        let mut bytes = [0; ENTRY_LEN];
        if index >= self.count() || self.book.read_at(index * ENTRY_LEN as u64, &mut bytes)? < ENTRY_LEN {
            return Ok(None);
        }
        Ok(Some(Entry::from_bytes(&bytes)))
    }

    /// What tells this book from others: [`fingerprint`].
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn fingerprint(&mut self) -> io::Result<Fingerprint> {
        fingerprint(self.len, |index| self.entry(index))
    }

    /// The number of the first entry of a key with one of these moves, and the entry. In a book that is out of order
    /// it may be missed, as when playing.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn find(&mut self, key: u64, moves: [MoveCode; 2]) -> io::Result<Option<(u64, Entry)>> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.entry(middle)? {
                Some(entry) if entry.key < key => low = middle + 1,
                _ => high = middle,
            }
        }
        for index in low..low.saturating_add(MOST_OF_ONE_KEY as u64) {
            match self.entry(index)? {
                Some(entry) if entry.key == key => {
                    if moves.contains(&entry.mv) {
                        return Ok(Some((index, entry)));
                    }
                }
                _ => break,
            }
        }
        Ok(None)
    }

    /// Writes the learn field of an entry, and no other byte.
    ///
    /// # Errors
    /// When the book cannot be written.
    pub fn write(&mut self, index: u64, field: Field) -> io::Result<()> {
        self.book.write_at(index * ENTRY_LEN as u64 + LEARN, &field.to_bytes())
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&mut self) -> io::Result<()> {
        self.book.sync()
    }

    /// Goes through the fields of all entries from this number on, in their order, until `see` has seen enough.
    fn each(&mut self, from: u64, mut see: impl FnMut(u64, Field) -> bool) -> io::Result<()> {
        let mut block = vec![0; BLOCK * ENTRY_LEN];
        let mut index = from;
        loop {
            let read = self.book.read_at(index * ENTRY_LEN as u64, &mut block)?;
            let (entries, _) = block.get(..read).unwrap_or_default().as_chunks::<ENTRY_LEN>();
            for bytes in entries {
                let field: Option<[u8; FIELD_LEN]> = bytes.last_chunk().copied();
                if !see(index, Field::from_bytes(field.unwrap_or_default())) {
                    return Ok(());
                }
                index += 1;
            }
            if read < block.len() {
                return Ok(());
            }
        }
    }

    /// The number of the first entry whose learn field holds something else than games and half-points.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn first_implausible(&mut self) -> io::Result<Option<u64>> {
        let mut found = None;
        self.each(0, |index, field| {
            found = (!field.is_plausible()).then_some(index);
            found.is_none()
        })?;
        Ok(found)
    }

    /// Sets every learn field to nothing; returns how many were something.
    ///
    /// # Errors
    /// When the book cannot be read or written.
    pub fn clear(&mut self) -> io::Result<u64> {
        let mut cleared = 0;
        let mut from = 0;
        loop {
            // So many at once that the memory is bounded, whatever the book.
            let mut some = Vec::new();
            self.each(from, |index, field| {
                if field != Field::default() {
                    some.push(index);
                }
                some.len() < BLOCK
            })?;
            let Some(last) = some.last() else { return Ok(cleared) };
            from = last + 1;
            cleared += some.len() as u64;
            for index in some {
                self.write(index, Field::default())?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::disk::Memory;
    use super::*;

    fn entry(key: u64, mv: u16, learn: (u16, u16)) -> Entry {
        Entry { key, mv: MoveCode(mv), weight: 5, games: learn.0, halfpoints: learn.1 }
    }

    fn bytes(entries: &[Entry]) -> Vec<u8> {
        entries.iter().flat_map(Entry::to_bytes).collect()
    }

    #[test]
    fn the_first_of_equal_entries_is_found() {
        let entries: Vec<_> =
            [(1, 7), (3, 7), (3, 8), (3, 8), (9, 7)].map(|(key, mv)| entry(key, mv, (0, 0))).into();
        let mut book = Memory::of(bytes(&entries));
        let mut pages = Pages::new(&mut book).unwrap();
        let mut at = |key, mv| pages.find(key, [MoveCode(mv); 2]).unwrap().map(|(index, _)| index);
        assert_eq!((at(1, 7), at(3, 8), at(9, 7)), (Some(0), Some(2), Some(4)));
        assert_eq!((at(0, 7), at(3, 9), at(10, 7)), (None, None, None));
    }

    #[test]
    fn the_fingerprint_does_not_see_what_is_learned() {
        let print = |entries: &[Entry]| {
            let mut book = Memory::of(bytes(entries));
            Pages::new(&mut book).unwrap().fingerprint().unwrap()
        };
        let first = print(&[entry(1, 7, (0, 0)), entry(2, 7, (0, 0))]);
        assert_eq!(print(&[entry(1, 7, (3, 2)), entry(2, 7, (0, 0))]), first);
        assert_ne!(print(&[entry(1, 8, (0, 0)), entry(2, 7, (0, 0))]), first);
        assert_ne!(print(&[entry(1, 7, (0, 0))]), first);
        assert_ne!(print(&[]), first);
    }

    #[test]
    fn clearing_touches_the_fields_alone() {
        let entries: Vec<_> = (0..200_000_u64).map(|key| entry(key, 7, ((key % 3) as u16, 9))).collect();
        let mut book = Memory::of([bytes(&entries), vec![1, 2, 3]].concat());
        let mut pages = Pages::new(&mut book).unwrap();
        assert_eq!(pages.first_implausible().unwrap(), Some(0));
        assert_eq!(pages.clear().unwrap(), 200_000);
        assert_eq!((pages.clear().unwrap(), pages.first_implausible().unwrap()), (0, None));
        let clean: Vec<_> = entries.iter().map(|old| Entry { games: 0, halfpoints: 0, ..*old }).collect();
        assert_eq!(book.now(), [bytes(&clean), vec![1, 2, 3]].concat());
    }
}
