//! Edits of a book: records are changed and added, and everything else in the file is unchanged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::successors;
use std::ops::ControlFlow;

use shakmaty::Move;

use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::interrupt;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Position};

use super::layout::{DELETED, HIGHEST_PRIORITY, LIVE_RECORDS, NONE, RECORD_LEN, ROOT, UNSET};
use super::read::{MAX, walk};
use super::records::{AbkRecord, Records, offset};
use crate::edit::{Change, Edit, EditValue, PositionEdits, no_moves_left};

/// Records that an edit adds at most: a new move comes on each line that leads to its position.
const MOST_ADDED: usize = 1 << 20;

/// Where a position is in the tree.
#[derive(Default)]
struct Occurrence {
    /// Its records with their moves.
    records: Vec<(u32, Move)>,
    /// The first records of its lists of moves.
    lists: Vec<u32>,
    /// The last records of those.
    last: BTreeSet<u32>,
    /// The records of the moves that lead to it and have no reply.
    ends: Vec<u32>,
}

/// Where positions are, by their keys.
type Occurrences = HashMap<u64, Occurrence>;

/// Finds the positions of these keys.
fn find(
    records: Records<'_>,
    keys: impl IntoIterator<Item = u64>,
    progress: &Progress,
) -> Result<Occurrences> {
    let mut occurrences: Occurrences = keys.into_iter().map(|key| (key, Occurrence::default())).collect();
    progress.things(records.len() as u64, "records");
    let go_on = |done| {
        progress.at(done);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let legal = |number, record: &AbkRecord, before: &Position, mv, _| {
        if let Some(here) = occurrences.get_mut(&before.key()) {
            here.records.push((number, mv));
            here.lists.push(number);
        }
        if let Some(there) = occurrences.get_mut(&before.key_after(mv)) {
            match u32::try_from(record.child).ok().filter(|child| *child > 0) {
                // A list of which all moves are deleted is one, too.
                Some(child) => there.lists.extend(records.get(child).map(|_| child)),
                None => there.ends.push(number),
            }
        }
    };
    walk(records, MAX, go_on, legal, |_, _, _, _| ());
    interrupt::check()?;
    // By which list each record was passed first, so that none is passed twice.
    let (mut passed, mut by) = (vec![u32::MAX; records.len()], 0);
    for here in occurrences.values_mut() {
        for list in &here.lists {
            here.last.extend(last(records, *list, by, &mut passed));
            by += 1;
        }
    }
    Ok(occurrences)
}

/// The last record of the list that goes on from this one, unless that was passed before.
fn last(records: Records<'_>, mut number: u32, by: u32, passed: &mut [u32]) -> Option<u32> {
    loop {
        *passed.get_mut((number - ROOT) as usize).filter(|first| **first == u32::MAX)? = by;
        let next = records.get(number).and_then(|record| u32::try_from(record.sibling).ok());
        let next = next.filter(|next| records.get(*next).is_some());
        // A list that a damaged link makes endless ends before it begins again.
        let again = |next: u32| passed.get((next - ROOT) as usize) == Some(&by);
        match next.filter(|next| !again(*next)) {
            Some(next) => number = next,
            None => return Some(number),
        }
    }
}

/// Records of a book that are changed, and those that are added.
struct AbkEdit<'a> {
    records: Records<'a>,
    changed: BTreeMap<u32, AbkRecord>,
    added: Vec<AbkRecord>,
    /// By how many records more are live.
    live: i64,
    /// The records that were deleted.
    deleted: Vec<u32>,
}

impl<'a> AbkEdit<'a> {
    fn new(records: Records<'a>) -> Self {
        Self { records, changed: BTreeMap::new(), added: Vec::new(), live: 0, deleted: Vec::new() }
    }

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

    /// Makes an edit of a position, where the book has that.
    fn edit(&mut self, at: &Position, edit: &Edit, occurrences: &mut Occurrences) -> Result<()> {
        let here = occurrences.entry(at.key()).or_default();
        let found: Vec<u32> =
            here.records.iter().filter(|(_, mv)| *mv == edit.mv).map(|(number, _)| *number).collect();
        let is_known = edit.expect_known(!found.is_empty())?;
        let priority = match edit.change {
            Change::Set(value) | Change::Add(value) => priority(value)?,
            Change::Delete => {
                here.records.retain(|(_, mv)| *mv != edit.mv);
                for number in found {
                    let Some(mut record) = self.get(number) else { continue };
                    record.flags = record.flags & 0x00ff_ffff | DELETED << 24;
                    self.put(number, record);
                    self.live -= 1;
                    self.deleted.push(number);
                }
                return Ok(());
            }
        };
        if is_known {
            for number in found {
                let record = self.get(number);
                record.into_iter().for_each(|record| self.put(number, AbkRecord { priority, ..record }));
            }
            return Ok(());
        }
        let record = AbkRecord { priority, ..AbkRecord::from_move(edit.mv) };
        if self.add(at, edit.mv, record, occurrences) {
            return Ok(());
        }
        let what = if self.added.len() < MOST_ADDED {
            "no line of the book leads to this position"
        } else {
            "too many lines of the book lead to this position"
        };
        Err(Error::new(ErrorKind::Usage, what)
            .advice("an Arena book is a tree: add the moves that lead there first"))
    }

    /// Adds a record to each list of moves of a position, or where a line ends there. Returns whether there is such a place.
    fn add(&mut self, at: &Position, mv: Move, record: AbkRecord, occurrences: &mut Occurrences) -> bool {
        let here = occurrences.entry(at.key()).or_default();
        if self.added.len() + here.last.len().max(here.ends.len()) > MOST_ADDED {
            return false;
        }
        here.last = if here.last.is_empty() {
            self.add_after(&here.ends, |before, child| AbkRecord { child, ..before }, record)
        } else {
            self.add_after(&here.last, |before, sibling| AbkRecord { sibling, ..before }, record)
        };
        self.live += i64::try_from(here.last.len()).unwrap_or(i64::MAX);
        here.records.extend(here.last.iter().map(|number| (*number, mv)));
        let new = here.last.clone();
        if let Some(there) = occurrences.get_mut(&at.key_after(mv)) {
            there.ends.extend(&new);
        }
        !new.is_empty()
    }

    /// Whether the list of replies to a record has one that is not deleted.
    fn goes_on(&self, number: u32) -> bool {
        let child = self.get(number).and_then(|record| u32::try_from(record.child).ok());
        child.is_some_and(|child| child > 0 && self.list(child).any(|record| !record.deleted()))
    }

    /// The records of the list that begins with this one. A list that a damaged link makes endless ends.
    fn list(&self, first: u32) -> impl Iterator<Item = AbkRecord> {
        let after = |number: &u32| self.get(*number).and_then(|record| u32::try_from(record.sibling).ok());
        let numbers = successors(Some(first), after).take(self.records.len() + self.added.len());
        numbers.map_while(|number| self.get(number))
    }

    /// The file as it is edited.
    fn edited(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut edited = Vec::with_capacity(data.len());
        let patch = self.patch(data).ok_or_else(misplaced)?;
        patch.write(data, &mut edited).map_err(|_| misplaced())?;
        Ok(edited)
    }

    /// Whether a first move is left: all others follow one of them.
    fn has_moves(&self) -> bool {
        self.list(ROOT).any(|record| !record.deleted())
    }

    /// The change of the file: its records, and the number of live ones in its header.
    fn patch(&self, data: &[u8]) -> Option<Patch> {
        let count = bytes::u32_le(data, LIVE_RECORDS).filter(|count| *count != UNSET);
        let count = count.and_then(|count| u32::try_from(i64::from(count) + self.live).ok());
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

/// Whether a walk goes on: until the user asks to stop.
fn go_on() -> ControlFlow<()> {
    if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// A move by the key of its position.
type KeyedMove = (u64, MoveCode);

/// A record with the results of another one of its move, too.
fn joined(one: AbkRecord, other: &AbkRecord) -> AbkRecord {
    AbkRecord {
        games: one.games.saturating_add(other.games),
        white_wins: one.white_wins.saturating_add(other.white_wins),
        white_losses: one.white_losses.saturating_add(other.white_losses),
        ..one
    }
}

/// The moves that are only behind deleted ones in a book, in the order of the tree, but for those that are `asked` to go: each as
/// one record.
fn behind(
    data: &[u8],
    edited: &[u8],
    asked: &BTreeSet<KeyedMove>,
) -> Result<Vec<(Position, Move, AbkRecord)>> {
    let left = walk(Records::new(edited), MAX, |_| go_on(), |_, _, _, _, _| (), |_, _, _, _| ());
    let mut places: BTreeMap<KeyedMove, usize> = BTreeMap::new();
    let mut behind: Vec<(Position, Move, AbkRecord)> = Vec::new();
    let see = |number, record: &AbkRecord, at: &Position, mv, _| {
        let key = (at.key(), MoveCode::from_move(mv));
        if left.contains(number) || asked.contains(&key) {
            return;
        }
        match places.get(&key).and_then(|place| behind.get_mut(*place)) {
            Some((_, _, known)) => *known = joined(*known, record),
            None => {
                places.insert(key, behind.len());
                behind.push((at.clone(), mv, AbkRecord { child: NONE, sibling: NONE, ..*record }));
            }
        }
    };
    walk(Records::new(data), MAX, |_| go_on(), see, |_, _, _, _| ());
    interrupt::check()?;
    Ok(behind)
}

/// Puts moves that were behind deleted ones, and stay, where other moves lead to their positions: `edited` is the book without
/// what was deleted, of which `asked` are the moves. `None` if there is no such place.
fn moved(data: &[u8], edited: &[u8], asked: &BTreeSet<KeyedMove>) -> Result<Option<Vec<u8>>> {
    let mut behind = behind(data, edited, asked)?;
    let keys = behind.iter().flat_map(|(at, mv, _)| [at.key(), at.key_after(*mv)]);
    let mut occurrences = find(Records::new(edited), keys, &Progress::none())?;
    // One place each: what several lines say of a move adds up.
    for here in occurrences.values_mut() {
        here.last = here.last.first().into_iter().copied().collect();
    }
    let mut draft = AbkEdit::new(Records::new(edited));
    behind.retain(|(at, mv, record)| {
        let known = occurrences.get(&at.key()).map(|here| &here.records);
        let number = known.and_then(|known| known.iter().find(|(_, other)| other == mv));
        let known = number.and_then(|(number, _)| Some((*number, draft.get(*number)?)));
        known.into_iter().for_each(|(number, known)| draft.put(number, joined(known, record)));
        known.is_none()
    });
    while !behind.is_empty() {
        let before = behind.len();
        behind.retain(|(at, mv, record)| {
            occurrences.entry(at.key()).or_default().ends.truncate(1);
            !draft.add(at, *mv, *record, &mut occurrences)
        });
        if behind.len() == before {
            return Ok(None);
        }
    }
    draft.edited(edited).map(Some)
}

/// What edits change in a book. Every record of a move gets its new priority, on whichever line. A new move comes last on each
/// line that goes on from its position, and a deleted one is marked as Arena does: what follows it, and stays, is put where another
/// move leads there.
///
/// # Errors
/// When a move to add is in the book, or another is not; when a priority is not from 0 to 9; when a move to be deleted
/// has replies that would go with it, or is the last of the book; when no line reaches the position; when the file ends
/// within a record; when the work is interrupted.
pub(crate) fn patch(data: &[u8], all: &[PositionEdits], progress: &Progress) -> Result<Patch> {
    let records = Records::new(data);
    if records.trailing > 0 {
        let what = "the file ends inside a record, so nothing can be added to it";
        return Err(Error::new(ErrorKind::Format, what)
            .at_offset((data.len() - records.trailing) as u64)
            .advice("rewrite it, and edit the new book")
            .remedied_by(Remedy::Convert));
    }
    let mut occurrences = find(records, all.iter().map(|of| of.at.key()), progress)?;
    let mut draft = AbkEdit::new(records);
    for PositionEdits { at, edits } in all {
        edits.iter().try_for_each(|edit| draft.edit(at, edit, &mut occurrences))?;
    }
    if !draft.deleted.is_empty() && !draft.has_moves() {
        return Err(no_moves_left());
    }
    if !draft.deleted.iter().any(|number| draft.goes_on(*number)) {
        return draft.patch(data).ok_or_else(misplaced);
    }
    let deletes = |edit: &&Edit| edit.change == Change::Delete;
    let asked = all.iter().flat_map(|of| of.edits.iter().filter(deletes).map(|edit| (of.at.key(), edit)));
    let asked: Vec<(u64, &Edit)> = asked.collect();
    let keyed = asked.iter().map(|(key, edit)| (*key, MoveCode::from_move(edit.mv))).collect();
    let moved = moved(data, &draft.edited(data)?, &keyed)?.ok_or_else(|| {
        let name = asked.first().map_or("", |(_, edit)| &edit.name);
        Error::new(ErrorKind::Usage, format!("the book goes on after the move {name}"))
            .advice("priority 0 keeps it from being played")
            .remedied_by(Remedy::Trim)
    })?;
    between(data, &moved).ok_or_else(misplaced)
}

/// The change from a book to one with as many records or more.
fn between(data: &[u8], new: &[u8]) -> Option<Patch> {
    let len = RECORD_LEN as usize;
    let (same, more) = new.split_at_checked(data.len())?;
    let parts = data.chunks(len).zip(same.chunks(len)).enumerate();
    let changed = parts.filter(|(_, (old, new))| old != new);
    let changed = changed.map(|(at, (old, new))| (at * len..at * len + old.len(), new.to_vec()));
    Patch::new(data, changed.chain([(data.len()..data.len(), more.to_vec())]))
}

fn misplaced() -> Error {
    Error::new(ErrorKind::Format, "a record of the book is not where its file has records")
        .advice("convert the book, and edit the new one")
        .remedied_by(Remedy::Convert)
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
