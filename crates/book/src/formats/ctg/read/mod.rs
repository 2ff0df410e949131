//! A book over its three files, and its entries.

mod headers;
pub mod index;
pub mod page;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use index::CtgIndex;
use page::{CtgPageEntry, Page};
use tabiya_base::error::Result;
use tabiya_base::map::Map;
use tabiya_chess::Position;

use super::files;
use super::layout::{PAGES_OF_MARKS, UPPER_BITS};
use super::signature::Signature;
use crate::traverse::Forms as _;

/// A ChessBase book.
#[derive(Debug)]
pub struct Ctg {
    /// The name by which it was opened.
    pub(super) name: PathBuf,
    pub(super) files: [PathBuf; 3],
    /// The bytes of the pages, including the header page.
    pub(super) ctg: Map,
    cto: Map,
    ctb: Map,
    mark_mask: OnceLock<u8>,
}

impl Ctg {
    /// Opens a book by any of its three files, in any letter case.
    ///
    /// Maps the files and reads their headers and one page, whatever their size.
    ///
    /// # Errors
    /// When a file is missing or cannot be opened, is not a part of a CTG book, or belongs to a different book.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref();
        let real = files::in_any_case(name).unwrap_or_else(|| name.to_owned());
        // First, because the error for a missing file has the given name.
        let first = Map::open(&real)?;
        let opened = files::part(&real).unwrap_or_default();
        headers::check_one(opened, &real, &first)?;
        let files = files::three_files(&real)?;
        let mut first = Some(first);
        let mut open = |at: usize, path: &Path| match first.take_if(|_| at == opened) {
            Some(map) => Ok(map),
            None => Map::open(path),
        };
        let [ctg, cto, ctb] = &files;
        let maps = [open(0, ctg)?, open(1, cto)?, open(2, ctb)?];
        Self::from_maps(name.to_owned(), files, maps)
    }

    /// A book over the bytes of its three files: pages, index, bitmap. `path` is only its name.
    ///
    /// # Errors
    /// As [`Ctg::open`], but for the opening of the files.
    pub fn new(
        path: impl Into<PathBuf>,
        ctg: impl Into<Map>,
        cto: impl Into<Map>,
        ctb: impl Into<Map>,
    ) -> Result<Self> {
        let name = path.into();
        let files = files::EXTENSIONS.map(|extension| name.with_extension(extension));
        Self::from_maps(name, files, [ctg.into(), cto.into(), ctb.into()])
    }

    fn from_maps(name: PathBuf, files: [PathBuf; 3], maps: [Map; 3]) -> Result<Self> {
        headers::check(&files, &maps)?;
        let [ctg, cto, ctb] = maps;
        Ok(Self { name, files, ctg, cto, ctb, mark_mask: OnceLock::new() })
    }

    /// The index; never `None` once the book is open.
    pub(super) fn index(&self) -> Option<CtgIndex<'_>> {
        CtgIndex::new(&self.cto, &self.ctb)
    }

    /// The bytes of pages, index and bitmap.
    pub(super) fn maps(&self) -> [&[u8]; 3] {
        [&self.ctg, &self.cto, &self.ctb]
    }

    /// The bits of a move's second byte that hold its mark: all, unless the moves of the first pages have the upper bits
    /// without exception. Nearly always the first entry decides that.
    pub(super) fn mark_mask(&self) -> u8 {
        *self.mark_mask.get_or_init(|| {
            let mut marks = Page::all(&self.ctg)
                .take(PAGES_OF_MARKS)
                .flat_map(|page| page.entries())
                .flat_map(|entry| entry.moves.iter().map(|[_, mark]| mark))
                .peekable();
            let is_upper = marks.peek().is_some() && marks.all(|mark| mark & UPPER_BITS == UPPER_BITS);
            if is_upper { !UPPER_BITS } else { u8::MAX }
        })
    }

    /// The entry of a position, if the book has one.
    pub fn entry(&self, at: &Position) -> Option<CtgPageEntry<'_>> {
        self.look_up(at.standard()?).map(|(_, entry)| entry)
    }

    /// The entry of a signature.
    pub(super) fn raw(&self, signature: &Signature) -> Option<CtgPageEntry<'_>> {
        let index = self.index()?;
        let page = index.page(index.leaf(signature.hash()))?;
        Page::get(&self.ctg, page)?.find(signature.bytes())
    }
}
