//! The words of a text of games: tags, moves, comments, glyphs, parentheses, results.
//!
//! What a word means is up to the reader; where it begins and ends, and which texts are not words, is decided here, as
//! lenient programs do it: signs between moves are passed over, a result may be anywhere, and a game ends at an empty line
//! or where a line begins with a tag.
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

pub(super) mod heads;
pub(super) mod tags;

use tabiya_base::bytes::Parts as _;

use std::borrow::Cow;

use super::look::{self, Finder, Needle, memchr, memchr2, memchr3, memrchr2};
use heads::{FIRST_TAG, bracket_lines, next_head, tag_lines};
use tabiya_chess::{DASHES, char_at, is_blank, is_invisible, is_san, trim_blanks};

use crate::GameResult;

/// The longest tag that is read, in bytes, from its bracket to the end of its value. The standard allows lines of 255; real
/// files have longer ones, with texts and addresses.
const MAX_TAG_LEN: usize = 1 << 13;

/// A word among moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// A zero byte: nothing around it is certain.
    Zero,
}

/// A tag: its name, and its value without escapes.
pub type Tag<'a> = (&'a [u8], Cow<'a, [u8]>);

/// A tag has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unterminated;

/// What precedes a tag, or comes instead of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// At most a line end.
    Nothing,
    /// Empty lines, comments, or text without moves.
    Apart,
    /// Text that may be of the game.
    Text,
    /// No tag follows, but moves, or text that may have them.
    Moves,
    /// No tag follows, because the text ends.
    EndOfText,
}

/// Reads a text word by word.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// The text goes on to here, if a comment does that began before its end.
    whole: &'a [u8],
    /// Whether an empty line follows the last tag.
    apart: bool,
    /// Whether the game has a result, so that another may begin at any line.
    pub(super) ended: bool,
    /// Where the number of the next move begins, or [`NO_NUMBER`].
    pub(super) number: usize,
    /// That number, if it is written as nearly all are: with one dot. Else 0.
    pub(super) dotted: u32,
    /// Whether it has three dots instead, as Black's move may have.
    pub(super) is_blacks: bool,
    /// The offset of the next closing brace, once it was looked for; `usize::MAX` if there is none.
    close: usize,
    /// The same of the next [`TAG_END`].
    tag_end: usize,
}

/// The place of a number that does not exist.
pub(super) const NO_NUMBER: usize = usize::MAX;

impl<'a> Lexer<'a> {
    /// A lexer of this text, from this byte on.
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self::within(text, at, text.len())
    }

    /// A lexer of a part of this text; of more of it, if the end of the part is within a comment.
    pub(crate) fn within(whole: &'a [u8], at: usize, end: usize) -> Self {
        Self {
            text: whole.get(..end).unwrap_or(whole),
            at,
            whole,
            apart: false,
            ended: false,
            number: NO_NUMBER,
            dotted: 0,
            is_blacks: false,
            close: 0,
            tag_end: 0,
        }
    }

    /// Where the text ends.
    pub(crate) fn end(&self) -> usize {
        self.text.len()
    }

    /// Goes on with the next part of the text, if the end of this one is within a comment that ends there: no other begins
    /// before.
    #[cold]
    fn extend(&mut self) -> bool {
        let end = self.text.len();
        let more = self.whole.part(end..);
        let Some(brace) = memchr2(b'{', b'}', more).filter(|at| more.get(*at) == Some(&b'}')) else {
            return false;
        };
        self.extend_to(next_head(self.whole, end + brace));
        true
    }

    /// Goes on with the next part of the text, whose first tag may belong to the same head as the end of this one.
    #[cold]
    pub(crate) fn extend_head(&mut self) -> bool {
        let end = self.text.len();
        if end >= self.whole.len() {
            return false;
        }
        self.extend_to(next_head(self.whole, end));
        true
    }

    /// Lets the text go on to here, or to its very end.
    fn extend_to(&mut self, end: Option<usize>) {
        self.text = end.and_then(|end| self.whole.get(..end)).unwrap_or(self.whole);
        (self.close, self.tag_end) = (0, 0);
    }

    /// Goes back to this byte.
    pub(crate) fn go_back_to(&mut self, at: usize) {
        (self.at, self.number, self.close, self.tag_end) = (at, NO_NUMBER, 0, 0);
    }

    /// Whether an empty line follows the last tag.
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// Bytes before the next word.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was not read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.part(self.at..)
    }

    /// Goes to the end of the text.
    pub(crate) fn skip_all(&mut self) {
        self.at = self.text.len();
    }

    /// Passes over space, and lines for programs, to the next head or the next moves. Returns whether there are any.
    pub fn find_game(&mut self) -> bool {
        self.skip_space(true);
        self.at < self.text.len()
    }

    /// The next tag of a head, as of [`Lexer::tag`], if it is written as the standard has it, without escapes, and the next one
    /// follows. `None`, and nothing is read, where it may be something else.
    #[inline]
    pub(super) fn usual_tag(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let line = self.rest().strip_prefix(b"[")?;
        let line = line.get(..MAX_TAG_LEN).unwrap_or(line);
        let (name, rest) =
            line.split_at_checked(tags::name_len(line)).filter(|(name, _)| !name.is_empty())?;
        let value = rest.strip_prefix(b" \"")?;
        let len = memchr3(b'\\', b'"', b'\n', value)?;
        let (value, after) = value.split_at_checked(len)?;
        if !after.starts_with(b"\"]\n[") {
            return None;
        }
        self.apart = false;
        self.at += 1 + name.len() + 2 + len + 3;
        Some((name, value))
    }

    /// The next tag of a head; `None` if moves begin.
    ///
    /// # Errors
    /// When it has no end. The text then goes on where it begins. Of a tag that is too long the value is `?`.
    pub fn tag(&mut self) -> Option<Result<Tag<'a>, Unterminated>> {
        while let [b'[', rest @ ..] = self.rest() {
            let line = rest.get(..MAX_TAG_LEN).unwrap_or(rest);
            // Names are short, and most tags are written as the standard has them.
            let name_len = tags::name_len(line);
            let is_standard = name_len > 0 && line.part(name_len..).starts_with(b" \"");
            let quote = match is_standard {
                true => Some(name_len + 1),
                false => line.iter().position(|byte| matches!(byte, b'"' | b'\n' | b']')),
            };
            let Some(quote) = quote else {
                if !self.pass_line() {
                    return Some(Err(Unterminated));
                }
                continue;
            };
            let name = line.part(..quote);
            let name = name.strip_suffix(b" ").unwrap_or(name);
            if !is_standard && (line.get(quote) != Some(&b'"') || !tags::is_name(name)) {
                let whole = line.part(..memchr(b'\n', line).unwrap_or(line.len()));
                match tags::written_otherwise(whole) {
                    Some((name, value, len)) => {
                        self.at += 1 + len;
                        self.end_tag();
                        return Some(Ok((name, value.into())));
                    }
                    None => {
                        self.at += 1 + tags::len_without_meaning(whole);
                        self.end_tag();
                        continue;
                    }
                }
            }
            let value = line.part(quote + 1..);
            let (mut len, mut escaped) = (0, false);
            loop {
                let end = value.get(len..).and_then(|rest| memchr3(b'\\', b'"', b'\n', rest));
                let Some(end) = end else {
                    return Some(if self.pass_line() {
                        Ok((name, UNKNOWN.into()))
                    } else {
                        Err(Unterminated)
                    });
                };
                len += end;
                match value.get(len) {
                    Some(b'\\') => (len, escaped) = (len + 2, true),
                    // Many programs leave out the backslash.
                    Some(b'"') if !ends_tag(value.part(len + 1..)) => len += 1,
                    _ => break,
                }
            }
            self.at += 1 + quote + 1 + len + usize::from(value.get(len) == Some(&b'"'));
            self.end_tag();
            let value = value.part(..len);
            let value = if escaped { unescaped(value).into() } else { value.into() };
            return Some(Ok((name, value)));
        }
        None
    }

    /// Passes over the line of a tag that is too long; `false` if it has no end.
    #[cold]
    fn pass_line(&mut self) -> bool {
        let len = memchr(b'\n', self.rest());
        self.at += len.unwrap_or_default();
        self.end_tag();
        len.is_some()
    }

    /// Passes over the bracket after a tag, and the line end.
    fn end_tag(&mut self) {
        self.apart = false;
        if let [b']', b'\n', b'[', ..] = self.rest() {
            self.at += 2;
            return;
        }
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        self.at += usize::from(self.rest().starts_with(b"]"));
        let start = self.at;
        self.skip_space(false);
        self.apart = self.since(start, 0).iter().filter(|byte| **byte == b'\n').count() > 1;
    }

    /// Passes over what is between two tags of a head: space, comments, and lines that are neither tags nor moves. Nothing is
    /// passed over if no tag follows.
    pub(crate) fn pass_to_tag(&mut self) -> Before {
        match self.rest() {
            [b'[', ..] => return if self.apart { Before::Apart } else { Before::Nothing },
            [] => return Before::EndOfText,
            [b'0'..=b'9' | b'*', ..] => return Before::Moves,
            _ => {}
        }
        let before = self.clone();
        let passed = self.pass_text_to_tag();
        if matches!(passed, Before::Moves | Before::EndOfText) {
            *self = before;
        }
        passed
    }

    fn pass_text_to_tag(&mut self) -> Before {
        let mut passed = Before::Apart;
        let mut has_text = false;
        for _ in 0..MAX_LINES_IN_HEAD {
            self.skip_space(false);
            match self.rest() {
                rest @ [b'[', ..] if tags::is_tag(rest) => return passed,
                [] => return Before::EndOfText,
                [b'{', ..] => {
                    self.at += 1;
                    if self.comment().is_none() {
                        return Before::Moves;
                    }
                }
                [b';', ..] => self.skip_line(),
                rest => {
                    let line = rest.part(..memchr(b'\n', rest).unwrap_or(rest.len()));
                    match tags::may_be_of_game(line) {
                        tags::TagLine::Moves if !has_text => return Before::Moves,
                        tags::TagLine::Moves | tags::TagLine::Doubtful => passed = Before::Text,
                        tags::TagLine::Other => {}
                    }
                    has_text = true;
                    self.at += line.len();
                }
            }
        }
        Before::Moves
    }

    /// The rest of a comment whose brace was read; `None` if it has no end.
    #[inline]
    fn comment(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        while self.close < start {
            match memchr(b'}', self.rest()) {
                Some(len) => self.close = start + len,
                None if self.extend() => {}
                None => self.close = usize::MAX,
            }
        }
        let len = self.close - start;
        let text = self.rest().get(..len)?;
        if len >= MAX_LEN_WITHOUT_TAG && swallows_head(text) {
            return None;
        }
        self.at = start + len + 1;
        Some(text)
    }

    /// The next word and its offset, as of [`Lexer::next_word`], if it looks like nearly all moves: a piece or a file, and more up to a
    /// space, perhaps after a number with a dot. `None`, and nothing is read, where it may be something else.
    #[inline]
    pub(super) fn usual_word(&mut self) -> Option<(usize, &'a [u8])> {
        let mut rest = self.rest();
        let mut dotted = None;
        if let [b'1'..=b'9', ..] = rest {
            let number;
            (number, rest) = leading_number(rest);
            let [b'.', after @ ..] = rest else { return None };
            let blacks = after.strip_prefix(b".. ");
            dotted = Some((number, blacks.is_some()));
            rest = blacks.or_else(|| after.strip_prefix(b" ")).unwrap_or(after);
        }
        if !matches!(rest.first(), Some(b'a'..=b'h' | b'B' | b'K' | b'N' | b'Q' | b'R')) {
            return None;
        }
        let (word, after) = rest.split_at_checked(rest.iter().position(|&byte| ENDS[usize::from(byte)])?)?;
        if !after.starts_with(b" ") {
            return None;
        }
        if let Some(dotted) = dotted {
            self.number = self.at;
            (self.dotted, self.is_blacks) = dotted;
        }
        self.at = self.text.len() - after.len() + 1;
        Some((self.text.len() - rest.len(), word))
    }

    /// The next word among moves, and its offset in bytes.
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
                b'{' => match self.comment() {
                    Some(text) => Token::Comment(text),
                    None => {
                        self.leave_comment();
                        Token::Unterminated
                    }
                },
                b'(' => self.enclosed_result().unwrap_or(Token::Open),
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
                b'[' => match self.bracket(start) {
                    Some(token) => token,
                    None => continue,
                },
                0 => Token::Zero,
                1..=b' ' | 0x7f => continue,
                0x80.. => match self.beyond_ascii(start) {
                    Some(token) => token,
                    None => continue,
                },
                _ => {
                    self.skip_word(start);
                    if let b'O' | b'o' = byte
                        && self.at == start + 1
                        && let Some(len) = spaced_castling(self.text.part(start..))
                    {
                        self.at = start + len;
                    }
                    let word = self.since(start, 0);
                    match self.text.get(self.at) {
                        // What follows most words.
                        Some(b' ') => self.at += 1,
                        // It may have been longer.
                        Some(0) => return (start, Token::Zero),
                        _ => {}
                    }
                    Token::Word(word)
                }
            };
            return (start, token);
        }
    }

    /// The result in parentheses of which the first was read, if there is nothing else in them.
    #[cold]
    fn enclosed_result(&mut self) -> Option<Token<'a>> {
        let text = self.rest();
        let before = space(text);
        let (found, len) = result(text.get(before..)?)?;
        let after = text.get(before + len..)?;
        let more = space(after);
        after.get(more..)?.starts_with(b")").then(|| {
            self.at += before + len + more + 1;
            Token::Result(Some(found))
        })
    }

    /// What begins with a bracket: the next head, on the line where the moves end, or `None`: a remark.
    #[cold]
    fn bracket(&mut self, start: usize) -> Option<Token<'a>> {
        let text = self.text.part(start..);
        if tags::is_whole_tag(text) {
            self.at = start;
            return Some(Token::End);
        }
        let text = text.get(..MAX_TAG_LEN).unwrap_or(text);
        let len = memchr(b']', text).filter(|len| is_remark(text.part(..*len)));
        match len {
            Some(len) => {
                self.at = start + len + 1;
                None
            }
            None => Some(Token::Unterminated),
        }
    }

    /// Goes from a comment without end to the line end before the next head.
    #[cold]
    fn leave_comment(&mut self) {
        let rest = self.rest();
        self.at += tag_lines(rest).next().map_or(rest.len(), |tag| tag - 1);
    }

    /// A word that begins with a character beyond ASCII; `None` if that separates words.
    #[cold]
    fn beyond_ascii(&mut self, start: usize) -> Option<Token<'a>> {
        let text = self.text.part(start..);
        let (first, len) = char_at(text);
        if first.is_some_and(is_separator) {
            self.at = start + len;
            return None;
        }
        if let Some((result, len)) = result(text) {
            self.at = start + len;
            return Some(Token::Result(Some(result)));
        }
        self.at = start;
        self.skip_word(start);
        Some(Token::Word(self.since(start, 0)))
    }

    /// Passes over the rest of the moves without looking at them.
    pub fn skip_moves(&mut self) {
        if self.is_one_game() {
            let rest = self.rest();
            let is_in_comment = memrchr2(b'{', b'}', rest).and_then(|at| rest.get(at)) == Some(&b'{');
            if !(is_in_comment && self.extend()) {
                return self.skip_all();
            }
        }
        while let Some(found) = memchr3(b'\n', b'{', b';', self.rest()) {
            let start = self.at;
            if let Some(head) = self.head_within(start, start + found) {
                self.at = head;
                return;
            }
            self.at += found + 1;
            match self.text.get(self.at - 1) {
                Some(b'{') if self.comment().is_none() => self.leave_comment(),
                Some(b'{') => {}
                Some(b';') => self.skip_line(),
                _ if self.begins_line() => {}
                _ => return,
            }
        }
        match self.head_within(self.at, self.text.len()) {
            Some(head) => self.at = head,
            None => self.skip_all(),
        }
    }

    /// Whether the rest of the text is that of one game, and has no lines for programs: nothing but space follows an empty line.
    /// Nearly every text is such, and this is faster than to look for comments.
    fn is_one_game(&mut self) -> bool {
        if self.tag_end < self.at {
            self.tag_end = TAG_ENDS.find(self.rest()).map_or(usize::MAX, |len| self.at + len);
        }
        // A whole tag may be on the line of moves. What comes after it is looked at when it is read.
        let has_tag = self.tag_end < self.text.len();
        let mut rest = self.text.part(self.at..self.tag_end.min(self.text.len()));
        while let Some(found) = memchr(b'\n', rest) {
            rest = rest.part(found + 1..);
            match rest {
                [b'[' | b'%', ..] => return false,
                [0..=b' ' | 0x7f.., ..] => {
                    let line = rest.part(space(rest)..);
                    match line.first() {
                        None => break,
                        Some(b'\n') => {
                            return !has_tag
                                && line.get(space_and_lines(line)..).is_none_or(<[u8]>::is_empty);
                        }
                        Some(b'[' | b'%') => return false,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        !has_tag
    }

    /// Where a head begins among moves without line ends and comments.
    fn head_within(&self, start: usize, end: usize) -> Option<usize> {
        let moves = self.text.part(start..end);
        let is_head = |at: &usize| tags::is_whole_tag(self.text.part(*at..));
        look::memchr_iter(b'[', moves).map(|at| start + at).find(is_head)
    }

    /// Goes to where a line of moves begins; `false` if the moves are over.
    fn begins_line(&mut self) -> bool {
        match self.rest() {
            [b'!'..=b'$' | b'&'..=b'Z' | b'\\'..=b'~', ..] => return true,
            [b'\n', ..] | [b'\r', b'\n', ..] => return false,
            _ => {}
        }
        let line = self.rest();
        let mut rest = line;
        while let (Some(c), len) = char_at(rest)
            && c != '\n'
            && is_separator(c)
        {
            rest = rest.part(len..);
        }
        match rest.first() {
            Some(b'%') => {
                self.at += line.len() - rest.len();
                self.skip_line();
                true
            }
            Some(b'[') => !self.begins_head(rest),
            first => first != Some(&b'\n'),
        }
    }

    /// Whether the next head begins with this line, and it is no remark in brackets.
    #[cold]
    pub(super) fn begins_head(&self, line: &[u8]) -> bool {
        if self.ended { tags::is_tag(line) } else { tags::is_certain_tag(line) }
    }

    /// What begins with a digit: a result, castling with zeros, or `None`: the number of a move.
    fn number(&mut self, start: usize) -> Option<Token<'a>> {
        let text = self.text.part(start..);
        let (number, rest) = leading_number(text);
        self.at = self.text.len() - rest.len();
        // Most are numbers of moves.
        if let [b'.', after @ ..] = rest
            && !text.starts_with(b"0")
            && !text.starts_with(b"1.0")
        {
            let space = usize::from(after.first() == Some(&b' '));
            let is_plain = after.get(space).is_some_and(|next| !matches!(next, b'.' | b' '));
            (self.number, self.dotted, self.is_blacks) = (start, if is_plain { number } else { 0 }, false);
            self.at += 1 + space;
            return None;
        }
        self.dotted = 0;
        if self.at == start + 1
            && text.starts_with(b"0") | text.starts_with(b"1")
            && let Some((result, len)) = result(text)
        {
            self.at = start + len;
            return Some(Token::Result(Some(result)));
        }
        if let Some(len) = spaced_castling(text) {
            self.at = start + len;
            return Some(Token::Word(self.since(start, 0)));
        }
        // No move has the number 0 or 00.
        let castles = text.starts_with(b"0")
            && (text.starts_with(b"00")
                || text
                    .get(1..)
                    .is_some_and(|sign| dash_len(sign).is_some_and(|len| sign.get(len) == Some(&b'0'))));
        if !castles {
            let is_apart = |byte: Option<&u8>| {
                byte.is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii_graphic())
            };
            let is_whole =
                (start == 0 || is_apart(self.text.get(start - 1))) && is_apart(self.text.get(self.at));
            self.number = if is_whole { start } else { NO_NUMBER };
        }
        castles.then(|| {
            self.at = start;
            self.skip_word(start);
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
        self.text.part(start..self.at - before)
    }

    #[inline]
    fn skip_word(&mut self, start: usize) {
        self.skip_while(|byte| !ENDS[usize::from(byte)]);
        if self.text.get(self.at).is_some_and(|byte| !byte.is_ascii()) {
            self.skip_word_beyond_ascii(start);
        }
    }

    /// Goes to the end of a word with characters beyond ASCII.
    #[cold]
    fn skip_word_beyond_ascii(&mut self, start: usize) {
        loop {
            self.skip_piece();
            let invisible = invisible_len(self.rest());
            if invisible == 0 || self.ends_before_invisible(start, invisible) {
                return;
            }
            self.at += invisible;
        }
    }

    /// Goes to the next character that separates words, or may do so.
    fn skip_piece(&mut self) {
        loop {
            self.skip_while(|byte| !ENDS[usize::from(byte)]);
            match char_at(self.rest()) {
                (_, 0) => return,
                (Some(c), _) if c.is_ascii() || is_separator(c) => return,
                (_, len) => self.at += len,
            }
        }
    }

    /// Whether so many bytes of invisible characters separate two words, and are not within one.
    fn ends_before_invisible(&self, start: usize, invisible: usize) -> bool {
        let mut next = Self::new(self.rest().part(invisible..), 0);
        // Only to the next invisible character: words with many of them take linear time.
        next.skip_piece();
        let next = next.since(0, 0);
        let is_end = next.is_empty() || next.starts_with(b"[");
        is_end
            || is_san(self.since(start, 0)) && (next.first().is_some_and(u8::is_ascii_digit) || is_san(next))
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
                0..=b' ' | 0x7f => {
                    line_start |= *byte == b'\n';
                    self.at += 1;
                }
                0x80.. => match char_at(self.rest()) {
                    (Some(c), len) if is_blank(c) => self.at += len,
                    _ => return,
                },
                _ => return,
            }
        }
    }
}

/// The number that a text begins with, at most 2^32 - 1, and what follows its digits.
#[inline]
fn leading_number(mut text: &[u8]) -> (u32, &[u8]) {
    let mut number = 0_u32;
    while let [digit @ b'0'..=b'9', more @ ..] = text {
        (number, text) = (number.saturating_mul(10).saturating_add(u32::from(digit - b'0')), more);
    }
    (number, text)
}

/// The value of a tag of which nothing is known, as the standard has it.
const UNKNOWN: &[u8] = b"?";

/// What ends a whole tag.
const TAG_END: &[u8] = b"\"]";
static TAG_ENDS: Needle = Needle::new(|| Finder::new(TAG_END));

/// The most lines between tags that are passed over.
const MAX_LINES_IN_HEAD: usize = 64;

/// A shorter comment cannot hold a tag.
const MAX_LEN_WITHOUT_TAG: usize = 8;

/// The length in bytes of the invisible characters at the start of a text.
fn invisible_len(text: &[u8]) -> usize {
    let mut rest = text;
    while let (Some(c), len @ 1..) = char_at(rest)
        && is_invisible(c)
    {
        rest = rest.part(len..);
    }
    text.len() - rest.len()
}

/// Whether a character separates words of moves.
fn is_separator(c: char) -> bool {
    c == '\u{2026}' || is_blank(c)
}

/// The most games that a comment quotes. What has more heads rather lacks its end.
const MAX_QUOTED: usize = 2;

/// Whether the text of a comment has more heads than one that quotes games, or a head and the start of another comment: so it
/// rather has no end. It is looked at only as far as that shows, up to where another comment may begin at the earliest.
fn swallows_head(comment: &[u8]) -> bool {
    let (mut heads, mut has_tag) = (0, false);
    bracket_lines(comment).any(|line| {
        let text = comment.part(line..);
        heads += usize::from(text.starts_with(FIRST_TAG));
        let is_first_tag = !has_tag && tags::is_whole_tag(text);
        has_tag |= is_first_tag;
        heads > MAX_QUOTED || is_first_tag && memchr(b'{', comment).is_some()
    })
}

/// Whether the text after a bracket is that of a remark: within one paragraph, and without anything that hides its end.
fn is_remark(text: &[u8]) -> bool {
    let hides = |text: &[u8]| memchr3(b'{', b';', b'\n', text).is_some();
    let Some(line) = memchr(b'\n', text) else { return !hides(text) };
    let (first, rest) = text.split_at_checked(line + 1).unwrap_or_default();
    !hides(trim_blanks(first))
        && rest.split(|byte| *byte == b'\n').all(|line| {
            let line = trim_blanks(line);
            !matches!(line.first(), None | Some(b'[' | b'%')) && !hides(line)
        })
}

/// The bytes that end a word.
static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let bytes = b"\x7f{}()!?$;.*";
    let mut at = 0;
    while at < bytes.len() {
        ends[bytes[at] as usize] = true;
        at += 1;
    }
    // Control characters and space; and what is beyond ASCII is looked at.
    at = 0;
    while at < ends.len() {
        ends[at] |= at <= b' ' as usize || at >= 0x80;
        at += 1;
    }
    ends
};

/// The result at the start of a text, and its length. With space around its sign, or in other forms than those of the PGN
/// standard, it is one only if nothing else follows.
fn result(text: &[u8]) -> Option<(GameResult, usize)> {
    let (white, left, is_left_plain) = half_points(text)?;
    let mut at = left + space(text.get(left..)?);
    let sign = text.get(at..)?;
    let dash = dash_len(sign);
    at += dash.or_else(|| sign.starts_with(b":").then_some(1))?;
    at += space(text.get(at..)?);
    let (black, right, is_right_plain) = half_points(text.get(at..)?)?;
    let result = match (white, black) {
        (2, 0) => GameResult::White,
        (0, 2) => GameResult::Black,
        (1, 1) => GameResult::Draw,
        _ => return None,
    };
    // `1.0-0` is castling after a number.
    let is_decimal = |points, len| points != 1 && len == "0.0".len();
    if is_decimal(white, left) != is_decimal(black, right) {
        return None;
    }
    let is_plain = is_left_plain && is_right_plain && dash.is_some_and(|dash| at == left + dash);
    let end = at + right;
    (is_plain || ends_word(text.part(end..))).then_some((result, end))
}

/// A player's half points at the start of a text, the length, and whether they have the form of the standard.
fn half_points(text: &[u8]) -> Option<(u8, usize, bool)> {
    let forms: [(&[u8], u8, bool); 10] = [
        (b"1/2", 1, true),
        ("½".as_bytes(), 1, true),
        (b"0.5", 1, false),
        (b"0,5", 1, false),
        (b"1.0", 2, false),
        (b"1,0", 2, false),
        (b"0.0", 0, false),
        (b"0,0", 0, false),
        (b"1", 2, true),
        (b"0", 0, true),
    ];
    let (form, points, is_plain) = forms.into_iter().find(|(form, ..)| text.starts_with(form))?;
    Some((points, form.len(), is_plain))
}

/// The length of the space at the start of a text, within its line.
fn space(text: &[u8]) -> usize {
    let mut rest = text;
    while let (Some(c), len) = char_at(rest)
        && c != '\n'
        && is_blank(c)
    {
        rest = rest.part(len..);
    }
    text.len() - rest.len()
}

/// Whether no word goes on here.
fn ends_word(text: &[u8]) -> bool {
    match char_at(text) {
        (None, len) => len == 0,
        (Some(c), _) => is_blank(c) || "{}();*!?$[\".".contains(c),
    }
}

/// The length of castling with space around its dashes.
#[cold]
fn spaced_castling(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    if !matches!(first, b'0' | b'O' | b'o') {
        return None;
    }
    let (mut at, mut count, mut spaces) = (1, 1, 0);
    while count < 3 {
        let rest = text.part(at..);
        let before = space(rest);
        let sign = rest.part(before..);
        let Some(dash) = dash_len(sign) else {
            break;
        };
        let after = space(sign.part(dash..));
        if sign.get(dash + after) != Some(&first) {
            break;
        }
        (at, count, spaces) = (at + before + dash + after + 1, count + 1, spaces + before + after);
    }
    let rest = text.part(at..);
    let is_end = ends_word(rest) || rest.starts_with(b"+") || rest.starts_with(b"#");
    (count > 1 && spaces > 0 && is_end).then_some(at)
}

/// The length of the dash at the start of a text.
fn dash_len(text: &[u8]) -> Option<usize> {
    let (first, len) = char_at(text);
    first.is_some_and(|c| DASHES.contains(&c)).then_some(len)
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

/// The length of the space at the start of a text, with its line ends.
fn space_and_lines(text: &[u8]) -> usize {
    let mut lexer = Lexer::new(text, 0);
    lexer.skip_space(false);
    lexer.at
}

#[cfg(test)]
mod tests;
