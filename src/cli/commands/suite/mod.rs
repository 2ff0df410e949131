//! `tabiya suite`: an opening suite for matches of engines.

mod evaluated;
mod sources;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Serialize;
use shakmaty::Color;

use self::evaluated::Evaluations;
use self::sources::Sources;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::base::replace::{Replacement, keep_inputs};
use crate::base::resources::Resources;
use crate::cli::args::engine::EngineArgs;
use crate::cli::args::resources::ResourcesArgs;
use crate::cli::args::search::SearchArgs;
use crate::cli::args::side;
use crate::cli::output::exit::Exit;
use crate::cli::output::rows::many;
use crate::cli::output::{damage, print_lines, progress, written};
use crate::evals;
use crate::games;
use crate::suite::{
    self, Candidate, Candidates, Conditions, Draw, DrawRate, Entry, Group, Keep, Played, Search, Summary,
    Verdict, Window, draw,
};
use crate::vet::Work;

/// Plies if none are named: eight moves of both sides, as most suites have.
const PLIES: u32 = 16;

/// `tabiya suite`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Books of any format, count files, or games: PGN files (also compressed), folders of them, ChessBase databases (.cbh), -
    /// for standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The suite to write: .epd (one position per line) or .pgn (one game per position)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the suite if it exists
    #[arg(long)]
    force: bool,
    /// Write a summary of the suite into this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    positions: Positions,
    #[command(flatten)]
    evaluations: EvaluationArgs,
    #[command(flatten)]
    drawing: Drawing,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Which positions there are to draw from.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Positions")]
struct Positions {
    /// Plies from the start, such as 16 or 8-16 [default: 16]
    #[arg(long, value_name = "A-B", value_parser = plies)]
    ply: Option<RangeInclusive<u32>>,
    /// Only positions from which at least this many games go on, like each position before them. At the last ply, reaching
    /// it is enough [default: 3 for games and count files]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// Only positions in which the side to move is not in check
    #[arg(long)]
    quiet: bool,
    /// Only positions in which both sides have a queen
    #[arg(long)]
    queens: bool,
    /// Only positions in which both sides may still castle
    #[arg(long)]
    both_can_castle: bool,
    /// Keep only one of several positions that are equal with colours swapped, or mirrored if nobody can castle
    #[arg(long, visible_alias = "unique-colors")]
    unique_colours: bool,
}

/// What positions are worth.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Evaluations")]
struct EvaluationArgs {
    /// Only positions in which the better side is ahead by LOW to HIGH centipawns, such as 80..120
    ///
    /// Evaluations come from stores. With --engine, --nodes, --depth or --movetime, an engine evaluates what no store has.
    #[arg(long, value_name = "LOW..HIGH", value_parser = window, allow_hyphen_values = true)]
    eval: Option<RangeInclusive<i64>>,
    /// With --eval: use the evaluation for this side instead of the better one
    #[arg(long, value_name = "SIDE", value_parser = side(), requires = "eval")]
    side: Option<Color>,
    /// Only positions in which the engine expects LOW to HIGH per cent of draws, such as 30..60
    ///
    /// Stores have this from engines with the option UCI_ShowWDL. With --engine, --nodes, --depth or --movetime, an engine
    /// evaluates the other positions.
    #[arg(long, value_name = "LOW..HIGH", value_parser = per_cent)]
    draw_rate: Option<DrawRate>,
    /// A file of evaluations (a store); repeatable. The engine's go into the first [default: SOURCE.evals]
    #[arg(long, value_name = "FILE")]
    store: Vec<PathBuf>,
}

/// How the suite is drawn.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Selection")]
struct Drawing {
    /// At most this many positions per opening
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_opening: Option<u32>,
    /// Tell openings apart by name, or by ECO code
    #[arg(long, value_enum, default_value_t = By::Name)]
    by: By,
    /// At most this many positions, picked at random and evenly over openings and plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Seed for random choices: the same seed picks the same suite
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games played from these positions, to leave out unfit openings; repeatable
    #[arg(long, value_name = "GAMES")]
    refine: Vec<PathBuf>,
    /// With --refine: which openings to keep
    #[arg(long, value_enum, default_value_t = KeepArg::Fair, requires = "refine")]
    keep: KeepArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// By name, with the variation
    Name,
    /// By ECO code
    Eco,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KeepArg {
    /// Drop openings in which every game was drawn, or the same colour won both games of every pair
    Fair,
    /// Drop openings in which every game was drawn
    Decisive,
    /// Drop openings in which the same colour won both games of every pair
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
fn plies(text: &str) -> std::result::Result<RangeInclusive<u32>, String> {
    let wrong = || "write a number of plies, or the least and the most, such as 16 or 8-16".to_owned();
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let (low, high) = (number(low)?, number(high)?);
    if low <= high { Ok(low..=high) } else { Err(wrong()) }
}

/// Reads `80..120`.
fn window(text: &str) -> std::result::Result<RangeInclusive<i64>, String> {
    let wrong = || "write the least and the greatest evaluation in centipawns, such as 80..120".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().trim_start_matches('=').parse::<i64>().map_err(|_| wrong());
    let (low, high) = (number(low)?, number(high)?);
    if low <= high { Ok(low..=high) } else { Err(wrong()) }
}

/// Reads `30..60`.
fn per_cent(text: &str) -> std::result::Result<DrawRate, String> {
    let range = window(text).ok().filter(|range| *range.start() >= 0 && *range.end() <= 100);
    let ends = range
        .and_then(|range| Some((u16::try_from(*range.start()).ok()?, u16::try_from(*range.end()).ok()?)));
    ends.map(|(low, high)| DrawRate(low..=high)).ok_or_else(|| {
        "write the least and the most draws in per cent, from 0 to 100, such as 30..60".to_owned()
    })
}

/// The form of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Epd,
    Pgn,
}

impl Form {
    /// # Errors
    /// When the name of the file does not say the form.
    fn of(path: &Path) -> Result<Self> {
        let end = path.extension().unwrap_or_default();
        if end.eq_ignore_ascii_case("epd") {
            Ok(Self::Epd)
        } else if end.eq_ignore_ascii_case("pgn") {
            Ok(Self::Pgn)
        } else {
            Err(Error::new(ErrorKind::Usage, "the name does not say which kind of suite to write")
                .at_path(path)
                .advice("end it with .epd or .pgn"))
        }
    }
}

/// What became of the positions that were found.
#[derive(Debug, Default, Serialize)]
struct Drawn {
    /// Positions that were found.
    found: usize,
    /// Those that the conditions leave out.
    other: usize,
    /// Those that games have shown to be unfit.
    unfit: usize,
    /// Those of which no evaluation is known.
    unknown: usize,
    /// Those whose evaluation is outside the window.
    outside: usize,
    /// Those of which no engine has said how often it expects draws.
    unknown_draws: usize,
    /// Those of which too many or too few draws are expected.
    outside_draws: usize,
}

/// What is reported as JSON.
#[derive(Serialize)]
struct Report<'a> {
    sources: &'a [PathBuf],
    seed: u64,
    drawn_from: &'a Drawn,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// Draws the suite and writes it.
///
/// # Errors
/// When a file cannot be read or written, the engine cannot be started or fails again and again, or the work is interrupted:
/// then no suite is written, and the store has all evaluations so far.
pub fn run(args: &Args) -> Result<Exit> {
    make(args).map_err(|error| interrupt::after("no suite was written", error))
}

fn make(args: &Args) -> Result<Exit> {
    let form = Form::of(&args.output)?;
    let asks_engine = args.search.is_given() || args.engine.names_engine();
    if asks_engine && args.evaluations.eval.is_none() && args.evaluations.draw_rate.is_none() {
        return Err(Error::new(
            ErrorKind::Usage,
            "an engine evaluates positions for --eval and --draw-rate, and neither is given",
        )
        .advice("write --eval LOW..HIGH or --draw-rate LOW..HIGH, or leave out the engine"));
    }
    let resources = args.resources.resolve()?;
    interrupt::watch();
    let plies = args.positions.ply.clone().unwrap_or(PLIES..=PLIES);
    let progress = progress::on_terminal(args.output.to_string_lossy());
    let stores = args.stores();
    let outputs: Vec<_> = [&args.output].into_iter().chain(&args.report).cloned().collect();
    let asked = (*plies.end(), args.positions.min_games);
    let sources = Sources::open(&args.sources, asked, &resources, &progress)?;
    keep_inputs(&outputs, &[sources.files(), stores.clone(), args.drawing.refine.clone()].concat())?;
    // What cannot be written, read or started is reported before hours of work.
    let mut file = Replacement::new(&args.output, args.force)?;
    let report_file = args.report.as_ref().map(|path| Replacement::new(path, args.force)).transpose()?;
    let window =
        args.evaluations.eval.clone().map(|centipawns| Window { centipawns, side: args.evaluations.side });
    let setup = asks_engine.then(|| args.engine.setup()).transpose()?;
    let rate = args.evaluations.draw_rate.as_ref();
    let work = setup.as_ref().map(|setup| Work { needs_wdl: rate.is_some(), ..args.search.work(setup) });
    let mut evaluations = Evaluations::open(&stores, !args.evaluations.store.is_empty(), work, &progress)?;

    let min_games = sources.min_games();
    let search = Search { plies: plies.clone(), min_games, unique_colours: args.positions.unique_colours };
    let candidates = Candidates::of(sources.all(), &search, &progress)?;
    let mut drawn = Drawn { found: candidates.found().len(), ..Drawn::default() };
    let conditions = args.positions.conditions();
    let mut fit: Vec<Candidate> = candidates.found().to_vec();
    fit.retain(|candidate| candidate.position().is_some_and(|at| conditions.admit(&at)));
    drawn.other = drawn.found - fit.len();
    let mut lines = Vec::new();
    if !args.drawing.refine.is_empty() {
        let before = fit.len();
        lines = args.refine(&mut fit, *plies.end(), &resources, &progress)?;
        drawn.unfit = before - fit.len();
    }
    let numbers = draw(&fit, args.drawing.plan(), |numbers| {
        let offered: Vec<&Candidate> = numbers.iter().filter_map(|number| fit.get(*number)).collect();
        if window.is_some() || rate.is_some() {
            evaluations.complete(&offered)?;
        }
        let admits = |candidate: &&Candidate| {
            if let Some(window) = &window {
                let turn = Color::from_white(candidate.plies.is_multiple_of(2));
                let is_in = evaluations.score(candidate).map(|score| window.admits(score, turn));
                if is_in != Some(true) {
                    *is_in.map_or(&mut drawn.unknown, |_| &mut drawn.outside) += 1;
                    return false;
                }
            }
            if let Some(rate) = rate {
                let is_in = evaluations.wdl(candidate).map(|wdl| rate.admits(wdl));
                if is_in != Some(true) {
                    *is_in.map_or(&mut drawn.unknown_draws, |_| &mut drawn.outside_draws) += 1;
                    return false;
                }
            }
            true
        };
        Ok(offered.iter().map(admits).collect())
    })?;
    let entry = |candidate: &Candidate| Entry {
        line: candidates.line(candidate),
        opening: candidate.opening,
        score: evaluations.score(candidate),
        wdl: rate.and_then(|_| evaluations.wdl(candidate)),
    };
    let entries: Vec<Entry> = numbers.iter().filter_map(|number| fit.get(*number)).map(entry).collect();
    let evaluated = evaluations.evaluated;
    drop(progress);
    let exit = if evaluated.skipped.is_empty() { sources.exit() } else { Exit::Findings };
    if entries.is_empty() {
        written::not_evaluated(&evaluated);
        damage::report(sources.books(), exit)?;
        return Ok(written::nothing(&args.output, &why_nothing(&drawn, &plies), None));
    }
    write(&entries, form, &mut file).map_err(|error| file.error(error))?;
    let summary = Summary::of(&entries);
    if let Some(mut report_file) = report_file {
        let report =
            Report { sources: &args.sources, seed: args.drawing.seed, drawn_from: &drawn, summary: &summary };
        let written = serde_json::to_writer_pretty(&mut report_file, &report).map_err(io::Error::from);
        written.and_then(|()| report_file.write_all(b"\n")).map_err(|error| report_file.error(error))?;
        report_file.commit()?;
    }
    file.commit()?;
    let mut all = sources.lines();
    all.extend(lines);
    if asks_engine {
        all.push(format!("evaluated: {}", many(evaluated.done, "position")));
    }
    if evaluated.cut {
        all.push("the time was up before all positions were evaluated; the next run goes on".to_owned());
    }
    all.extend(summed_up(&drawn, &summary));
    let exit = damage::report(sources.books(), print_lines(&all, exit)?)?;
    written::not_evaluated(&evaluated);
    Ok(exit)
}

impl Positions {
    fn conditions(&self) -> Conditions {
        Conditions { quiet: self.quiet, queens: self.queens, both_can_castle: self.both_can_castle }
    }
}

impl Drawing {
    fn plan(&self) -> Draw {
        let number = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
        let by = if self.by == By::Eco { Group::Eco } else { Group::Name };
        Draw { by, per_opening: number(self.per_opening), count: number(self.count), seed: self.seed }
    }
}

impl Args {
    /// The stores of evaluations: those that are named, or those beside the sources.
    fn stores(&self) -> Vec<PathBuf> {
        if self.evaluations.store.is_empty() {
            self.sources.iter().map(|source| evals::beside(source)).collect()
        } else {
            self.evaluations.store.clone()
        }
    }

    /// Leaves out the positions that games have shown to be unfit, and says how many.
    fn refine(
        &self,
        fit: &mut Vec<Candidate>,
        plies: u32,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Vec<String>> {
        let mut games = games::open(&self.drawing.refine)?;
        let keyed = fit
            .iter()
            .enumerate()
            .filter_map(|(number, candidate)| Some((candidate.position()?.key(), number)));
        let keys: HashMap<u64, usize> = keyed.collect();
        let played = Played::read(
            &mut games,
            &keys,
            usize::try_from(plies).unwrap_or(usize::MAX),
            resources,
            progress,
        )?;
        let keep = Keep::from(self.drawing.keep);
        let verdicts: Vec<Verdict> = (0..fit.len()).map(|number| played.verdict(number)).collect();
        let mut of = verdicts.iter();
        fit.retain(|_| of.next().is_some_and(|verdict| keep.admits(*verdict)));
        let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        Ok(vec![format!(
            "played: {} of {} positions; drawn: {}, won by one colour in each pair: {}, with a decisive pair: {}, others: {}; \
             {} elsewhere or without a result",
            verdicts.len() - count(Verdict::NotPlayed),
            verdicts.len(),
            count(Verdict::Drawn),
            count(Verdict::OneColour),
            count(Verdict::DecisivePair),
            count(Verdict::Other),
            many(played.elsewhere + played.unfinished, "game"),
        )])
    }
}

fn write(entries: &[Entry], form: Form, out: &mut dyn Write) -> io::Result<()> {
    for (number, entry) in (1..).zip(entries) {
        match form {
            Form::Epd => suite::epd(entry, out)?,
            Form::Pgn => suite::pgn(entry, number, out)?,
        }
    }
    Ok(())
}

/// Why there is no position to write, and what to do.
fn why_nothing(drawn: &Drawn, plies: &RangeInclusive<u32>) -> String {
    if drawn.found == 0 {
        let start = plies.start();
        format!(
            "no line of the sources has {}: name fewer with --ply, or fewer games with --min-games",
            many((*start).into(), "ply")
        )
    } else if drawn.other == drawn.found {
        format!("none of {} positions matches: leave out --quiet, --queens or --both-can-castle", drawn.found)
    } else if drawn.unfit + drawn.other == drawn.found {
        "the games of --refine leave no position: choose another --keep".to_owned()
    } else if drawn.outside_draws > 0 {
        format!("{} positions have a draw rate, but none is in the range of --draw-rate", drawn.outside_draws)
    } else if drawn.unknown_draws > 0 {
        "no store has a draw rate of these positions: name an engine that has the option UCI_ShowWDL with --engine".to_owned()
    } else if drawn.outside == 0 {
        "no store has an evaluation of these positions: name stores with --store, or an engine with --engine"
            .to_owned()
    } else {
        format!("{} positions have an evaluation, but none is in the window of --eval", drawn.outside)
    }
}

/// What the suite has, in lines for people.
fn summed_up(drawn: &Drawn, summary: &Summary) -> Vec<String> {
    let openings = summary.openings.len() as u64;
    let mut lines = vec![format!(
        "{} of {} found, in {}",
        many(summary.positions as u64, "position"),
        drawn.found,
        many(openings, "opening")
    )];
    for (count, why) in [
        (drawn.other, "do not match --quiet, --queens or --both-can-castle"),
        (drawn.unfit, "are unfit, as the games of --refine show"),
        (drawn.unknown, "have no known evaluation"),
        (drawn.outside, "have an evaluation outside the window"),
        (drawn.unknown_draws, "have no known draw rate"),
        (drawn.outside_draws, "have a draw rate outside the range"),
    ] {
        if count > 0 {
            lines.push(format!("left out: {count} that {why}"));
        }
    }
    let plies: Vec<String> = summary.plies.iter().map(|(plies, count)| format!("{plies}: {count}")).collect();
    lines.push(format!("by plies: {}", plies.join(", ")));
    if !summary.evaluations.is_empty() {
        let bars: Vec<String> =
            summary.evaluations.iter().map(|(least, count)| format!("{least:+}: {count}")).collect();
        lines.push(format!("by centipawns for White, from: {}", bars.join(", ")));
    }
    if !summary.draw_rates.is_empty() {
        let bars: Vec<String> =
            summary.draw_rates.iter().map(|(least, count)| format!("{least}: {count}")).collect();
        lines.push(format!("by draws in per cent, from: {}", bars.join(", ")));
    }
    lines
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
