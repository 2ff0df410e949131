//! Writing the files of a book.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, Remedy, Result};
use tabiya_base::replace::{FileSet, Replacement};

use super::super::block::Packer;
use super::super::element::{Element, LeftOut};
use super::super::files;
use super::super::header::KvetkaHeader;
use super::super::key::Key;
use super::super::layout::{BLOCK_LEN, MAX_FILE};
use crate::Heading;

/// The files, which get their names when all are complete.
#[derive(Debug)]
pub struct Output {
    stem: PathBuf,
    force: bool,
    header: KvetkaHeader,
    /// The first `.kob` file, whose header is written last.
    first: Replacement,
    /// The present one, unless it is the first.
    present: Option<Replacement>,
    /// The files between them, and those of an old book of this name, which are removed.
    set: FileSet,
    /// How many `.kob` files there are.
    count: u32,
    /// Bytes of the present one.
    size: u64,
    kin: Replacement,
    packer: Packer,
    element: Vec<u8>,
}

impl Output {
    /// Begins the files of a book; its header counts the blocks, and is written again at the end.
    ///
    /// # Errors
    /// When a file of such a book exists and may not be replaced, or as [`Replacement::new`].
    pub fn new(path: &Path, force: bool, header: KvetkaHeader) -> Result<Self> {
        let stem = files::stem(path);
        let existing = files::existing(&stem)?;
        if let Some(existing) = existing.first().filter(|_| !force) {
            return Err(Error::exists(existing));
        }
        let mut set = FileSet::default();
        let first = set.begin(files::kob(&stem, 0), force)?;
        let kin = set.begin(files::with_end(&stem, ".kin"), force)?;
        existing.into_iter().for_each(|old| set.remove(old));
        Ok(Self {
            stem,
            force,
            header,
            first,
            present: None,
            set,
            count: 1,
            size: 0,
            kin,
            packer: Packer::default(),
            element: Vec::new(),
        })
    }

    /// Takes what another book says of itself, before the first element.
    pub fn describe(&mut self, heading: &Heading) {
        self.header.describe(heading);
    }

    /// Begins the `.ksf` file of the book.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn ksf(&self) -> Result<Replacement> {
        Replacement::new(files::with_end(&self.stem, ".ksf"), self.force)
    }

    /// Writes the next element, in the order of their keys.
    ///
    /// # Errors
    /// When the disk is full or fails, or the book has more blocks than its header can count.
    pub fn element(&mut self, element: &Element) -> Result<LeftOut> {
        self.element.clear();
        let left_out = element.write(self.header.has_links(), &mut self.element);
        if let Some((first, block)) = self.packer.push(element.key, &self.element) {
            self.block(&first, &block)?;
        }
        Ok(left_out)
    }

    fn block(&mut self, first: &Key, block: &[u8]) -> Result<()> {
        if self.header.blocks == 0 {
            let header = self.header.to_bytes();
            self.first.write_all(&header).map_err(|error| self.first.error(error))?;
            self.size = header.len() as u64;
        }
        if self.size + BLOCK_LEN > MAX_FILE {
            let path = files::kob(&self.stem, self.count);
            if let Some(full) = self.present.replace(self.set.begin(path, self.force)?) {
                self.set.add(full)?;
            }
            self.count += 1;
            self.size = 0;
        }
        let file = self.present.as_mut().unwrap_or(&mut self.first);
        file.write_all(block).map_err(|error| file.error(error))?;
        self.kin.write_all(&first.0).map_err(|error| self.kin.error(error))?;
        self.size += BLOCK_LEN;
        self.header.blocks = self.header.blocks.checked_add(1).ok_or_else(|| {
            Error::format(self.first.target(), "the book has more blocks than its format can count")
                .remedied_by(Remedy::SmallerBook)
        })?;
        Ok(())
    }

    /// Completes the files and `ksf`, puts them in place, and removes those of the old book that have no successor. Returns
    /// the paths, the first `.kob` file first.
    ///
    /// # Errors
    /// As [`Output::element`].
    pub fn finish(mut self, ksf: Option<Replacement>) -> Result<Vec<PathBuf>> {
        if let Some((first, block)) = self.packer.finish() {
            self.block(&first, &block)?;
        }
        let header = self.header.to_bytes();
        let patched = self.first.seek(SeekFrom::Start(0)).and_then(|_| self.first.write_all(&header));
        patched.map_err(|error| self.first.error(error))?;
        let mut paths = vec![self.first.target().to_owned()];
        paths.extend((1..self.count).map(|number| files::kob(&self.stem, number)));
        paths.push(self.kin.target().to_owned());
        paths.extend(ksf.as_ref().map(|ksf| ksf.target().to_owned()));
        let Self { mut set, first, present, kin, .. } = self;
        [first].into_iter().chain(present).chain(ksf).chain([kin]).try_for_each(|file| set.add(file))?;
        set.commit()?;
        Ok(paths)
    }
}
