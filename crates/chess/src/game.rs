//! The game that a GUI describes: its start, its moves, and the positions that can still be repeated.

use std::sync::Arc;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, KnownOutcome, Move, Position as _};

use super::Variant;
use super::position::{FenError, Position};
use super::variant::variant_facts;

/// Plies without a capture or a pawn move after which a game is drawn.
const FIFTY_MOVES: u32 = 100;

/// Plies from a position's first time on the board to its third, at the least.
const MIN_PLIES_TO_REPEAT: usize = 8;

/// How a game has ended, as far as the board shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move is mated.
    Mate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Neither side can be mated any more.
    DeadPosition,
    /// The position is on the board for the third time.
    Repetition,
    /// No pawn was moved and no piece captured for fifty moves.
    FiftyMoves,
    /// By a rule that the variant alone has: a king on the hill, a third check, an explosion.
    Variant,
}

impl Ending {
    /// Whether the game must end: after a repetition or fifty moves the players may continue.
    pub fn is_forced(self) -> bool {
        matches!(self, Self::Mate | Self::Stalemate | Self::DeadPosition | Self::Variant)
    }
}

/// A game so far: its start, its moves, the position on the board, and the keys of positions that can be repeated.
#[derive(Clone, Debug)]
pub struct Game {
    start: Arc<Position>,
    moves: Vec<Move>,
    position: Position,
    /// [`Position::strict_key`] since the last move that cannot be undone, or the start, without the current position.
    earlier: Vec<u64>,
}

impl Game {
    /// A game from the starting position of ordinary chess.
    pub fn start() -> Self {
        Self::from_position(Position::start())
    }

    /// A game from the starting position of a variant.
    pub fn start_of(variant: Variant) -> Self {
        Self::from_position(Position::start_of(variant))
    }

    /// A game from any position.
    pub fn from_position(position: Position) -> Self {
        Self { start: Arc::new(position.clone()), moves: Vec::new(), position, earlier: Vec::new() }
    }

    /// A game from any position, before which these were on the board.
    pub fn continued<'a>(earlier: impl IntoIterator<Item = &'a Position>, position: Position) -> Self {
        let earlier = earlier.into_iter().map(Position::strict_key).collect();
        Self { earlier, ..Self::from_position(position) }
    }

    /// A game from a FEN.
    ///
    /// # Errors
    /// When [`Position::from_fen`] fails.
    pub fn from_fen(fen: &[u8], mode: CastlingMode) -> Result<Self, FenError> {
        Ok(Self::from_position(Position::from_fen(fen, mode)?))
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The position in which it began.
    pub fn start_position(&self) -> &Position {
        &self.start
    }

    /// The moves played so far.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// How the game has ended as far as the board shows it, and who has won; `None` where it has not ended.
    pub fn ending(&self) -> Option<(Ending, KnownOutcome)> {
        let chess = self.position.chess();
        if let Some(outcome) = chess.variant_end() {
            return Some((Ending::Variant, outcome));
        }
        let drawn = if chess.legal_moves().is_empty() {
            if chess.is_check() {
                return Some((Ending::Mate, KnownOutcome::Decisive { winner: chess.turn().other() }));
            }
            Ending::Stalemate
        } else if chess.is_insufficient_material() {
            Ending::DeadPosition
        } else if self.is_third(&self.position) {
            Ending::Repetition
        } else if chess.halfmoves() >= FIFTY_MOVES {
            Ending::FiftyMoves
        } else {
            return None;
        };
        Some((drawn, KnownOutcome::Draw))
    }

    /// The number of the next full move, 1 at the start.
    pub fn fullmove(&self) -> u32 {
        self.position.chess().fullmoves().get()
    }

    /// Plays a move in UCI notation, castling as e1g1 or e1h1; returns `false`, and changes nothing, when it is not
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
        // Where what was captured is dropped again, captures and moves of pawns can be undone.
        let is_undone =
            variant_facts(self.position.variant()).has_drops && !self.position.chess().is_irreversible(mv);
        self.earlier.push(self.position.strict_key());
        self.moves.push(mv);
        self.position.play(mv);
        if self.position.chess().halfmoves() == 0 && !is_undone {
            self.earlier.clear();
        }
    }

    /// How many moves of a line that is legal here are played before the game is over: all of them, or those up to
    /// the one that ends it.
    pub fn plies_of(&self, line: &[Move]) -> usize {
        if self.ends_at_most_with_the_last_of(line) {
            return line.len();
        }
        // The moves played so far do not matter: the positions that can be repeated are in `earlier`.
        let mut game = Self {
            start: Arc::clone(&self.start),
            moves: Vec::new(),
            position: self.position.clone(),
            earlier: self.earlier.clone(),
        };
        let last = line.iter().position(|mv| {
            game.push(*mv);
            game.ending().is_some()
        });
        last.map_or(line.len(), |last| last + 1)
    }

    /// Whether it is certain, without playing it, that no move of a legal line but its last can end the game.
    ///
    /// Each move after the first is legal, so no mate or stalemate came before it.
    fn ends_at_most_with_the_last_of(&self, line: &[Move]) -> bool {
        if self.position.standard().is_none() {
            return false;
        }
        let board = self.position.chess().board();
        // With a pawn, rook or queen on the board a mate is still possible.
        let mut mating = board.pawns().count() + board.rooks_and_queens().count();
        let mut reversible = self.earlier.len();
        let mut clock = self.position.chess().halfmoves();
        line.iter().all(|mv| {
            mating = mating.saturating_sub(usize::from(mv.is_capture()) + usize::from(mv.is_promotion()));
            (reversible, clock) = if mv.is_zeroing() { (0, 0) } else { (reversible + 1, clock + 1) };
            mating > 0 && reversible < MIN_PLIES_TO_REPEAT && clock < FIFTY_MOVES
        })
    }

    /// Whether a move that is legal here would lead to a position for the third time.
    pub fn repeats(&self, mv: Move) -> bool {
        self.earlier.len() + 1 >= MIN_PLIES_TO_REPEAT && self.is_third(&self.position.after(mv))
    }

    /// Whether a position was on the board twice before.
    fn is_third(&self, position: &Position) -> bool {
        let key = position.strict_key();
        self.earlier.iter().filter(|earlier| **earlier == key).count() >= 2
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
    fn en_passant_by_a_pinned_pawn_makes_no_other_position() {
        let start = Position::from_any_fen(b"3k4/8/8/8/3p4/8/4P3/3R2K1 w - - 0 1").unwrap();
        let mut game = Game::from_position(start);
        // The pawn of d4 is pinned when e2-e4 passes it: that position comes for the third time.
        "e2e4 d8c8 g1g2 c8d8 g2g1 d8c8 g1g2 c8d8"
            .split(' ')
            .for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        let back = UciMove::from_ascii(b"g2g1").unwrap().to_move(game.position().chess()).unwrap();
        assert!(game.repeats(back));
        game.push(back);
        assert_eq!(game.ending().map(|(ending, _)| ending), Some(Ending::Repetition));
    }

    #[test]
    fn pieces_in_hand_and_checks_tell_positions_of_a_game_apart() {
        let ending = |variant, fen: &str, moves: &str| {
            let mut game = Game::from_position(Position::from_any_fen_of(variant, fen.as_bytes()).unwrap());
            moves.split(' ').for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
            game.ending().map(|(ending, _)| ending)
        };
        // Knights are captured and dropped again, until everything stands as before.
        let fen = "3r2k1/8/8/8/8/8/8/3R2K1[N] w - - 0 1";
        let round = "N@d5 d8d5 g1h1 d5d8 h1g1 N@d4 d1d4 g8h8 d4d1 h8g8";
        assert_eq!(ending(Variant::Crazyhouse, fen, round), None);
        assert_eq!(ending(Variant::Crazyhouse, fen, &format!("{round} {round}")), Some(Ending::Repetition));
        // The same squares, but a check is given in each round.
        let fen = "6k1/8/8/8/8/8/8/R5K1 w - - 3+3 0 1";
        let round = "a1a8 g8g7 a8a1 g7g8";
        assert_eq!(ending(Variant::ThreeCheck, fen, &format!("{round} {round}")), None);
    }

    #[test]
    fn the_board_shows_how_a_game_ended() {
        let ending = |fen: &str, moves: &str| {
            let mut game = Game::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
            moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
            game.ending().map(|(ending, outcome)| (ending, outcome.winner()))
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(ending(start, "f2f3 e7e5 g2g4"), None);
        assert_eq!(ending(start, "f2f3 e7e5 g2g4 d8h4"), Some((Ending::Mate, Some(shakmaty::Color::Black))));
        assert_eq!(ending("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7"), Some((Ending::Stalemate, None)));
        assert_eq!(ending("7k/6p1/5K2/8/8/8/8/6B1 w - - 0 1", "f6g6"), None);
        assert_eq!(
            ending("8/8/8/8/8/5k2/6p1/6K1 b - - 0 1", "f3f4 g1g2"),
            Some((Ending::DeadPosition, None))
        );
        let round = "g1f3 g8f6 f3g1 f6g8 ";
        assert_eq!(ending(start, round), None);
        assert_eq!(ending(start, &round.repeat(2)), Some((Ending::Repetition, None)));
        let rook = "7k/8/8/8/8/8/8/R3K3 w - - 98 80";
        assert_eq!(ending(rook, "a1a2"), None);
        assert_eq!(ending(rook, "a1a2 h8g8"), Some((Ending::FiftyMoves, None)));
        // A mate with the hundredth ply is a mate.
        let mate = "7k/8/6K1/8/8/8/8/R7 w - - 99 80";
        assert_eq!(ending(mate, "a1a8"), Some((Ending::Mate, Some(shakmaty::Color::White))));
    }

    #[test]
    fn a_line_is_as_long_as_the_game_lasts() {
        let plies = |fen: &str, moves: &str, line: &str| {
            let mut game = Game::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
            moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
            let mut end = game.clone();
            line.split_whitespace().for_each(|mv| assert!(end.push_uci(mv.as_bytes()), "{mv}"));
            game.plies_of(&end.moves()[game.moves().len()..])
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let round = "g1f3 g8f6 f3g1 f6g8 ";
        assert_eq!(plies(start, "", "e2e4 e7e5 g1f3"), 3);
        assert_eq!(plies(start, "", ""), 0);
        assert_eq!(plies(start, "", &round.repeat(3)), 8);
        // The positions before the line count.
        assert_eq!(plies(start, round, &round.repeat(2)), 4);
        assert_eq!(plies(start, "g1f3 g8f6 f3g1", "f6g8 g1f3 g8f6 f3g1 f6g8 e2e4"), 5);
        assert_eq!(plies("7k/8/8/8/8/8/8/R3K3 w - - 98 80", "", "a1a2 h8g8 a2a3"), 2);
        assert_eq!(plies("8/8/8/8/8/5k2/6p1/6K1 b - - 0 1", "f3f4", "g1g2 f4e4"), 1);
        assert_eq!(plies(start, "f2f3 e7e5", "g2g4 d8h4"), 2);
    }

    #[test]
    fn a_pawn_move_ends_what_can_be_repeated() {
        let game = game("g1f3 g8f6 f3g1 f6g8 e2e4");
        assert!(game.earlier.is_empty());
    }
}
