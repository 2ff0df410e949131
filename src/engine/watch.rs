//! Notices that an engine hangs while it searches.

use std::time::{Duration, Instant};

use super::Client;
use crate::uci::{Info, words};

/// Watches a search: an engine that makes no progress for a while is asked whether it is there, and must answer.
pub(crate) struct Watch {
    patience: Duration,
    /// When it last made progress.
    progress: Instant,
    depth: u64,
    nodes: u64,
    /// When it was asked whether it is there.
    asked: Option<Instant>,
}

impl Watch {
    /// A search that begins now.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, progress: Instant::now(), depth: 0, nodes: 0, asked: None }
    }

    /// Takes a line of the engine. What repeats itself is no progress.
    pub(crate) fn heard(&mut self, line: &[u8], info: &Info) {
        let (depth, nodes) = (info.depth.unwrap_or_default(), info.nodes.unwrap_or_default());
        if depth > self.depth || nodes > self.nodes || words(line).next() == Some(b"readyok") {
            (self.progress, self.asked) = (Instant::now(), None);
            (self.depth, self.nodes) = (self.depth.max(depth), self.nodes.max(nodes));
        }
    }

    /// Asks an engine that makes no progress whether it is there, and returns whether it hangs.
    pub(crate) fn hangs(&mut self, client: &mut Client) -> bool {
        match self.asked {
            Some(asked) => asked.elapsed() > self.patience,
            // An engine answers this at once while it searches.
            None if self.progress.elapsed() > self.patience => {
                client.send("isready");
                self.asked = Some(Instant::now());
                false
            }
            None => false,
        }
    }
}
