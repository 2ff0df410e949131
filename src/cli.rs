//! The command line: its commands, and how each ends.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::{interrupt, panics, truncated};

use crate::args::{adapter, examples, shared, unquoted};
use crate::commands::{
    build, check, convert, diff, doctor, edit, explore, export, grow, help, import, info, init, learn, play,
    report, show, suite, tree, vet,
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
    /// Show what each book, database or store contains
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
const SHORT: [(&str, &[&str]); 9] = [
    ("show", &["books", "fen", "moves", "fen_file", "set"]),
    ("explore", &["books", "edit", "listen", "no_open"]),
    ("build", &["sources", "output", "max_ply", "min_elo", "player", "min_games"]),
    ("convert", &["books", "output", "min_games", "min_share", "top", "max_ply"]),
    ("export", &["source", "output", "format", "lines", "numbers"]),
    ("vet", &["book", "output", "max_loss"]),
    ("grow", &["sources", "output", "against", "side", "positions"]),
    ("suite", &["sources", "output", "ply", "eval", "count"]),
    ("doctor", &["movetime", "engine_moves"]),
];

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
         convert  change the format of books, merge or trim them; edit changes moves by hand
         vet      leave out what an engine finds to lose too much; import evaluations
         grow     let an engine make a book against what an opponent plays
Play     suite    openings for a match
         report   where games left the books, and what came of it
         learn    results of games into a Polyglot book

      --engine <PROGRAM>   the engine [default: stockfish]
      --book <FILE>        a book; repeatable [default: the starter book]
      --set <NAME=VALUE>   an option of the engine or of tabiya, such as \"Book Variety=0\"

`tabiya help options` lists tabiya's own options, `tabiya COMMAND -h` those of a command,
`tabiya --help` all arguments, and `tabiya help --guide` opens the guide.
";

/// A command whose `-h` shows only these options.
fn brief(command: clap::Command, shown: &[&str]) -> clap::Command {
    command.mut_args(|argument| {
        let is_shown = shown.contains(&argument.get_id().as_str());
        argument.hide_short_help(!is_shown)
    })
}

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
    let line: Vec<_> = wild::args_os().collect();
    if let Some(what) = unquoted::advice(&line, whole_command) {
        return Err(command().error(clap::error::ErrorKind::InvalidValue, what));
    }
    let matches = command().try_get_matches_from(line);
    if let (Err(error), Some(first)) = (&matches, first.filter(|first| Path::new(first).exists()))
        && error.kind() == clap::error::ErrorKind::InvalidSubcommand
    {
        let name = first.display();
        let what = format!(
            "{name} is a file, not a command: `tabiya show {name}` shows a book, `tabiya --book {name}` plays from it"
        );
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
        Some(Command::Convert(args)) => at_end(convert::run(args)),
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
    let cli = whole_command().after_help(format!(
        "`tabiya help COMMAND` describes a command, `tabiya help {}` the options that several share, and `tabiya help --guide` opens the guide.",
        shared::PAGE
    ));
    let cli = cli.mut_subcommands(|command| {
        let command = match command.get_name() {
            "doctor" => command
                .mut_args(as_before_doctor)
                .after_help("Also: --json, and every option of tabiya itself (see `tabiya --help`)"),
            // An option of tabiya, and the weight of a move.
            "show" | "edit" => shared::named_only(command, "", &["set"]),
            _ => shared::named_only(command, "", &[]),
        };
        let within = format!("{} ", command.get_name());
        let with_inner =
            command.mut_subcommands(|command| examples::added(shared::named_only(command, &within, &[])));
        examples::added(with_inner)
    });
    SHORT.iter().fold(cli, |cli, (name, shown)| cli.mut_subcommand(name, |command| brief(command, shown)))
}

/// The command line as `tabiya -h` describes it.
fn top() -> clap::Command {
    command().help_template(TOP)
}

/// The command line with all options of each command, for completions.
pub fn whole_command() -> clap::Command {
    Cli::command()
}

/// Hides what `doctor` takes as tabiya does.
fn as_before_doctor(argument: clap::Arg) -> clap::Arg {
    let own = ["movetime", "engine_moves"].contains(&argument.get_id().as_str());
    argument.hide(!own)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn the_short_help_of_each_command_fits_a_screen() {
        let mut commands = vec![super::top().term_width(100)];
        while let Some(mut command) = commands.pop() {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 24, "{}: {lines}", command.get_name());
            commands.extend(command.get_subcommands().map(|command| command.clone().term_width(100)));
        }
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
