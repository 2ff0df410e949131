//! `POST /api/read`: games as PGN, which a person pastes or the server sends.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shakmaty::Move;

use super::Explorer;
use super::fault::Fault;
use super::line::plain;
use super::place::{PLIES_MAX, Place};
use super::reply::json;
use super::request::read;
use crate::chess::Position;
use crate::games::text::checked;
use crate::games::{End, GameError, GameResult, Header, Visitor, open_text};
use crate::view::san;

/// Games that are read at most.
const GAMES_MAX: usize = 200;

/// The name of the text in errors.
const NAME: &str = "the text";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'a> {
    /// The games.
    text: std::borrow::Cow<'a, str>,
    /// A position as a FEN: where it occurs in each game is answered too.
    at: Option<std::borrow::Cow<'a, str>>,
}

/// A game that was read.
#[derive(Serialize)]
struct GameRead {
    white: String,
    black: String,
    result: &'static str,
    start: String,
    play: Vec<String>,
    san: Vec<String>,
    /// The ply at which the position that was asked for occurs first.
    ply: Option<usize>,
    /// Why the rest of it is missing.
    error: Option<String>,
}

/// Takes games as they are read.
struct Reader {
    wanted: Option<u64>,
    open: Option<(GameRead, Place)>,
    games: Vec<GameRead>,
    error: Option<GameError>,
}

/// `POST /api/read`.
pub(super) fn games(_: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    let asked: Asked<'_> = read(body)?;
    let at = asked.at.as_deref().map(|fen| Place::start(Some(fen))).transpose()?;
    let wanted = at.map(|place| place.game.position().key());
    let path = Path::new(NAME);
    let text = checked(path, Box::new(Cursor::new(plain(&asked.text).into_bytes())))?;
    let mut reader = Reader { wanted, open: None, games: Vec::new(), error: None };
    let mut sources = open_text(path, text, None, Arc::default());
    while let Some(batch) = sources.next_batch()? {
        batch.play(&mut reader);
    }
    let Reader { games, error, .. } = reader;
    let played = games.iter().any(|game| !game.play.is_empty());
    match error.filter(|_| !played) {
        Some(error) => Err(Fault::illegal(error.why)),
        None => Ok(json(&json!({ "games": games }))),
    }
}

impl Visitor for Reader {
    fn begin(&mut self, game: &Header) -> bool {
        let start = game.start.as_ref().map(Position::fen);
        let Ok(place) = Place::start(start.as_deref()) else { return false };
        let result = game.result.map_or("*", GameResult::as_pgn);
        let (white, black) = (game.white.clone(), game.black.clone());
        let (start, ply) = (place.start_fen(), self.occurs(place.game.position()).then_some(0));
        let read =
            GameRead { white, black, result, start, play: Vec::new(), san: Vec::new(), ply, error: None };
        self.open = Some((read, place));
        self.games.len() < GAMES_MAX
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let wanted = self.wanted;
        let Some((game, place)) = &mut self.open else { return ControlFlow::Break(()) };
        game.play.push(place.uci(mv));
        game.san.push(san(at, mv));
        place.game.push(mv);
        if game.ply.is_none() && wanted == Some(place.game.position().key()) {
            game.ply = Some(game.play.len());
        }
        if game.play.len() < PLIES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end(&mut self, end: End) {
        let Some((game, _)) = self.open.take() else { return };
        let error = end.error.map(|error| error.why);
        let result = end.result.map_or(game.result, GameResult::as_pgn);
        self.games.push(GameRead { result, error, ..game });
    }

    fn unreadable(&mut self, error: GameError) {
        self.error.get_or_insert(error);
    }
}

impl Reader {
    fn occurs(&self, at: &Position) -> bool {
        self.wanted == Some(at.key())
    }
}
