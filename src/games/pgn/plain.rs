//! Plain games, which nearly all are: read in one pass, without the PGN reader.
//!
//! A plain game has a head of well-formed tags, a result in it, the ordinary starting position, and moves in plain notation
//! with numbers, comments in braces and glyphs between them. What is anything else is found before the visitor has received a
//! move, and is left to the PGN reader and [`words`](super::words), which know every oddity; a plain game gives the same
//! either way.
//!
//! Only the moves that are wanted are looked at. After them, the text is searched for a second game, and no more.
//!
//! With this and [`plain_move`], a build on one thread takes 64 % of the processor time that it takes without: 1.95 s instead of
//! 2.94 s for the 145,716 games of Debian's gnuchess-book. Of 60,000 games with an evaluation and a clock after each move
//! (`benches/lichess_games.py`, not compressed), 16 plies take 55 %, and 40 plies 65 %.

use std::borrow::Cow;

use memchr::memchr;

use super::read::GameReader;
use crate::chess::{MoveCode, Position, plain_move};
use crate::games::{End, KeyedPly};

/// The longest line of a head that is plain.
const MOST_TAG_LEN: usize = 1 << 12;

/// What ends a game before the end of its text, or where it is not plain.
struct NotPlain;

impl GameReader<'_> {
    /// Takes the game in the slice if it is plain. Otherwise nothing was taken, except perhaps that the visitor wants it.
    pub(super) fn take_plain(&mut self) -> bool {
        let Some(most) = self.keyed_plies.filter(|_| !self.wants_remarks && self.variations.is_none()) else {
            return false;
        };
        let (start, end) = (self.at, self.slice_end);
        let slice = self.batch.piece.text.get(start..end).unwrap_or_default();
        if self.is_cut() || !slice.starts_with(b"[") {
            return false;
        }
        self.prepare();
        let Some(moves) = self.plain_head(slice).and_then(|at| slice.get(at..)) else {
            return self.give_back();
        };
        if self.header.result.is_none() || !self.is_ordinary() || !is_one_game(moves) {
            return self.give_back();
        }
        if self.begin_plain() {
            if self.plain_moves(moves, most).is_err() {
                return self.give_back();
            }
            self.visitor.keyed_line(&self.plies);
            self.visitor.end(End { result: self.header.result, error: None, cut: None });
        }
        self.end_plain();
        self.at = end;
        true
    }

    /// Takes the tags of a plain head, and returns where the moves begin.
    fn plain_head(&mut self, slice: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            match slice.get(at)? {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'[' => {
                    let rest = slice.get(at + 1..)?;
                    let len = memchr(b'\n', rest)?;
                    let line = rest.get(..len)?;
                    at += len + 2;
                    let tag = line.strip_suffix(b"\r").unwrap_or(line).strip_suffix(b"\"]")?;
                    let quote = memchr(b'"', tag)?;
                    let (name, value) = (tag.get(..quote)?.strip_suffix(b" ")?, tag.get(quote + 1..)?);
                    let is_plain = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                        && memchr::memchr2(b'"', b'\\', value).is_none()
                        && line.len() < MOST_TAG_LEN;
                    if !is_plain {
                        return None;
                    }
                    self.take_tag(name, value, &|| Cow::Borrowed(value));
                }
                b'%' => return None,
                _ => return (at > 0).then_some(at),
            }
        }
    }

    /// Reads the first moves, at most this many.
    fn plain_moves(&mut self, text: &[u8], most: usize) -> Result<(), NotPlain> {
        self.plies.clear();
        let mut position = Position::start();
        let mut words = Words { text, at: 0 };
        while self.plies.len() < most {
            let Some(word) = words.next()? else { break };
            let mv = plain_move(word, position.chess()).ok_or(NotPlain)?;
            let side = shakmaty::Position::turn(position.chess());
            self.plies.push(KeyedPly { key: position.key(), side, mv: MoveCode::from_move(mv) });
            position.play(mv);
        }
        Ok(())
    }
}

/// Whether a text after a head is that of one game, and has no lines for programs: nothing but space follows an empty line.
fn is_one_game(moves: &[u8]) -> bool {
    let mut from = 0;
    while let Some(found) = memchr(b'\n', moves.get(from..).unwrap_or_default()) {
        let rest = moves.get(from + found + 1..).unwrap_or_default();
        match rest {
            [b'[' | b'%', ..] => return false,
            [] => return true,
            [b'\n' | b'\r', ..] => return rest.iter().copied().all(is_space),
            _ => from += found + 1,
        }
    }
    true
}

/// Whether a byte is space for the PGN reader.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The moves of a plain text.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next word that is to be a move; `None` at the end.
    fn next(&mut self) -> Result<Option<&'a [u8]>, NotPlain> {
        loop {
            let Some(byte) = self.peek() else { return Ok(None) };
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b'!' | b'?' => self.at += 1,
                b'{' => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    self.at += memchr(b'}', rest).ok_or(NotPlain)? + 1;
                }
                b'1'..=b'9' => self.number()?,
                b'a'..=b'h' | b'B' | b'K' | b'N' | b'O' | b'Q' | b'R' => return Ok(Some(self.word())),
                b'0' | b'*' => self.result()?,
                b'$' => {
                    self.at += 1;
                    self.digits();
                    self.word_ends()?;
                }
                _ => return Err(NotPlain),
            }
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// Skips the number of a move, or a result that begins like one.
    fn number(&mut self) -> Result<(), NotPlain> {
        let start = self.at;
        self.digits();
        match self.peek() {
            Some(b'-' | b'/') => {
                self.at = start;
                self.result()
            }
            Some(b'.') => {
                while self.peek() == Some(b'.') {
                    self.at += 1;
                }
                Ok(())
            }
            _ => self.word_ends(),
        }
    }

    fn result(&mut self) -> Result<(), NotPlain> {
        let word = self.word();
        if [&b"1-0"[..], b"0-1", b"1/2-1/2", b"*"].contains(&word) { Ok(()) } else { Err(NotPlain) }
    }

    /// Checks that a space, or the end, comes now.
    fn word_ends(&self) -> Result<(), NotPlain> {
        if self.peek().is_none_or(is_space) { Ok(()) } else { Err(NotPlain) }
    }

    /// Everything up to a space, a glyph or a comment.
    fn word(&mut self) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'!' | b'?' | b'{');
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
