//! `tabiya doctor`: starts the configured adapter as a GUI would, plays an opening, and tells what is wrong.

mod client;
mod game;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};

use self::client::{Client, Gone};
use self::game::{Ply, Source};
use crate::adapter::config::Config;
use crate::adapter::config::books::BookList;
use crate::adapter::session::{NAME_ADDITION, unknown_option};
use crate::base::error::Result;
use crate::cli::args::adapter;
use crate::cli::output::exit::Exit;
use crate::cli::output::{Stop, print, worded};

/// How long anything but a search may take, beyond what the engine is granted for `uci`.
const PATIENCE: Duration = Duration::from_secs(20);

/// `tabiya doctor`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    adapter: adapter::Args,
    /// Milliseconds that the engine thinks for a move
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    movetime: u64,
    /// Moves that each side thinks for itself before the game ends
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    moves: u32,
}

/// Something that is wrong, with what to do about it, and the exit code that it leads to.
struct Problem {
    what: String,
    exit: Exit,
}

/// Why the talk with the adapter ended before its time.
enum Ended {
    /// The adapter does not answer any more.
    Gone(Gone),
    /// Nobody reads what is printed.
    Stop(Stop),
}

impl From<Gone> for Ended {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        Self::Stop(error.into())
    }
}

/// Tries the configuration and prints what was found.
///
/// # Errors
/// When the configuration itself cannot be read, or nothing can be printed.
pub fn run(args: &Args) -> Result<Exit> {
    let config = args.adapter.load()?;
    print(|out| {
        let warned = |what: &String| Problem { what: what.clone(), exit: Exit::Wanting };
        let mut problems: Vec<Problem> = config.warnings.iter().map(warned).collect();
        show_config(&config, out)?;
        examine(args, &config, &mut problems, out)?;
        writeln!(out)?;
        if problems.is_empty() {
            writeln!(out, "All is well.")?;
            return Ok(Exit::Done);
        }
        let title = if problems.len() == 1 { "One thing is wrong:" } else { "These things are wrong:" };
        writeln!(out, "{title}")?;
        for problem in &problems {
            writeln!(out, "  - {}", problem.what)?;
        }
        // The engine counts most: without it nothing works.
        Ok(problems.iter().fold(Exit::Done, |exit, problem| exit.graver(problem.exit)))
    })
}

fn show_config(config: &Config, out: &mut dyn Write) -> std::io::Result<()> {
    let books = &config.options.books;
    let list = |books: &BookList| match books {
        BookList::Unnamed => "the starter book".to_owned(),
        BookList::None => "none".to_owned(),
        BookList::Files(files) => files.join(", "),
    };
    let program = config.search_paths.find_program(&config.engine).map(|path| path.display().to_string());
    writeln!(out, "tabiya {}", env!("CARGO_PKG_VERSION"))?;
    match &config.file {
        Some(file) => writeln!(out, "  configuration  {}", file.display())?,
        None => {
            writeln!(out, "  configuration  none (no tabiya.toml in the working folder or beside tabiya)")?
        }
    }
    writeln!(
        out,
        "  engine         {}",
        program.unwrap_or_else(|_| format!("{} (not found)", config.engine))
    )?;
    writeln!(out, "  books          {}", list(&books.both))?;
    for (title, books) in [("for White", &books.white), ("for Black", &books.black)] {
        if !books.files().is_empty() {
            writeln!(out, "  {title}      {}", list(books))?;
        }
    }
    out.flush()
}

/// Talks to the adapter as a GUI would, and gathers what is wrong.
fn examine(
    args: &Args,
    config: &Config,
    problems: &mut Vec<Problem>,
    out: &mut dyn Write,
) -> std::result::Result<(), Stop> {
    let engine = |what: String| Problem { what, exit: Exit::Engine };
    // Looked for here first: the reason is told better than by a process that ends.
    if let Err(error) = config.find_engine() {
        problems.push(engine(worded(&error)));
        return Ok(());
    }
    let mut client = match Client::start(&args.adapter.to_line()) {
        Ok(client) => client,
        Err(what) => {
            problems.push(engine(what));
            return Ok(());
        }
    };
    let result = talk(args, config, &mut client, problems, out);
    // The configuration's own warnings are told already.
    let notices: Vec<Problem> = client
        .notices()
        .iter()
        .filter(|what| !config.warnings.contains(what))
        .map(|what| {
            let is_option = config.settings.iter().any(|(name, _)| *what == unknown_option(name));
            Problem { what: what.clone(), exit: if is_option { Exit::Wanting } else { Exit::File } }
        })
        .collect();
    match result {
        Ok(plies) => {
            // A book that cannot be opened has told why already.
            let of_book = plies.iter().any(|ply| matches!(ply.source, Source::Book { .. }));
            let wanted = config.options.own_book && !config.options.books.is_none();
            if wanted && !of_book && notices.is_empty() {
                let what =
                    "no book answered at the starting position: `tabiya show` tells what a book has there";
                problems.push(Problem { what: what.to_owned(), exit: Exit::Wanting });
            }
            problems.extend(notices);
            problems.extend(client.quit().err().map(engine));
        }
        Err(Ended::Gone(Gone { said, exit })) => {
            problems.extend(notices);
            problems.push(Problem { what: said, exit });
        }
        Err(Ended::Stop(stop)) => return Err(stop),
    }
    Ok(())
}

fn talk(
    args: &Args,
    config: &Config,
    client: &mut Client,
    problems: &mut Vec<Problem>,
    out: &mut dyn Write,
) -> std::result::Result<Vec<Ply>, Ended> {
    let greeting = client.ask("uci", "uciok", config.engine_timeout + PATIENCE)?;
    let name = greeting
        .iter()
        .find_map(|line| line.strip_prefix("id name "))
        .unwrap_or("an engine without a name")
        .trim();
    let options = greeting.iter().filter(|line| line.starts_with("option ")).count();
    writeln!(out, "  it is          {name}, {options} options with tabiya's own")?;
    client.ask("isready", "readyok", PATIENCE)?;
    writeln!(out)?;
    out.flush()?;
    let plies = game::play(client, Duration::from_millis(args.movetime), args.moves, problems)?;
    // The moves that are not from a book are those of the engine alone.
    let engine = name.strip_suffix(NAME_ADDITION).map_or(name, str::trim_end);
    writeln!(out, "{}", table(&plies, engine))?;
    writeln!(out, "{}", summary(&plies))?;
    Ok(plies)
}

fn table(plies: &[Ply], engine: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "ply",
        "move",
        "played by",
        "chance",
        "score",
        "depth",
        "time",
    ]);
    for index in [0, 3, 4, 5, 6] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (index, ply) in plies.iter().enumerate() {
        let number = index / 2 + 1;
        let dots = if index % 2 == 0 { "." } else { "..." };
        let time = format!("{:.1} ms", ply.time.as_secs_f64() * 1000.0);
        let mv = format!("{number}{dots} {}", ply.san);
        let (by, chance, score, depth) = match &ply.source {
            Source::Book { file, chance } => (short(file), chance.clone(), String::new(), String::new()),
            Source::Engine { score, depth } => {
                (engine.to_owned(), String::new(), score.clone(), depth.clone())
            }
        };
        table.add_row([(index + 1).to_string(), mv, by, chance, score, depth, time]);
    }
    table
}

/// A book's file name without its folders.
fn short(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn summary(plies: &[Ply]) -> String {
    let of_book = plies.iter().filter(|ply| matches!(ply.source, Source::Book { .. })).count();
    let of_engine = plies.len() - of_book;
    let last = plies.iter().rposition(|ply| matches!(ply.source, Source::Book { .. }));
    match last {
        Some(last) => format!(
            "\n{of_book} moves from books, the last at ply {}; {of_engine} from the engine.",
            last + 1
        ),
        None => format!("\nNo move from a book; {of_engine} from the engine."),
    }
}
