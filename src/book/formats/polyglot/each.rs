//! Every position of the book, one by one.

use std::collections::HashSet;
use std::ops::ControlFlow;

use shakmaty::{File, Rank};

use super::Polyglot;
use super::entry::Entry;
use super::walk::walk;
use crate::base::progress::Progress;
use crate::book::traverse::each_reachable;
use crate::book::{Learned, MoveFacts, PositionRecord, Scope};
use crate::chess::MoveCode;

/// Entries between two looks at the progress bar.
const STRIDE: usize = 1 << 14;

/// See [`crate::book::Book::each`]: in [`Scope::All`] runs of one key in the order of the file. Duplicates are added
/// up, castling in the old form is written in the new one where play reaches it, and entries whose move can be no
/// legal move of any position are left out.
pub fn each(
    book: &Polyglot,
    scope: Scope,
    progress: &Progress,
    visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>,
) -> u64 {
    match scope {
        Scope::Reachable => reachable(book, progress, visit),
        Scope::All => {
            all(book, progress, visit);
            0
        }
    }
}

fn reachable(
    book: &Polyglot,
    progress: &Progress,
    visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>,
) -> u64 {
    let entries = book.entries();
    progress.things(entries.len() as u64, "entries");
    let positions = entries.positions();
    positions.saturating_sub(each_reachable(book, positions, progress, visit))
}

fn all(book: &Polyglot, progress: &Progress, visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>) {
    let entries = book.entries();
    let mut old = HashSet::new();
    if entries.iter().any(|entry| may_be_old_castling(entry.mv)) {
        let _ = walk(entries, entries.positions(), progress, &mut |finding| {
            if finding.old_castling {
                old.insert(finding.index);
            }
        });
    }
    progress.things(entries.len() as u64, "entries");
    let mut known = PositionRecord::default();
    let mut trusted = true;
    let mut flush = |known: &mut PositionRecord, trusted: bool| {
        if !trusted {
            known.moves.iter_mut().for_each(|known| known.learned = None);
        }
        let flow = if known.moves.is_empty() { ControlFlow::Continue(()) } else { visit(known) };
        known.moves.clear();
        flow
    };
    for (index, mut entry) in entries.iter().enumerate() {
        if index % STRIDE == 0 {
            progress.at(index as u64);
        }
        if entry.key != known.key {
            if flush(&mut known, trusted).is_break() {
                return;
            }
            (known.key, trusted) = (entry.key, true);
        }
        trusted &= entry.learn_is_plausible();
        if old.contains(&index) {
            entry.mv = new_castling(entry.mv);
        }
        if entry.mv.error().is_none() {
            add(&mut known.moves, &entry);
        }
    }
    let _ = flush(&mut known, trusted);
}

fn add(moves: &mut Vec<MoveFacts<MoveCode>>, entry: &Entry) {
    let learned = Learned { games: entry.games.into(), halfpoints: entry.halfpoints.into() };
    let learned = (learned.games > 0).then_some(learned);
    match moves.iter_mut().find(|known| known.mv == entry.mv) {
        Some(known) => {
            known.weight += u64::from(entry.weight);
            known.learned = super::sum(known.learned, learned);
        }
        None => moves.push(MoveFacts { learned, ..MoveFacts::new(entry.mv, entry.weight.into()) }),
    }
}

/// Whether a code is a step from the king's place to where it castles to.
fn may_be_old_castling(mv: MoveCode) -> bool {
    let (from, to) = (mv.from(), mv.to());
    from.file() == File::E
        && matches!(to.file(), File::G | File::C)
        && from.rank() == to.rank()
        && matches!(from.rank(), Rank::First | Rank::Eighth)
}

/// The same castling, written as the king taking its rook.
fn new_castling(mv: MoveCode) -> MoveCode {
    let rook = if mv.to().file() == File::G { File::H } else { File::A };
    MoveCode::new(mv.from(), shakmaty::Square::from_coords(rook, mv.to().rank()), None)
}
