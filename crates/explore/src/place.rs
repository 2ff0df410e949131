//! The position that a request means: a start, and the moves from there.

use shakmaty::fen::Fen;
use shakmaty::variant::VariantPosition;
use shakmaty::{CastlingMode, Move, Position as _, PositionErrorKinds};

use tabiya_chess::{Game, Position, Variant};

use super::fault::Fault;
use super::request::Query;

/// Bytes of the longest FEN that is read; a FEN has fewer than 100.
const MAX_FEN: usize = 256;

/// The most plies of a line.
pub(super) const MAX_PLIES: usize = 1000;

/// What keeps the pieces of a FEN from being a position, in words; empty if it is something else.
fn illegal(variant: Variant, fen: Fen, mode: CastlingMode) -> String {
    let position = VariantPosition::from_setup(variant, fen.into_setup(), mode);
    let kinds = position.err().map(|error| error.kinds()).unwrap_or_default();
    let words = [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "a king is missing"),
        (PositionErrorKinds::TOO_MANY_KINGS, "a side has more than one king"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "a pawn is on the first or the last rank"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side that is not to move is in check"),
    ];
    let words = words.into_iter().filter(|(kind, _)| kinds.contains(*kind)).map(|(_, words)| words);
    words.collect::<Vec<_>>().join(", ")
}

/// A position, and how it was reached.
#[derive(Clone, Debug)]
pub(super) struct ShownPlace {
    /// The game with the position.
    pub(super) game: Game,
    /// How castling is written.
    pub(super) mode: CastlingMode,
    /// Whether the start is not the usual one.
    pub(super) is_set_up: bool,
}

impl ShownPlace {
    /// The place of the parameters `start` and `play`, in a variant.
    ///
    /// # Errors
    /// When the start is not a position, or a move is not legal.
    pub(super) fn from_query(query: &Query, variant: Variant) -> Result<Self, Fault> {
        Self::read(variant, query.get("start"), query.get("play").unwrap_or_default().split(','))
    }

    /// The place after moves from a start, or from the usual one of a variant.
    ///
    /// # Errors
    /// When the start is not a position, or a move is not legal.
    pub(super) fn read<'a>(
        variant: Variant,
        start: Option<&str>,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Fault> {
        let mut place = Self::start(variant, start)?;
        for (number, word) in moves.into_iter().map(str::trim).filter(|word| !word.is_empty()).enumerate() {
            if number >= MAX_PLIES {
                return Err(Fault::bad(format!("the line has more than {MAX_PLIES} plies")));
            }
            if !place.game.push_uci(word.as_bytes()) {
                let word: String = word.chars().take(8).collect();
                let fen = place.game.position().fen();
                let what = format!("{word:?}, number {}, is not a legal move in {fen}", number + 1);
                return Err(Fault::illegal(what));
            }
        }
        Ok(place)
    }

    /// The place of a FEN, or of the usual start of a variant.
    ///
    /// # Errors
    /// When it is not a position.
    pub(super) fn start(variant: Variant, fen: Option<&str>) -> Result<Self, Fault> {
        let Some(text) = fen.filter(|text| *text != "startpos") else {
            return Ok(Self {
                game: Game::start_of(variant),
                mode: CastlingMode::Standard,
                is_set_up: false,
            });
        };
        let wrong = |why: &dyn std::fmt::Display| Fault::bad(format!("this is not a position: {why}"));
        if text.len() > MAX_FEN {
            return Err(wrong(&"it is too long for a FEN"));
        }
        // Some clients write the blanks of a FEN as underscores.
        let text = text.replace('_', " ");
        let fen = Fen::from_ascii(text.as_bytes());
        let detected = |fen: &Fen| CastlingMode::detect(fen.as_setup());
        let position = match (variant, &fen) {
            (Variant::Chess, Err(error)) => return Err(wrong(error)),
            (Variant::Chess, Ok(fen)) => Position::from_fen(text.as_bytes(), detected(fen)),
            // What other programs write of pieces in hand and checks is read here only.
            _ => Position::from_any_fen_of(variant, text.as_bytes()),
        };
        let words = |fen: Fen| illegal(variant, fen.clone(), detected(&fen));
        let position = position.map_err(|error| match fen.map(words).unwrap_or_default() {
            why if why.is_empty() => wrong(&error),
            why => wrong(&why),
        })?;
        let mode = position.chess().castles().mode();
        let is_set_up = position.fen() != Position::start_of(variant).fen();
        Ok(Self { game: Game::from_position(position), mode, is_set_up })
    }

    pub(super) fn variant(&self) -> Variant {
        self.game.position().variant()
    }

    pub(super) fn start_fen(&self) -> String {
        self.game.start_position().fen()
    }

    /// A move as UCI writes it here.
    pub(super) fn uci(&self, mv: Move) -> String {
        mv.to_uci(self.mode).to_string()
    }

    /// The moves of the line as UCI writes them.
    pub(super) fn play(&self) -> Vec<String> {
        self.game.moves().iter().map(|mv| self.uci(*mv)).collect()
    }

    /// The place after the first plies of the line.
    pub(super) fn up_to(&self, plies: usize) -> Self {
        let mut game = Game::from_position(self.game.start_position().clone());
        self.game.moves().iter().take(plies).for_each(|mv| game.push(*mv));
        Self { game, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ShownPlace, Fault> {
        ShownPlace::from_query(&Query::parse(text), Variant::Chess)
    }

    #[test]
    fn both_ways_of_writing_castling_are_read() {
        for castling in ["e1g1", "e1h1"] {
            let place = read(&format!("play=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,{castling}")).unwrap();
            assert_eq!(place.play().last().unwrap(), "e1g1");
        }
        let place = read("start=bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN_w_GEge_-_0_1").unwrap();
        assert!(place.mode == CastlingMode::Chess960 && place.is_set_up);
    }

    #[test]
    fn long_lines_and_wrong_positions_are_refused() {
        let round = "g1f3,g8f6,f3g1,f6g8,";
        assert!(read(&format!("play={}", round.repeat(250))).is_ok());
        assert!(read(&format!("play={}e2e4", round.repeat(250))).is_err());
        assert!(read("play=e2e5").is_err() && read("start=8/8/8").is_err());
        assert!(read(&format!("start={}", "8/".repeat(500))).is_err());
        assert!(!read("start=startpos&play=").unwrap().is_set_up);
        for (wrong, why) in [
            ("8/8/8/8/8/8/8/4K3_w_-_-_0_1", "a king is missing"),
            ("4k3/8/8/8/8/8/8/P3K3_w_-_-_0_1", "a pawn is on the first or the last rank"),
            ("4k3/4R3/8/8/8/8/8/4K3_w_-_-_0_1", "the side that is not to move is in check"),
            ("4k3/8/8/8/8/8/8/4K2_w_-_-_0_1", "invalid board part in fen"),
        ] {
            let fault = read(&format!("start={wrong}")).unwrap_err();
            assert_eq!(fault.what(), format!("this is not a position: {why}"));
        }
    }
}
