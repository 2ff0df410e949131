//! A game that a book names, under the JSON keys that are promised.

use serde_json::{Value, json};

use tabiya_book::GameReference;

/// A game as JSON. Other programs rely on the keys and their order.
pub fn game_line(game: &GameReference) -> Value {
    let elo = |elo: u16| (elo > 0).then_some(elo);
    json!({
        "white": game.white, "black": game.black,
        "white_elo": elo(game.white_elo), "black_elo": elo(game.black_elo),
        "result": game.result(), "kind": game.kind.to_string(),
        "source": game.source, "gone": game.gone, "place": game.place(),
    })
}
