//! Which request goes where, and what is true of all requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Extension, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use tabiya_base::panics::caught;

use super::fault::Fault;
use super::guard::Admission;
use super::request::Query;
use super::{
    Explorer, chessdb, edits, engine, games, gaps, kept, lichess, line, page, paste, position, settings,
};

/// Bytes of the longest body of a request.
const MAX_BODY: usize = 64 << 10;

/// Bytes of the longest text of games.
const MAX_GAMES: usize = 1 << 20;

/// How long the body of a request may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Requests of each [`RequestKind`] that are worked on at once; others wait.
const WORKING: [usize; 3] = [8, 4, 4];

/// Threads for requests that are worked on, and one that looks whether books have changed.
pub(super) const WORKERS: usize = WORKING[0] + WORKING[1] + WORKING[2] + 1;

/// Requests that wait for their own kind only: a save may wait for another process, and a doctor for an engine, and neither
/// holds up a look-up.
#[derive(Clone, Copy)]
enum RequestKind {
    LookUp,
    Save,
    Program,
}

/// The longest path and parameters of a request, in bytes: a line of 1,000 plies has 6,000.
const MAX_URI: usize = 12 << 10;

/// What lets pages of any site read an answer, also those on the network that ask for something on this machine.
const OPEN: [(&str, &str); 6] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-methods", "GET"),
    ("access-control-allow-headers", "Authorization, *"),
    ("access-control-allow-private-network", "true"),
    ("access-control-max-age", "7200"),
    ("cross-origin-resource-policy", "cross-origin"),
];

/// What the handlers share.
#[derive(Clone)]
pub(super) struct Shared {
    explorer: Arc<Explorer>,
    working: Arc<[Semaphore; 3]>,
}

/// What a connection is used for: others make room when there are too many.
#[derive(Clone, Default)]
pub(super) struct KnownConnection(Arc<Use>);

#[derive(Default)]
struct Use {
    is_admitted: AtomicBool,
    /// Whether its last answer goes on.
    is_stream: AtomicBool,
    /// Requests that are not answered yet.
    working: AtomicUsize,
    /// The number of its last request among all.
    last: AtomicU64,
}

/// The number of the next request.
static REQUESTS: AtomicU64 = AtomicU64::new(0);

impl KnownConnection {
    /// Of a connection that begins.
    pub(super) fn new() -> Self {
        let known = Self::default();
        known.0.last.store(REQUESTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        known
    }

    /// Whether a request of it was admitted.
    pub(super) fn is_admitted(&self) -> bool {
        self.0.is_admitted.load(Ordering::Relaxed)
    }

    /// The least of those that are open is the one that is missed least.
    pub(super) fn worth(&self) -> (bool, bool, u64) {
        let Use { working, is_stream, last, .. } = &*self.0;
        (working.load(Ordering::Relaxed) > 0, is_stream.load(Ordering::Relaxed), last.load(Ordering::Relaxed))
    }

    /// Whether it waits for its next request.
    pub(super) fn is_idle(&self) -> bool {
        let (is_working, is_stream, _) = self.worth();
        !is_working && !is_stream
    }

    fn begin(&self) {
        self.0.working.fetch_add(1, Ordering::Relaxed);
        self.0.last.store(REQUESTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn end(&self, is_stream: bool) {
        self.0.is_stream.store(is_stream, Ordering::Relaxed);
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The key of a session that begins with this request.
#[derive(Clone)]
struct Key(String);

/// An answer, or what is wrong with the request.
type Answer = Result<Response, Fault>;

/// Answers a request from its parameters.
type OnGet = fn(&Explorer, &Query) -> Answer;

/// Answers a request from its body.
type OnPost = fn(&Explorer, &[u8]) -> Answer;

/// All routes. Each request passes the guard first.
pub(super) fn router(explorer: Arc<Explorer>) -> Router {
    let shared = Shared { explorer, working: Arc::new(WORKING.map(Semaphore::new)) };
    Router::new()
        .route("/", get(page))
        .route(
            "/page/{name}",
            get(async |Path(name): Path<String>, asked: HeaderMap| page::asset(&name, &asked)),
        )
        .route("/api/books", get_look_up(position::books))
        .route("/api/view", get_look_up(position::view))
        .route("/api/position", get_look_up(position::position))
        .route("/api/next", get_look_up(position::next))
        .route(
            "/api/read",
            get_look_up(line::read).merge(post_up_to(RequestKind::LookUp, MAX_GAMES, paste::games)),
        )
        .route("/api/openings", get_look_up(line::openings))
        .route("/api/pgn", get_look_up(line::pgn))
        .route("/api/game", get_look_up(line::game))
        .route("/api/games", get_look_up(games::list))
        .route("/api/gaps", get_as(RequestKind::Program, gaps::gaps))
        .route("/api/engine", get_as(RequestKind::Program, engine::watch))
        .route("/api/events", get_look_up(|explorer, _| explorer.feeds.listen()))
        .route("/api/edit", post_as(RequestKind::Save, edits::edit))
        .route("/api/line", post_up_to(RequestKind::Save, MAX_GAMES, edits::line))
        .route("/api/undo", post_as(RequestKind::Save, edits::undo))
        .route("/api/redo", post_as(RequestKind::Save, edits::redo))
        .route(
            "/api/settings",
            get_look_up(settings::show).merge(post_as(RequestKind::Program, settings::change)),
        )
        .route("/api/doctor", post_as(RequestKind::Program, settings::doctor))
        .route("/api/kept", post_as(RequestKind::Save, kept::keep))
        .route("/lichess", get_look_up(lichess::lichess))
        .route("/masters", get_look_up(lichess::masters))
        .route("/master", get_look_up(lichess::masters))
        .route("/masters/pgn/{id}", get(game))
        .route("/master/pgn/{id}", get(game))
        .route("/player", get_look_up(lichess::player))
        .route("/chessdb", get_look_up(chessdb::chessdb))
        .route("/cdb.php", get_look_up(chessdb::chessdb))
        .fallback(async || Fault::not_found("there is no such page"))
        .method_not_allowed_fallback(async || {
            Fault::refused(StatusCode::METHOD_NOT_ALLOWED, "this page is asked in another way")
        })
        .layer(from_fn_with_state(shared.clone(), guarded))
        .with_state(shared)
}

async fn page(State(shared): State<Shared>, key: Option<Extension<Key>>) -> Answer {
    let key = key.map(|Extension(Key(key))| key);
    shared.work(RequestKind::LookUp, move |explorer| page::page(explorer, key.as_deref())).await
}

async fn game(State(shared): State<Shared>, Path(id): Path<String>) -> Answer {
    shared.work(RequestKind::LookUp, move |explorer| games::pgn(explorer, &id)).await
}

fn get_look_up(handler: OnGet) -> axum::routing::MethodRouter<Shared> {
    get_as(RequestKind::LookUp, handler)
}

fn get_as(kind: RequestKind, handler: OnGet) -> axum::routing::MethodRouter<Shared> {
    get(async move |State(shared): State<Shared>, RawQuery(query): RawQuery| {
        shared.work(kind, move |explorer| handler(explorer, &Query::parse(&query.unwrap_or_default()))).await
    })
}

fn post_as(kind: RequestKind, handler: OnPost) -> axum::routing::MethodRouter<Shared> {
    post_up_to(kind, MAX_BODY, handler)
}

fn post_up_to(kind: RequestKind, most: usize, handler: OnPost) -> axum::routing::MethodRouter<Shared> {
    post(async move |State(shared): State<Shared>, request: Request| {
        let body = tokio::time::timeout(BODY_TIME, to_bytes(request.into_body(), most));
        let body = match body.await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                return Err(Fault::refused(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the body is too long, or ended early",
                ));
            }
            Err(_) => {
                return Err(Fault::refused(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"));
            }
        };
        shared.work(kind, move |explorer| handler(explorer, &body)).await
    })
}

impl Shared {
    /// Does what may read files or wait, while another thread takes over what else this one has to do: an answer need not wait
    /// for a thread to wake up. Without that nobody would watch the network meanwhile, however many threads are idle. A panic
    /// is answered like any other failure.
    async fn work(&self, kind: RequestKind, work: impl FnOnce(&Explorer) -> Answer) -> Answer {
        let failed = || Fault::io("the server failed on this request: please report it");
        let [look_ups, saves, programs] = &*self.working;
        let working = match kind {
            RequestKind::LookUp => look_ups,
            RequestKind::Save => saves,
            RequestKind::Program => programs,
        };
        let _permit = working.acquire().await.map_err(|_| failed())?;
        let answer = tokio::task::block_in_place(|| {
            caught(|| {
                self.explorer.refresh();
                work(&self.explorer)
            })
        });
        answer.unwrap_or_else(|| Err(failed()))
    }
}

/// Asks the guard, and gives all answers the headers that browsers are to obey.
async fn guarded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let known = parts.extensions.get::<KnownConnection>().cloned().unwrap_or_default();
    known.begin();
    let long = parts.uri.path_and_query().is_some_and(|text| text.as_str().len() > MAX_URI);
    let admission = if long {
        Err(Fault::refused(StatusCode::URI_TOO_LONG, "the address is too long"))
    } else {
        shared.explorer.guard.admit(&parts)
    };
    let is_page = parts.uri.path() == "/";
    let is_open = matches!(admission, Ok(Admission::Open | Admission::Preflight));
    if let Ok(Admission::First(key)) = &admission {
        parts.extensions.insert(Key(key.clone()));
    }
    let mut response = match admission {
        Ok(Admission::Admitted | Admission::First(_) | Admission::Open) => {
            known.0.is_admitted.store(true, Ordering::Relaxed);
            next.run(Request::from_parts(parts, body)).await
        }
        Ok(Admission::Led(cookie)) => {
            let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response();
            let cookie = cookie.and_then(|cookie| cookie.parse().ok());
            response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
            response
        }
        Ok(Admission::Public) => next.run(Request::from_parts(parts, body)).await,
        Ok(Admission::Preflight) => StatusCode::NO_CONTENT.into_response(),
        Err(fault) if is_page && parts.method == Method::GET => page::refused(fault),
        Err(fault) => fault.into_response(),
    };
    let headers = response.headers_mut();
    known.end(headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream"));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in OPEN.iter().filter(|_| is_open) {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        let policy = "default-src 'none'; frame-ancestors 'none'";
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    }
    response
}
