//! Edits of a book's entries: weights are written in their places; entries that come or go need a new file.
#![allow(clippy::cast_possible_truncation, reason = "the offset of a field is less than an entry's length")]

use std::io::Write;

use crate::fingerprint::fingerprint;
use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_book::polyglot::entry::{PolyglotEntry, key_of};
use tabiya_book::polyglot::layout::{ENTRY_LEN, WEIGHT};

use super::{BLOCK, BookEntries, cannot_write, offset_of};
use crate::field::Field;
use crate::journal::{EditRecord, EntryChange, JournalRecord, Owner};

impl BookEntries {
    /// The book after an edit.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(crate) fn owner_after(&mut self, edit: &EditRecord) -> Result<Owner> {
        let book_len = self.len.saturating_add_signed(edit.growth() * ENTRY_LEN as i64);
        let fingerprint = fingerprint(book_len, |number| edit.entry_after(number, |old| self.entry(old)))?;
        Ok(Owner { book_len, fingerprint })
    }

    /// Whether the book would be as after an edit if that were made: it is as `before`, or has some of the weights of an edit
    /// that changes only weights.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub(crate) fn is_becoming(&mut self, edit: &EditRecord, before: bool) -> Result<bool> {
        if edit.renumbers() {
            return Ok(before && self.owner_after(edit)? == edit.after);
        }
        for change in &edit.changes {
            let (Some(old), Some(new)) = (change.old, change.new) else { return Ok(false) };
            match self.entry(change.index.into())? {
                Some(now) if is_same(now, old) && [old.weight, new.weight].contains(&now.weight) => {}
                _ => return Ok(false),
            }
        }
        Ok(self.owner_after(edit)? == edit.after)
    }

    /// Writes the weights of an edit that changes only weights. One that is not the old weight was changed by another
    /// program since, and stays.
    ///
    /// # Errors
    /// When the book cannot be read or written.
    pub(crate) fn write_weights(&mut self, changes: &[EntryChange]) -> Result<()> {
        for change in changes {
            let (Some(old), Some(new)) = (change.old, change.new) else { continue };
            let now = self.entry(change.index.into())?;
            if now.is_some_and(|now| is_same(now, old) && now.weight == old.weight) {
                self.write_weight(change.index.into(), new.weight)?;
            }
        }
        Ok(())
    }

    /// Takes back what was written of a record, from its last change to the first.
    ///
    /// # Errors
    /// When the book cannot be read or written, or the record is a reset: what it cleared is gone.
    pub(crate) fn take_back(&mut self, record: &JournalRecord) -> Result<()> {
        if *record == JournalRecord::Reset {
            return Err(Error::new(ErrorKind::File, "what was cleared is gone").at_path(&self.path));
        }
        if let JournalRecord::Edit(edit) = record {
            let back = |change: &EntryChange| EntryChange { old: change.new, new: change.old, ..*change };
            self.write_weights(&edit.changes.iter().map(back).collect::<Vec<_>>())?;
        }
        for change in record.changes().iter().rev().filter(|change| !change.is_deleted()) {
            let Some(entry) = self.entry(change.index.into())? else { continue };
            if (entry.key, entry.mv, Field::from(entry)) == (change.key, change.mv, change.new) {
                self.write(change.index.into(), change.old)?;
            }
        }
        Ok(())
    }

    /// Writes the book with these changes into `out`: learn fields and whatever follows the last entry stay.
    ///
    /// # Errors
    /// When the book cannot be read, or `out` cannot be written.
    pub(crate) fn copy_edited(&mut self, changes: &[EntryChange], out: &mut dyn Write) -> Result<()> {
        let mut next = 0;
        for change in changes {
            self.copy(next, change.index.into(), out)?;
            next = change.index.into();
            let mut entry = change.new.map(|entry| entry.to_bytes());
            if let (Some(_), Some(new)) = (change.old, &mut entry) {
                // As it is now, but for the weight.
                let weight = *new;
                self.read_at(next, new)?;
                let at = WEIGHT as usize..WEIGHT as usize + 2;
                if let (Some(into), Some(weight)) = (new.get_mut(at.clone()), weight.get(at)) {
                    into.copy_from_slice(weight);
                }
            }
            next += u64::from(change.old.is_some());
            let written = entry.map_or(Ok(()), |entry| out.write_all(&entry));
            written.map_err(|error| cannot_write(&self.path, error))?;
        }
        self.copy(next, u64::MAX, out)
    }

    /// Copies the entries of these numbers; with `u64::MAX` all bytes to the end.
    fn copy(&mut self, from: u64, to: u64, out: &mut dyn Write) -> Result<()> {
        let mut block =
            vec![0; BLOCK.min(usize::try_from(to.saturating_sub(from)).unwrap_or(BLOCK)) * ENTRY_LEN];
        let mut next = from;
        while next < to {
            let wanted = usize::try_from(to - next).unwrap_or(BLOCK).min(BLOCK) * ENTRY_LEN;
            let block = block.part_mut(..wanted);
            let read = self.read_at(next, block)?;
            let written = out.write_all(block.part(..read));
            written.map_err(|error| cannot_write(&self.path, error))?;
            if read < block.len() {
                break;
            }
            next += (read / ENTRY_LEN) as u64;
        }
        Ok(())
    }

    /// Refuses a book whose keys do not ascend: a new entry would have no place in it. All of it is read, unless that was done
    /// since it was last written.
    ///
    /// # Errors
    /// When the keys do not ascend, or the book cannot be read.
    pub(crate) fn check_order(&mut self) -> Result<()> {
        let stamp = self.stamp()?;
        if stamp.is_some() && self.ordered == stamp {
            return Ok(());
        }
        let mut last = 0;
        let before = |entry: &[u8; ENTRY_LEN]| std::mem::replace(&mut last, key_of(entry)) > key_of(entry);
        if let Some(index) = self.first_where(before)? {
            return Err(Error::format(&self.path, "the entries are not in order by key")
                .at_offset(offset_of(index))
                .advice("rewrite it, and edit the new book")
                .remedied_by(Remedy::Convert));
        }
        self.ordered = stamp;
        Ok(())
    }
}

/// Whether two entries are of the same move.
fn is_same(a: PolyglotEntry, b: PolyglotEntry) -> bool {
    (a.key, a.mv) == (b.key, b.mv)
}
