//! Decoding texts.

use std::borrow::Cow;

use crate::decode_text;

/// The text in a field of fixed length: it ends at the first 0, and the bytes after that mean nothing.
///
/// UTF-8 that fills its field may be cut off within its last character, which is left out.
pub fn field(bytes: &[u8]) -> Cow<'_, str> {
    let Some(end) = memchr::memchr(0, bytes) else {
        if let Err(error) = std::str::from_utf8(bytes)
            && error.error_len().is_none()
            && let Some(whole) = bytes.get(..error.valid_up_to())
            && !whole.is_ascii()
        {
            return decode_text(whole);
        }
        return decode_text(bytes);
    };
    decode_text(bytes.get(..end).unwrap_or_default())
}

/// A diagram in a comment.
const DIAGRAM: &str = "[#]";

/// The text of a comment, with its figurines and diagrams: ChessBase writes them as the bytes 0xa2 to 0xa7 and 0x9e in
/// Windows-1252, or as the characters with these numbers in UTF-8 (docs/formats/cbh.md, Strings).
pub fn comment(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    if bytes.is_ascii() {
        return decode_text(bytes);
    }
    let narrow = std::str::from_utf8(bytes).is_err();
    let mut text = String::with_capacity(bytes.len() + 8);
    for character in decode_text(bytes).chars() {
        match character {
            '\u{a2}'..='\u{a7}' => text.extend("♔♕♘♗♖♙".chars().nth(character as usize - 0xa2)),
            '\u{9e}' => text.push_str(DIAGRAM),
            // This is byte 0x9e in Windows-1252.
            'ž' if narrow => text.push_str(DIAGRAM),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_at_its_first_zero() {
        assert_eq!(field(b"Kramnik\0garbage\xff"), "Kramnik");
        assert_eq!(field(b"no end"), "no end");
        assert_eq!(field(b""), "");
    }

    #[test]
    fn both_encodings_are_recognised() {
        assert_eq!(field(b"H\xfcbner\0"), "Hübner");
        assert_eq!(field("Hübner\0".as_bytes()), "Hübner");
        // A Latin text that ends with what could begin a character of UTF-8.
        assert_eq!(field(b"Andr\xe9"), "André");
        assert_eq!(field(b"Andr\xe9\0"), "André");
        // A text of UTF-8 that was cut inside its last character.
        assert_eq!(field("Šarić".as_bytes().split_last().unwrap().1), "Šari");
    }

    #[test]
    fn figurines_and_diagrams_are_written() {
        assert_eq!(comment(b"\xa2\xa3\xa4\xa5\xa6\xa7f3 \x9e"), "♔♕♘♗♖♙f3 [#]");
        assert_eq!(comment("\u{a3}d4 \u{9e} Žižkov".as_bytes()), "♕d4 [#] Žižkov");
        assert_eq!(comment(b"plain\0rest"), "plain");
    }
}
