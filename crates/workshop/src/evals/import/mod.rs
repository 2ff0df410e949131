//! Reading evaluations that other programs wrote: Lichess's dump as lines of JSON or as Parquet, EPD, and PGN with
//! `[%eval]` in its comments; and other stores. What a file holds is recognised by its first bytes.

mod epd;
mod lichess;
mod lines;
#[cfg(feature = "counts")]
mod parquet;
mod pgn;
mod problems;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem;
use shakmaty::{Color, Position as _};

use lines::TextLines;
use pgn::{Admits, PgnEvals};
pub(crate) use pgn::{centipawns, eval_of, signed};
use problems::{Problem, Problems, Wrong};
use tabiya_base::bytes::Parts as _;
#[cfg(not(feature = "counts"))]
use tabiya_base::error::ErrorKind;
use tabiya_base::error::{Error, Result};
use tabiya_base::findings::Finding;
use tabiya_base::parallel::{self, Sharing};
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_games::text::{STDIN, Text, name_of, text};
use tabiya_games::{self as games, GameHeader, Sources, open_text};
use tabiya_search::evals::{Collector, EngineId, Evaluation, Put, Store, Wanted};
use tabiya_uci::{Score, Wdl};

use crate::source::{Sorted, Source, explained};

/// Where evaluations of Lichess come from.
const LICHESS: &str = "Lichess";

/// What is imported, and how.
#[derive(Clone, Copy, Debug)]
pub struct ImportPlan<'a> {
    /// Only these positions.
    pub wanted: Option<&'a Wanted>,
    /// The name of the engine or another source; `None`: that of the kind of file.
    pub source: Option<&'a str>,
    /// Threads, memory and disk.
    pub resources: &'a Resources,
    /// Shows how far the work is.
    pub progress: &'a Progress,
}

/// What was found in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines that were read, or rows.
    pub lines: u64,
    /// Games that were read.
    pub games: u64,
    /// Evaluations that are to be put into the store.
    pub taken: u64,
    /// Evaluations of positions that are not wanted.
    pub unwanted: u64,
}

/// An import: files are read, and then everything is put into a store.
#[derive(Debug)]
pub struct Import<'a> {
    plan: ImportPlan<'a>,
    collector: Mutex<Collector>,
    tally: Tally,
}

/// An evaluation as a file has it.
#[derive(Debug)]
pub(crate) struct ImportedEvaluation {
    pub position: Position,
    pub score: Score,
    pub depth: u64,
    pub nodes: u64,
    pub wdl: Option<Wdl>,
    pub best: MoveCode,
}

/// What a file holds, by its first bytes.
enum ImportFormat {
    Json,
    Epd,
    Pgn,
}

impl ImportFormat {
    fn recognize(start: &[u8]) -> Self {
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        let lines = || start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
        let has = |line: &[u8], key: &str| memmem::find(line, key.as_bytes()).is_some();
        let is_json =
            |line: &[u8]| line.starts_with(b"{") && (has(line, "\"fen\"") || has(line, "\"evals\""));
        let ranks =
            |line: &[u8]| line.iter().take_while(|byte| **byte != b' ').filter(|byte| **byte == b'/').count();
        // The first line may be damaged.
        if lines().any(is_json) {
            Self::Json
        } else if !lines().any(|line| line.starts_with(b"[")) && lines().any(|line| ranks(line) == 7) {
            Self::Epd
        } else {
            Self::Pgn
        }
    }
}

impl<'a> Import<'a> {
    /// Nothing has been read yet.
    pub fn new(plan: ImportPlan<'a>) -> Self {
        Self { plan, collector: Mutex::new(Collector::new(plan.resources)), tally: Tally::default() }
    }

    /// What was found so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Reads a file, or the files of a folder; `-` is standard input. Reports what is wrong with it: the first problems of
    /// each kind one by one, and then how many more there are.
    ///
    /// # Errors
    /// When the file cannot be opened, a temporary one cannot be written, or the work is interrupted.
    pub fn read(&mut self, path: &Path, report: &mut dyn FnMut(Finding)) -> Result<()> {
        let problems = Mutex::new(Problems::default());
        let read = self.read_any(path, &problems);
        // What was found before an error is of use too.
        problems.into_inner().unwrap_or_else(PoisonError::into_inner).report(report);
        read
    }

    fn read_any(&mut self, path: &Path, problems: &Mutex<Problems>) -> Result<()> {
        match Source::at(path)? {
            Source::Folder(_) | Source::Database | Source::Archive => {
                let mut source = games::open_files(&[path.to_owned()])?;
                for error in source.passed_over() {
                    let (offset, what) = (error.offset().unwrap_or(0), error.what_and_advice());
                    let problem = Problem::new(Wrong::File, offset, what);
                    let file = error.path().unwrap_or(path);
                    problems.lock().unwrap_or_else(PoisonError::into_inner).add(problem.in_file(file.into()));
                }
                self.read_games(&mut source, None, problems)
            }
            Source::Counts(_) => self.read_table(path, problems),
            Source::Store => self.read_store(path),
            Source::Pipe | Source::Text => self.read_text(path, problems),
            Source::Book => self.read_text(path, problems).map_err(|error| explained(error, "evaluations")),
            source => Err(source.not("evaluations", path)),
        }
    }

    fn read_text(&mut self, path: &Path, problems: &Mutex<Problems>) -> Result<()> {
        let done = Arc::<AtomicU64>::default();
        let text = text(path, done.clone())?;
        let size = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
        let size = size.filter(|_| path.as_os_str() != STDIN);
        match ImportFormat::recognize(text.get_ref().0.get_ref()) {
            ImportFormat::Json => self.read_lines(text, (size, &done), LICHESS, lichess::line, problems),
            ImportFormat::Epd => self.read_lines(text, (size, &done), "EPD", epd::line, problems),
            ImportFormat::Pgn => {
                self.read_games(&mut open_text(name_of(path), text, size, done), None, problems)
            }
        }
    }

    /// Reads the evaluations in the comments of the games that `admits` lets through. Games that cannot be read are not
    /// reported: the code that counts the games does that.
    ///
    /// # Errors
    /// As [`Import::read`].
    pub fn games(
        &mut self,
        source: &mut Sources,
        admits: &(dyn Fn(&GameHeader) -> bool + Sync),
        report: &mut dyn FnMut(Finding),
    ) -> Result<()> {
        let problems = Mutex::new(Problems::default());
        let read = self.read_games(source, Some(admits), &problems);
        problems.into_inner().unwrap_or_else(PoisonError::into_inner).report(report);
        read
    }

    /// Puts everything into a store, which is created if it is missing. Without evaluations it is left alone.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the work is interrupted.
    pub fn finish(self, store: &Path) -> Result<Put> {
        let collector = self.collector.into_inner().unwrap_or_else(PoisonError::into_inner);
        if collector.is_empty() { Ok(Put::default()) } else { collector.put(store, self.plan.progress) }
    }

    fn engine(&self, usual: &str) -> EngineId {
        let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.engine(self.plan.source.unwrap_or(usual))
    }

    /// Reads a text with an evaluation in each line.
    fn read_lines(
        &mut self,
        text: Text,
        (size, done): (Option<u64>, &AtomicU64),
        usual: &str,
        parse: fn(&[u8], Option<&Wanted>) -> Parsed,
        problems: &Mutex<Problems>,
    ) -> Result<()> {
        let engine = self.engine(usual);
        let (progress, wanted, collector) = (self.plan.progress, self.plan.wanted, &self.collector);
        progress.games(size);
        let mut lines = TextLines::new(text);
        let read = AtomicU64::new(0);
        let next = || {
            progress.many_at(done.load(Ordering::Relaxed), read.load(Ordering::Relaxed), "lines");
            Ok(lines.next_block(|problem| {
                problems.lock().unwrap_or_else(PoisonError::into_inner).add(problem);
            }))
        };
        let work = |reader: &mut ImportReader, block: lines::Block| {
            let before = reader.tally.lines;
            block.each(|at, line| {
                let parsed = parse(line, wanted);
                reader.tally.lines += u64::from(!matches!(parsed, Ok(None)));
                reader.take(parsed, at, engine, wanted);
            });
            read.fetch_add(reader.tally.lines - before, Ordering::Relaxed);
            reader.hand_over(collector, problems)
        };
        let readers = parallel::hand_out(
            self.plan.resources.threads,
            Sharing::Evenly,
            next,
            ImportReader::default,
            work,
            ImportReader::finish,
        )?;
        self.add(readers);
        Ok(())
    }

    /// Takes what another store has, whose engines keep their names. Damaged records are left out, as look-ups do.
    fn read_store(&mut self, path: &Path) -> Result<()> {
        let (store, progress, wanted) = (Store::open(path)?, self.plan.progress, self.plan.wanted);
        progress.things(store.sorted() + store.appended(), "evaluations");
        let is_wanted =
            |at: &Packed| wanted.is_none_or(|wanted| at.unpack().is_some_and(|at| wanted.contains(&at)));
        let collector = self.collector.get_mut().unwrap_or_else(PoisonError::into_inner);
        let taken = collector.push_store(&store, is_wanted, progress)?;
        let all = store.iter().count() as u64 + store.alternatives().count() as u64;
        self.tally.taken += taken;
        self.tally.unwanted += all.saturating_sub(taken);
        Ok(())
    }

    #[cfg(feature = "counts")]
    fn read_table(&mut self, path: &Path, problems: &Mutex<Problems>) -> Result<()> {
        let engine = self.engine(LICHESS);
        let (progress, wanted, collector) = (self.plan.progress, self.plan.wanted, &self.collector);
        let table = parquet::open(path)?;
        progress.things(table.rows(), "rows");
        let (mut groups, done) = (0..table.groups(), AtomicU64::new(0));
        let work = |reader: &mut ImportReader, group: usize| {
            let read = parquet::group(&table, group, wanted, |row, parsed| {
                reader.tally.lines += 1;
                reader.take(parsed, row, engine, wanted);
                if reader.tally.lines.is_multiple_of(parquet::STRIDE) {
                    progress.at(done.fetch_add(parquet::STRIDE, Ordering::Relaxed));
                    return reader.hand_over(collector, problems);
                }
                true
            });
            if let Err(error) = read {
                reader.failed.get_or_insert(error);
            }
            reader.hand_over(collector, problems)
        };
        let next = || Ok(groups.next());
        let readers = parallel::hand_out(
            self.plan.resources.threads,
            Sharing::Evenly,
            next,
            ImportReader::default,
            work,
            ImportReader::finish,
        )?;
        self.add(readers);
        Ok(())
    }

    #[cfg(not(feature = "counts"))]
    #[expect(clippy::unused_self, reason = "as the other one")]
    fn read_table(&mut self, path: &Path, _: &Mutex<Problems>) -> Result<()> {
        Err(Error::new(
            ErrorKind::Usage,
            "this is a Parquet file, but this tabiya was built without support for them",
        )
        .at_path(path)
        .advice("build it with the feature \"parquet\""))
    }

    fn read_games(
        &mut self,
        source: &mut Sources,
        admits: Option<Admits<'_>>,
        problems: &Mutex<Problems>,
    ) -> Result<()> {
        let engine = self.engine("PGN");
        let (wanted, collector) = (self.plan.wanted, &self.collector);
        let player = || PgnEvals::new(admits, engine, wanted, collector, problems);
        let ImportPlan { resources, progress, .. } = self.plan;
        let readers = games::play::play(source, resources, progress, player, PgnEvals::finish)?;
        self.add(readers);
        Ok(())
    }

    fn add(&mut self, tallies: Vec<Tally>) {
        for Tally { lines, games, taken, unwanted } in tallies {
            self.tally.lines += lines;
            self.tally.games += games;
            self.tally.taken += taken;
            self.tally.unwanted += unwanted;
        }
    }
}

/// A file or a folder to import.
#[derive(Debug)]
pub struct ImportSource {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is passed over if it cannot be read, because the user named its folder.
    pub in_folder: bool,
}

/// Splits the paths that a user names into files and folders that are read one by one; a folder of Parquet files becomes
/// those. Returns also why folders in those cannot be read.
///
/// # Errors
/// When a folder that is named cannot be read.
pub fn split(paths: &[PathBuf]) -> Result<(Vec<ImportSource>, Vec<Error>)> {
    let mut sorted = Sorted::new(paths)?;
    let unread = sorted.unread();
    let named = sorted.others.iter().map(|(path, _)| (&**path, false));
    let parts = named
        .chain(sorted.counts())
        .map(|(path, in_folder)| ImportSource { path: path.to_owned(), in_folder });
    Ok((parts.collect(), unread))
}

/// What a line holds: `None` for one that holds nothing.
pub(crate) type Parsed = std::result::Result<Option<EvaluationLine>, Problem>;

/// A line that holds an evaluation.
#[derive(Debug)]
pub(crate) enum EvaluationLine {
    Found(ImportedEvaluation),
    /// The evaluation of a position that is not wanted.
    Unwanted,
}

/// What one thread reads.
#[derive(Default)]
pub(crate) struct ImportReader {
    tally: Tally,
    found: Vec<(Packed, Evaluation)>,
    problems: Vec<Problem>,
    failed: Option<Error>,
}

impl ImportReader {
    /// Takes what was found at this place of the file.
    fn take(&mut self, parsed: Parsed, at: u64, engine: EngineId, wanted: Option<&Wanted>) {
        let taken = parsed.and_then(|line| match line {
            Some(EvaluationLine::Found(found))
                if wanted.is_none_or(|wanted| wanted.contains(&found.position)) =>
            {
                found.evaluation(engine).map(Some)
            }
            Some(_) => {
                self.tally.unwanted += 1;
                Ok(None)
            }
            None => Ok(None),
        });
        match taken {
            Ok(None) => {}
            Ok(Some(taken)) => {
                self.tally.taken += 1;
                self.found.push(taken);
            }
            Err(problem) => self.problems.push(problem.from(at)),
        }
    }

    /// Hands over what was read; returns whether more can be taken.
    fn hand_over(&mut self, collector: &Mutex<Collector>, problems: &Mutex<Problems>) -> bool {
        if !self.problems.is_empty() {
            let mut problems = problems.lock().unwrap_or_else(PoisonError::into_inner);
            self.problems.drain(..).for_each(|problem| problems.add(problem));
        }
        if !self.found.is_empty() {
            let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
            let pushed =
                self.found.drain(..).try_for_each(|(at, evaluation)| collector.push(&at, &evaluation));
            if let Err(error) = pushed {
                self.failed.get_or_insert(error);
            }
        }
        self.failed.is_none()
    }

    fn finish(self) -> Result<Tally> {
        self.failed.map_or(Ok(self.tally), Err)
    }
}

impl ImportedEvaluation {
    /// An evaluation whose score is White's, as an evaluation for the side to move.
    fn of_white(mut self) -> Self {
        if self.position.chess().turn() == Color::Black {
            self.score = self.score.negated();
        }
        self
    }

    /// The record of what was found.
    ///
    /// # Errors
    /// When it cannot be true, or cannot be stored.
    fn evaluation(self, engine: EngineId) -> std::result::Result<(Packed, Evaluation), Problem> {
        let Self { position, score, depth, nodes, wdl, best } = self;
        if score == Score::Mate(0) && !position.chess().is_checkmate() {
            let what = "the score is a mate in 0, but nobody is checkmated";
            return Err(Problem::new(Wrong::Score, 0, what));
        }
        let packed = Packed::strict(&position)
            .ok_or_else(|| Problem::new(Wrong::Position, 0, "the position has more than 32 pieces"))?;
        let depth = u16::try_from(depth)
            .map_err(|_| Problem::new(Wrong::Score, 0, format!("the depth is impossible: {depth}")))?;
        Ok((packed, Evaluation { score, depth, nodes, wdl, engine, best }))
    }
}

/// The position of a FEN or an EPD.
fn position(fen: &[u8]) -> std::result::Result<Position, Problem> {
    Position::from_any_fen(fen).map_err(|error| {
        let fen = String::from_utf8_lossy(fen.part(..fen.len().min(100)));
        Problem::new(Wrong::Position, 0, format!("the position {fen:?} is illegal: {error}"))
    })
}
