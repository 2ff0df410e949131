//! The body of an answer that goes on: server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::poll_fn;
use serde::Serialize;
use tokio::sync::mpsc::{Sender, channel};

/// Events that wait until the connection takes them.
const WAITING: usize = 16;

/// An answer of events, and where they go in. It is closed when the connection is: what is written after this time of
/// silence shows whether the page still listens.
pub(super) fn events(silence: Duration) -> (Sender<Event>, Response) {
    let (sender, mut receiver) = channel(WAITING);
    let stream =
        poll_fn(move |context| receiver.poll_recv(context).map(|event| event.map(Ok::<_, Infallible>)));
    (sender, Sse::new(stream).keep_alive(KeepAlive::new().interval(silence)).into_response())
}

/// An event with its data.
pub(super) fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
