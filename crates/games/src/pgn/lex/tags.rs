//! Tags as people and programs write them, and the lines between tags.

use tabiya_base::bytes::Parts as _;

use super::super::look::{memchr, memchr_iter, memmem};

use tabiya_chess::{char_at, is_blank, is_san, may_be_move, trim_blanks};

use super::{Lexer, MAX_TAG_LEN, TAG_END, Token};

/// Quotation marks; the standard has the first.
const QUOTES: [&[u8]; 12] = [
    b"\"",
    b"'",
    b"`",
    "\u{201c}".as_bytes(),
    "\u{201d}".as_bytes(),
    "\u{201e}".as_bytes(),
    "\u{2018}".as_bytes(),
    "\u{2019}".as_bytes(),
    "\u{ab}".as_bytes(),
    "\u{bb}".as_bytes(),
    b"&quot;",
    b"\\\"",
];

/// Tags that decide what the moves mean.
const DECISIVE: [&[u8]; 3] = [b"fen", b"setup", b"variant"];

/// Tags whose meaning is known, as the standard spells them, by length.
pub(in crate::pgn) const KNOWN: [&[u8]; 13] = [
    b"FEN",
    b"Site",
    b"Date",
    b"Event",
    b"Round",
    b"White",
    b"Black",
    b"SetUp",
    b"Result",
    b"Variant",
    b"UTCDate",
    b"WhiteElo",
    b"BlackElo",
];

/// The place in [`KNOWN`] of a name, in which other programs differ in the case of their letters.
pub(in crate::pgn) fn known(name: &[u8]) -> Option<usize> {
    // Only these have its length.
    let (from, to) = match name.len() {
        3 => (0, 1),
        4 => (1, 3),
        5 => (3, 8),
        6 => (8, 9),
        7 => (9, 11),
        8 => (11, 13),
        _ => return None,
    };
    (from..to).find(|place| KNOWN.get(*place).is_some_and(|known| known.eq_ignore_ascii_case(name)))
}

/// Which bytes names of tags have.
const OF_NAME: [bool; 256] = {
    let mut of_name = [false; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        of_name[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    of_name
};

/// The length of the name of a tag at the start of a text.
#[inline]
pub(super) fn name_len(text: &[u8]) -> usize {
    let is_of_name = |byte: &u8| OF_NAME.get(usize::from(*byte)) == Some(&true);
    text.iter().position(|byte| !is_of_name(byte)).unwrap_or(text.len())
}

/// Whether a text is the name of a tag.
pub(super) fn is_name(text: &[u8]) -> bool {
    !text.is_empty() && name_len(text) == text.len()
}

/// A tag in another form than that of the standard, given from after its bracket to the end of its line: its name, its value,
/// and the length up to its second bracket. `None` if it has no name or no value.
#[cold]
pub(super) fn written_otherwise(line: &[u8]) -> Option<(&[u8], &[u8], usize)> {
    let len = tag_len(line);
    let content = trim_blanks(line.get(..len)?);
    let content = without_quote(content);
    let (name, rest) = content.split_at_checked(name_len(content)).filter(|(_, rest)| !rest.is_empty())?;
    let mut value = rest;
    if let Some(quote) = quote_at(value)
        && content.len() < trim_blanks(line.get(..len)?).len()
    {
        // The name was in quotation marks.
        value = value.get(quote.len()..)?;
    }
    value = trim_blanks(value);
    value = trim_blanks(value.strip_prefix(b"=").or_else(|| value.strip_prefix(b":")).unwrap_or(value));
    value = without_quote(value);
    if let Some(quote) = QUOTES.iter().rev().find(|quote| value.ends_with(quote)) {
        value = value.get(..value.len() - quote.len())?;
    }
    value = trim_blanks(value);
    (is_name(name) && !value.is_empty()).then_some((name, value, len))
}

/// Bytes of a line up to the bracket that ends its first tag, or all.
fn tag_len(line: &[u8]) -> usize {
    let last = memchr_iter(b']', line).find(|at| {
        let after = line.part(at + 1..);
        matches!(after.get(super::space(after)..), None | Some([] | [b'[', ..]))
    });
    last.or_else(|| memchr(b']', line)).unwrap_or(line.len())
}

/// Bytes of a line after the bracket of a tag that says nothing: up to another tag, or to moves after its second bracket, if
/// there are any, or else all.
#[cold]
pub(super) fn len_without_meaning(line: &[u8]) -> usize {
    let moves = memchr(b']', line).filter(|end| may_be_of_game(line.part(end + 1..)) == TagLine::Moves);
    let tag = || memchr_iter(b'[', line).find(|at| is_whole_tag(line.part(*at..)));
    moves.or_else(tag).unwrap_or(line.len())
}

fn quote_at(text: &[u8]) -> Option<&'static [u8]> {
    QUOTES.into_iter().find(|quote| text.starts_with(quote))
}

fn without_quote(text: &[u8]) -> &[u8] {
    quote_at(text).and_then(|quote| text.get(quote.len()..)).unwrap_or(text)
}

/// The line at the start of a text, as far as a tag may go.
fn line_of_tag(text: &[u8]) -> &[u8] {
    let line = text.get(..MAX_TAG_LEN).unwrap_or(text);
    line.part(..memchr(b'\n', line).unwrap_or(line.len()))
}

/// Whether a line among the moves of a game without a result begins the head of the next: a whole tag, or one whose name the
/// standard has.
#[cold]
pub(in crate::pgn) fn is_certain_tag(text: &[u8]) -> bool {
    is_whole_tag(text)
        || text
            .strip_prefix(b"[")
            .and_then(|rest| written_otherwise(line_of_tag(rest)))
            .is_some_and(|(name, ..)| known(name).is_some())
}

/// Whether a text has a move or a result, outside of comments and variations.
pub(in crate::pgn) fn has_moves(text: &[u8]) -> bool {
    let mut lexer = Lexer::new(text, 0);
    let mut depth = 0_u32;
    while lexer.find_game() {
        loop {
            match lexer.next_word().1 {
                Token::Word(word) if depth == 0 && (is_san(word) || may_be_move(word)) => return true,
                Token::Result(_) if depth == 0 => return true,
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::End | Token::Unterminated => break,
                _ => {}
            }
        }
        if lexer.rest().starts_with(b"[") {
            break;
        }
    }
    false
}

/// Whether a text begins like a tag: a bracket, a name, and something else before the second bracket.
pub(in crate::pgn) fn is_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let line = line_of_tag(rest);
    line.iter().take_while(|byte| **byte != b']').any(|byte| *byte == b'"')
        || written_otherwise(line).is_some_and(|(name, ..)| name.first().is_some_and(u8::is_ascii_alphabetic))
}

/// Whether a text begins with a whole tag, as the standard has it.
#[cold]
pub(in crate::pgn) fn is_whole_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let name_len = rest.iter().take(64).position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let Some((name, rest)) = name_len.and_then(|len| rest.split_at_checked(len)) else { return false };
    let mut rest = rest;
    while let (Some(c), len) = char_at(rest)
        && c != '\n'
        && is_blank(c)
    {
        rest = rest.part(len..);
    }
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && rest.strip_prefix(b"\"").is_some_and(|value| memmem::find(line_of_tag(value), TAG_END).is_some())
}

/// What a line between tags may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagLine {
    Moves,
    /// It may have moves or a tag, or neither.
    Doubtful,
    /// It has nothing that a game consists of.
    Other,
}

/// What a line that is neither a tag nor a comment may be.
pub(super) fn may_be_of_game(line: &[u8]) -> TagLine {
    let line = trim_blanks(line);
    if line.first().is_some_and(u8::is_ascii_digit) {
        return TagLine::Moves;
    }
    let mut lexer = Lexer::new(line, 0);
    let mut is_first = true;
    let mut found = TagLine::Other;
    loop {
        match lexer.next_word().1 {
            Token::Word(word) if is_first && (is_san(word) || may_be_move(word)) => return TagLine::Moves,
            Token::Result(_) if is_first => return TagLine::Moves,
            Token::Word(word) => {
                let lower = word.to_ascii_lowercase();
                if may_be_move(word) || DECISIVE.iter().any(|name| memmem::find(&lower, name).is_some()) {
                    found = TagLine::Doubtful;
                }
            }
            Token::Result(_) => found = TagLine::Doubtful,
            Token::Open | Token::Close | Token::Comment(_) | Token::Glyph(_) | Token::Zero => {}
            Token::End | Token::Unterminated => return found,
        }
        is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_that_is_known_is_found_in_any_case() {
        for (place, name) in KNOWN.iter().enumerate() {
            assert_eq!(known(name), Some(place));
            assert_eq!(known(&name.to_ascii_uppercase()), Some(place));
        }
        for name in [&b""[..], b"ECO", b"Events", b"Opening", b"WhiteFide"] {
            assert_eq!(known(name), None);
        }
    }
}
