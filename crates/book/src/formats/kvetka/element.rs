//! An element: what a book knows of one position.
#![allow(clippy::cast_possible_truncation, reason = "moves are cut to 255 before")]

use tabiya_base::bytes::Parts as _;
use tabiya_chess::openings::is_eco;

use super::key::Key;
use super::layout::{HAS_COMMENT, HAS_ENDS, HAS_LINK, KEY_LEN, LINK_LEN, MAX_COMMENT, MAX_ELEMENT};
use super::wire::{KvetkaReader, Result, TOO_LONG, put_compact, put_unicode};
use crate::Counts;

/// Reads the results of a position: three CompactInts.
///
/// # Errors
/// When one cannot be read.
pub(super) fn read_results(reader: &mut KvetkaReader<'_>) -> Result<Counts> {
    Ok(Counts::ended(reader.compact()?, reader.compact()?, reader.compact()?))
}

pub(super) fn put_results(Counts { wins, draws, losses, .. }: Counts, out: &mut Vec<u8>) {
    [wins, draws, losses].into_iter().for_each(|count| put_compact(count, out));
}

/// A game by its source in the `.ksf` file and its place there, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The source.
    pub source: u16,
    /// The game in it.
    pub game: u32,
}

impl Link {
    /// Both as one number, in the order of sources and games.
    pub fn number(self) -> u64 {
        u64::from(self.source) << 32 | u64::from(self.game)
    }
}

/// An element in its block.
#[derive(Clone, Copy, Debug)]
pub struct RawElement<'a> {
    /// Its offset in the block.
    pub at: usize,
    /// The offset in the block after it.
    pub end: usize,
    pub key: &'a [u8; KEY_LEN],
    /// The bytes after the key.
    rest: &'a [u8],
}

/// Results and moves of an element, which play needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    /// The games that ended.
    pub results: Counts,
    /// The codes of the moves.
    pub moves: &'a [u8],
    /// The bytes after them.
    tail: KvetkaReader<'a>,
}

/// The part of an element after its moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The flags as they are.
    pub flags: u8,
    /// A game with the position.
    pub link: Option<Link>,
    /// The comment, mostly the opening's name.
    pub comment: Option<String>,
    /// The bytes after the comment: links in an undescribed form, and what later flags may mean.
    pub rest: Vec<u8>,
}

impl<'a> RawElement<'a> {
    /// The element at an offset of the used bytes of a block.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(used: &'a [u8], at: usize) -> Result<Self> {
        let mut reader = KvetkaReader::at(used, at as u64);
        let len = reader.compact()?;
        let (key, rest) = reader.bytes(len)?.split_first_chunk().ok_or(TOO_LONG)?;
        Ok(Self { at, end: reader.offset() as usize, key, rest })
    }

    /// Its bytes with its length.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_compact((self.key.len() + self.rest.len()) as u64, &mut bytes);
        [&bytes, &self.key[..], self.rest].concat()
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.end - self.at
    }

    /// Its results and moves.
    ///
    /// # Errors
    /// When they do not end within it.
    pub(crate) fn body(&self) -> Result<Body<'a>> {
        let mut reader = KvetkaReader::at(self.rest, 0);
        let results = read_results(&mut reader)?;
        let count = reader.u8()?;
        let moves = reader.bytes(count.into())?;
        Ok(Body { results, moves, tail: reader })
    }
}

impl Body<'_> {
    /// The bytes after the moves.
    pub(crate) fn rest(&self) -> &[u8] {
        self.tail.rest()
    }

    /// The part after the moves; `has_links` is the header's flag.
    ///
    /// # Errors
    /// When it does not end within the element, or its comment is longer than the bytes left.
    pub fn extras(&self, has_links: bool) -> Result<Extras> {
        let mut reader = self.tail;
        let flags = reader.u8()?;
        let mut extras = Extras { flags, ..Extras::default() };
        if has_links && flags & HAS_LINK != 0 {
            extras.link = Some(Link { source: reader.u16()?, game: reader.u32()? });
        }
        if flags & HAS_COMMENT != 0 {
            extras.comment = Some(reader.unicode()?);
        }
        extras.rest = reader.rest().to_vec();
        Ok(extras)
    }
}

/// An element to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The position.
    pub key: Key,
    /// The games that ended.
    pub results: Counts,
    /// The codes of the moves, each once.
    pub moves: Vec<u8>,
    /// The part after them. Only the flags that belong to [`Extras::rest`] count.
    pub extras: Extras,
}

/// The parts that an element left out to be short enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The links in an undescribed form, and all else after the comment.
    pub rest: bool,
    /// The link to a game.
    pub link: bool,
    /// Letters of the comment.
    pub comment: bool,
}

impl Element {
    /// Appends its bytes, no more than [`MAX_ELEMENT`]: links are left out first, then letters of the comment.
    ///
    /// `has_links` is the header's flag: without it no link is written.
    pub fn write(&self, has_links: bool, out: &mut Vec<u8>) -> LeftOut {
        let mut left_out = LeftOut::default();
        let mut body = self.key.0.to_vec();
        put_results(self.results, &mut body);
        // A position of chess has no more than 218 moves.
        let moves = self.moves.part(..self.moves.len().min(usize::from(u8::MAX)));
        body.push(moves.len() as u8);
        body.extend(moves);

        let mut flags = self.extras.flags & !(HAS_COMMENT | HAS_LINK);
        let mut link = self.extras.link.filter(|_| has_links);
        let mut rest = &self.extras.rest[..];
        let mut comment: Vec<u16> = self.extras.comment.iter().flat_map(|text| text.encode_utf16()).collect();
        left_out.comment |= shorten(&mut comment, MAX_COMMENT);
        // The length of the longest element is written in two bytes.
        let room = MAX_ELEMENT.saturating_sub(2 + body.len() + 1);
        let text = if comment.is_empty() { 0 } else { 4 + 2 * comment.len() };
        let links = |link: Option<Link>, rest: &[u8]| rest.len() + link.map_or(0, |_| LINK_LEN);
        if room < links(link, rest) + text && !rest.is_empty() {
            (rest, left_out.rest) = (&[], true);
        }
        if rest.is_empty() {
            flags &= !HAS_ENDS;
        }
        if room < links(link, rest) + text && link.is_some() {
            (link, left_out.link) = (None, true);
        }
        left_out.comment |= shorten(&mut comment, room.saturating_sub(4 + links(link, rest)) / 2);

        if link.is_some() {
            flags |= HAS_LINK;
        }
        if !comment.is_empty() {
            flags |= HAS_COMMENT;
        }
        body.push(flags);
        if let Some(Link { source, game }) = link {
            body.extend(source.to_be_bytes());
            body.extend(game.to_be_bytes());
        }
        if !comment.is_empty() {
            put_unicode(&String::from_utf16_lossy(&comment), &mut body);
        }
        body.extend(rest);
        put_compact(body.len() as u64, out);
        out.append(&mut body);
        left_out
    }
}

/// Cuts a text to so many characters, but never splits a pair of surrogates.
fn shorten(text: &mut Vec<u16>, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    text.truncate(most);
    if text.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
        text.pop();
    }
    true
}

/// The name of an opening in a comment of the form `E98|King's Indian|Main line`, for people: `E98 King's Indian: Main
/// line`. A comment of another form is unchanged.
///
/// ```
/// use tabiya_book::kvetka::opening_name;
/// assert_eq!(opening_name("A41|Queen's Pawn"), "A41 Queen's Pawn");
/// assert_eq!(opening_name("a note"), "a note");
/// ```
pub fn opening_name(comment: &str) -> String {
    match comment.split_once('|') {
        Some((code, name)) if is_eco(code) => format!("{code} {}", name.replacen('|', ": ", 1)),
        _ => comment.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::{ENDLESS, LONG_TEXT};
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], has_links: bool) -> (Element, usize) {
        let raw = RawElement::read(bytes, 0).unwrap();
        let body = raw.body().unwrap();
        let extras = body.extras(has_links).unwrap();
        let key = Key(*raw.key);
        (Element { key, results: body.results, moves: body.moves.to_vec(), extras }, raw.len())
    }

    fn element(moves: usize, comment: usize, rest: usize) -> Element {
        Element {
            key: Key([7; KEY_LEN]),
            results: Counts::ended(1, 200, 1 << 40),
            moves: (0..moves).map(|code| code as u8).collect(),
            extras: Extras {
                flags: 0,
                link: Some(Link { source: 3, game: 70_000 }),
                comment: Some("é".repeat(comment)),
                rest: vec![9; rest],
            },
        }
    }

    #[test]
    fn an_element_has_the_described_layout() {
        let element = Element {
            results: Counts::ended(5, 300, 0),
            moves: vec![0x11, 0x0d],
            extras: Extras {
                comment: Some("A41".to_owned()),
                link: Some(Link { source: 1, game: 2 }),
                ..Extras::default()
            },
            ..element(0, 0, 0)
        };
        let mut bytes = Vec::new();
        assert_eq!(element.write(true, &mut bytes), LeftOut::default());
        let expected = [
            &[22 + 4 + 3 + 1 + 6 + 10][..],
            &[7; 22],
            &[5, 0x82, 0x2c, 0, 2, 0x11, 0x0d],
            &[HAS_COMMENT | HAS_LINK, 0, 1, 0, 0, 0, 2],
            &[0, 0, 0, 3, 0, b'A', 0, b'4', 0, b'1'],
        ];
        assert_eq!(bytes, expected.concat());
        // Without links in the header none is written.
        bytes.clear();
        element.write(false, &mut bytes);
        assert_eq!(read(&bytes, false).0.extras.link, None);
    }

    #[test]
    fn an_element_that_is_too_long_leaves_out_links_first() {
        let mut bytes = Vec::new();
        let left_out = element(200, 150, 700).write(true, &mut bytes);
        assert_eq!(left_out, LeftOut { rest: true, ..LeftOut::default() });
        let (back, len) = read(&bytes, true);
        assert!(len <= MAX_ELEMENT && back.extras.link.is_some() && back.extras.rest.is_empty());
        bytes.clear();
        let left_out = element(40, 310, 0).write(true, &mut bytes);
        assert_eq!(left_out, LeftOut { link: true, comment: true, rest: false });
        let (back, len) = read(&bytes, true);
        assert!((678..=MAX_ELEMENT).contains(&len) && back.moves.len() == 40, "{len}");
    }

    #[test]
    fn links_of_unknown_form_are_kept_as_they_are() {
        let mut element = element(3, 4, 20);
        element.extras.flags = HAS_ENDS | 0x40;
        let mut bytes = Vec::new();
        assert_eq!(element.write(true, &mut bytes), LeftOut::default());
        element.extras.flags |= HAS_LINK | HAS_COMMENT;
        assert_eq!(read(&bytes, true).0, element);
    }

    #[test]
    fn an_element_that_is_cut_off_is_an_error_with_a_reason() {
        let mut bytes = Vec::new();
        element(3, 4, 0).write(true, &mut bytes);
        assert_eq!(RawElement::read(&bytes[..bytes.len() - 1], 0).unwrap_err(), TOO_LONG);
        assert_eq!(RawElement::read(&[0x80; 20], 0).unwrap_err(), ENDLESS);
        assert_eq!(RawElement::read(&[21; 22], 0).unwrap_err(), TOO_LONG);
        // The counts do not end; the moves end after the element; the comment does.
        let with = |rest: &[u8]| [&[22 + rest.len() as u8][..], &[0; 22], rest].concat();
        let body = |rest: &[u8]| RawElement::read(&with(rest), 0).unwrap().body().map(|_| ());
        assert_eq!(body(&[0x80; 12]), Err(ENDLESS));
        assert_eq!(body(&[1, 1]), Err(TOO_LONG));
        assert_eq!(body(&[1, 1, 1, 9, 0]), Err(TOO_LONG));
        let long = with(&[1, 1, 1, 0, HAS_COMMENT, 0xff, 0xff, 0xff, 0xff, 0, 0]);
        let body = RawElement::read(&long, 0).unwrap().body().unwrap();
        assert_eq!((body.results.games, body.extras(true).unwrap_err()), (3, LONG_TEXT));
    }

    #[test]
    fn names_of_openings_differ_from_other_comments() {
        assert_eq!(
            opening_name("B33|Sicilian Defence|Pelikan, Bird Variation"),
            "B33 Sicilian Defence: Pelikan, Bird Variation"
        );
        assert_eq!(opening_name("F00|x"), "F00|x");
    }

    proptest! {
        #[test]
        fn every_element_is_read_back(
            key: [u8; KEY_LEN],
            counts: [u64; 3],
            bits in 0..64_u32,
            moves in prop::collection::vec(any::<u8>(), 0..219),
            link in prop::option::of((any::<u16>(), any::<u32>())),
            // Other letters may read as well in the other order of bytes, which is found out by guessing.
            comment in prop::option::of("[ -ÿ]{1,320}"),
            rest in prop::collection::vec(any::<u8>(), 0..700),
            has_links: bool,
        ) {
            let [wins, draws, losses] = counts.map(|count| count >> bits);
            let extras = Extras {
                flags: HAS_ENDS,
                link: link.map(|(source, game)| Link { source, game }),
                comment,
                rest,
            };
            let element = Element { key: Key(key), results: Counts::ended(wins, draws, losses), moves, extras };
            let mut bytes = Vec::new();
            let left_out = element.write(has_links, &mut bytes);
            let (back, len) = read(&bytes, has_links);
            prop_assert_eq!(len, bytes.len());
            prop_assert!(len <= MAX_ELEMENT);
            prop_assert_eq!((back.key, back.results, &back.moves), (element.key, element.results, &element.moves));
            prop_assert_eq!(back.extras.link, element.extras.link.filter(|_| has_links && !left_out.link));
            if !left_out.rest {
                prop_assert_eq!(&back.extras.rest, &element.extras.rest);
            }
            if !left_out.comment {
                prop_assert_eq!(&back.extras.comment, &element.extras.comment);
            }
        }
    }
}
