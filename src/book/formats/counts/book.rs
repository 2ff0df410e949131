//! Count files as a book: a position is found in place, by the keys that the file is sorted by.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::seek::Keys;
use super::{Among, CountFile, Line, Shape, Sum, sum};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::findings::Findings;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::traverse::{STRIDE, each_reachable};
use crate::book::{Book, Counts, Format, MoveFacts, PositionRecord, Scope, Summary, Visit};
use crate::chess::{MoveCode, Position};

/// A count file, or a folder of them. A move weighs two for each win of the side that makes it and one for each draw, as in a
/// book that is built of the same games.
pub struct CountBook {
    path: PathBuf,
    files: Vec<(CountFile, Keys)>,
    /// The games that count.
    among: Among,
}

impl CountBook {
    /// Opens the count files that `path` means: their footers are read, their rows are not.
    ///
    /// # Errors
    /// As [`CountFile::open`], and when the rows of a file are not sorted by keys.
    pub fn open(path: &Path, names: &[PathBuf]) -> Result<Self> {
        Self::new(path, names.iter().map(|name| CountFile::open(name)))
    }

    /// A book of a count file in memory.
    ///
    /// # Errors
    /// As [`CountBook::open`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        Self::new(path, [CountFile::from_bytes(path, bytes)])
    }

    fn new(path: &Path, files: impl IntoIterator<Item = Result<CountFile>>) -> Result<Self> {
        let sorted = |file: Result<CountFile>| {
            let file = file?;
            let keys = file.keys().ok_or_else(|| {
                Error::format(
                    file.path(),
                    "no position can be found in this count file: it is not sorted by keys",
                )
                .advice("sort it with tabiya merge -o SORTED.parquet")
            })?;
            Ok((file, keys))
        };
        let mut files = files.into_iter().map(sorted).collect::<Result<Vec<_>>>()?;
        // Programs that write folders number their files in the order of the rows, but not all of them.
        files.sort_by_key(|(_, keys)| keys.bounds());
        Ok(Self { path: path.to_owned(), files, among: Among::default() })
    }

    /// The same book, in which only these games count.
    ///
    /// # Errors
    /// When a file does not count these games separately.
    pub fn among(self, among: &Among) -> Result<Self> {
        let wanted = Shape { positions: false, by: among.by() };
        self.files.iter().try_for_each(|(file, _)| file.require(wanted))?;
        Ok(Self { among: among.clone(), ..self })
    }

    /// The moves in a position, of games that count and of these.
    fn moves_of(&self, at: &Position, among: &Among) -> Moves {
        let mut moves = Moves::default();
        let by = self.among.by().or(among.by());
        for (file, keys) in &self.files {
            file.of_key(keys, at.key(), by, |line| {
                if self.among.has(line.slice) && among.has(line.slice) {
                    moves.add(line);
                }
            });
        }
        moves
    }

    /// Shows the rows of each position, in the order of the files, until `see` breaks off.
    fn each_key(&self, wanted: Shape, progress: &Progress, see: &mut dyn FnMut(&[Line]) -> ControlFlow<()>) {
        progress.things(self.files.iter().map(|(file, _)| file.rows()).sum(), "rows");
        let (mut lines, mut at) = (Vec::<Line>::new(), 0_u64);
        let mut stopped = false;
        let stop = || Error::new(ErrorKind::Interrupted, "the work stopped");
        let groups =
            self.files.iter().flat_map(|(file, _)| (0..file.groups()).map(move |group| (file, group)));
        for (file, group) in groups {
            let read = file.group(group, wanted, |line| {
                if !self.among.has(line.slice) {
                    return Ok(());
                }
                if at.is_multiple_of(STRIDE) {
                    interrupt::check()?;
                    progress.at(at);
                }
                at += 1;
                if lines.last().is_some_and(|last| last.key != line.key) {
                    stopped = see(&lines).is_break();
                    lines.clear();
                    if stopped {
                        return Err(stop());
                    }
                }
                lines.push(*line);
                Ok(())
            });
            // A damaged row group is left out from there on.
            if stopped || read.is_err() && interrupt::check().is_err() {
                return;
            }
        }
        if !lines.is_empty() {
            let _ = see(&lines);
        }
    }

    fn has_positions(&self) -> bool {
        self.files.iter().all(|(file, _)| file.has_positions())
    }
}

impl Book for CountBook {
    fn path(&self) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(file, _)| file.path().to_owned()).collect()
    }

    fn format(&self) -> Format {
        Format::Counts
    }

    /// Appends the moves in the order of the first file that has the position.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        out.extend(self.moves_of(at, &Among::default()).facts().filter_map(|facts| facts.at(at)));
    }

    fn moves_among(&self, at: &Position, among: &Among, out: &mut Vec<MoveFacts>) -> bool {
        let knows = self.files.iter().all(|(file, _)| file.shape().by.covers(among.by()));
        if knows {
            out.extend(self.moves_of(at, among).facts().filter_map(|facts| facts.at(at)));
        }
        knows
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> u64 {
        if scope == Scope::Reachable {
            let mut positions = 0;
            self.each_key(Shape { positions: false, by: self.among.by() }, &Progress::none(), &mut |lines| {
                positions += u64::from(lines.iter().any(|line| line.mv != MoveCode::NULL));
                ControlFlow::Continue(())
            });
            return positions.saturating_sub(each_reachable(self, positions, progress, visit));
        }
        let wanted = Shape { positions: self.has_positions(), by: self.among.by() };
        self.each_key(wanted, progress, &mut |lines| {
            let mut moves = Moves::default();
            lines.iter().for_each(|line| moves.add(line));
            let Some(first) = lines.first() else { return ControlFlow::Continue(()) };
            let record = PositionRecord {
                key: first.key,
                position: first.packed.and_then(|packed| packed.unpack()),
                total: wanted.positions.then(|| moves.total()),
                moves: moves.facts().collect(),
                ..PositionRecord::default()
            };
            if record.moves.is_empty() { ControlFlow::Continue(()) } else { visit(&record) }
        });
        0
    }

    fn holds_positions(&self) -> bool {
        self.has_positions()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        let mut sums = self.files.iter().map_while(|(file, _)| sum(file, progress, findings).ok());
        let mut whole = sums.next().unwrap_or_default();
        sums.for_each(|other| whole.add(&other));
        let Sum { rows, games, positions, .. } = whole;
        Summary { entries: rows, positions, games: Some(games), ..Summary::default() }
    }
}

/// The moves of a position, each once: rows that differ in what else they tell apart are added up.
#[derive(Default)]
struct Moves(Vec<(MoveCode, Counts)>);

impl Moves {
    fn add(&mut self, line: &Line) {
        let Line { mv, wins, draws, losses, .. } = *line;
        let counts = Counts { games: wins + draws + losses, wins, draws, losses };
        match self.0.iter_mut().find(|(known, _)| *known == mv) {
            Some((_, sum)) => *sum = sum.plus(counts),
            None => self.0.push((mv, counts)),
        }
    }

    /// Games that reached the position, also those that ended there.
    fn total(&self) -> Counts {
        self.0.iter().fold(Counts::default(), |sum, (_, counts)| sum.plus(*counts))
    }

    fn facts(&self) -> impl Iterator<Item = MoveFacts<MoveCode>> {
        let moves = self.0.iter().filter(|(mv, _)| *mv != MoveCode::NULL);
        moves.map(|(mv, counts)| MoveFacts { counts: Some(*counts), ..MoveFacts::new(*mv, counts.points()) })
    }
}
