//! Tests of who may ask.

use super::sessions::SESSIONS;
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
    let (newer, other) = begun(&guard, &guard.address().replace("http://127.0.0.1:8421", ""));
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
    // Of several pages in a browser, all send the cookie of the newest.
    for (cookie, key) in [(&newer, &key), (&cookie, &other)] {
        assert_eq!(ask("/api/books", &[("cookie", cookie), ("tabiya-key", key)]), Ok(Admission::Admitted));
    }
    for wrong in ["", value, TOKEN, &key[1..]] {
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
    for (site, expected) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
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
    for uri in ["/lichess", "/masters?play=e2e4", "/master", "/player", "/chessdb", "/masters/pgn/aaaaaaaa"] {
        for headers in [&site[..1], &site] {
            assert_eq!(admission(&open, "GET", uri, headers), Ok(Admission::Open), "{uri}");
            assert_eq!(admission(&open, "OPTIONS", uri, headers), Ok(Admission::Preflight), "{uri}");
        }
        assert_eq!(admission(&open, "POST", uri, &site), Err(403), "{uri}");
        assert_eq!(admission(&closed, "GET", uri, &[HOST]), Err(401), "{uri}");
        assert_eq!(admission(&open, "GET", uri, &[("host", "evil.example:8421")]), Err(403), "{uri}");
    }
    for uri in ["/", "/api/books", "/api/position", "/api/engine", "/lichess/", "/mastersx", "/player/x"] {
        assert_eq!(admission(&open, "GET", uri, &[HOST]), Err(401), "{uri}");
        assert_eq!(admission(&open, "GET", uri, &site), Err(403), "{uri}");
        assert_eq!(admission(&open, "OPTIONS", uri, &site), Err(403), "{uri}");
    }
}

#[test]
fn a_post_needs_json() {
    let post = |kind| status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER, ("content-type", kind)]);
    assert_eq!((post("application/json"), post("application/json; charset=utf-8")), (200, 200));
    assert_eq!((post("text/plain"), post("application/x-www-form-urlencoded")), (400, 400));
    assert_eq!(StatusCode::BAD_REQUEST, status_of(HERE, "POST", "/api/edit", &[("host", HERE), BEARER]));
}
