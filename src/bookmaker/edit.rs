//! A book with edits at one position, for the formats that are rewritten.

use std::collections::HashMap;

use shakmaty::Move;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::base::visit::to_the_end;
use crate::book::edit::{Change, Edit, Value};
use crate::book::traverse::Keys;
use crate::book::{Book, Counts, Heading, MoveFacts, Moves, PositionRecord, Remarks, Scope, Visit};
use crate::chess::Position;
use crate::chess::normal::forms;

/// A book as if it had been edited.
pub struct Edited<'a> {
    book: &'a dyn Book,
    at: &'a Position,
    /// The edited moves of the position.
    moves: Vec<MoveFacts>,
    /// The keys of the position in all forms that formats do not distinguish.
    forms: Keys,
    /// The keys of the positions after moves with a new weight, and their results: a format that counts by position keeps
    /// them there.
    totals: HashMap<u64, Counts>,
}

/// The keys of a position in all forms.
fn keys(at: &Position) -> impl Iterator<Item = u64> {
    forms(at.chess().clone()).into_iter().map(|chess| Position::from_chess(chess).key())
}

impl<'a> Edited<'a> {
    /// A book whose moves at a position are edited.
    ///
    /// # Errors
    /// When an edit does not fit the moves or the format.
    pub fn new(book: &'a dyn Book, at: &'a Position, edits: &[Edit]) -> Result<Self> {
        let mut moves = book.moves_in(at);
        edits.iter().try_for_each(|edit| edit.apply(&mut moves, book.format()))?;
        let mut totals = HashMap::new();
        let weighs = |edit: &&Edit| {
            matches!(edit.change, Change::Set(Value::Weight(_)) | Change::Add(Value::Weight(_)))
        };
        for edit in edits.iter().filter(weighs) {
            let counts = moves.iter().find(|facts| facts.mv == edit.mv).and_then(|facts| facts.counts);
            if let Some(counts) = counts {
                totals.extend(keys(&at.after(edit.mv)).map(|key| (key, counts.swapped())));
            }
        }
        Ok(Self { book, at, moves, forms: keys(at).collect(), totals })
    }

    /// A book that says this of moves at a position, or (`None`) does not have them.
    pub fn restored(
        book: &'a dyn Book,
        at: &'a Position,
        said: impl Iterator<Item = (Move, Option<MoveFacts>)>,
    ) -> Self {
        let mut moves = book.moves_in(at);
        let mut totals = HashMap::new();
        for (mv, facts) in said {
            let now = moves.iter().find(|known| known.mv == mv).and_then(|known| known.counts);
            if let Some(counts) = facts.and_then(|facts| facts.counts).filter(|counts| now != Some(*counts)) {
                totals.extend(keys(&at.after(mv)).map(|key| (key, counts.swapped())));
            }
            match (moves.iter_mut().find(|known| known.mv == mv), facts) {
                (Some(known), Some(facts)) => *known = facts,
                (None, Some(facts)) => moves.push(facts),
                (_, None) => moves.retain(|known| known.mv != mv),
            }
        }
        Self { book, at, moves, forms: keys(at).collect(), totals }
    }
}

impl Moves for Edited<'_> {
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        if at.key() == self.at.key() {
            out.extend(&self.moves);
        } else {
            self.book.moves(at, out);
        }
    }

    /// Shows the edited position in the form in which it was edited, with what the book says of it.
    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let mut edited = PositionRecord::of(self.at, &self.moves);
        let mut met = false;
        let unreached = self.book.each(scope, progress, &mut |record| {
            if !self.forms.contains(&record.key) {
                // Of the forms of an entry, one has its results: with them in all, they would be added up.
                return match self.totals.get(&record.key).filter(|_| record.total.is_some()) {
                    Some(total) => visit(&PositionRecord { total: Some(*total), ..record.clone() }),
                    None => visit(record),
                };
            }
            if !met {
                met = true;
                edited.total = record.total;
                edited.comment.clone_from(&record.comment);
                edited.game = record.game;
            }
            Ok(())
        })?;
        to_the_end(visit(&edited))?;
        Ok(unreached)
    }

    fn holds_positions(&self) -> bool {
        self.book.holds_positions()
    }

    fn heading(&self) -> Option<Heading> {
        self.book.heading()
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.book.as_remarks()
    }
}
