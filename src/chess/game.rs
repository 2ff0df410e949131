//! The game that a GUI describes: a start, its moves, and what of it can still be repeated.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move, Position as _};

use super::position::{FenError, Position};

/// A game so far: the position on the board and the keys of those that it may repeat.
#[derive(Clone, Debug)]
pub struct Game {
    position: Position,
    /// Keys since the last capture, pawn move or start, the present position left out.
    earlier: Vec<u64>,
}

impl Game {
    /// A game from the starting position of ordinary chess.
    pub fn start() -> Self {
        Self { position: Position::start(), earlier: Vec::new() }
    }

    /// A game from a FEN.
    ///
    /// # Errors
    /// When [`Position::from_fen`] fails.
    pub fn from_fen(fen: &[u8], mode: CastlingMode) -> Result<Self, FenError> {
        Ok(Self { position: Position::from_fen(fen, mode)?, earlier: Vec::new() })
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The number of the full move to be made, 1 at the start.
    pub fn fullmove(&self) -> u32 {
        self.position.chess().fullmoves().get()
    }

    /// Plays a move given as text in UCI notation, castling as e1g1 or e1h1; `false`, and no change, when it is not
    /// legal here.
    pub fn push_uci(&mut self, text: &[u8]) -> bool {
        let legal = UciMove::from_ascii(text).ok().and_then(|uci| uci.to_move(self.position.chess()).ok());
        if let Some(mv) = legal {
            self.push(mv);
        }
        legal.is_some()
    }

    /// Plays a move that is legal here.
    pub fn push(&mut self, mv: Move) {
        self.earlier.push(self.position.key());
        self.position.play(mv);
        if self.position.chess().halfmoves() == 0 {
            self.earlier.clear();
        }
    }

    /// Whether a move that is legal here would bring about a position for the third time.
    pub fn repeats(&self, mv: Move) -> bool {
        // The third time is eight plies after the first at the earliest.
        if self.earlier.len() < 7 {
            return false;
        }
        let next = self.position.after(mv);
        self.earlier.iter().filter(|key| **key == next.key()).count() >= 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(moves: &str) -> Game {
        let mut game = Game::start();
        for mv in moves.split_whitespace() {
            assert!(game.push_uci(mv.as_bytes()), "{mv}");
        }
        game
    }

    #[test]
    fn both_ways_of_writing_castling_are_read() {
        for castling in ["e1g1", "e1h1"] {
            let game = game(&format!("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 {castling}"));
            assert!(
                game.position().fen().starts_with("r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1")
            );
        }
    }

    #[test]
    fn an_illegal_move_changes_nothing() {
        let mut game = game("e2e4");
        for bad in ["e2e4", "e7e5q", "0000", "(none)", "e7", "", "e8e9"] {
            assert!(!game.push_uci(bad.as_bytes()), "{bad}");
        }
        assert_eq!(game.position().key(), 0x823c_9b50_fd11_4196);
    }

    #[test]
    fn the_third_time_is_seen_before_it_happens() {
        let round = "g1f3 g8f6 f3g1 f6g8 ";
        let once = game(&format!("{round}g1f3 g8f6 f3g1"));
        let back = UciMove::from_ascii(b"f6g8").unwrap().to_move(once.position().chess()).unwrap();
        assert!(once.repeats(back));
        let early = game("g1f3 g8f6 f3g1");
        assert!(!early.repeats(back));
        let other = UciMove::from_ascii(b"f6d5").unwrap().to_move(once.position().chess()).unwrap();
        assert!(!once.repeats(other));
    }

    #[test]
    fn a_pawn_move_ends_what_can_be_repeated() {
        let game = game("g1f3 g8f6 f3g1 f6g8 e2e4");
        assert!(game.earlier.is_empty());
    }
}
