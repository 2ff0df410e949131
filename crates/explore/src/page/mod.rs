//! The page: one document with the pieces, its style and its script, all of which are inside the executable.

mod asset;

use std::sync::LazyLock;

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

const STYLE: &str = include_str!("style.css");

/// The pieces: one `<svg>` with a `<symbol>` for each.
const PIECES: &str = include_str!("pieces.svg");

/// A module of the script: its name and its text.
macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("script/", $name)))
    };
}

/// The modules of the script; each comes after those that it imports.
const SCRIPT: [(&str, &str); 32] = [
    module!("state.js"),
    module!("dom.js"),
    module!("net.js"),
    module!("board.js"),
    module!("steps.js"),
    module!("tables.js"),
    module!("edit.js"),
    module!("additions.js"),
    module!("thoughts.js"),
    module!("lines.js"),
    module!("columns.js"),
    module!("rows.js"),
    module!("arrows.js"),
    module!("marks.js"),
    module!("ways.js"),
    module!("moves.js"),
    module!("line.js"),
    module!("games.js"),
    module!("filters.js"),
    module!("facts.js"),
    module!("together.js"),
    module!("engine.js"),
    module!("view.js"),
    module!("table.js"),
    module!("policy.js"),
    module!("growth.js"),
    module!("gaps.js"),
    module!("search.js"),
    module!("setup.js"),
    module!("settings.js"),
    module!("keys.js"),
    module!("main.js"),
];

/// The place of the nonce.
const NONCE: &str = "{{nonce}}";

/// The place of what the server knows when it sends the page.
const FIRST: &str = "{{first}}";

/// The document without its nonce and its first answers.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let markup = MARKUP.replace("<!--PIECES-->", PIECES).replace("{{style}}", &STYLE_FILE.address());
    markup.replace("{{script}}", &SCRIPT_FILE.address())
});

static STYLE_FILE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("css", "text/css; charset=utf-8", STYLE.to_owned()));

static SCRIPT_FILE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("js", "text/javascript; charset=utf-8", joined()));

/// The modules as one, so that the page waits for one answer and not for one of each: what they import is above them, and no
/// two of them have something of the same name.
fn joined() -> String {
    let mut script = String::new();
    for line in SCRIPT.iter().flat_map(|(_, text)| text.lines()) {
        if !is_import(line) && !line.starts_with("/** @import ") {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

fn is_import(line: &str) -> bool {
    line.starts_with("import ")
}

/// `/page/NAME`: the style or the script.
pub(super) fn asset(name: &str, asked: &HeaderMap) -> Result<Response, Fault> {
    let asset = [&*STYLE_FILE, &SCRIPT_FILE].into_iter().find(|asset| asset.name == name);
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
    let (books, kept) = (position::all_books(explorer), explorer.kept.values());
    let first = json!({ "key": key, "changes": changes, "books": books, "view": view, "kept": kept });
    let nonce = format!("{:032x}", rand::random::<u128>());
    // Nothing in the data may look like the end of its element.
    let first = first.to_string().replace('<', "\\u003c");
    let mut response =
        text("text/html; charset=utf-8", DOCUMENT.replace(NONCE, &nonce).replace(FIRST, &first));
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
            assert!(MARKUP.contains(place) && !DOCUMENT.contains(place), "{place}");
        }
        assert!(DOCUMENT.contains(NONCE) && DOCUMENT.matches(FIRST).count() == 1);
    }

    /// The modules that a module imports.
    fn imported(text: &str) -> impl Iterator<Item = &str> {
        let imports = text.lines().filter(|line| is_import(line));
        imports.map(|line| line.split_once(" from \"./").unwrap().1.strip_suffix("\";").unwrap())
    }

    #[test]
    fn modules_import_only_those_before_them() {
        let place = |name: &str| SCRIPT.iter().position(|(known, _)| *known == name);
        for (number, (name, text)) in SCRIPT.iter().enumerate() {
            for other in imported(text) {
                assert!(place(other).is_some_and(|other| other < number), "{name} imports {other}");
            }
            // Nothing has another name where it is imported, and nothing is imported later.
            assert!(!text.lines().any(|line| is_import(line) && line.contains(" as ")), "{name}");
            assert!(!text.contains("import("), "{name}");
        }
    }

    #[test]
    fn no_two_modules_have_something_of_the_same_name() {
        let mut names = std::collections::BTreeSet::new();
        for line in joined().lines() {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let kinds = ["function* ", "function ", "const ", "let ", "class "];
            let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
            let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap();
            assert!(!name.is_empty() && names.insert(name.to_owned()), "{line}");
        }
        assert!(names.contains("state") && names.contains("main") && names.len() > 200);
    }

    #[test]
    fn what_is_joined_imports_and_exports_nothing() {
        let joined = joined();
        assert!(!joined.lines().any(|line| is_import(line) || line.starts_with("export ")));
        assert!(joined.trim_end().ends_with("void main();"));
    }

    #[test]
    fn the_page_is_light() {
        let assets = STYLE_FILE.compressed_len() + SCRIPT_FILE.compressed_len();
        assert!(assets > 10 << 10 && assets + DOCUMENT.len() < 150 << 10, "{assets}");
    }

    #[test]
    fn a_refusal_is_a_page_that_holds_no_markup_of_others() {
        let response = refused(Fault::unauthorized("run `a <b> & c` first"));
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(html("run `a <b> & c` first"), "run <code>a &lt;b&gt; &amp; c</code> first");
        assert!(REFUSED.contains("{{title}}") && REFUSED.contains("{{what}}") && REFUSED.contains(NONCE));
    }
}
