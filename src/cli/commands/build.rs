//! `tabiya build`: a book or a count file from games.

use std::path::PathBuf;

use clap::ArgGroup;
use shakmaty::Color;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::base::replace::keep_inputs;
use crate::book::counts::{CountFile, CountWriter, CountsWritten, is_named, split};
use crate::book::{self, WriteOptions, Written};
use crate::bookmaker::{self, Filter, Input, Names, Only, Plan, Weigh};
use crate::cli::args::resources::ResourcesArgs;
use crate::cli::output::exit::Exit;
use crate::cli::output::{self, counts, report, written};
use crate::games::{self, Date, GameSource as _, PlayerName};

/// `tabiya build`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The games: PGN files (also compressed: .gz, .zst, .bz2, .xz, .zip), folders of them, ChessBase databases (.cbh), or
    /// - for standard input; and count files (.parquet)
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The book to write; the end of its name decides the format
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the book if it exists
    #[arg(long)]
    force: bool,
    /// Names of openings, for formats with comments: an .eco or PGN file of named lines; repeatable
    #[arg(long, value_name = "FILE", conflicts_with = "counts")]
    eco: Vec<PathBuf>,
    /// Write the exact counts into a Parquet file (.parquet) instead of a book: count files can be added up, and a book can
    /// be built from them
    #[arg(long)]
    counts: bool,
    /// Write the positions too, not only their keys: all formats but Polyglot's need them
    #[arg(long, requires = "counts")]
    positions: bool,
    #[command(flatten)]
    games: Games,
    #[command(flatten)]
    moves: Moves,
    #[command(flatten)]
    means: ResourcesArgs,
}

/// Which games count, and which of their moves.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Games", group(ArgGroup::new("named").args(["player", "player_exact"])))]
struct Games {
    /// Only the first N plies of each game; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    max_ply: Option<u32>,
    /// Only moves of White, of Black, or of the player that --player or --player-exact names
    #[arg(long, value_name = "SIDE")]
    only: Option<OnlyArg>,
    /// Only games in which both players have at least this rating
    #[arg(long, value_name = "ELO", default_value_t = 0, hide_default_value = true)]
    min_elo: u16,
    /// Only games from this day on, as 2021, 2021.03 or 2021.03.14
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,
    /// Only games up to this day
    #[arg(long, value_name = "DATE")]
    to: Option<Date>,
    /// Only games of a player with this text in the name
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games of the player with exactly this name, in any letter case
    #[arg(long, value_name = "NAME", conflicts_with = "player")]
    player_exact: Option<String>,
    /// Only games in which this player has White, or Black
    #[arg(long, value_name = "SIDE", requires = "named")]
    side: Option<Side>,
    /// Only games with a result; without this, the others count as drawn
    #[arg(long)]
    finished: bool,
    /// Leave out games with an illegal move, instead of using them up to that move
    #[arg(long)]
    strict: bool,
    /// Count the moves of variations too, if the source has any (CBH)
    #[arg(long)]
    variations: bool,
}

/// Which moves are kept, and with which weights.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Moves")]
struct Moves {
    /// The least number of games of a move [default: 3]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// The least score of a move, in per cent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_score: Option<f64>,
    /// Give every move the same weight
    #[arg(long)]
    uniform: bool,
    /// In a CTG book, mark moves green that have at least this share of their position's weight
    #[arg(long, value_name = "PERMILLE", value_parser = clap::value_parser!(u32).range(0..=1000))]
    green: Option<u32>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OnlyArg {
    White,
    Black,
    Player,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Side {
    White,
    Black,
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("must be from 0 to 100".to_owned()) }
}

impl Games {
    fn filter(&self) -> Result<Filter> {
        let player = PlayerName::given(self.player.as_deref(), self.player_exact.as_deref());
        let only = match self.only {
            None => None,
            Some(OnlyArg::White) => Some(Only::Side(Color::White)),
            Some(OnlyArg::Black) => Some(Only::Side(Color::Black)),
            Some(OnlyArg::Player) if player.is_some() => Some(Only::Player),
            Some(OnlyArg::Player) => {
                return Err(Error::new(ErrorKind::Usage, "--only player needs the name of a player")
                    .advice("name one with --player or --player-exact"));
            }
        };
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to.last_day() < from
        {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("--to {to} is before --from {from}: no game can pass"),
            ));
        }
        let side = self.side.map(|side| Color::from_white(matches!(side, Side::White)));
        Ok(Filter {
            max_ply: self.max_ply.filter(|&plies| plies > 0),
            only,
            min_elo: self.min_elo,
            from: self.from,
            to: self.to,
            player,
            side,
            finished: self.finished,
            strict: self.strict,
            variations: self.variations,
        })
    }
}

impl Moves {
    fn weigh(&self) -> Weigh {
        let Weigh { min_games, min_score, .. } = Weigh::default();
        Weigh {
            min_games: self.min_games.unwrap_or(min_games),
            min_score: self.min_score.unwrap_or(min_score),
            uniform: self.uniform,
        }
    }

    /// One of these options, if any is given.
    fn given(&self) -> Option<&'static str> {
        if self.min_games.is_some() {
            Some("--min-games")
        } else if self.min_score.is_some() {
            Some("--min-score")
        } else if self.green.is_some() {
            Some("--green")
        } else {
            self.uniform.then_some("--uniform")
        }
    }
}

impl Args {
    /// Refuses options that exclude each other.
    fn fit(&self) -> Result<()> {
        let usage = |what: String, advice: &str| Err(Error::new(ErrorKind::Usage, what).advice(advice));
        if self.counts != is_named(&self.output) {
            let name = self.output.display();
            return if self.counts {
                usage(format!("{name}: a count file is a Parquet file"), "end its name with .parquet")
            } else {
                usage(
                    format!("{name}: this is the name of a count file, not of a book"),
                    "write a count file with --counts",
                )
            };
        }
        match self.moves.given().filter(|_| self.counts) {
            Some(option) => usage(
                format!(
                    "{option} decides about weights, and --counts keeps all moves with their exact counts"
                ),
                "leave it out here, and use it when you build a book from the count file",
            ),
            None => Ok(()),
        }
    }
}

/// Builds the book, and reports what became of the games.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the book is then not there.
pub fn run(args: &Args) -> Result<Exit> {
    args.fit()?;
    let filter = args.games.filter()?;
    let means = args.means.means()?;
    let (games, counted) = split(&args.sources)?;
    let counted = counted.iter().map(|path| CountFile::open(path)).collect::<Result<Vec<_>>>()?;
    let filtered = filter != Filter::default();
    if filtered && games.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            "there are only count files, and filters of games do not apply to them",
        )
        .advice("filter the games when you count them, with tabiya build --counts"));
    }
    let mut source = games::open(&games)?;
    source.passed_over().iter().for_each(output::complain);
    let mut inputs = written::sources(&source.files());
    inputs.extend(counted.iter().map(|file| file.path().to_owned()).chain(args.eco.iter().cloned()));
    keep_inputs(&book::parts(&args.output), &inputs)?;
    interrupt::watch();
    let names = Names::read(&args.eco)?;
    let progress = Progress::terminal(args.output.to_string_lossy());
    let input = Input { games: &mut source, counts: &counted };
    let (report, done) = if args.counts {
        let writer = CountWriter::create(&args.output, args.positions, args.force)?;
        let (report, counts) = bookmaker::write_counts(input, &filter, &means, writer, &progress)?;
        (report, Made::Counts(counts))
    } else {
        let options = WriteOptions {
            plies: filter.max_ply,
            least_elo: [0, 0, 0, filter.min_elo],
            green: written::green(args.moves.green),
            ..written::options(&args.output, args.force, &means)
        };
        let writer = book::create(&args.output, &options)?;
        let weigh = args.moves.weigh();
        let plan =
            Plan { filter: &filter, weigh: &weigh, names: &names, resources: &means, progress: &progress };
        let (report, book) = bookmaker::build(input, &plan, writer)?;
        (report, Made::Book(book))
    };
    drop(progress);
    let exit = output::print(|out| {
        if !games.is_empty() {
            for line in report::lines(&report) {
                writeln!(out, "{line}")?;
            }
        }
        counts::print_read(&counted, filtered, out)?;
        match &done {
            Made::Counts(counts) => counts::print_written(counts, out)?,
            Made::Book(book) => written::print(book, out)?,
        }
        Ok(if report.is_incomplete() { Exit::Wanting } else { Exit::Done })
    })?;
    if done.is_empty() {
        let (what, advice) = report::why_nothing(&report, &args.moves.weigh());
        return Ok(written::nothing(&args.output, &what, advice));
    }
    Ok(exit)
}

/// What was made.
enum Made {
    Book(Written),
    Counts(CountsWritten),
}

impl Made {
    /// Whether nothing was written, because there was nothing to write.
    fn is_empty(&self) -> bool {
        match self {
            Self::Book(book) => book.moves == 0,
            Self::Counts(counts) => counts.plies == 0,
        }
    }
}
