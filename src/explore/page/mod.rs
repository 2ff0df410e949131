//! The page: one document with the pieces, its style and its script, all of which are inside the executable.

mod asset;

use std::sync::OnceLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use self::asset::Asset;
pub(super) use self::asset::FOLDER;
use super::fault::Fault;
use super::reply::text;
use super::request::Query;
use super::{Explorer, position};

/// The markup, with the places of the rest.
const MARKUP: &str = include_str!("page.html");

/// What is seen in its place by those who may not see it.
const REFUSED: &str = include_str!("refused.html");

/// The style.
const STYLE: &str = include_str!("style.css");

/// The pieces: one `<svg>` with a `<symbol>` for each.
const PIECES: &str = include_str!("pieces.svg");

/// The script, in this order.
const SCRIPT: [&str; 17] = [
    include_str!("script/state.js"),
    include_str!("script/net.js"),
    include_str!("script/board.js"),
    include_str!("script/moves.js"),
    include_str!("script/columns.js"),
    include_str!("script/table.js"),
    include_str!("script/together.js"),
    include_str!("script/games.js"),
    include_str!("script/line.js"),
    include_str!("script/policy.js"),
    include_str!("script/engine.js"),
    include_str!("script/edit.js"),
    include_str!("script/additions.js"),
    include_str!("script/search.js"),
    include_str!("script/settings.js"),
    include_str!("script/keys.js"),
    include_str!("script/main.js"),
];

/// The place of the nonce.
const NONCE: &str = "{{nonce}}";

/// The place of what the server knows when it sends the page.
const FIRST: &str = "{{first}}";

/// The document without its nonce and its first answers.
fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let markup = MARKUP.replace("<!--PIECES-->", PIECES).replace("{{style}}", &style().address());
        markup.replace("{{script}}", &script().address())
    })
}

fn style() -> &'static Asset {
    static ASSET: OnceLock<Asset> = OnceLock::new();
    ASSET.get_or_init(|| Asset::new("css", "text/css; charset=utf-8", STYLE.to_owned()))
}

fn script() -> &'static Asset {
    static ASSET: OnceLock<Asset> = OnceLock::new();
    ASSET.get_or_init(|| Asset::new("js", "text/javascript; charset=utf-8", SCRIPT.join("\n")))
}

/// `/page/NAME`: the style or the script.
pub(super) fn asset(name: &str, asked: &HeaderMap) -> Result<Response, Fault> {
    let asset = [style(), script()].into_iter().find(|asset| asset.name == name);
    asset.map(|asset| asset.answer(asked)).ok_or_else(|| Fault::not_found("there is no such page"))
}

/// `/`: the page, with the books and what they say of the starting position, which spares it two requests, and the key of the
/// session that begins with it. Only its own script and style, which have this answer's nonce, are obeyed.
///
/// # Errors
/// When the first answer fails.
pub(super) fn page(explorer: &Explorer, key: Option<&str>) -> Result<Response, Fault> {
    // Counted before the books are asked: a change in between is heard of twice, and never missed.
    let changes = explorer.feeds.changes();
    let view = position::viewed(explorer, &Query::default())?;
    let first =
        json!({ "key": key, "changes": changes, "books": position::all_books(explorer), "view": view });
    let nonce = format!("{:032x}", rand::random::<u128>());
    // Nothing in the data may look like the end of its element.
    let first = first.to_string().replace('<', "\\u003c");
    let mut response =
        text("text/html; charset=utf-8", document().replace(NONCE, &nonce).replace(FIRST, &first));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// The page of somebody who does not see the other one: why, and what to do.
pub(super) fn refused(fault: Fault) -> Response {
    let (what, response) = (html(fault.what()), fault.into_response());
    let status = response.status();
    let title = match status {
        StatusCode::UNAUTHORIZED => "This page needs its address",
        StatusCode::FORBIDDEN => "This is not answered",
        _ => "This cannot be shown",
    };
    let nonce = format!("{:032x}", rand::random::<u128>());
    let page = REFUSED.replace(NONCE, &nonce).replace("{{title}}", title).replace("{{what}}", &what);
    let mut response = text("text/html; charset=utf-8", page);
    *response.status_mut() = status;
    let policy =
        format!("default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Words as HTML; what is between backticks is code.
fn html(words: &str) -> String {
    let escaped = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = escaped.split('`').enumerate();
    parts
        .map(|(number, part)| if number % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_whole() {
        for place in ["{{style}}", "{{script}}", "<!--PIECES-->"] {
            assert!(MARKUP.contains(place) && !document().contains(place), "{place}");
        }
        assert!(document().contains(NONCE) && document().matches(FIRST).count() == 1);
    }
    #[test]
    fn a_refusal_is_a_page_that_holds_no_markup_of_others() {
        let response = refused(Fault::unauthorized("run `a <b> & c` first"));
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(html("run `a <b> & c` first"), "run <code>a &lt;b&gt; &amp; c</code> first");
        assert!(REFUSED.contains("{{title}}") && REFUSED.contains("{{what}}") && REFUSED.contains(NONCE));
    }
}
