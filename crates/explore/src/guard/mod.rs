//! Who may ask: programs with the token, pages with a session; and the names under which the server is known.
//!
//! What `--open-api` opens needs neither: the answers to programs about positions, which change nothing.
//!
//! Any page of the web can make a browser send requests to this machine. It cannot know the token, a browser does not send
//! the cookie with requests of other sites, except where a link leads to the page (`SameSite=Lax`), and a name that is made to
//! lead here (DNS rebinding) is not among those that the server answers to.
//!
//! The address that opens the page is seen by others: it is among the arguments of the browser. So it holds a code that works
//! once, and leads to a session. Cookies do not distinguish ports, so whatever listens on another port of this machine may
//! be sent the session's: it opens the page, and nothing more. All other requests of a page need a session's key too, which is
//! in the first page of the session only, and which browsers keep for the page's own port.
//!
//! | what is asked of a request | module |
//! |---|---|
//! | from where, and under which name of the server | [`origin`] |
//! | with which cookie, key or code | [`sessions`] |

mod origin;
mod sessions;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use tabiya_base::error::Result as Done;

use self::origin::{host, is_own, refuse_other_sites};
use self::sessions::{Sessions, is_same};
use super::fault::Fault;
use super::page::FOLDER;
use super::request::Query;
use super::words;

/// The header in which pages send their key.
const KEY: &str = "tabiya-key";

/// What programs ask about positions.
const FOR_PROGRAMS: [&str; 6] = ["/lichess", "/master", "/masters", "/player", "/chessdb", "/cdb.php"];

/// What a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Admission {
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
        let sessions = Mutex::new(Sessions::new()?);
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
        if !is_own(self.address, host) {
            return Err(Fault::forbidden(words::other_name(self.address)));
        }
        if self.open && is_for_programs(uri.path()) {
            match *method {
                Method::GET | Method::HEAD => return Ok(Admission::Open),
                Method::OPTIONS => return Ok(Admission::Preflight),
                _ => {}
            }
        }
        refuse_other_sites(host, request)?;
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
        let (name, code) = (self.cookie(), query.get("code"));
        let is_code = code.is_some_and(|code| is_same(&sessions.code, code));
        let cookies = text(header::COOKIE)
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .map(|(_, cookie)| cookie);
        if uri.path() != "/" || method != Method::GET {
            let key = headers.get(KEY).and_then(|key| key.to_str().ok());
            let has_key = sessions.find(cookies).is_some() && key.is_some_and(|key| sessions.have_key(key));
            return match in_address || bearer || has_key {
                true => Ok(Admission::Admitted),
                false => Err(Fault::unauthorized(words::STRANGER)),
            };
        }
        if in_address || is_code {
            return self.begin(sessions, is_code);
        }
        match (sessions.find(cookies), code) {
            (Some(_), Some(_)) => Ok(Admission::Led(None)),
            (Some(own), None) => Ok(own.key_once().map_or(Admission::Admitted, Admission::First)),
            _ if bearer => Ok(Admission::Admitted),
            (_, Some(_)) => Err(Fault::unauthorized(words::USED)),
            _ => Err(Fault::unauthorized(words::NO_SESSION)),
        }
    }

    /// Begins a session; where the code was used for that, the address with a new one is sent.
    fn begin(&self, sessions: &mut Sessions, by_code: bool) -> Result<Admission, Fault> {
        let cookie = sessions.begin(by_code)?;
        if by_code {
            let _ = self.addresses.try_send(self.address_of(&sessions.code));
        }
        Ok(Admission::Led(Some(format!("{}={cookie}; HttpOnly; SameSite=Lax; Path=/", self.cookie()))))
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

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
