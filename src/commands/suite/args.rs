//! The arguments of `tabiya suite`, and how their words are read.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use shakmaty::Color;

use tabiya_chess::openings::ChosenOpenings;
use tabiya_search::evals;
use tabiya_workshop::suite::{Conditions, Draw, DrawRate, Keep, OpeningGroup, Starts};

use crate::args::engine::EngineArgs;
use crate::args::resources::ResourcesArgs;
use crate::args::screens::{FORCE, JOBS, NODES, POSITION_SOURCES, Screen, TIME};
use crate::args::search::SearchArgs;
use crate::args::variant::VariantArgs;
use crate::args::{ends, opening, side};

/// Plies if none are named: eight moves of both sides, as most suites have.
const PLIES: u32 = 16;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "suite",
    shown: &[
        ("sources", POSITION_SOURCES),
        ("output", "The suite to write: .epd or .pgn"),
        ("force", FORCE),
        ("start", "Starts of Chess960, or double (dfrc)"),
        ("ply", "Plies from the start, such as 8-16"),
        ("count", "At most this many, evenly over openings"),
        ("seed", "The same seed picks the same suite"),
        ("eval", "Only where one side is ahead by this, as 80..120"),
        ("engine", "The engine for --eval"),
        ("nodes", NODES),
        ("jobs", JOBS),
        ("time", TIME),
        ("store", "A file of evaluations; repeatable"),
    ],
    examples: &[
        "tabiya suite book.bin -o openings.epd --ply 16 --count 500",
        "tabiya suite games.pgn -o openings.pgn --eval 0..50 --engine stockfish",
    ],
    pages: &[("tournaments.md", "")],
}];

/// Make an opening suite for engine matches, spread evenly over openings
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Books of any format, count files, or games: PGN files (also compressed), folders of them, databases (.cbh, .cbv, .si4, .si5), -
    /// for standard input
    #[arg(required_unless_present = "start", value_name = "SOURCE")]
    pub(super) sources: Vec<PathBuf>,
    /// The suite to write: .epd (one position per line) or .pgn (one game per position)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Replace the suite if it exists
    #[arg(long)]
    pub(super) force: bool,
    /// Write a summary of the suite into this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) variant: VariantArgs,
    #[command(flatten)]
    pub(super) positions: Positions,
    #[command(flatten)]
    pub(super) evaluations: EvaluationArgs,
    #[command(flatten)]
    pub(super) drawing: Drawing,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
    #[command(flatten)]
    pub(super) resources: ResourcesArgs,
}

/// Which positions there are to draw from.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Positions")]
pub(super) struct Positions {
    /// The starts of Chess960 in place of sources: its 960 (chess960), or the 921,600 in which each side has its own (dfrc)
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with_all = ["sources", "ply", "min_games", "opening", "per_opening", "openings", "variant"])]
    pub(super) start: Option<StartsArg>,
    /// Plies from the start, such as 16 or 8-16 [default: 16]
    #[arg(long, value_name = "A-B", value_parser = plies)]
    pub(super) ply: Option<RangeInclusive<u32>>,
    /// Only positions from which at least this many games go on, like each position before them. At the last ply, reaching
    /// it is enough [default: 3 for games and count files]
    #[arg(long, value_name = "N")]
    pub(super) min_games: Option<u64>,
    /// Only positions of this opening, by name or code ("Najdorf Variation", "C4*"); several with ; between them
    #[arg(long, value_name = "NAME", value_parser = opening)]
    pub(super) opening: Option<Arc<ChosenOpenings>>,
    /// Only positions with all of these, separated by commas
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub(super) require: Vec<Require>,
}

/// What positions are worth.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Evaluations")]
pub(super) struct EvaluationArgs {
    /// Only positions in which the better side is ahead by LOW to HIGH centipawns, such as 80..120
    ///
    /// Evaluations come from stores. With --engine, --nodes, --depth or --movetime, an engine evaluates what no store has.
    #[arg(long, value_name = "LOW..HIGH", value_parser = window, allow_hyphen_values = true)]
    pub(super) eval: Option<RangeInclusive<i64>>,
    /// With --eval: use the evaluation for this side instead of the better one
    #[arg(long, value_name = "SIDE", value_parser = side(), requires = "eval")]
    pub(super) side: Option<Color>,
    /// Only positions in which the engine expects LOW to HIGH percent of draws, such as 30..60
    ///
    /// Stores have this from engines with the option UCI_ShowWDL. With --engine, --nodes, --depth or --movetime, an engine
    /// evaluates the other positions.
    #[arg(long, value_name = "LOW..HIGH", value_parser = per_cent)]
    pub(super) draw_rate: Option<DrawRate>,
    /// A file of evaluations (a store); repeatable. The engine's go into the first [default: SOURCE.evals, or with --start SUITE.evals]
    #[arg(long, value_name = "FILE")]
    pub(super) store: Vec<PathBuf>,
}

/// How the suite is drawn.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Selection")]
pub(super) struct Drawing {
    /// At most this many positions per opening
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) per_opening: Option<u32>,
    /// Tell openings apart by name, or by ECO code
    #[arg(long, value_enum, default_value_t = By::Name)]
    pub(super) openings: By,
    /// At most this many positions, picked at random and evenly over openings and plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) count: Option<u32>,
    /// Seed for random choices: the same seed picks the same suite; 0 = another one each time
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games played from these positions, to leave out unfit openings; repeatable
    #[arg(long, value_name = "GAMES")]
    pub(super) refine: Vec<PathBuf>,
    /// With --refine: which openings to keep
    #[arg(long, value_enum, default_value_t = KeepArg::Fair, requires = "refine")]
    pub(super) keep: KeepArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StartsArg {
    /// Chess960
    Chess960,
    /// Double Chess960
    Dfrc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Require {
    /// The side to move is not in check
    Quiet,
    /// Both sides have a queen
    Queens,
    /// Both sides may still castle
    Castling,
    /// Of several positions that are equal with colors swapped, or mirrored if nobody can castle, only one
    UniqueColors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// By name, with the variation
    Name,
    /// By ECO code
    Eco,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum KeepArg {
    /// Drop openings in which every game was drawn, or the same color won both games of every pair
    Fair,
    /// Drop openings in which every game was drawn
    Decisive,
    /// Drop openings in which the same color won both games of every pair
    Drawn,
    /// Keep only openings in which one player outscored the other in some pair of games
    Pairs,
}

impl From<KeepArg> for Keep {
    fn from(keep: KeepArg) -> Self {
        match keep {
            KeepArg::Fair => Self::Fair,
            KeepArg::Decisive => Self::Decisive,
            KeepArg::Drawn => Self::Drawn,
            KeepArg::Pairs => Self::Pairs,
        }
    }
}

/// Reads `16` or `8-16`.
fn plies(text: &str) -> Result<RangeInclusive<u32>, &'static str> {
    ends(text, "-").ok_or("write a number of plies, or the least and the most, such as 16 or 8-16")
}

/// Two numbers, as in `80..120` or `80..=120`.
fn dotted<T: FromStr + PartialOrd>(text: &str) -> Option<RangeInclusive<T>> {
    ends(&text.replacen("..=", "..", 1), "..").filter(|_| text.contains(".."))
}

fn window(text: &str) -> Result<RangeInclusive<i64>, &'static str> {
    dotted(text).ok_or("write the least and the greatest evaluation in centipawns, such as 80..120")
}

fn per_cent(text: &str) -> Result<DrawRate, &'static str> {
    let range = dotted(text).filter(|range| *range.end() <= 100).map(DrawRate);
    range.ok_or("write the least and the most draws in percent, from 0 to 100, such as 30..60")
}

impl Positions {
    /// The starts that the suite is drawn from, in place of sources.
    pub(super) fn starts(&self) -> Option<Starts> {
        self.start.map(|start| match start {
            StartsArg::Chess960 => Starts::Chess960,
            StartsArg::Dfrc => Starts::Double,
        })
    }

    /// The plies after which positions are taken.
    pub(super) fn plies(&self) -> RangeInclusive<u32> {
        let usual = if self.start.is_some() { 0 } else { PLIES };
        self.ply.clone().unwrap_or(usual..=usual)
    }

    pub(super) fn unique_colors(&self) -> bool {
        self.require.contains(&Require::UniqueColors)
    }

    pub(super) fn conditions(&self) -> Conditions {
        let has = |wanted| self.require.contains(&wanted);
        Conditions {
            openings: self.opening.clone(),
            quiet: has(Require::Quiet),
            queens: has(Require::Queens),
            both_can_castle: has(Require::Castling),
        }
    }
}

impl Drawing {
    /// The seed; for 0 one that nobody knows before.
    pub(super) fn seed(&self) -> u64 {
        let random = || RandomState::new().build_hasher().finish().max(1);
        if self.seed == 0 { random() } else { self.seed }
    }

    pub(super) fn plan(&self, seed: u64) -> Draw {
        let number = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        let by = if self.openings == By::Eco { OpeningGroup::Eco } else { OpeningGroup::Name };
        Draw { by, per_opening: number(self.per_opening), count: number(self.count), seed }
    }
}

impl Args {
    /// The stores of evaluations: those that are named, or those beside the sources, or beside a suite without sources.
    pub(super) fn stores(&self) -> Vec<PathBuf> {
        if !self.evaluations.store.is_empty() {
            return self.evaluations.store.clone();
        }
        let alone = self.sources.is_empty().then_some(&self.output);
        self.sources.iter().chain(alone).map(|beside| evals::beside(beside)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_people_write_them() {
        assert_eq!((plies("16"), plies("8-16")), (Ok(16..=16), Ok(8..=16)));
        assert_eq!((window("80..120"), window("-30..=30")), (Ok(80..=120), Ok(-30..=30)));
        for text in ["", "-", "8-", "16-8", "x", "8..16"] {
            assert!(plies(text).is_err(), "{text}");
        }
        for text in ["", "80", "120..80", "80-120", "..", "a..b"] {
            assert!(window(text).is_err(), "{text}");
        }
        assert_eq!(per_cent("30..60"), Ok(DrawRate(30..=60)));
        for text in ["30", "-1..5", "60..30", "0..101", "30%..60%"] {
            assert!(per_cent(text).is_err(), "{text}");
        }
    }
}
