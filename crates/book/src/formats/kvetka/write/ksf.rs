//! Writing a `.ksf` file: the games that positions name, by their sources.
#![allow(
    clippy::cast_possible_truncation,
    reason = "sources and games were found to fit into their fields when they were added"
)]

use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::scratch::{Cursor, Scratch};
use tabiya_base::table::Table;
use tabiya_chess::rating_number;

use super::super::element::Link;
use super::super::read::sources::{KINDS, KvetkaSources, POINTS, UNKNOWN_RESULT};
use super::super::wire::{put_ansi, put_unicode};
use crate::{GameReference, ReferenceKind};

/// The most sources that links can name.
const MAX_SOURCES: usize = 1 << 16;

/// The last offset of a source after the contents, which take 260 KB at most: in the whole file it has 32 bits.
const LAST: u64 = u32::MAX as u64 - (1 << 19);

/// Bytes of games that are held in memory, and copied in one piece.
const BUFFER: usize = 1 << 16;

/// Bytes of a source's number of games.
const COUNT_LEN: u64 = 4;

/// The games so far.
#[derive(Debug)]
pub(crate) struct KsfWriter {
    /// What follows the contents, without the sources' numbers of games.
    body: Scratch,
    sources: Vec<KsfSource>,
    /// Kind and address of the last source.
    last: Option<(ReferenceKind, String)>,
    /// The numbers of the games, ascending.
    numbers: Table<{ size_of::<u64>() }>,
    /// Games that have no place in the file.
    pub lost: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct KsfSource {
    /// Its offset after the contents.
    start: u32,
    /// Where its number of games belongs in the body.
    count_at: u64,
    /// The place of its first game among all.
    first: u64,
}

impl KsfWriter {
    /// No game yet. Games go to a temporary file of a folder; their numbers take about this many bytes of memory.
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self {
            body: Scratch::new(folder, BUFFER),
            sources: Vec::new(),
            last: None,
            numbers: Table::new(folder, memory),
            lost: 0,
            buffer: Vec::new(),
        }
    }

    /// Takes in a game; their numbers ascend.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, game: &GameReference) -> Result<()> {
        let added = self.try_add(game)?;
        self.lost += u64::from(!added);
        Ok(())
    }

    /// Takes in a game; `false` if it has no place.
    fn try_add(&mut self, game: &GameReference) -> Result<bool> {
        // Both have 32 bits in the file.
        let (Ok(address), Ok(length)) = (u32::try_from(game.address), u32::try_from(game.length)) else {
            return Ok(false);
        };
        if !self.numbers.takes(game.number) || !self.source(game)? {
            return Ok(false);
        }
        let result = (0..).zip(POINTS).find(|(_, points)| Some(*points) == game.points);
        self.buffer.clear();
        self.buffer.extend(address.to_be_bytes());
        self.buffer.extend(length.to_be_bytes());
        put_ansi(&game.white, &mut self.buffer);
        put_ansi(&game.black, &mut self.buffer);
        self.buffer.extend(rating_number(game.white_elo).to_be_bytes());
        self.buffer.extend(rating_number(game.black_elo).to_be_bytes());
        self.buffer.push(result.map_or(UNKNOWN_RESULT, |(code, _)| code));
        self.body.push(&self.buffer)?;
        self.numbers.push(&game.number.to_be_bytes())
    }

    /// Begins the source of a game unless it is the last one; `false` if it has no room for the game.
    fn source(&mut self, game: &GameReference) -> Result<bool> {
        let is_last = |(kind, address): &(_, _)| (*kind, address) == (game.kind, &game.source);
        if self.last.as_ref().is_some_and(is_last) {
            let first = self.sources.last().map_or(0, |source| source.first);
            return Ok(self.numbers.len() - first < u32::MAX.into());
        }
        let start = self.body.size() + COUNT_LEN * self.sources.len() as u64;
        let start = u32::try_from(start).ok().filter(|start| u64::from(*start) <= LAST);
        let kind = KINDS.iter().find(|(_, kind)| *kind == game.kind);
        let (Some(start), Some((kind, _))) = (start, kind) else { return Ok(false) };
        if self.sources.len() >= MAX_SOURCES {
            return Ok(false);
        }
        self.buffer.clear();
        self.buffer.extend([*kind, u8::from(game.gone)]);
        put_unicode(&game.source, &mut self.buffer);
        self.body.push(&self.buffer)?;
        self.sources.push(KsfSource { start, count_at: self.body.size(), first: self.numbers.len() });
        self.last = Some((game.kind, game.source.clone()));
        Ok(true)
    }

    /// The link to the game of a number.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn link(&self, number: u64) -> Result<Option<Link>> {
        let Some((at, _)) = self.numbers.find(number)? else { return Ok(None) };
        let source = self.sources.partition_point(|source| source.first <= at).checked_sub(1);
        let link = source.and_then(|number| {
            let game = at - self.sources.get(number)?.first;
            Some(Link { source: u16::try_from(number).ok()?, game: u32::try_from(game).ok()? })
        });
        Ok(link)
    }

    /// Whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Passes the bytes of the file to `put`: the contents, then the sources.
    ///
    /// # Errors
    /// When the temporary file cannot be read, and what `put` returns.
    pub fn finish(self, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Self { body, sources, numbers, .. } = self;
        let len = KvetkaSources::contents_len(sources.len() as u64);
        let mut contents = (sources.len() as u32).to_be_bytes().to_vec();
        contents.extend(sources.iter().flat_map(|source| (source.start + len as u32).to_be_bytes()));
        contents.resize(len as usize, 0);
        put(&contents)?;
        let ends = sources.iter().skip(1).map(|source| source.first).chain([numbers.len()]);
        let counts =
            sources.iter().zip(ends).map(|(source, end)| (source.count_at, Some(end - source.first)));
        let (mut at, mut cursor) = (0, Cursor::new(BUFFER));
        for (end, count) in counts.chain([(body.size(), None)]) {
            while at < end {
                let step = (end - at).min(BUFFER as u64);
                put(cursor.get(&body, at, step as usize)?)?;
                at += step;
            }
            if let Some(count) = count {
                put(&(count as u32).to_be_bytes())?;
            }
        }
        Ok(())
    }
}
