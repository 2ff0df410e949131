//! The bytes of an index. All numbers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 8 | the version |
//! | 16 | 144 | where each [`Part`] begins and how many bytes it has |
//! | 160 | 32 | the digest of the files of games as they were |
//! | 192 | 4 | the CRC-32 of all that follows this head |
//! | 196 | 4 | the CRC-32 of the head before it |
//!
//! A game is known by its rank: the highest ratings come first, then the latest, then by number, which is its place in the files.
//!
//! | part | records |
//! |---|---|
//! | games | 38 bytes, by rank: the number (8), the bytes of the game in its file (4), White's and Black's rating (2 each), the date (4: year, month in 4 bits, day in 5), the result (1), the speed (1), White and Black as places in the players (4 each), where the event's text begins (8) |
//! | numbers | the ranks (4) in the order of the numbers |
//! | players | 20 bytes: where the name's text begins (8), where the games begin in the lists, in entries (8), how many there are (4) |
//! | lists | the games of each player (4), by rank: twice the rank, and one more where the player has Black |
//! | texts | each with its length before it (1) |
//! | positions | 14 bytes, one for each game of a position, by key and rank: the key (8), the rank (4), the code of the move that the game went on with (2; 0 if it ended there) |
//! | often | 40 bytes, by key, one for each position of more than [`FEW`] games: the key (8), the first of its entries (8), how many (4), the first of its moves (8) and how many (4), the first of its dates (8) |
//! | moves | the code of a move (2) and its [`Tally`](super::tally::Tally), the most played first |
//! | dates | the places (4) of the entries of such a position within it, the latest first |
#![allow(clippy::cast_possible_truncation, reason = "texts are cut before, and dates have few bits")]

use sha2::{Digest as _, Sha256};

use tabiya_base::bytes;
use tabiya_chess::{MoveCode, Speed};
use tabiya_games::{Date, GameResult};

/// How an index begins.
pub(super) const MAGIC: [u8; 8] = *b"tabiyaGI";

/// The version of the layout.
const VERSION: u64 = 3;

/// Bytes before the sections.
pub(super) const HEAD_LEN: usize = CHECKSUMS_AT + 8;

/// Where the checksums are.
const CHECKSUMS_AT: usize = STAMP_AT + 32;

/// Where the digest of the files is.
const STAMP_AT: usize = 16 + 16 * PARTS;

/// How many parts there are.
pub(super) const PARTS: usize = 9;

/// What an index is made of, in the order in which it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Games,
    Numbers,
    Players,
    Lists,
    Texts,
    Positions,
    Often,
    Moves,
    Dates,
}

/// Games of a position up to which they are counted and sorted when they are asked for.
pub(super) const FEW: usize = 256;

/// Bytes of an entry of the positions.
pub(super) const ENTRY_LEN: usize = 14;

/// Bytes of the record of a game.
pub(super) const GAME_LEN: usize = 38;

/// Bytes of the record of a player.
pub(super) const PLAYER_LEN: usize = 20;

/// Bytes of the record of a position with many games.
pub(super) const OFTEN_LEN: usize = 40;

/// Where the result is in a game while it is sorted, after the ratings and the date, which are turned so that the highest come
/// first (4 each), the number (8), when it arrived (4), its length (4), the ratings (2 each) and the date (4).
pub(super) const RESULT_AT: usize = 32;

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
    pub(super) sections: [Section; PARTS],
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
        let mut sections = [Section::default(); PARTS];
        for (section, at) in sections.iter_mut().zip((16..).step_by(16)) {
            *section = Section { at: bytes::u64_be(data, at)?, len: bytes::u64_be(data, at + 8)? };
        }
        Some(Self { sections, stamp: IndexStamp(bytes::array(data, STAMP_AT as u64)?), checksum })
    }
}

/// Whether the bytes begin as an index of this version does.
pub(super) fn is_version(data: &[u8]) -> bool {
    bytes::array(data, 0) == Some(MAGIC) && bytes::u64_be(data, 8) == Some(VERSION)
}

/// An entry of the positions: a game, and the move that it went on with; none where it ended.
pub(super) fn entry(key: u64, rank: u32, mv: MoveCode) -> [u8; ENTRY_LEN] {
    let (key, rank, mv) = (key.to_be_bytes(), rank.to_be_bytes(), mv.0.to_be_bytes());
    let mut bytes = key.iter().chain(&rank).chain(&mv);
    [(); ENTRY_LEN].map(|()| bytes.next().copied().unwrap_or_default())
}

/// The rank and the move of an entry.
pub(super) fn read_entry(entry: &[u8; ENTRY_LEN]) -> (u32, MoveCode) {
    let [.., r1, r2, r3, r4, m1, m2] = *entry;
    (u32::from_be_bytes([r1, r2, r3, r4]), MoveCode(u16::from_be_bytes([m1, m2])))
}

/// The key of an entry, or of the record of a position.
pub(super) fn key_of(record: &[u8]) -> u64 {
    record.first_chunk().map_or(0, |key| u64::from_be_bytes(*key))
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
            rank in any::<u32>(),
            game in any::<u32>(),
            mv in any::<u16>(),
            (year, month, day) in (0..10_000_u16, 0..13_u8, 0..32_u8),
            texts in prop::collection::vec("\\PC{0,300}", 3),
        ) {
            let bytes = entry(key, rank, MoveCode(mv));
            prop_assert_eq!((key_of(&bytes), read_entry(&bytes)), (key, (rank, MoveCode(mv))));
            let game = u64::from(game) << 16;
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
            sections: [1, 2, 3, 4, 5, 6, 7, 8, 9].map(section),
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
