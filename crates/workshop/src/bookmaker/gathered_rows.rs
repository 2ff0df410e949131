//! The rows of a build: those of games, and those of count files, which are read when there is memory for them.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_book::counts::{CountFile, CountsRow, Keys, Shape, damage};
use tabiya_chess::MoveCode;
use tabiya_games::Date;

use super::Resources;
use super::filter::Filter;
use super::row::{Count, CountedRow, GameOutcome, NO_GAME};
use super::sort::{BlockFiller, FreeBlocks, RadixSorter, Sorted, SortedRuns};

/// Rows between two checks for an interrupt.
const STRIDE: u64 = 1 << 14;

/// The filter of what filters have acted on.
static ALL: LazyLock<Filter> = LazyLock::new(Filter::default);

/// Row groups that cannot be read to their end: by the places of the file and the group, the first row that cannot be read, and why.
#[derive(Debug, Default)]
pub(super) struct DamagedGroups(Mutex<BTreeMap<(usize, usize), (u64, Error)>>);

impl DamagedGroups {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(usize, usize), (u64, Error)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What could not be read of a file.
    pub(super) fn findings(&self, number: usize, file: &CountFile) -> Vec<Finding> {
        let groups = self.lock();
        let groups = groups.range((number, 0)..=(number, usize::MAX));
        damage(groups.map(|((_, group), (_, error))| (file, *group, error)))
    }

    /// Whether anything of a file could not be read.
    fn has(&self, file: usize) -> bool {
        self.lock().range((file, 0)..=(file, usize::MAX)).next().is_some()
    }

    fn add(&self, file: usize, group: usize, row: u64, error: Error) {
        self.lock().entry((file, group)).or_insert((row, error));
    }

    /// The first row of a row group that cannot be read, if that is known.
    fn first_row(&self, file: usize, group: usize) -> Option<u64> {
        self.lock().get(&(file, group)).map(|(row, _)| *row)
    }
}

/// What a count file has to hold for rows of these.
pub(super) fn wanted<R: CountedRow>(filter: &Filter, by: By) -> Shape {
    Shape { positions: R::PLACED, by: by.or(filter.slices()) }
}

/// A count file to read, and the filter that acts on it.
#[derive(Debug)]
pub(super) struct CountFileSource<'a> {
    file: Held<'a>,
    /// Rows in its footer, and those that were read.
    rows: u64,
    found: AtomicU64,
    /// Where its keys are, if it is sorted and somebody asks.
    keys: Option<Keys>,
    /// Rows that are read at least where any keys are looked for.
    least: u64,
    filter: Option<&'a Filter>,
    /// Where damage goes, and the number of the file there.
    damage: Option<(&'a DamagedGroups, usize)>,
}

/// A count file. There may be more of them than can be open at the same time.
#[derive(Debug)]
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

impl<'a> CountFileSource<'a> {
    /// An open file, on which a filter acts. Damage goes to these `files`, under the number of the file there.
    pub(super) fn new(file: &'a CountFile, filter: &'a Filter, files: (&'a DamagedGroups, usize)) -> Self {
        let (rows, damage) = (file.rows(), Some(files));
        let file = Held::Open(file);
        Self { file, rows, found: AtomicU64::new(0), keys: None, least: 0, filter: Some(filter), damage }
    }

    /// A file of this build's own.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn shard(path: PathBuf) -> Result<Self> {
        let file = Held::Closed(path);
        let rows = file.with(|file| Ok(file.rows()))?;
        Ok(Self { file, rows, found: AtomicU64::new(0), keys: None, least: 0, filter: None, damage: None })
    }

    /// Learns where the keys are.
    fn look_for_keys(&mut self) -> Result<()> {
        let Self { file, keys, least, .. } = self;
        file.with(|file| {
            *keys = file.keys();
            *least = keys.as_ref().map_or(0, |keys| file.least_rows(keys));
            Ok(())
        })
    }

    /// The row groups and rows that may have these keys; all without them, or where it is not known.
    fn parts(&self, keys: Option<&RangeInclusive<u64>>) -> Result<Vec<(usize, Range<u64>)>> {
        self.file.with(|file| match (&self.keys, keys) {
            (Some(known), Some(keys)) => Ok(file.between(known, keys)),
            _ => Ok((0..file.groups()).map(|group| (group, 0..file.group_rows(group))).collect()),
        })
    }

    /// Reads rows of a row group, with these keys if any are named; returns how many the filter leaves out. `passed` hears of rows now
    /// and then, and of the last ones.
    fn read<R: CountedRow>(
        &self,
        (group, mut rows): (usize, Range<u64>),
        keys: Option<&RangeInclusive<u64>>,
        by: By,
        mut to: impl FnMut(R) -> Result<()>,
        passed: impl Fn(u64) -> Result<()>,
    ) -> Result<u64> {
        let filter = self.filter.unwrap_or(&ALL);
        let wanted = wanted::<R>(filter, by);
        // Count files know no dates.
        let undated = filter.units(Date::default());
        let known = self.damage.and_then(|(files, number)| files.first_row(number, group));
        rows.end = known.map_or(rows.end, |row| row.min(rows.end));
        let (mut row, mut read, mut left) = (rows.start, 0, 0);
        let see = |line: &CountsRow| {
            row += 1;
            if keys.is_some_and(|keys| !keys.contains(&line.key)) {
                return Ok(());
            }
            read += 1;
            if read % STRIDE == 0 {
                passed(STRIDE)?;
            }
            if !filter.admits_slice(line.slice) {
                left += 1;
                return Ok(());
            }
            let units = |games: u64| games.saturating_mul(undated);
            let (wins, draws, losses) = (units(line.wins), units(line.draws), units(line.losses));
            let slice = by.part(line.slice);
            push(&CountsRow { slice, wins, draws, losses, ..*line }, &mut to)
        };
        let done = self.file.with(|file| file.rows_in(group, rows, wanted, see));
        self.found.fetch_add(read, Ordering::Relaxed);
        match (done, self.damage) {
            (Err(error), Some((files, number))) if error.kind() == ErrorKind::Format => {
                files.add(number, group, row, error);
            }
            (done, _) => done?,
        }
        passed(read % STRIDE)?;
        Ok(left)
    }

    /// Notes rows that were not found by their keys, if there are any.
    fn check(&self) -> Result<()> {
        let lost = self.rows - self.found.load(Ordering::Relaxed).min(self.rows);
        if lost == 0 {
            return Ok(());
        }
        let what = format!("{lost} rows were not found: their keys are not where the file says");
        let error = self.file.with(|file| Ok(Error::format(file.path(), what)))?;
        match self.damage {
            Some((files, number)) if !files.has(number) => {
                files.add(number, 0, 0, error);
                Ok(())
            }
            Some(_) => Ok(()),
            None => Err(error),
        }
    }
}

/// Count files to read together.
#[derive(Debug)]
struct CountFiles<'a> {
    sources: Vec<CountFileSource<'a>>,
    by: By,
    resources: Resources,
}

impl<'a> CountFiles<'a> {
    fn rows(&self) -> u64 {
        self.sources.iter().map(|source| source.rows).sum()
    }

    /// The rows of count files that are read in a stretch: while they are, those of the stretch before are in memory too. Few become
    /// more than one row of a build.
    fn most<R: CountedRow>(&self) -> u64 {
        (self.resources.memory / (4 * size_of::<R>())).max(1) as u64
    }

    /// In how many stretches of the keys they are read, so that there is memory for each. One where the rows that are read again
    /// would be many: at the end of each stretch, some of each file.
    #[expect(clippy::cast_possible_truncation, reason = "one for each range at most")]
    fn stretches<R: CountedRow>(&self) -> usize {
        let sorted = || self.sources.iter().filter(|source| source.keys.is_some());
        let rows: u64 = sorted().map(|source| source.rows).sum();
        let again = sorted().map(|source| source.least.saturating_mul(4)).fold(1, u64::saturating_add);
        rows.div_ceil(self.most::<R>()).min(rows / again) as usize
    }

    /// Those that are read at once because they are not sorted, and the others.
    fn divided(self, stretches: usize) -> (Self, Option<LaterFiles<'a>>) {
        let (later, now) = self.sources.into_iter().partition(|source| source.keys.is_some());
        let files = |sources| Self { sources, by: self.by, resources: self.resources.clone() };
        (files(now), Some(LaterFiles { files: files(later), stretches }))
    }

    /// Reads these parts, and sorts them on the disk if there is no memory for them.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged, a temporary one cannot be written, or the work is interrupted.
    fn sort<R: CountedRow>(
        &self,
        parts: &[Part<'_>],
        keys: Option<&RangeInclusive<u64>>,
        shown: (&Progress, &AtomicU64),
        left: &mut u64,
    ) -> Result<Vec<SortedRuns<R>>> {
        let Resources { memory, temp, .. } = &self.resources;
        let sorter = |threads| RadixSorter::<R>::new(memory / threads, temp);
        let push = |sorter: &mut RadixSorter<R>, row: Option<R>| row.map_or(Ok(()), |row| sorter.push(row));
        self.read_parts(parts, keys, (sorter, push, RadixSorter::finish), shown, left)
    }

    /// The row groups and rows that may have these keys, of each file.
    fn parts(&self, keys: Option<&RangeInclusive<u64>>) -> Result<Vec<Part<'_>>> {
        let mut parts = Vec::new();
        for source in &self.sources {
            parts.extend(source.parts(keys)?.into_iter().map(|part| (source, part)));
        }
        Ok(parts)
    }

    /// Reads these parts on all threads, with these keys if any are named, each thread into what it begins, fills and finishes: after
    /// the rows of a part comes `None`. `done` counts the rows that were read, and `left` those that the filter leaves out.
    fn read_parts<R: CountedRow, S>(
        &self,
        parts: &[Part<'_>],
        keys: Option<&RangeInclusive<u64>>,
        (begin, push, finish): (
            impl Fn(usize) -> S + Sync,
            impl Fn(&mut S, Option<R>) -> Result<()> + Sync,
            impl Fn(S) -> Result<SortedRuns<R>> + Sync,
        ),
        (progress, done): (&Progress, &AtomicU64),
        left: &mut u64,
    ) -> Result<Vec<SortedRuns<R>>> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let threads = self.resources.threads.clamp(1, parts.len());
        let (next, kept_out) = (AtomicUsize::new(0), AtomicU64::new(0));
        let passed = |rows| {
            progress.at(done.fetch_add(rows, Ordering::Relaxed) + rows);
            interrupt::check()
        };
        let work = || {
            let mut rows = begin(threads);
            let mut read = || -> Result<()> {
                while let Some((source, part)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let left =
                        source.read(part.clone(), keys, self.by, |row| push(&mut rows, Some(row)), passed)?;
                    push(&mut rows, None)?;
                    kept_out.fetch_add(left, Ordering::Relaxed);
                }
                Ok(())
            };
            // After an error no thread takes another part.
            read().inspect_err(|_| next.store(parts.len(), Ordering::Relaxed))?;
            finish(rows)
        };
        let runs: Result<Vec<_>> = parallel::beside(threads, work, || ()).1.into_iter().collect();
        *left += kept_out.into_inner();
        runs
    }
}

/// A count file, and a row group and rows in it.
type Part<'a> = (&'a CountFileSource<'a>, (usize, Range<u64>));

/// Sorted count files that are read in stretches of the keys.
#[derive(Debug)]
struct LaterFiles<'a> {
    files: CountFiles<'a>,
    stretches: usize,
}

impl LaterFiles<'_> {
    /// Reads the rows with these keys; `None` if they `may_be_divided`, and there are too many.
    ///
    /// # Errors
    /// As [`CountFiles::sort`].
    fn read<R: CountedRow>(
        &self,
        keys: &RangeInclusive<u64>,
        may_be_divided: bool,
        free: &FreeBlocks<R>,
        shown: (&Progress, &AtomicU64),
        left: &mut u64,
    ) -> Result<Option<Vec<SortedRuns<R>>>> {
        let parts = self.files.parts(Some(keys))?;
        let rows: u64 = parts.iter().map(|(_, (_, rows))| rows.end - rows.start).sum();
        let most = self.files.most::<R>();
        if may_be_divided && rows > most.max(2 * self.files.rows() / self.stretches as u64) {
            return Ok(None);
        }
        let runs = if rows > 2 * most {
            self.files.sort(&parts, Some(keys), shown, left)?
        } else {
            let push = |rows: &mut BlockFiller<'_, R>, row: Option<R>| {
                match row {
                    Some(row) => rows.push(row),
                    None => rows.end_piece(),
                }
                Ok(())
            };
            let all = (|_| BlockFiller::new(free), push, |rows: BlockFiller<'_, R>| Ok(rows.finish()));
            self.files.read_parts(&parts, Some(keys), all, shown, left)?
        };
        Ok(Some(runs))
    }
}

/// The rows of a build, and of count files of which there are more than the memory holds.
#[derive(Debug)]
pub struct GatheredRows<'a, R> {
    held: Vec<SortedRuns<R>>,
    later: Option<LaterFiles<'a>>,
    /// Rows that the filter leaves out.
    left: u64,
}

impl<R> From<Vec<SortedRuns<R>>> for GatheredRows<'_, R> {
    fn from(held: Vec<SortedRuns<R>>) -> Self {
        Self { held, later: None, left: 0 }
    }
}

impl<'a, R: CountedRow> GatheredRows<'a, R> {
    /// Those of count files.
    ///
    /// # Errors
    /// When a file cannot be read, one of this build's own is damaged, a temporary file cannot be written, or the work is
    /// interrupted.
    pub(super) fn of_files(
        files: impl Iterator<Item = Result<CountFileSource<'a>>>,
        by: By,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let sources: Vec<_> = files.collect::<Result<_>>()?;
        let resources = resources.clone();
        let mut all = CountFiles { sources, by, resources };
        if all.rows() > all.most::<R>() {
            all.sources.iter_mut().try_for_each(CountFileSource::look_for_keys)?;
        }
        let (now, later) = match all.stretches::<R>() {
            0 | 1 => (all, None),
            stretches => all.divided(stretches),
        };
        progress.things(now.rows(), "rows");
        let mut left = 0;
        let held = now.sort(&now.parts(None)?, None, (progress, &AtomicU64::new(0)), &mut left)?;
        Ok(GatheredRows { held, later, left })
    }

    /// These and others.
    #[must_use]
    pub(super) fn and(mut self, more: Vec<SortedRuns<R>>) -> Self {
        self.held.extend(more);
        self
    }

    /// Hands all rows on as [`Sorted::each`] does, and returns how many rows of count files the filter leaves out.
    ///
    /// # Errors
    /// As [`Sorted::each`]; when a count file cannot be read, or one of this build's own is damaged.
    pub fn each<T: Send>(
        self,
        resources: &Resources,
        progress: &Progress,
        make: impl Fn(&[R]) -> T + Sync,
        take: impl FnMut(T) -> Result<()>,
    ) -> Result<u64> {
        let Self { held, later, mut left } = self;
        let mut sorted = Sorted::new(held);
        let Some(later) = later else {
            progress.things(sorted.total(), "counts");
            sorted.each(resources, progress, make, take)?;
            return Ok(left);
        };
        progress.things(later.files.rows(), "rows");
        let done = AtomicU64::new(0);
        let free = FreeBlocks::new();
        let read =
            |keys: &_, may_be_divided| later.read(keys, may_be_divided, &free, (progress, &done), &mut left);
        sorted.each_stretch((later.stretches, &free), read, resources, make, take)?;
        later.files.sources.iter().try_for_each(CountFileSource::check)?;
        Ok(left)
    }
}

/// Takes in a row of a count file, which holds as much as three rows of a build.
fn push<R: CountedRow>(line: &CountsRow, mut to: impl FnMut(R) -> Result<()>) -> Result<()> {
    // Only formats that hold positions use the games that ended there.
    if !R::PLACED && line.mv == MoveCode::NULL {
        return Ok(());
    }
    // In the order of rows.
    let outcomes =
        [(GameOutcome::Loss, line.losses), (GameOutcome::Draw, line.draws), (GameOutcome::Win, line.wins)];
    for (outcome, games) in outcomes.into_iter().filter(|(_, games)| *games > 0) {
        let count = Count { key: line.key, mv: line.mv, slice: line.slice, outcome, games };
        if let Some(row) = R::make(count, line.packed, NO_GAME) {
            to(row)?;
        }
    }
    Ok(())
}
