//! A database as a source of games.
#![allow(clippy::cast_possible_truncation, reason = "what is done is not more than all")]

use std::sync::Arc;

use super::Database;
use crate::Batch;

/// Games of a batch: enough that the cost of handing it over does not matter.
const BATCH: u32 = 512;

/// The games of a database in the order of their numbers, without deleted ones and texts.
#[derive(Debug)]
pub struct DatabaseSource {
    db: Arc<dyn Database>,
    next: u32,
}

impl DatabaseSource {
    /// All games of a database.
    pub fn new(db: Arc<dyn Database>) -> Self {
        Self { db, next: 1 }
    }

    /// The next batch; `None` at the end.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        let count = self.db.count();
        if self.next > count {
            return None;
        }
        let first = self.next;
        let last = first.saturating_add(BATCH - 1).min(count);
        self.next = last.saturating_add(1);
        Some(self.db.clone().batch((first, last)))
    }

    /// Bytes of the database that were read so far.
    pub fn done(&self) -> u64 {
        let (read, all) = (u64::from(self.next - 1), u64::from(self.db.count()).max(1));
        (self.db.size() as u128 * u128::from(read.min(all)) / u128::from(all)) as u64
    }
}
