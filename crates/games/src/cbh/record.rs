//! What a `.cbh` record says of a game or a text.
#![allow(clippy::cast_possible_truncation, reason = "the parts of a field are taken by their bits")]

use tabiya_base::bytes;

use super::layout::{RECORD_LEN, record, text_record};
use crate::{Date, GameResult};

/// The record of a game or a text.
#[derive(Clone, Debug)]
pub struct CbhRecord {
    /// Its number, from 1.
    pub number: u32,
    /// Its bytes.
    pub bytes: [u8; RECORD_LEN as usize],
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CbhRecordKind {
    /// A game.
    Game,
    /// A text: games and texts share their numbers.
    Text,
    /// Neither.
    Unknown,
}

/// How a game ended, as ChessBase has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CbhOutcome {
    /// With a result; whether by forfeit.
    Ended(GameResult, bool),
    /// Both sides lost.
    BothLost,
    /// Not at all: it is an opening line, or its result is unknown.
    Line,
}

impl CbhOutcome {
    /// The result in PGN, which cannot express that both lost.
    pub fn result(self) -> Option<GameResult> {
        match self {
            Self::Ended(result, _) => Some(result),
            Self::BothLost | Self::Line => None,
        }
    }
}

impl CbhRecord {
    fn byte(&self, at: u64) -> u8 {
        bytes::array(&self.bytes, at).map_or(0, u8::from_be_bytes)
    }

    fn two(&self, at: u64) -> u16 {
        bytes::u16_be(&self.bytes, at).unwrap_or_default()
    }

    fn three(&self, at: u64) -> u32 {
        u32::from(self.two(at)) << 8 | u32::from(self.byte(at + 2))
    }

    fn four(&self, at: u64) -> u64 {
        u64::from(bytes::u32_be(&self.bytes, at).unwrap_or_default())
    }

    /// A number whose offset differs between games and texts.
    fn number_at(&self, of_game: u64, of_text: u64) -> u32 {
        self.three(if self.kind() == CbhRecordKind::Text { of_text } else { of_game })
    }

    /// What it is.
    pub fn kind(&self) -> CbhRecordKind {
        match self.byte(record::FLAGS) & (record::GAME | record::TEXT) {
            record::GAME => CbhRecordKind::Game,
            0 => CbhRecordKind::Unknown,
            _ => CbhRecordKind::Text,
        }
    }

    /// Whether it is marked as deleted.
    pub fn is_deleted(&self) -> bool {
        self.byte(record::FLAGS) & record::DELETED != 0
    }

    /// Offset of the moves or the text in `.cbg`, modulo 4 GiB.
    pub fn moves(&self) -> u64 {
        self.four(record::MOVES)
    }

    /// Offset of the annotations in `.cba`, modulo 4 GiB; 0 where there are none.
    pub fn notes(&self) -> u64 {
        self.four(record::NOTES)
    }

    /// The number of White in `.cbp`.
    pub fn white(&self) -> u32 {
        self.three(record::WHITE)
    }

    /// The number of Black in `.cbp`.
    pub fn black(&self) -> u32 {
        self.three(record::BLACK)
    }

    /// The number in `.cbt`.
    pub fn tournament(&self) -> u32 {
        self.number_at(record::TOURNAMENT, text_record::TOURNAMENT)
    }

    /// The number in `.cbc`.
    pub(crate) fn annotator(&self) -> u32 {
        self.number_at(record::ANNOTATOR, text_record::ANNOTATOR)
    }

    /// The number in `.cbs`.
    pub fn source(&self) -> u32 {
        self.number_at(record::SOURCE, text_record::SOURCE)
    }

    /// When it was played.
    pub fn date(&self) -> Date {
        date(self.three(record::DATE))
    }

    /// How it ended.
    pub fn outcome(&self) -> CbhOutcome {
        let number = self.byte(record::RESULT) & record::RESULT_BITS;
        let forfeit = number > 3;
        match number {
            0 | 4 => CbhOutcome::Ended(GameResult::Black, forfeit),
            1 | 5 => CbhOutcome::Ended(GameResult::Draw, forfeit),
            2 | 6 => CbhOutcome::Ended(GameResult::White, forfeit),
            3 => CbhOutcome::Line,
            _ => CbhOutcome::BothLost,
        }
    }

    /// The evaluation of a line as a numeric annotation glyph; 0 if it has none.
    pub(crate) fn line_evaluation(&self) -> u8 {
        if self.outcome() == CbhOutcome::Line { self.byte(record::EVALUATION) } else { 0 }
    }

    /// Appends round and subround as `3.2`; nothing if both are unknown.
    pub(crate) fn push_round(&self, out: &mut String) {
        use std::fmt::Write as _;
        let (round, subround) = (self.byte(record::ROUND), self.byte(record::SUBROUND));
        // Writing into a string cannot fail.
        let _ = match (round, subround) {
            (0, 0) => Ok(()),
            (round, 0) => write!(out, "{round}"),
            (0, subround) => write!(out, "?.{subround}"),
            (round, subround) => write!(out, "{round}.{subround}"),
        };
    }

    /// The ratings of White and Black; 0 unknown.
    pub(crate) fn elos(&self) -> (u16, u16) {
        (self.two(record::WHITE_ELO), self.two(record::BLACK_ELO))
    }

    /// The opening as `E99`; `None` if it is unknown.
    pub(crate) fn eco(&self) -> Option<[u8; 3]> {
        let code =
            (self.two(record::OPENING) >> record::ECO_SHIFT).checked_sub(1).filter(|&code| code < 500)?;
        Some([b'A' + (code / 100) as u8, b'0' + (code / 10 % 10) as u8, b'0' + (code % 10) as u8])
    }

    /// The number of the Chess960 position, in place of the opening.
    pub fn chess960(&self) -> Option<u16> {
        self.two(record::OPENING).checked_sub(record::CHESS960)
    }

    /// Full moves of the main line; 255 means 255 or more.
    pub(crate) fn full_moves(&self) -> u8 {
        self.byte(record::FULL_MOVES)
    }
}

/// A date of 21 bits: day, month and year from the lowest bit up. An impossible month is unknown, and so is its day.
pub fn date(packed: u32) -> Date {
    let (day, month, year) = (packed & 31, packed >> 5 & 15, packed >> 9 & 0xfff);
    let month = if month > 12 { 0 } else { month };
    Date { year: year as u16, month: month as u8, day: if month == 0 { 0 } else { day as u8 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: [u8; 46]) -> CbhRecord {
        CbhRecord { number: 1, bytes }
    }

    #[test]
    fn each_field_is_at_its_offset() {
        let mut bytes = [0; 46];
        bytes[0] = 0x81;
        bytes[1..9].copy_from_slice(&[0, 0, 1, 2, 0, 0, 3, 4]);
        bytes[9..24].copy_from_slice(&[0, 0, 5, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 0, 9]);
        bytes[24..27].copy_from_slice(&(2016_u32 << 9 | 7 << 5 | 26).to_be_bytes()[1..]);
        bytes[27..31].copy_from_slice(&[6, 18, 3, 2]);
        bytes[31..35].copy_from_slice(&[0x0a, 0xf0, 0, 0]);
        bytes[35..37].copy_from_slice(&(290_u16 << 7 | 5).to_be_bytes());
        bytes[45] = 77;
        let record = record(bytes);
        assert_eq!((record.kind(), record.is_deleted()), (CbhRecordKind::Game, true));
        assert_eq!((record.moves(), record.notes()), (0x102, 0x304));
        assert_eq!((record.white(), record.black(), record.tournament()), (5, 6, 7));
        assert_eq!((record.annotator(), record.source()), (8, 9));
        assert_eq!(record.date(), Date { year: 2016, month: 7, day: 26 });
        assert_eq!(record.outcome(), CbhOutcome::Ended(GameResult::White, true));
        assert_eq!(record.line_evaluation(), 0);
        let mut round = String::new();
        record.push_round(&mut round);
        assert_eq!((&*round, record.elos()), ("3.2", (2800, 0)));
        assert_eq!((record.eco(), record.chess960()), (Some(*b"C89"), None));
        assert_eq!(record.full_moves(), 77);
    }

    #[test]
    fn results_openings_and_rounds_are_read_up_to_their_limits() {
        let with = |at: usize, value: &[u8]| {
            let mut bytes = [0; 46];
            bytes[at..at + value.len()].copy_from_slice(value);
            bytes
        };
        for (value, outcome, result) in [
            (0, "0-1", Some(GameResult::Black)),
            (1, "1/2-1/2", Some(GameResult::Draw)),
            (2, "1-0", Some(GameResult::White)),
            (3, "*", None),
            (4, "0-1", Some(GameResult::Black)),
            (5, "1/2-1/2", Some(GameResult::Draw)),
            (7, "*", None),
        ] {
            let bytes = with(27, &[value]);
            let found = record(bytes).outcome().result();
            assert_eq!((found.map_or("*", GameResult::as_pgn), found), (outcome, result));
        }
        assert_eq!(record(with(27, &[3, 16])).line_evaluation(), 16);
        for (field, eco, number) in [
            (0_u16, None, None),
            (128, Some(*b"A00"), None),
            (500 << 7, Some(*b"E99"), None),
            (501 << 7, None, None),
            (64576, None, Some(0)),
            (65535, None, Some(959)),
        ] {
            let bytes = with(35, &field.to_be_bytes());
            assert_eq!((record(bytes).eco(), record(bytes).chess960()), (eco, number), "{field}");
        }
        for (fields, text) in [([0, 0], ""), ([11, 0], "11"), ([0, 4], "?.4"), ([11, 4], "11.4")] {
            let mut round = String::new();
            record(with(29, &fields)).push_round(&mut round);
            assert_eq!(round, text);
        }
        assert_eq!(date(2016 << 9 | 13 << 5 | 3), Date { year: 2016, month: 0, day: 0 });
        assert_eq!(record([0; 46]).kind(), CbhRecordKind::Unknown);
    }

    #[test]
    fn a_text_has_its_fields_at_other_offsets() {
        let mut bytes = [0; 46];
        (bytes[0], bytes[9], bytes[12], bytes[15]) = (3, 1, 2, 3);
        let record = record(bytes);
        assert_eq!(
            (record.kind(), record.tournament(), record.source(), record.annotator()),
            (CbhRecordKind::Text, 1, 2, 3)
        );
    }
}
