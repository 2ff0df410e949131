//! Writing an index from what was sorted.
#![allow(clippy::cast_possible_truncation, reason = "games are counted in 31 bits, and so are players")]

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crc32fast::Hasher;
use shakmaty::{ByColor, Color};

use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::replace::Replacement;
use tabiya_base::resources::Resources;
use tabiya_base::scratch::Scratch;
use tabiya_base::sort::Sorted;
use tabiya_chess::MoveCode;

use super::layout::{
    FEW, HEAD_LEN, IndexHead, IndexStamp, PARTS, Part, RESULT_AT, Section, date_of, entry, put_text,
    read_text, result_of,
};
use super::tally::{GameFacts, MOVE_LEN, Tallies};

/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 16;

/// The rank of a game that has none.
const NONE: u32 = u32::MAX;

/// Begins the file of an index.
///
/// # Errors
/// When it cannot be written.
pub(super) fn begin(target: &Path, force: bool) -> Result<Replacement> {
    Replacement::new(target, force)
}

/// Writes the index of the positions, the games and how many of these arrived.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub(super) fn write(
    (mut positions, mut games, arrived): (Sorted, Sorted, u32),
    stamp: &IndexStamp,
    target: &Path,
    resources: &Resources,
) -> Result<()> {
    let scratch = |part| Scratch::new(&resources.temp, resources.memory / part);
    let mut out = IndexWriter::new(begin(target, true)?)?;
    let mut ranks = Ranks::new(arrived, scratch(8));
    while let Some(game) = games.next()? {
        ranks.take_in(game, &mut out)?;
    }
    out.end(Part::Games);
    ranks.write(&mut out)?;
    let Ranks { of_arrival, facts, .. } = ranks;
    let mut often =
        OftenTables { often: scratch(16), moves: scratch(16), dates: scratch(16), entries: 0, facts };
    let mut group = Group::default();
    while let Some(record) = positions.next()? {
        let Some((key, arrival, found)) = read_sorted(record) else { continue };
        let rank = of_arrival.get(arrival as usize).copied().filter(|rank| *rank != NONE);
        if key != group.key {
            interrupt::check()?;
            group.write(&mut out, &mut often)?;
            group.key = key;
        }
        group.games.extend(rank.map(|rank| u64::from(rank) << 32 | found));
    }
    group.write(&mut out, &mut often)?;
    out.end(Part::Positions);
    let OftenTables { often, moves, dates, .. } = often;
    for (scratch, part) in [(often, Part::Often), (moves, Part::Moves), (dates, Part::Dates)] {
        out.copy(&scratch)?;
        out.end(part);
    }
    out.commit(stamp)
}

/// The key of a sorted position, when its game arrived, and the ply and the move in few bits.
fn read_sorted(record: &[u8]) -> Option<(u64, u32, u64)> {
    let (ply, mv) = (*record.get(12)?, bytes::u16_be(record, 13)?);
    Some((bytes::u64_be(record, 0)?, bytes::u32_be(record, 8)?, u64::from(ply) << 16 | u64::from(mv)))
}

/// The file, as it is written part by part.
struct IndexWriter {
    file: Replacement,
    checksum: Hasher,
    buffer: Vec<u8>,
    at: u64,
    sections: [Section; PARTS],
    /// Where the part that is written began.
    from: u64,
}

impl IndexWriter {
    fn new(mut file: Replacement) -> Result<Self> {
        file.write_all(&[0; HEAD_LEN]).map_err(|error| file.error(error))?;
        let (at, buffer) = (HEAD_LEN as u64, Vec::with_capacity(2 * GATHERED));
        Ok(Self {
            file,
            checksum: Hasher::new(),
            buffer,
            at,
            sections: [Section::default(); PARTS],
            from: at,
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
        if self.buffer.len() >= GATHERED { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.checksum.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(|error| self.file.error(error))?;
        self.buffer.clear();
        Ok(())
    }

    fn copy(&mut self, scratch: &Scratch) -> Result<()> {
        let mut buffer = vec![0; GATHERED];
        let mut done = 0;
        while done < scratch.size() {
            let len = usize::try_from(scratch.size() - done).unwrap_or(GATHERED).min(GATHERED);
            let part = buffer.get_mut(..len).unwrap_or_default();
            scratch.read(done, part)?;
            self.put(part)?;
            done += len as u64;
        }
        Ok(())
    }

    /// What was written since the last part is this one.
    fn end(&mut self, part: Part) {
        let section = Section { at: self.from, len: self.at - self.from };
        self.sections.iter_mut().skip(part as usize).take(1).for_each(|place| *place = section);
        self.from = self.at;
    }

    fn commit(mut self, stamp: &IndexStamp) -> Result<()> {
        self.flush()?;
        let Self { mut file, checksum, sections, .. } = self;
        let head = IndexHead { sections, stamp: stamp.clone(), checksum: checksum.finalize() };
        file.seek(SeekFrom::Start(0)).map_err(|error| file.error(error))?;
        file.write_all(&head.to_bytes()).map_err(|error| file.error(error))?;
        file.commit()
    }
}

/// The games in the order of their ranks.
struct Ranks {
    /// The ranks of the games by when they arrived.
    of_arrival: Vec<u32>,
    facts: Vec<GameFacts>,
    /// Numbers and ranks.
    numbers: Vec<(u64, u32)>,
    players: HashMap<Box<str>, u32>,
    /// Players and games, as in the lists.
    lists: Vec<(u32, u32)>,
    /// Where the text of each player begins.
    names: Vec<u64>,
    texts: Scratch,
}

impl Ranks {
    fn new(arrived: u32, texts: Scratch) -> Self {
        Self {
            of_arrival: vec![NONE; arrived as usize],
            facts: Vec::new(),
            numbers: Vec::new(),
            players: HashMap::new(),
            lists: Vec::new(),
            names: Vec::new(),
            texts,
        }
    }

    /// Takes in the next game, and writes its record.
    fn take_in(&mut self, game: &[u8], out: &mut IndexWriter) -> Result<()> {
        let damaged = || Error::new(ErrorKind::File, "a temporary file was changed by another program");
        let read = || {
            let number = bytes::u64_be(game, 8)?;
            let arrival = bytes::u32_be(game, 16)?;
            let white = bytes::u16_be(game, 24)?;
            let black = bytes::u16_be(game, 26)?;
            let date = date_of(bytes::u32_be(game, 28)?);
            let (record, texts) = game.split_at_checked(RESULT_AT + 2)?;
            let (first, texts) = read_text(texts)?;
            let (second, event) = read_text(texts)?;
            let outcome = result_of(*record.get(RESULT_AT)?);
            let facts = GameFacts { elos: ByColor { white, black }, outcome, date };
            Some((number, arrival, facts, record.get(20..)?, [first, second], event))
        };
        let (number, arrival, facts, record, players, event) = read().ok_or_else(damaged)?;
        // A file that was named twice.
        let is_again = self.numbers.last().is_some_and(|(last, _)| *last == number);
        let rank = (self.facts.len() as u32).saturating_sub(u32::from(is_again));
        if let Some(place) = self.of_arrival.get_mut(arrival as usize) {
            *place = rank;
        }
        if is_again {
            return Ok(());
        }
        self.facts.push(facts);
        self.numbers.push((number, rank));
        out.put(&number.to_be_bytes())?;
        out.put(record)?;
        for (name, color) in players.into_iter().zip(Color::ALL) {
            let player = self.player(name)?;
            self.lists.push((player, rank << 1 | u32::from(color.is_black())));
            out.put(&player.to_be_bytes())?;
        }
        out.put(&self.texts.size().to_be_bytes())?;
        self.texts.push(event)
    }

    /// The place of a player.
    fn player(&mut self, name: &str) -> Result<u32> {
        if let Some(player) = self.players.get(name) {
            return Ok(*player);
        }
        let player = self.names.len() as u32;
        self.players.insert(name.into(), player);
        self.names.push(self.texts.size());
        let mut text = Vec::new();
        put_text(&mut text, name);
        self.texts.push(&text)?;
        Ok(player)
    }

    /// Writes what is found by number and by player.
    fn write(&mut self, out: &mut IndexWriter) -> Result<()> {
        self.numbers.sort_unstable();
        self.numbers.iter().try_for_each(|(_, rank)| out.put(&rank.to_be_bytes()))?;
        out.end(Part::Numbers);
        self.lists.sort_unstable();
        let mut from = 0;
        for (player, name) in (0..).zip(&self.names) {
            let rest = self.lists.get(from..).unwrap_or_default();
            let count = rest.partition_point(|(other, _)| *other <= player);
            out.put(&name.to_be_bytes())?;
            out.put(&(from as u64).to_be_bytes())?;
            out.put(&(count as u32).to_be_bytes())?;
            from += count;
        }
        out.end(Part::Players);
        self.lists.iter().try_for_each(|(_, game)| out.put(&game.to_be_bytes()))?;
        out.end(Part::Lists);
        out.copy(&self.texts)?;
        out.end(Part::Texts);
        Ok(())
    }
}

/// What is kept of positions with many games.
struct OftenTables {
    often: Scratch,
    moves: Scratch,
    dates: Scratch,
    /// Entries that are written.
    entries: u64,
    facts: Vec<GameFacts>,
}

/// The games of a position: the rank in the upper half, then ply and move.
#[derive(Default)]
struct Group {
    key: u64,
    games: Vec<u64>,
}

impl Group {
    fn write(&mut self, out: &mut IndexWriter, tables: &mut OftenTables) -> Result<()> {
        self.games.sort_unstable();
        // A position that recurs in a game is found once.
        self.games.dedup_by_key(|game| *game >> 32);
        let games = || self.games.iter().map(|game| ((*game >> 32) as u32, MoveCode(*game as u16)));
        for (rank, mv) in games() {
            out.put(&entry(self.key, rank, mv))?;
        }
        if self.games.len() > FEW {
            tables.add(self.key, games())?;
        }
        tables.entries += self.games.len() as u64;
        self.games.clear();
        Ok(())
    }
}

impl OftenTables {
    /// Keeps what the games of a position tell.
    fn add(&mut self, key: u64, games: impl Iterator<Item = (u32, MoveCode)>) -> Result<()> {
        let mut tallies = Tallies::default();
        let mut dates = Vec::new();
        for ((rank, mv), place) in games.zip(0_u32..) {
            let game = self.facts.get(rank as usize).copied().unwrap_or_default();
            tallies.add(mv, &game);
            dates.push((Reverse(game.date), place));
        }
        dates.sort_unstable();
        let rows = tallies.most_first();
        let first = |scratch: &Scratch, len: usize| scratch.size() / len as u64;
        let mut record = Vec::new();
        record.extend(key.to_be_bytes());
        record.extend(self.entries.to_be_bytes());
        record.extend((dates.len() as u32).to_be_bytes());
        record.extend(first(&self.moves, MOVE_LEN).to_be_bytes());
        record.extend((rows.len() as u32).to_be_bytes());
        record.extend(first(&self.dates, size_of::<u32>()).to_be_bytes());
        self.often.push(&record)?;
        for row in rows {
            self.moves.push(&row.to_bytes())?;
        }
        dates.iter().try_for_each(|(_, place)| self.dates.push(&place.to_be_bytes()))
    }
}
