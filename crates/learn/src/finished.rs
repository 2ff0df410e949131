//! A game to be learned: what was played and who won.

use tabiya_base::bytes::Parts as _;

use shakmaty::{ByColor, Color, KnownOutcome, Move, Position as _, Square};

use tabiya_chess::MoveCode;
use tabiya_chess::Position;

use super::field::halfpoints;
use super::identity::Id;
use super::journal::{GameRecord, LearnedGame, MAX_NOTE};

/// Moves of a game that its record keeps, for people to read.
const FIRST_MOVES: usize = 24;

/// Bytes of a record's note before the tab.
const MAX_TITLE: usize = MAX_NOTE - 2 * FIRST_MOVES - 1;

/// The characters of the squares from a1, b1 to h8.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A game that is over.
#[derive(Clone, Debug)]
pub struct FinishedGame {
    /// The position in which it began.
    pub start: Position,
    /// Its moves, each legal in its position.
    pub moves: Vec<Move>,
    /// How many moves come before the first one that is learned: an opening that neither side chose.
    pub first: usize,
    /// Whose moves are learned.
    pub sides: ByColor<bool>,
    pub result: KnownOutcome,
    /// Its name, for people to read; the journal keeps the first 206 bytes.
    pub note: String,
}

/// A finished game and its identity.
#[derive(Clone, Debug)]
pub struct IdentifiedGame {
    /// A game whose identity is in the journal is not learned again.
    pub id: Id,
    pub game: FinishedGame,
    pub source: Source,
}

/// Who says what the result of a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The rules of chess, while it was played.
    Board,
    /// The scores of an engine, while it was played: a guess.
    Scores,
    /// A file.
    File,
    /// A file in which the game has no result: the result of the [`FinishedGame`] does not count, and what was guessed is taken
    /// back.
    Unfinished,
}

/// A move of a side that learns: where it was played, how a book may write it, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The key of the position.
    pub key: u64,
    /// The codes that a book can have for the move.
    pub codes: [MoveCode; 2],
    /// Half-points of the mover.
    pub halfpoints: u16,
    pub color: Color,
}

impl Source {
    /// Whether it is a file.
    pub(crate) fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Unfinished)
    }
}

impl FinishedGame {
    /// The game with its identity, and a result that the board shows.
    pub fn identified(self, id: Id) -> IdentifiedGame {
        self.said_by(Source::Board, id)
    }

    /// The game with its identity, and with who says what its result is.
    pub fn said_by(self, source: Source, id: Id) -> IdentifiedGame {
        IdentifiedGame { id, game: self, source }
    }

    /// The sides as the journal writes them.
    pub(crate) fn sides_bits(&self) -> u8 {
        u8::from(self.sides.white) | u8::from(self.sides.black) << 1
    }

    /// The note of the game's record: the note of the game, cut if it is too long; and if the game began in the usual
    /// position, a tab and its first moves, two characters each, up to the first promotion.
    pub fn record_note(&self) -> String {
        let title = self.note.part(..self.note.floor_char_boundary(MAX_TITLE));
        let mut note = title.replace(char::is_control, " ");
        if self.start.chess() == Position::start().chess() {
            note.push('\t');
            let moves = self.moves.iter().take(FIRST_MOVES).take_while(|mv| !mv.is_promotion());
            for mv in moves {
                note.extend(mv.from().into_iter().chain([mv.to()]).map(letter));
            }
        }
        note
    }

    /// The moves of the sides that learn, each position and move once. The half-points are those of the mover.
    pub fn played(&self) -> Vec<PlayedMove> {
        let mut played: Vec<PlayedMove> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut position = self.start.clone();
        for (ply, &mv) in self.moves.iter().enumerate() {
            if !position.chess().is_legal(mv) {
                break;
            }
            let color = position.chess().turn();
            if ply >= self.first && *self.sides.get(color) {
                let codes = MoveCode::codes(mv, position.chess());
                if seen.insert((position.key(), codes[0])) {
                    let halfpoints = halfpoints(self.result, color);
                    played.push(PlayedMove { key: position.key(), codes, halfpoints, color });
                }
            }
            position.play(mv);
        }
        played
    }
}

impl GameRecord {
    /// The record with the result that a file says.
    pub(crate) fn corrected(self, known: &LearnedGame) -> Self {
        let result = known.known_result().unwrap_or(self.result);
        let mut note = self.note;
        if result != self.result {
            let at = note.find('\t').unwrap_or(note.len());
            note.insert_str(at, "; corrected");
        }
        Self { result, guess: known.is_guess(), note, ..self }
    }

    /// The name of the game.
    pub fn title(&self) -> &str {
        self.note.split_once('\t').map_or(&*self.note, |(title, _)| title)
    }

    /// Its first moves from the usual position, as far as the record keeps them.
    pub fn first_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut chess = shakmaty::Chess::default();
        let text = self.note.split_once('\t').map_or("", |(_, moves)| moves);
        for &[from, to] in text.as_bytes().as_chunks().0 {
            let found = chess.legal_moves().into_iter().find(|mv| {
                mv.from().is_some_and(|square| letter(square) == char::from(from))
                    && letter(mv.to()) == char::from(to)
            });
            let Some(mv) = found else { break };
            chess.play_unchecked(mv);
            moves.push(mv);
        }
        moves
    }
}

fn letter(square: Square) -> char {
    LETTERS.get(usize::from(square)).copied().map_or('?', char::from)
}

#[cfg(test)]
mod tests {
    use tabiya_chess::Game;

    use super::*;

    fn game(moves: &str, sides: ByColor<bool>) -> FinishedGame {
        let mut game = Game::start();
        moves.split(' ').for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
        FinishedGame {
            start: Position::start(),
            moves: game.moves().to_vec(),
            first: 0,
            sides,
            result: KnownOutcome::Decisive { winner: Color::White },
            note: String::new(),
        }
    }

    #[test]
    fn the_moves_of_the_side_that_learns_are_those_played() {
        let both = ByColor { white: true, black: true };
        for (sides, count) in [
            (both, 5),
            (ByColor { white: true, black: false }, 3),
            (ByColor { white: false, black: true }, 2),
        ] {
            let game = game("e2e4 e7e5 g1f3 b8c6 f1c4", sides);
            let played = game.played();
            assert_eq!(played.len(), count);
            assert!(played.iter().all(|ply| ply.halfpoints == ply.color.fold_wb(2, 0)));
        }
    }

    #[test]
    fn a_position_that_is_repeated_counts_once() {
        let sides = ByColor { white: true, black: false };
        assert_eq!(game("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 e2e4", sides).played().len(), 3);
    }

    fn record(note: String) -> GameRecord {
        GameRecord { id: [0; 16], sides: 1, result: 1, guess: false, time: 0, note, changes: vec![] }
    }

    #[test]
    fn a_note_is_cut_between_letters_and_has_the_first_moves() {
        let both = ByColor { white: true, black: true };
        let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8";
        let mut game = game(&[line, &" f3g5 f6g4 g5f3 g4f6".repeat(5)].concat(), both);
        game.note = format!("a\tb{}", "ö".repeat(200));
        let record = record(game.record_note());
        assert_eq!((record.note.len(), record.title().len()), (254, 205));
        assert!(record.title().starts_with("a bö") && record.title().ends_with('ö'));
        assert_eq!(record.first_moves(), game.moves[..24]);
    }

    #[test]
    fn a_note_without_moves_is_a_title() {
        let mut game = game("e2e4", ByColor { white: true, black: true });
        game.note = "one".to_owned();
        game.start = game.start.after(game.moves[0]);
        game.moves.clear();
        for note in [game.record_note(), "one\t??".to_owned(), "one\tA".to_owned()] {
            let record = record(note);
            assert_eq!((record.title(), record.first_moves().len()), ("one", 0));
        }
    }
}
