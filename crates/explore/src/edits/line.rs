//! `/api/line`: a line, or games with variations, that goes into a book at once or leaves it; and what that would do.

use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use shakmaty::Color;

use tabiya_base::progress::Progress;
use tabiya_workshop::edit::{Line, LineChange, LineCounts, LineWish, plan_line};

use super::super::Explorer;
use super::super::fault::Fault;
use super::super::place::ShownPlace;
use super::super::plain::plain;
use super::super::reply::json;
use super::super::request::read;
use super::value::of_all;
use super::{writable, written};

/// The body of `/api/line`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRequest {
    book: usize,
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    play: Vec<String>,
    /// Moves after those, or games as PGN; without it the line is `play`.
    #[serde(default)]
    text: Option<String>,
    op: LineOp,
    /// Only the moves of this side.
    #[serde(default)]
    side: Option<LineSide>,
    #[serde(default)]
    value: Value,
    /// What it must do to the book; without it nothing is written, and the answer is what it would do.
    #[serde(default)]
    expect: Option<LineCounts>,
}

/// What is done to a line.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineOp {
    Add,
    Delete,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineSide {
    White,
    Black,
}

pub(crate) fn line(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    let request: LineRequest = read(body)?;
    let (slot, format) = writable(explorer, request.book)?;
    let moves = request.play.iter().map(String::as_str);
    let place = ShownPlace::read(slot.variant, request.start.as_deref(), moves)?;
    let line = match &request.text {
        None => Line::of_game(&place.game, place.is_set_up, 0),
        Some(text) => Line::read(&plain(text), &place.game, place.is_set_up)?,
    };
    if line.is_empty() {
        return Err(Fault::bad("there are no moves: play some, or write a line"));
    }
    let change = match request.op {
        LineOp::Delete => LineChange::Delete,
        LineOp::Add => {
            let side = |side: LineSide| Color::from_white(matches!(side, LineSide::White));
            LineChange::Add { only: request.side.map(side), value: of_all(format, &request.value)? }
        }
    };
    let Some(expected) = request.expect else {
        let open = slot.read();
        let book = open.book.as_ref().map_err(Fault::io)?;
        return Ok(json(&plan_line(&**book, &line, change, &Progress::none())?));
    };
    let wish = LineWish { line: &line, change, expected: Some(expected) };
    written(explorer, request.book, slot, None, |editor| editor.edit_line(&wish, &Progress::none()))
}
