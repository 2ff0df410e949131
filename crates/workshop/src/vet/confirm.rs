//! Searching again, for longer, what decides that moves are dropped.
//!
//! The best of many values is more often too great than too small, because errors that raise a value make it the best. So
//! of the moves that short searches condemn, many are good. Before a move is dropped, the two evaluations that decide it
//! are replaced by those of a longer search: the one that the best of its position rests on, and the one that the value of
//! the move rests on. Then others may decide, and these are searched again too, until those that decide are all confirmed.
//!
//! What is searched depends only on the book and on the first evaluations: a run that goes on after an interruption asks for
//! the same searches in the same rounds, and finds those that were made in the store.

use std::collections::HashSet;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Moves;
use tabiya_chess::{MoveCode, Packed};
use tabiya_search::{Evaluated, Knowledge, Work, evaluate};

use crate::values::{Graph, KnownValues, UNKNOWN};

use super::judge::VetLimits;
use super::judged::JudgedBook;

/// A move that loses over this many centipawns more than allowed is dropped without another search.
const CERTAIN: u32 = 100;

/// How many times other positions may turn out to decide.
const ROUNDS: usize = 16;

/// Searches the positions that decide that moves of a book are dropped again, `times` as long.
///
/// # Errors
/// As [`evaluate()`].
pub fn confirm(
    (book, graph): (&dyn Moves, &Graph),
    limits: VetLimits,
    times: u64,
    knowledge: &mut Knowledge,
    work: &Work<'_>,
    progress: &Progress,
) -> Result<Evaluated> {
    let first = work.limit;
    let work = Work { limit: first.times(times), ..*work };
    let (mut confirmed, mut all) = (HashSet::new(), Evaluated::default());
    for _ in 0..ROUNDS {
        let known = graph.known(|at| match confirmed.contains(at) {
            true => knowledge.score(at),
            false => knowledge.first(at, first).map(|known| known.score),
        });
        let backed = graph.back_up(&known);
        let judged = JudgedBook { book, graph, backed: &backed, limits };
        let mut deciding = deciding(&judged, &known)?;
        let packed = |number: u32| Packed::strict(&graph.positions().get(number)?);
        deciding.retain(|number| packed(*number).is_some_and(|packed| confirmed.insert(packed)));
        if deciding.is_empty() {
            break;
        }
        let (wanted, _) = graph.wanted(deciding, knowledge, work.limit);
        progress.slow_things(wanted.len() as u64, "positions, searched again");
        let mut positions = wanted.into_iter().filter_map(|number| graph.positions().get(number));
        all.add(evaluate(&mut positions, knowledge, &work, progress)?);
        if all.cut {
            break;
        }
    }
    Ok(all)
}

/// The positions whose evaluations decide that moves are dropped, in the order of their numbers.
fn deciding(book: &JudgedBook<'_>, known: &KnownValues) -> Result<Vec<u32>> {
    let mut deciding = Vec::new();
    let most = book.limits.max_loss.saturating_add(CERTAIN);
    book.each(|judged| {
        for (place, facts) in judged.moves.iter().enumerate() {
            let dropped = judged.fates.get(place).is_some_and(|fate| fate.dropped);
            if !dropped || judged.worth.loss(facts.mv).is_none_or(|loss| loss > most) {
                continue;
            }
            let after = book.graph.after(judged.number, MoveCode::from_move(facts.mv));
            let ends = [Some(judged.number), after].into_iter().flatten();
            deciding.extend(ends.filter_map(|at| source(book, known, judged.white, at)));
        }
        Ok(())
    })?;
    deciding.sort_unstable();
    deciding.dedup();
    Ok(deciding)
}

/// The position whose own evaluation is what a side can force from this one.
fn source(book: &JudgedBook<'_>, known: &KnownValues, white: bool, mut at: u32) -> Option<u32> {
    let JudgedBook { graph, backed, .. } = book;
    let value = backed.get(white, at)?;
    let mut met = HashSet::new();
    while met.insert(at) {
        let own = known.own.get(at as usize).copied().filter(|own| *own != UNKNOWN);
        let ours = known.white.get(at as usize) == Some(&white);
        if own.map(|own| if ours { own } else { -own }) == Some(value) {
            return Some(at);
        }
        let mut next = graph.moves(at).filter_map(|mv| graph.step(at, mv));
        let same = next.find(|(_, to, ..)| !met.contains(to) && backed.get(white, *to) == Some(value));
        at = same?.1;
    }
    None
}
