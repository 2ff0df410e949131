//! The command line: its commands, and how each ends.

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::{interrupt, truncated};

use crate::args::adapter;
use crate::commands::{
    build, check, convert, diff, doctor, edit, evals, explore, export, help, info, init, learn, play, report,
    show, suite, tree, vet,
};
use crate::output::{self, exit::Exit, interrupts};

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
    /// Show what each book contains
    Info(info::Args),
    /// Read whole books, and report all damage with its offset
    Check(check::Args),
    /// Build a book from games
    Build(build::Args),
    /// Write one or several books as one of any format, or less of them
    #[command(visible_aliases = ["merge", "trim"])]
    Convert(convert::Args),
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
    /// Make an opening suite for engine matches, spread evenly over openings
    Suite(suite::Args),
    /// Report where games left the books, and how they ended
    Report(report::Args),
    /// Keep evaluations of positions in a file (a store): import, info
    Evals(evals::Args),
    /// Try the configuration as a GUI would, and say what is wrong and how to fix it
    Doctor(doctor::Args),
    /// Find an engine and a book, write tabiya.toml for them, and try it
    Init(init::Args),
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

/// What `-h` shows of the commands that have more options than a screen has lines; `--help` shows all.
const SHORT: [(&str, &[&str]); 8] = [
    ("show", &["books", "fen", "moves", "fen_file", "json", "evals", "config", "variety"]),
    ("explore", &["books", "edit", "listen", "no_open"]),
    ("build", &["sources", "output", "force", "max_ply", "min_elo", "date", "player", "min_games"]),
    ("convert", &["books", "output", "force", "min_games", "min_share", "top", "max_ply"]),
    ("export", &["source", "output", "format", "force", "lines", "numbers"]),
    ("vet", &["book", "output", "force", "engine", "nodes", "time", "max_loss"]),
    ("suite", &["sources", "output", "force", "ply", "eval", "count"]),
    ("doctor", &["engine", "book", "config", "json"]),
];

/// A command whose `-h` shows only these options.
fn brief(command: clap::Command, shown: &[&str]) -> clap::Command {
    command.mut_args(|argument| {
        let is_shown = shown.contains(&argument.get_id().as_str());
        argument.hide_short_help(!is_shown)
    })
}

fn parse() -> Result<Cli, clap::Error> {
    let first = std::env::args_os().nth(1);
    if first.is_none_or(|first| first.as_encoded_bytes().starts_with(b"-"))
        && let Ok(AdapterOnly { adapter }) = AdapterOnly::try_parse()
    {
        return Ok(Cli { command: None, adapter });
    }
    // Commands, help, version and errors. Windows's shells leave the names of many files, as in *.pgn, to the program.
    let mut cli = Cli::from_arg_matches(&command().try_get_matches_from(wild::args_os())?)?;
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
        Some(Command::Convert(args)) => at_end(convert::run(args)),
        Some(Command::Edit(args)) => at_end(edit::run(args)),
        Some(Command::Diff(args)) => diff::run(args),
        Some(Command::Tree(args)) => tree::run(args),
        Some(Command::Learn(args)) => learn::run(args),
        Some(Command::Export(args)) => export::run(args),
        Some(Command::Vet(args)) => vet::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Suite(args)) => suite::run(args),
        Some(Command::Evals(args)) => at_end(evals::run(args)),
        Some(Command::Doctor(args)) => doctor::run(args),
        Some(Command::Init(args)) => init::run(args),
        Some(Command::Help(args)) => help::run(args, command()),
    }
}

/// Runs the command that the command line asks for.
pub fn main() -> ExitCode {
    interrupt::outlive_file_limits();
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
    let code = match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            match cli.command {
                None => output::complain_at_end(&error),
                Some(_) => output::complain(&error),
            }
            Exit::from(error.kind()).into()
        }
    };
    if opens_window(cli.command.as_ref()) {
        init::wait_for_key();
    }
    code
}

/// Whether Windows opened a window for this process alone, so that only its user can type into it.
fn has_own_window() -> bool {
    #[cfg(windows)]
    return std::io::IsTerminal::is_terminal(&std::io::stdin()) && tabiya_base::windows::owns_console();
    #[cfg(not(windows))]
    false
}

/// Whether the executable was double-clicked: no GUI started it, and no shell.
fn was_double_clicked() -> bool {
    std::env::args_os().len() <= 1 && has_own_window()
}

/// Whether the window must stay open at the end so that its user can read it.
fn opens_window(command: Option<&Command>) -> bool {
    match command {
        None => was_double_clicked(),
        Some(command) => matches!(command, Command::Doctor(_) | Command::Init(_)) && has_own_window(),
    }
}

/// Whether a command line with this first argument starts the adapter, not a command.
fn starts_adapter(first: Option<&OsStr>) -> bool {
    let first = first.unwrap_or_default();
    let names = |command: &clap::Command| {
        first == command.get_name() || command.get_all_aliases().any(|alias| first == alias)
    };
    !command().get_subcommands().any(names)
}

/// The command line as clap sees it, for man pages, completions and the tests of the documentation.
pub fn command() -> clap::Command {
    let cli = brief(Cli::command(), &["engine", "book", "config", "set"]);
    SHORT.iter().fold(cli, |cli, (name, shown)| cli.mut_subcommand(name, |command| brief(command, shown)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn the_short_help_of_each_command_fits_a_screen() {
        let mut commands = vec![super::command().term_width(100)];
        while let Some(mut command) = commands.pop() {
            let lines = command.render_help().to_string().lines().count();
            // The first one lists the commands besides.
            let room = if command.get_name() == "tabiya" { 38 } else { 24 };
            assert!(lines <= room, "{}: {lines}", command.get_name());
            commands.extend(command.get_subcommands().map(|command| command.clone().term_width(100)));
        }
    }

    #[test]
    fn what_the_short_help_shows_exists() {
        for (name, shown) in super::SHORT {
            let command = super::command();
            let command = command.find_subcommand(name).unwrap();
            for id in shown {
                assert!(command.get_arguments().any(|argument| argument.get_id() == id), "{name}: {id}");
            }
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
