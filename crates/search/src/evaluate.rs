//! Evaluating positions with several child engines, and what is known of them.

use std::sync::atomic::AtomicBool;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use crate::knowledge::{Evaluated, Knowledge};
use crate::pool::search_all;
use crate::searcher::{PositionSearch, Work};

/// Evaluates positions in this order, and puts what is found into the store and into what is known.
///
/// An engine that ends or hangs is started again and the position searched once more; then it is skipped.
///
/// # Errors
/// When an engine cannot be started or fails again and again, the store cannot be written, or the work is interrupted:
/// the store then has everything that was found before.
pub fn evaluate(
    positions: &mut dyn Iterator<Item = Position>,
    knowledge: &mut Knowledge,
    work: &Work<'_>,
    progress: &Progress,
) -> Result<Evaluated> {
    let mut handed = 0_u64;
    let next = |_: &AtomicBool| {
        // Those that were handed out are about to be done.
        progress.at(handed);
        handed += 1;
        let at = if work.is_over() { None } else { positions.next() };
        Ok(at.map(|at| ((), PositionSearch { at, without: Vec::new(), limit: work.limit })))
    };
    let pooled = search_all(next, |(), _| {}, knowledge, work)?;
    let mut evaluated = knowledge.take(pooled);
    evaluated.cut = work.is_over() && positions.next().is_some();
    Ok(evaluated)
}
