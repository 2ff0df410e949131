//! One line of JSON for a position and a book: names and order are promised to other programs.

use std::io::{self, Write};

use serde::Serialize;
use shakmaty::Move;
use shakmaty::san::SanPlus;

use super::View;
use super::games::GameLine;
use crate::book::MoveFacts;
use crate::cli::output::facts::Facts;

#[derive(Serialize)]
struct Line<'a> {
    fen: String,
    book: &'a str,
    format: String,
    found: bool,
    moves: Vec<MoveLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opening: Option<&'a str>,
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
    let line = Line {
        fen: view.game.position().fen(),
        book: &view.book.path().to_string_lossy(),
        format: view.book.format().to_string(),
        found: !view.moves.is_empty(),
        moves: view.moves.iter().map(|(known, chance)| move_line(view, known, *chance)).collect(),
        opening: view.opening.as_deref(),
        game: view.linked.as_ref().map(GameLine::from),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

fn move_line<'a>(view: &View<'_>, known: &'a MoveFacts, chance: f64) -> MoveLine<'a> {
    MoveLine {
        uci: known.mv.to_uci(view.mode).to_string(),
        san: SanPlus::from_move(view.game.position().chess().clone(), known.mv).to_string(),
        weight: known.weight,
        probability: chance,
        playable: chance > 0.0,
        facts: Facts(known),
    }
}
