//! Looking positions, games and players up in an index.

use std::cmp::{Ordering, Reverse};
use std::path::Path;

use shakmaty::{ByColor, Color};

use tabiya_base::bytes;
use tabiya_base::error::Result;
use tabiya_base::map::Map;
use tabiya_chess::{MoveCode, Speed};
use tabiya_games::GameResult;

use super::layout::{
    ENTRY_LEN, GAME_LEN, HEAD_LEN, IndexHead, IndexStamp, OFTEN_LEN, PLAYER_LEN, Part, Section, date_of, id,
    is_version, key_of, read_entry, read_text, result_of, speed_of,
};
use super::tally::{GameFacts, MOVE_LEN, PlayedMove, Tallies};

/// An index that is open.
pub(super) struct GamesIndex {
    map: Map,
    head: IndexHead,
}

/// A game of a position.
#[derive(Clone, Copy)]
pub(in super::super) struct IndexedGame<'a> {
    index: &'a GamesIndex,
    /// Its number, by which its file and its place there are found.
    pub(super) number: u64,
    /// Bytes of its text.
    pub(super) length: u32,
    /// The move that it went on with; none if it ended there.
    pub(in super::super) mv: MoveCode,
    /// The places of the players.
    pub(super) players: ByColor<u32>,
    /// Where the text of the event begins.
    event: u64,
    pub(in super::super) facts: GameFacts,
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
    known: Option<KnownPosition<'a>>,
}

/// What an index has of a position of many games.
#[derive(Clone, Copy)]
struct KnownPosition<'a> {
    moves: &'a [[u8; MOVE_LEN]],
    /// The places of its games, the latest first.
    dates: &'a [[u8; 4]],
}

impl<'a> FoundGames<'a> {
    /// How many there are.
    pub(in super::super) fn total(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The same, as a length.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The moves that they went on with, the most played first.
    pub(super) fn played(&self) -> Vec<PlayedMove> {
        if let Some(KnownPosition { moves, .. }) = self.known {
            return moves.iter().filter_map(|row| PlayedMove::from_bytes(row)).collect();
        }
        tallied(self.games())
    }

    /// The games, the highest ratings first.
    pub(in super::super) fn games(&self) -> impl Iterator<Item = IndexedGame<'a>> + use<'a> {
        let index = self.index;
        self.entries.iter().filter_map(move |entry| index.entered(entry))
    }

    /// The games in these places.
    pub(super) fn at<I: Iterator<Item = usize>>(
        &self,
        places: I,
    ) -> impl Iterator<Item = IndexedGame<'a>> + use<'a, I> {
        let Self { index, entries, .. } = *self;
        places.filter_map(move |place| index.entered(entries.get(place)?))
    }

    /// The places of all games, the latest first.
    pub(super) fn by_date(&self) -> Box<dyn Iterator<Item = usize> + 'a> {
        if let Some(KnownPosition { dates, .. }) = self.known {
            return Box::new(
                dates.iter().filter_map(|place| usize::try_from(u32::from_be_bytes(*place)).ok()),
            );
        }
        Box::new(self.latest_first((0..self.entries.len()).collect()).into_iter())
    }

    /// These places, the latest games first.
    pub(super) fn latest_first(&self, mut places: Vec<usize>) -> Vec<usize> {
        let date = |place: usize| self.at([place].into_iter()).next().map(|game| game.facts.date);
        places.sort_by_cached_key(|place| (Reverse(date(*place)), *place));
        places
    }

    /// The places of the games with these ranks, which are in their order.
    pub(super) fn places_of<'b>(&'b self, ranks: &'b [u32]) -> impl Iterator<Item = usize> + 'b {
        let mut from = 0;
        ranks.iter().filter_map(move |rank| {
            let rest = self.entries.get(from..)?;
            from += rest.partition_point(|entry| read_entry(entry).0 < *rank);
            let (found, _) = read_entry(self.entries.get(from)?);
            (found == *rank).then_some(from)
        })
    }
}

/// The moves that these games went on with, the most played first.
pub(super) fn tallied<'a>(games: impl Iterator<Item = IndexedGame<'a>>) -> Vec<PlayedMove> {
    let mut tallies = Tallies::default();
    games.for_each(|game| tallies.add(game.mv, &game.facts));
    tallies.most_first()
}

impl<'a> IndexedGame<'a> {
    /// The names of its players and its tournament; empty where the index has none.
    pub(in super::super) fn names(&self) -> Names<'a> {
        let read = || {
            let (event, _) = read_text(self.index.text(self.event)?)?;
            let [white, black] =
                [self.players.white, self.players.black].map(|player| self.index.name(player));
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
        self.facts.outcome.map_or("*", GameResult::as_pgn)
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

    fn part(&self, part: Part) -> &[u8] {
        let section = self.head.sections.get(part as usize).copied().unwrap_or_default();
        bytes::slice(&self.map, section.at, section.len).unwrap_or_default()
    }

    fn records<const LEN: usize>(&self, part: Part) -> &[[u8; LEN]] {
        self.part(part).as_chunks().0
    }

    /// The games in which a position occurred.
    pub(super) fn at(&self, key: u64) -> FoundGames<'_> {
        let (positions, often) = (self.records(Part::Positions), self.records::<OFTEN_LEN>(Part::Often));
        let known = often.binary_search_by_key(&key, |record| key_of(record)).ok();
        let known = known.and_then(|place| self.often(often.get(place)?, positions));
        known.unwrap_or_else(|| {
            let from = positions.partition_point(|entry| key_of(entry) < key);
            let to = positions.partition_point(|entry| key_of(entry) <= key);
            FoundGames { index: self, entries: positions.get(from..to).unwrap_or_default(), known: None }
        })
    }

    /// The games of a position of many.
    fn often<'a>(
        &'a self,
        record: &[u8; OFTEN_LEN],
        positions: &'a [[u8; ENTRY_LEN]],
    ) -> Option<FoundGames<'a>> {
        let count = bytes::u32_be(record, 16)?;
        let entries = part_of(positions, bytes::u64_be(record, 8)?, count)?;
        let moves =
            part_of(self.records(Part::Moves), bytes::u64_be(record, 20)?, bytes::u32_be(record, 28)?)?;
        let dates = part_of(self.records(Part::Dates), bytes::u64_be(record, 32)?, count)?;
        Some(FoundGames { index: self, entries, known: Some(KnownPosition { moves, dates }) })
    }

    /// The game of an entry, and the move that it went on with.
    fn entered(&self, entry: &[u8; ENTRY_LEN]) -> Option<IndexedGame<'_>> {
        let (rank, mv) = read_entry(entry);
        Some(IndexedGame { mv, ..self.ranked(rank)? })
    }

    /// The game of this rank.
    fn ranked(&self, rank: u32) -> Option<IndexedGame<'_>> {
        let record = self.records::<GAME_LEN>(Part::Games).get(usize::try_from(rank).ok()?)?;
        Some(IndexedGame {
            index: self,
            number: bytes::u64_be(record, 0)?,
            length: bytes::u32_be(record, 8)?,
            mv: MoveCode::NULL,
            players: ByColor { white: bytes::u32_be(record, 22)?, black: bytes::u32_be(record, 26)? },
            event: bytes::u64_be(record, 30)?,
            facts: GameFacts {
                elos: ByColor { white: bytes::u16_be(record, 12)?, black: bytes::u16_be(record, 14)? },
                outcome: result_of(*record.get(20)?),
                date: date_of(bytes::u32_be(record, 16)?),
            },
            speed: speed_of(*record.get(21)?),
        })
    }

    /// All games, by rank.
    pub(super) fn all(&self) -> impl Iterator<Item = IndexedGame<'_>> {
        (0..).map_while(|rank| self.ranked(rank))
    }

    /// The game with this number.
    pub(super) fn game(&self, number: u64) -> Option<IndexedGame<'_>> {
        let ranks = self.records(Part::Numbers);
        let at = |place: usize| self.ranked(u32::from_be_bytes(*ranks.get(place)?));
        at(place(ranks.len(), number, |place| at(place).map(|game| game.number))?)
    }

    fn text(&self, at: u64) -> Option<&[u8]> {
        self.part(Part::Texts).get(usize::try_from(at).ok()?..)
    }

    /// How many players there are.
    pub(super) fn players(&self) -> u32 {
        u32::try_from(self.records::<PLAYER_LEN>(Part::Players).len()).unwrap_or(u32::MAX)
    }

    fn player(&self, player: u32) -> Option<&[u8; PLAYER_LEN]> {
        self.records(Part::Players).get(usize::try_from(player).ok()?)
    }

    /// The name of a player; empty if there is none.
    pub(super) fn name(&self, player: u32) -> &str {
        let read = || Some(read_text(self.text(bytes::u64_be(self.player(player)?, 0)?)?)?.0);
        read().unwrap_or_default()
    }

    /// How many games a player has.
    pub(super) fn count_of(&self, player: u32) -> u32 {
        self.player(player).and_then(|record| bytes::u32_be(record, 16)).unwrap_or(0)
    }

    /// The ranks of a player's games, in their order, each with the player's color.
    pub(super) fn games_of(&self, player: u32) -> impl Iterator<Item = (u32, Color)> {
        let read = || {
            let record = self.player(player)?;
            part_of(self.records(Part::Lists), bytes::u64_be(record, 8)?, bytes::u32_be(record, 16)?)
        };
        read().unwrap_or_default().iter().map(|game| {
            let game = u32::from_be_bytes(*game);
            (game >> 1, Color::from_white(game & 1 == 0))
        })
    }
}

/// `count` records, beginning with the one at `from`.
fn part_of<T>(records: &[T], from: u64, count: u32) -> Option<&[T]> {
    records.get(usize::try_from(from).ok()?..)?.get(..usize::try_from(count).ok()?)
}

/// The place of a number among `count` of them, which is guessed by its size: games have about the same length, so that this takes few
/// steps. After a bad guess what is left is halved.
fn place(count: usize, number: u64, number_at: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let (mut from, mut to) = (0, count.checked_sub(1)?);
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
    use super::super::layout::PARTS;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_record_is_found_by_its_number(
            numbers in prop::collection::btree_set(prop_oneof![0..200_u64, any::<u64>()], 0..60),
            other in 0..200_u64,
        ) {
            let all: Vec<u64> = numbers.iter().copied().collect();
            let place = |number| place(all.len(), number, |place| all.get(place).copied());
            for (at, number) in all.iter().enumerate() {
                prop_assert_eq!(place(*number), Some(at));
            }
            prop_assert_eq!(place(other).is_some(), numbers.contains(&other));
        }

        #[test]
        fn any_bytes_after_a_head_are_looked_up_in(
            body in prop::collection::vec(any::<u8>(), 0..400),
            sections in prop::collection::vec((200..500_u64, 0..300_u64), PARTS),
            key in any::<u64>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("index");
            let stamp = IndexStamp::from_marks([]);
            let sections = std::array::from_fn(|part| Section { at: sections[part].0, len: sections[part].1 });
            let head = IndexHead { sections, stamp: stamp.clone(), checksum: crc32fast::hash(&body) };
            std::fs::write(&path, [head.to_bytes(), body].concat()).unwrap();
            if let Some(index) = GamesIndex::open(&path, &stamp).unwrap() {
                let keys = |records: &[u8], len| records.chunks_exact(len).map(key_of).collect::<Vec<_>>();
                let positions = keys(index.part(Part::Positions), ENTRY_LEN);
                let often = keys(index.part(Part::Often), OFTEN_LEN);
                for key in positions.into_iter().chain(often).chain([key]) {
                    let found = index.at(key);
                    found.games().for_each(|game| drop((game.names(), game.id())));
                    let _ = (found.played(), found.at(found.by_date()).count(), index.game(key).is_some());
                }
                for player in 0..=index.players() {
                    let _ = (index.name(player), index.games_of(player).count(), index.count_of(player));
                }
            }
        }
    }
}
