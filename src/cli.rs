//! The command line: its commands, and how each ends.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::{FromArgMatches, Parser};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::{interrupt, panics, truncated};

use crate::args::{adapter, unquoted};
use crate::commands::{Cli, Command, brief_command, command, init, play, whole_command, with_example};
use crate::output::{self, exit::Exit, interrupts, window};

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
`tabiya --help` all arguments; `tabiya help --guide` opens the guide.";

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
    let matches = described.try_get_matches_from(&line).map_err(|error| with_example(error, &line));
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
    match &cli.command {
        None if was_double_clicked() => init::welcome(),
        None => play::run(&cli.adapter),
        Some(command) => command.run(),
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

/// The command line as `tabiya -h` describes it; commands that [`TOP`] does not name are listed at its end.
fn top() -> clap::Command {
    let cli = command();
    let named: Vec<&str> = TOP.split(|letter: char| !letter.is_alphanumeric()).collect();
    let names = cli.get_subcommands().map(clap::Command::get_name);
    let others: Vec<&str> = names.filter(|name| !named.contains(name)).collect();
    let screen = format!("{TOP} Also: {}.\n", others.join(", "));
    cli.help_template(screen)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        crate::commands::command().debug_assert();
    }

    #[test]
    fn the_first_screen_is_one() {
        assert!(super::top().term_width(100).render_help().to_string().lines().count() <= 24);
    }

    #[test]
    fn the_first_screen_names_each_command() {
        let screen = super::top().render_help().to_string();
        let words: Vec<&str> = screen.split(|letter: char| !letter.is_alphanumeric()).collect();
        for command in crate::commands::command().get_subcommands() {
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
