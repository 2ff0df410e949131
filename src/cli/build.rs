//! `tabiya build`: games into a book.

use std::path::PathBuf;

use shakmaty::Color;

use super::exit::Exit;
use super::means_args::MeansArgs;
use super::{out, written};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::{self, WriteOptions};
use crate::build::{self, Filter, Names, Only, Weigh};
use crate::games::{self, Date};

/// `tabiya build`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where the games are: PGN files (also packed: .pgn.gz, .pgn.zst), folders of them, or - for standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The book to write; the end of its name says the format
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the book where there is one
    #[arg(long)]
    force: bool,
    /// Names of openings, for formats that hold comments: lines with names, as .eco or PGN file; repeatable
    #[arg(long, value_name = "FILE")]
    eco: Vec<PathBuf>,
    #[command(flatten)]
    games: Games,
    #[command(flatten)]
    moves: Moves,
    #[command(flatten)]
    means: MeansArgs,
}

/// Which games count, and which of their moves.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Games")]
struct Games {
    /// Only so many half-moves of each game [default: all]
    #[arg(long, value_name = "N")]
    max_ply: Option<u32>,
    /// Only moves of White, of Black, or of the player whom --player names
    #[arg(long, value_name = "SIDE")]
    only: Option<OnlyArg>,
    /// Only games in which both players are rated so high
    #[arg(long, value_name = "ELO", default_value_t = 0, hide_default_value = true)]
    min_elo: u16,
    /// Only games from this day on, as 2021, 2021.03 or 2021.03.14
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// Only games up to this day
    #[arg(long, value_name = "DATE", value_parser = date)]
    to: Option<Date>,
    /// Only games of a player with this in the name
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games in which this player has White, or Black
    #[arg(long, value_name = "SIDE", requires = "player")]
    side: Option<Side>,
    /// Only games with a result; others count as drawn
    #[arg(long)]
    finished: bool,
    /// Leave out a game with an illegal move altogether, instead of using it up to there
    #[arg(long)]
    strict: bool,
    /// Count the moves of variations too, where the source has them (CBH)
    #[arg(long)]
    variations: bool,
}

/// Which moves are worth keeping, and how much they weigh.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Moves")]
struct Moves {
    /// Games that a move needs
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_games: u64,
    /// Per cent of the points that a move needs
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    min_score: f64,
    /// Give every move the same weight
    #[arg(long)]
    uniform: bool,
    /// Where CTG is written: make moves green that have at least so many per mille of their position's weight
    #[arg(long, value_name = "PERMILLE", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    green: u32,
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

fn date(text: &str) -> std::result::Result<Date, String> {
    Some(Date::from_pgn(text)).filter(|date| !date.is_unknown()).ok_or_else(|| "this is no date".to_owned())
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "this is no number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("0 to 100 are possible".to_owned()) }
}

impl Games {
    fn filter(&self) -> Result<Filter> {
        let only = match self.only {
            None => None,
            Some(OnlyArg::White) => Some(Only::Side(Color::White)),
            Some(OnlyArg::Black) => Some(Only::Side(Color::Black)),
            Some(OnlyArg::Player) if self.player.is_some() => Some(Only::Player),
            Some(OnlyArg::Player) => {
                return Err(Error::new(ErrorKind::Usage, "--only player needs to know which player")
                    .advice("name one with --player"));
            }
        };
        let side = self.side.map(|side| Color::from_white(matches!(side, Side::White)));
        Ok(Filter {
            max_ply: self.max_ply,
            only,
            min_elo: self.min_elo,
            from: self.from,
            to: self.to,
            player: self.player.clone(),
            side,
            finished: self.finished,
            strict: self.strict,
            variations: self.variations,
        })
    }
}

/// Builds the book, and says what became of the games.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the book is then not there.
pub fn run(args: &Args) -> Result<Exit> {
    let filter = args.games.filter()?;
    let Moves { min_games, min_score, uniform, green } = args.moves;
    let weigh = Weigh { min_games, min_score, uniform };
    let means = args.means.means()?;
    let mut source = games::open(&args.sources)?;
    interrupt::watch();
    let names = Names::read(&args.eco)?;
    let options = WriteOptions {
        plies: filter.max_ply,
        least_elo: [0, 0, 0, filter.min_elo],
        green,
        ..written::options(&args.output, args.force)
    };
    let writer = book::create(&args.output, &options)?;
    let progress = Progress::terminal(args.output.to_string_lossy());
    let (report, book) = build::build(&mut source, &filter, &weigh, &means, &names, writer, &progress)?;
    drop(progress);
    out::print(|out| {
        for line in report.lines(args.games.strict) {
            writeln!(out, "{line}")?;
        }
        written::tell(&book, out)?;
        Ok(if report.is_incomplete() || book.moves == 0 { Exit::Wanting } else { Exit::Done })
    })
}
