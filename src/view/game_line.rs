//! A game that a book names, under the JSON keys that are promised.

use serde::Serialize;

use crate::book::GameReference;

/// A game as JSON. Other programs rely on the keys and their order.
#[derive(Serialize)]
pub(crate) struct GameLine<'a> {
    white: &'a str,
    black: &'a str,
    white_elo: Option<u16>,
    black_elo: Option<u16>,
    result: &'static str,
    kind: String,
    source: &'a str,
    gone: bool,
    place: String,
}

impl<'a> From<&'a GameReference> for GameLine<'a> {
    fn from(game: &'a GameReference) -> Self {
        let elo = |elo: u16| (elo > 0).then_some(elo);
        Self {
            white: &game.white,
            black: &game.black,
            white_elo: elo(game.white_elo),
            black_elo: elo(game.black_elo),
            result: game.result(),
            kind: game.kind.to_string(),
            source: &game.source,
            gone: game.gone,
            place: game.place(),
        }
    }
}
