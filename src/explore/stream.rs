//! The body of an answer that goes on: server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait until the connection takes them.
const WAITING: usize = 16;

/// What a connection takes its events from.
struct Events(Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// An answer of events, and where they go in. It is closed when the connection is.
pub(super) fn events() -> (Sender<Bytes>, Response) {
    let (sender, receiver) = channel(WAITING);
    let mut response = Response::new(Body::new(Events(receiver)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    (sender, response)
}

/// An event with its data.
pub(super) fn event(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// A comment, which shows that the connection lives.
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");
