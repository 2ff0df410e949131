//! The bytes of a store: a header and records, all of 48 bytes. All numbers are big-endian.
//!
//! The layout: docs/formats/evals.md, File.
#![allow(clippy::cast_possible_truncation, reason = "scores are clamped before")]

use std::collections::BTreeMap;

use tabiya_base::bytes;
use tabiya_base::check::check;
use tabiya_base::file_kind::STORE;
use tabiya_chess::{MoveCode, PACKED_LEN, Packed};
use tabiya_uci::Wdl;

use super::alternative::Alternative;
use super::evaluation::{EngineId, Evaluation, Limit, number, score};

/// Bytes of a record, and of the header.
pub const RECORD_LEN: usize = 48;

/// Bytes of the check at the end of each.
const CHECK_LEN: usize = 4;

/// The bytes that the check guards.
pub(crate) const GUARDED_LEN: usize = RECORD_LEN - CHECK_LEN;

/// The version that is written, and the latest that is read.
const VERSION: u64 = 1;

/// Bytes of a name in one record (docs/formats/evals.md, Names).
const NAME_PART_LEN: usize = 31;

/// Records that a name may take.
const NAME_PARTS: usize = 8;

/// The number of the part in a record that no name has: it says how deep a position was searched.
const SEARCHED: u8 = 8;

/// Where such a record has the position, the kind of its limit, and the limit (docs/formats/evals.md, Searches).
const SEARCHED_POSITION: u64 = 13;
const SEARCHED_KIND: usize = 37;
const SEARCHED_LIMIT: u64 = 38;

/// The number of the part in a record that no name has: it is an alternative (docs/formats/evals.md, Alternatives).
const ALTERNATIVE: u8 = 9;

/// Where such a record has which moves the search was not to choose, the position, the move, the score and how long the search was.
const WITHOUT: u64 = 8;
const ALTERNATIVE_MOVE: u64 = 37;
const ALTERNATIVE_SCORE: u64 = 39;
const ALTERNATIVE_EFFORT: usize = 43;

/// The most nodes of an evaluation; more become these: a record has 5 bytes for them.
pub const MAX_NODES: u64 = (1 << 40) - 1;

/// What a number of wins counts in the number of a [`Wdl`]: one more than the most draws (docs/formats/evals.md, Win, draw and
/// loss).
const WINS: u32 = 1001;

/// The bytes of a record.
pub(crate) type Slot = [u8; RECORD_LEN];

/// What is in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreRecord {
    /// The evaluation of a position.
    Evaluation(Packed, Evaluation),
    /// A part of an engine's name: its number, and its text, up to zeros.
    Name(EngineId, u8, [u8; NAME_PART_LEN]),
    /// A position was searched with this limit, and the evaluation that counts does not show it.
    Searched(Packed, Limit),
    /// The best move of a position apart from some others.
    Alternative(Packed, Alternative),
}

#[derive(Clone, Debug, Default)]
pub struct Engines(BTreeMap<EngineId, BTreeMap<u8, [u8; NAME_PART_LEN]>>);

/// The [`Wdl`] of a number, or that there is none; `None` if the number is neither.
fn wdl(number: u32) -> Option<Option<Wdl>> {
    let Some(number) = number.checked_sub(1) else { return Some(None) };
    Wdl::new((number / WINS) as u16, (number % WINS) as u16).map(Some)
}

impl Evaluation {
    /// Of several evaluations of a position the one that counts; the first of equal ones.
    pub fn best(all: impl IntoIterator<Item = Self>, position: &Packed) -> Option<Self> {
        all.into_iter().reduce(|one, other| if other.outranks(&one, position) { other } else { one })
    }

    /// Whether this one of a position counts, and not the other.
    pub fn outranks(&self, other: &Self, position: &Packed) -> bool {
        let rank = |of: &Self| {
            let known = of.depth > 0 || of.nodes > 0;
            let guarded = guarded(position, of);
            let check = || i64::from(u32::from_be_bytes(check(&guarded)));
            let score = if known { number(of.score).into() } else { check() };
            (score, guarded)
        };
        let reach = |of: &Self| (of.depth, of.nodes.min(MAX_NODES));
        reach(self) > reach(other) || reach(self) == reach(other) && rank(self) > rank(other)
    }
}

/// The bytes of an evaluation without its check.
pub(crate) fn guarded(position: &Packed, of: &Evaluation) -> [u8; GUARDED_LEN] {
    let mut bytes = [0; GUARDED_LEN];
    let wdl = of.wdl.map_or(0, |wdl| 1 + u32::from(wdl.wins()) * WINS + u32::from(wdl.draws()));
    let nodes = u64::from(wdl) << 40 | of.nodes.min(MAX_NODES);
    let parts: [&[u8]; 6] = [
        &position.0,
        &of.depth.to_be_bytes(),
        &nodes.to_be_bytes(),
        &number(of.score).to_be_bytes(),
        &of.best.0.to_be_bytes(),
        &of.engine.0.to_be_bytes(),
    ];
    bytes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
    bytes
}

/// The bytes of a record of a search, without its check. A limit above 2^48 is written as that.
pub(crate) fn guarded_search(position: &Packed, limit: Limit) -> [u8; GUARDED_LEN] {
    let (kind, limit) = limit.parts();
    let limit = limit.min((1 << 48) - 1).to_be_bytes();
    let mut bytes = [0; GUARDED_LEN];
    let parts: [&[u8]; 5] = [&[0; 12], &[SEARCHED], &position.0, &[kind], limit.get(2..).unwrap_or_default()];
    bytes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
    bytes
}

/// The bytes of an alternative, without its check.
pub(crate) fn guarded_alternative(position: &Packed, of: &Alternative) -> [u8; GUARDED_LEN] {
    let mut bytes = [0; GUARDED_LEN];
    let parts: [&[u8]; 7] = [
        &[0; 8],
        &of.without.to_be_bytes(),
        &[ALTERNATIVE],
        &position.0,
        &of.best.0.to_be_bytes(),
        &number(of.score).to_be_bytes(),
        &[of.effort],
    ];
    bytes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
    bytes
}

/// Reads what is guarded by the check of a record.
pub(crate) fn parse_guarded(bytes: &[u8]) -> Option<StoreRecord> {
    let position: [u8; PACKED_LEN] = bytes::array(bytes, 0)?;
    if position.starts_with(&[0; 8]) {
        let engine = EngineId(bytes::u32_be(bytes, 8)?);
        if *bytes.get(12)? == SEARCHED {
            let limit: [u8; 6] = bytes::array(bytes, SEARCHED_LIMIT)?;
            let limit = limit.into_iter().fold(0, |number, byte| number << 8 | u64::from(byte));
            let position = Packed(bytes::array(bytes, SEARCHED_POSITION)?);
            return Some(StoreRecord::Searched(
                position,
                Limit::of_parts(*bytes.get(SEARCHED_KIND)?, limit)?,
            ));
        }
        if *bytes.get(12)? == ALTERNATIVE {
            let alternative = Alternative {
                score: score(bytes::u32_be(bytes, ALTERNATIVE_SCORE)?.cast_signed())?,
                best: MoveCode(bytes::u16_be(bytes, ALTERNATIVE_MOVE)?),
                without: bytes::u32_be(bytes, WITHOUT)?,
                effort: *bytes.get(ALTERNATIVE_EFFORT)?,
            };
            let position = Packed(bytes::array(bytes, SEARCHED_POSITION)?);
            return Some(StoreRecord::Alternative(position, alternative));
        }
        return Some(StoreRecord::Name(engine, *bytes.get(12)?, bytes::array(bytes, 13)?));
    }
    let nodes = bytes::u64_be(bytes, 26)?;
    let evaluation = Evaluation {
        score: score(bytes::u32_be(bytes, 34)?.cast_signed())?,
        depth: bytes::u16_be(bytes, 24)?,
        nodes: nodes & MAX_NODES,
        wdl: wdl((nodes >> 40) as u32)?,
        engine: EngineId(bytes::u32_be(bytes, 40)?),
        best: MoveCode(bytes::u16_be(bytes, 38)?),
    };
    Some(StoreRecord::Evaluation(Packed(position), evaluation))
}

/// A record with its check.
pub(crate) fn slot(guarded: &[u8; GUARDED_LEN]) -> Slot {
    let mut slot = [0; RECORD_LEN];
    let check: [u8; CHECK_LEN] = check(guarded);
    slot.iter_mut().zip(guarded.iter().chain(&check)).for_each(|(place, byte)| *place = *byte);
    slot
}

/// Whether the check of a record is right.
pub(crate) fn is_sound(slot: &Slot) -> bool {
    slot.split_last_chunk::<CHECK_LEN>().is_some_and(|(guarded, found)| *found == check(guarded))
}

impl StoreRecord {
    /// Reads a record; `None` if it is damaged.
    pub fn parse(slot: &Slot) -> Option<Self> {
        if is_sound(slot) { parse_guarded(slot) } else { None }
    }
}

impl Engines {
    /// The number of an engine with this name, which is noted. Of very long names only the beginning counts.
    pub fn id(&mut self, name: &str) -> EngineId {
        let mut end = name.len().min(NAME_PARTS * NAME_PART_LEN);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let name = name.get(..end).unwrap_or_default();
        let id = EngineId(u32::from_be_bytes(check(name.as_bytes())));
        let parts = name.as_bytes().chunks(NAME_PART_LEN).map(|text| {
            let mut part = [0; NAME_PART_LEN];
            part.iter_mut().zip(text).for_each(|(place, byte)| *place = *byte);
            part
        });
        self.0.entry(id).or_insert_with(|| (0..).zip(parts).collect());
        id
    }

    /// Notes a part of a name; the first counts.
    pub(crate) fn add(&mut self, id: EngineId, number: u8, text: [u8; NAME_PART_LEN]) {
        if usize::from(number) < NAME_PARTS {
            self.0.entry(id).or_default().entry(number).or_insert(text);
        }
    }

    /// Takes in other names.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (id, parts) in &other.0 {
            parts.iter().for_each(|(number, text)| self.add(*id, *number, *text));
        }
    }

    /// The name of an engine, or its number where the name is missing or damaged.
    pub fn name(&self, id: EngineId) -> String {
        let parts = self.0.get(&id).into_iter().flat_map(BTreeMap::values).flatten();
        let text: Vec<u8> = parts.copied().filter(|byte| *byte != 0).collect();
        match String::from_utf8(text) {
            Ok(name) if EngineId(u32::from_be_bytes(check(name.as_bytes()))) == id => name,
            _ => format!("unknown engine {:08x}", id.0),
        }
    }

    /// The records of the names of some engines.
    pub(crate) fn slots(&self, wanted: impl Fn(EngineId) -> bool) -> Vec<Slot> {
        let all = self.0.iter().filter(|(id, _)| wanted(**id));
        let parts = all.flat_map(|(id, parts)| parts.iter().map(move |(number, text)| (*id, *number, text)));
        parts
            .map(|(EngineId(id), number, text)| {
                let mut bytes = [0; GUARDED_LEN];
                let all = [0; 8].into_iter().chain(id.to_be_bytes()).chain([number]).chain(*text);
                bytes.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
                slot(&bytes)
            })
            .collect()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = EngineId> + '_ {
        self.0.keys().copied()
    }
}

/// Why a file is not a store that can be used, as a clause, and what to do.
pub(crate) type Refusal = (&'static str, &'static str);

/// The header of a store whose first `sorted` records are in order.
pub(crate) fn header(sorted: u64) -> Slot {
    let mut bytes = [0; GUARDED_LEN];
    let all = STORE.iter().copied().chain(VERSION.to_be_bytes()).chain(sorted.to_be_bytes());
    bytes.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
    slot(&bytes)
}

/// Reads the header at the start of a file: how many records are in order. `None` if the file is empty, or the beginning
/// of one that was never whole.
///
/// # Errors
/// Why it is not a store.
pub(crate) fn parse_header(start: &[u8]) -> Result<Option<u64>, Refusal> {
    let fresh = header(0);
    if start.len() < RECORD_LEN && start.iter().zip(&fresh).all(|(found, ours)| *found == 0 || found == ours)
    {
        return Ok(None);
    }
    if !start.starts_with(&STORE) {
        return Err((
            "this is not a store of evaluations",
            "name a file into which evaluations were imported",
        ));
    }
    match bytes::u64_be(start, 8) {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => {
            return Err(("this store of evaluations has a newer version", "use it with a newer tabiya"));
        }
        _ => return Err(DAMAGED),
    }
    let slot: Slot = bytes::array(start, 0).ok_or(DAMAGED)?;
    if is_sound(&slot) { Ok(bytes::u64_be(&slot, 16)) } else { Err(DAMAGED) }
}

const DAMAGED: Refusal = ("the header of this store is damaged", "move it away, and import again");
