//! Edits of a book: records are changed and added, and everything else in the file is unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::ops::ControlFlow;

use shakmaty::Move;

use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::interrupt;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::layout::{DELETED, HIGHEST_PRIORITY, LIVE_RECORDS, NONE, ROOT, UNSET};
use super::read::{MAX, walk};
use super::records::{AbkRecord, Records, offset};
use crate::edit::{Change, Edit, EditValue, no_moves_left};

/// Where a position is in the tree.
#[derive(Default)]
struct Occurrences {
    /// Its records with their moves.
    records: Vec<(u32, AbkRecord, Move)>,
    /// The records of the moves that lead to it and have no reply.
    ends: Vec<u32>,
}

impl Occurrences {
    fn find(records: Records<'_>, at: &Position, progress: &Progress) -> Result<Self> {
        let mut occurrences = Self::default();
        let key = at.key();
        let legal = |number, record: &AbkRecord, before: &Position, mv, _| {
            if before.key() == key {
                occurrences.records.push((number, *record, mv));
            }
            if record.child <= 0 && before.key_after(mv) == key {
                occurrences.ends.push(number);
            }
        };
        progress.things(records.len() as u64, "records");
        let go_on = |done| {
            progress.at(done);
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        walk(records, MAX, go_on, legal, |_, _, _, _| ());
        interrupt::check()?;
        Ok(occurrences)
    }

    /// The last record of each list of moves of the position.
    fn last(&self, records: Records<'_>) -> BTreeSet<u32> {
        let mut last = BTreeSet::new();
        // By which of the position's records each record was passed first, so that none is passed twice.
        let mut passed = vec![u32::MAX; records.len()];
        for (by, (number, ..)) in (0..).zip(&self.records) {
            let mut number = *number;
            while let Some(first) =
                passed.get_mut((number - ROOT) as usize).filter(|first| **first == u32::MAX)
            {
                *first = by;
                let next = records.get(number).and_then(|record| u32::try_from(record.sibling).ok());
                let next = next.filter(|next| records.get(*next).is_some());
                // A list that a damaged link makes endless ends before it begins again.
                let again = |next: u32| passed.get((next - ROOT) as usize) == Some(&by);
                match next.filter(|next| !again(*next)) {
                    Some(next) => number = next,
                    None => _ = last.insert(number),
                }
            }
        }
        last
    }
}

/// Records of a book that are changed, and those that are added.
struct AbkEdit<'a> {
    records: Records<'a>,
    changed: BTreeMap<u32, AbkRecord>,
    added: Vec<AbkRecord>,
}

impl AbkEdit<'_> {
    /// The number of the next record that is added.
    fn next(&self) -> u32 {
        ROOT + u32::try_from(self.records.len() + self.added.len()).unwrap_or(u32::MAX - ROOT)
    }

    /// Where an added record of this number is.
    fn index(&self, number: u32) -> Option<usize> {
        usize::try_from(number.checked_sub(ROOT)?).ok()?.checked_sub(self.records.len())
    }

    fn get(&self, number: u32) -> Option<AbkRecord> {
        match self.index(number) {
            Some(index) => self.added.get(index).copied(),
            None => self.changed.get(&number).copied().or_else(|| self.records.get(number)),
        }
    }

    fn put(&mut self, number: u32, record: AbkRecord) {
        match self.index(number) {
            Some(index) => self.added.get_mut(index).into_iter().for_each(|into| *into = record),
            None => drop(self.changed.insert(number, record)),
        }
    }

    /// Adds a record after each of these, which `linked` makes lead to it; returns the numbers of those that were added.
    fn add_after<'n>(
        &mut self,
        ends: impl IntoIterator<Item = &'n u32>,
        linked: impl Fn(AbkRecord, i32) -> AbkRecord,
        record: AbkRecord,
    ) -> BTreeSet<u32> {
        let mut added = BTreeSet::new();
        for &end in ends {
            let number = self.next();
            self.added.push(record);
            if let Some(before) = self.get(end) {
                self.put(end, linked(before, i32::try_from(number).unwrap_or(NONE)));
            }
            added.insert(number);
        }
        added
    }

    /// Whether a first move is left: all others follow one of them.
    fn has_moves(&self) -> bool {
        let after = |number: &u32| self.get(*number).and_then(|record| u32::try_from(record.sibling).ok());
        // A list that a damaged link makes endless ends.
        let numbers = successors(Some(ROOT), after).take(self.records.len() + self.added.len());
        numbers.map_while(|number| self.get(number)).any(|record| !record.deleted())
    }

    /// The change of the file: its records, and the number of live ones in its header, which grows by `live`.
    fn patch(self, data: &[u8], live: i64) -> Option<Patch> {
        let count = bytes::u32_le(data, LIVE_RECORDS).filter(|count| *count != UNSET);
        let count = count.and_then(|count| u32::try_from(i64::from(count) + live).ok());
        let count = count.map(|count| (LIVE_RECORDS, count.to_le_bytes().to_vec()));
        let records =
            self.changed.iter().map(|(number, record)| (offset(*number), record.to_bytes().to_vec()));
        let place = |(at, bytes): (u64, Vec<u8>)| {
            let at = usize::try_from(at).ok()?;
            Some((at..at + bytes.len(), bytes))
        };
        let added = (data.len()..data.len(), self.added.iter().flat_map(AbkRecord::to_bytes).collect());
        Patch::new(data, count.into_iter().chain(records).filter_map(place).chain([added]))
    }
}

/// What edits at a position change in a book. Every record of a move gets its new priority, on whichever line. A new move
/// comes last on each line that goes on from the position, and a deleted one is marked as Arena does.
///
/// # Errors
/// When a move to add is in the book, or another is not; when a priority is not from 0 to 9; when a move to be deleted
/// has replies, which would go with it, or is the last of the book; when no line reaches the position; when the file ends
/// within a record; when the work is interrupted.
pub(crate) fn patch(data: &[u8], at: &Position, edits: &[Edit], progress: &Progress) -> Result<Patch> {
    let records = Records::new(data);
    if records.trailing > 0 {
        let what = "the file ends inside a record, so nothing can be added to it";
        return Err(Error::new(ErrorKind::Format, what)
            .at_offset((data.len() - records.trailing) as u64)
            .advice("rewrite it, and edit the new book")
            .remedied_by(Remedy::Convert));
    }
    let occurrences = Occurrences::find(records, at, progress)?;
    let last = occurrences.last(records);
    let mut draft = AbkEdit { records, changed: BTreeMap::new(), added: Vec::new() };
    let (mut live, mut ends) = (0_i64, last);
    for edit in edits {
        let found = occurrences.records.iter().filter(|(_, _, mv)| *mv == edit.mv);
        let is_known = edit.expect_known(found.clone().next().is_some())?;
        let priority = match edit.change {
            Change::Set(value) | Change::Add(value) => Some(priority(value)?),
            Change::Delete => None,
        };
        for &(number, mut record, _) in found {
            match priority {
                Some(priority) => record.priority = priority,
                None if record.child > 0 => {
                    let what = format!("the book goes on after the move {}", edit.name);
                    return Err(Error::new(ErrorKind::Usage, what)
                        .advice("priority 0 keeps it from being played")
                        .remedied_by(Remedy::Trim));
                }
                None => {
                    record.flags = record.flags & 0x00ff_ffff | DELETED << 24;
                    live -= 1;
                }
            }
            // Its link may lead to a record that was added.
            let link = draft.get(number).map_or(record.sibling, |now| now.sibling);
            draft.put(number, AbkRecord { sibling: link, ..record });
        }
        if let (false, Some(priority)) = (is_known, priority) {
            let record = AbkRecord { priority, ..AbkRecord::from_move(edit.mv) };
            ends = if ends.is_empty() {
                draft.add_after(&occurrences.ends, |before, child| AbkRecord { child, ..before }, record)
            } else {
                draft.add_after(&ends, |before, sibling| AbkRecord { sibling, ..before }, record)
            };
            if ends.is_empty() {
                let what = "no line of the book leads to this position";
                return Err(Error::new(ErrorKind::Usage, what)
                    .advice("an Arena book is a tree: add the moves that lead there first"));
            }
            live += ends.len() as i64;
        }
    }
    if live < 0 && !draft.has_moves() {
        return Err(no_moves_left());
    }
    draft.patch(data, live).ok_or_else(|| {
        Error::new(ErrorKind::Format, "a record of the book is not where its file has records")
            .advice("convert the book, and edit the new one")
            .remedied_by(Remedy::Convert)
    })
}

fn priority(value: EditValue) -> Result<u8> {
    let number = match value {
        EditValue::Weight(number) => u8::try_from(number).ok().filter(|number| *number <= HIGHEST_PRIORITY),
        EditValue::Verdict { .. } | EditValue::Plain => None,
    };
    number.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "an Arena book cannot have this weight")
            .advice("write a priority from 1 to 9, or 0 for a move that is never played")
    })
}
