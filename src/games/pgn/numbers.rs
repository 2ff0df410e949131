//! The numbers before moves. Where one does not fit, a move before it was lost, or it belongs to another game.

use shakmaty::{Color, Position as _};

use super::lex::NO_NUMBER;
use super::read::GameReader;
use crate::games::Reason;

/// The most digits of a number.
const MOST_DIGITS: usize = 4;

/// How a game numbers its moves.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbering {
    /// By how much its numbers differ from those of its positions, as far as known.
    offset: Option<i32>,
    /// Whether a side passed: positions do not count that.
    passed: bool,
    /// Whether a number had a dot: then one without is not that of a move.
    has_dots: bool,
}

impl Numbering {
    /// Whether moves have numbers.
    pub fn has_numbers(self) -> bool {
        self.offset.is_some()
    }

    /// Forgets by how much numbers differ: a side passed.
    pub fn restart(&mut self) {
        (self.offset, self.passed) = (None, true);
    }
}

impl GameReader<'_> {
    /// Whether the number before a move is that of the position, if there is one.
    #[inline]
    pub(super) fn number_fits(&mut self) -> bool {
        let at = std::mem::replace(&mut self.lexer.number, NO_NUMBER);
        at == NO_NUMBER || self.fits(at)
    }

    fn fits(&mut self, at: usize) -> bool {
        let text = self.batch.piece.text.get(at..).unwrap_or_default();
        let (mut number, mut digits) = (0_i32, 0);
        for byte in text.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()) {
            (number, digits) = (number * 10 + i32::from(byte - b'0'), digits + 1);
        }
        let rest = text.get(digits..).unwrap_or_default();
        if rest.first().is_some_and(u8::is_ascii_digit) {
            return true;
        }
        let dots =
            rest.iter().take_while(|byte| matches!(byte, b'.' | b' ')).filter(|byte| **byte == b'.').count();
        let numbering = &mut self.game.numbering;
        if dots == 0 && numbering.has_dots {
            return true;
        }
        let chess = self.position.chess();
        let difference = number - i32::try_from(chess.fullmoves().get()).unwrap_or(i32::MAX);
        // The head of a set-up position may number its moves in its own way.
        let offset = numbering.offset.unwrap_or(if self.header.start.is_some() || numbering.passed {
            difference
        } else {
            0
        });
        let is_black = dots > 2;
        let fits = difference == offset && !(is_black && chess.turn() == Color::White);
        if dots == 0 && !fits && numbering.offset.is_none() {
            // The first number has no dot: it may be none.
            return true;
        }
        (numbering.offset, numbering.has_dots) = (Some(offset), dots > 0);
        fits
    }

    /// Ends the present line before a move that has the number of another, or comes after the result.
    #[cold]
    pub(super) fn end_out_of_order(&mut self, at: usize, word: &str, why: &str) {
        self.end_line(at, Reason::OutOfOrder, word, why);
    }
}
