//! The order of moves: where a number and the next one do not fit, a move was lost, or it belongs to another game.

use std::cmp::Ordering;

use shakmaty::Position as _;
use tabiya_base::bytes::Parts as _;
use tabiya_chess::may_be_move;

use super::lex::{NO_NUMBER, Token};
use super::look::memrchr;
use super::numbers::{Misnumbered, Ply};
use super::read::GameReader;
use crate::Reason;

/// The most digits of a number.
const MAX_DIGITS: usize = 4;

impl GameReader<'_> {
    /// Whether the number before a move is that of the position, if there is one.
    #[inline]
    pub(super) fn number_fits(&mut self) -> bool {
        let at = std::mem::replace(&mut self.lexer.number, NO_NUMBER);
        at == NO_NUMBER || self.is_expected() || self.fits(at)
    }

    /// Whether the number and its dots are those that nearly every move has.
    #[inline]
    fn is_expected(&self) -> bool {
        let (chess, numbering) = (self.position.chess(), self.game.numbering);
        numbering.offset == Some(0)
            && self.lexer.dotted == chess.fullmoves().get()
            && (!self.lexer.is_blacks || numbering.has_dots && chess.turn().is_black())
    }

    #[cold]
    fn fits(&mut self, at: usize) -> bool {
        let Some((number, dots)) = self.number(at) else { return true };
        let numbering = &mut self.game.numbering;
        if dots == 0 && numbering.has_dots {
            return true;
        }
        let ply = Ply::of(&self.position);
        // The head of a set-up position may number its moves in its own way.
        let is_free = self.header.start.is_some() || numbering.passed;
        let offset = numbering.offset.unwrap_or(if is_free { number - ply.number } else { 0 });
        let fits = ply.has(number - offset, dots);
        if dots == 0 && !fits && numbering.offset.is_none() {
            // The first number has no dot: it may be none.
            return true;
        }
        (numbering.offset, numbering.has_dots) = (Some(offset), dots > 0);
        if fits || self.next_fits(ply, offset) {
            return true;
        }
        if ply.turn.is_white()
            && number - offset == ply.number + 1
            && self.follows_placeholder(at, number - 1)
        {
            self.game.numbering.offset = Some(offset + 1);
            return true;
        }
        let goes_on = self.lines.after_line_around().is_some_and(|at| Ply::of(at).has(number - offset, dots));
        self.game.misnumbered = match (number - offset).cmp(&ply.number) {
            _ if goes_on => Misnumbered::GoesOn,
            Ordering::Less => Misnumbered::Back,
            _ => Misnumbered::Missing,
        };
        false
    }

    /// Whether another number, dots and perhaps a comment precede this byte, without a move: Arena writes them where a player
    /// did not make it.
    #[cold]
    fn follows_placeholder(&self, at: usize, number: i32) -> bool {
        let text = self.batch.piece.text.part(self.game_start..at).trim_ascii_end();
        let text = match text.strip_suffix(b"}") {
            Some(comment) => comment.part(..memrchr(b'{', comment).unwrap_or(0)).trim_ascii_end(),
            None => text,
        };
        let Some(text) = text.strip_suffix(b"...") else { return false };
        let text = text.trim_ascii_end();
        let text = text.strip_suffix(b".").unwrap_or(text);
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = self.game_start + text.len() - digits;
        digits > 0 && self.number(start).is_some_and(|(found, _)| found == number)
    }

    /// Whether the next number of the line fits, if this move is the one of this ply: then the number before it is an error of
    /// writing, and no move is missing.
    #[cold]
    fn next_fits(&self, mut ply: Ply, offset: i32) -> bool {
        let mut lexer = self.lexer.clone();
        let mut depth = 0_u32;
        loop {
            match lexer.next_word().1 {
                Token::Word(_) if depth > 0 => lexer.number = NO_NUMBER,
                Token::Word(word) if may_be_move(word) => {
                    ply = ply.next();
                    let found = (lexer.number != NO_NUMBER).then(|| self.number(lexer.number)).flatten();
                    if let Some((number, dots)) = found
                        && (dots > 0 || !self.game.numbering.has_dots)
                    {
                        return ply.has(number - offset, dots);
                    }
                    lexer.number = NO_NUMBER;
                }
                Token::Open => depth += 1,
                Token::Close => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if self.lines.is_inside() => return false,
                    None => {}
                },
                Token::Result(_) if depth == 0 => return false,
                Token::End | Token::Unterminated | Token::Zero => return false,
                _ => {}
            }
        }
    }

    /// The number that begins here, and the dots after it; `None` if no move has it.
    fn number(&self, at: usize) -> Option<(i32, usize)> {
        let text = self.batch.piece.text.get(at..)?;
        if at > 0 && self.batch.piece.text.get(at - 1) == Some(&b'.') {
            // These are digits after a decimal point.
            return None;
        }
        let (mut number, mut digits) = (0_i32, 0);
        for byte in text.iter().take(MAX_DIGITS).take_while(|byte| byte.is_ascii_digit()) {
            (number, digits) = (number * 10 + i32::from(byte - b'0'), digits + 1);
        }
        let rest = text.get(digits..)?;
        if rest.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let after = rest.iter().take_while(|byte| matches!(byte, b'.' | b' '));
        Some((number, after.filter(|byte| **byte == b'.').count()))
    }

    /// Ends the present line before a move that has the number of another, or comes after the result.
    #[cold]
    pub(super) fn end_out_of_order(&mut self, at: usize, word: &str, why: &str) {
        self.end_line(at, Reason::OutOfOrder, word, why);
    }
}
