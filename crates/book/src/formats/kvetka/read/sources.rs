//! Reading a `.ksf` file: the games that positions name, by their sources.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use tabiya_base::encoding::decode_text;
use tabiya_base::error;
use tabiya_base::map::Map;
use tabiya_base::visit::{Seen, to_the_end};

use super::super::element::Link;
use super::super::layout::{CONTENTS_UNIT, CURRENT_DIR, SOURCE_CBH, SOURCE_NONE, SOURCE_PGN, SOURCE_WEB};
use super::super::wire::{self, KvetkaReader};
use crate::{GameReference, Points, ReferenceKind};

/// The kinds of sources by their numbers.
pub(crate) const KINDS: [(u8, ReferenceKind); 3] =
    [(SOURCE_PGN, ReferenceKind::Pgn), (SOURCE_WEB, ReferenceKind::Web), (SOURCE_CBH, ReferenceKind::Cbh)];

/// White's points by the result of a game: 0 Black won, 1 White won, 2 drawn.
pub(crate) const POINTS: [Points; 3] = [Points::Loss, Points::Win, Points::Draw];

/// The result of a game whose result is not known.
#[cfg(feature = "write")]
pub(crate) const UNKNOWN_RESULT: u8 = 3;

/// The `.ksf` file of a book.
#[derive(Debug)]
pub struct KvetkaSources {
    /// Its path.
    pub path: PathBuf,
    /// Its bytes.
    pub map: Map,
}

/// A source: a file or page with games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvetkaSource {
    /// Its place among the sources.
    pub number: u32,
    /// Its kind: see [`KINDS`].
    pub kind: u8,
    /// Whether it is known to be gone.
    pub gone: bool,
    /// The address as it is written.
    pub address: String,
    /// How many games it claims to have.
    pub games: u32,
    /// The offset of the first one.
    start: u64,
}

impl KvetkaSources {
    /// How many sources it claims to have.
    pub fn said(&self) -> u32 {
        KvetkaReader::at(&self.map, 0).u32().unwrap_or_default()
    }

    /// How many sources it has an offset for.
    pub fn count(&self) -> u32 {
        let room = (self.map.len() as u64).saturating_sub(4) / 4;
        self.said().min(u32::try_from(room).unwrap_or(u32::MAX))
    }

    /// The bytes that the contents of so many sources fill.
    pub(crate) fn contents_len(count: u64) -> u64 {
        (4 + 4 * count).next_multiple_of(CONTENTS_UNIT)
    }

    /// Where the contents have the offset of a source.
    pub fn entry(number: u32) -> u64 {
        4 + 4 * u64::from(number)
    }

    /// The source of a number below [`KvetkaSources::count`].
    ///
    /// # Errors
    /// When it cannot be read: where, and why.
    pub fn source(&self, number: u32) -> Result<KvetkaSource, (u64, &'static str)> {
        let entry = Self::entry(number);
        let start = KvetkaReader::at(&self.map, entry).u32().map_err(|why| (entry, why))?;
        let mut reader = KvetkaReader::at(&self.map, start.into());
        source(number, &mut reader).map_err(|why| (reader.offset(), why))
    }

    /// The games of a source, up to the first that cannot be read: then its offset, and why.
    pub fn games<'a>(&'a self, source: &'a KvetkaSource) -> KvetkaGames<'a> {
        let reader = KvetkaReader::at(&self.map, source.start);
        KvetkaGames { reader, source, address: self.resolve(source), left: source.games }
    }

    /// The game that a link leads to, if it exists.
    pub fn game(&self, link: Link) -> Option<GameReference> {
        let number = u32::from(link.source);
        let source =
            self.source(number).ok().filter(|source| number < self.count() && link.game < source.games)?;
        let mut games = self.games(&source);
        (0..link.game).try_for_each(|_| games.skip_one()).ok()?;
        games.next()?.ok()
    }

    /// Shows each game of each source that is not empty, in the order of the file, until `see` breaks off.
    ///
    /// # Errors
    /// What fails in `see`.
    pub fn each(&self, see: &mut dyn FnMut(GameReference) -> Seen) -> error::Result<()> {
        // Links can name no more sources.
        let numbers = 0..self.count().min(1 << u16::BITS);
        let sources = numbers.filter_map(|number| self.source(number).ok());
        let mut read = 0;
        for source in sources.filter(|source| source.kind != SOURCE_NONE) {
            let mut games = self.games(&source);
            if self.is_shared(read)
                || to_the_end(games.by_ref().map_while(Result::ok).try_for_each(&mut *see))?.is_none()
            {
                break;
            }
            read += games.read();
        }
        Ok(())
    }

    /// Whether sources whose games take `read` bytes together must share some of them: the file has fewer bytes. In a
    /// damaged file many thousands can begin at the same place.
    pub(crate) fn is_shared(&self, read: u64) -> bool {
        read > self.map.len() as u64
    }

    /// A source's address, with the folder of the book in place of that of Kvetka.
    fn resolve(&self, source: &KvetkaSource) -> String {
        let address = &source.address;
        let start = CURRENT_DIR.iter().find_map(|start| address.strip_prefix(start));
        let Some(inside) = start.filter(|_| source.kind != SOURCE_WEB) else { return address.clone() };
        let inside: PathBuf = inside.split(['\\', '/']).filter(|part| !part.is_empty()).collect();
        self.path.parent().unwrap_or(Path::new("")).join(inside).to_string_lossy().into_owned()
    }
}

fn source(number: u32, reader: &mut KvetkaReader<'_>) -> wire::Result<KvetkaSource> {
    Ok(KvetkaSource {
        number,
        kind: reader.u8()?,
        gone: reader.u8()? != 0,
        address: reader.unicode()?,
        games: reader.u32()?,
        start: reader.offset(),
    })
}

/// The games of a source.
#[derive(Clone, Debug)]
pub struct KvetkaGames<'a> {
    reader: KvetkaReader<'a>,
    source: &'a KvetkaSource,
    address: String,
    left: u32,
}

impl KvetkaGames<'_> {
    /// Bytes that were read so far.
    pub(crate) fn read(&self) -> u64 {
        self.reader.offset().saturating_sub(self.source.start)
    }

    fn skip_one(&mut self) -> wire::Result<()> {
        self.left = self.left.saturating_sub(1);
        self.reader.bytes(8)?;
        self.reader.ansi()?;
        self.reader.ansi()?;
        self.reader.bytes(5).map(drop)
    }

    fn read_one(&mut self) -> wire::Result<GameReference> {
        let Self { reader, source, address, left } = self;
        let kind = KINDS.iter().find(|(number, _)| *number == source.kind);
        Ok(GameReference {
            number: u64::from(source.number) << 32 | u64::from(source.games - *left),
            kind: kind.map_or(ReferenceKind::Other, |(_, kind)| *kind),
            source: address.clone(),
            gone: source.gone,
            address: reader.u32()?.into(),
            length: reader.u32()?.into(),
            white: decode_text(reader.ansi()?).into_owned(),
            black: decode_text(reader.ansi()?).into_owned(),
            white_elo: NonZeroU16::new(reader.u16()?),
            black_elo: NonZeroU16::new(reader.u16()?),
            points: POINTS.get(usize::from(reader.u8()?)).copied(),
        })
    }
}

impl Iterator for KvetkaGames<'_> {
    type Item = Result<GameReference, (u64, &'static str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left.checked_sub(1)?;
        let game = self.read_one();
        self.left = if game.is_ok() { left } else { 0 };
        Some(game.map_err(|why| (self.reader.offset(), why)))
    }
}
