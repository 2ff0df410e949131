//! The bytes of an index. All numbers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 8 | the version |
//! | 16 | 48 | where each of the three sections begins and how many bytes it has: positions, games, texts |
//! | 64 | 32 | the digest of the files of games as they were |
//! | 96 | 4 | the CRC-32 of all that follows this head |
//! | 100 | 4 | the CRC-32 of the head before it |
//!
//! Positions: entries of 16 bytes, one for each game of a position: the key (8), the number of the game (6), the code of the move
//! that it went on with (2; 0 if the game ended there). They are sorted by key, then the highest ratings come first, then the latest.
//!
//! Games: records of 32 bytes, sorted by number: the number (8), the bytes of the game in its file (4), White's and Black's rating
//! (2 each), the date (4: year, month in 4 bits, day in 5), the result (1), the speed (1), nothing (2), where its text begins (8).
//!
//! A text is White's name, Black's name and the event, each with its length before it (1).
#![allow(clippy::cast_possible_truncation, reason = "texts are cut before, and dates have few bits")]

use sha2::{Digest as _, Sha256};

use tabiya_base::bytes;
use tabiya_chess::{MoveCode, Speed};
use tabiya_games::{Date, GameResult};

/// How an index begins.
pub(super) const MAGIC: [u8; 8] = *b"tabiyaGI";

/// The version of the layout.
const VERSION: u64 = 2;

/// Bytes before the sections.
pub(super) const HEAD_LEN: usize = 104;

/// Where the checksums are.
const CHECKSUMS_AT: usize = 96;

/// Bytes of an entry of the positions.
pub(super) const ENTRY_LEN: usize = 16;

/// Bytes of the record of a game.
pub(super) const GAME_LEN: usize = 32;

/// Bytes of a game's number in an entry.
const NUMBER_LEN: usize = 6;

/// The most bytes of a name.
const MAX_TEXT: usize = u8::MAX as usize;

/// The digits of the names of games.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The digits of a name, as Lichess has them.
const ID_LEN: usize = 8;

/// What distinguishes the files of games from others, and from themselves before they were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexStamp(pub(super) [u8; 32]);

impl IndexStamp {
    /// The stamp of files with these marks, in this order.
    pub(super) fn from_marks<'a>(marks: impl IntoIterator<Item = &'a str>) -> Self {
        let mut digest = Sha256::new();
        for mark in marks {
            digest.update(mark.as_bytes());
            digest.update([0]);
        }
        Self(digest.finalize().into())
    }
}

/// A part of an index: where it begins, and how many bytes it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) at: u64,
    pub(super) len: u64,
}

/// What an index begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexHead {
    pub(super) sections: [Section; 3],
    pub(super) stamp: IndexStamp,
    /// The CRC-32 of what follows.
    pub(super) checksum: u32,
}

impl IndexHead {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_LEN);
        out.extend(MAGIC);
        out.extend(VERSION.to_be_bytes());
        for Section { at, len } in self.sections {
            out.extend(at.to_be_bytes());
            out.extend(len.to_be_bytes());
        }
        out.extend(self.stamp.0);
        out.extend(self.checksum.to_be_bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out
    }

    /// Reads it; `None` where the bytes are not an index of this version.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        if !is_version(data) {
            return None;
        }
        let checksum = bytes::u32_be(data, CHECKSUMS_AT as u64)?;
        if crc32fast::hash(data.get(..CHECKSUMS_AT + 4)?) != bytes::u32_be(data, CHECKSUMS_AT as u64 + 4)? {
            return None;
        }
        let section = |number: u64| {
            let at = 16 + 16 * number;
            Some(Section { at: bytes::u64_be(data, at)?, len: bytes::u64_be(data, at + 8)? })
        };
        let sections = [section(0)?, section(1)?, section(2)?];
        Some(Self { sections, stamp: IndexStamp(bytes::array(data, 64)?), checksum })
    }
}

/// Whether the bytes begin as an index of this version does.
pub(super) fn is_version(data: &[u8]) -> bool {
    bytes::array(data, 0) == Some(MAGIC) && bytes::u64_be(data, 8) == Some(VERSION)
}

/// An entry of the positions: a game, and the move that it went on with; none where it ended.
pub(super) fn entry(key: u64, number: u64, mv: MoveCode) -> [u8; ENTRY_LEN] {
    let (key, number, mv) = (key.to_be_bytes(), number.to_be_bytes(), mv.0.to_be_bytes());
    let mut bytes = key.iter().chain(number.iter().skip(8 - NUMBER_LEN)).chain(&mv);
    [(); ENTRY_LEN].map(|()| bytes.next().copied().unwrap_or_default())
}

/// The number and the move of an entry.
pub(super) fn read_entry(entry: &[u8; ENTRY_LEN]) -> (u64, MoveCode) {
    let [_, _, _, _, _, _, _, _, number @ .., m1, m2] = entry;
    let number = number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    (number, MoveCode(u16::from_be_bytes([*m1, *m2])))
}

/// The key of an entry.
pub(super) fn key_of(entry: &[u8; ENTRY_LEN]) -> u64 {
    entry.first_chunk().map_or(0, |key| u64::from_be_bytes(*key))
}

/// A date in few bits, in the order of time.
pub(super) fn date_bits(date: Date) -> u32 {
    u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day)
}

/// The date with these bits.
pub(super) fn date_of(bits: u32) -> Date {
    Date { year: (bits >> 9) as u16, month: (bits >> 5 & 0xf) as u8, day: (bits & 0x1f) as u8 }
}

/// A result as a number.
pub(super) fn result_bits(result: Option<GameResult>) -> u8 {
    match result {
        None => 0,
        Some(GameResult::White) => 1,
        Some(GameResult::Draw) => 2,
        Some(GameResult::Black) => 3,
    }
}

/// The result with this number.
pub(super) fn result_of(bits: u8) -> Option<GameResult> {
    [None, Some(GameResult::White), Some(GameResult::Draw), Some(GameResult::Black)]
        .get(usize::from(bits))
        .copied()
        .flatten()
}

/// A speed as a number.
pub(super) fn speed_bits(speed: Option<Speed>) -> u8 {
    speed.map_or(0, |speed| 1 + speed as u8)
}

/// The speed with this number.
pub(super) fn speed_of(bits: u8) -> Option<Speed> {
    let (_, speed) = Speed::NAMES.get(usize::from(bits.checked_sub(1)?))?;
    Some(*speed)
}

/// Appends a name with its length, cut at a letter where it is too long.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    let end = text.floor_char_boundary(MAX_TEXT.min(text.len()));
    out.push(end as u8);
    out.extend(text.as_bytes().iter().take(end));
}

/// The name with its length before it that begins here, and what follows it.
pub(super) fn read_text(data: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = data.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*len))?;
    Some((str::from_utf8(text).ok()?, rest))
}

/// The name of a game: eight letters and digits, as on Lichess.
pub(super) fn id(mut number: u64) -> String {
    let mut name: Vec<u8> = Vec::new();
    while number > 0 || name.len() < ID_LEN {
        let digit = usize::try_from(number % 62).ok().and_then(|digit| DIGITS.get(digit));
        name.extend(digit);
        number /= 62;
    }
    name.iter().rev().map(|digit| char::from(*digit)).collect()
}

/// The number of the game with this name.
pub(super) fn number(id: &str) -> Option<u64> {
    let digit = |letter: u8| DIGITS.iter().position(|digit| *digit == letter);
    let known = (ID_LEN..=ID_LEN + 1).contains(&id.len());
    known.then_some(())?;
    id.bytes().try_fold(0_u64, |number, letter| number.checked_mul(62)?.checked_add(digit(letter)? as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            key in any::<u64>(),
            game in 0..1_u64 << 48,
            mv in any::<u16>(),
            (year, month, day) in (0..10_000_u16, 0..13_u8, 0..32_u8),
            texts in prop::collection::vec("\\PC{0,300}", 3),
        ) {
            let bytes = entry(key, game, MoveCode(mv));
            prop_assert_eq!((key_of(&bytes), read_entry(&bytes)), (key, (game, MoveCode(mv))));
            prop_assert_eq!(number(&id(game)), Some(game));
            let date = Date { year, month, day };
            prop_assert_eq!(date_of(date_bits(date)), date);
            let mut out = Vec::new();
            texts.iter().for_each(|text| put_text(&mut out, text));
            let mut rest = &*out;
            for text in &texts {
                let (read, after) = read_text(rest).unwrap();
                prop_assert!(text.starts_with(read) && (read.len() == text.len() || read.len() > MAX_TEXT - 4));
                rest = after;
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_read(data in prop::collection::vec(any::<u8>(), 0..200), name in "\\PC{0,12}") {
            let _ = (IndexHead::read(&data), read_text(&data), number(&name));
        }
    }

    #[test]
    fn a_head_is_read_in_its_version_only() {
        let section = |at| Section { at, len: 2 * at };
        let head = IndexHead {
            sections: [section(1), section(2), section(3)],
            stamp: IndexStamp::from_marks(["a", "b"]),
            checksum: 7,
        };
        let mut bytes = head.to_bytes();
        assert_eq!((bytes.len(), IndexHead::read(&bytes)), (HEAD_LEN, Some(head)));
        bytes[15] += 1;
        assert_eq!(IndexHead::read(&bytes), None);
        assert_ne!(IndexStamp::from_marks(["a", "b"]), IndexStamp::from_marks(["ab", ""]));
    }

    #[test]
    fn results_and_speeds_are_numbers() {
        for result in [None, Some(GameResult::White), Some(GameResult::Draw), Some(GameResult::Black)] {
            assert_eq!(result_of(result_bits(result)), result);
        }
        for speed in Speed::NAMES.map(|(_, speed)| Some(speed)).into_iter().chain([None]) {
            assert_eq!(speed_of(speed_bits(speed)), speed);
        }
        assert_eq!((result_of(9), speed_of(99)), (None, None));
        assert_eq!(id(0), "00000000");
    }
}
