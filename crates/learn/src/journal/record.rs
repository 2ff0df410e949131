//! The journal's records (docs/formats/learn.md, Records).
//!
//! Each record holds the check of the one before, so an older, longer tail that is left after a new record is never read
//! as a part of the journal. A *done* says that all before it is in the book, and on the disk.
#![allow(clippy::cast_possible_truncation, reason = "records are not longer than MAX_RECORD")]

use tabiya_base::bytes;
use tabiya_chess::MoveCode;

use super::edit_record::EditRecord;
use super::{CHECK_LEN, Check, check, note, put_note};
use crate::field::Field;
use crate::identity::Id;

/// Bytes that a record may have: 16 MiB, hundreds of thousands of changes.
pub(crate) const MAX_RECORD: usize = 16 << 20;

/// The first bytes of a record (docs/formats/learn.md, Records).
pub(crate) const MARK: &[u8; 4] = b"tabR";

/// Bytes of a record before those of its kind.
const PREFIX_LEN: usize = 17;

/// Bytes of the shortest record.
pub(crate) const MIN_RECORD: usize = PREFIX_LEN + CHECK_LEN;

/// What is added to the sides of a game whose result is a guess (docs/formats/learn.md, Records).
const GUESS: u8 = 4;

/// The result of a game that has none (docs/formats/learn.md, Records).
const NO_RESULT: u8 = 3;

/// Bytes of one change (docs/formats/learn.md, Records).
const CHANGE_LEN: usize = 22;

/// From this number on, the number of an entry says which edit deleted it: the greatest the last edit before the record.
pub(crate) const FIRST_DELETED: u32 = 0xf000_0000;

/// The field of one entry, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The entry's number in the book, from 0; of one that is not in the book, the edit that deleted it.
    pub index: u32,
    pub key: u64,
    pub mv: MoveCode,
    pub old: Field,
    pub new: Field,
}

impl Change {
    /// Whether an edit has deleted the entry: it is not in the book.
    pub(crate) fn is_deleted(&self) -> bool {
        self.index >= FIRST_DELETED
    }

    /// How many edits before the record the one is that deleted the entry, 1 for the last; `None` if it is in the book.
    pub(crate) fn deleted_before(&self) -> Option<usize> {
        self.is_deleted().then(|| (u32::MAX - self.index) as usize + 1)
    }

    /// The number of an entry that the edit so many before the record deleted, 1 for the last; `None` where that is too many.
    pub(crate) fn index_deleted(edits: usize) -> Option<u32> {
        let before = u32::try_from(edits.checked_sub(1)?).ok()?;
        u32::MAX.checked_sub(before).filter(|index| *index >= FIRST_DELETED)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    pub id: Id,
    /// 1 White's moves were learned, 2 Black's, 3 both.
    pub sides: u8,
    /// Half-points of White: 2, 1 or 0.
    pub result: u8,
    /// Whether the result was guessed by scores.
    pub guess: bool,
    /// When it was learned, in seconds since 1970.
    pub time: u64,
    /// Its name and first moves; at most [`MAX_NOTE`](super::MAX_NOTE) bytes.
    pub note: String,
    /// The changes of the book.
    pub changes: Vec<Change>,
}

/// What a file says of a game that was learned while it was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectionRecord {
    /// The identity under which it was learned.
    pub id: Id,
    /// The identity of the game in the file.
    pub file: Id,
    /// Half-points of White, 2, 1 or 0; `None` if the game has no result.
    pub result: Option<u8>,
    /// When it was corrected, in seconds since 1970.
    pub time: u64,
    /// The changes of the book; none if the result was right.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalRecord {
    /// A game was learned.
    Game(GameRecord),
    /// The last games were taken back.
    Undo {
        games: u32,
        /// The changes of the book.
        changes: Vec<Change>,
    },
    /// Every learn field was set to zero.
    Reset,
    /// All records before are in the book.
    Done,
    /// Entries were edited by hand.
    Edit(EditRecord),
    /// A learned game was found in a file.
    Correction(CorrectionRecord),
}

impl JournalRecord {
    /// The bytes of the record when it follows one with the check `before`, and its own check. `None` where it would be
    /// too long for a journal.
    pub fn to_bytes(&self, before: Check) -> Option<(Vec<u8>, Check)> {
        let mut data = Vec::new();
        data.extend(MARK);
        data.extend([0; 4]);
        data.extend(before);
        match self {
            Self::Game(game) => {
                data.push(1);
                data.extend(game.id);
                data.extend([game.sides | if game.guess { GUESS } else { 0 }, game.result]);
                data.extend(game.time.to_be_bytes());
                put_note(&mut data, &game.note)?;
                put_changes(&mut data, &game.changes);
            }
            Self::Undo { games, changes } => {
                data.push(2);
                data.extend(games.to_be_bytes());
                put_changes(&mut data, changes);
            }
            Self::Reset => data.push(3),
            Self::Done => data.push(4),
            Self::Edit(edit) => {
                data.push(5);
                edit.put(&mut data)?;
            }
            Self::Correction(correction) => {
                data.push(6);
                data.extend(correction.id);
                data.extend(correction.file);
                data.push(correction.result.unwrap_or(NO_RESULT));
                data.extend(correction.time.to_be_bytes());
                put_changes(&mut data, &correction.changes);
            }
        }
        let len = data.len() + CHECK_LEN;
        if len > MAX_RECORD {
            return None;
        }
        data.get_mut(4..8)?.copy_from_slice(&(len as u32).to_be_bytes());
        let check = check(&data);
        data.extend(check);
        Some((data, check))
    }

    /// The length that the record at the start of `data` claims; `None` where no record starts, or none can be that
    /// long.
    pub(crate) fn claimed_len(data: &[u8]) -> Option<usize> {
        let len = bytes::u32_be(data, 4)? as usize;
        (data.starts_with(MARK) && (MIN_RECORD..=MAX_RECORD).contains(&len)).then_some(len)
    }

    /// Reads the record at the start of `data`: it, the check that the one before must have, its own check, and its
    /// length. `None` where there is no whole record.
    pub fn parse(data: &[u8]) -> Option<(Self, Check, Check, usize)> {
        let len = Self::claimed_len(data)?;
        let data = data.get(..len)?;
        let (guarded, found) = data.split_last_chunk::<CHECK_LEN>()?;
        if *found != check(guarded) {
            return None;
        }
        let before = bytes::array(guarded, 8)?;
        let (kind, rest) = guarded.get(PREFIX_LEN - 1..)?.split_first()?;
        let record = match kind {
            1 => Self::Game(GameRecord::parse(rest)?),
            2 => Self::Undo { games: bytes::u32_be(rest, 0)?, changes: changes(rest.get(4..)?)? },
            3 if rest.is_empty() => Self::Reset,
            4 if rest.is_empty() => Self::Done,
            5 => Self::Edit(EditRecord::parse(rest)?),
            6 => Self::Correction(CorrectionRecord::parse(rest)?),
            _ => return None,
        };
        Some((record, before, *found, len))
    }

    /// The learn fields that it changes in the book; a reset changes all of them.
    pub fn changes(&self) -> &[Change] {
        match self {
            Self::Game(game) => &game.changes,
            Self::Correction(correction) => &correction.changes,
            Self::Undo { changes, .. } => changes,
            Self::Reset | Self::Done | Self::Edit(_) => &[],
        }
    }

    /// The same, to be changed.
    pub fn changes_mut(&mut self) -> &mut [Change] {
        match self {
            Self::Game(game) => &mut game.changes,
            Self::Correction(correction) => &mut correction.changes,
            Self::Undo { changes, .. } => changes,
            Self::Reset | Self::Done | Self::Edit(_) => &mut [],
        }
    }
}

impl GameRecord {
    fn parse(data: &[u8]) -> Option<Self> {
        let [sides, result] = bytes::array(data, 16)?;
        let (note, rest) = note(data.get(26..)?)?;
        let (guess, sides) = (sides & GUESS != 0, sides & !GUESS);
        ((1..=3).contains(&sides) && result <= 2).then_some(())?;
        Some(Self {
            id: bytes::array(data, 0)?,
            sides,
            result,
            guess,
            time: bytes::u64_be(data, 18)?,
            note,
            changes: changes(rest)?,
        })
    }
}

impl CorrectionRecord {
    fn parse(data: &[u8]) -> Option<Self> {
        let &result = data.get(2 * size_of::<Id>())?;
        (result <= NO_RESULT).then_some(())?;
        Some(Self {
            id: bytes::array(data, 0)?,
            file: bytes::array(data, 16)?,
            result: Some(result).filter(|result| *result != NO_RESULT),
            time: bytes::u64_be(data, 33)?,
            changes: changes(data.get(41..)?)?,
        })
    }
}

fn put_changes(data: &mut Vec<u8>, changes: &[Change]) {
    // So many that a number of 32 bits is too small are longer than any record.
    data.extend((changes.len() as u32).to_be_bytes());
    for change in changes {
        data.extend(change.index.to_be_bytes());
        data.extend(change.key.to_be_bytes());
        data.extend(change.mv.0.to_be_bytes());
        data.extend(change.old.to_bytes());
        data.extend(change.new.to_bytes());
    }
}

/// Reads changes that fill `data` to its end.
fn changes(data: &[u8]) -> Option<Vec<Change>> {
    let count = bytes::u32_be(data, 0)? as usize;
    let (changes, rest) = data.get(4..)?.as_chunks::<CHANGE_LEN>();
    if changes.len() != count || !rest.is_empty() {
        return None;
    }
    let parse = |data: &[u8; CHANGE_LEN]| {
        Some(Change {
            index: bytes::u32_be(data, 0)?,
            key: bytes::u64_be(data, 4)?,
            mv: MoveCode(bytes::u16_be(data, 12)?),
            old: Field::from_bytes(bytes::array(data, 14)?),
            new: Field::from_bytes(bytes::array(data, 18)?),
        })
    };
    changes.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::journal::MAX_NOTE;
    use crate::journal::edit_record::tests::any_edit;

    fn any_change() -> impl Strategy<Value = Change> {
        (any::<(u32, u64, u16)>(), any::<[u8; 4]>(), any::<[u8; 4]>()).prop_map(
            |((index, key, mv), old, new)| Change {
                index,
                key,
                mv: MoveCode(mv),
                old: Field::from_bytes(old),
                new: Field::from_bytes(new),
            },
        )
    }

    fn any_record() -> impl Strategy<Value = JournalRecord> {
        let changes = || prop::collection::vec(any_change(), 0..20);
        let game = (any::<(Id, u64, bool)>(), 1..=3_u8, 0..=2_u8, "\\PC{0,60}", changes()).prop_map(
            |((id, time, guess), sides, result, note, changes)| {
                JournalRecord::Game(GameRecord { id, sides, result, guess, time, note, changes })
            },
        );
        let correction = (any::<(Id, Id, u64)>(), prop::option::of(0..=2_u8), changes()).prop_map(
            |((id, file, time), result, changes)| {
                JournalRecord::Correction(CorrectionRecord { id, file, result, time, changes })
            },
        );
        let undo =
            (any::<u32>(), changes()).prop_map(|(games, changes)| JournalRecord::Undo { games, changes });
        let edit = any_edit().prop_map(JournalRecord::Edit);
        prop_oneof![game, undo, Just(JournalRecord::Reset), Just(JournalRecord::Done), edit, correction]
    }

    #[test]
    fn a_note_that_is_too_long_gives_no_record() {
        let note = "x".repeat(MAX_NOTE + 1);
        let game =
            GameRecord { id: [0; 16], sides: 1, result: 1, guess: false, time: 0, note, changes: vec![] };
        assert!(JournalRecord::Game(game).to_bytes([0; 8]).is_none());
    }

    proptest! {
        #[test]
        fn records_survive_a_round_trip(record in any_record(), before: Check, rest: Vec<u8>) {
            let (mut data, check) = record.to_bytes(before).unwrap();
            let len = data.len();
            data.extend(rest);
            prop_assert_eq!(JournalRecord::parse(&data), Some((record, before, check, len)));
        }

        #[test]
        fn a_record_that_was_cut_or_changed_is_none(record in any_record(), at: prop::sample::Index, bit in 0..8_u32) {
            let (mut data, _) = record.to_bytes([9; 8]).unwrap();
            let at = at.index(data.len());
            prop_assert_eq!(JournalRecord::parse(&data[..at]), None);
            data[at] ^= 1 << bit;
            prop_assert_eq!(JournalRecord::parse(&data), None);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(mut data: Vec<u8>) {
            prop_assert_eq!(JournalRecord::parse(&data), None);
            let start = [&MARK[..], &(data.len() as u32 + 8).to_be_bytes()].concat();
            data.splice(..0, start);
            prop_assert_eq!(JournalRecord::parse(&data), None);
        }
    }
}
