//! What a book says of a position, and all its positions.

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::Abk;
use super::extra::extra;
use super::records::AbkHeader;
use crate::traverse::each_reachable;
use crate::{Heading, MoveFacts, Moves, PositionRecord, Recommendation, Scope, Visit};

impl Moves for Abk {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// Appends the moves by descending weight.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        if at.standard().is_none() {
            return;
        }
        let index = self.index();
        for known in index.of_key(at.key()) {
            let Some(mv) = known.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv)) else {
                continue;
            };
            out.push(MoveFacts {
                counts: index.has_games.then(|| known.counts(index.has_results)),
                recommended: known.limited.then_some(Recommendation::Red),
                ..MoveFacts::new(mv, known.weight)
            });
        }
    }

    /// Shows what play reaches, whatever the scope: records that no line reaches have no position.
    fn each(&self, _: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let index = self.index();
        each_reachable(self, 0, progress, &mut |record| {
            let priorities = index.of_key(record.key).iter().map(|known| (known.mv, known.priority));
            visit(&PositionRecord { extras: vec![extra(priorities)], ..record.clone() })
        })
    }

    fn heading(&self) -> Option<Heading> {
        Some(AbkHeader::read(&self.data).heading())
    }
}
