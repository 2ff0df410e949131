//! `tabiya build`: a book or a count file from games.

mod choices;
mod games;
mod resume;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use shakmaty::ByColor;

use games::Games;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_base::replace::{keep_apart, keep_inputs};
use tabiya_book::counts::{STDOUT, is_named};
use tabiya_book::{self as book, BookWriter, Weights};
use tabiya_chess::Variant;
use tabiya_games::Sources;
use tabiya_workshop::bookmaker::{
    self, Filter, Input, Names, NewBook, NewCounts, OpenCounts, Plan, Repeated, Resources, Weigh, Work,
    takes_weights,
};
use tabiya_workshop::evals::import::{self as evals, Import};
use tabiya_workshop::source::{Sorted, open_games};

use crate::args::resources::ResourcesArgs;
use crate::args::screens::{BOOK_OUT, COUNTS, FORCE, PLAYER, Screen, VARIANT};
use crate::args::slices::ByArgs;
use crate::args::variant::VariantArgs;
use crate::args::{share, weights};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, counts, damage, progress, report, written};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "build",
    shown: &[
        ("sources", "PGN files (also .gz, .zst, .zip), folders, .cbh, .cbv, .si4, .parquet, -"),
        ("output", BOOK_OUT),
        ("force", FORCE),
        ("max_ply", "Only the first N plies of each game; 0 = all [default: 0]"),
        ("min_elo", "Only games of players with at least this rating"),
        ("player", PLAYER),
        ("only", "Only the moves of this side, or of --player"),
        ("min_games", "Only moves with at least N games"),
        ("repertoire", "Of a study: its own moves for this side"),
        ("store", "Also collect [%eval] of the games in this store"),
        ("variant", VARIANT),
    ],
    examples: &[
        "tabiya build games.pgn -o book.bin",
        "tabiya build masters.cbh more/ -o book.ctg --min-elo 2400 --max-ply 40",
        "tabiya build my-repertoire.pgn -o white.bin --repertoire white",
    ],
    pages: &[("making-books.md", ""), ("repertoire.md", ""), COUNTS],
}];

/// Build a book from games
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The games: PGN files (also compressed: .gz, .zst, .bz2, .xz, .zip), folders of them, databases (.cbh, .cbv, .si4, .si5), - for
    /// standard input, or count files (.parquet)
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The book to write; its extension selects the format. With .parquet, and with - for standard output, a count file: exact
    /// counts, which can be added up, and of which books can be built
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the book if it exists
    #[arg(long)]
    force: bool,
    /// A file of opening names (.eco, or PGN with named lines) for the book's comments, instead of tabiya's own names;
    /// repeatable
    #[arg(long, value_name = "FILE")]
    eco: Vec<PathBuf>,
    /// Also collect the evaluations in the games' comments, such as [%eval 0.17], in this store; reads all games twice
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// For long builds that may be interrupted: keep counts in a folder (FILE.partial) until the output is written, and
    /// continue from them next time
    #[arg(long, conflicts_with_all = ["unique", "store"])]
    resume: bool,
    #[command(flatten)]
    by: ByArgs,
    #[command(flatten)]
    games: Games,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    moves: Moves,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Which moves are kept, and their weights.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Moves")]
struct Moves {
    /// Only moves with at least this many games [default: 3]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// Only moves that score at least this, in percent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_score: Option<f64>,
    /// Only moves with at least this share of their position's games, in percent, such as 5; 5/1 = White's moves 5, Black's 1
    /// [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = shares)]
    min_share: Option<ByColor<u16>>,
    /// Give every move the same weight, except where a comment sets one, such as [%prc 60] or prc:60
    #[arg(long)]
    uniform: bool,
    /// What weights are made of: points (2 a win, 1 a draw) or games (how often a move was played) [default: points]
    #[arg(long, value_name = "points|games", value_parser = weights(), conflicts_with = "uniform")]
    weights: Option<Weights>,
    /// In a CTG book, mark moves green from this share of their position's weight on, in percent
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    green: Option<u16>,
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("must be from 0 to 100".to_owned()) }
}

/// Reads `5`, or `5/1` with White's share first.
fn shares(text: &str) -> std::result::Result<ByColor<u16>, String> {
    let (white, black) = text.split_once('/').unwrap_or((text, text));
    Ok(ByColor { white: share(white)?, black: share(black)? })
}

/// What takes the counts.
enum Writer {
    Counts(Box<NewCounts>),
    Book(Box<dyn BookWriter>),
}

impl Moves {
    fn weigh(&self, repertoire: bool) -> Weigh {
        let mut weigh = Weigh::default();
        weigh.min_games = self.min_games.unwrap_or(if repertoire { 1 } else { weigh.min_games });
        weigh.min_score = self.min_score.unwrap_or(weigh.min_score);
        weigh.uniform = self.uniform || repertoire;
        weigh.weights = self.weights.unwrap_or_default();
        let shares = self.min_share.unwrap_or_default();
        if shares.white == shares.black {
            // Whose move it is need not be known.
            weigh.min_share = shares.white;
        } else {
            weigh.min_side_share = shares;
        }
        weigh
    }

    /// The first of these options that is given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--min-games", self.min_games.is_some()),
            ("--min-score", self.min_score.is_some()),
            ("--min-share", self.min_share.is_some()),
            ("--green", self.green.is_some()),
            ("--uniform", self.uniform),
            ("--weights", self.weights.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

impl Args {
    /// Whether a count file is written.
    fn counts(&self) -> bool {
        is_named(&self.output) || self.is_piped()
    }

    /// Whether the count file goes to standard output, and messages do not.
    fn is_piped(&self) -> bool {
        self.output.as_os_str() == STDOUT
    }

    /// Refuses options that exclude each other.
    fn check(&self) -> Result<()> {
        if self.is_piped() && io::stdout().is_terminal() {
            return Err(Error::new(
                ErrorKind::Usage,
                "a count file is not text, but standard output is a terminal",
            )
            .advice("redirect it to a file or a program, or name a file with -o"));
        }
        if !self.counts() {
            if self.by.by().any() {
                let what = "--by works only for count files, and the output is a book";
                return Err(Error::new(ErrorKind::Usage, what).advice("end its name with .parquet"));
            }
            return takes_weights(&self.output, self.moves.weights.unwrap_or_default());
        }
        let repertoire = self.games.repertoire.map(|_| "--repertoire");
        let eco = (!self.eco.is_empty()).then_some("--eco");
        if let Some(option) = self.moves.given().or(repertoire) {
            let what =
                format!("{option} changes weights, but a count file keeps all moves with their exact counts");
            return Err(Error::new(ErrorKind::Usage, what)
                .advice("leave it out now, and use it when you build a book from the count file"));
        }
        if let Some(option) = eco {
            let what =
                format!("{option} is for books that store names of openings, and the output is a count file");
            return Err(Error::new(ErrorKind::Usage, what).advice("leave it out"));
        }
        Ok(())
    }

    /// Refuses what does not go with the sources: filters of games where there are `only_counts`, and evaluations of a variant.
    fn check_sources(&self, only_counts: bool, variant: Variant) -> Result<()> {
        if only_counts {
            let what = "all sources are count files, and of the filters of games only --speed and --rating \
                        work on those";
            return Err(Error::new(ErrorKind::Usage, what).advice("filter the games when you count them"));
        }
        if self.store.is_some() && variant != Variant::Chess {
            let what = format!("--store is for evaluations of standard chess, not of {variant}");
            return Err(Error::new(ErrorKind::Usage, what).advice("leave it out"));
        }
        Ok(())
    }

    /// Refuses to write over a file that is read, or twice to one.
    fn keep(&self, mut inputs: Vec<PathBuf>, counted: &OpenCounts) -> Result<()> {
        inputs.extend(counted.paths().chain(self.eco.iter().cloned()));
        let outputs = [book::parts(&self.output), self.store.iter().cloned().collect()];
        keep_inputs(&outputs.concat(), &inputs)?;
        keep_apart(&outputs)
    }
}

/// Builds the book, and reports what became of the games. What cannot be read of a count file is reported, and the rest counts.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no book is written.
pub fn run(args: &Args) -> Result<Exit> {
    written::whole(make(args))
}

fn make(args: &Args) -> Result<Exit> {
    args.check()?;
    let filter = args.games.filter()?;
    let resources = args.resources.resolve()?;
    let mut sorted = Sorted::new(&args.sources)?;
    let (counted, unopened) = OpenCounts::of(&mut sorted)?;
    let games = sorted.paths();
    let filtered = filter.is_of_games();
    let variant = counted.variant(args.variant.named())?;
    args.check_sources(filtered && games.is_empty(), variant)?;
    let mut source = open_games(&games)?.of_variant(variant)?;
    if filter.unique {
        source = source.once();
    }
    let passed_over = output::passed_over(&unopened).max(output::sources_passed_over(&source));
    args.keep(source.parts(), &counted)?;
    let mut with_evals = args.store.as_ref().map(|_| source.twice("--store")).transpose()?;
    interrupts::watch();
    let names = Names::read(&args.eco)?;
    let progress = progress::on_terminal(args.output.to_string_lossy());
    if args.resume {
        resume::check(args, &source)?;
    }
    let weigh = args.moves.weigh(filter.repertoire);
    let writer = writer(args, variant, &filter, &resources)?;
    let repeated = Repeated::among(&source, &filter, &resources, &progress)?;
    let mut work = args.resume.then(|| Work::open(&args.output)).transpose()?;
    let input = Input { games: &mut source, repeated: &repeated, counts: &counted, work: work.as_mut() };
    let plan =
        Plan { filter: &filter, weigh: &weigh, names: &names, resources: &resources, progress: &progress };
    let done = match writer {
        Writer::Counts(writer) => bookmaker::write_counts(input, &filter, &resources, *writer, &progress)
            .map(|(report, written)| (report, counts::written_lines(&written), written.plies == 0)),
        Writer::Book(writer) => bookmaker::build(input, &plan, writer)
            .map(|(report, written)| (report, written::lines(&written), written.moves == 0)),
    };
    let (report, written_lines, is_empty) =
        resume::settled(done, |(report, _, is_empty)| report.used == 0 || !is_empty, work, &progress)?;
    let evals_lines = match (&args.store, &mut with_evals) {
        (Some(store), Some(source)) => {
            let put = put_evals(store, source, &filter, &resources, &progress);
            let words = "the book is written, the evaluations are not";
            put.map_err(|error| written::in_part(&args.output, words, error))?
        }
        _ => Vec::new(),
    };
    drop(progress);
    let games_lines = if games.is_empty() { Vec::new() } else { report::lines(&report) };
    let dropped_lines = if is_empty { Vec::new() } else { report::dropped_lines(&report, &weigh) };
    let counted_lines = counts::read_lines(counted.files(), filtered, report.rows_left);
    let choices = match args.games.repertoire.filter(|_| !args.counts() && !is_empty && !args.is_piped()) {
        Some(side) => choices::lines(&args.output, variant, side, u64::MAX)?,
        None => Vec::new(),
    };
    let lines = [games_lines, counted_lines, dropped_lines, written_lines, choices, evals_lines].concat();
    let exit = if report.is_incomplete() { Exit::Findings } else { passed_over };
    if args.is_piped() {
        lines.iter().for_each(|line| output::warn(line));
        let exit = exit.max(damage::of_counts(&counted));
        // An empty count file is what its reader asked for.
        return Ok(exit);
    }
    let exit = output::print_lines(&lines, exit)?.max(damage::of_counts(&counted));
    if is_empty {
        let (what, advice) =
            report::why_nothing(&report, &weigh, filter.player.as_ref(), args.variant.named().is_some());
        return Ok(written::nothing(&args.output, &what, advice.as_deref()));
    }
    Ok(exit)
}

/// The writer of the book or of the count file.
///
/// # Errors
/// When the file cannot be written, or is a book of which a build cannot go on.
fn writer(args: &Args, variant: Variant, filter: &Filter, resources: &Resources) -> Result<Writer> {
    if args.counts() {
        // Positions are packed in standard chess only.
        let positions = variant == Variant::Chess;
        let new = NewCounts::create(&args.output, positions, args.by.by(), variant, args.force)?;
        return Ok(Writer::Counts(Box::new(new)));
    }
    let mut new = NewBook::new(&args.output);
    (new.variant, new.force, new.green) = (variant, args.force, args.moves.green);
    let writer = new.create(Some(filter), resources)?;
    if args.resume && writer.wants_games() {
        return Err(resume::refused("a book that names games"));
    }
    Ok(Writer::Book(writer))
}

/// Puts the evaluations in the comments of the games that the filter admits into a store, and says what they are.
fn put_evals(
    store: &Path,
    source: &mut Sources,
    filter: &Filter,
    resources: &Resources,
    progress: &Progress,
) -> Result<Vec<String>> {
    let mut import = Import::new(evals::ImportPlan { wanted: None, source: None, resources, progress });
    import.games(source, &|game| filter.admits(game).is_ok(), &mut |finding| {
        progress.aside(|| output::warn(&format!("{}: {finding}", finding.severity)));
    })?;
    let taken = many(import.tally().taken, "evaluation");
    let put = import.finish(store)?;
    let (new, better) = (many(put.new, "new position"), many(put.better, "position"));
    Ok(vec![format!(
        "{}: {taken} in comments: {new}, {better} evaluated better than before",
        store.display()
    )])
}
