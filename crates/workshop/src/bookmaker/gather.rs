//! Games counted together with the counts of other machines.

use std::path::{Path, PathBuf};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::By;
use tabiya_games::{self as games, Sources};

use super::count::{CountedGames, count};
use super::count_rows::{CountsWritten, NewCounts, OpenCounts};
use super::filter::Filter;
use super::game_index::GameIndex;
use super::gathered_rows::GatheredRows;
use super::marks::Marks;
use super::repeated::Repeated;
use super::report::BuildReport;
use super::row::{CountRow, CountedRow, PlacedRow};
use super::work::{KeptCounts, Work};
use super::{ASIDE, Resources};
use crate::source::Sorted;

/// What is counted: games, and the counts of other builds.
#[derive(Debug)]
pub struct Input<'a> {
    /// Games.
    pub games: &'a mut Sources,
    /// Games of them that repeat others.
    pub repeated: &'a Repeated,
    /// Count files. Filters of speeds and ratings act on them, and no others. What can be read of a damaged one is counted.
    pub counts: &'a OpenCounts,
    /// Where the counts of each file of games are kept until the output is written, if they are.
    pub work: Option<&'a mut Work>,
}

impl<'a> Input<'a> {
    /// Counts everything on all threads, and adds the games to the index if there is one. Games are told apart `by` speed and
    /// rating.
    ///
    /// # Errors
    /// When a file cannot be read, a temporary one cannot be written, a count file lacks what `R` holds or what games are told
    /// apart or filtered by, or the work is interrupted.
    pub fn count<'b, R: CountedRow>(
        &mut self,
        filter: &'b Filter,
        by: By,
        resources: &Resources,
        index: Option<&GameIndex>,
        progress: &Progress,
    ) -> Result<Gathered<'b, R>>
    where
        'a: 'b,
    {
        self.counts.require::<R>(filter, by)?;
        self.counts.variant(Some(self.games.variant()))?;
        if let Some(work) = &mut self.work {
            let KeptCounts { report, shards } =
                work.count::<R>(self.games, filter, by, resources, progress)?;
            let rows = self.counts.rows(shards, filter, by, resources, progress)?;
            return Ok(Gathered { rows, report, marks: Marks::default() });
        }
        let both = !self.counts.files().is_empty() && !self.games.files().is_empty();
        let memory = if both { resources.memory / 2 } else { resources.memory };
        let resources = &Resources { memory, ..resources.clone() };
        let CountedGames { runs, report, marks } =
            count(self.games, filter, by, self.repeated, resources, index, progress)?;
        let rows = self.counts.rows(Vec::new(), filter, by, resources, progress)?.and(runs);
        Ok(Gathered { rows, report, marks })
    }
}

/// What is counted of games and count files.
#[derive(Debug)]
pub struct Gathered<'a, R> {
    /// The rows. Those that a filter leaves out of count files are known when all were handed on.
    pub rows: GatheredRows<'a, R>,
    /// What became of the games.
    pub report: BuildReport,
    pub(crate) marks: Marks,
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
    new: NewCounts,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let resources = &resources.without(ASIDE);
    if new.has_positions() {
        write::<PlacedRow>(input, filter, resources, new, progress)
    } else {
        write::<CountRow>(input, filter, resources, new, progress)
    }
}

fn write<R: CountedRow>(
    mut input: Input<'_>,
    filter: &Filter,
    resources: &Resources,
    new: NewCounts,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let Gathered { rows, report, .. } = input.count::<R>(filter, new.by(), resources, None, progress)?;
    let (rows_left, written) = new.write(rows, resources, progress)?;
    Ok((BuildReport { rows_left, ..report }, written))
}

/// Adds up the rows of count files that pass the filter into one.
///
/// # Errors
/// As [`write_counts`].
pub fn add_up(
    counts: &OpenCounts,
    filter: &Filter,
    resources: &Resources,
    new: NewCounts,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let mut games = games::open_files(&[])?.of_variant(counts.variant(None)?)?;
    let input = Input { games: &mut games, repeated: &Repeated::default(), counts, work: None };
    write_counts(input, filter, resources, new, progress)
}

/// Adds up whole count files for work that goes on with the sums; returns the plies. Damage is reported by whoever reads the files
/// as books.
///
/// # Errors
/// As [`write_counts`].
pub fn join(paths: &[PathBuf], output: &Path, resources: &Resources, progress: &Progress) -> Result<u64> {
    let (counts, _) = OpenCounts::of(&mut Sorted::new(paths)?)?;
    let new =
        NewCounts::create(output, counts.have_positions(), By::default(), counts.variant(None)?, false)?;
    add_up(&counts, &Filter::default(), resources, new, progress).map(|(_, written)| written.plies)
}
