//! `tabiya doctor`: starts the configured adapter as a GUI would, plays an opening, and reports what is wrong.

mod client;
mod game;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use comfy_table::Table;

use tabiya_adapter::io::book_loader::{BookLoader, of_other_rules};
use tabiya_adapter::session::{About, NAME_ADDITION, is_chess};
use tabiya_adapter::settings::Config;
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_adapter::settings::opponent::Opponent;
use tabiya_adapter::settings::rules::{Rule, rule_name};
use tabiya_base::error::Result;
use tabiya_chess::{Variant, rules_of, variant_name};
use tabiya_search::Offer;
use tabiya_uci::VARIANT;

use self::client::Client;
use self::game::{PlayedBy, Ply};
use crate::args::adapter;
use crate::args::screens::Screen;
use crate::output::advice::worded;
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{Printed, print, rows};

/// How long the adapter may take in addition to what the engine may take, of which it reports the end itself.
const GRACE: Duration = Duration::from_secs(5);

/// Milliseconds that the engine thinks about each move by default.
const MOVETIME: u64 = 100;

/// Moves in a row that the engine chooses for each side by default.
const MOVES: u32 = 3;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "doctor",
    shown: &[
        ("engine", "The engine [default: that of tabiya.toml, else stockfish]"),
        ("book", "A book; repeatable [default: those of tabiya.toml]"),
        ("set", "An option of the engine or of tabiya"),
        ("config", "The configuration file [default: the tabiya.toml found]"),
        ("movetime", "Milliseconds for each move"),
        ("engine_moves", "Moves that the engine plays for each side"),
        ("json", ""),
    ],
    examples: &["tabiya doctor", "tabiya doctor --engine stockfish --book book.bin"],
    pages: &[("troubleshooting.md", ""), ("options.md", "## tabiya.toml")],
}];

/// Try the configuration as a GUI would, and say what is wrong and how to fix it
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(crate) adapter: adapter::Args,
    /// Milliseconds of thinking time for each move
    #[arg(long, value_name = "MS", default_value_t = MOVETIME, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    movetime: u64,
    /// End the game when the engine has chosen this many moves in a row for each side
    #[arg(long, value_name = "N", default_value_t = MOVES, value_parser = clap::value_parser!(u32).range(1..))]
    engine_moves: u32,
    /// Print only what is wrong, as one JSON object
    #[arg(long)]
    json: bool,
}

/// What is found, as `--json` prints it.
#[derive(serde::Serialize)]
struct DoctorFindings {
    problems: Vec<DoctorFinding>,
    /// Who played the moves of the game, if one was played.
    summary: Option<String>,
}

/// Something that is wrong.
#[derive(serde::Serialize)]
struct DoctorFinding {
    /// `warning` where games can be played all the same, else `error`.
    level: &'static str,
    text: String,
}

/// Something that is wrong, what to do about it, and the exit code that it leads to.
struct Problem {
    what: String,
    exit: Exit,
}

impl Problem {
    fn engine(what: impl Into<String>) -> Self {
        Self { what: what.into(), exit: Exit::Engine }
    }

    fn finding(what: impl Into<String>) -> Self {
        Self { what: what.into(), exit: Exit::Findings }
    }
}

/// Tries the configuration and prints what it finds.
///
/// # Errors
/// When the configuration cannot be read, or standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let config = args.adapter.load()?;
    print(|out| {
        let mut problems: Vec<Problem> = config.warnings.iter().map(Problem::finding).collect();
        let exit =
            |problems: &[Problem]| problems.iter().map(|problem| problem.exit).max().unwrap_or(Exit::Done);
        if args.json {
            let summary = examine(args, &config, &mut problems, &mut io::sink())?;
            let level = |exit| if exit == Exit::Findings { "warning" } else { "error" };
            let exit = exit(&problems);
            let problems = problems
                .into_iter()
                .map(|it| DoctorFinding { level: level(it.exit), text: it.what })
                .collect();
            writeln!(out, "{}", serde_json::json!(DoctorFindings { problems, summary }))?;
            return Ok(exit);
        }
        show_config(&config, out)?;
        examine(args, &config, &mut problems, out)?;
        writeln!(out)?;
        match problems.len() {
            0 => writeln!(out, "All is well.")?,
            1 => writeln!(out, "One thing is wrong:")?,
            _ => writeln!(out, "These things are wrong:")?,
        }
        for problem in &problems {
            writeln!(out, "  - {}", problem.what)?;
        }
        Ok(exit(&problems))
    })
}

/// Tries this configuration file as [`run`] does, with the defaults of everything else.
///
/// # Errors
/// Those of [`run`].
pub(crate) fn try_file(config: &Path) -> Result<Exit> {
    run(&Args {
        adapter: adapter::Args::of_file(config),
        movetime: MOVETIME,
        engine_moves: MOVES,
        json: false,
    })
}

fn row(name: &str, value: impl Display, out: &mut dyn Write) -> io::Result<()> {
    rows::row(name, 14, value, out)
}

fn show_config(config: &Config, out: &mut dyn Write) -> io::Result<()> {
    let list = |books: &BookList| match books {
        BookList::Unnamed if config.options.books.are_unnamed() => "the starter book".to_owned(),
        BookList::Unnamed => "none for both colors".to_owned(),
        BookList::None => "none".to_owned(),
        BookList::Files(files) => files.join(", "),
        BookList::Rules(rules) => many(rules.len() as u64, "rule"),
    };
    writeln!(out, "tabiya {}", env!("CARGO_PKG_VERSION"))?;
    match &config.file {
        Some(file) => row("configuration", file.display(), out)?,
        None => row("configuration", "none (no tabiya.toml in the working folder or beside tabiya)", out)?,
    }
    match config.search_paths.find_program(&config.engine) {
        Ok(program) => row("engine", program.display(), out)?,
        Err(_) => row("engine", format_args!("{} (not found)", config.engine), out)?,
    }
    let books = &config.options.books;
    row("books", list(&books.both), out)?;
    for (name, books) in [("for White", &books.white), ("for Black", &books.black)] {
        if !books.files().is_empty() {
            row(name, list(books), out)?;
        }
    }
    for (number, rule) in (1..).zip(books.both.rules()) {
        row(&format!("rule {number}"), rule, out)?;
    }
    let all = std::iter::once(books).chain(&config.options.variants);
    for name in all.flat_map(BookFiles::names).collect::<BTreeSet<_>>() {
        let found = config.search_paths.find_books(name).ok();
        if let Some(folder) = found.and_then(|found| found.described()) {
            row("books in", folder, out)?;
        }
    }
    let opponent = Opponent::among(&config.settings);
    let skips = |(number, rule): (usize, &Rule)| {
        Some(format!("rule {number} is skipped: {}", rule.mismatch(&opponent)?.as_str()))
    };
    let skipped: Vec<_> = (1..).zip(books.both.rules()).filter_map(skips).collect();
    if !skipped.is_empty() {
        row("opponent", format_args!("{opponent}: {}", skipped.join("; ")), out)?;
    }
    for files in &config.options.variants {
        let all = [&files.white, &files.black, &files.both].into_iter();
        let named = all.filter(|list| !matches!(list, BookList::Unnamed)).map(list).collect::<Vec<_>>();
        row(files.variant.uci(), named.join(", "), out)?;
    }
    out.flush()
}

/// Talks to the adapter as a GUI would, and collects what is wrong. Returns who has played the moves of the game.
fn examine(
    args: &Args,
    config: &Config,
    problems: &mut Vec<Problem>,
    out: &mut dyn Write,
) -> Printed<Option<String>> {
    // Checked here first: the error says more than the end of a process.
    let engine = config.find_engine().map_err(|error| Problem::engine(worded(&error)));
    let mut client =
        match engine.and_then(|_| Client::start(&args.adapter.to_line(), config.engine_timeout + GRACE)) {
            Ok(client) => client,
            Err(problem) => {
                problems.push(problem);
                return Ok(None);
            }
        };
    let mut said = None;
    let tried = match greet(&mut client) {
        Ok(greeted) => {
            let name = greeted.name.clone().unwrap_or_else(|| "an engine without a name".to_owned());
            let options = greeted.options;
            row("shown as", format_args!("{name}, {options} options with tabiya's own"), out)?;
            let mut trial = Trial { args, config, client: &mut client, name, greeted: &greeted, problems };
            match trial.chess(out)? {
                Ok(summary) => {
                    said = summary;
                    trial.variants(out)?
                }
                Err(problem) => Err(problem),
            }
        }
        Err(problem) => Err(problem),
    };
    problems.extend(of_another_variant(config).into_iter().map(Problem::finding));
    client.events();
    for (about, what) in client.notices() {
        let exit = match about {
            // Both are shown already.
            About::Configuration | About::Variant => continue,
            About::Option | About::Learning | About::Analysis => Exit::Findings,
            About::Other => Exit::File,
        };
        if !problems.iter().any(|problem| problem.what == *what) {
            problems.push(Problem { what: what.clone(), exit });
        }
    }
    problems.extend(tried.err().or_else(|| client.quit().err()));
    Ok(said)
}

/// What is said of books of standard chess whose moves obey the rules of a variant.
fn of_another_variant(config: &Config) -> Vec<String> {
    let loader = BookLoader { search_paths: config.search_paths.clone() };
    let (set, _) = loader.open(&config.options.books, false);
    set.distinct().iter().filter_map(|book| of_other_rules(&**book, Variant::Chess)).collect()
}

/// Asks the adapter who it is and what its engine offers, and waits until it is ready.
fn greet(client: &mut Client) -> std::result::Result<Offer, Problem> {
    let mut offer = Offer::default();
    client.ask("uci", "uciok", Duration::ZERO)?.iter().for_each(|line| offer.take(line));
    client.ask("isready", "readyok", Duration::ZERO)?;
    Ok(offer)
}

/// The games that are tried.
struct Trial<'a> {
    args: &'a Args,
    config: &'a Config,
    client: &'a mut Client,
    /// The adapter's name.
    name: String,
    greeted: &'a Offer,
    problems: &'a mut Vec<Problem>,
}

impl Trial<'_> {
    /// Plays an opening of a variant.
    fn play(&mut self, variant: Variant) -> std::result::Result<Vec<Ply>, Problem> {
        let movetime = Duration::from_millis(self.args.movetime);
        game::play(self.client, variant, movetime, self.args.engine_moves, self.problems)
    }

    /// Plays an opening of standard chess, if the engine plays that. Returns who has played the moves; the inner error is one with
    /// the adapter.
    fn chess(&mut self, out: &mut dyn Write) -> Printed<std::result::Result<Option<String>, Problem>> {
        let plays_chess = self.set_chess(out)?;
        writeln!(out)?;
        out.flush()?;
        if !plays_chess {
            return Ok(Ok(None));
        }
        let plies = match self.play(Variant::Chess) {
            Ok(plies) => plies,
            Err(problem) => return Ok(Err(problem)),
        };
        let summary = summary(&plies);
        writeln!(out, "{}\n\n{summary}", table(&plies, &self.name))?;
        self.client.events();
        let options = &self.config.options;
        let has_book = options.own_book && !options.books.is_none();
        // A notice says why a book cannot be opened, or may not answer.
        let is_said = self.client.notices().iter().any(|(about, _)| *about != About::Configuration);
        if has_book && !is_said && plies.iter().all(Ply::has_no_book_move) {
            self.problems.push(Problem::finding(
                "no book answered at the starting position: `tabiya show` shows what a book has there",
            ));
        }
        Ok(Ok(Some(summary)))
    }

    /// Where another kind of chess is set, says so and sets standard chess, if the engine plays it. Returns whether the game can
    /// be tried.
    fn set_chess(&mut self, out: &mut dyn Write) -> Printed<bool> {
        let set = self.greeted.begins_with().filter(|value| !value.is_empty() && !is_chess(value));
        let Some(set) = set else { return Ok(true) };
        self.client.events();
        let told = self.client.notices().iter().find(|(about, _)| *about == About::Variant);
        row("variant", told.map_or(format!("{VARIANT} is {set}"), |(_, told)| told.clone()), out)?;
        let has_books =
            self.config.options.variants.iter().any(|files| Some(files.variant) == rules_of(&set));
        let line = self.greeted.set_variant(Variant::Chess);
        let what = match (&line, has_books) {
            (Some(_), true) => "doctor tries standard chess first",
            (Some(_), false) => "doctor tries standard chess only",
            (None, true) => "doctor tries no standard chess, which the engine does not offer",
            (None, false) => "doctor tries standard chess only, which the engine does not offer: no game",
        };
        row("", what, out)?;
        line.iter().for_each(|line| self.client.send(line));
        Ok(line.is_some())
    }

    /// Plays an opening of each variant that has books, if the engine offers it. A variant that cannot be tried is a problem; the
    /// inner error is one with the adapter.
    fn variants(&mut self, out: &mut dyn Write) -> Printed<std::result::Result<(), Problem>> {
        for files in &self.config.options.variants {
            let variant = files.variant;
            let Some(line) = self.greeted.set_variant(variant) else {
                self.problems.push(Problem::finding(format!(
                    "[variant.{variant}]: the engine does not offer {variant} by its option {VARIANT}"
                )));
                // The adapter does not play from these books, so it does not look at them.
                let loader = BookLoader { search_paths: self.config.search_paths.clone() };
                let (_, wrong) = loader.open(files, false);
                self.problems.extend(wrong.into_iter().map(|wrong| Problem::finding(wrong.what)));
                continue;
            };
            self.client.send(&line);
            let plies = match self.play(variant) {
                Ok(plies) => plies,
                Err(problem) => return Ok(Err(problem)),
            };
            let (table, summary) = (table(&plies, &self.name), summary(&plies));
            writeln!(out, "\n{}\n\n{table}\n\n{summary}", variant_name(variant))?;
            if !plies.iter().any(Ply::is_book) {
                self.problems.push(Problem::finding(format!(
                    "[variant.{variant}]: no book answered at the starting position"
                )));
            }
        }
        Ok(Ok(()))
    }
}

fn table(plies: &[Ply], name: &str) -> Table {
    // Moves that are not from a book are the engine's alone.
    let engine = name.strip_suffix(NAME_ADDITION).map_or(name, str::trim_end);
    let mut table = rows::table([
        ("ply", true),
        ("move", false),
        ("played by", false),
        ("chance", true),
        ("score", true),
        ("depth", true),
        ("time", true),
    ]);
    for (index, ply) in plies.iter().enumerate() {
        let number = index / 2 + 1;
        let dots = if index % 2 == 0 { "." } else { "..." };
        let time = format!("{:.1} ms", ply.time.as_secs_f64() * 1000.0);
        let mv = format!("{number}{dots} {}", ply.san);
        let (by, [chance, score, depth]) = match &ply.source {
            PlayedBy::Book { file, rule, chance } => {
                let name = file.file_name().unwrap_or(file.as_ref());
                let by = rule.map_or_else(|| name.to_string_lossy(), |number| rule_name(number, file).into());
                (by, [&*format!("{:.1}%", chance * 100.0), "", ""].map(str::to_owned))
            }
            PlayedBy::Engine { score, depth, .. } => (engine.into(), ["", score, depth].map(str::to_owned)),
        };
        table.add_row([(index + 1).to_string(), mv, by.into_owned(), chance, score, depth, time]);
    }
    table
}

fn summary(plies: &[Ply]) -> String {
    let by_book = plies.iter().filter(|ply| ply.is_book()).count();
    let by_engine = plies.len() - by_book;
    match plies.iter().rposition(Ply::is_book) {
        Some(last) => {
            format!("{by_book} moves from books, the last at ply {}; {by_engine} from the engine.", last + 1)
        }
        None => format!("No move from a book; {by_engine} from the engine."),
    }
}
