//! One line of JSON for a position and a book. Other programs rely on its keys and their order.

use std::io::{self, Write};

use serde::Serialize;
use shakmaty::Move;

use super::View;
use super::games::GameLine;
use crate::cli::output::facts::Facts;
use crate::cli::output::lines::san;
use crate::cli::output::rows;
use crate::openings::Opening;

#[derive(Serialize)]
struct Line<'a> {
    fen: String,
    book: &'a str,
    format: String,
    found: bool,
    moves: Vec<MoveLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<bool>,
    opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<GameLine<'a>>,
}

#[derive(Serialize)]
struct MoveLine<'a> {
    uci: String,
    san: String,
    weight: u64,
    probability: f64,
    playable: bool,
    #[serde(flatten)]
    facts: Facts<'a, Move>,
}

/// Writes the line.
pub fn line(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let position = view.game.position();
    let moves = view.moves.iter().map(|(known, chance)| MoveLine {
        uci: known.mv.to_uci(view.mode).to_string(),
        san: san(position, known.mv),
        weight: known.weight,
        probability: *chance,
        playable: *chance > 0.0,
        facts: Facts(known),
    });
    let line = Line {
        fen: position.fen(),
        book: &view.book.path().to_string_lossy(),
        format: view.book.format().to_string(),
        found: !view.moves.is_empty(),
        moves: moves.collect(),
        rule: view.asked.and_then(|asked| asked.rule),
        chosen: view.asked.map(|asked| asked.chosen),
        opening: view.opening,
        comment: view.comment.as_deref(),
        game: view.reference.as_ref().map(GameLine::from),
    };
    rows::json(&line, out)
}
