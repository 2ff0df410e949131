//! From where a request comes, and by which name it asks the server.

use std::net::{IpAddr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};

use crate::fault::Fault;

/// The port of addresses without one.
const HTTP_PORT: u16 = 80;

/// The host that a request names; `None` if it names none, or several.
pub(super) fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut hosts = headers.get_all(header::HOST).into_iter();
    let host = hosts.next()?.to_str().ok()?;
    let other = uri.authority().is_some_and(|authority| authority.as_str() != host);
    (hosts.next().is_none() && !other).then_some(host)
}

/// Whether a host is the server at this address: the address itself, or the local names for it, with its port.
pub(super) fn is_own(address: SocketAddr, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host.as_str(), Some(HTTP_PORT)),
    };
    if port != Some(address.port()) {
        return false;
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let own = address.ip();
    if name == "localhost" {
        return own.is_loopback() || own.is_unspecified();
    }
    // A name that is made to lead here is never a number.
    bare.parse::<IpAddr>().is_ok_and(|ip| ip == own || own.is_unspecified())
}

/// Lets through what no page of another site has made a browser ask: links to the page aside.
///
/// # Errors
/// When the request comes from another site.
pub(super) fn refuse_other_sites(host: &str, request: &Parts) -> Result<(), Fault> {
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
