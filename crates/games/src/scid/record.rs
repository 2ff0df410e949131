//! The record of a game in the index.
#![allow(clippy::cast_possible_truncation, reason = "the bits that are wanted are the low ones")]

use tabiya_base::bytes;

use super::layout::{DELETED, RATINGS, record4};
use crate::{Date, GameResult};

/// How the files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Before `.si4`, and in its files too.
    V300,
    V4,
    V5,
}

/// What the index says of a game, as far as it can be trusted: what follows from the moves is not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScidRecord {
    /// Where the game is in the file of games, and its bytes there.
    pub offset: u64,
    pub len: u64,
    pub flags: u32,
    /// The numbers of White, Black, event, site and round in their lists.
    pub names: [u32; 5],
    /// Whether it is marked as a game of Chess960, which only version 5 does.
    pub chess960: bool,
    pub date: Date,
    pub event_date: Date,
    /// The ratings of White and Black with their kinds; 0 where there is none.
    pub ratings: [(u16, u8); 2],
    result: u8,
    eco: u16,
}

/// A date of 20 bits.
fn date(bits: u32) -> Date {
    Date { year: (bits >> 9 & 0x7ff) as u16, month: (bits >> 5 & 15) as u8, day: (bits & 31) as u8 }
}

/// The date of the event in 12 bits, by the year of the game.
fn near_date(bits: u32, year: u16) -> Date {
    let day = Date { year: 0, month: (bits >> 5 & 15) as u8, day: (bits & 31) as u8 };
    match (bits >> 9 & 7) as u16 {
        0 => Date::default(),
        years => Date { year: (year + years).saturating_sub(4), ..day },
    }
}

impl ScidRecord {
    /// Reads a record; `None` if it is too short.
    pub fn read(version: Version, data: &[u8]) -> Option<Self> {
        match version {
            Version::V300 => {
                let mut data = data.to_vec();
                data.splice(record4::LENGTH_HIGH..record4::LENGTH_HIGH, [0]);
                Self::read4(&data)
            }
            Version::V4 => Self::read4(data),
            Version::V5 => Self::read5(data),
        }
    }

    fn read4(data: &[u8]) -> Option<Self> {
        let word = |at| bytes::u16_be(data, at).map(u32::from);
        let byte = |at: usize| data.get(at).copied().map(u32::from);
        let (high, players) = (byte(record4::LENGTH_HIGH)?, byte(record4::PLAYERS_HIGH)?);
        let others = byte(record4::NAMES_HIGH)?;
        let highs = [players >> 4, players & 15, others >> 5, others >> 2 & 7, others & 3];
        let mut names = [0; 5];
        let lows = record4::PLAYERS.into_iter().chain(record4::NAMES);
        for ((name, high), at) in names.iter_mut().zip(highs).zip(lows) {
            *name = high << 16 | word(at)?;
        }
        let dates = bytes::u32_be(data, record4::DATES)?;
        let date = date(dates);
        let [white, black] = record4::RATINGS.map(|at| word(at).unwrap_or_default());
        Some(Self {
            offset: bytes::u32_be(data, record4::OFFSET)?.into(),
            len: (high >> 7 << 16 | word(record4::LENGTH)?).into(),
            flags: (high & 63) << 16 | word(record4::FLAGS)?,
            names,
            chess960: false,
            date,
            event_date: near_date(dates >> 20, date.year),
            ratings: [white, black].map(|bits| ((bits & 0xfff) as u16, (bits >> 12) as u8)),
            result: (word(record4::RESULT)? >> 12) as u8,
            eco: word(record4::ECO)? as u16,
        })
    }

    fn read5(data: &[u8]) -> Option<Self> {
        let mut words = [0; 12];
        for (at, word) in (0..).step_by(4).zip(&mut words) {
            *word = bytes::u32_le(data, at)?;
        }
        let [white, black, event, site, round, dates, event_dates, flags, place, offset, _, last] = words;
        const LOW: u32 = (1 << 28) - 1;
        let rating = |bits: u32, kind: u32| ((bits >> 20) as u16, (last >> kind & 7) as u8);
        Some(Self {
            offset: u64::from(place & 0x7fff) << 32 | u64::from(offset),
            len: (place >> 15).into(),
            flags: flags & 0x3f_ffff,
            names: [white & LOW, black & LOW, event & LOW, site, round & (u32::MAX >> 1)],
            chess960: round >> 31 != 0,
            date: date(dates),
            event_date: date(event_dates),
            ratings: [rating(dates, 21), rating(event_dates, 18)],
            result: (last >> 16 & 3) as u8,
            eco: last as u16,
        })
    }

    /// Whether it is marked as deleted; it is still whole.
    pub fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    pub fn result(&self) -> Option<GameResult> {
        match self.result {
            1 => Some(GameResult::White),
            2 => Some(GameResult::Black),
            3 => Some(GameResult::Draw),
            _ => None,
        }
    }

    /// The opening as Scid writes its code, such as `B00` or `A04b2`; empty where there is none.
    pub fn eco(&self) -> String {
        /// Letters after the three characters, each alone or with a digit from 1 to 4, and none.
        const BELOW: u16 = 26 * 5 + 1;
        let Some(eco) = self.eco.checked_sub(1).filter(|eco| *eco < 500 * BELOW) else {
            return String::new();
        };
        let (code, below) = (eco / BELOW, eco % BELOW);
        let letter = |first: u8, number: u16| char::from(first + number as u8);
        let mut text = format!("{}{:02}", letter(b'A', code / 100), code % 100);
        if let Some(below) = below.checked_sub(1) {
            text.push(letter(b'a', below / 5));
            if below % 5 != 0 {
                text.push(letter(b'0', below % 5));
            }
        }
        text
    }

    /// The end of the tag of a side's rating, and the rating, if there is one.
    pub fn rating(&self, black: bool) -> Option<(&'static str, u16)> {
        let [white, of_black] = self.ratings;
        let (rating, kind) = if black { of_black } else { white };
        RATINGS.get(usize::from(kind)).map(|kind| (*kind, rating)).filter(|_| rating != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of hexadecimal digits.
    fn bytes(digits: &str) -> Vec<u8> {
        let digits: Vec<_> = digits.chars().filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    #[test]
    fn the_vectors_of_the_description_are_read() {
        let four = bytes(
            "00000000 00ff 01 0010 00 0000 0001 00 0000 0000 0000 1675 7fef 868fd069 0834 07cf ca6a86a8 11 08 b3c4d78000000000",
        );
        let five = bytes(
            "00000070 01000050 00000060 00000000 00000000 69d04f83 68d0ff7c 00004004 00807f00 00000000 a8866aca ef7f0108 b3c4d78000000000",
        );
        let (four, five) =
            (ScidRecord::read(Version::V4, &four).unwrap(), ScidRecord::read(Version::V5, &five).unwrap());
        assert_eq!((four.offset, four.len, four.names), (0, 255, [0, 1, 0, 0, 0]));
        assert_eq!(four.flags, 1 << 4 | 1 << 16);
        assert_eq!(
            (four.date.to_string(), four.event_date.to_string()),
            ("2024.03.09".into(), "2024.03.08".into())
        );
        assert_eq!((four.rating(false), four.rating(true)), (Some(("Elo", 2100)), Some(("Elo", 1999))));
        assert_eq!((four.result(), four.eco()), (Some(GameResult::White), "C50".to_owned()));
        assert_eq!(five, ScidRecord { flags: five.flags, ..four });
        assert_eq!(ScidRecord::read(Version::V5, &[0; 47]), None);
    }

    #[test]
    fn codes_of_openings_are_those_of_scid() {
        for (eco, text) in [(0, ""), (1, "A00"), (533, "A04b2"), (526, "A04a"), (65500, "E99z4"), (65501, "")]
        {
            assert_eq!(ScidRecord { eco, ..ScidRecord::default() }.eco(), text, "{eco}");
        }
    }

    #[test]
    fn dates_of_events_are_near_those_of_games() {
        for (bits, year, text) in [
            (0, 2024, "????.??.??"),
            (4 << 9 | 3 << 5 | 8, 2024, "2024.03.08"),
            (1 << 9, 2024, "2021.??.??"),
            (7 << 9 | 12 << 5 | 31, 2024, "2027.12.31"),
            (1 << 9, 2, "????.??.??"),
        ] {
            assert_eq!(near_date(bits, year).to_string(), text);
        }
    }
}
