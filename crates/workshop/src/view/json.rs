//! What a book says of a position, its moves and games as JSON. Other programs rely on its keys and their order.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;
use shakmaty::Move;

use tabiya_book::{GameReference, MoveFacts, Recommendation, Weights};
use tabiya_chess::Value;
use tabiya_chess::openings::Opening;

use super::{View, san};

#[derive(Serialize)]
struct PositionJson<'a> {
    fen: String,
    book: &'a str,
    format: String,
    found: bool,
    moves: Vec<MoveJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'static str>,
    opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<serde_json::Value>,
}

/// A move. Other programs rely on its keys and their order.
#[derive(Debug, Serialize)]
pub struct MoveJson<'a> {
    uci: String,
    san: String,
    weight: u64,
    chance: f64,
    playable: bool,
    #[serde(flatten)]
    facts: Facts<'a, Move>,
    #[serde(flatten)]
    worth: Option<WorthLine>,
}

/// What a move is worth; null where nothing is known.
#[derive(Debug, Serialize)]
struct WorthLine {
    eval: Option<Value>,
    loss: Option<u32>,
}

impl<'a> MoveJson<'a> {
    /// One of the view's moves.
    pub fn new(view: &View<'_>, known: &'a MoveFacts, chance: f64) -> Self {
        Self {
            uci: known.mv.to_uci(view.mode).to_string(),
            san: san(view.game.position(), known.mv),
            weight: known.weight,
            chance,
            playable: chance > 0.0,
            facts: Facts(known),
            worth: view
                .worth
                .as_ref()
                .map(|worth| WorthLine { eval: worth.get(known.mv), loss: worth.loss(known.mv) }),
        }
    }
}

/// Writes the line.
pub fn line(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let moves = view.moves.iter().map(|(known, chance)| MoveJson::new(view, known, *chance));
    let line = PositionJson {
        fen: view.game.position().fen(),
        book: &view.book.path().to_string_lossy(),
        format: view.book.format().to_string(),
        found: !view.moves.is_empty(),
        moves: moves.collect(),
        rule: view.asked.and_then(|asked| asked.rule),
        chosen: view.asked.map(|asked| asked.chosen),
        skipped: view.asked.and_then(|asked| asked.skipped),
        weights: (view.weights != Weights::Points).then(|| view.weights.as_str()),
        opening: view.opening,
        comment: view.comment.as_deref(),
        game: view.reference.as_ref().map(game_line),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

/// What a book knows of a move besides its weight; null where the format does not have it.
#[derive(Debug)]
pub struct Facts<'a, M>(pub &'a MoveFacts<M>);

impl<M> Serialize for Facts<'_, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(MoveFacts { counts, annotation, recommended, learned, ratings, factor, .. }) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("games", &counts.map(|counts| counts.games))?;
        map.serialize_entry("wins", &counts.map(|counts| counts.wins))?;
        map.serialize_entry("draws", &counts.map(|counts| counts.draws))?;
        map.serialize_entry("losses", &counts.map(|counts| counts.losses))?;
        map.serialize_entry("annotation", &annotation.map(|mark| mark.as_str()))?;
        map.serialize_entry("recommended", &recommended.map(Recommendation::is_green))?;
        map.serialize_entry("learn", learned)?;
        // Left out if the format has none.
        if ratings.is_some() {
            map.serialize_entry("ratings", ratings)?;
        }
        if factor.is_some() {
            map.serialize_entry("factor", factor)?;
        }
        map.end()
    }
}

/// A game as JSON. Other programs rely on the keys and their order.
pub fn game_line(game: &GameReference) -> serde_json::Value {
    json!({
        "white": game.white, "black": game.black,
        "white_elo": game.white_elo, "black_elo": game.black_elo,
        "result": game.result(), "kind": game.kind.to_string(),
        "source": game.source, "gone": game.gone, "place": game.place(),
    })
}
