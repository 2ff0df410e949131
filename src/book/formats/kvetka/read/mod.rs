//! A book over its files: a position becomes its element, and its moves.

pub(super) mod index;
pub(super) mod parts;
pub(super) mod sources;
mod traverse;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::element::{Extras, RawElement, Results, opening_name};
use super::files::{self, Files};
use super::header::Header;
use super::key::Key;
use super::layout::{BLOCK_LEN, KEY_LEN};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::map::Map;
use crate::book::{Counts, LinkedGame};
use crate::chess::Position;
use index::Index;
use parts::Parts;
use sources::Sources;

/// What to do with a book whose files do not fit together.
const TOGETHER: &str = "copy all files of the book again, from where it was whole";

/// A Kvetka book.
#[derive(Debug)]
pub struct Kvetka {
    name: PathBuf,
    parts: Parts,
    index: Option<Index>,
    /// Set once the `.kin` file has been caught lying.
    distrusted: AtomicBool,
    kin: Option<PathBuf>,
    ksf: Option<PathBuf>,
    sources: OnceLock<Option<Sources>>,
    warnings: Vec<Error>,
}

/// An element that was found, and the block that has it.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The number of the block among those of the book.
    pub block: u64,
    /// The element.
    pub element: RawElement<'a>,
}

impl Kvetka {
    /// Opens the book that a path means: by the name of any of its files in any letter case, or by the book's own with
    /// or without `.kob`.
    ///
    /// Maps the files and reads the header and some keys, whatever their size.
    ///
    /// # Errors
    /// When there is no such book, a file of it cannot be opened, or its header cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let Files { kob, kin, ksf } = files::find(path)?;
        let mut maps = Vec::with_capacity(kob.len());
        for (number, path) in kob {
            let map = Map::open(&path)?;
            maps.push((number, path, map));
        }
        let mut index_problem = None;
        let index = match kin.as_deref().map(|path| (path, Map::open(path))) {
            Some((path, Ok(map))) => Some((path.to_owned(), map)),
            Some((_, Err(error))) => {
                index_problem = Some(error);
                None
            }
            None => None,
        };
        let mut book = Self::of(path.to_owned(), maps, index)?;
        book.warnings.extend(index_problem);
        (book.kin, book.ksf) = (kin, ksf);
        Ok(book)
    }

    /// A book whose positions are all in one file, over the bytes of that. `path` is only its name.
    ///
    /// # Errors
    /// When it has no header that can be read.
    pub fn new(path: impl Into<PathBuf>, kob: impl Into<Map>) -> Result<Self> {
        let path = path.into();
        Self::of(path.clone(), vec![(0, path, kob.into())], None)
    }

    /// A book over the bytes of its files: those with positions, the index, the games. `path` is only its name.
    ///
    /// # Errors
    /// As [`Kvetka::new`].
    pub fn with_files(
        path: impl Into<PathBuf>,
        kob: Vec<Vec<u8>>,
        kin: Option<Vec<u8>>,
        ksf: Option<Vec<u8>>,
    ) -> Result<Self> {
        let path = path.into();
        let stem = files::stem(&path);
        let named = |end: &str| files::with_end(&stem, end);
        let kob = (0..)
            .zip(kob)
            .map(|(number, bytes)| (number, named(&format!("_{number}.{}", files::KOB)), Map::from(bytes)));
        let kin = kin.map(|bytes| (named(".kin"), Map::from(bytes)));
        let mut book = Self::of(path.clone(), kob.collect(), kin)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let sources = ksf.map(|bytes| Sources::new(named(".ksf"), Map::from(bytes), folder));
        book.sources = OnceLock::from(sources);
        Ok(book)
    }

    fn of(name: PathBuf, files: Vec<(u32, PathBuf, Map)>, kin: Option<(PathBuf, Map)>) -> Result<Self> {
        let parts = Parts::new(files)?;
        let mut warnings = file_errors(&parts);
        let mut index = None;
        if let Some((path, map)) = kin {
            match Index::new(path, map, &parts) {
                Ok(sound) => index = Some(sound),
                Err(error) => warnings.push(error),
            }
        }
        Ok(Self {
            name,
            parts,
            index,
            distrusted: AtomicBool::new(false),
            kin: None,
            ksf: None,
            sources: OnceLock::new(),
            warnings,
        })
    }

    /// The name by which it was opened.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Its files, the opened one first.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let kob = self.parts.all().iter().map(|part| part.path.clone());
        let mut paths: Vec<PathBuf> = kob.chain(self.kin.clone()).chain(self.ksf.clone()).collect();
        let opened = paths.iter().position(|path| *path == self.name).unwrap_or_default();
        if let Some(files) = paths.get_mut(..=opened) {
            files.rotate_right(1);
        }
        paths
    }

    /// What was found wrong when it was opened.
    pub(super) fn errors(&self) -> &[Error] {
        &self.warnings
    }

    /// Its blocks.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The `.kin` file, where there is one that seemed sound when the book was opened.
    pub(super) fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// What the book says of itself, where its first file is at hand.
    pub fn header(&self) -> Option<&Header> {
        self.parts.header()
    }

    /// Whether elements may hold links to games. A book without a header is read as if they did.
    pub(super) fn has_links(&self) -> bool {
        self.header().is_none_or(Header::has_links)
    }

    /// Blocks that the book has.
    pub fn blocks(&self) -> u64 {
        self.parts.blocks()
    }

    /// The games that the book knows of, where there is a `.ksf` file that can be opened.
    pub fn sources(&self) -> Option<&Sources> {
        let open = || {
            let path = self.ksf.as_deref()?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            Some(Sources::new(path.to_owned(), Map::open(path).ok()?, folder))
        };
        self.sources.get_or_init(open).as_ref()
    }

    /// The element of a position.
    pub(super) fn find(&self, key: &Key) -> Option<Found<'_>> {
        let key = &key.0;
        let (blocks, said) = (self.parts.blocks(), self.header().map(|header| u64::from(header.blocks)));
        // What stands behind the blocks that the header counts may be sorted by itself.
        let sound = said.filter(|said| *said > 0 && *said < blocks).unwrap_or(blocks);
        self.find_between(key, 0, sound).or_else(|| self.find_between(key, sound, blocks))
    }

    fn find_between(&self, key: &[u8; KEY_LEN], low: u64, end: u64) -> Option<Found<'_>> {
        let high = end.checked_sub(1).filter(|high| low <= *high)?;
        if let Some(index) = self.index.as_ref().filter(|_| !self.distrusted.load(Ordering::Relaxed)) {
            let block = index.last_from(key, low, high)?;
            if let Some(found) = self.in_block(key, block) {
                return Some(found);
            }
            // Not found: that is believed only where the index says what the blocks say.
            let same = |block: u64| index.key(block) == self.parts.first_key(block);
            if same(block) && (block == high || same(block + 1)) {
                return None;
            }
            self.distrusted.store(true, Ordering::Relaxed);
        }
        self.in_block(key, self.parts.last_from(key, low, high)?)
    }

    fn in_block(&self, key: &[u8; KEY_LEN], block: u64) -> Option<Found<'_>> {
        self.parts.block(block)?.find(key).map(|element| Found { block, element })
    }

    /// A number for an element that is its alone: its offset in all blocks.
    pub(super) fn offset(found: &Found<'_>) -> u64 {
        found.block * BLOCK_LEN + found.element.at as u64
    }

    /// How the games of a position ended, where the book has it.
    pub fn results(&self, at: &Position) -> Option<Results> {
        Some(self.find(&Key::of(at.chess())?)?.element.body().ok()?.results)
    }

    /// What else the book says of a position.
    pub fn extras(&self, at: &Position) -> Option<Extras> {
        self.find(&Key::of(at.chess())?)?.element.body().ok()?.extras(self.has_links()).ok()
    }

    /// The name of the opening at a position.
    pub(super) fn name_at(&self, at: &Position) -> Option<String> {
        self.extras(at)?.comment.map(|comment| opening_name(&comment))
    }

    /// The game that a position is linked to.
    pub(super) fn game_at(&self, at: &Position) -> Option<LinkedGame> {
        let link = self.extras(at)?.link?;
        self.sources()?.game(link)
    }
}

/// Results as counts.
pub(super) fn counts(results: Results) -> Counts {
    let Results { wins, draws, losses } = results;
    Counts { games: results.games(), wins, draws, losses }
}

/// What is wrong with the files, without any of their blocks read.
fn file_errors(parts: &Parts) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut expected = 0;
    let several = parts.all().len() > 1;
    for part in parts.all() {
        if part.number != expected && (several || parts.header().is_none()) {
            let missing = if part.number == expected + 1 {
                format!("_{expected}.{} is", files::KOB)
            } else {
                format!("_{expected}.{kob} to _{}.{kob} are", part.number - 1, kob = files::KOB)
            };
            let what = format!("before this file {missing} missing, and the positions that stood there");
            errors.push(Error::format(&part.path, what).at_offset(0).advice(TOGETHER));
        }
        expected = part.number.saturating_add(1);
        let len = part.map.len() as u64;
        let over = len.saturating_sub(part.start) % BLOCK_LEN;
        if over != 0 {
            let what = format!("the last block is cut off: it has {over} of {BLOCK_LEN} bytes");
            errors.push(Error::format(&part.path, what).at_offset(len - over).advice(TOGETHER));
        }
    }
    if let (Some(header), Some(first)) = (parts.header(), parts.all().first())
        && u64::from(header.blocks) != parts.blocks()
    {
        let what = format!("the header counts {} blocks, and the book has {}", header.blocks, parts.blocks());
        errors.push(
            Error::new(ErrorKind::Format, what)
                .at_path(&first.path)
                .at_offset(first.start - 4)
                .advice(TOGETHER),
        );
    }
    errors
}
