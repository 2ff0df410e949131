//! Sums up a whole file and finds what is wrong with it.

use std::collections::BTreeMap;

use shakmaty::Move;

use tabiya_base::findings::{FindingPlace, Findings, kinds};
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::Exp;
use super::keys::{KeyParts, KeySet};
use super::layout::{NO_VALUE, RECORD_LEN};
use super::read::{ExpIndex, MAX_RECORDS};
use super::records::ExpRecords;
use crate::BookSummary;
use crate::traverse::{Bits, Graph, KeyFilter, Traversal, with_replies};

kinds! {
    /// What can be wrong with an experience file.
    pub enum ExpFindingKind {
        Trailing: Warning "incomplete records" => "they are ignored",
        Record: Error "records that no engine writes",
        Cut: Error "files with too many records",
        Empty: Warning "files without moves" => "the engine plays every move",
        NoMove: Warning "records without a move" => "they are ignored",
        NoValue: Warning "records without a value" => "they are ignored",
        Illegal: Error "records whose move is not legal in its position",
        Wide: Warning "depths with too many positions" => "deeper positions are not checked, and are played",
        Unreached: Warning "positions that no line from the starting position reaches, which only look-ups find",
    }
}

/// What is said of a last record that is not whole.
pub(super) fn incomplete(trailing: usize) -> String {
    format!("the last record has {trailing} of {RECORD_LEN} bytes: another program may be writing it")
}

/// What is said of a file with too many records.
pub(super) fn too_many(records: usize) -> String {
    format!("the file has {records} records, and those after the first {MAX_RECORDS} are not read")
}

/// Reports what the records show without their positions, in the order of the file.
pub(super) fn records(records: ExpRecords<'_>, progress: &Progress, findings: &mut Findings<'_>) {
    progress.things(records.len() as u64, "records");
    for (number, record) in records.iter().take(MAX_RECORDS).enumerate() {
        progress.pass(number as u64);
        if let Some(what) = record.error() {
            findings.add(ExpFindingKind::Record, records.offset(number), what);
        } else if record.code().is_none() {
            let (kind, what) = match record.value {
                NO_VALUE => (ExpFindingKind::NoValue, "this record has no value"),
                _ => (ExpFindingKind::NoMove, "this record has no move"),
            };
            findings.count(kind, records.offset(number), what);
        }
    }
    if records.len() > MAX_RECORDS {
        findings.add(ExpFindingKind::Cut, records.offset(MAX_RECORDS), too_many(records.len()));
    }
    if records.trailing > 0 {
        findings.add(ExpFindingKind::Trailing, records.offset(records.len()), incomplete(records.trailing));
    }
    if records.is_empty() {
        findings.add(ExpFindingKind::Empty, FindingPlace::default(), "the file has no records");
    }
}

/// Sums the file up, and reports what is wrong with it: first what the records show, then what only the positions show.
pub(super) fn survey(book: &Exp, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let (all, index) = (book.records(), book.index());
    records(all, progress, findings);
    let mut found = Found::default();
    let walked = walk(index, book.family().keys(), progress, &mut found);
    for (number, what) in &found.illegal {
        findings.add(ExpFindingKind::Illegal, all.offset(*number as usize), what);
    }
    walked.add_cut(ExpFindingKind::Wide, findings);
    for _ in walked.reached..index.positions {
        findings.count(
            ExpFindingKind::Unreached,
            FindingPlace::default(),
            "no line from the starting position reaches a position",
        );
    }
    let sets: Vec<String> =
        found.sets.iter().map(|(set, count)| format!("{set} ({count} positions)")).collect();
    let mut notes = vec![("experience of", book.family().name().to_owned())];
    notes.extend((!sets.is_empty()).then(|| ("keys", sets.join(", "))));
    BookSummary {
        entries: all.len() as u64,
        positions: Some(index.positions),
        moves: Some(index.all().len() as u64),
        deepest: walked.deepest(),
        reachable: Some(walked.reached),
        notes,
        ..BookSummary::default()
    }
}

/// What a walk finds besides positions.
#[derive(Debug, Default)]
struct Found {
    /// Positions by the set of keys under which they are stored.
    sets: BTreeMap<&'static str, u64>,
    /// Records whose move is not legal, by their numbers.
    illegal: BTreeMap<u32, String>,
}

/// Walks from the starting position along all legal moves of the file, and along replies that it does not have.
fn walk(index: &ExpIndex, set: KeySet, progress: &Progress, found: &mut Found) -> Traversal {
    with_replies(&mut Walk { index, set, found, missing: None }, index.positions, progress)
}

struct Walk<'a> {
    index: &'a ExpIndex,
    set: KeySet,
    found: &'a mut Found,
    /// The keys that the file's own moves do not reach, once replies to them are looked for.
    missing: Option<KeyFilter>,
}

impl Graph for Walk<'_> {
    fn numbers(&self) -> u64 {
        self.index.all().len() as u64
    }

    fn entry(&self, at: &Position) -> Option<u64> {
        self.index.look_up(at.standard()?, self.set).map(|(first, ..)| first as u64)
    }

    fn entries_after(&self, at: &Position, moves: &[Move], out: &mut Vec<Option<u64>>) {
        let Some(chess) = at.standard() else { return };
        let parts = KeyParts::new(chess);
        out.extend(moves.iter().map(|mv| match parts.after(chess, *mv) {
            Some(parts) => self.index.look_up_parts(parts, self.set).map(|(first, ..)| first as u64),
            None => self.entry(&at.after(*mv)),
        }));
    }

    fn leave_out(&mut self, own: &Bits) {
        self.missing = Some(KeyFilter::of_others(self.index.all().iter().map(|known| known.key), own));
    }

    fn drop_replies(&self, at: &Position, replies: &mut Vec<Move>) {
        if let Some(missing) = &self.missing {
            self.index.drop_absent(Some(missing), self.set, at, replies);
        }
    }

    fn moves(&mut self, at: &Position, entry: u64, first: bool, out: &mut Vec<Move>) {
        let known = usize::try_from(entry).ok().and_then(|first| self.index.moves_from(first));
        let (Some(chess), Some(moves)) = (at.standard(), known) else { return };
        if first && let Some((.., set)) = self.index.look_up(chess, self.set) {
            *self.found.sets.entry(set.name()).or_default() += 1;
        }
        for known in moves {
            let legal = known.legal(chess);
            if legal.is_none() {
                let what = || format!("the move {} is not legal in {}", known.mv, at.fen());
                self.found.illegal.entry(known.number).or_insert_with(what);
            }
            out.extend(legal);
        }
    }
}
