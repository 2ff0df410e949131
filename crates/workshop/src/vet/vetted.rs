//! A book as if its moves had been judged.

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::{Heading, MoveFacts, Moves, Remarks, Scope, Variant, Visit};
use tabiya_chess::Position;

use crate::changed::changed;

use super::judge::apply;
use super::judged::JudgedBook;

/// A book whose moves are judged.
#[derive(Debug)]
pub struct Vetted<'a> {
    /// The book, and what its moves are judged by.
    pub judged: JudgedBook<'a>,
}

impl Vetted<'_> {
    /// Judges the moves of a position. Those of positions that are not in the graph stay as they are.
    fn judge(&self, at: &Position, moves: &mut [MoveFacts]) {
        if let Some((_, fates)) = self.judged.fates(at, moves) {
            apply(moves, &fates);
        }
    }
}

impl Moves for Vetted<'_> {
    fn variant(&self) -> Variant {
        self.judged.book.variant()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let mut moves = self.judged.book.moves_in(at);
        self.judge(at, &mut moves);
        out.extend(moves);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let JudgedBook { book, graph, .. } = self.judged;
        book.each(scope, progress, &mut |record| {
            // A move is judged in each position that the book finds by this key.
            let at =
                graph.positions().with_key(record.key).filter_map(|number| graph.positions().get(number));
            let judged = at.fold(None, |before, at| {
                Some(changed(before.as_ref().unwrap_or(record), &at, |moves| self.judge(&at, moves)))
            });
            visit(judged.as_ref().unwrap_or(record))
        })
    }

    fn holds_positions(&self) -> bool {
        self.judged.book.holds_positions()
    }

    fn heading(&self) -> Option<Heading> {
        self.judged.book.heading()
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.judged.book.as_remarks()
    }
}
