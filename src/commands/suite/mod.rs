//! `tabiya suite`: an opening suite for matches of engines.

mod args;
mod evaluated;
mod sources;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Serialize;
use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::has_extension;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::replace::{Replacement, keep_apart, keep_inputs};
use tabiya_base::resources::Resources;
use tabiya_chess::Variant;
use tabiya_search::Work;
use tabiya_workshop::source::open_games;
use tabiya_workshop::suite::{
    self, Candidate, Candidates, DrawRate, Keep, PairVerdict, Played, Search, SuiteEntry, SuiteSummary,
    Window, draw,
};

pub use self::args::Args;
pub(crate) use self::args::SCREENS;
use self::args::{EvaluationArgs, StartsArg};
use self::evaluated::Evaluations;
use self::sources::Sources;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, damage, print_lines, progress, written};

/// The form of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Epd,
    Pgn,
}

impl Form {
    /// # Errors
    /// When the name of the file does not say the form.
    fn from_path(path: &Path) -> Result<Self> {
        if has_extension(path, "epd") {
            Ok(Self::Epd)
        } else if has_extension(path, "pgn") {
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
    start: Option<StartsArg>,
    seed: u64,
    drawn_from: &'a Drawn,
    #[serde(flatten)]
    summary: &'a SuiteSummary,
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
    let form = Form::from_path(&args.output)?;
    let asks_engine = args.asks_engine()?;
    let variant = args.variant()?;
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let starts = args.positions.starts();
    let plies = args.positions.plies();
    let progress = progress::on_terminal(args.output.to_string_lossy());
    let stores = args.stores();
    let asked = (*plies.end(), args.positions.min_games);
    let sources = Sources::open(&args.sources, variant, asked, &resources, &progress)?;
    // What cannot be written, read or started is reported before hours of work.
    let (mut file, report_file) = args.outputs(&[sources.files(), stores.clone()].concat())?;
    let setup = asks_engine.then(|| args.engine.setup(variant)).transpose()?;
    let wanted = args.evaluations.wanted();
    let work = setup
        .as_ref()
        .map(|setup| Work { needs_wdl: wanted.rate.is_some(), ..args.search.work(setup, variant) });
    let mut evaluations = Evaluations::open(&stores, !args.evaluations.store.is_empty(), work, &progress)?;

    let min_games = sources.min_games();
    let search =
        Search { variant, plies: plies.clone(), min_games, unique_colours: args.positions.unique_colors() };
    let mut candidates = match starts {
        Some(starts) => Candidates::of_starts(starts),
        None => Candidates::find(sources.all(), &search, &progress)?,
    };
    let Fit { fit, mut drawn, lines, passed_over, began } =
        args.fit(candidates.take_found(), *plies.end(), &resources, &progress)?;
    let seed = args.drawing.seed();
    let numbers = draw(&fit, args.drawing.plan(seed), |numbers| {
        let offered: Vec<&Candidate> = numbers.iter().filter_map(|number| fit.get(*number)).collect();
        if wanted.any() {
            evaluations.complete(&offered)?;
        }
        Ok(offered.iter().map(|candidate| drawn.admits(candidate, &wanted, &evaluations)).collect())
    })?;
    let entry = |candidate: &Candidate| SuiteEntry {
        start: candidate.start(variant),
        line: candidates.line(candidate),
        opening: candidate.opening,
        score: evaluations.score(candidate),
        wdl: wanted.rate.and_then(|_| evaluations.wdl(candidate)),
    };
    let entries: Vec<SuiteEntry> = numbers.iter().filter_map(|number| fit.get(*number)).map(entry).collect();
    let evaluated = evaluations.evaluated;
    drop(progress);
    let found_all = evaluated.skipped.is_empty() && began;
    let exit = if found_all { sources.exit().max(passed_over) } else { Exit::Findings };
    if !began {
        output::warn(
            "no game of --refine began with a position of this suite: name the same --ply as for the suite of the match",
        );
    }
    if entries.is_empty() {
        written::not_evaluated(&evaluated);
        damage::of_look_ups(sources.books(), exit)?;
        let games = sources.set_up().filter(|_| drawn.found == 0).map(|games| format!("{games}; "));
        let why = games.unwrap_or_default() + &why_nothing(&drawn, &plies);
        return Ok(written::nothing(&args.output, &why, None));
    }
    write(&entries, form, &mut file).map_err(|error| file.error(error))?;
    let summary = SuiteSummary::from_entries(&entries);
    if let Some(report_file) = report_file {
        let report = Report {
            sources: &args.sources,
            start: args.positions.start,
            seed,
            drawn_from: &drawn,
            summary: &summary,
        };
        report_file.commit_json(&report)?;
    }
    file.commit().inspect_err(|_| args.report.iter().for_each(|path| written::before_error(path)))?;
    let done = asks_engine.then(|| format!("evaluated: {}", many(evaluated.done, "position")));
    let positions = many(summary.positions as u64, "position");
    let named = format!("{}: {positions}", args.output.display());
    let after = done
        .into_iter()
        .chain(written::cut(&evaluated))
        .chain(summed_up(&drawn, &summary, starts.is_some()))
        .chain([named]);
    let all: Vec<String> = sources.lines().into_iter().chain(lines).chain(after).collect();
    let exit = damage::of_look_ups(sources.books(), print_lines(&all, exit)?)?;
    written::not_evaluated(&evaluated);
    Ok(exit)
}

impl Args {
    /// The files of the suite and of the report, to be written in place of none of the `inputs`.
    fn outputs(&self, inputs: &[PathBuf]) -> Result<(Replacement, Option<Replacement>)> {
        let outputs = [vec![self.output.clone()], self.report.iter().cloned().collect()];
        keep_apart(&outputs)?;
        keep_inputs(&outputs.concat(), &[inputs, &self.drawing.refine].concat())?;
        let report = self.report.as_ref().map(|path| Replacement::new(path, self.force)).transpose()?;
        Ok((Replacement::new(&self.output, self.force)?, report))
    }
}

/// What positions must be worth.
struct WantedOpenings<'a> {
    window: Option<Window>,
    rate: Option<&'a DrawRate>,
}

impl WantedOpenings<'_> {
    fn any(&self) -> bool {
        self.window.is_some() || self.rate.is_some()
    }
}

impl EvaluationArgs {
    fn wanted(&self) -> WantedOpenings<'_> {
        let window = self.eval.clone().map(|centipawns| Window { centipawns, side: self.side });
        WantedOpenings { window, rate: self.draw_rate.as_ref() }
    }
}

impl Drawn {
    /// Whether a position is worth what is wanted; counts why it is not.
    fn admits(
        &mut self,
        candidate: &Candidate,
        wanted: &WantedOpenings<'_>,
        evaluations: &Evaluations<'_>,
    ) -> bool {
        if let Some(window) = &wanted.window {
            let turn = Color::from_white(candidate.plies.is_multiple_of(2));
            let is_in = evaluations.score(candidate).map(|score| window.admits(score, turn));
            if is_in != Some(true) {
                *is_in.map_or(&mut self.unknown, |_| &mut self.outside) += 1;
                return false;
            }
        }
        if let Some(rate) = wanted.rate {
            let is_in = evaluations.wdl(candidate).map(|wdl| rate.admits(wdl));
            if is_in != Some(true) {
                *is_in.map_or(&mut self.unknown_draws, |_| &mut self.outside_draws) += 1;
                return false;
            }
        }
        true
    }
}

/// The positions that may be drawn, and how they were found.
struct Fit {
    fit: Vec<Candidate>,
    drawn: Drawn,
    /// What the games of `--refine` say, for people.
    lines: Vec<String>,
    /// How the command ends because of files in folders that cannot be read.
    passed_over: Exit,
    /// Whether a game of `--refine` began with a position that was found.
    began: bool,
}

impl Args {
    /// Whether an engine evaluates positions.
    ///
    /// # Errors
    /// When one is named, and nothing needs evaluations.
    fn asks_engine(&self) -> Result<bool> {
        let asks = self.search.is_given() || self.engine.names_engine();
        if asks && !self.evaluations.wanted().any() {
            return Err(Error::new(
                ErrorKind::Usage,
                "an engine evaluates positions for --eval and --draw-rate, and neither is given",
            )
            .advice("write --eval LOW..HIGH or --draw-rate LOW..HIGH, or leave out the engine"));
        }
        Ok(asks)
    }

    /// The variant of chess.
    ///
    /// # Errors
    /// When it is not standard chess, and positions are to be mirrored.
    fn variant(&self) -> Result<Variant> {
        let variant = self.variant.variant();
        if variant != Variant::Chess && self.positions.unique_colors() {
            let what = format!("--require unique-colors is for standard chess, not for {variant}");
            return Err(Error::new(ErrorKind::Usage, what).advice("leave it out"));
        }
        Ok(variant)
    }

    /// Leaves out the positions that do not match the conditions, and those that games have shown to be unfit.
    fn fit(
        &self,
        mut fit: Vec<Candidate>,
        plies: u32,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Fit> {
        let conditions = self.positions.conditions();
        let found = fit.len();
        if conditions.any() {
            fit.retain(|candidate| {
                candidate.position().is_some_and(|at| conditions.admit(&at, candidate.opening))
            });
        }
        let matching = fit.len();
        let (mut lines, mut passed_over, mut began) = (Vec::new(), Exit::Done, true);
        if !self.drawing.refine.is_empty() {
            (lines, passed_over, began) = self.refine(&mut fit, plies, resources, progress)?;
        }
        let drawn = Drawn { found, other: found - matching, unfit: matching - fit.len(), ..Drawn::default() };
        Ok(Fit { fit, drawn, lines, passed_over, began })
    }

    /// Leaves out the positions that games have shown to be unfit. Says how many, how the command ends because of files in
    /// folders that cannot be read, and whether a game began with any position.
    fn refine(
        &self,
        fit: &mut Vec<Candidate>,
        plies: u32,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<(Vec<String>, Exit, bool)> {
        let mut games = open_games(&self.drawing.refine)?.of_variant(self.variant.variant())?;
        let passed_over = output::sources_passed_over(&games);
        let keyed = fit.iter().enumerate().filter_map(|(number, candidate)| {
            let at = candidate.position()?;
            // Games begin with the one, and come through the other.
            Some([(at.strict_key(), number), (at.key(), number)])
        });
        let keys: HashMap<u64, usize> = keyed.flatten().collect();
        let played = Played::read(
            &mut games,
            &keys,
            usize::try_from(plies).unwrap_or(usize::MAX),
            resources,
            progress,
        )?;
        let keep = Keep::from(self.drawing.keep);
        let verdicts: Vec<PairVerdict> = (0..fit.len()).map(|number| played.verdict(number)).collect();
        let mut of = verdicts.iter();
        fit.retain(|_| of.next().is_some_and(|verdict| keep.admits(*verdict)));
        let count = |wanted: PairVerdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let line = format!(
            "played: {} of {} positions; drawn: {}, won by one color in each pair: {}, with a decisive pair: {}, others: {}; \
             {} elsewhere or without a result",
            verdicts.len() - count(PairVerdict::NotPlayed),
            verdicts.len(),
            count(PairVerdict::Drawn),
            count(PairVerdict::OneColour),
            count(PairVerdict::DecisivePair),
            count(PairVerdict::Other),
            many(played.elsewhere + played.unfinished, "game"),
        );
        let began = count(PairVerdict::NotPlayed) < verdicts.len() || verdicts.is_empty();
        Ok((vec![line], passed_over, began))
    }
}

fn write(entries: &[SuiteEntry], form: Form, out: &mut dyn Write) -> io::Result<()> {
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
        format!("none of {} positions matches: leave out --require", drawn.found)
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
fn summed_up(drawn: &Drawn, summary: &SuiteSummary, starts: bool) -> Vec<String> {
    let openings = summary.openings.len() as u64;
    let of = if starts { String::new() } else { format!(", in {}", many(openings, "opening")) };
    let mut lines =
        vec![format!("{} of {} found{of}", many(summary.positions as u64, "position"), drawn.found)];
    for (count, why) in [
        (drawn.other, "do not match --require"),
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
    if !starts {
        lines.push(format!("by plies: {}", plies.join(", ")));
    }
    if !summary.evaluations.is_empty() {
        let bars: Vec<String> =
            summary.evaluations.iter().map(|(least, count)| format!("{least:+}: {count}")).collect();
        lines.push(format!("by centipawns for White, from: {}", bars.join(", ")));
    }
    if !summary.draw_rates.is_empty() {
        let bars: Vec<String> =
            summary.draw_rates.iter().map(|(least, count)| format!("{least}: {count}")).collect();
        lines.push(format!("by draws in percent, from: {}", bars.join(", ")));
    }
    lines
}
