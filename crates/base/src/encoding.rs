//! Texts in UTF-8, or in the encoding of Western Europe that came before it.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// Decodes a text of unknown encoding: as UTF-8 if it is valid, or else as Windows-1252, as in most old files of games.
///
/// ```
/// use tabiya_base::encoding::decode_text;
/// assert_eq!(decode_text(b"H\xfcbner"), "Hübner");
/// assert_eq!(decode_text("Hübner".as_bytes()), "Hübner");
/// ```
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| decode_western(bytes), Cow::Borrowed)
}

/// Decodes a text of a program that knows Windows-1252 alone.
pub fn decode_western(bytes: &[u8]) -> Cow<'_, str> {
    WINDOWS_1252.decode_without_bom_handling(bytes).0
}

/// The text in Windows-1252, if that has all its letters.
fn exact(text: &str) -> Option<Cow<'_, [u8]>> {
    let (bytes, _, lost) = WINDOWS_1252.encode(text);
    (!lost).then_some(bytes)
}

/// The text for such a program, with `?` in place of other letters than it knows.
pub fn encode_western(text: &str) -> Cow<'_, [u8]> {
    exact(text).unwrap_or_else(|| {
        let known = |letter: char| exact(letter.encode_utf8(&mut [0; 4])).is_some();
        let text: String = text.chars().map(|letter| if known(letter) { letter } else { '?' }).collect();
        WINDOWS_1252.encode(&text).0.into_owned().into()
    })
}

/// The text in Windows-1252, if that has all its letters and [`decode_text`] gives the same text again.
pub fn western(text: &str) -> Option<Cow<'_, [u8]>> {
    exact(text).filter(|bytes| decode_text(bytes) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn western_texts_are_read_back_and_others_are_not_written() {
        let kept = |text: &str| western(text).map(Cow::into_owned);
        assert_eq!(kept("H\u{fc}bner \u{20ac}"), Some(b"H\xfcbner \x80".to_vec()));
        // In Windows-1252 it would be valid UTF-8 of another letter.
        assert_eq!(kept("\u{c3}\u{a9}"), None);
        assert_eq!(kept("Карпов"), None);
        // Bytes that stand for nothing in Windows-1252 are control characters, as in browsers.
        assert_eq!(decode_text(b"a\x81\xff"), "a\u{81}\u{ff}");
        assert_eq!(&*encode_western("\u{161}\u{416}\u{20ac}"), b"\x9a?\x80");
    }
}
