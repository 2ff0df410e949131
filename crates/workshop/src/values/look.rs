//! What a store has for one position and its moves.

use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::choose::Worth;
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::{Packed, Position};
use tabiya_search::Knowledge;
use tabiya_search::evals::value;

use super::graph::Graph;
use super::minimax::Backed;

/// A store in which the positions of a book are looked up.
#[derive(Debug)]
pub struct Look {
    knowledge: Knowledge,
    backed: Option<(Graph, Backed)>,
}

impl Look {
    /// Opens a store; `None` if the file does not exist.
    ///
    /// # Errors
    /// When it cannot be read, or is not a store.
    pub fn open(store: &Path) -> Result<Option<Self>> {
        let knowledge = Knowledge::open(store)?;
        Ok(knowledge.has_store().then_some(Self { knowledge, backed: None }))
    }

    /// From now on positions that the book reaches have the values that are backed up through it.
    ///
    /// # Errors
    /// When the work is interrupted, or the book is too large.
    pub fn back_up(&mut self, book: &dyn Moves, progress: &Progress) -> Result<()> {
        let graph = Graph::from_book(book, progress)?;
        let backed = graph.back_up(&graph.known(|at| self.knowledge.score(at)));
        self.backed = Some((graph, backed));
        Ok(())
    }

    /// What a position and its moves are worth: by values that were backed up, else by the evaluations of the position and
    /// of those after its moves alone.
    pub fn worth(&self, at: &Position, moves: &[MoveFacts]) -> Worth {
        let backed = self.backed.as_ref().and_then(|(graph, backed)| graph.worth(backed, at, moves));
        backed.unwrap_or_else(|| {
            let known = |at: &Position| self.knowledge.score(&Packed::strict(at)?).map(value);
            Worth::at(at, moves.iter().map(|facts| facts.mv), known)
        })
    }
}
