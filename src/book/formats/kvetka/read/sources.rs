//! The `.ksf` file: the games that a book was made of, and where they stand.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::super::element::Link;
use super::super::layout::{
    CONTENTS_UNIT, CURRENT_DIR, SHORTEST_GAME, SOURCE_CBH, SOURCE_NONE, SOURCE_PGN, SOURCE_WEB,
};
use super::super::wire::{self, Reader, from_ansi};
use crate::base::map::Map;
use crate::book::{LinkedGame, SourceKind};

/// The `.ksf` file of a book.
#[derive(Debug)]
pub struct Sources {
    path: PathBuf,
    map: Map,
    /// The folder of the book, for which `%currentdir%` is taken.
    folder: PathBuf,
}

/// A source: a file or page with games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is: see [`super::super::layout::SOURCE_PGN`] and the others.
    pub kind: u8,
    /// Whether it is known to be gone.
    pub gone: bool,
    /// The address as it is written.
    pub address: String,
    /// How many games it says to have.
    pub games: u32,
    /// The offset of the first one.
    start: u64,
}

/// A game of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Game {
    /// Where it stands in its source.
    pub address: u32,
    /// How many bytes it has there.
    pub length: u32,
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// White's Elo; 0 is unknown.
    pub white_elo: u16,
    /// Black's Elo; 0 is unknown.
    pub black_elo: u16,
    /// 0 Black won, 1 White won, 2 drawn, 3 unknown.
    pub result: u8,
}

impl Sources {
    /// The sources in a file. `folder` is that of the book.
    pub fn new(path: PathBuf, map: Map, folder: PathBuf) -> Self {
        Self { path, map, folder }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// How many sources it says to have.
    pub fn said(&self) -> u32 {
        Reader::at(&self.map, 0).u32().unwrap_or_default()
    }

    /// How many sources it has an offset for.
    pub fn count(&self) -> u32 {
        let room = (self.map.len() as u64).saturating_sub(4) / 4;
        self.said().min(u32::try_from(room).unwrap_or(u32::MAX))
    }

    /// The bytes that the contents of so many sources fill.
    pub fn contents_len(count: u64) -> u64 {
        (4 + 4 * count).next_multiple_of(CONTENTS_UNIT)
    }

    /// Where the contents have the offset of a source.
    pub fn entry(number: u32) -> u64 {
        4 + 4 * u64::from(number)
    }

    /// The source of a number, less than [`Sources::count`].
    ///
    /// # Errors
    /// When it cannot be read: where, and why.
    pub fn source(&self, number: u32) -> Result<Source, (u64, &'static str)> {
        let entry = Self::entry(number);
        let start = Reader::at(&self.map, entry).u32().map_err(|why| (entry, why))?;
        let mut reader = Reader::at(&self.map, start.into());
        source(&mut reader).map_err(|why| (reader.offset(), why))
    }

    /// The games of a source, up to the first that cannot be read: then its offset, and why.
    pub fn games<'a>(&'a self, source: &Source) -> Games<'a> {
        Games { reader: Reader::at(&self.map, source.start), left: source.games }
    }

    /// The game that a link leads to, where there is one.
    pub fn game(&self, link: Link) -> Option<LinkedGame> {
        let number = u32::from(link.source);
        let source =
            self.source(number).ok().filter(|source| number < self.count() && link.game < source.games)?;
        let mut games = self.games(&source);
        for _ in 0..link.game {
            games.skip_one().ok()?;
        }
        let (_, game) = games.next()?.ok()?;
        Some(self.linked(&source, &self.resolve(&source), link, game))
    }

    /// Shows each game of each source that is not empty, in the order of the file, until `see` breaks off.
    pub fn each(&self, see: &mut dyn FnMut(LinkedGame) -> ControlFlow<()>) {
        for number in (0..self.count()).map_while(|number| u16::try_from(number).ok()) {
            let Ok(source) = self.source(number.into()) else { continue };
            if source.kind == SOURCE_NONE {
                continue;
            }
            let address = self.resolve(&source);
            for (game, (_, known)) in (0..).zip(self.games(&source).map_while(Result::ok)) {
                if see(self.linked(&source, &address, Link { source: number, game }, known)).is_break() {
                    return;
                }
            }
        }
    }

    /// How many games the file has, as far as it can be read.
    pub fn total(&self) -> u64 {
        let sources = (0..self.count()).filter_map(|number| self.source(number).ok());
        sources.filter(|source| source.kind != SOURCE_NONE).map(|source| self.games(&source).held()).sum()
    }

    fn linked(&self, source: &Source, address: &str, link: Link, game: Game) -> LinkedGame {
        LinkedGame {
            number: link.number(),
            kind: kind(source.kind),
            source: address.to_owned(),
            gone: source.gone,
            address: game.address.into(),
            length: game.length.into(),
            white: game.white,
            black: game.black,
            white_elo: game.white_elo,
            black_elo: game.black_elo,
            points: match game.result {
                0 => Some(0),
                1 => Some(2),
                2 => Some(1),
                _ => None,
            },
        }
    }

    /// A source's address, with the folder of the book for that of the program.
    fn resolve(&self, source: &Source) -> String {
        let address = &source.address;
        let start = CURRENT_DIR.iter().find_map(|start| address.strip_prefix(start));
        let Some(inside) = start.filter(|_| source.kind != SOURCE_WEB) else { return address.clone() };
        let inside: PathBuf = inside.split(['\\', '/']).filter(|part| !part.is_empty()).collect();
        self.folder.join(inside).to_string_lossy().into_owned()
    }
}

fn source(reader: &mut Reader<'_>) -> wire::Result<Source> {
    Ok(Source {
        kind: reader.u8()?,
        gone: reader.u8()? != 0,
        address: reader.unicode()?,
        games: reader.u32()?,
        start: reader.offset(),
    })
}

/// What a source is.
fn kind(kind: u8) -> SourceKind {
    match kind {
        SOURCE_PGN => SourceKind::Pgn,
        SOURCE_WEB => SourceKind::Web,
        SOURCE_CBH => SourceKind::Cbh,
        _ => SourceKind::Other,
    }
}

/// The games of a source.
#[derive(Clone, Debug)]
pub struct Games<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl Games<'_> {
    /// Passes a game over.
    fn skip_one(&mut self) -> wire::Result<()> {
        self.left = self.left.saturating_sub(1);
        self.reader.bytes(8)?;
        self.reader.ansi()?;
        self.reader.ansi()?;
        self.reader.bytes(5).map(|_| ())
    }

    /// How many of them can be read.
    pub fn held(mut self) -> u64 {
        let mut held = 0;
        while self.left > 0 && self.skip_one().is_ok() {
            held += 1;
        }
        held
    }
}

impl Iterator for Games<'_> {
    /// The offset of a game, and the game.
    type Item = Result<(u64, Game), (u64, &'static str)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let start = self.reader.offset();
        let game = game(&mut self.reader);
        if game.is_err() {
            self.left = 0;
        }
        Some(game.map(|game| (start, game)).map_err(|why| (self.reader.offset(), why)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = self.reader.rest().len() as u64 / SHORTEST_GAME + 1;
        (0, usize::try_from(most.min(self.left.into())).ok())
    }
}

fn game(reader: &mut Reader<'_>) -> wire::Result<Game> {
    Ok(Game {
        address: reader.u32()?,
        length: reader.u32()?,
        white: from_ansi(reader.ansi()?),
        black: from_ansi(reader.ansi()?),
        white_elo: reader.u16()?,
        black_elo: reader.u16()?,
        result: reader.u8()?,
    })
}
