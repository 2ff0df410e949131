//! A book in memory that is written.

use std::sync::{Arc, Mutex, PoisonError};

use tabiya_base::error::Result;
use tabiya_book::{BookWriter, PositionRecord, Written};

/// A writer that records what it gets.
pub struct Recorder {
    pub records: Arc<Mutex<Vec<PositionRecord>>>,
    /// Whether it holds verdicts, so that each move comes as it was decided.
    pub as_decided: bool,
}

impl BookWriter for Recorder {
    fn needs_positions(&self) -> bool {
        true
    }

    fn holds_verdicts(&self) -> bool {
        self.as_decided
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(known.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        Ok(Written::default())
    }
}
