//! What a CTG book knows of a position, and the marks of its moves.

use super::layout::{GREEN, MARK_BITS, RED, STATISTICS_LEN};
use crate::base::bytes;
use crate::book::{Annotation, Counts, Recommendation};

/// The known comments: code, sign or words (docs/formats/ctg.md, Marks and comments).
const COMMENTS: [(u8, &str); 14] = [
    (0x0b, "="),
    (0x0d, "unclear"),
    (0x0e, "=+"),
    (0x0f, "+="),
    (0x10, "-/+"),
    (0x11, "+/-"),
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
pub fn comment_code(words: &str) -> Option<u8> {
    COMMENTS.iter().find(|(_, known)| *known == words).map(|(code, _)| *code)
}

/// The mark in a move's second byte, if it is known; the bits around its code do not count. The codes are the glyphs of PGN
/// (docs/formats/ctg.md, Marks and comments).
pub fn annotation(code: u8) -> Option<Annotation> {
    Annotation::of_nag(code & MARK_BITS)
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
    /// A byte of unknown meaning.
    pub reserved: u8,
    /// The comment on the position, see [`Statistics::comment`].
    pub comment_code: u8,
}

impl Statistics {
    /// Decodes the bytes after an entry's moves (docs/formats/ctg.md, Entry).
    pub fn from_bytes(bytes: &[u8; STATISTICS_LEN]) -> Self {
        let four = |at| bytes::u32_be(bytes, at).unwrap_or_default();
        let three = |at| four(at) >> 8;
        let [.., recommendation, reserved, comment_code] = *bytes;
        Self {
            games: three(0),
            wins: three(3),
            losses: three(6),
            draws: three(9),
            unknown: four(12),
            own: Rating { games: three(16), sum: four(19) },
            other: Rating { games: three(23), sum: four(26) },
            recommendation,
            reserved,
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
        out.extend([self.recommendation, self.reserved, self.comment_code]);
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
            reserved: 0x20,
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
    fn colours_are_bits() {
        let colour = |recommendation| Statistics { recommendation, ..Statistics::default() }.recommended();
        let (green, red) = (Some(Recommendation::Green), Some(Recommendation::Red));
        let expected = [None, green, green, red, red, None];
        assert_eq!([0, 0x80, 0xa4, 0x40, 0xc0, 0x24].map(colour), expected);
    }

    #[test]
    fn marks_are_the_low_bits() {
        assert_eq!(annotation(0xe1), Some(Annotation::Good));
        assert_eq!(annotation(0xe0), None);
        assert_eq!(annotation(0x16), Some(Annotation::Zugzwang));
        let known: Vec<u8> = (0..0x20).filter(|code| annotation(*code).is_some()).collect();
        assert_eq!(known, [1, 2, 3, 4, 5, 6, 8, 0x16]);
        assert!(known.iter().all(|code| annotation(*code).is_some_and(|mark| mark.nag() == *code)));
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
