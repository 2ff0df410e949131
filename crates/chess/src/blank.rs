//! Characters without ink: what people's editors, browsers and programs put between words of games.

/// Whether a character separates words: space of any kind, control characters, and [invisible](is_invisible) ones.
pub fn is_blank(c: char) -> bool {
    c == ' ' || c.is_whitespace() || c.is_control() || is_invisible(c)
}

/// Whether a character has no width: joiners, marks of direction and of the byte order, soft hyphens. It may be within a word.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    )
}

/// The character at the start of a text, which may have other bytes than UTF-8, and its length in bytes. A byte that is not
/// UTF-8 is what Windows' Western European character set has for space and the ellipsis, or `None`.
#[inline]
pub fn char_at(text: &[u8]) -> (Option<char>, usize) {
    match text.first() {
        Some(byte) if byte.is_ascii() => (Some(char::from(*byte)), 1),
        _ => char_beyond_ascii(text),
    }
}

#[cold]
fn char_beyond_ascii(text: &[u8]) -> (Option<char>, usize) {
    let start = text.get(..4).unwrap_or(text);
    let valid = start.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    match (valid, text.first()) {
        (Some(c), _) => (Some(c), c.len_utf8()),
        (None, Some(0xa0)) => (Some('\u{a0}'), 1),
        (None, Some(0x85)) => (Some('\u{2026}'), 1),
        (None, byte) => (None, usize::from(byte.is_some())),
    }
}

/// A text without blanks at its ends.
#[inline]
pub fn trim_blanks(text: &[u8]) -> &[u8] {
    // Most texts have none.
    match text {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => without_blanks(text),
    }
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let (Some(c), len) = char_at(rest)
        && is_blank(c)
    {
        rest = rest.get(len..).unwrap_or_default();
    }
    while let Some(len) = last_blank(rest) {
        rest = rest.get(..rest.len() - len).unwrap_or_default();
    }
    rest
}

/// The length of the last character of a text, if it is a blank.
#[inline]
fn last_blank(text: &[u8]) -> Option<usize> {
    match text.last()? {
        byte if byte.is_ascii() => is_blank(char::from(*byte)).then_some(1),
        _ => last_blank_beyond_ascii(text),
    }
}

#[cold]
fn last_blank_beyond_ascii(text: &[u8]) -> Option<usize> {
    // The longest reading of the last bytes is the right one.
    let (c, len) = (1..=4).rev().find_map(|len| {
        let last = text.get(text.len().checked_sub(len)?..)?;
        Some(char_at(last)).filter(|(c, read)| c.is_some() && *read == len)
    })?;
    c.is_some_and(is_blank).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_trimmed_in_any_character_set() {
        for (text, trimmed) in [
            (&b" \t\xa0x y\xa0\r\n"[..], &b"x y"[..]),
            ("\u{feff}\u{a0}x\u{200b}\u{2028} ".as_bytes(), b"x"),
            // The last byte of this letter alone would be a space.
            ("x\u{e0}".as_bytes(), "x\u{e0}".as_bytes()),
            (b"\xa0", b""),
            (b"", b""),
        ] {
            assert_eq!(trim_blanks(text), trimmed, "{text:?}");
        }
    }
}
