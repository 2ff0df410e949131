//! Counting games together with the counts of other machines, and writing count files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_book::counts::{CountFile, CountWriter, CountsRow, CountsWritten, Shape, damage};
use tabiya_chess::Variant;
use tabiya_games::Sources;

use super::count::{CountedGames, count};
use super::count_rows::{push, write_rows};
use super::filter::Filter;
use super::game_index::GameIndex;
use super::marks::Marks;
use super::repeated::Repeated;
use super::report::BuildReport;
use super::row::{CountRow, CountedRow, PlacedRow};
use super::sort::{RadixSorter, SortedRuns};
use super::work::{KeptCounts, Work};
use super::{ASIDE, Resources};

/// Rows between two checks for an interrupt.
const STRIDE: u64 = 1 << 14;

/// The variant of chess of these count files, and of what is counted with them: the one that is named, or else theirs.
///
/// # Errors
/// When a file counts games of another variant: counts of different variants are never added up.
pub fn variant_of(counts: &[CountFile], named: Option<Variant>) -> Result<Variant> {
    let variant = named.or_else(|| Some(counts.first()?.variant())).unwrap_or_default();
    let Some(other) = counts.iter().find(|file| file.variant() != variant) else { return Ok(variant) };
    let what = format!("this count file counts games of {}, not of {variant}", other.variant());
    Err(Error::new(ErrorKind::Usage, what)
        .at_path(other.path())
        .advice("counts of different variants are not added up: leave the file out, or add up the files of one variant"))
}

/// What is counted: games, and the counts of other builds.
#[derive(Debug)]
pub struct Input<'a> {
    /// Games.
    pub games: &'a mut Sources,
    /// Games of them that repeat others.
    pub repeated: &'a Repeated,
    /// Count files. Filters of speeds and ratings act on them, and no others.
    pub counts: &'a [CountFile],
    /// Where the counts of each file of games are kept until the output is written, if they are.
    pub work: Option<&'a mut Work>,
    /// Takes the row groups that cannot be read to their end, after what can be read of them is counted.
    pub damage: &'a Damage,
}

/// Row groups of count files that could not be read to their end, by the places of their files in [`Input::counts`].
#[derive(Debug, Default)]
pub struct Damage(Mutex<BTreeMap<(usize, usize), Error>>);

impl Damage {
    fn add(&self, file: usize, group: usize, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((file, group), error);
    }

    /// What it is, for each of these files.
    pub fn findings(self, files: &[CountFile]) -> Vec<(&CountFile, Vec<Finding>)> {
        let groups = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let of_file = |(number, file)| {
            let groups = groups.range((number, 0)..=(number, usize::MAX));
            (file, damage(groups.map(|((_, group), error)| (file, *group, error))))
        };
        files.iter().enumerate().map(of_file).collect()
    }
}

impl Input<'_> {
    /// Counts everything on all threads, and adds the games to the index if there is one. Games are told apart `by` speed and
    /// rating.
    ///
    /// # Errors
    /// When a file cannot be read, a temporary one cannot be written, a count file lacks what `R` holds or what games are told
    /// apart or filtered by, or the work is interrupted.
    pub fn count<R: CountedRow>(
        &mut self,
        filter: &Filter,
        by: By,
        resources: &Resources,
        index: Option<&GameIndex>,
        progress: &Progress,
    ) -> Result<CountedGames<R>> {
        let wanted = Shape { positions: R::PLACED, by: by.or(filter.slices()) };
        self.counts.iter().try_for_each(|file| file.require(wanted))?;
        variant_of(self.counts, Some(self.games.variant()))?;
        let given = || {
            let source = |(number, file)| CountFileSource {
                file: Held::Open(file),
                filter,
                damage: Some((self.damage, number)),
            };
            self.counts.iter().enumerate().map(source)
        };
        if let Some(work) = &mut self.work {
            let KeptCounts { report, shards } =
                work.count::<R>(self.games, filter, by, resources, progress)?;
            // Filters have acted on them.
            let filter = &Filter::default();
            let shards = shards.into_iter().map(|shard| CountFileSource {
                file: Held::Closed(shard),
                filter,
                damage: None,
            });
            let sources: Vec<_> = shards.chain(given()).collect();
            let (runs, rows_left) = read(&sources, by, resources, progress)?;
            let report = BuildReport { rows_left, ..report };
            return Ok(CountedGames { runs, report, marks: Marks::default() });
        }
        let both = !self.counts.is_empty() && !self.games.files().is_empty();
        let memory = if both { resources.memory / 2 } else { resources.memory };
        let resources = &Resources { memory, ..resources.clone() };
        let mut counted = count(self.games, filter, by, self.repeated, resources, index, progress)?;
        let (runs, rows_left) = read(&given().collect::<Vec<_>>(), by, resources, progress)?;
        counted.runs.extend(runs);
        counted.report.rows_left = rows_left;
        Ok(counted)
    }
}

/// A count file to read, and the filter that acts on it.
struct CountFileSource<'a> {
    file: Held<'a>,
    filter: &'a Filter,
    /// Where damage goes, and the number of the file there.
    damage: Option<(&'a Damage, usize)>,
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
                let wanted = Shape { positions: R::PLACED, by: by.or(filter.slices()) };
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
                    push(&CountsRow { slice: by.part(line.slice), ..*line }, &mut sorter)
                };
                match (file.with(|file| file.group(*group, wanted, see)), damage) {
                    (Err(error), Some((damage, number))) if error.kind() == ErrorKind::Format => {
                        damage.add(*number, *group, error);
                    }
                    (read, _) => read?,
                }
                done.fetch_add(rows % STRIDE, Ordering::Relaxed);
            }
            Ok(())
        };
        // After an error no thread takes another part.
        read().inspect_err(|_| next.store(parts.len(), Ordering::Relaxed))?;
        Ok(sorter.finish())
    };
    let runs: Result<Vec<_>> = parallel::beside(threads, work, || ()).1.into_iter().collect();
    Ok((runs?, left.into_inner()))
}

/// Counts everything into a count file.
///
/// # Errors
/// When a file cannot be read or written, when positions are to be written and missing, or the work is interrupted: no
/// count file is written then.
pub fn write_counts(
    input: Input<'_>,
    filter: &Filter,
    resources: &Resources,
    writer: CountWriter,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let resources = &resources.without(ASIDE);
    if writer.shape().positions {
        write::<PlacedRow>(input, filter, resources, writer, progress)
    } else {
        write::<CountRow>(input, filter, resources, writer, progress)
    }
}

fn write<R: CountedRow>(
    mut input: Input<'_>,
    filter: &Filter,
    resources: &Resources,
    writer: CountWriter,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let CountedGames { runs, report, .. } =
        input.count::<R>(filter, writer.shape().by, resources, None, progress)?;
    Ok((report, write_rows(runs, resources, writer, progress)?))
}
