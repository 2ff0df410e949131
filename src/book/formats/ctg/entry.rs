//! An entry decoded: what a CTG book knows of a position and of its moves.

use super::layout::{GREEN, MARK_BITS, RED, STATISTICS_LEN};
use super::page::RawEntry;
use crate::book::{Annotation, Counts};

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

/// The known marks, by the low bits of a move's second byte (docs/formats/ctg.md, Marks and comments).
const MARKS: [(u8, Annotation); 8] = [
    (0x01, Annotation::Good),
    (0x02, Annotation::Bad),
    (0x03, Annotation::Brilliant),
    (0x04, Annotation::Blunder),
    (0x05, Annotation::Interesting),
    (0x06, Annotation::Dubious),
    (0x08, Annotation::Only),
    (0x16, Annotation::Zugzwang),
];

fn comment(code: u8) -> Option<&'static str> {
    COMMENTS.iter().find(|(known, _)| *known == code).map(|(_, words)| *words)
}

/// The code of a comment, where it is known.
pub fn comment_code(words: &str) -> Option<u8> {
    COMMENTS.iter().find(|(_, known)| *known == words).map(|(code, _)| *code)
}

/// The code of a mark, 0 for none.
pub fn annotation_code(mark: Option<Annotation>) -> u8 {
    MARKS.iter().find(|(_, known)| mark == Some(*known)).map_or(0, |(code, _)| *code)
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

/// All that an entry holds of its position, for the side to move in it.
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
    /// A byte of unknown meaning behind the recommendation.
    pub reserved: u8,
    /// The comment on the position, see [`Statistics::comment`].
    pub comment_code: u8,
}

impl Statistics {
    /// Decodes the bytes after an entry's moves (docs/formats/ctg.md, Entry).
    pub fn from_bytes(bytes: &[u8; STATISTICS_LEN]) -> Self {
        let [
            g0,
            g1,
            g2,
            w0,
            w1,
            w2,
            l0,
            l1,
            l2,
            d0,
            d1,
            d2,
            u0,
            u1,
            u2,
            u3,
            a0,
            a1,
            a2,
            s0,
            s1,
            s2,
            s3,
            b0,
            b1,
            b2,
            t0,
            t1,
            t2,
            t3,
            recommendation,
            reserved,
            comment_code,
        ] = *bytes;
        let three = |a, b, c| u32::from_be_bytes([0, a, b, c]);
        Self {
            games: three(g0, g1, g2),
            wins: three(w0, w1, w2),
            losses: three(l0, l1, l2),
            draws: three(d0, d1, d2),
            unknown: u32::from_be_bytes([u0, u1, u2, u3]),
            own: Rating { games: three(a0, a1, a2), sum: u32::from_be_bytes([s0, s1, s2, s3]) },
            other: Rating { games: three(b0, b1, b2), sum: u32::from_be_bytes([t0, t1, t2, t3]) },
            recommendation,
            reserved,
            comment_code,
        }
    }

    /// The bytes as they stand in an entry; counts keep their low 24 bits.
    pub fn to_bytes(&self) -> [u8; STATISTICS_LEN] {
        let three = |number: u32| {
            let [_, a, b, c] = number.to_be_bytes();
            [a, b, c]
        };
        let mut bytes = [0; STATISTICS_LEN];
        let mut rest = &mut bytes[..];
        let mut put = |part: &[u8]| {
            let (place, behind) = std::mem::take(&mut rest).split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = behind;
        };
        for count in [self.games, self.wins, self.losses, self.draws] {
            put(&three(count));
        }
        put(&self.unknown.to_be_bytes());
        for rating in [self.own, self.other] {
            put(&three(rating.games));
            put(&rating.sum.to_be_bytes());
        }
        put(&[self.recommendation, self.reserved, self.comment_code]);
        bytes
    }

    /// Whether a move to this position is green (`true`) or red (`false`); one that is marked as both is red, for
    /// what may never be played must not be.
    pub fn recommended(&self) -> Option<bool> {
        if self.recommendation & RED != 0 {
            Some(false)
        } else {
            (self.recommendation & GREEN != 0).then_some(true)
        }
    }

    /// The comment as a sign or words, where it is known.
    pub fn comment(&self) -> Option<&'static str> {
        comment(self.comment_code)
    }

    /// The counts of the side that moved to this position.
    pub fn of_mover(&self) -> Counts {
        Counts {
            games: self.games.into(),
            wins: self.losses.into(),
            draws: self.draws.into(),
            losses: self.wins.into(),
        }
    }
}

/// A move of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryMove {
    /// Its code.
    pub code: u8,
    /// Its mark with the bits around it.
    pub annotation_code: u8,
}

impl EntryMove {
    /// Its mark, where it is known.
    pub fn annotation(self) -> Option<Annotation> {
        let code = self.annotation_code & MARK_BITS;
        MARKS.iter().find(|(known, _)| *known == code).map(|(_, mark)| *mark)
    }
}

/// An entry: a position's statistics and its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What is known of the position.
    pub statistics: Statistics,
    /// Its moves, in the order of the file.
    pub moves: Vec<EntryMove>,
}

impl<'a> RawEntry<'a> {
    /// What is known of the position.
    pub fn statistics(&self) -> Statistics {
        Statistics::from_bytes(self.statistics)
    }

    /// Its moves, in the order of the file.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = EntryMove> + use<'a> {
        self.moves.iter().map(|&[code, annotation_code]| EntryMove { code, annotation_code })
    }

    /// All of it.
    pub fn decode(&self) -> Entry {
        Entry { statistics: self.statistics(), moves: self.moves().collect() }
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
        assert_eq!(expected.to_bytes(), bytes);
        let mover = Counts { games: 0x01_0203, wins: 0x07_0809, draws: 0x0a_0b0c, losses: 0x04_0506 };
        assert_eq!(expected.of_mover(), mover);
    }

    #[test]
    fn colours_are_bits() {
        let colour = |recommendation| Statistics { recommendation, ..Statistics::default() }.recommended();
        let expected = [None, Some(true), Some(true), Some(false), Some(false), None];
        assert_eq!([0, 0x80, 0xa4, 0x40, 0xc0, 0x24].map(colour), expected);
    }

    #[test]
    fn marks_are_the_low_bits() {
        let mark = |annotation_code| EntryMove { code: 0, annotation_code }.annotation();
        assert_eq!(mark(0xe1), Some(Annotation::Good));
        assert_eq!(mark(0xe0), None);
        assert_eq!(mark(0x16), Some(Annotation::Zugzwang));
        let known = (0..0x20).filter_map(mark).count();
        assert_eq!(known, MARKS.len());
        assert!((0..0x20).all(|code| mark(code).is_none_or(|mark| annotation_code(Some(mark)) == code)));
        assert_eq!(annotation_code(None), 0);
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
