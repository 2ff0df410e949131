//! Count files in a build: those that are counted with its games, and those that it writes.

use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::progress::Progress;
use tabiya_book::counts::{CountFile, CountWriter, CountsRow, Shape};
use tabiya_book::{By, Counts};
use tabiya_chess::Variant;

pub use tabiya_book::counts::CountsWritten;
pub(super) use tabiya_book::counts::EXTENSION;

use super::Resources;
use super::filter::Filter;
use super::gathered_rows::{CountFileSource, DamagedGroups, GatheredRows, wanted};
use super::row::CountedRow;
use super::weigh::for_each_move;
use crate::source;

/// Count files that are counted together, with the row groups that turned out not to be readable to their end.
#[derive(Debug, Default)]
pub struct OpenCounts {
    files: Vec<CountFile>,
    damage: DamagedGroups,
}

impl From<Vec<CountFile>> for OpenCounts {
    fn from(files: Vec<CountFile>) -> Self {
        Self { files, ..Self::default() }
    }
}

impl OpenCounts {
    /// Opens those among the sources; returns also why some of those in folders cannot be opened.
    ///
    /// # Errors
    /// When one that is named cannot be opened.
    pub fn of(sources: &mut source::Sorted) -> Result<(Self, Vec<Error>)> {
        let (files, unopened) = sources.open_counts(CountFile::open)?;
        Ok((files.into(), unopened))
    }

    /// The files.
    pub fn files(&self) -> &[CountFile] {
        &self.files
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|file| file.path().to_owned())
    }

    /// Whether all hold positions.
    pub fn have_positions(&self) -> bool {
        self.files.iter().all(CountFile::has_positions)
    }

    /// Their variant of chess, and that of what is counted with them: the one that is named, or else theirs.
    ///
    /// # Errors
    /// When a file counts games of another variant: counts of different variants are never added up.
    pub fn variant(&self, named: Option<Variant>) -> Result<Variant> {
        let variant = named.or_else(|| Some(self.files.first()?.variant())).unwrap_or_default();
        let other = self.files.iter().find(|file| file.variant() != variant);
        let Some(other) = other else { return Ok(variant) };
        let what = format!("this count file counts games of {}, not of {variant}", other.variant());
        Err(Error::new(ErrorKind::Usage, what)
            .at_path(other.path())
            .advice("counts of different variants are not added up: leave the file out, or add up the files of one variant"))
    }

    /// What could not be read of each file.
    pub fn damage(&self) -> Vec<(&Path, Vec<Finding>)> {
        let files = self.files.iter().enumerate();
        files.map(|(number, file)| (file.path(), self.damage.findings(number, file))).collect()
    }

    /// # Errors
    /// When a file lacks the columns of `R`, or those by which games are distinguished or filtered.
    pub(super) fn require<R: CountedRow>(&self, filter: &Filter, by: By) -> Result<()> {
        let wanted = wanted::<R>(filter, by);
        self.files.iter().try_for_each(|file| file.require(wanted))
    }

    /// Their rows and those of these `shards`, on which filters have acted. As many as there is memory for are read now, on all
    /// threads; of more, files that are sorted are read when their keys have their turn, so that no row goes to the disk.
    ///
    /// # Errors
    /// When a file cannot be read, a shard is damaged, a temporary file cannot be written, or the work is interrupted.
    pub(super) fn rows<'a, R: CountedRow>(
        &'a self,
        shards: Vec<PathBuf>,
        filter: &'a Filter,
        by: By,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<GatheredRows<'a, R>> {
        let shards = shards.into_iter().map(CountFileSource::shard);
        let files = self.files.iter().enumerate();
        let files =
            files.map(|(number, file)| Ok(CountFileSource::new(file, filter, (&self.damage, number))));
        GatheredRows::of_files(shards.chain(files), by, resources, progress)
    }
}

/// A count file that is being written.
#[derive(Debug)]
pub struct NewCounts {
    writer: CountWriter,
    shape: Shape,
}

impl NewCounts {
    /// How their names end, after a dot.
    pub const EXTENSION: &'static str = EXTENSION;

    /// Begins a count file of a variant, with these columns beside those that all have: `positions`, and what games are told apart
    /// `by`.
    ///
    /// # Errors
    /// When it cannot be created, or exists and `force` is not set.
    pub fn create(path: &Path, positions: bool, by: By, variant: Variant, force: bool) -> Result<Self> {
        let shape = Shape { positions, by };
        let writer = CountWriter::create(path, shape, force);
        writer.map(|writer| Self { writer: writer.of_variant(variant), shape })
    }

    /// Whether it holds positions.
    pub(super) fn has_positions(&self) -> bool {
        self.shape.positions
    }

    /// The properties by which games are counted separately.
    pub(super) fn by(&self) -> By {
        self.shape.by
    }

    /// Writes rows, and completes the file; returns also how many rows of other count files the filter leaves out.
    ///
    /// # Errors
    /// When a temporary file cannot be read, the count file cannot be written, or the work is interrupted.
    pub(super) fn write<R: CountedRow>(
        mut self,
        rows: GatheredRows<'_, R>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<(u64, CountsWritten)> {
        let lines = |rows: &[R]| {
            let mut lines = Vec::with_capacity(rows.len());
            for rows in rows.chunk_by(|a, b| a.key() == b.key()) {
                // All rows of a key have the same position unless keys collide: then one of them serves all.
                let packed = rows.iter().filter_map(CountedRow::packed).min();
                let key = rows.first().map_or(0, |row| row.key());
                for_each_move(rows, |mv, slice, Counts { wins, draws, losses, .. }| {
                    lines.push(CountsRow { key, mv, wins, draws, losses, packed, slice });
                });
            }
            lines
        };
        let left = rows.each(resources, progress, lines, |lines| {
            lines.iter().try_for_each(|line| self.writer.add(line))
        })?;
        Ok((left, self.writer.finish()?))
    }
}

/// Whether the count file exists, with the columns of these rows and this number of rows.
pub(super) fn is_whole<R: CountedRow>(path: &Path, by: By, rows: u64) -> bool {
    let shape = Shape { positions: R::PLACED, by };
    CountFile::open(path).is_ok_and(|file| file.rows() == rows && file.require(shape).is_ok())
}
