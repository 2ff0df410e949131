//! The pages that want to hear of changed books.

use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;
use axum::response::Response;
use serde_json::json;
use tokio::sync::mpsc::Sender;

use super::fault::Fault;
use super::stream::{COMMENT, event, events};

/// Pages that may listen at once.
const FEEDS_MAX: usize = 64;

/// The connections of pages that listen.
#[derive(Default)]
pub(super) struct Feeds(Mutex<Vec<Sender<Bytes>>>);

impl Feeds {
    /// A connection for one more page.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn listen(&self) -> Result<Response, Fault> {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.retain(|feed| !feed.is_closed());
        if feeds.len() >= FEEDS_MAX {
            return Err(Fault::busy("too many pages listen to this server"));
        }
        let (sender, response) = events();
        let _ = sender.try_send(event("hello", &json!({})));
        feeds.push(sender);
        Ok(response)
    }

    /// Reports that a book has changed.
    pub(super) fn changed(&self, book: usize) {
        self.send(&event("changed", &json!({ "book": book })));
    }

    /// Keeps the connections open.
    pub(super) fn keep(&self) {
        self.send(&COMMENT);
    }

    /// Whether anybody listens.
    pub(super) fn any(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Ends all connections.
    pub(super) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn send(&self, bytes: &Bytes) {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A page that does not take its events reads everything again when it has connected anew.
        feeds.retain(|feed| feed.try_send(bytes.clone()).is_ok());
    }
}
