//! Count files in a build: those that are counted with its games, and those that it writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_book::counts::{CountFile, CountWriter, CountsRow, Shape, damage};
use tabiya_book::{By, Counts};
use tabiya_chess::{MoveCode, Variant};
use tabiya_games::Date;

pub use tabiya_book::counts::CountsWritten;
pub(super) use tabiya_book::counts::EXTENSION;

use super::Resources;
use super::filter::Filter;
use super::row::{Count, CountedRow, GameOutcome, NO_GAME};
use super::sort::{RadixSorter, Sorted, SortedRuns};
use super::weigh::for_each_move;
use crate::source;

/// Rows between two checks for an interrupt.
const STRIDE: u64 = 1 << 14;

/// Count files that are counted together, with the row groups that turned out not to be readable to their end.
#[derive(Debug, Default)]
pub struct OpenCounts {
    files: Vec<CountFile>,
    /// By the places of their files, and their own.
    damage: Mutex<BTreeMap<(usize, usize), Error>>,
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
        let groups = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        let of_file = |(number, file): (usize, &'_ CountFile)| {
            let groups = groups.range((number, 0)..=(number, usize::MAX));
            damage(groups.map(|((_, group), error)| (file, *group, error)))
        };
        self.files.iter().enumerate().map(|(number, file)| (file.path(), of_file((number, file)))).collect()
    }

    fn add_damage(&self, file: usize, group: usize, error: Error) {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).insert((file, group), error);
    }

    /// # Errors
    /// When a file lacks the columns of `R`, or those by which games are distinguished or filtered.
    pub(super) fn require<R: CountedRow>(&self, filter: &Filter, by: By) -> Result<()> {
        let wanted = wanted::<R>(filter, by);
        self.files.iter().try_for_each(|file| file.require(wanted))
    }

    /// Reads them and these `shards`, on which filters have acted, on all threads; returns also how many rows the filter leaves out.
    ///
    /// # Errors
    /// When a file cannot be read, a shard is damaged, a temporary file cannot be written, or the work is interrupted.
    pub(super) fn read<R: CountedRow>(
        &self,
        shards: Vec<PathBuf>,
        filter: &Filter,
        by: By,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<(Vec<SortedRuns<R>>, u64)> {
        let all = &Filter::default();
        let shards = shards.into_iter().map(|shard| CountFileSource {
            file: Held::Closed(shard),
            filter: all,
            damage: None,
        });
        let files = self.files.iter().enumerate().map(|(number, file)| CountFileSource {
            file: Held::Open(file),
            filter,
            damage: Some((self, number)),
        });
        read(&shards.chain(files).collect::<Vec<_>>(), by, resources, progress)
    }
}

/// What a count file has to hold for rows of these.
fn wanted<R: CountedRow>(filter: &Filter, by: By) -> Shape {
    Shape { positions: R::PLACED, by: by.or(filter.slices()) }
}

/// A count file to read, and the filter that acts on it.
struct CountFileSource<'a> {
    file: Held<'a>,
    filter: &'a Filter,
    /// Where damage goes, and the number of the file there.
    damage: Option<(&'a OpenCounts, usize)>,
}

/// A count file. There may be more of them than can be open at the same time.
enum Held<'a> {
    Open(&'a CountFile),
    Closed(PathBuf),
}

impl Held<'_> {
    /// Calls `with` with the open file.
    fn with<T>(&self, with: impl FnOnce(&CountFile) -> Result<T>) -> Result<T> {
        match self {
            Self::Open(file) => with(file),
            Self::Closed(path) => with(&CountFile::open(path)?),
        }
    }
}

/// Reads count files on all threads, a row group at a time, and counts the rows that a filter leaves out.
///
/// # Errors
/// When a file cannot be read or is damaged, a temporary one cannot be written, or the work is interrupted.
fn read<R: CountedRow>(
    sources: &[CountFileSource<'_>],
    by: By,
    resources: &Resources,
    progress: &Progress,
) -> Result<(Vec<SortedRuns<R>>, u64)> {
    let (mut parts, mut all) = (Vec::new(), 0);
    for source in sources {
        source.file.with(|file| {
            parts.extend((0..file.groups()).map(|group| (source, group)));
            all += file.rows();
            Ok(())
        })?;
    }
    if parts.is_empty() {
        return Ok((Vec::new(), 0));
    }
    progress.things(all, "rows");
    let threads = resources.threads.clamp(1, parts.len());
    let share = resources.memory / threads;
    let (next, done, left) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut sorter = RadixSorter::<R>::new(share, &resources.temp);
        let mut read = || -> Result<()> {
            while let Some((CountFileSource { file, filter, damage }, group)) =
                parts.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let wanted = wanted::<R>(filter, by);
                // Count files know no dates.
                let undated = filter.units(Date::default());
                let mut rows = 0;
                let see = |line: &CountsRow| {
                    rows += 1;
                    if rows % STRIDE == 0 {
                        interrupt::check()?;
                        progress.at(done.fetch_add(STRIDE, Ordering::Relaxed) + STRIDE);
                    }
                    if !filter.admits_slice(line.slice) {
                        left.fetch_add(1, Ordering::Relaxed);
                        return Ok(());
                    }
                    let units = |games: u64| games.saturating_mul(undated);
                    let (wins, draws, losses) = (units(line.wins), units(line.draws), units(line.losses));
                    let slice = by.part(line.slice);
                    push(&CountsRow { slice, wins, draws, losses, ..*line }, &mut sorter)
                };
                match (file.with(|file| file.group(*group, wanted, see)), damage) {
                    (Err(error), Some((files, number))) if error.kind() == ErrorKind::Format => {
                        files.add_damage(*number, *group, error);
                    }
                    (read, _) => read?,
                }
                done.fetch_add(rows % STRIDE, Ordering::Relaxed);
            }
            Ok(())
        };
        // After an error no thread takes another part.
        read().inspect_err(|_| next.store(parts.len(), Ordering::Relaxed))?;
        sorter.finish()
    };
    let runs: Result<Vec<_>> = parallel::beside(threads, work, || ()).1.into_iter().collect();
    Ok((runs?, left.into_inner()))
}

/// Takes in a row of a count file, which holds as much as three rows of a build.
fn push<R: CountedRow>(line: &CountsRow, sorter: &mut RadixSorter<R>) -> Result<()> {
    // Only formats that hold positions use the games that ended there.
    if !R::PLACED && line.mv == MoveCode::NULL {
        return Ok(());
    }
    let outcomes =
        [(GameOutcome::Win, line.wins), (GameOutcome::Draw, line.draws), (GameOutcome::Loss, line.losses)];
    for (outcome, games) in outcomes.into_iter().filter(|(_, games)| *games > 0) {
        let count = Count { key: line.key, mv: line.mv, slice: line.slice, outcome, games };
        if let Some(row) = R::make(count, line.packed, NO_GAME) {
            sorter.push(row)?;
        }
    }
    Ok(())
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

    /// Writes rows, and completes the file.
    ///
    /// # Errors
    /// When a temporary file cannot be read, the count file cannot be written, or the work is interrupted.
    pub(super) fn write<R: CountedRow>(
        mut self,
        runs: Vec<SortedRuns<R>>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<CountsWritten> {
        let mut sorted = Sorted::new(runs);
        progress.things(sorted.total(), "counts");
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
        sorted.each(resources, progress, lines, |lines| {
            lines.iter().try_for_each(|line| self.writer.add(line))
        })?;
        self.writer.finish()
    }
}

/// Whether the count file exists, with the columns of these rows and this number of rows.
pub(super) fn is_whole<R: CountedRow>(path: &Path, by: By, rows: u64) -> bool {
    let shape = Shape { positions: R::PLACED, by };
    CountFile::open(path).is_ok_and(|file| file.rows() == rows && file.require(shape).is_ok())
}
