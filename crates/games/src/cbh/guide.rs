//! Guiding texts: texts by an author between the games, in one or more languages, as HTML.
//!
//! For layout and sources see docs/formats/cbh.md, Guiding text.

use std::borrow::Cow;

use tabiya_base::bytes;
use tabiya_base::encoding::decode_text;

use super::layout::GAME_HEAD_LEN;
use super::text::{decode_as, field};

/// The first version with texts in HTML.
const HTML: u16 = 3;

/// The most contents of a text: there are eight languages.
const MAX_CONTENTS: u16 = 256;

/// What is wrong with a text that ends too early.
const CUT_OFF: &str = "the text is cut off";

/// The codes of the languages in ISO 639, by number; 7 is no particular language.
const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "it", "nl", "pt"];

/// A guiding text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guide {
    /// The titles by language.
    pub titles: Vec<(u16, String)>,
    /// The texts by language.
    pub contents: Vec<Content>,
    /// What cuts it short: where, in bytes from its head, and what is wrong there.
    pub error: Option<(u64, &'static str)>,
}

/// The text in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The language's number.
    pub language: u16,
    /// The text.
    pub text: String,
    /// Whether it is HTML.
    pub html: bool,
}

/// Reads numbers and texts one after another.
struct GuideCursor<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> GuideCursor<'a> {
    fn take(&mut self, len: u64) -> Result<&'a [u8], &'static str> {
        let taken = bytes::slice(self.bytes, self.at, len).ok_or(CUT_OFF)?;
        self.at += len;
        Ok(taken)
    }

    fn rest(&self) -> &'a [u8] {
        usize::try_from(self.at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default()
    }

    fn u16(&mut self) -> Result<u16, &'static str> {
        self.take(2).map(|taken| bytes::u16_le(taken, 0).unwrap_or_default())
    }

    /// A length of two bytes, or of four if it is `wide`.
    fn len(&mut self, wide: bool) -> Result<u64, &'static str> {
        if !wide {
            return self.u16().map(u64::from);
        }
        self.take(4).map(|taken| bytes::u32_le(taken, 0).unwrap_or_default().into())
    }
}

impl Guide {
    /// Reads a text, beginning with its head.
    pub fn read(data: &[u8]) -> Self {
        let mut guide = Self::default();
        let mut cursor = GuideCursor { bytes: data, at: GAME_HEAD_LEN };
        if let Err(what) = guide.fill(&mut cursor) {
            guide.error = Some((cursor.at, what));
        }
        guide
    }

    fn fill(&mut self, from: &mut GuideCursor<'_>) -> Result<(), &'static str> {
        let version = from.u16()?;
        if !(1..=HTML).contains(&version) {
            return Err("the text has an unsupported version");
        }
        for _ in 0..from.u16()?.min(MAX_CONTENTS) {
            let language = from.u16()?;
            let len = from.len(false)?;
            self.titles.push((language, field(from.take(len)?).into_owned()));
        }
        from.take(1)?;
        let count = from.u16()?;
        if count > MAX_CONTENTS {
            return Err("the text has too many languages");
        }
        for _ in 0..count {
            let language = from.u16()?;
            let len = from.len(version > 1)?;
            let html = version >= HTML;
            // Of a text that is cut off, the rest is kept.
            let whole = from.take(len);
            let text = whole.unwrap_or_else(|_| from.rest());
            let text = if html { decode_html(text) } else { field(text) }.into_owned();
            self.contents.push(Content { language, text, html });
            whole?;
            let formatting = from.len(version > 1)?;
            from.take(formatting)?;
        }
        Ok(())
    }

    /// The title in this language, or else in the first language that has one.
    pub fn title(&self, language: u16) -> &str {
        let of = |wanted: Option<u16>| {
            self.titles.iter().find(|(given, title)| {
                wanted.is_none_or(|wanted| wanted == *given) && !title.trim().is_empty()
            })
        };
        of(Some(language)).or_else(|| of(None)).map_or("", |(_, title)| title.trim())
    }
}

/// The code of a language; empty if it is no particular one.
pub(crate) fn language(number: u16) -> &'static str {
    LANGUAGES.get(usize::from(number)).copied().unwrap_or_default()
}

/// Decodes HTML by the encoding that it names, unless it is UTF-8.
fn decode_html(html: &[u8]) -> Cow<'_, str> {
    let html = html.strip_prefix(b"\xef\xbb\xbf").unwrap_or(html);
    let named = || {
        let start = html.get(..html.len().min(2048)).unwrap_or_default().to_ascii_lowercase();
        let at = memchr::memmem::find(&start, b"charset=")? + "charset=".len();
        let label = start.get(at..)?.trim_ascii_start();
        let label = label.strip_prefix(b"\"").or_else(|| label.strip_prefix(b"'")).unwrap_or(label);
        let end = label.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte));
        decode_as(label.get(..end.unwrap_or(label.len()))?, html)
    };
    match std::str::from_utf8(html) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => named().unwrap_or_else(|| decode_text(html)),
    }
}

impl Content {
    /// A page for a browser. It begins with the byte order mark of UTF-8, which overrides the encoding that the page
    /// names.
    pub fn page(&self, title: &str) -> String {
        if self.html {
            return format!("\u{feff}{}", self.text);
        }
        let language = match language(self.language) {
            "" => String::new(),
            language => format!(" lang=\"{language}\""),
        };
        format!(
            "\u{feff}<!DOCTYPE html>\n<html{language}>\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
             <body><pre style=\"white-space: pre-wrap\">\n{}</pre></body>\n</html>\n",
            escaped(title),
            escaped(&self.text)
        )
    }

    /// The name of the file of a page: the number of the text, its title, and its language if there are several.
    pub fn file_name(&self, number: u32, title: &str, several: bool) -> String {
        let letters = title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
        let letters: String = letters.take(60).collect();
        let words: Vec<_> = letters.split('-').filter(|word| !word.is_empty()).collect();
        let mut name = format!("{number:05}");
        let language = if several { language(self.language) } else { "" };
        for part in words.into_iter().chain((!language.is_empty()).then_some(language)) {
            name.push('-');
            name.push_str(part);
        }
        name
    }
}

/// A text without characters that are special in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::reader::CbhReader;
    use super::super::record::CbhRecordKind;
    use super::super::tests::fixtures::TestDatabase;
    use super::*;
    use proptest::prelude::*;

    /// Writes a text as databases hold it, from its head on.
    fn written(version: u16, titles: &[(u16, &[u8])], contents: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = version.to_le_bytes().to_vec();
        bytes.extend((titles.len() as u16).to_le_bytes());
        for (language, title) in titles {
            bytes.extend(language.to_le_bytes());
            bytes.extend((title.len() as u16).to_le_bytes());
            bytes.extend(*title);
        }
        bytes.push(1);
        bytes.extend((contents.len() as u16).to_le_bytes());
        for (language, text) in contents {
            bytes.extend(language.to_le_bytes());
            let wide = (text.len() as u32).to_le_bytes();
            bytes.extend(&wide[..if version == 1 { 2 } else { 4 }]);
            bytes.extend(*text);
            bytes.extend(&[0; 4][..if version == 1 { 2 } else { 4 }]);
        }
        let mut head = (0x8000_0000 | (bytes.len() as u32 + 4)).to_be_bytes().to_vec();
        head.extend(bytes);
        head
    }

    #[test]
    fn texts_of_every_version_are_read() {
        for version in 1..=3 {
            let bytes = written(
                version,
                &[(1, b"Er\xf6ffnung"), (0, b"Opening")],
                &[(0, b"<p>e4 & d4"), (1, b"Z\xfcge")],
            );
            let guide = Guide::read(&bytes);
            assert_eq!(guide.error, None, "{version}");
            assert_eq!(
                (guide.title(0), guide.title(1), guide.title(5)),
                ("Opening", "Eröffnung", "Eröffnung")
            );
            let texts: Vec<_> =
                guide.contents.iter().map(|content| (content.language, &*content.text)).collect();
            assert_eq!(texts, [(0, "<p>e4 & d4"), (1, "Züge")]);
            assert!(guide.contents.iter().all(|content| content.html == (version == 3)));
        }
    }

    #[test]
    fn texts_are_found_by_their_records() {
        let mut database = TestDatabase::default();
        database.play("e4 e5", &[]);
        let bytes = written(3, &[(0, b"Title")], &[(0, b"<p>text")]);
        let number = database.game(0x80, &bytes[4..], &[]);
        *database.record(number, 0) = 3;
        let db = database.open().unwrap();
        let mut reader = CbhReader::new(&db);
        let record = reader.record(number).unwrap();
        assert_eq!(record.kind(), CbhRecordKind::Text);
        let (guide, _) = reader.guide(&record).unwrap();
        assert_eq!((guide.title(0), &*guide.contents[0].text, guide.error), ("Title", "<p>text", None));
        *database.record(number, 1) = 0x7f;
        let db = database.open().unwrap();
        let mut reader = CbhReader::new(&db);
        let record = reader.record(number).unwrap();
        assert!(reader.guide(&record).unwrap_err().why.contains("outside the file of moves"));
    }

    #[test]
    fn pages_are_html_in_utf8_with_safe_names() {
        let plain = Content { language: 1, text: "1. e4 <Zug> & mehr".to_owned(), html: false };
        let page = plain.page("a < b");
        assert!(
            page.starts_with("\u{feff}<!DOCTYPE html>\n<html lang=\"de\">")
                && page.contains("&lt;Zug&gt; &amp; mehr")
        );
        assert!(page.contains("<title>a &lt; b</title>"));
        let html = Content { language: 7, text: "<b>x</b>".to_owned(), html: true };
        assert_eq!(html.page(""), "\u{feff}<b>x</b>");
        for (title, several, name) in [
            ("Die Eröffnung: 1. e4/e5 ...", false, "00012-Die-Eröffnung-1-e4-e5"),
            ("../../etc/passwd", false, "00012-etc-passwd"),
            ("C:\\con\0\n", true, "00012-C-con-de"),
            ("", true, "00012-de"),
        ] {
            assert_eq!(plain.file_name(12, title, several), name);
        }
        assert!(plain.file_name(1, &"ü".repeat(5000), false).len() < 200);
    }

    #[test]
    fn a_page_is_decoded_as_it_says() {
        let page = b"<meta charset=\"iso-8859-2\"><p>\xb1";
        assert_eq!(decode_html(page), "<meta charset=\"iso-8859-2\"><p>ą");
        assert_eq!(decode_html(b"\xef\xbb\xbf\xc3\xbc"), "ü");
        assert_eq!(decode_html(b"<meta charset=what>\xfc"), "<meta charset=what>ü");
    }

    #[test]
    fn a_text_that_is_cut_off_is_kept() {
        let whole = written(3, &[(0, b"Title")], &[(0, b"<p>one two three")]);
        for len in 0..whole.len() {
            let guide = Guide::read(&whole[..len]);
            assert_eq!(guide.error.map(|(_, what)| what), Some("the text is cut off"), "{len}");
        }
        let guide = Guide::read(&whole[..whole.len() - 10]);
        assert_eq!(guide.contents[0].text, "<p>one two");
        assert!(Guide::read(&written(9, &[], &[])).error.unwrap().1.contains("version"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0..4_u8) {
            let mut bytes = bytes;
            if let Some(place) = bytes.get_mut(4) {
                *place = version;
            }
            let guide = Guide::read(&bytes);
            prop_assert!(guide.contents.iter().map(|content| content.text.len()).sum::<usize>() <= 3 * bytes.len());
        }
    }
}
