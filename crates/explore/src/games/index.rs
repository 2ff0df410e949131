//! Looking positions and games up in an index.

use std::cmp::Ordering;
use std::path::Path;

use tabiya_base::bytes;
use tabiya_base::error::Result;
use tabiya_base::map::Map;
use tabiya_chess::{MoveCode, Speed};
use tabiya_games::{Date, GameResult};

use super::layout::{
    ENTRY_LEN, GAME_LEN, HEAD_LEN, IndexHead, IndexStamp, Section, date_of, id, is_version, key_of,
    read_entry, read_text, result_of, speed_of,
};

/// An index that is open.
pub(super) struct GamesIndex {
    map: Map,
    head: IndexHead,
}

/// A game of a position.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct IndexedGame<'a> {
    /// Its number, by which its file and its place there are found.
    pub(super) number: u64,
    /// Bytes of its text.
    pub(super) length: u32,
    /// The move that it went on with; none if it ended there.
    pub(in super::super) mv: MoveCode,
    /// The names of White, Black and the tournament, which are read only where they are wanted.
    texts: &'a [u8],
    /// The players' ratings; 0 if unknown.
    pub(in super::super) white_elo: u16,
    pub(in super::super) black_elo: u16,
    pub(in super::super) outcome: Option<GameResult>,
    /// When it was played.
    pub(in super::super) date: Date,
    /// How fast it was played.
    pub(in super::super) speed: Option<Speed>,
}

/// The names of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Names<'a> {
    pub(in super::super) white: &'a str,
    pub(in super::super) black: &'a str,
    pub(super) event: &'a str,
}

/// The games of a position, the highest ratings first, then the latest.
#[derive(Clone, Copy)]
pub(in super::super) struct FoundGames<'a> {
    index: &'a GamesIndex,
    entries: &'a [[u8; ENTRY_LEN]],
}

impl<'a> FoundGames<'a> {
    /// How many there are.
    pub(in super::super) fn total(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Those after the first `count`.
    pub(super) fn skip(self, count: usize) -> Self {
        Self { entries: self.entries.get(count..).unwrap_or_default(), ..self }
    }

    /// The moves that they went on with; those that ended here have [`MoveCode::NULL`].
    pub(in super::super) fn moves(&self) -> impl Iterator<Item = MoveCode> + use<'a> {
        self.entries.iter().map(|entry| read_entry(entry).1)
    }

    pub(in super::super) fn games(&self) -> impl Iterator<Item = IndexedGame<'a>> + use<'a> {
        let index = self.index;
        self.entries
            .iter()
            .map(read_entry)
            .filter_map(move |(number, mv)| Some(IndexedGame { mv, ..index.game(number)? }))
    }
}

impl<'a> IndexedGame<'a> {
    /// The names of its players and its tournament; empty where the index has none.
    pub(in super::super) fn names(&self) -> Names<'a> {
        let read = || {
            let (white, rest) = read_text(self.texts)?;
            let (black, rest) = read_text(rest)?;
            let (event, _) = read_text(rest)?;
            Some(Names { white, black, event })
        };
        read().unwrap_or_default()
    }

    /// Whether it went on.
    pub(in super::super) fn goes_on(&self) -> bool {
        self.mv != MoveCode::NULL
    }

    pub(in super::super) fn id(&self) -> String {
        id(self.number)
    }

    /// The result as in PGN.
    pub(super) fn result(&self) -> &'static str {
        self.outcome.map_or("*", GameResult::as_pgn)
    }

    /// The mean of the ratings, twice; an unknown one counts as 0.
    pub(in super::super) fn strength(&self) -> u32 {
        u32::from(self.white_elo) + u32::from(self.black_elo)
    }
}

impl GamesIndex {
    /// Opens an index; `None` if it is one of other files, or of another version, or not whole.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path, stamp: &IndexStamp) -> Result<Option<Self>> {
        let map = Map::open(path)?;
        let Some(head) = IndexHead::read(&map).filter(|head| head.stamp == *stamp) else { return Ok(None) };
        let whole = |section: &Section| {
            section.at >= HEAD_LEN as u64 && bytes::slice(&map, section.at, section.len).is_some()
        };
        let is_whole = head.sections.iter().all(whole)
            && map.get(HEAD_LEN..).is_some_and(|rest| crc32fast::hash(rest) == head.checksum);
        Ok(is_whole.then_some(Self { map, head }))
    }

    /// Whether a file is an index of this version whose bytes are not those that were written.
    pub(super) fn is_damaged(path: &Path) -> bool {
        Map::open(path).is_ok_and(|map| {
            is_version(&map)
                && IndexHead::read(&map).is_none_or(|head| {
                    map.get(HEAD_LEN..).is_none_or(|rest| crc32fast::hash(rest) != head.checksum)
                })
        })
    }

    fn section(&self, section: Section) -> &[u8] {
        bytes::slice(&self.map, section.at, section.len).unwrap_or_default()
    }

    fn positions(&self) -> &[[u8; ENTRY_LEN]] {
        let [positions, ..] = self.head.sections;
        self.section(positions).as_chunks().0
    }

    /// The games in which a position occurred.
    pub(super) fn at(&self, key: u64) -> FoundGames<'_> {
        let positions = self.positions();
        let from = positions.partition_point(|entry| key_of(entry) < key);
        let to = positions.partition_point(|entry| key_of(entry) <= key);
        FoundGames { index: self, entries: positions.get(from..to).unwrap_or_default() }
    }

    /// The game with this number.
    pub(super) fn game(&self, number: u64) -> Option<IndexedGame<'_>> {
        let [_, games, texts] = self.head.sections;
        let (records, _) = self.section(games).as_chunks::<GAME_LEN>();
        let record = records.get(place(records, number)?)?;
        let text = usize::try_from(bytes::u64_be(record, 24)?).ok()?;
        Some(IndexedGame {
            number,
            length: bytes::u32_be(record, 8)?,
            mv: MoveCode::NULL,
            texts: self.section(texts).get(text..)?,
            white_elo: bytes::u16_be(record, 12)?,
            black_elo: bytes::u16_be(record, 14)?,
            outcome: result_of(*record.get(20)?),
            date: date_of(bytes::u32_be(record, 16)?),
            speed: speed_of(*record.get(21)?),
        })
    }
}

/// The place of the record with this number, which is guessed by its size: games have about the same length, so that this takes
/// few steps. After a bad guess what is left is halved.
fn place(records: &[[u8; GAME_LEN]], number: u64) -> Option<usize> {
    let number_at = |place: usize| bytes::u64_be(records.get(place)?, 0);
    let (mut from, mut to) = (0, records.len().checked_sub(1)?);
    let mut halve = false;
    while from <= to {
        let (first, last) = (number_at(from)?, number_at(to)?);
        let within = number.checked_sub(first)?;
        let span = last.checked_sub(first).filter(|span| within <= *span)?;
        let len = to - from;
        let guess = u128::from(within) * len as u128 / u128::from(span.max(1));
        let at = from + if halve { len / 2 } else { usize::try_from(guess).ok()?.min(len) };
        match number_at(at)?.cmp(&number) {
            Ordering::Equal => return Some(at),
            Ordering::Less => from = at + 1,
            Ordering::Greater => to = at.checked_sub(1)?,
        }
        halve = !halve && to.saturating_sub(from) > len / 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_record_is_found_by_its_number(
            numbers in prop::collection::btree_set(prop_oneof![0..200_u64, any::<u64>()], 0..60),
            other in 0..200_u64,
        ) {
            let records: Vec<[u8; GAME_LEN]> = numbers.iter().map(|number| {
                let mut record = [0; GAME_LEN];
                record[..8].copy_from_slice(&number.to_be_bytes());
                record
            }).collect();
            for (at, number) in numbers.iter().enumerate() {
                prop_assert_eq!(place(&records, *number), Some(at));
            }
            prop_assert_eq!(place(&records, other).is_some(), numbers.contains(&other));
        }

        #[test]
        fn any_bytes_after_a_head_are_looked_up_in(
            body in prop::collection::vec(any::<u8>(), 0..400),
            sections in prop::collection::vec((100..500_u64, 0..500_u64), 3),
            key in any::<u64>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("index");
            let stamp = IndexStamp::from_marks([]);
            let sections = [0, 1, 2].map(|number| Section { at: sections[number].0, len: sections[number].1 });
            let head = IndexHead { sections, stamp: stamp.clone(), checksum: crc32fast::hash(&body) };
            std::fs::write(&path, [head.to_bytes(), body].concat()).unwrap();
            if let Some(index) = GamesIndex::open(&path, &stamp).unwrap() {
                let keys: Vec<u64> = index.positions().iter().map(key_of).chain([key]).collect();
                for key in keys {
                    let _ = (index.at(key).games().count(), index.game(key));
                }
            }
        }
    }
}
