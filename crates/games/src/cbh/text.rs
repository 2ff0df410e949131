//! Decoding texts.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

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

/// Decodes what is in the encoding with this name, as browsers do: what says that it is Latin-1 is Windows-1252. `None` if the
/// encoding is not known, or is one that a text which is not UTF-8 and names it in ASCII cannot have.
///
/// What is no character there becomes U+FFFD. The control characters of ISO 8859 are left out.
pub(super) fn decode_as<'a>(name: &[u8], text: &'a [u8]) -> Option<Cow<'a, str>> {
    let encoding =
        Encoding::for_label(name).filter(|found| found.is_ascii_compatible() && *found != UTF_8)?;
    if name.starts_with(b"iso-8859-") && encoding != WINDOWS_1252 {
        let printed: Vec<_> = text.iter().copied().filter(|byte| !(0x80..0xa0).contains(byte)).collect();
        return Some(encoding.decode_without_bom_handling(&printed).0.into_owned().into());
    }
    Some(encoding.decode_without_bom_handling(text).0)
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

    #[test]
    fn encodings_are_found_by_their_names() {
        let decoded = |name: &str, text: &'static [u8]| decode_as(name.as_bytes(), text);
        assert_eq!(decoded("windows-1251", b"\xca\xe0\xf0\xef\xee\xe2").as_deref(), Some("Карпов"));
        assert_eq!(decoded("iso-8859-5", b"\xba\xd0\xe0\xdf\xde\xd2").as_deref(), Some("Карпов"));
        assert_eq!(decoded("windows-1250", b"Ft\xe1\xe8n\xedk \xb9").as_deref(), Some("Ftáčník ą"));
        assert_eq!(decoded("iso-8859-2", b"Ft\xe1\xe8n\xedk \xb1").as_deref(), Some("Ftáčník ą"));
        assert_eq!(decoded("iso-8859-1", b"\x80").as_deref(), Some("€"));
        assert_eq!(decoded("iso-8859-9", b"Kar\x93po\xfd").as_deref(), Some("Karpoı"));
        assert_eq!(decoded("windows-1254", b"\x93").as_deref(), Some("\u{201c}"));
        assert_eq!(decoded("gb2312", b"\xcf\xf3\xc6\xe5").as_deref(), Some("象棋"));
        assert!(
            ["windows-12", "1252", "utf-8", "utf-16", ""].iter().all(|name| decoded(name, b"").is_none())
        );
    }
}
