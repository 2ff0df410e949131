//! Walks the tree from the starting position, each record once, in memory that does not depend on what the file claims.
#![allow(clippy::cast_possible_truncation, reason = "a line is not longer than MAX_LEN")]

use std::ops::ControlFlow;

use shakmaty::{Move, Position as _};

use tabiya_chess::Position;

use super::super::kinds::AbkFindingKind;
use super::super::layout::{HIGHEST_PRIORITY, ROOT};
use super::super::records::{AbkRecord, Records};
use crate::traverse::Bits;

/// Plies that a line is followed: longer than any game that a book was made from. It bounds the walk's memory.
pub(crate) const MAX_LEN: usize = 1024;

/// Records that are followed; the rest of a larger file is ignored. It bounds the index to about 700 MB.
pub const MAX: usize = 1 << 24;

/// Records between two looks at whether to go on.
const STRIDE: usize = 1 << 14;

/// What the walk reached.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// By their numbers less [`ROOT`].
    seen: Bits,
    /// Records that were read, deleted ones too.
    pub followed: usize,
    /// Whether there were more than are followed.
    pub cut: bool,
}

impl Walked {
    /// Whether the record of this number was reached.
    pub fn contains(&self, number: u32) -> bool {
        self.seen.contains(number.saturating_sub(ROOT).into())
    }

    /// The record that a link leads to for the first time; `None` if there is no link, and the kind of finding if the
    /// link is wrong.
    fn follow(
        &mut self,
        records: Records<'_>,
        link: i32,
        outside: AbkFindingKind,
        again: AbkFindingKind,
    ) -> Result<Option<u32>, AbkFindingKind> {
        // 0 is no record, and some sources describe it as the end.
        let Some(link) = u32::try_from(link).ok().filter(|link| *link > 0) else { return Ok(None) };
        if records.get(link).is_none() {
            return Err(outside);
        }
        if self.seen.insert(link.saturating_sub(ROOT).into()) { Ok(Some(link)) } else { Err(again) }
    }
}

/// A position with the record of the move that comes next in it.
struct AbkStep {
    position: Position,
    next: Option<u32>,
}

/// Walks the tree, each line to its end before the next, up to `most` records, and as long as `go_on`, which sees now and
/// then how many were followed, does not break off.
///
/// `legal` sees each record whose move is legal in its position, with its number and the number of plies from the start (1 is the first
/// move). `found` sees each record that is wrong, with its number, position and finding.
///
/// Cycles, links out of the file, illegal moves and lines that are too deep end there; the rest is walked. A deleted
/// record is skipped with all its replies.
pub fn walk(
    records: Records<'_>,
    most: usize,
    mut go_on: impl FnMut(u64) -> ControlFlow<()>,
    mut legal: impl FnMut(u32, &AbkRecord, &Position, Move, u32),
    mut found: impl FnMut(u32, &AbkRecord, &Position, AbkFindingKind),
) -> Walked {
    let mut walked = Walked { seen: Bits::new(records.len() as u64), ..Walked::default() };
    let mut stack = Vec::new();
    if !records.is_empty() {
        walked.seen.insert(0);
        stack.push(AbkStep { position: Position::start(), next: Some(ROOT) });
    }
    loop {
        let plies = stack.len();
        let Some(step) = stack.last_mut() else { break };
        let Some((number, record)) = step.next.take().and_then(|number| Some((number, records.get(number)?)))
        else {
            stack.pop();
            continue;
        };
        if walked.followed >= most {
            walked.cut = true;
            break;
        }
        walked.followed += 1;
        if walked.followed.is_multiple_of(STRIDE) && go_on(walked.followed as u64).is_break() {
            walked.cut = true;
            break;
        }
        let at = &step.position;
        let outcome = walked.follow(
            records,
            record.sibling,
            AbkFindingKind::SiblingOutside,
            AbkFindingKind::SiblingAgain,
        );
        step.next = outcome.unwrap_or_else(|kind| {
            found(number, &record, at, kind);
            None
        });
        if record.deleted() {
            continue;
        }
        let code = record.mv();
        let mv = code.and_then(|raw| raw.resolve(at.chess())).filter(|&mv| at.chess().is_legal(mv));
        let Some(mv) = mv else {
            let kind = if code.is_none() { AbkFindingKind::Code } else { AbkFindingKind::Illegal };
            found(number, &record, at, kind);
            continue;
        };
        if counts_are_wrong(&record) {
            found(number, &record, at, AbkFindingKind::Counts);
        }
        if record.priority > HIGHEST_PRIORITY {
            found(number, &record, at, AbkFindingKind::Priority);
        }
        legal(number, &record, at, mv, plies as u32);
        // Only after a legal move: the replies to another can still be reached from elsewhere.
        match walked.follow(records, record.child, AbkFindingKind::ChildOutside, AbkFindingKind::ChildAgain) {
            Ok(Some(child)) if plies < MAX_LEN => {
                let position = at.after(mv);
                stack.push(AbkStep { position, next: Some(child) });
            }
            Ok(Some(_)) => found(number, &record, at, AbkFindingKind::TooDeep),
            Ok(None) => {}
            Err(kind) => found(number, &record, at, kind),
        }
    }
    walked
}

/// Whether the counts cannot be those of games.
fn counts_are_wrong(record: &AbkRecord) -> bool {
    let (games, wins, losses) = (record.games, record.white_wins, record.white_losses);
    games < 0 || wins < 0 || losses < 0 || wins.checked_add(losses).is_none_or(|ended| ended > games)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_records_are_followed_than_allowed() {
        let mut data = vec![0; super::super::super::layout::HEADER_LEN as usize];
        for number in 0..8_i32 {
            let square = number as u8;
            let sibling = if number < 7 { 901 + number } else { -1 };
            let record = AbkRecord { from: 8 + square, to: 16 + square, sibling, ..AbkRecord::default() };
            data.extend(record.to_bytes());
        }
        for most in 0..10 {
            let mut count = 0;
            let legal = |_, _: &AbkRecord, _: &Position, _, _| count += 1;
            let walked =
                walk(Records::new(&data), most, |_| ControlFlow::Continue(()), legal, |_, _, _, _| ());
            assert_eq!((count, walked.cut), (most.min(8), most < 8));
        }
    }
}
