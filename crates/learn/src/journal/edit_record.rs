//! The record of an edit: which entries were changed by hand, added or deleted (docs/formats/learn.md, Records).

use tabiya_base::bytes;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::polyglot::layout::ENTRY_LEN;

use super::header::Owner;
use super::{note, put_note};

/// Bytes of an entry's change: what it has, its place, the entry before and after.
const CHANGE_LEN: usize = 5 + 2 * ENTRY_LEN;

/// An entry that is changed, added or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// The entry's number in the book as it was before, from 0; a new entry comes before the entry of this number.
    pub index: u32,
    /// The entry before; `None` if it is new.
    pub old: Option<PolyglotEntry>,
    /// The entry after; `None` if it is deleted.
    pub new: Option<PolyglotEntry>,
}

impl EntryChange {
    /// By how many entries the book grows.
    pub(crate) fn growth(&self) -> i64 {
        i64::from(self.new.is_some()) - i64::from(self.old.is_some())
    }
}

/// An edit of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRecord {
    /// Whether it takes back the last edit that was not taken back yet.
    pub undo: bool,
    /// When it was made, in seconds since 1970.
    pub time: u64,
    /// Which position was edited; at most [`MAX_NOTE`](super::MAX_NOTE) bytes.
    pub note: String,
    /// The book after it.
    pub after: Owner,
    /// The changes, in the order of their entries; those of one number: new entries first.
    pub changes: Vec<EntryChange>,
}

impl EditRecord {
    /// Appends the bytes of the record's kind; `None` where the note is too long.
    pub(super) fn put(&self, data: &mut Vec<u8>) -> Option<()> {
        data.push(self.undo.into());
        data.extend(self.time.to_be_bytes());
        put_note(data, &self.note)?;
        data.extend(self.after.book_len.to_be_bytes());
        data.extend(self.after.fingerprint);
        data.extend(u32::try_from(self.changes.len()).ok()?.to_be_bytes());
        for change in &self.changes {
            data.push(u8::from(change.old.is_some()) | u8::from(change.new.is_some()) << 1);
            data.extend(change.index.to_be_bytes());
            for entry in [change.old, change.new] {
                data.extend(entry.map_or([0; ENTRY_LEN], |entry| entry.to_bytes()));
            }
        }
        Some(())
    }

    /// Reads the bytes of the kind, which must end with the last change. Changes out of order make it no record.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let (&undo, _) = data.split_first().filter(|(undo, _)| **undo <= 1)?;
        let (note, rest) = note(data.get(9..)?)?;
        let after = Owner { book_len: bytes::u64_be(rest, 0)?, fingerprint: bytes::array(rest, 8)? };
        let count = bytes::u32_be(rest, 40)? as usize;
        let (changes, tail) = rest.get(44..)?.as_chunks::<CHANGE_LEN>();
        if changes.len() != count || !tail.is_empty() {
            return None;
        }
        let parse = |data: &[u8; CHANGE_LEN]| {
            let entry = |at: usize| Some(PolyglotEntry::from_bytes(&bytes::array(data, at as u64)?));
            let has = *data.first().filter(|has| (1..=3).contains(*has))?;
            Some(EntryChange {
                index: bytes::u32_be(data, 1)?,
                old: if has & 1 != 0 { Some(entry(5)?) } else { None },
                new: if has & 2 != 0 { Some(entry(5 + ENTRY_LEN)?) } else { None },
            })
        };
        let changes: Vec<EntryChange> = changes.iter().map(parse).collect::<Option<_>>()?;
        let ordered = changes.is_sorted_by(|a, b| a.index < b.index || a.index == b.index && a.old.is_none());
        ordered.then_some(Self { undo: undo == 1, time: bytes::u64_be(data, 1)?, note, after, changes })
    }

    /// Whether entries get other numbers; otherwise only weights change.
    pub fn renumbers(&self) -> bool {
        self.changes.iter().any(|change| change.growth() != 0)
    }

    /// By how many entries the book grows.
    pub(crate) fn growth(&self) -> i64 {
        self.changes.iter().map(EntryChange::growth).sum()
    }

    /// The entry of this number in the edited book, which `entry` reads from the book before.
    ///
    /// # Errors
    /// When `entry` fails.
    pub(crate) fn entry_after<E>(
        &self,
        number: u64,
        mut entry: impl FnMut(u64) -> Result<Option<PolyglotEntry>, E>,
    ) -> Result<Option<PolyglotEntry>, E> {
        let mut shift = 0;
        for change in &self.changes {
            let place = u64::from(change.index).saturating_add_signed(shift);
            if place > number {
                break;
            }
            if place == number && change.new.is_some() {
                return Ok(change.new);
            }
            shift += change.growth();
        }
        entry(number.saturating_add_signed(-shift))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use tabiya_chess::MoveCode;

    use super::*;

    fn any_entry() -> impl Strategy<Value = PolyglotEntry> {
        any::<[u8; ENTRY_LEN]>().prop_map(|bytes| PolyglotEntry::from_bytes(&bytes))
    }

    fn any_change() -> impl Strategy<Value = EntryChange> {
        (any::<u32>(), any_entry(), any_entry(), 1..=3_u8).prop_map(|(index, old, new, has)| EntryChange {
            index,
            old: (has & 1 != 0).then_some(old),
            new: (has & 2 != 0).then_some(new),
        })
    }

    /// Any record in order, whether it makes sense or not.
    pub fn any_edit() -> impl Strategy<Value = EditRecord> {
        let changes = prop::collection::vec(any_change(), 0..9);
        (any::<(bool, u64, u64, [u8; 32])>(), "\\PC{0,40}", changes).prop_map(
            |((undo, time, book_len, fingerprint), note, mut changes)| {
                changes.sort_by_key(|change| change.index);
                changes.dedup_by_key(|change| change.index);
                EditRecord { undo, time, note, after: Owner { book_len, fingerprint }, changes }
            },
        )
    }

    fn entry(key: u64) -> PolyglotEntry {
        PolyglotEntry { key, mv: MoveCode(7), weight: 1, games: 0, halfpoints: 0 }
    }

    proptest! {
        /// Each number of the edited book is that of the entries after the same changes to a list.
        #[test]
        fn entries_are_found_by_their_new_numbers(len in 0..30_u32, kinds in prop::collection::vec(0..6_u8, 30)) {
            let old: Vec<_> = (0..len).map(|key| entry(key.into())).collect();
            let (mut changes, mut expected) = (Vec::new(), Vec::new());
            for index in 0..=len {
                let (before, kind) = (old.get(index as usize).copied(), kinds[index as usize % 30]);
                if kind == 1 || kind == 2 {
                    for new in 0..kind {
                        let new = entry(1000 + u64::from(index) * 2 + u64::from(new));
                        changes.push(EntryChange { index, old: None, new: Some(new) });
                        expected.push(new);
                    }
                }
                let Some(before) = before else { continue };
                match kind {
                    3 => changes.push(EntryChange { index, old: Some(before), new: None }),
                    4 => {
                        let new = PolyglotEntry { weight: 9, ..before };
                        changes.push(EntryChange { index, old: Some(before), new: Some(new) });
                        expected.push(new);
                    }
                    _ => expected.push(before),
                }
            }
            let owner = Owner { book_len: 0, fingerprint: [0; 32] };
            let edit = EditRecord { undo: false, time: 0, note: String::new(), after: owner, changes };
            prop_assert_eq!(i64::from(len) + edit.growth(), expected.len() as i64);
            let read = |number| Ok::<_, Infallible>(old.get(number as usize).copied());
            for number in 0..=expected.len() {
                prop_assert_eq!(edit.entry_after(number as u64, read).unwrap(), expected.get(number).copied());
            }
        }
    }
}
