//! What a request is answered with where all is well, at once or by server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::poll_fn;
use serde::Serialize;
use tokio::sync::mpsc::{Sender, channel};

/// An answer of JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => text("application/json", bytes),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// An answer of this media type.
pub(super) fn text(kind: &'static str, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

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
