//! What a request is answered with where it cannot be done.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

use tabiya_adapter::settings::advice::worded;
use tabiya_base::error::{Error, ErrorKind};

/// Why a request cannot be done: a code for programs, and words for people.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    status: StatusCode,
    code: &'static str,
    what: String,
    /// What the book has now, where the page expected something else.
    now: Option<Value>,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<&'a Value>,
}

impl Fault {
    fn new(status: StatusCode, code: &'static str, what: impl Into<String>) -> Self {
        Self { status, code, what: what.into(), now: None }
    }

    /// What is wrong, in words.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// A request that is not one.
    pub(super) fn bad(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", what)
    }

    /// A move that is not legal in its position.
    pub(super) fn illegal(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "illegal-move", what)
    }

    /// Something that does not exist.
    pub(super) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", what)
    }

    /// A request without the right to be answered.
    pub(super) fn unauthorized(what: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", what)
    }

    /// A request that comes from elsewhere.
    pub(super) fn forbidden(what: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", what)
    }

    /// A book that cannot be edited.
    pub(super) fn read_only(what: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "read-only", what)
    }

    /// There is no engine.
    pub(super) fn no_engine() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-engine", super::words::ENGINE)
    }

    /// Too much is asked for at once.
    pub(super) fn busy(what: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", what)
    }

    /// A file cannot be read or written, or the server failed.
    pub(super) fn io(what: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "io", what)
    }

    /// Something of this status that the router refuses.
    pub(super) fn refused(status: StatusCode, what: impl Into<String>) -> Self {
        Self::new(status, "bad-request", what)
    }

    /// The book has something else than the page showed.
    pub(super) fn conflict(what: impl Into<String>, now: Value) -> Self {
        let mut fault = Self::new(StatusCode::CONFLICT, "conflict", what);
        fault.now = Some(now);
        fault
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Usage => Self::bad(worded(&error)),
            _ => Self::io(worded(&error)),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = Body { error: &self.what, code: self.code, now: self.now.as_ref() };
        let mut response = super::reply::json(&body);
        *response.status_mut() = self.status;
        response
    }
}
