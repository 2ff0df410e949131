//! The last `position` line: its text for the child, and its game for the book.

use std::sync::Arc;

use shakmaty::CastlingMode;

use tabiya_chess::{Game, Position, Variant};
use tabiya_uci::{position_moves, split_word, words};

/// The position that the GUI sent last.
pub(super) struct Board {
    /// Whose rules its game has.
    variant: Variant,
    /// The line, unchanged; empty before the first.
    line: Vec<u8>,
    /// The game that it describes; `None` if the line is not valid and the book must not answer.
    game: Option<Arc<Game>>,
    /// Whether the line has moves.
    has_moves: bool,
    /// Whether the child has received it.
    pub(super) sent: bool,
}

impl Board {
    /// The starting position, which needs no line.
    pub(super) fn new() -> Self {
        Self {
            variant: Variant::Chess,
            line: Vec::new(),
            game: Some(Arc::new(Game::start())),
            has_moves: false,
            sent: true,
        }
    }

    /// Takes a new `position` line. If it only adds moves to the last one, only those are read.
    pub(super) fn set(&mut self, line: &[u8], mode: CastlingMode) {
        let old = self.line.trim_ascii();
        let added =
            line.trim_ascii().strip_prefix(old).filter(|added| !old.is_empty() && starts_a_word(added));
        let moves = match added {
            Some(added) if self.has_moves => Some(added),
            Some(added) => match split_word(added) {
                (b"moves", moves) => Some(moves),
                (b"", _) => Some(added),
                _ => None,
            },
            None => None,
        };
        match (moves, &mut self.game) {
            (Some(moves), Some(game)) => {
                self.has_moves |= !moves.trim_ascii().is_empty();
                let game = Arc::make_mut(game);
                if !words(moves).all(|mv| game.push_uci(mv)) {
                    self.game = None;
                }
            }
            _ => self.read(line, mode),
        }
        self.line.clear();
        self.line.extend_from_slice(line);
        self.line.shrink_to(1 << 16);
        self.sent = false;
    }

    /// Reads the last line again, in another castling mode.
    pub(super) fn reread(&mut self, mode: CastlingMode) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.read(&line, mode);
            self.line = line;
        }
    }

    /// The game has other rules from here on: the last line is read again.
    pub(super) fn play_variant(&mut self, variant: Variant, mode: CastlingMode) {
        self.variant = variant;
        if self.line.is_empty() {
            let unknown = self.game.is_none();
            self.game = (!unknown).then(|| Arc::new(Game::start_of(variant)));
        } else {
            self.reread(mode);
        }
    }

    /// The position is not known: the book does not answer until the next one.
    pub(super) fn set_unknown(&mut self) {
        *self = Self { variant: self.variant, line: Vec::new(), game: None, has_moves: false, sent: true };
    }

    /// The line for the child.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// The game, if the position is valid.
    pub(super) fn game(&self) -> Option<&Game> {
        self.game.as_deref()
    }

    /// The same, for a request that keeps it.
    pub(super) fn shared_game(&self) -> Option<Arc<Game>> {
        self.game.clone()
    }

    fn read(&mut self, line: &[u8], mode: CastlingMode) {
        let (_, rest) = split_word(line);
        let start = position_moves(rest);
        self.has_moves = start.is_some_and(|(_, moves)| !moves.trim_ascii().is_empty());
        self.game = start.and_then(|(fen, moves)| {
            let start = |fen| Position::from_fen_of(self.variant, fen, mode).ok().map(Game::from_position);
            let mut game = fen.map_or_else(|| Some(Game::start_of(self.variant)), start)?;
            words(moves).all(|mv| game.push_uci(mv)).then(|| Arc::new(game))
        });
    }
}

/// Whether a text is empty or starts with white space: the text before it then ends with a whole word.
fn starts_a_word(text: &[u8]) -> bool {
    text.first().is_none_or(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> Option<String> {
        let mut board = Board::new();
        for line in lines {
            board.set(line.as_bytes(), CastlingMode::Standard);
            let mut fresh = Board::new();
            fresh.set(line.as_bytes(), CastlingMode::Standard);
            let fen = |board: &Board| board.game().map(|game| game.position().fen());
            assert_eq!(fen(&board), fen(&fresh), "{line}");
        }
        board.game().map(|game| game.position().fen())
    }

    #[test]
    fn a_line_with_more_moves_continues_the_game() {
        let fen = after(&[
            "position startpos\n",
            "position startpos moves\n",
            "position startpos moves e2e4\n",
            "position startpos moves e2e4 e7e5  g1f3\r\n",
            "position startpos moves e2e4 e7e5  g1f3 b8c6",
        ]);
        assert_eq!(fen.unwrap(), "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3");
    }

    #[test]
    fn a_line_that_only_starts_with_the_last_one_is_another_game() {
        let base = "position fen 4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
        assert!(
            after(&[
                base,
                &format!("{base}1"),
                &format!("{base} moves a7a8q"),
                &format!("{base} moves a7a8")
            ])
            .is_none()
        );
        assert!(after(&["position startpos moves e2e4", "position startpos moves e2e4q"]).is_none());
        assert!(after(&["position startpos moves e2e4 e7e5", "position startpos moves e2e4"]).is_some());
    }

    #[test]
    fn a_valid_position_after_an_invalid_one_is_valid() {
        assert!(after(&["position fen nonsense", "position startpos moves e2e5", "position"]).is_none());
        assert!(after(&["position startpos moves e2e5", "position startpos moves e2e5 e7e5"]).is_none());
        assert!(after(&["position startpos moves e2e5", "position startpos moves e2e4"]).is_some());
    }

    #[test]
    fn castling_is_read_according_to_the_mode() {
        let line = b"position fen k7/8/8/8/8/8/8/1R2K1R1 w GB - 0 1 moves e1g1";
        let mut board = Board::new();
        board.set(line, CastlingMode::Standard);
        assert!(board.game().is_none());
        board.reread(CastlingMode::Chess960);
        assert!(board.game().unwrap().position().fen().starts_with("k7/8/8/8/8/8/8/1R3RK1"));
    }
}
