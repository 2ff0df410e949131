//! Writing a book: its three files, which are put in place as one.
//!
//! Memory holds what [`WriteOptions::memory`] says and the index, which has a few bytes for each page; the rest is in
//! temporary files.
#![allow(clippy::cast_possible_truncation, reason = "a page has 4096 bytes")]

mod draft;
mod kept;
mod rows;
mod trie;
mod words;

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

pub use draft::{Beside, CtgDraft};

use tabiya_base::error::Result;
use tabiya_base::folder;
use tabiya_base::replace::{FileSet, Replacement};

use super::FORMAT;
use super::files::EXTENSIONS;
use super::layout::PAGE_LEN;
use crate::write::Needs;
use crate::{BookWriter, Format, PositionRecord, WriteOptions, Written};

/// A CTG book that is being written.
#[derive(Debug)]
pub struct CtgWriter {
    draft: CtgDraft,
    paths: [PathBuf; 3],
    files: [Replacement; 3],
    needs: Needs,
}

impl CtgWriter {
    /// Begins a book whose page file is `path`. The other two get the same name, with extensions in the same letter case.
    ///
    /// # Errors
    /// As [`Replacement::new`] of each.
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let [_, index, bitmap] = EXTENSIONS.map(|extension| folder::with_extension(path, extension));
        let mut set = FileSet::default();
        let mut begin = |path: &Path| set.begin(path, options.force);
        let files = [begin(path)?, begin(&index)?, begin(&bitmap)?];
        let paths = [path.to_owned(), index, bitmap];
        let draft = CtgDraft::new(options.green, &options.temp(), options.memory);
        Ok(Self { draft, paths, files, needs: options.needs() })
    }
}

impl BookWriter for CtgWriter {
    fn needs_positions(&self) -> bool {
        true
    }

    fn holds_verdicts(&self) -> bool {
        true
    }

    fn holds_factors(&self) -> bool {
        true
    }

    /// Its own, and those that say which moves are played by more than their results.
    fn takes_extras(&self, of: Format) -> bool {
        of == FORMAT || of.has_own_numbers()
    }

    fn memory(&self) -> usize {
        self.draft.memory
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        self.draft.add(known)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { draft, paths, files, needs, .. } = *self;
        let [mut ctg, mut cto, mut ctb] = files;
        // Room for the header, which counts the pages.
        ctg.write_all(&[0; PAGE_LEN as usize]).map_err(|error| ctg.error(error))?;
        let beside = draft.write(|page| ctg.write_all(page).map_err(|error| ctg.error(error)))?;
        let written = beside.written;
        if !needs.are_met(&written) {
            return Ok(written);
        }
        let headed = ctg.seek(SeekFrom::Start(0)).and_then(|_| ctg.write_all(&beside.header));
        headed.map_err(|error| ctg.error(error))?;
        cto.write_all(&beside.cto).map_err(|error| cto.error(error))?;
        ctb.write_all(&beside.ctb).map_err(|error| ctb.error(error))?;
        // The pages last, because they open the book.
        let mut set = FileSet::default();
        [ctb, cto, ctg].into_iter().try_for_each(|file| set.add(file))?;
        set.commit()?;
        Ok(Written { files: paths.into(), ..written })
    }
}
