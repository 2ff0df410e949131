//! The command line: commands, their arguments, and their output. Nothing else knows about terminals.

mod args;
mod commands;
mod output;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::base::error::{Error, ErrorKind};
use crate::base::{cut, interrupt};

use args::adapter;
use commands::{build, check, convert, doctor, dump, export, info, learn, merge, play, show, tree};
pub use output::exit::Exit;

/// Gives any UCI chess engine any opening book.
///
/// Without a command, tabiya is the adapter: a chess GUI starts it as if it were an engine, and it speaks UCI on
/// standard input and output. It starts the real engine, answers from the books as long as they know the position, and
/// passes everything else on.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    adapter: adapter::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Show the moves that each book has in a position, with the chance of each
    Show(show::Args),
    /// Sum up what each book holds
    Info(info::Args),
    /// Read each book whole and name every damage with its offset
    Check(check::Args),
    /// Build a book from games
    Build(build::Args),
    /// Write a book in another format
    Convert(convert::Args),
    /// Make one book of several
    Merge(merge::Args),
    /// Write out every entry of a book
    Dump(dump::Args),
    /// Show a book's lines as a tree
    Tree(tree::Args),
    /// Learn exact results of games into a Polyglot book, show what it has learned, or take it back
    Learn(learn::Args),
    /// Write a ChessBase database as PGN
    #[command(alias = "games")]
    Export(export::Args),
    /// Try the configuration as a GUI would, and say what is wrong and how to fix it
    Doctor(doctor::Args),
}

/// The adapter's arguments alone: GUIs wait for the adapter, and describing all commands to clap takes a sixth of the time
/// until its first answer.
#[derive(Parser)]
#[command(disable_help_flag = true)]
struct Alone {
    #[command(flatten)]
    adapter: adapter::Args,
}

fn parse() -> Result<Cli, clap::Error> {
    let names_command = |first: &OsString| !first.as_encoded_bytes().starts_with(b"-");
    if !std::env::args_os().nth(1).as_ref().is_some_and(names_command)
        && let Ok(Alone { adapter }) = Alone::try_parse()
    {
        return Ok(Cli { command: None, adapter });
    }
    // Commands, help, version and errors.
    Cli::try_parse()
}

/// Runs the command that the command line asks for.
pub fn main() -> ExitCode {
    interrupt::outlive_file_limits();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors and go to standard output.
            let _ = error.print();
            if error.use_stderr() && is_adapters(std::env::args_os().nth(1).as_deref()) {
                play::refuse(&error);
            }
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let result = match &cli.command {
        None => play::run(&cli.adapter),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Info(args)) => info::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Build(args)) => build::run(args),
        Some(Command::Convert(args)) => convert::run(args),
        Some(Command::Merge(args)) => merge::run(args),
        Some(Command::Dump(args)) => dump::run(args),
        Some(Command::Tree(args)) => tree::run(args),
        Some(Command::Learn(args)) => learn::run(args),
        Some(Command::Export(args)) => export::run(args),
        Some(Command::Doctor(args)) => doctor::run(args),
    };
    // A file that shrank while it was read was not read whole.
    let result = match cut::take().first() {
        Some(path) if cli.command.is_some() => {
            Err(Error::new(ErrorKind::File, "the file was truncated while it was read")
                .at_path(path)
                .advice("replace files by renaming, and try again"))
        }
        _ => result,
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            match cli.command {
                None => output::complain_at_end(&error),
                Some(_) => output::complain(&error),
            }
            Exit::of(error.kind()).into()
        }
    }
}

/// Whether a command line with this first argument starts the adapter, not a command.
fn is_adapters(first: Option<&OsStr>) -> bool {
    let first = first.unwrap_or_default();
    let names = |command: &clap::Command| {
        first == command.get_name() || command.get_all_aliases().any(|alias| first == alias)
    };
    first != "help" && !command().get_subcommands().any(names)
}

/// The command line as clap sees it, for the man pages, the completions and the tests of the documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn a_line_that_does_not_begin_with_a_command_starts_the_adapter() {
        let is_adapters = |first: &str| super::is_adapters(Some(first.as_ref()));
        assert!(super::is_adapters(None) && is_adapters("--book") && is_adapters("stockfish"));
        assert!(!is_adapters("build") && !is_adapters("doctor") && !is_adapters("help"));
        assert!(!is_adapters("export") && !is_adapters("games"));
    }
}
