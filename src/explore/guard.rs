//! Who may ask: the token, and the names under which the server is known.
//!
//! Any page of the web can make a browser send requests to this machine. It cannot know the token, a browser does not send
//! the cookie with requests from other sites (`SameSite=Strict`), and a name that is made to lead here (DNS rebinding) is
//! not among those that the server answers to.

use std::net::{IpAddr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};

use super::fault::Fault;
use super::request::Query;

/// The port of addresses without one.
const HTTP_PORT: u16 = 80;

/// What a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is answered.
    Admitted,
    /// It brings the token to the page: the answer sets this cookie, and leads to the page without it.
    Handover(String),
}

/// The token, and the address listened on.
pub(super) struct Guard {
    token: String,
    address: SocketAddr,
}

impl Guard {
    /// A guard of what is served at an address.
    pub(super) fn new(address: SocketAddr, token: String) -> Self {
        Self { token, address }
    }

    /// The address of the page, with the token.
    pub(super) fn address(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        format!("http://{address}/?token={}", self.token)
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
        self.refuse_other_sites(host, headers)?;
        if method == Method::POST && !is_json(headers) {
            return Err(Fault::bad("a POST needs Content-Type: application/json"));
        }
        let query = Query::parse(uri.query().unwrap_or_default());
        let in_address = query.get("token").is_some_and(|token| self.is_token(token));
        if in_address && uri.path() == "/" && method == Method::GET {
            let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie(), self.token);
            return Ok(Admission::Handover(cookie));
        }
        let text = |name| headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        let bearer = || {
            text(header::AUTHORIZATION)
                .filter_map(|value| value.split_once(' '))
                .any(|(kind, token)| kind.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()))
        };
        let name = self.cookie();
        let cookie = || {
            text(header::COOKIE)
                .flat_map(|value| value.split(';'))
                .filter_map(|pair| pair.trim().split_once('='))
                .any(|(key, token)| key == name && self.is_token(token))
        };
        if in_address || bearer() || cookie() {
            return Ok(Admission::Admitted);
        }
        Err(Fault::unauthorised(
            "this page belongs to whoever started `tabiya explore`: open the address that it printed, with its token",
        ))
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

    fn refuse_other_sites(&self, host: &str, headers: &HeaderMap) -> Result<(), Fault> {
        let refuse = || Err(Fault::forbidden("the request comes from another site"));
        let own = format!("http://{host}");
        for origin in headers.get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(&own)) {
                return refuse();
            }
        }
        for site in headers.get_all("sec-fetch-site") {
            if !matches!(site.as_bytes(), b"same-origin" | b"none") {
                return refuse();
            }
        }
        Ok(())
    }

    /// Compares with the token in a time that depends on its length alone.
    fn is_token(&self, text: &str) -> bool {
        let (own, other) = (self.token.as_bytes(), text.as_bytes());
        let differences = own.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == other.len() && std::hint::black_box(differences) == 0
    }
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

    fn guard(address: &str) -> Guard {
        Guard { token: "0123456789abcdef0123456789abcdef".to_owned(), address: address.parse().unwrap() }
    }

    fn status(address: &str, request: &[(&str, &str)]) -> u16 {
        status_of(address, "GET", "/api/books", request)
    }

    fn status_of(address: &str, method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        match guard(address).admit(&parts) {
            Ok(Admission::Admitted) => 200,
            Ok(Admission::Handover(cookie)) => {
                assert!(cookie.contains("HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
                303
            }
            Err(fault) => fault.into_response().status().as_u16(),
        }
    }

    const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    const HERE: &str = "127.0.0.1:8421";

    #[test]
    fn the_address_carries_the_token() {
        let address = |listen| guard(listen).address();
        assert_eq!(address(HERE), "http://127.0.0.1:8421/?token=0123456789abcdef0123456789abcdef");
        assert!(address("0.0.0.0:8421").starts_with("http://127.0.0.1:8421/?token="));
        assert!(address("[::]:8421").starts_with("http://[::1]:8421/?token="));
    }

    #[test]
    fn the_token_is_needed_in_one_of_three_places() {
        let host = ("host", HERE);
        assert_eq!(status(HERE, &[host]), 401);
        assert_eq!(status(HERE, &[host, BEARER]), 200);
        let cookie = |text: &str| status(HERE, &[host, ("cookie", text)]);
        assert_eq!(cookie("a=b; tabiya_8421=0123456789abcdef0123456789abcdef; c"), 200);
        assert_eq!(cookie("tabiya_8422=0123456789abcdef0123456789abcdef"), 401);
        assert_eq!(cookie("tabiya_8421=0123456789abcdef0123456789abcde"), 401);
        assert_eq!(cookie("tabiya_8421=1123456789abcdef0123456789abcdef"), 401);
        assert_eq!(cookie("tabiya_8421="), 401);
        let query = |uri: &str| status_of(HERE, "GET", uri, &[host]);
        assert_eq!(query("/lichess?token=0123456789abcdef0123456789abcdef"), 200);
        assert_eq!(query("/?token=0123456789abcdef0123456789abcdef"), 303);
        assert_eq!(query("/?token=x"), 401);
        assert_eq!(query("/"), 401);
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
    fn a_post_needs_json() {
        let post =
            |kind| status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER, ("content-type", kind)]);
        assert_eq!((post("application/json"), post("application/json; charset=utf-8")), (200, 200));
        assert_eq!((post("text/plain"), post("application/x-www-form-urlencoded")), (400, 400));
        assert_eq!(StatusCode::BAD_REQUEST, status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER]));
    }
}
