//! `tabiya grow`: lets an engine make a book, the most probable positions first.

mod dossier;
mod plan;
mod report;
mod sources;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::replace::{Replacement, keep_apart, keep_inputs};
use tabiya_book::{self as book, Weights, Written};
use tabiya_search::Knowledge;
use tabiya_search::evals;
use tabiya_workshop::bookmaker::{self, Merged, Resources};
use tabiya_workshop::expected::Expected;
use tabiya_workshop::grow::{Finished, Grown, Growth, GrowthState, Rounds, finish, grow};

use self::report::{History, Report};
use self::sources::Seed;
use crate::args::against::AgainstArgs;
use crate::args::engine::EngineArgs;
use crate::args::new_book::NewBook;
use crate::args::resources::ResourcesArgs;
use crate::args::screens::{BOOK_OUT, ENGINE, FORCE, NODES, Screen, TIME};
use crate::args::search::SearchArgs;
use crate::args::variant::VariantArgs;
use crate::args::{Sides, sides};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::store::no_store;
use crate::output::{damage, progress, written};

/// Searches that are made if neither their number nor the time is limited.
const POSITIONS: u64 = 10_000;

/// Plies of each game of the opponent that are counted.
const MAX_PLY: u32 = 60;

/// How often the book is written while it grows, at most, and what share of the time that may take.
const BETWEEN_WRITES: (Duration, u32) = (Duration::from_secs(60), 50);

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "grow",
    shown: &[
        ("sources", "Books or games to grow from [default: the starting position]"),
        ("output", BOOK_OUT),
        ("force", FORCE),
        ("engine", ENGINE),
        ("against", "What the opponent plays from [default: SOURCE]"),
        ("player", "Of the first --against, this player's moves"),
        ("side", "white, black or both"),
        ("dossier", "Write what is known of the opponent into this PGN file"),
        ("positions", "Stop after N searches [default: 10000, or --time]"),
        ("nodes", NODES),
        ("time", TIME),
    ],
    examples: &["tabiya grow -o black.bin --against rival.bin --side black --engine stockfish"],
    pages: &[("grow.md", "")],
}];

/// Let an engine make a book: the positions that games are most likely to reach, and the best moves
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books or games to grow from [default: the starting position alone]
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    to: NewBook,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// The side that the book is for: white, black or both
    #[arg(long, value_name = "SIDE", default_value = "both", value_parser = sides())]
    side: Sides,
    /// Also play moves that lose at most this many centipawns against the best
    #[arg(long, value_name = "CP", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_loss: u32,
    /// Stop after N searches [default: 10000, or no limit with --time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    positions: Option<u64>,
    /// The file of evaluations (the store) [default: the new book's name with .evals]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Write every position that was searched, with values and probabilities, into this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Write what is known of the opponent into this file, as PGN: what he plays, where he errs, and the answers
    #[arg(long, value_name = "FILE.pgn", requires = "against")]
    dossier: Option<PathBuf>,
    /// Write the next --positions searches into this file instead, for several machines; with --share, make them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["report", "dossier"])]
    plan: Option<PathBuf>,
    /// Make the K-th of N shares of the searches of --plan, and put them into --store
    #[arg(long, value_name = "K/N", requires = "plan", requires = "store", conflicts_with = "no_engine", value_parser = plan::share)]
    share: Option<plan::Share>,
    #[command(flatten)]
    search: SearchArgs,
    /// Start no engine: use only the evaluations in the store
    #[arg(long, conflicts_with_all = ["jobs", "time", "engine", "engine-arg", "engine-dir", "engine-timeout", "set", "config"])]
    no_engine: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Lets the book grow, writes it, and says how far games go in it.
///
/// # Errors
/// When a file cannot be read or written, the engine cannot be started or fails again and again, or the work is
/// interrupted: the store then has all searches so far.
pub fn run(args: &Args) -> Result<Exit> {
    if let (Some(file), Some(share), Some(store)) = (&args.plan, args.share, &args.store) {
        return plan::make(args, file, share, store);
    }
    let output = &args.to.output;
    let path = args.store.clone().unwrap_or_else(|| evals::beside(output));
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let variant = args.variant.variant();
    let progress = progress::on_terminal("games");
    let (against, passed_over) = args.against.open(variant, Some(MAX_PLY), &resources, &progress)?;
    drop(progress);
    let seed = Seed::open(&args.sources, variant, &resources)?;
    let inputs = [against.files(), &seed.files()].concat();
    args.keep(&inputs, &path)?;
    let mut knowledge = Knowledge::open(&path)?;
    let own = Expected::new(seed.book());
    let expected = Some(against.expected()).filter(|expected| !expected.is_empty());
    let growth = Growth::new(variant, seed.book(), expected.unwrap_or(own), args.side.0);
    let limit = args.search.limit();
    if let Some(file) = &args.plan {
        keep_inputs(std::slice::from_ref(file), &[inputs, vec![path]].concat())?;
        return plan::write(args, file, growth, knowledge);
    }
    // What cannot be written, read or started is reported before hours of work.
    drop(args.new_book().create(None, &resources)?);
    let new =
        |path: &Option<PathBuf>| path.as_ref().map(|path| Replacement::new(path, args.to.force)).transpose();
    let (report_file, dossier_file) = (new(&args.report)?, new(&args.dossier)?);
    if args.no_engine && !knowledge.has_store() {
        return Err(no_store(&path, "leave out --no-engine"));
    }
    let setup = if args.no_engine { None } else { Some(args.engine.setup(variant)?) };
    let work = setup.as_ref().map(|setup| args.search.work(setup, variant));
    let has_time = work.is_some_and(|work| work.until.is_some());
    let most = args.positions.unwrap_or(if has_time { u64::MAX } else { POSITIONS });

    let progress = progress::on_terminal(output.to_string_lossy());
    progress.slow_things(if most == u64::MAX { 0 } else { most }, "searches");
    let mut rounds = Rounds::new(growth, most);
    let mut watch = Watch::new(args, &resources);
    let see = |rounds: &Rounds<'_>| watch.see(rounds, &progress);
    let evaluated = grow(&mut rounds, &mut knowledge, limit, work.as_ref(), see)
        .map_err(|error| interrupt::after(watch.last(), error))?;
    let (known, last, was_written) = (rounds.known(), watch.last(), watch.is_written);
    let history = watch.history;
    let Finished { growth, missing, searches } = finish(rounds, &knowledge, limit);
    let shape = growth.shape()?;
    let grown = Grown::new(&growth, &shape, args.max_loss);
    let report = Report { grown: &grown, searched: evaluated.done, known, history };
    if let Some(file) = report_file {
        report.write(file)?;
    }
    let dossier_lines = dossier_file.map(|file| dossier::write(&grown, args, file)).transpose()?;
    let force = args.to.force || was_written;
    let (merged, done) = write(&grown, args, force, &resources, &progress)
        .map_err(|error| interrupt::after(last, error))
        .inspect_err(|_| args.beside().for_each(|path| written::before_error(path)))?;
    if args.to.force {
        let state = GrowthState::new(&grown, searches, missing.iter());
        state.write(output).inspect_err(|_| written::before_error(output))?;
    }
    drop(progress);

    let mut lines = vec![format!(
        "searched: {}; {known} were known already ({})",
        many(evaluated.done, "position"),
        path.display()
    )];
    lines.extend(written::cut(&evaluated));
    lines.extend(report.lines());
    lines.extend(dossier_lines.into_iter().flatten());
    let exit = if evaluated.skipped.is_empty() { passed_over } else { Exit::Findings };
    let damage = |exit| damage::report(seed.opened().chain(against.opened()), exit);
    let exit =
        args.to.end(lines, (&merged, written::KEYS_ONLY), &done, exit, (damage, "no move was found"))?;
    written::not_evaluated(&evaluated);
    Ok(exit)
}

impl Args {
    /// The book that is to be written.
    fn new_book(&self) -> bookmaker::NewBook {
        let mut new = self.to.book();
        new.variant = self.variant.variant();
        new
    }

    /// The files that tell of the book.
    fn beside(&self) -> impl Iterator<Item = &PathBuf> {
        self.report.iter().chain(&self.dossier)
    }

    /// Refuses to write over a file that is read, or twice to one; `store` has the evaluations.
    fn keep(&self, inputs: &[PathBuf], store: &Path) -> Result<()> {
        let output = &self.to.output;
        let state = self.to.force.then(|| GrowthState::beside(output)).into_iter().collect();
        let beside = self.beside().cloned().collect();
        let outputs = [book::parts(output), vec![store.to_owned()], beside, state];
        keep_inputs(&outputs.concat(), inputs)?;
        keep_apart(&outputs)
    }
}

/// Writes a book.
fn write(
    grown: &Grown<'_>,
    args: &Args,
    force: bool,
    resources: &Resources,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let mut new = args.new_book();
    new.force = force;
    let writer = new.create(None, resources)?;
    let scope = bookmaker::widest(grown, &*writer);
    bookmaker::merge(&[(grown, scope)], Weights::Points, resources, writer, progress)
}

/// What is done after each round: progress, and the book as it is.
struct Watch<'a> {
    args: &'a Args,
    resources: &'a Resources,
    history: History,
    begun: Instant,
    /// When the book is written next.
    next: Instant,
    /// Whether it was written.
    is_written: bool,
}

impl<'a> Watch<'a> {
    fn new(args: &'a Args, resources: &'a Resources) -> Self {
        let begun = Instant::now();
        Self { args, resources, history: History::default(), begun, next: begun, is_written: false }
    }

    /// What there is of the book if the work ends now.
    fn last(&self) -> &'static str {
        if self.is_written { "the book is as it was last written" } else { "no book was written" }
    }

    fn see(&mut self, rounds: &Rounds<'_>, progress: &Progress) -> Result<()> {
        progress.at(rounds.planned());
        let elapsed = self.begun.elapsed();
        // While a run repeats what the store knows, the file has a book that has grown further.
        let is_new = rounds.planned() > rounds.known();
        let writes = self.args.to.force && is_new && Instant::now() >= self.next;
        if !writes && !self.history.is_due(elapsed) {
            return Ok(());
        }
        let shape = rounds.growth().shape()?;
        let grown = Grown::new(rounds.growth(), &shape, self.args.max_loss);
        self.history.add(elapsed, rounds.planned(), &grown);
        let figures = grown.plays().iter().map(|play| play.figures());
        let details = figures.flat_map(|of| [(of.plies, "plies"), (of.covered * 100.0, "% answered")]);
        progress.details(&details.collect::<Vec<_>>());
        if writes {
            let begun = Instant::now();
            write(&grown, self.args, true, self.resources, &Progress::none())?;
            let done = rounds.planned() - rounds.under_way().count() as u64;
            GrowthState::new(&grown, done, rounds.under_way()).write(&self.args.to.output)?;
            self.is_written = true;
            self.next = Instant::now() + BETWEEN_WRITES.0.max(begun.elapsed() * BETWEEN_WRITES.1);
        }
        Ok(())
    }
}
