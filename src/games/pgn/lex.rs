//! The words of a text of games: tags, moves, comments, glyphs, parentheses, results.
//!
//! What a word means is up to the reader; where it begins and ends, and which texts are not words, is decided here, as
//! lenient programs do it: signs between moves are passed over, a result may be anywhere, and a game ends at an empty line
//! or where a line begins with a tag.
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use crate::games::GameResult;

/// The longest tag that is read, in bytes, from its bracket to the end of its value. The standard allows lines of 255; real
/// files have longer ones, with texts and addresses.
const MOST_TAG_LEN: usize = 1 << 13;

/// Dashes between the parts of a result, and of castling with zeros.
const DASHES: [&[u8]; 3] = [b"-", "–".as_bytes(), "—".as_bytes()];

/// A word among moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A move, in any notation, or decoration such as `+-` or `N`.
    Word(&'a [u8]),
    /// A comment in braces, without them.
    Comment(&'a [u8]),
    /// A glyph, by its number in the PGN standard (a *NAG*).
    Glyph(u8),
    /// A variation begins.
    Open,
    /// A variation ends.
    Close,
    /// A result; `None` for `*`.
    Result(Option<GameResult>),
    /// The moves end: at an empty line, before a head, or with the text.
    End,
    /// A comment has no end.
    Unterminated,
}

/// A tag: its name, and its value without escapes.
pub type Tag<'a> = (&'a [u8], Cow<'a, [u8]>);

/// A tag is too long or has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unterminated;

/// Reads a text word by word.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer of this text, from this byte on.
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// Bytes before the next word.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was not read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes to the end of the text.
    pub(crate) fn skip_all(&mut self) {
        self.at = self.text.len();
    }

    /// Passes over space, and lines for programs, to the next head or the next moves. Returns whether there are any.
    pub fn find_game(&mut self) -> bool {
        self.skip_space(true);
        if self.rest().starts_with("\u{feff}".as_bytes()) {
            self.at += 3;
            self.skip_space(true);
        }
        self.at < self.text.len()
    }

    /// The next tag of a head; `None` if moves begin.
    ///
    /// # Errors
    /// When it is too long or has no end. The text then goes on where it begins.
    pub fn tag(&mut self) -> Option<Result<Tag<'a>, Unterminated>> {
        while let [b'[', rest @ ..] = self.rest() {
            let line = rest.get(..MOST_TAG_LEN).unwrap_or(rest);
            // Names are short.
            let quote = line.iter().position(|byte| matches!(byte, b'"' | b'\n' | b']'));
            let Some(quote) = quote else { return Some(Err(Unterminated)) };
            if line.get(quote) != Some(&b'"') {
                self.at += 1 + quote;
                self.end_tag();
                continue;
            }
            let name = line.get(..quote).unwrap_or_default();
            let value = line.get(quote + 1..).unwrap_or_default();
            let (mut len, mut escaped) = (0, false);
            loop {
                let end = value.get(len..).and_then(|rest| memchr3(b'\\', b'"', b'\n', rest));
                let Some(end) = end else { return Some(Err(Unterminated)) };
                len += end;
                match value.get(len) {
                    Some(b'\\') => (len, escaped) = (len + 2, true),
                    // Many programs leave out the backslash.
                    Some(b'"') if !ends_tag(value.get(len + 1..).unwrap_or_default()) => len += 1,
                    _ => break,
                }
            }
            self.at += 1 + quote + 1 + len + usize::from(value.get(len) == Some(&b'"'));
            self.end_tag();
            let value = value.get(..len).unwrap_or_default();
            let value = if escaped { unescaped(value).into() } else { value.into() };
            return Some(Ok((name.strip_suffix(b" ").unwrap_or(name), value)));
        }
        None
    }

    /// Passes over the bracket after a tag, and the line end.
    fn end_tag(&mut self) {
        if let [b']', b'\n', b'[', ..] = self.rest() {
            self.at += 2;
            return;
        }
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        self.at += usize::from(self.rest().starts_with(b"]"));
        self.skip_space(false);
    }

    /// The next word among moves, and its offset in bytes.
    #[inline]
    pub fn next_word(&mut self) -> (usize, Token<'a>) {
        loop {
            let start = self.at;
            let Some(&byte) = self.text.get(start) else { return (start, Token::End) };
            self.at += 1;
            let token = match byte {
                b' ' | b'\t' | b'\r' | b'.' | b'}' => continue,
                b'\n' => {
                    if self.begins_line() {
                        continue;
                    }
                    Token::End
                }
                b'0'..=b'9' => match self.number(start) {
                    Some(token) => token,
                    None => continue,
                },
                b'{' => match memchr(b'}', self.rest()) {
                    Some(len) => {
                        self.at += len + 1;
                        Token::Comment(self.since(start + 1, 1))
                    }
                    None => {
                        self.skip_all();
                        Token::Unterminated
                    }
                },
                b'(' => Token::Open,
                b')' => Token::Close,
                b'*' => Token::Result(None),
                b'!' | b'?' => self.mark(byte),
                b'$' => {
                    self.skip_while(|byte| byte.is_ascii_digit());
                    let number = str::from_utf8(self.since(start + 1, 0)).ok();
                    let Some(number) = number.and_then(|number| number.parse().ok()) else { continue };
                    Token::Glyph(number)
                }
                b';' => {
                    self.skip_line();
                    continue;
                }
                _ => {
                    if byte == 0xc2
                        && let Some((result, len)) = result(self.text.get(start..).unwrap_or_default())
                    {
                        self.at = start + len;
                        return (start, Token::Result(Some(result)));
                    }
                    self.skip_word();
                    let word = self.since(start, 0);
                    // What follows most words.
                    self.at += usize::from(self.text.get(self.at) == Some(&b' '));
                    Token::Word(word)
                }
            };
            return (start, token);
        }
    }

    /// Passes over the rest of the moves without looking at them.
    pub fn skip_moves(&mut self) {
        if is_one_game(self.rest()) {
            return self.skip_all();
        }
        while let Some(found) = memchr3(b'\n', b'{', b';', self.rest()) {
            self.at += found + 1;
            match self.text.get(self.at - 1) {
                Some(b'{') => self.at += memchr(b'}', self.rest()).unwrap_or(self.rest().len()),
                Some(b';') => self.skip_line(),
                _ if self.begins_line() => {}
                _ => return,
            }
        }
        self.skip_all();
    }

    /// Goes to where a line of moves begins; `false` if the moves are over.
    fn begins_line(&mut self) -> bool {
        match self.rest() {
            [b'%', ..] => self.skip_line(),
            [b'\n' | b'[', ..] | [b'\r', b'\n', ..] => return false,
            _ => {}
        }
        true
    }

    /// What begins with a digit: a result, castling with zeros, or `None`: the number of a move.
    fn number(&mut self, start: usize) -> Option<Token<'a>> {
        self.skip_while(|byte| byte.is_ascii_digit());
        let text = self.text.get(start..).unwrap_or_default();
        // Most are numbers of moves.
        if matches!(self.text.get(self.at), Some(b'.')) && !text.starts_with(b"0") {
            self.at += 1;
            return None;
        }
        if let Some(b'-' | b'/' | 0xe2) = self.text.get(self.at)
            && let Some((result, len)) = result(text)
        {
            self.at = start + len;
            return Some(Token::Result(Some(result)));
        }
        // No move has the number 0 or 00.
        let castles = text.starts_with(b"0")
            && (text.starts_with(b"00")
                || DASHES.iter().any(|dash| joined(text, b"0", dash, b"0").is_some()));
        castles.then(|| {
            self.at = start;
            self.skip_word();
            Token::Word(self.since(start, 0))
        })
    }

    /// The glyph of one or two of the signs `!` and `?`.
    fn mark(&mut self, first: u8) -> Token<'a> {
        let second = self.rest().first().copied().filter(|byte| matches!(byte, b'!' | b'?'));
        self.at += usize::from(second.is_some());
        Token::Glyph(match (first, second) {
            (b'!', None) => 1,
            (_, None) => 2,
            (b'!', Some(b'!')) => 3,
            (b'?', Some(b'?')) => 4,
            (b'!', _) => 5,
            _ => 6,
        })
    }

    /// The text from a byte on, to this many bytes before the next word.
    fn since(&self, start: usize, before: usize) -> &'a [u8] {
        self.text.get(start..self.at - before).unwrap_or_default()
    }

    #[inline]
    fn skip_word(&mut self) {
        self.skip_while(|byte| !ENDS[usize::from(byte)]);
    }

    #[inline]
    fn skip_while(&mut self, is: impl Fn(u8) -> bool) {
        let rest = self.rest();
        self.at += rest.iter().position(|&byte| !is(byte)).unwrap_or(rest.len());
    }

    /// Goes to the end of the line.
    fn skip_line(&mut self) {
        self.at += memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
    }

    /// Passes over space, and over lines for programs.
    fn skip_space(&mut self, mut line_start: bool) {
        while let [byte, ..] = self.rest() {
            match byte {
                b'%' if line_start => self.skip_line(),
                b' ' | b'\t' | b'\r' | b'\n' => {
                    line_start |= *byte == b'\n';
                    self.at += 1;
                }
                _ => return,
            }
        }
    }
}

/// The bytes that end a word.
static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let bytes = b" \t\n\r{}()!?$;.*";
    let mut at = 0;
    while at < bytes.len() {
        ends[bytes[at] as usize] = true;
        at += 1;
    }
    ends
};

/// The result at the start of a text, and its length.
fn result(text: &[u8]) -> Option<(GameResult, usize)> {
    let results: [(&[u8], &[u8], GameResult); 4] = [
        (b"1", b"0", GameResult::White),
        (b"0", b"1", GameResult::Black),
        (b"1/2", b"1/2", GameResult::Draw),
        ("½".as_bytes(), "½".as_bytes(), GameResult::Draw),
    ];
    results.into_iter().find_map(|(left, right, result)| {
        Some((result, DASHES.iter().find_map(|dash| joined(text, left, dash, right))?))
    })
}

/// The length of two parts with a dash between them, if a text begins with them.
fn joined(text: &[u8], left: &[u8], dash: &[u8], right: &[u8]) -> Option<usize> {
    text.strip_prefix(left)?.strip_prefix(dash)?.strip_prefix(right)?;
    Some(left.len() + dash.len() + right.len())
}

/// Whether a text is what may follow the value of a tag.
fn ends_tag(text: &[u8]) -> bool {
    let next = text.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    next.is_none_or(|byte| matches!(byte, b']' | b'\n' | b'['))
}

/// A value without the backslashes before quotation marks and backslashes.
fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut rest = value.iter().copied().peekable();
    let mut plain = Vec::with_capacity(value.len());
    while let Some(byte) = rest.next() {
        let escaped = rest.next_if(|next| byte == b'\\' && matches!(next, b'\\' | b'"'));
        plain.push(escaped.unwrap_or(byte));
    }
    plain
}

/// Whether the rest of a text is that of one game, and has no lines for programs: nothing but space follows an empty line.
/// Nearly every text is such, and this is faster than to look for comments.
fn is_one_game(moves: &[u8]) -> bool {
    let mut rest = moves;
    while let Some(found) = memchr(b'\n', rest) {
        rest = rest.get(found + 1..).unwrap_or_default();
        match rest {
            [b'[' | b'%', ..] => return false,
            [b'\n' | b'\r', ..] => {
                return rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests;
