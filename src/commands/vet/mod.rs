//! `tabiya vet`: evaluates a book's positions, and writes a book without the moves that lose too much.

mod report;

use std::path::{Path, PathBuf};

use shakmaty::Color;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::replace::{Replacement, keep_apart, keep_inputs};
use tabiya_book::{self as book, Moves, Weights};
use tabiya_learn as learn;
use tabiya_search::evals;
use tabiya_search::{Evaluated, Knowledge, Work, evaluate};
use tabiya_uci::engine::Setup;
use tabiya_workshop::bookmaker;
use tabiya_workshop::values::{Backed, Graph};
use tabiya_workshop::vet::{JudgedBook, VetLimits, Vetted, confirm, exits};

use self::report::Report;
use crate::args::engine::EngineArgs;
use crate::args::new_book::NewBook;
use crate::args::resources::ResourcesArgs;
use crate::args::screens::{BOOK_OUT, ENGINE, FORCE, JOBS, NODES, Screen, TIME};
use crate::args::search::SearchArgs;
use crate::args::side;
use crate::args::variant::{VariantArgs, open_of};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::store::no_store;
use crate::output::written::before_error;
use crate::output::{damage, progress, written};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "vet",
    shown: &[
        ("book", ""),
        ("output", BOOK_OUT),
        ("force", FORCE),
        ("engine", ENGINE),
        ("max_loss", "Drop moves that lose more than this"),
        ("side", "Judge only the moves of white or black"),
        ("nodes", NODES),
        ("jobs", JOBS),
        ("time", TIME),
        ("store", "The file of evaluations [default: BOOK.evals]"),
        ("report", "Write all that was found into this file, as JSON"),
    ],
    examples: &["tabiya vet book.bin -o vetted.bin --engine stockfish --max-loss 60"],
    pages: &[("vet.md", "")],
}];

/// Write a book without the moves that lose too much, by an engine's evaluations
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    #[command(flatten)]
    to: NewBook,
    #[command(flatten)]
    variant: VariantArgs,
    /// The file of evaluations (the store) [default: BOOK.evals]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Write every move with its value, loss and line into this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    evaluating: Evaluating,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// How positions are evaluated.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Evaluating")]
struct Evaluating {
    #[command(flatten)]
    search: SearchArgs,
    /// Before dropping a move, search the positions that decided it again, this many times as long; 1 = do not
    #[arg(long, value_name = "TIMES", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1000))]
    confirm: u64,
    /// Start no engine: use only the evaluations in the store
    #[arg(long, conflicts_with_all = ["nodes", "depth", "movetime", "confirm", "jobs", "time", "engine", "engine-arg", "engine-dir", "engine-timeout", "set", "config"])]
    no_engine: bool,
}

/// How moves are judged.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Judging")]
struct Judging {
    /// Stop playing moves that lose more centipawns than this against the best move; 0 = keep all moves
    #[arg(long, value_name = "CP", default_value_t = 50)]
    max_loss: u32,
    /// If every move loses more than --max-loss, keep the best one, unless it loses more than this: then the book ends
    /// there
    #[arg(long, value_name = "CP", default_value_t = 100)]
    exit_loss: u32,
    /// Divide a move's weight by 2.7 for every loss of this many centipawns
    #[arg(long, value_name = "CP", default_value_t = 30.0, value_parser = temperature)]
    temperature: f64,
    /// Do not change the weights of the remaining moves
    #[arg(long, conflicts_with = "temperature")]
    keep_weights: bool,
    /// Judge only this side's moves
    #[arg(long, value_name = "SIDE", value_parser = side())]
    side: Option<Color>,
}

fn temperature(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("must be a number above 0".to_owned()),
    }
}

impl Args {
    fn limits(&self) -> VetLimits {
        let Judging { max_loss, exit_loss, temperature, keep_weights, side } = self.judging;
        let max_loss = if max_loss == 0 { u32::MAX } else { max_loss };
        VetLimits { max_loss, exit_loss, temperature: (!keep_weights).then_some(temperature), side }
    }

    /// How the engine is started, unless the store must do.
    fn engine(&self, knowledge: &Knowledge, store: &Path) -> Result<Option<Setup>> {
        if !self.evaluating.no_engine {
            return self.engine.setup(self.variant.variant()).map(Some);
        }
        if knowledge.has_store() {
            return Ok(None);
        }
        Err(no_store(store, "leave out --no-engine, or fill a store with `tabiya import`"))
    }
}

/// Evaluates the book, writes the new one, and reports the worst moves.
///
/// # Errors
/// When a file cannot be read or written, the engine cannot be started or fails again and again, or the work is
/// interrupted: then no book is written, and the store has all evaluations so far.
pub fn run(args: &Args) -> Result<Exit> {
    vet(args).map_err(|error| interrupt::after("no book was written", error))
}

fn vet(args: &Args) -> Result<Exit> {
    let book = open_of(&args.book, args.variant.variant())?;
    let output = &args.to.output;
    let path = args.store.clone().unwrap_or_else(|| evals::beside(&args.book));
    let outputs = [book::parts(output), vec![path.clone()], args.report.iter().cloned().collect()];
    keep_inputs(&outputs.concat(), &learn::files_of([&*book]))?;
    keep_apart(&outputs)?;
    let resources = args.resources.resolve()?;
    interrupts::watch();
    // What cannot be written, read or started is reported before hours of work.
    let mut new = args.to.book();
    new.variant = book.variant();
    let writer = new.create(None, &resources)?;
    let report_file =
        args.report.as_ref().map(|report| Replacement::new(report, args.to.force)).transpose()?;
    let mut knowledge = Knowledge::open(&path)?;
    let setup = args.engine(&knowledge, &path)?;
    let work = setup.as_ref().map(|setup| args.evaluating.search.work(setup, book.variant()));

    let progress = progress::on_terminal(args.book.to_string_lossy());
    let mut vetting = Vetting {
        knowledge: &mut knowledge,
        work,
        progress: &progress,
        limits: args.limits(),
        times: args.evaluating.confirm,
        done: Done::default(),
    };
    let (graph, backed) = vetting.values(&*book)?;
    if graph.is_empty() {
        drop(progress);
        damage::report([&book], Exit::Done)?;
        return Ok(written::nothing(output, "the book has no move in the starting position", None));
    }
    let before = exits(&graph, &backed, &graph.reach_under(&*book));
    let done = vetting.done;
    let judged = JudgedBook { book: &*book, graph: &graph, backed: &backed, limits: args.limits() };
    let vetted = Vetted { judged };
    let after = exits(&graph, &backed, &graph.reach_under(&vetted));
    let report = Report { judged, exits: [before, after] };
    let summary = report.summary();
    if let Some(file) = report_file {
        report.write(file)?;
    }
    let scope = bookmaker::widest(&vetted, &*writer);
    let merged = bookmaker::merge(&[(&vetted, scope)], Weights::Points, &resources, writer, &progress);
    let (merged, written) = merged.inspect_err(|_| args.report.iter().for_each(|path| before_error(path)))?;
    drop(progress);

    let mut lines = if args.evaluating.no_engine { Vec::new() } else { done.lines(&path) };
    lines.extend(written::cut(&done.evaluated));
    lines.extend(report.lines(&summary));
    let exit = if done.evaluated.skipped.is_empty() { Exit::Done } else { Exit::Findings };
    let damage = |exit| damage::report([&book], exit);
    let nothing = "no move of the book is left";
    let exit = args.to.end(lines, (&merged, written::KEYS_ONLY), &written, exit, (damage, nothing))?;
    written::not_evaluated(&done.evaluated);
    Ok(exit)
}

/// What became of evaluating.
#[derive(Default)]
struct Done {
    evaluated: Evaluated,
    /// Positions that needed no search.
    known: u64,
    /// Positions that were searched again.
    confirmed: u64,
}

impl Done {
    /// How many positions were evaluated, in lines for people; `store`: where the evaluations are.
    fn lines(&self, store: &Path) -> Vec<String> {
        let (positions, known) = (many(self.evaluated.done, "position"), self.known);
        let mut lines =
            vec![format!("evaluated: {positions}; {known} were known already ({})", store.display())];
        if self.confirmed > 0 {
            let again = many(self.confirmed, "position");
            lines.push(format!("searched again before dropping moves: {again}"));
        }
        lines
    }
}

/// What evaluating needs, and what became of it.
struct Vetting<'a> {
    knowledge: &'a mut Knowledge,
    work: Option<Work<'a>>,
    progress: &'a Progress,
    limits: VetLimits,
    /// How many times as long what decides that moves are dropped is searched.
    times: u64,
    done: Done,
}

impl Vetting<'_> {
    /// Evaluates what a book reaches, and backs the values up.
    fn values(&mut self, book: &dyn Moves) -> Result<(Graph, Backed)> {
        let graph = Graph::from_book(book, self.progress)?;
        if let Some(work) = &self.work {
            let (wanted, known) = graph.wanted(graph.positions().numbers(), self.knowledge, work.limit);
            self.done.known = known.saturating_sub(self.done.evaluated.done);
            self.progress.slow_things(wanted.len() as u64, "positions");
            let mut positions = wanted.into_iter().filter_map(|number| graph.positions().get(number));
            self.done.evaluated.add(evaluate(&mut positions, self.knowledge, work, self.progress)?);
            if self.times > 1 && !self.done.evaluated.cut {
                let (limits, times) = (self.limits, self.times);
                let places = (book, &graph);
                let mut again = confirm(places, limits, times, self.knowledge, work, self.progress)?;
                self.done.confirmed += std::mem::take(&mut again.done);
                self.done.evaluated.add(again);
            }
        }
        let backed = graph.back_up(&graph.known(|at| self.knowledge.score(at)));
        Ok((graph, backed))
    }
}
