//! Who may ask: programs with the token, pages with a session; and the names under which the server is known.
//!
//! What `--open-api` opens needs neither: the answers to programs about positions, which change nothing.
//!
//! Any page of the web can make a browser send requests to this machine. It cannot know the token, a browser does not send
//! the cookie with requests of other sites, except where a link leads to the page (`SameSite=Lax`), and a name that is made to lead here (DNS rebinding) is
//! not among those that the server answers to.
//!
//! The address that opens the page is seen by others: it is among the arguments of the browser. So it holds a code that works
//! once, and leads to a session. Cookies do not distinguish ports, so whatever listens on another port of this machine may
//! be sent the session's: it opens the page, and nothing more. All other requests of a page need the session's key too, which is
//! in the first page of the session only, and which browsers keep for the page's own port.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};

use super::fault::Fault;
use super::page::FOLDER;
use super::request::Query;
use super::token;
use crate::base::error::Result as Done;

/// The header in which pages send their key.
const KEY: &str = "tabiya-key";

/// Sessions at a time; of more the oldest is ended.
const SESSIONS: usize = 64;

/// The port of addresses without one.
const HTTP_PORT: u16 = 80;

/// What programs ask about positions.
const FOR_PROGRAMS: [&str; 6] = ["/lichess", "/master", "/masters", "/player", "/chessdb", "/cdb.php"];

/// What a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is answered.
    Admitted,
    /// It asks for the first page of a session: that gets the key.
    First(String),
    /// It brings a code or the token: it is led to the page without it, with the cookie of a session that begins.
    Led(Option<String>),
    /// It is answered, and a page of any site may read the answer.
    Open,
    /// It asks for a part of the page that is the same for everyone.
    Public,
    /// It only asks whether a page of another site may ask something that is [open](Self::Open).
    Preflight,
}

/// The token, the sessions, and the address listened on.
pub(super) struct Guard {
    /// The token of programs, if they may ask.
    token: Option<String>,
    address: SocketAddr,
    sessions: Mutex<Sessions>,
    /// Where a new address goes when a code has been used.
    addresses: SyncSender<String>,
    /// Whether what programs ask about positions is answered to all.
    open: bool,
}

struct Sessions {
    /// The code that begins the next one.
    code: String,
    begun: VecDeque<Session>,
}

struct Session {
    cookie: String,
    key: String,
    /// Whether the page has not been asked for.
    is_new: bool,
}

impl Guard {
    /// A guard of what is served at an address. A new address is sent whenever one has been used, unless that would block.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn new(
        address: SocketAddr,
        token: Option<String>,
        addresses: SyncSender<String>,
    ) -> Done<Self> {
        let sessions = Mutex::new(Sessions { code: token::random()?, begun: VecDeque::new() });
        Ok(Self { token, address, sessions, addresses, open: false })
    }

    /// The same that answers to all what programs ask about positions, if `open`.
    pub(super) fn opened(self, open: bool) -> Self {
        Self { open, ..self }
    }

    /// The address of the page, with the code that opens it once.
    pub(super) fn address(&self) -> String {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        self.address_of(&sessions.code)
    }

    fn address_of(&self, code: &str) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        format!("http://{address}/?code={code}")
    }

    /// The name of the cookie: cookies do not distinguish ports.
    fn cookie(&self) -> String {
        format!("tabiya_{}", self.address.port())
    }

    /// Whether a request is answered.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn admit(&self, request: &Parts) -> Result<Admission, Fault> {
        let Parts { method, uri, headers, .. } = request;
        let host = host(uri, headers).ok_or_else(|| Fault::bad("the request names no host, or several"))?;
        if !self.is_own(host) {
            return Err(Fault::forbidden(format!(
                "the server does not answer to this name: open the address that `tabiya explore` printed, at {}",
                self.address
            )));
        }
        if self.open && is_for_programs(uri.path()) {
            match *method {
                Method::GET | Method::HEAD => return Ok(Admission::Open),
                Method::OPTIONS => return Ok(Admission::Preflight),
                _ => {}
            }
        }
        self.refuse_other_sites(host, request)?;
        if method == Method::POST && !is_json(headers) {
            return Err(Fault::bad("a POST needs Content-Type: application/json"));
        }
        if method == Method::GET && uri.path().starts_with(FOLDER) {
            return Ok(Admission::Public);
        }
        let query = Query::parse(uri.query().unwrap_or_default());
        let text = |name| headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        let in_address = query.get("token").is_some_and(|token| self.is_token(token));
        let bearer = text(header::AUTHORIZATION)
            .filter_map(|value| value.split_once(' '))
            .any(|(kind, token)| kind.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()));
        let sessions = &mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, begun) = (self.cookie(), &mut sessions.begun);
        let session = text(header::COOKIE)
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .find_map(|(_, cookie)| begun.iter().position(|own| is_same(&own.cookie, cookie)));
        let session = session.and_then(|number| begun.get_mut(number));
        if uri.path() != "/" || method != Method::GET {
            let key = headers.get(KEY).and_then(|key| key.to_str().ok());
            let has_key = session.zip(key).is_some_and(|(own, key)| is_same(&own.key, key));
            return match in_address || bearer || has_key {
                true => Ok(Admission::Admitted),
                false => Err(Fault::unauthorized(
                    "the server does not know who asks: a page needs the address in the last line that `tabiya explore` \
                     printed, a program the token of --token-file",
                )),
            };
        }
        let code = query.get("code");
        let is_code = code.is_some_and(|code| is_same(&sessions.code, code));
        if in_address || is_code {
            return self.begin(sessions, is_code);
        }
        match (session, code) {
            (Some(_), Some(_)) => Ok(Admission::Led(None)),
            (Some(own), None) => Ok(match std::mem::take(&mut own.is_new) {
                true => Admission::First(own.key.clone()),
                false => Admission::Admitted,
            }),
            _ if bearer => Ok(Admission::Admitted),
            (_, Some(_)) => Err(Fault::unauthorized(
                "this address works once, and has been used: open the one in the last line that `tabiya explore` printed. If you \
                 have not used it, somebody else has: end `tabiya explore`",
            )),
            _ => Err(Fault::unauthorized(
                "this page belongs to whoever started `tabiya explore`: open the address in the last line that it printed",
            )),
        }
    }

    /// Begins a session; where the code was used for that, a new one takes its place.
    fn begin(&self, sessions: &mut Sessions, by_code: bool) -> Result<Admission, Fault> {
        let (cookie, key) = (token::random()?, token::random()?);
        if by_code {
            sessions.code = token::random()?;
            let _ = self.addresses.try_send(self.address_of(&sessions.code));
        }
        if sessions.begun.len() >= SESSIONS {
            sessions.begun.pop_front();
        }
        let led = format!("{}={cookie}; HttpOnly; SameSite=Lax; Path=/", self.cookie());
        sessions.begun.push_back(Session { cookie, key, is_new: true });
        Ok(Admission::Led(Some(led)))
    }

    /// Whether a host is this server: its address, or the local names for it, with its port.
    fn is_own(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host.as_str(), Some(HTTP_PORT)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let own = self.address.ip();
        if name == "localhost" {
            return own.is_loopback() || own.is_unspecified();
        }
        // A name that is made to lead here is never a number.
        bare.parse::<IpAddr>().is_ok_and(|ip| ip == own || own.is_unspecified())
    }

    fn refuse_other_sites(&self, host: &str, request: &Parts) -> Result<(), Fault> {
        let headers = &request.headers;
        let refuse = || Err(Fault::forbidden("the request comes from another site"));
        // A link leads to the page, which only its reader sees.
        let is = |name, value: &str| headers.get(name).is_some_and(|known| known == value);
        let is_link = request.method == Method::GET
            && request.uri.path() == "/"
            && is("sec-fetch-mode", "navigate")
            && is("sec-fetch-dest", "document");
        let own = format!("http://{host}");
        for origin in headers.get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(&own)) {
                return refuse();
            }
        }
        for site in headers.get_all("sec-fetch-site") {
            if !is_link && !matches!(site.as_bytes(), b"same-origin" | b"none") {
                return refuse();
            }
        }
        Ok(())
    }

    fn is_token(&self, text: &str) -> bool {
        self.token.as_ref().is_some_and(|token| is_same(token, text))
    }
}

/// Whether this is what programs ask about positions, or about the games in them.
fn is_for_programs(path: &str) -> bool {
    let game = path.strip_prefix("/masters/pgn/").or_else(|| path.strip_prefix("/master/pgn/"));
    FOR_PROGRAMS.contains(&path) || game.is_some()
}

/// Compares a secret with what a request has, in a time that depends on its length alone.
fn is_same(own: &str, other: &str) -> bool {
    let (own, other) = (own.as_bytes(), other.as_bytes());
    let differences = own.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    own.len() == other.len() && std::hint::black_box(differences) == 0
}

/// The host that a request names; `None` if it names none, or several.
fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut hosts = headers.get_all(header::HOST).into_iter();
    let host = hosts.next()?.to_str().ok()?;
    let other = uri.authority().is_some_and(|authority| authority.as_str() != host);
    (hosts.next().is_none() && !other).then_some(host)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{Request, StatusCode};
    use axum::response::IntoResponse;
    use std::sync::mpsc::sync_channel;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn guard(address: &str) -> Guard {
        let (addresses, _) = sync_channel(1);
        Guard::new(address.parse().unwrap(), Some(TOKEN.to_owned()), addresses).unwrap()
    }

    fn admission(guard: &Guard, method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<Admission, u16> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard.admit(&parts).map_err(|fault| fault.into_response().status().as_u16())
    }

    fn status(address: &str, request: &[(&str, &str)]) -> u16 {
        status_of(address, "GET", "/api/books", request)
    }

    fn status_of(address: &str, method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        match admission(&guard(address), method, uri, headers) {
            Ok(admission) => {
                assert_eq!(admission, Admission::Admitted);
                200
            }
            Err(status) => status,
        }
    }

    const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    const HERE: &str = "127.0.0.1:8421";
    const HOST: (&str, &str) = ("host", HERE);

    #[test]
    fn the_address_carries_a_code() {
        let address = |listen| guard(listen).address();
        let code = address(HERE).strip_prefix("http://127.0.0.1:8421/?code=").unwrap().to_owned();
        assert!(code.len() == 32 && !address(HERE).contains(&code));
        assert!(address("0.0.0.0:8421").starts_with("http://127.0.0.1:8421/?code="));
        assert!(address("[::]:8421").starts_with("http://[::1]:8421/?code="));
    }

    #[test]
    fn programs_need_the_token_in_one_of_two_places() {
        assert_eq!(status(HERE, &[HOST]), 401);
        assert_eq!(status(HERE, &[HOST, BEARER]), 200);
        let query = |uri: &str| status_of(HERE, "GET", uri, &[HOST]);
        assert_eq!(query(&format!("/lichess?token={TOKEN}")), 200);
        assert_eq!((query("/lichess?token=x"), query("/?token=x"), query("/")), (401, 401, 401));
        let (addresses, _) = sync_channel(1);
        let without = Guard::new(HERE.parse().unwrap(), None, addresses).unwrap();
        for uri in ["/lichess?token=", "/lichess?token", &format!("/lichess?token={TOKEN}")] {
            assert_eq!(admission(&without, "GET", uri, &[HOST, BEARER]), Err(401), "{uri}");
        }
    }

    /// The cookie and the key of a new session.
    fn begun(guard: &Guard, uri: &str) -> (String, String) {
        let Ok(Admission::Led(Some(cookie))) = admission(guard, "GET", uri, &[HOST]) else { panic!("{uri}") };
        let (cookie, rest) = cookie.split_once(';').unwrap();
        assert_eq!(rest, " HttpOnly; SameSite=Lax; Path=/");
        let first = admission(guard, "GET", "/", &[HOST, ("cookie", cookie)]);
        let Ok(Admission::First(key)) = first else { panic!("{first:?}") };
        (cookie.to_owned(), key)
    }

    #[test]
    fn the_code_begins_one_session_which_is_no_token() {
        let (addresses, printed) = sync_channel(1);
        let guard = Guard::new(HERE.parse().unwrap(), Some(TOKEN.to_owned()), addresses).unwrap();
        let address = guard.address();
        let uri = address.strip_prefix("http://127.0.0.1:8421").unwrap();
        // Not by another method, nor at another place.
        assert_eq!(admission(&guard, "HEAD", uri, &[HOST]), Err(401));
        assert_eq!(admission(&guard, "GET", &uri.replace("/?", "/api/books?"), &[HOST]), Err(401));
        let (cookie, key) = begun(&guard, uri);
        let value = cookie.strip_prefix("tabiya_8421=").unwrap();
        assert!(value.len() == 32 && key.len() == 32 && value != key && value != TOKEN && key != TOKEN);
        assert_eq!(admission(&guard, "GET", uri, &[HOST]), Err(401), "a second time");
        assert_eq!(printed.try_recv().unwrap(), guard.address());
        let (_, other) = begun(&guard, &guard.address().replace("http://127.0.0.1:8421", ""));
        let ask =
            |uri: &str, headers: &[(&str, &str)]| admission(&guard, "GET", uri, &[&[HOST], headers].concat());
        let own = ("cookie", &*cookie);
        // The cookie alone, which others may be sent, opens the page.
        assert_eq!(ask("/", &[own]), Ok(Admission::Admitted));
        assert_eq!(ask(uri, &[own]), Ok(Admission::Led(None)));
        assert_eq!(ask("/api/books", &[own]), Err(401));
        assert_eq!(ask("/api/books", &[own, ("tabiya-key", &key)]), Ok(Admission::Admitted));
        assert_eq!(
            ask("/api/books", &[("cookie", &format!("a=b; {cookie}; c")), ("tabiya-key", &key)]),
            Ok(Admission::Admitted)
        );
        for wrong in ["", value, TOKEN, &other, &key[1..]] {
            assert_eq!(ask("/api/books", &[own, ("tabiya-key", wrong)]), Err(401), "{wrong}");
        }
        assert_eq!(ask("/api/books", &[("tabiya-key", &key)]), Err(401));
        let elsewhere = cookie.replace("8421", "8422");
        assert_eq!(ask("/api/books", &[("cookie", &elsewhere), ("tabiya-key", &key)]), Err(401));
        for secret in [value, &key] {
            assert_eq!(ask("/api/books", &[("authorization", &format!("Bearer {secret}"))]), Err(401));
            assert_eq!(ask(&format!("/api/books?token={secret}"), &[own]), Err(401));
        }
        for secret in [TOKEN, ""] {
            assert_eq!(ask("/", &[("cookie", &format!("tabiya_8421={secret}"))]), Err(401));
        }
    }

    #[test]
    fn the_token_opens_the_page_too_and_old_sessions_end() {
        let guard = guard(HERE);
        let address = guard.address();
        let first = begun(&guard, &format!("/?token={TOKEN}"));
        assert_eq!(guard.address(), address, "the code is still good");
        let holds = |(cookie, key): &(String, String)| {
            let headers = [HOST, ("cookie", cookie), ("tabiya-key", key)];
            admission(
                &guard,
                "POST",
                "/api/books",
                &[&headers[..], &[("content-type", "application/json")]].concat(),
            )
        };
        let last = (1..SESSIONS).map(|_| begun(&guard, &format!("/?token={TOKEN}"))).last().unwrap();
        assert_eq!((holds(&first), holds(&last)), (Ok(Admission::Admitted), Ok(Admission::Admitted)));
        begun(&guard, &format!("/?token={TOKEN}"));
        assert_eq!((holds(&first), holds(&last)), (Err(401), Ok(Admission::Admitted)));
    }

    #[test]
    fn only_own_names_are_answered_to() {
        for (own, host, expected) in [
            (HERE, "127.0.0.1:8421", 200),
            (HERE, "localhost:8421", 200),
            (HERE, "LocalHost:8421", 200),
            (HERE, "127.0.0.1", 403),
            (HERE, "127.0.0.1:8422", 403),
            (HERE, "127.0.0.2:8421", 403),
            (HERE, "evil.example:8421", 403),
            (HERE, "127.0.0.1.evil.example:8421", 403),
            (HERE, "127.0.0.1:8421.evil.example", 403),
            (HERE, "", 403),
            ("127.0.0.1:80", "localhost", 200),
            ("[::1]:8421", "[::1]:8421", 200),
            ("[::1]:8421", "127.0.0.1:8421", 403),
            ("0.0.0.0:8421", "192.168.1.5:8421", 200),
            ("0.0.0.0:8421", "evil.example:8421", 403),
        ] {
            assert_eq!(status(own, &[("host", host), BEARER]), expected, "{own} {host}");
        }
        assert_eq!(status(HERE, &[BEARER]), 400);
        assert_eq!(status(HERE, &[("host", HERE), ("host", HERE), BEARER]), 400);
    }

    #[test]
    fn other_sites_are_refused() {
        let from = |name, value| status(HERE, &[("host", HERE), BEARER, (name, value)]);
        for (origin, expected) in [
            ("http://127.0.0.1:8421", 200),
            ("https://127.0.0.1:8421", 403),
            ("http://localhost:8421", 403),
            ("http://127.0.0.1:8000", 403),
            ("https://lichess.org", 403),
            ("null", 403),
        ] {
            assert_eq!(from("origin", origin), expected, "{origin}");
        }
        for (site, expected) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
        {
            assert_eq!(from("sec-fetch-site", site), expected, "{site}");
        }
    }

    #[test]
    fn a_link_of_another_site_leads_to_the_page_and_nowhere_else() {
        let guard = guard(HERE);
        let (cookie, _) = begun(&guard, &format!("/?token={TOKEN}"));
        let from = |method, uri, dest| {
            let headers = [
                HOST,
                ("cookie", &*cookie),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", dest),
                ("content-type", "application/json"),
            ];
            admission(&guard, method, uri, &headers)
        };
        assert_eq!(from("GET", "/", "document"), Ok(Admission::Admitted));
        for (method, uri, dest) in [
            ("GET", "/", "iframe"),
            ("GET", "/", "image"),
            ("POST", "/", "document"),
            ("GET", "/api/books", "document"),
            ("GET", "/lichess", "document"),
        ] {
            assert_eq!(from(method, uri, dest), Err(403), "{method} {uri} {dest}");
        }
    }

    #[test]
    fn the_parts_of_the_page_are_for_all_pages_of_this_server() {
        let ask = |method, uri, headers: &[(&str, &str)]| {
            admission(&guard(HERE), method, uri, &[&[HOST], headers].concat())
        };
        assert_eq!(ask("GET", "/page/0.js", &[]), Ok(Admission::Public));
        assert_eq!(ask("GET", "/page/0.js", &[("sec-fetch-site", "cross-site")]), Err(403));
        assert_eq!(ask("POST", "/page/0.js", &[("content-type", "application/json")]), Err(401));
        assert_eq!(ask("GET", "/page", &[]), Err(401));
        assert_eq!(admission(&guard(HERE), "GET", "/page/0.js", &[("host", "evil.example:8421")]), Err(403));
    }

    #[test]
    fn what_is_open_is_what_programs_ask_about_positions() {
        let closed = guard(HERE);
        let open = guard(HERE).opened(true);
        let site = [HOST, ("origin", "https://lichess.org"), ("sec-fetch-site", "cross-site")];
        for uri in
            ["/lichess", "/masters?play=e2e4", "/master", "/player", "/chessdb", "/masters/pgn/aaaaaaaa"]
        {
            for headers in [&site[..1], &site] {
                assert_eq!(admission(&open, "GET", uri, headers), Ok(Admission::Open), "{uri}");
                assert_eq!(admission(&open, "OPTIONS", uri, headers), Ok(Admission::Preflight), "{uri}");
            }
            assert_eq!(admission(&open, "POST", uri, &site), Err(403), "{uri}");
            assert_eq!(admission(&closed, "GET", uri, &[HOST]), Err(401), "{uri}");
            assert_eq!(admission(&open, "GET", uri, &[("host", "evil.example:8421")]), Err(403), "{uri}");
        }
        for uri in ["/", "/api/books", "/api/position", "/api/engine", "/lichess/", "/mastersx", "/player/x"]
        {
            assert_eq!(admission(&open, "GET", uri, &[HOST]), Err(401), "{uri}");
            assert_eq!(admission(&open, "GET", uri, &site), Err(403), "{uri}");
            assert_eq!(admission(&open, "OPTIONS", uri, &site), Err(403), "{uri}");
        }
    }

    #[test]
    fn a_post_needs_json() {
        let post =
            |kind| status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER, ("content-type", kind)]);
        assert_eq!((post("application/json"), post("application/json; charset=utf-8")), (200, 200));
        assert_eq!((post("text/plain"), post("application/x-www-form-urlencoded")), (400, 400));
        assert_eq!(StatusCode::BAD_REQUEST, status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER]));
    }
}
