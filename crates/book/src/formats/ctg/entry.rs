//! What a CTG book knows of a position, and the marks of its moves.

use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Result};

use super::layout::{GREEN, RED, STATISTICS_LEN};
use super::layout::{HAS_FACTOR, SIGNS_OF_FACTOR};
#[cfg(feature = "write")]
use crate::MoveFacts;
use crate::{Annotation, Counts, Recommendation};

/// The known comments: code, sign or words (docs/formats/ctg.md, Marks and comments).
const COMMENTS: [(u8, &str); 16] = [
    (0x0a, "drawish"),
    (0x0b, "="),
    (0x0d, "unclear"),
    (0x0e, "=+"),
    (0x0f, "+="),
    (0x10, "-/+"),
    (0x11, "+/-"),
    (0x12, "-+"),
    (0x13, "+-"),
    (0x20, "development advantage"),
    (0x24, "initiative"),
    (0x28, "attack"),
    (0x2c, "compensation"),
    (0x84, "counterplay"),
    (0x8a, "time trouble"),
    (0x92, "novelty"),
];

/// The code of a comment, if it is known.
#[cfg(any(test, feature = "write"))]
pub fn comment_code(words: &str) -> Option<u8> {
    COMMENTS.iter().find(|(_, known)| *known == words).map(|(code, _)| *code)
}

/// The mark in a move's second byte: a glyph of PGN by its number, in the bits of [`Ctg::mark_mask`]
/// (docs/formats/ctg.md, Marks and comments).
///
/// [`Ctg::mark_mask`]: super::read::Ctg::mark_mask
pub fn annotation(byte: u8, mask: u8) -> Option<Annotation> {
    Annotation::of_nag(byte & mask)
}

/// A move's second byte with another mark.
///
/// # Errors
/// When the bits of the mask have no room for it.
pub(super) fn with_mark(byte: u8, mark: Option<Annotation>, mask: u8) -> Result<u8> {
    let nag = mark.map_or(0, Annotation::nag);
    if nag & !mask == 0 {
        return Ok(byte & !mask | nag);
    }
    let what = "this book has marks of five bits, and no room for this one";
    Err(Error::new(ErrorKind::Usage, what).advice("convert the book, and edit the new one"))
}

/// Whether an entry says something of its position besides results, a colour and a factor: a comment, ratings, or a flag.
pub(super) fn has_remarks(entry: &[u8]) -> bool {
    let Some(bytes) = entry.last_chunk() else { return false };
    let known = Statistics::from_bytes(bytes);
    let of_factor = if known.factor == 0 { HAS_FACTOR } else { HAS_FACTOR | SIGNS_OF_FACTOR };
    known.comment_code != 0
        || known.recommendation & !(GREEN | RED | of_factor) != 0
        || known.own.games != 0
        || known.other.games != 0
}

/// Ratings of one side in the games that went through a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rating {
    /// Games in which the side had a rating.
    pub games: u32,
    /// The sum of its ratings.
    pub sum: u32,
}

impl Rating {
    /// The average, rounded; `None` without games.
    pub fn average(self) -> Option<u32> {
        let sum = u64::from(self.sum) + u64::from(self.games / 2);
        sum.checked_div(self.games.into()).and_then(|average| u32::try_from(average).ok())
    }
}

/// What an entry holds of its position, for the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All games, unfinished ones too.
    pub games: u32,
    /// Games that the side to move won.
    pub wins: u32,
    /// Games that it lost.
    pub losses: u32,
    /// Drawn games.
    pub draws: u32,
    /// Four bytes of unknown meaning.
    pub unknown: u32,
    /// Ratings of the side to move.
    pub own: Rating,
    /// Ratings of the other side.
    pub other: Rating,
    /// What is recommended, bit by bit; see [`Statistics::recommended`].
    pub recommendation: u8,
    /// By how much moves to the position are played more or less: very likely ChessBase's factor, from -125 to 125.
    pub factor: i8,
    /// The comment on the position, see [`Statistics::comment`].
    pub comment_code: u8,
}

impl Statistics {
    /// Decodes the bytes after an entry's moves (docs/formats/ctg.md, Entry).
    pub fn from_bytes(bytes: &[u8; STATISTICS_LEN]) -> Self {
        let four = |at| bytes::u32_be(bytes, at).unwrap_or_default();
        let three = |at| four(at) >> 8;
        let [.., recommendation, factor, comment_code] = *bytes;
        Self {
            games: three(0),
            wins: three(3),
            losses: three(6),
            draws: three(9),
            unknown: four(12),
            own: Rating { games: three(16), sum: four(19) },
            other: Rating { games: three(23), sum: four(26) },
            recommendation,
            factor: factor.cast_signed(),
            comment_code,
        }
    }

    /// Appends the same bytes; counts keep their low 24 bits.
    pub fn write(&self, out: &mut Vec<u8>) {
        let three = |number: u32| {
            let [_, a, b, c] = number.to_be_bytes();
            [a, b, c]
        };
        out.extend([self.games, self.wins, self.losses, self.draws].into_iter().flat_map(three));
        out.extend(self.unknown.to_be_bytes());
        for rating in [self.own, self.other] {
            out.extend(three(rating.games));
            out.extend(rating.sum.to_be_bytes());
        }
        out.extend([self.recommendation, self.factor.cast_unsigned(), self.comment_code]);
    }

    /// The colour of a move to this position. A move that is both green and red is red, because a forbidden
    /// move must not be played.
    pub fn recommended(&self) -> Option<Recommendation> {
        if self.recommendation & RED != 0 {
            Some(Recommendation::Red)
        } else {
            (self.recommendation & GREEN != 0).then_some(Recommendation::Green)
        }
    }

    /// Whether the factor alone keeps moves to this position from being played.
    #[cfg(feature = "write")]
    pub(super) fn is_never(&self) -> bool {
        MoveFacts { factor: Some(self.factor), ..MoveFacts::new((), 1) }.is_never_by_factor()
    }

    /// The comment as a sign or words, if it is known.
    pub fn comment(&self) -> Option<&'static str> {
        COMMENTS.iter().find(|(known, _)| *known == self.comment_code).map(|(_, words)| *words)
    }

    /// The counts of the side to move.
    pub fn counts(&self) -> Counts {
        Counts {
            games: self.games.into(),
            wins: self.wins.into(),
            draws: self.draws.into(),
            losses: self.losses.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_place() {
        let mut bytes = [0; STATISTICS_LEN];
        bytes.iter_mut().zip(1..).for_each(|(byte, number)| *byte = number);
        let expected = Statistics {
            games: 0x01_0203,
            wins: 0x04_0506,
            losses: 0x07_0809,
            draws: 0x0a_0b0c,
            unknown: 0x0d0e_0f10,
            own: Rating { games: 0x11_1213, sum: 0x1415_1617 },
            other: Rating { games: 0x18_191a, sum: 0x1b1c_1d1e },
            recommendation: 0x1f,
            factor: 0x20,
            comment_code: 0x21,
        };
        assert_eq!(Statistics::from_bytes(&bytes), expected);
        let mut written = Vec::new();
        expected.write(&mut written);
        assert_eq!(written, bytes);
        let counts = Counts { games: 0x01_0203, wins: 0x04_0506, draws: 0x0a_0b0c, losses: 0x07_0809 };
        assert_eq!(expected.counts(), counts);
    }

    #[test]
    fn a_remark_is_what_is_neither_a_colour_nor_of_the_factor() {
        let remarks = |known: Statistics| {
            let mut bytes = vec![0, 1];
            known.write(&mut bytes);
            has_remarks(&bytes)
        };
        let of = |recommendation, factor| Statistics { recommendation, factor, ..Statistics::default() };
        assert_eq!(
            [of(0x80, 0), of(0x04, 0), of(0x14, 7), of(0xa4, -7), of(0x24, -125)].map(remarks),
            [false; 5]
        );
        let rated = Statistics { own: Rating { games: 1, sum: 2000 }, ..of(0x24, -7) };
        let others =
            [of(0x10, 0), of(0x08, 0), of(0x06, 7), Statistics { comment_code: 0x0b, ..of(0, 0) }, rated];
        assert_eq!(others.map(remarks), [true; 5]);
    }

    #[test]
    fn colours_are_bits() {
        let colour = |recommendation| Statistics { recommendation, ..Statistics::default() }.recommended();
        let (green, red) = (Some(Recommendation::Green), Some(Recommendation::Red));
        let expected = [None, green, green, red, red, None];
        assert_eq!([0, 0x80, 0xa4, 0x40, 0xc0, 0x24].map(colour), expected);
    }

    #[test]
    fn marks_are_glyphs_of_pgn_in_the_bits_that_hold_them() {
        assert_eq!(annotation(0xe1, 0x1f), Some(Annotation::Good));
        assert_eq!(annotation(0xe0, 0x1f), None);
        let marks = [0x16, 0x20, 0x24, 0x28, 0x84].map(|byte| annotation(byte, 0xff));
        let others = [0x20, 0x24, 0x28, 0x84].map(|nag| Some(Annotation::Other(nag)));
        assert_eq!((marks[0], &marks[1..]), (Some(Annotation::Zugzwang), &others[..]));
        let attack = Some(Annotation::Other(0x28));
        assert_eq!(with_mark(0x01, attack, 0xff).unwrap(), 0x28);
        assert_eq!(with_mark(0xe1, None, 0x1f).unwrap(), 0xe0);
        assert!(with_mark(0xe1, attack, 0x1f).is_err());
    }

    #[test]
    fn averages_are_rounded_and_need_games() {
        assert_eq!(Rating { games: 2, sum: 5001 }.average(), Some(2501));
        assert_eq!(Rating { games: 0, sum: 5001 }.average(), None);
        let comment = |comment_code| Statistics { comment_code, ..Statistics::default() }.comment();
        assert_eq!((comment(0), comment(0x0e), comment(0x92)), (None, Some("=+"), Some("novelty")));
        let back = |code| comment(code).is_none_or(|words| comment_code(words) == Some(code));
        assert!((0..=255).all(back) && comment_code("").is_none());
    }
}
