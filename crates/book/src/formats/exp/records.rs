//! The records of a file, and which family wrote them (docs/formats/exp.md, Families; docs/formats/exp.md, Records).
#![allow(
    clippy::cast_possible_truncation,
    reason = "the low bits of a field are its number, and depths are limited"
)]

use shakmaty::Role;

use tabiya_base::bytes;
use tabiya_chess::MoveCode;

use super::keys::KeySet;
use super::layout::{
    KIND_SHIFT, MAX_DEPTH, MAX_PERFORMANCE, NO_MOVES, NO_VALUE, PROMOTION, PROMOTION_SHIFT, RECORD_LEN,
    REVOLUTION, SUGAR_V1, SUGAR_V2, VIEWER, WIDE_LEN, WIDE_LEN_AT, WIDE_VERSION, WIDE_VERSION_AT,
};

/// Records that decide whether a file without a signature is one of experience.
const SAMPLE: usize = 1000;

/// What to do with a file of experience that cannot be read.
pub(crate) const OTHER_FAMILY: &str =
    "name one of BrainLearn, ShashChess or SugaR, or let the engine play its experience itself";

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpFamily {
    /// `BrainLearn` and `ShashChess`: no signature.
    BrainLearn,
    /// `SugaR`, first version.
    SugarV1,
    /// `SugaR`, second version, `HypnoS` and `Eman` since version 7.
    SugarV2,
}

impl ExpFamily {
    /// A name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BrainLearn => "BrainLearn, ShashChess",
            Self::SugarV1 => "SugaR, version 1",
            Self::SugarV2 => "SugaR, HypnoS, Eman, version 2",
        }
    }

    /// Bytes before the first record.
    pub(crate) fn header_len(self) -> usize {
        match self {
            Self::BrainLearn => 0,
            Self::SugarV1 => SUGAR_V1.len(),
            Self::SugarV2 => SUGAR_V2.len(),
        }
    }

    /// The set of keys that its engines have.
    pub(crate) fn keys(self) -> KeySet {
        if self == Self::BrainLearn { KeySet::New } else { KeySet::Old }
    }
}

/// A record: what an engine found out about one move of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpRecord {
    /// The position, by the engine's own key.
    pub key: u64,
    /// The move, in the engine's own code.
    pub mv: u16,
    /// The value of the move for the side that makes it, in the engine's own units.
    pub value: i32,
    /// The depth of the search, in plies.
    pub depth: i32,
    /// How often the engine has come by the move; 1 in files that do not count.
    pub count: u16,
    /// The chance to win in per cent, of `BrainLearn`'s later versions; 100 in older and in other files.
    pub performance: i32,
    /// Whether bytes that engines leave zero are.
    is_padded: bool,
}

impl ExpRecord {
    /// Reads a record.
    pub fn from_bytes(raw: &[u8; RECORD_LEN], family: ExpFamily) -> Self {
        let [k0, k1, k2, k3, k4, k5, k6, k7, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] =
            *raw;
        let key = u64::from_le_bytes([k0, k1, k2, k3, k4, k5, k6, k7]);
        let [a, b, c, d] = [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]];
        let number = i32::from_le_bytes;
        match family {
            ExpFamily::BrainLearn => Self {
                key,
                mv: u16::from_le_bytes([c0, c1]),
                value: number(b),
                depth: number(a),
                count: 1,
                performance: number(d),
                is_padded: [c2, c3] == [0; 2],
            },
            ExpFamily::SugarV1 | ExpFamily::SugarV2 => Self {
                key,
                mv: u16::from_le_bytes([a0, a1]),
                value: number(b),
                depth: number(c),
                count: if family == ExpFamily::SugarV2 { u16::from_le_bytes([d0, d1]).max(1) } else { 1 },
                performance: MAX_PERFORMANCE,
                is_padded: true,
            },
        }
    }

    /// Why an engine cannot have written it, as a clause; `None` where it can.
    pub(crate) fn error(&self) -> Option<&'static str> {
        let is_move = NO_MOVES.contains(&self.mv) || self.mv >> 6 & 63 != self.mv & 63;
        match () {
            () if !(0..=MAX_DEPTH).contains(&self.depth) => Some("the depth is impossible"),
            () if self.value.abs_diff(0) > NO_VALUE.unsigned_abs() => Some("the value is impossible"),
            () if !is_move => Some("the move ends where it starts"),
            () if !(0..=MAX_PERFORMANCE).contains(&self.performance) => {
                Some("the chance to win is impossible")
            }
            () if !self.is_padded => Some("the move is impossible"),
            () => None,
        }
    }

    /// Its move; `None` where it has none, or no value.
    pub(crate) fn code(&self) -> Option<MoveCode> {
        if NO_MOVES.contains(&self.mv) || self.value == NO_VALUE {
            return None;
        }
        const PIECES: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        let squares = MoveCode(self.mv & ((1 << PROMOTION_SHIFT) - 1));
        let piece = PIECES.get(usize::from(self.mv >> PROMOTION_SHIFT & 3)).copied();
        Some(if self.mv >> KIND_SHIFT == PROMOTION {
            MoveCode::new(squares.from(), squares.to(), piece)
        } else {
            squares
        })
    }
}

/// The records of a file, over its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ExpRecords<'a> {
    records: &'a [[u8; RECORD_LEN]],
    family: ExpFamily,
    /// Bytes after the last whole record: another program may be writing one.
    pub trailing: usize,
}

impl<'a> ExpRecords<'a> {
    /// As many whole records as follow the signature.
    pub fn new(data: &'a [u8], family: ExpFamily) -> Self {
        let (records, rest) = data.get(family.header_len()..).unwrap_or_default().as_chunks();
        Self { records, family, trailing: rest.len() }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.records.is_empty()
    }

    /// All records in the order of the file.
    pub fn iter(self) -> impl ExactSizeIterator<Item = ExpRecord> + 'a {
        self.records.iter().map(move |record| ExpRecord::from_bytes(record, self.family))
    }

    /// Where a record begins, in bytes from the start of the file.
    pub fn offset(self, number: usize) -> u64 {
        (self.family.header_len() + number * RECORD_LEN) as u64
    }

    /// Of the first records, how many have a move and can be an engine's, and how many those are.
    fn sound(self) -> (usize, usize) {
        let sample = self.len().min(SAMPLE);
        let is_sound = |record: &ExpRecord| record.error().is_none() && !NO_MOVES.contains(&record.mv);
        (self.iter().take(sample).filter(is_sound).count(), sample)
    }
}

/// Whether a file begins with the signature of an engine or a viewer.
pub(crate) fn has_signature(data: &[u8]) -> bool {
    [&SUGAR_V2[..], &SUGAR_V1, REVOLUTION, VIEWER].iter().any(|start| data.starts_with(start))
}

/// The family that wrote a file; `None` if none that is known did, and the reason if it is an experience file that cannot be
/// read. A file whose last record is not whole is one too: its engine may be writing it. `is_named` says that the file has
/// the extension `.exp`: then a part of the records may be damaged.
pub(crate) fn family(data: &[u8], is_named: bool) -> Result<Option<ExpFamily>, &'static str> {
    let sound = |family, all: bool| {
        let (sound, sample) = ExpRecords::new(data, family).sound();
        sound > 0 && if all { sound == sample } else { 2 * sound >= sample }
    };
    // With a signature whole records are enough, or none.
    let is_signed = |family| ExpRecords::new(data, family).trailing == 0 || sound(family, false);
    if data.starts_with(&SUGAR_V2) {
        let version = bytes::array(data, WIDE_VERSION_AT) == Some([WIDE_VERSION]);
        if version && bytes::u32_le(data, WIDE_LEN_AT) == Some(WIDE_LEN) {
            return Err(
                "this experience file has records of 34 bytes, which builds of one author write in ways that do not agree",
            );
        }
        // Less than one record follows: it is being written.
        let begun = data.len() < SUGAR_V2.len() + RECORD_LEN && data.get(SUGAR_V2.len()) != Some(&0);
        return match begun || is_signed(ExpFamily::SugarV2) {
            true => Ok(Some(ExpFamily::SugarV2)),
            false => Err("this experience file has SugaR's signature, but not its records"),
        };
    }
    if data.starts_with(&SUGAR_V1) {
        return match is_signed(ExpFamily::SugarV1) {
            true => Ok(Some(ExpFamily::SugarV1)),
            false => {
                Err("this experience file begins as SugaR's do, but has no records of SugaR's first version")
            }
        };
    }
    if data.starts_with(REVOLUTION) {
        return Err("this is an experience file as text, of Revolution, whose keys cannot be computed");
    }
    if data.starts_with(VIEWER) {
        return Err("this is an experience file of a viewer's version 3.0");
    }
    if is_named && data.len() < RECORD_LEN {
        return Ok(Some(ExpFamily::BrainLearn));
    }
    // Without a signature every record has to be sound, unless the name says what it is.
    match sound(ExpFamily::BrainLearn, !is_named) {
        true => Ok(Some(ExpFamily::BrainLearn)),
        false if is_named => {
            Err("this is no experience file, though its name says so: most of its records are impossible")
        }
        false => Ok(None),
    }
}
