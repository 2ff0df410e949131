//! The pages that want to hear of changed books.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::Response;
use axum::response::sse::Event;
use serde_json::json;
use tokio::sync::mpsc::Sender;

use super::fault::Fault;
use super::reply::{event, events};

/// Pages that may listen at once.
const MAX_FEEDS: usize = 64;

/// How long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(15);

/// The connections of pages that listen.
#[derive(Default)]
pub(super) struct Feeds(Mutex<EventState>);

#[derive(Default)]
struct EventState {
    feeds: Vec<Sender<Event>>,
    /// How many changes there were: a page that knows of fewer has missed some.
    changes: u64,
}

impl Feeds {
    /// A connection for one more page.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn listen(&self) -> Result<Response, Fault> {
        let mut state = self.state();
        state.feeds.retain(|feed| !feed.is_closed());
        if state.feeds.len() >= MAX_FEEDS {
            return Err(Fault::busy("too many pages listen to this server"));
        }
        let (sender, response) = events(SILENCE);
        let _ = sender.try_send(event("hello", &json!({ "changes": state.changes })));
        state.feeds.push(sender);
        Ok(response)
    }

    /// Reports that a book has changed.
    pub(super) fn changed(&self, book: usize) {
        let mut state = self.state();
        state.changes += 1;
        let changes = state.changes;
        state.send(&event("changed", &json!({ "book": book, "changes": changes })));
    }

    /// How many changes there were.
    pub(super) fn changes(&self) -> u64 {
        self.state().changes
    }

    pub(super) fn any(&self) -> bool {
        let mut state = self.state();
        state.feeds.retain(|feed| !feed.is_closed());
        !state.feeds.is_empty()
    }

    pub(super) fn end(&self) {
        self.state().feeds.clear();
    }

    fn state(&self) -> MutexGuard<'_, EventState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventState {
    fn send(&mut self, event: &Event) {
        // A page that does not take its events reads everything again when it has reconnected.
        self.feeds.retain(|feed| feed.try_send(event.clone()).is_ok());
    }
}
