//! A book over its files: the element of a position is found by its key.

mod index;
mod parts;
pub(super) mod sources;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use index::KvetkaIndex;
use parts::Parts;
use sources::KvetkaSources;
use tabiya_base::error::{Error, Result};
use tabiya_base::map::Map;
use tabiya_chess::Position;

use super::element::{Body, Extras, RawElement};
use super::files::{self, KOB, KvetkaFiles};
use super::header::KvetkaHeader;
use super::key::Key;
use super::layout::{BLOCK_LEN, KEY_LEN};
use crate::Counts;

/// What to do with a book whose files do not belong together.
const TOGETHER: &str = "copy all files of the book again from an intact copy";

/// A Kvetka book.
#[derive(Debug)]
pub struct Kvetka {
    /// The name by which it was opened.
    pub(super) name: PathBuf,
    /// Its files, the opened one first.
    pub(super) files: Vec<PathBuf>,
    pub(super) parts: Parts,
    /// The `.kin` file, if it seemed sound when the book was opened.
    pub(super) index: Option<KvetkaIndex>,
    /// Set once the `.kin` file turns out to be wrong.
    distrusted: AtomicBool,
    sources: Option<KvetkaSources>,
    /// What was wrong when it was opened.
    pub(super) warnings: Vec<Error>,
}

/// An element, and the block that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundElement<'a> {
    /// The number of the block among those of the book.
    pub block: u64,
    pub element: RawElement<'a>,
}

impl Kvetka {
    /// Opens the book of a path: the name of any of its files in any letter case, or the book's own with or without
    /// `.kob`.
    ///
    /// Maps the files and reads the header and some keys, whatever their size.
    ///
    /// # Errors
    /// When there is no such book, a file of it cannot be opened, or its header cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let KvetkaFiles { kob, kin, ksf } = files::find(path)?;
        let mut files: Vec<PathBuf> =
            kob.iter().map(|(_, path)| path).chain(&kin).chain(&ksf).cloned().collect();
        let opened = files.iter().position(|file| file == path).unwrap_or_default();
        if let Some(files) = files.get_mut(..=opened) {
            files.rotate_right(1);
        }
        let mapped = |path: PathBuf| Map::open(&path).map(|map| (path, map));
        let kob = kob.into_iter().map(|(number, path)| mapped(path).map(|(path, map)| (number, path, map)));
        let kob = kob.collect::<Result<_>>()?;
        let (kin, error) = match kin.map(mapped).transpose() {
            Ok(kin) => (kin, None),
            Err(error) => (None, Some(error)),
        };
        let mut book = Self::from_maps(path.to_owned(), kob, kin, ksf.and_then(|path| mapped(path).ok()))?;
        book.warnings.extend(error);
        book.files = files;
        Ok(book)
    }

    /// A book whose positions are all in one file, over the bytes of that. `path` is only its name.
    ///
    /// # Errors
    /// When it has no header that can be read.
    pub fn new(path: impl Into<PathBuf>, kob: impl Into<Map>) -> Result<Self> {
        let path = path.into();
        Self::from_maps(path.clone(), vec![(0, path, kob.into())], None, None)
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
        let kob = (0..).zip(kob).map(|(number, bytes)| (number, files::kob(&stem, number), bytes.into()));
        let named = |end, bytes: Option<Vec<u8>>| Some((files::with_end(&stem, end), Map::from(bytes?)));
        Self::from_maps(path, kob.collect(), named(".kin", kin), named(".ksf", ksf))
    }

    fn from_maps(
        name: PathBuf,
        kob: Vec<(u32, PathBuf, Map)>,
        kin: Option<(PathBuf, Map)>,
        ksf: Option<(PathBuf, Map)>,
    ) -> Result<Self> {
        let parts = Parts::new(kob)?;
        let mut warnings = file_errors(&parts);
        let index = kin.map(|(path, map)| KvetkaIndex::new(path, map, &parts)).transpose();
        let index = index.unwrap_or_else(|error| {
            warnings.push(error);
            None
        });
        Ok(Self {
            name,
            files: parts.files.iter().map(|part| part.path.clone()).collect(),
            parts,
            index,
            distrusted: AtomicBool::new(false),
            sources: ksf.map(|(path, map)| KvetkaSources { path, map }),
            warnings,
        })
    }

    /// The header, if the first file exists.
    pub fn header(&self) -> Option<&KvetkaHeader> {
        self.parts.header.as_ref()
    }

    /// Whether elements may hold links to games. A book without a header is read as if they did.
    pub(super) fn has_links(&self) -> bool {
        self.header().is_none_or(KvetkaHeader::has_links)
    }

    /// How many blocks the book has.
    pub fn blocks(&self) -> u64 {
        self.parts.blocks
    }

    /// The games that the book names, if it has a `.ksf` file that can be opened.
    pub fn sources(&self) -> Option<&KvetkaSources> {
        self.sources.as_ref()
    }

    /// The element of a position.
    pub(super) fn find(&self, key: &Key) -> Option<FoundElement<'_>> {
        let (key, sound) = (&key.0, self.sound());
        self.find_between(key, 0, sound).or_else(|| self.find_between(key, sound, self.parts.blocks))
    }

    /// The block that has the element of a position, or where it belongs; `None` in a book without blocks.
    pub(super) fn home(&self, key: &Key) -> Option<u64> {
        let found = self.find(key).map(|found| found.block);
        found.or_else(|| self.parts.last_from(&key.0, 0, self.sound().checked_sub(1)?))
    }

    /// How many blocks are sorted: those after the ones that the header counts may be sorted on their own.
    fn sound(&self) -> u64 {
        let (blocks, said) = (self.parts.blocks, self.header().map(|header| u64::from(header.blocks)));
        said.filter(|said| *said > 0 && *said < blocks).unwrap_or(blocks)
    }

    fn find_between(&self, key: &[u8; KEY_LEN], low: u64, end: u64) -> Option<FoundElement<'_>> {
        let high = end.checked_sub(1).filter(|high| low <= *high)?;
        if let Some(index) = self.index.as_ref().filter(|_| !self.distrusted.load(Ordering::Relaxed)) {
            let block = index.last_from(key, low, high)?;
            if let Some(found) = self.in_block(key, block) {
                return Some(found);
            }
            // The position is missing only if the index agrees with the blocks.
            let same = |block: u64| index.key(block) == self.parts.first_key(block);
            if same(block) && (block == high || same(block + 1)) {
                return None;
            }
            self.distrusted.store(true, Ordering::Relaxed);
        }
        self.in_block(key, self.parts.last_from(key, low, high)?)
    }

    fn in_block(&self, key: &[u8; KEY_LEN], block: u64) -> Option<FoundElement<'_>> {
        self.parts.block(block)?.find(key).map(|element| FoundElement { block, element })
    }

    fn body(&self, at: &Position) -> Option<Body<'_>> {
        self.find(&Key::from_chess(at.standard()?)?)?.element.body().ok()
    }

    /// How the games of a position ended, if the book has it.
    pub fn results(&self, at: &Position) -> Option<Counts> {
        Some(self.body(at)?.results)
    }

    /// The link and the comment of a position.
    pub fn extras(&self, at: &Position) -> Option<Extras> {
        self.body(at)?.extras(self.has_links()).ok()
    }
}

/// Errors of the files that show without reading a block.
fn file_errors(parts: &Parts) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut expected = 0;
    let several = parts.files.len() > 1;
    for part in &parts.files {
        if part.number != expected && (several || parts.header.is_none()) {
            let missing = if part.number == expected + 1 {
                format!("_{expected}.{KOB} is")
            } else {
                format!("_{expected}.{KOB} to _{}.{KOB} are", part.number - 1)
            };
            let what = format!("{missing} missing before this file, with all positions in there");
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
    if let (Some(header), Some(first)) = (&parts.header, parts.files.first())
        && u64::from(header.blocks) != parts.blocks
    {
        let what = format!("the header counts {} blocks, but the book has {}", header.blocks, parts.blocks);
        errors.push(Error::format(&first.path, what).at_offset(first.start - 4).advice(TOGETHER));
    }
    errors
}
