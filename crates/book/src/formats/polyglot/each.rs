//! All positions of a book.

use std::sync::atomic::Ordering;

use shakmaty::Square;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::to_the_end;
use tabiya_chess::{MoveCode, is_known_by_key};

use super::Polyglot;
use crate::traverse::each_reachable;
use crate::{PositionRecord, Scope, Visit};

/// See [`crate::Moves::each`]. [`Scope::All`] gives runs of one key in the order of the file: duplicates are added
/// up, the old form of castling becomes the new one where play reaches it, and entries whose move cannot be legal in
/// any position are left out.
///
/// # Errors
/// What fails in `visit`, and when the work is interrupted.
pub fn each(book: &Polyglot, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
    let entries = book.entries();
    if scope == Scope::Reachable {
        progress.things(entries.len() as u64, "entries");
        return reachable(book, progress, visit);
    }
    let may_be_old = entries.iter().any(|entry| may_be_old_castling(entry.mv));
    let walked = may_be_old.then(|| book.walked(progress)).transpose()?;
    let castlings = walked.as_ref().map(|walked| &walked.castlings);
    progress.things(entries.len() as u64, "entries");
    let mut known = PositionRecord::default();
    let mut index = 0;
    for run in entries.runs() {
        known.moves.clear();
        let mut trusted = true;
        for entry in run.iter() {
            progress.pass(index as u64);
            known.key = entry.key;
            trusted &= entry.learn_is_plausible();
            let mv = castlings.map_or(entry.mv, |castlings| castlings.code(index, &entry));
            if mv.error(book.variant).is_none() && !entry.add_to(&mut known.moves, mv) {
                known.moves.push(entry.facts(mv));
            }
            index += 1;
        }
        if !trusted {
            known.moves.iter_mut().for_each(|known| known.learned = None);
        }
        if !known.moves.is_empty() && to_the_end(visit(&known))?.is_none() {
            break;
        }
    }
    Ok(0)
}

/// Shows the positions that play reaches, and notes whether the moves of all entries were shown.
fn reachable(book: &Polyglot, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
    let (all, mut shown) = (book.entries().positions(), (0, 0));
    let left_out = each_reachable(book, all, progress, &mut |record| {
        shown = (shown.0 + 1, shown.1 + record.moves.len() as u64);
        visit(record)
    })?;
    // Where keys do not tell positions apart, or a position has several, the moves of one key may be shown in several places.
    if is_known_by_key(book.variant) && shown.0 == all && shown == count(book) {
        book.moves_are_legal.store(true, Ordering::Relaxed);
    }
    Ok(left_out)
}

/// See [`crate::Moves::count`]: castling that a position has in both forms counts twice, as in [`crate::BookSummary`].
pub fn count(book: &Polyglot) -> (u64, u64) {
    let (mut positions, mut moves) = (0, 0);
    each_run(book, |_, of_it| (positions, moves) = (positions + 1, moves + of_it));
    (positions, moves)
}

/// Shows the key of each position with moves that may be legal, and how many different ones it has.
pub fn each_run(book: &Polyglot, mut visit: impl FnMut(u64, u64)) {
    let mut codes = Vec::new();
    for run in book.entries().runs() {
        codes.clear();
        codes.extend(run.iter().map(|entry| entry.mv).filter(|mv| mv.error(book.variant).is_none()));
        if codes.len() > 1 {
            codes.sort_unstable();
            codes.dedup();
        }
        if let (Some(entry), false) = (run.get(0), codes.is_empty()) {
            visit(entry.key, codes.len() as u64);
        }
    }
}

/// Whether a code is a step from the king's first square to one that it castles to.
fn may_be_old_castling(mv: MoveCode) -> bool {
    match mv.from() {
        Square::E1 => matches!(mv.to(), Square::G1 | Square::C1),
        Square::E8 => matches!(mv.to(), Square::G8 | Square::C8),
        _ => false,
    }
}
