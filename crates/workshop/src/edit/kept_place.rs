//! The position of an edit as journals keep it: data, of which others make words.

use shakmaty::CastlingMode;

use tabiya_chess::{Game, Position, Variant};

use super::MAX_NOTE;

/// What is kept of a game from the usual start, as UCI writes it; moves follow its first word with [`MOVES`] between.
const START: &str = "startpos";
const MOVES: &str = " moves ";

/// Where an edit was made.
#[derive(Debug)]
pub enum KeptPlace<'a> {
    /// After the moves of a game from the usual start.
    Line(Game),
    /// In this position, a FEN, or what another version has kept.
    Fen(&'a str),
}

impl KeptPlace<'_> {
    /// The position, of a book of this variant; `None` if the text is none.
    pub fn position(&self, variant: Variant) -> Option<Position> {
        match self {
            Self::Line(game) => Some(game.position().clone()),
            Self::Fen(fen) => Position::from_fen_of(variant, fen.as_bytes(), CastlingMode::Chess960).ok(),
        }
    }
}

/// The text that is kept of a place: at most [`MAX_NOTE`] bytes. `is_set_up` says that the game has another start.
pub fn kept(game: &Game, is_set_up: bool) -> String {
    let moves: Vec<String> =
        game.moves().iter().map(|mv| mv.to_uci(CastlingMode::Standard).to_string()).collect();
    let text = if moves.is_empty() { START.to_owned() } else { [START, MOVES, &moves.join(" ")].concat() };
    if is_set_up || text.len() > MAX_NOTE { game.position().fen() } else { text }
}

/// The place in a book of a variant of which this text was kept.
pub fn place_of(text: &str, variant: Variant) -> KeptPlace<'_> {
    let mut game = Game::start_of(variant);
    let moves = text.strip_prefix(START).map(|rest| rest.strip_prefix(MOVES).unwrap_or(rest));
    match moves {
        Some(moves)
            if moves.split(' ').filter(|mv| !mv.is_empty()).all(|mv| game.push_uci(mv.as_bytes())) =>
        {
            KeptPlace::Line(game)
        }
        _ => KeptPlace::Fen(text),
    }
}
