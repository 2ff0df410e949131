//! Moves as people write them: in SAN, in UCI notation or another, with or without numbers, separated by spaces or commas.

use std::fmt;

use shakmaty::Move;
use shakmaty::san::San;
use shakmaty::uci::UciMove;

use super::written::meant;
use super::{Game, Position, ReadMoveError, is_blank, read_move};

/// Why a word is no move of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveErrorKind {
    /// It is not a legal move, or not a move at all.
    Illegal,
    /// It can be several legal moves, which are given in SAN.
    Ambiguous(Vec<String>),
}

/// A word among moves that is not a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveError {
    /// The word as it was written.
    pub word: String,
    /// The number of the move, from 1.
    pub number: usize,
    /// The position before the move.
    pub fen: String,
    pub kind: MoveErrorKind,
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, number, fen, kind } = self;
        write!(f, "\"{word}\", number {number}, ")?;
        match kind {
            MoveErrorKind::Illegal => write!(f, "is not a legal move in {fen}"),
            MoveErrorKind::Ambiguous(moves) => {
                write!(f, "is ambiguous: it can be {} in {fen}", moves.join(" or "))
            }
        }
    }
}

/// Plays moves from text, up to the first word that is not a move.
///
/// Numbers such as `1.` and `3...`, marks such as `!?` and a result at the end are skipped.
///
/// ```
/// use tabiya_chess::{Game, notation};
/// let mut game = Game::start();
/// notation::play("1. e4 c5, 2.Nf3 b8c6", &mut game).unwrap();
/// assert_eq!(game.moves().len(), 4);
/// ```
///
/// # Errors
/// The first word that is not a legal move.
pub fn play(text: &str, game: &mut Game) -> Result<(), MoveError> {
    for word in words(text) {
        let mv = read(word, game.position()).map_err(|kind| MoveError {
            word: word.to_owned(),
            number: game.moves().len() + 1,
            fen: game.position().fen(),
            kind,
        })?;
        game.push(mv);
    }
    Ok(())
}

/// The words of a text of moves, without numbers, marks and results.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| is_blank(c) || c == ',');
    parts.map(bare).filter(|word| !matches!(*word, "" | "*" | "1-0" | "0-1" | "1/2-1/2"))
}

/// A word without the number before it and the marks after it.
fn bare(word: &str) -> &str {
    let word = word.trim_end_matches(['!', '?']);
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = rest.trim_start_matches(['.', '\u{2026}']);
    // Digits alone are a number without its dot; others begin a word, such as castling with zeros.
    if after.len() < rest.len() || rest.is_empty() { after } else { word }
}

/// The legal move that a word describes, in any form that [`read_move`] reads, or in UCI notation in any letter case.
///
/// # Errors
/// When no legal move fits, or several do.
pub fn read(word: &str, at: &Position) -> Result<Move, MoveErrorKind> {
    let chess = at.chess();
    let mut lower = word.to_ascii_lowercase();
    // The piece of a drop is a capital letter.
    if let Some(piece) = lower.get_mut(..1).filter(|_| word.contains('@')) {
        piece.make_ascii_uppercase();
    }
    let uci = UciMove::from_ascii(lower.as_bytes()).ok();
    if let Some(mv) = uci.and_then(|uci| uci.to_move(chess).ok()) {
        return Ok(mv);
    }
    read_move(word, at).map_err(|error| match error {
        ReadMoveError::Ambiguous => {
            let meant = meant(word, at).into_iter().flatten();
            MoveErrorKind::Ambiguous(meant.map(|mv| San::from_move(chess, mv).to_string()).collect())
        }
        _ => MoveErrorKind::Illegal,
    })
}

/// The parts of a text between separators that are not within quotation marks, as the operations of EPD are.
pub fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let is_separator = move |letter: char| {
        quoted ^= letter == '"';
        letter == separator && !quoted
    };
    text.split(is_separator).map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Result<String, MoveError> {
        let mut game = Game::start();
        play(text, &mut game)?;
        Ok(game
            .moves()
            .iter()
            .map(|mv| mv.to_uci(shakmaty::CastlingMode::Standard).to_string() + " ")
            .collect())
    }

    #[test]
    fn moves_are_read_as_people_write_them() {
        let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 ";
        for text in [
            "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
            "e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1h1",
            "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O",
            "1.e4 e5 2.Nf3!? Nc6! 3.Bc4 Bc5 4.0-0 *",
            "1 e4 e5, 2 Nf3 Nc6, 3 Bc4 Bc5, 4 O-O 1-0",
            "1.\u{a0}e4\u{200b} e5\u{2028}2.\u{85}Nf3 Nc6\u{feff} 3. Bc4 Bc5 4. O-O",
            "  1. e4 1... e5 2.Nf3 2...Nc6\n3. Bc4 \u{2026}Bc5 4. O-O  ",
        ] {
            assert_eq!(after(text).as_deref(), Ok(line), "{text}");
        }
        assert_eq!(after("E2E4 e7-e5 \u{2658}f3 B8C6 Bf1-c4 Bf8c5 o-o").as_deref(), Ok(line));
        assert_eq!(after("").as_deref(), Ok(""));
        let promoted = after("e4 d5 exd5 c6 dxc6 Nf6 cxb7 Nd5 bxa8=N");
        assert!(promoted.unwrap().ends_with("b7a8n "));
    }

    #[test]
    fn a_word_that_is_no_move_is_reported_with_its_place_and_reason() {
        let wrong = |text| after(text).unwrap_err().to_string();
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(wrong("1. e5"), format!("\"e5\", number 1, is not a legal move in {start}"));
        assert_eq!(wrong("x4"), format!("\"x4\", number 1, is not a legal move in {start}"));
        assert!(wrong("e2e4 e2e4").starts_with("\"e2e4\", number 2, is not a legal move in rnbq"));
        assert!(
            wrong("d4 d5 Nf3 e6 Nd2")
                .starts_with("\"Nd2\", number 5, is ambiguous: it can be Nbd2 or Nfd2 in ")
        );
        // A small b is a file, and a large one is not.
        assert!(wrong("b4 a5 Ba5").starts_with("\"Ba5\", number 3, is not a legal move in "));
    }
}
