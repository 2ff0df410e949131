//! The command line: its commands, and how each ends.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::{interrupt, panics, truncated};

use crate::args::{adapter, screens, unquoted};
use crate::commands::{
    build, check, completions, convert, diff, doctor, edit, explore, export, grow, help, import, info, init,
    learn, play, report, show, suite, tree, vet,
};
use crate::output::{self, exit::Exit, interrupts, window};

/// Gives any UCI chess engine any opening book.
///
/// Without a command, tabiya is the adapter: a chess GUI starts it in place of the engine, and talks UCI to it. It starts
/// the real engine, plays from the books while they know the position, and passes everything else on.
#[derive(Parser)]
#[command(
    version,
    override_usage = "tabiya [OPTIONS]\n       tabiya <COMMAND>",
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    adapter: adapter::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Show the moves that each book has in a position, and how likely each is
    Show(show::Args),
    /// Show books in the browser, and edit them there
    Explore(explore::Args),
    /// Show what each book, database or store contains
    Info(info::Args),
    /// Read whole books, and report all damage with its offset
    Check(check::Args),
    /// Build a book from games
    Build(build::Args),
    /// Write a book in another format; merge and trim take the same options
    Convert(convert::Args),
    /// Write several books as one, in any format
    Merge(convert::Args),
    /// Write a smaller book: fewer moves, or shorter lines
    Trim(convert::Args),
    /// Change, add or delete moves of a position by hand
    Edit(edit::Args),
    /// Show what differs between two books of any format
    Diff(diff::Args),
    /// Show a book's lines as a tree
    Tree(tree::Args),
    /// Teach a Polyglot book the results of games, show what it has learned, or undo that
    Learn(learn::Args),
    /// Write a book, a ChessBase database or a store as PGN, a table, JSON or EPD
    Export(export::Args),
    /// Write a book without the moves that lose too much, by an engine's evaluations
    Vet(vet::Args),
    /// Let an engine make a book: the positions that games are most likely to reach, and the best moves
    Grow(grow::Args),
    /// Make an opening suite for engine matches, spread evenly over openings
    Suite(suite::Args),
    /// Report where games left the books, and how they ended
    Report(report::Args),
    /// Add evaluations to a store: from Lichess's dump, EPD, or games with [%eval] in their comments
    Import(import::Args),
    /// Try the configuration as a GUI would, and say what is wrong and how to fix it
    Doctor(doctor::Args),
    /// Find an engine and a book, write tabiya.toml for them, and try it
    Init(init::Args),
    /// Print a shell's completions of tabiya's commands and options
    Completions(completions::Args),
    /// Print the options of a command, or open the guide in the browser
    Help(help::Args),
}

/// Only the adapter's arguments: GUIs wait for the adapter, and describing all commands to clap takes a sixth of the time until
/// its first answer.
#[derive(Parser)]
#[command(disable_help_flag = true)]
struct AdapterOnly {
    #[command(flatten)]
    adapter: adapter::Args,
}

/// What `tabiya -h` prints: what each command is for, on one screen.
const TOP: &str = "\
{about}

Usage: tabiya [OPTIONS]              as a chess program's engine
       tabiya <COMMAND> [OPTIONS]

Set up   init     find an engine and a book, and write tabiya.toml for them
         doctor   try the configuration as a GUI would, and say what is wrong
Look     show     the moves of books in a position, and how likely each is
         explore  books in the browser; edit them there
         tree, info, check, diff, export
Make     build    a book from games
         convert  change the format of books; merge, trim; edit changes moves by hand
         vet      leave out what an engine finds to lose too much; import evaluations
         grow     let an engine make a book against what an opponent plays
Play     suite    openings for a match
         report   where games left the books, and what came of it
         learn    results of games into a Polyglot book

      --engine <PROGRAM>   the engine [default: stockfish]
      --book <FILE>        a book; repeatable [default: the starter book]
      --set <NAME=VALUE>   an option of the engine or of tabiya, such as \"Book Variety=0\"

`tabiya help options` lists tabiya's own options, `tabiya COMMAND -h` those of a command,
`tabiya --help` all arguments; `tabiya help --guide` opens the guide. Also: completions.
";

fn parse() -> Result<Cli, clap::Error> {
    let first = std::env::args_os().nth(1);
    if first.as_ref().is_some_and(|first| first == "-h") {
        return Cli::from_arg_matches(&top().try_get_matches()?);
    }
    if first.as_ref().is_none_or(|first| first.as_encoded_bytes().starts_with(b"-"))
        && let Ok(AdapterOnly { adapter }) = AdapterOnly::try_parse()
    {
        return Ok(Cli { command: None, adapter });
    }
    // Commands, help, version and errors. Windows's shells leave the names of many files, as in *.pgn, to the program.
    let mut line: Vec<_> = wild::args_os().collect();
    let named = line.get(1).filter(|first| starts_adapter(Some(first)) && Path::new(first).exists());
    if let Some(file) = named.cloned() {
        if window::has_client() {
            let file = file.display();
            let what =
                format!("{file} is a file: `--book {file}` plays from it, `tabiya explore {file}` shows it");
            return Err(command().error(clap::error::ErrorKind::InvalidSubcommand, what));
        }
        // Files alone, as when they are dropped on the executable.
        line.insert(1, "explore".into());
    }
    if let Some(what) = unquoted::advice(&line, whole_command) {
        return Err(command().error(clap::error::ErrorKind::InvalidValue, what));
    }
    let described = if line.iter().any(|word| word == "-h") { brief_command() } else { command() };
    let matches = described.try_get_matches_from(line);
    let is_path = |first: &&std::ffi::OsString| first.to_string_lossy().contains(['.', '/', '\\']);
    if let (Err(error), Some(first)) = (&matches, first.as_ref().filter(is_path))
        && error.kind() == clap::error::ErrorKind::InvalidSubcommand
    {
        let what = format!("there is no file {}, and no command of that name", first.display());
        return Err(command().error(clap::error::ErrorKind::InvalidSubcommand, what));
    }
    let mut cli = Cli::from_arg_matches(&matches?)?;
    match &mut cli.command {
        Some(Command::Doctor(doctor)) => doctor.adapter.add_before(&cli.adapter),
        Some(_) if !cli.adapter.is_empty() => {
            let what = "options of the adapter come before no command except doctor";
            return Err(command().error(clap::error::ErrorKind::ArgumentConflict, what));
        }
        _ => {}
    }
    Ok(cli)
}

/// Runs the command, or the adapter.
fn run(cli: &Cli) -> Result<Exit> {
    // These give their files names at the end.
    let at_end = |done: Result<Exit>| done.map_err(|error| interrupt::after("nothing was written", error));
    match &cli.command {
        None if was_double_clicked() => init::welcome(),
        None => play::run(&cli.adapter),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Explore(args)) => explore::run(args),
        Some(Command::Info(args)) => info::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Build(args)) => at_end(build::run(args)),
        Some(Command::Convert(args) | Command::Merge(args) | Command::Trim(args)) => {
            at_end(convert::run(args))
        }
        Some(Command::Edit(args)) => at_end(edit::run(args)),
        Some(Command::Diff(args)) => diff::run(args),
        Some(Command::Tree(args)) => tree::run(args),
        Some(Command::Learn(args)) => learn::run(args),
        Some(Command::Export(args)) => export::run(args),
        Some(Command::Vet(args)) => vet::run(args),
        Some(Command::Grow(args)) => grow::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Suite(args)) => suite::run(args),
        Some(Command::Import(args)) => at_end(import::run(args)),
        Some(Command::Doctor(args)) => doctor::run(args),
        Some(Command::Init(args)) => init::run(args),
        Some(Command::Completions(args)) => completions::run(args, whole_command()),
        Some(Command::Help(args)) => help::run(args, command()),
    }
}

/// Runs the command that the command line asks for.
pub fn main() -> ExitCode {
    interrupt::outlive_file_limits();
    truncated::outlive();
    panics::hide_caught();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors and go to standard output.
            let _ = error.print();
            if !error.use_stderr() {
                return Exit::Done.into();
            }
            if starts_adapter(std::env::args_os().nth(1).as_deref()) {
                play::refuse(&error);
            }
            if window::is_own() {
                window::wait_for_key();
            }
            return Exit::Usage.into();
        }
    };
    let result = interrupts::scope(|| run(&cli));
    // A file that shrinks while it is read is not read to its end.
    let result = match truncated::take().first() {
        Some(path) if cli.command.is_some() => {
            Err(Error::new(ErrorKind::File, "the file was truncated while it was read")
                .at_path(path)
                .advice("to replace a file, rename the new one over it; then try again"))
        }
        _ => result,
    };
    let exit = match &result {
        Ok(exit) => *exit,
        Err(error) => {
            match cli.command {
                None => output::complain_at_end(error),
                Some(_) => output::complain(error),
            }
            error.kind().into()
        }
    };
    if window::is_own() && is_to_be_read(cli.command.as_ref(), result.is_err()) {
        window::wait_for_key();
    }
    exit.into()
}

/// Whether the executable was double-clicked: no GUI started it, and no shell.
fn was_double_clicked() -> bool {
    std::env::args_os().len() <= 1 && window::is_own()
}

/// Whether a window must stay open at the end so that its user can read it: what ends only by its user has been read, unless it
/// failed.
fn is_to_be_read(command: Option<&Command>, failed: bool) -> bool {
    let ends_by_user = match command {
        None => !was_double_clicked(),
        Some(command) => matches!(command, Command::Explore(_)),
    };
    failed || !ends_by_user
}

/// Whether a command line with this first argument starts the adapter, not a command.
fn starts_adapter(first: Option<&OsStr>) -> bool {
    let first = first.unwrap_or_default();
    let names = |command: &clap::Command| {
        first == command.get_name() || command.get_all_aliases().any(|alias| first == alias)
    };
    !command().get_subcommands().any(names)
}

/// The command line as `--help` and man pages describe it, and as the tests of the documentation read it.
pub fn command() -> clap::Command {
    screens::whole(whole_command().after_help(
        "`tabiya help COMMAND` describes a command, `tabiya help options` tabiya's own options, and `tabiya help --guide` opens the guide.",
    ))
}

/// The command line as `-h` of a command describes it.
pub(crate) fn brief_command() -> clap::Command {
    screens::brief(whole_command())
}

/// The command line as `tabiya -h` describes it.
fn top() -> clap::Command {
    command().help_template(TOP)
}

/// The command line with all options of each command, for completions.
pub fn whole_command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn the_first_screen_is_one() {
        assert!(super::top().term_width(100).render_help().to_string().lines().count() <= 24);
    }

    #[test]
    fn the_first_screen_names_each_command() {
        let screen = super::top().render_help().to_string();
        let words: Vec<&str> = screen.split(|letter: char| !letter.is_alphanumeric()).collect();
        for command in super::command().get_subcommands() {
            assert!(words.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    #[test]
    fn a_command_line_without_a_command_starts_the_adapter() {
        let starts_adapter = |first: &str| super::starts_adapter(Some(first.as_ref()));
        assert!(super::starts_adapter(None) && starts_adapter("--book") && starts_adapter("stockfish"));
        assert!(!starts_adapter("build") && !starts_adapter("doctor") && !starts_adapter("help"));
        assert!(!starts_adapter("export") && !starts_adapter("merge"));
        assert!(!starts_adapter("help"));
    }
}
