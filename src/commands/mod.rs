//! The commands: one file or folder each, with its arguments, its `run`, and what `-h` and the guide show of it; and their list,
//! from which the command line follows.

pub mod build;
pub mod check;
pub mod completions;
pub mod convert;
pub mod diff;
pub(crate) mod doctor;
pub mod edit;
pub mod explore;
pub mod export;
pub mod gaps;
pub mod grow;
pub mod help;
pub mod import;
pub mod info;
pub mod init;
pub mod learn;
pub mod play;
pub mod report;
pub mod show;
pub mod suite;
pub mod tree;
pub mod vet;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use tabiya_base::error::Result;

use crate::args::adapter;
use crate::args::screens::{self, Screen};
use crate::output::exit::Exit;

/// Lists the commands, each with its module: what it is for is said of the module's arguments, or here where commands share them.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($($module:ident)::+),)*) => {
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $($(#[$about])* $name($($module)::+::Args),)*
        }

        impl Command {
            /// What `-h` shows of each command, and of the commands below it.
            const SCREENS: &[&[Screen]] = &[$($($module)::+::SCREENS,)*];

            /// Runs the command.
            ///
            /// # Errors
            /// As the `run` of its module.
            pub(crate) fn run(&self) -> Result<Exit> {
                match self {
                    $(Self::$name(args) => $($module)::+::run(args),)*
                }
            }
        }
    };
}

commands! {
    Show(show),
    Explore(explore),
    Info(info),
    Check(check),
    Build(build),
    Convert(convert),
    /// Write several books as one, in any format
    Merge(convert::merge),
    /// Write a smaller book: fewer moves, or shorter lines
    Trim(convert::trim),
    Edit(edit),
    Diff(diff),
    Tree(tree),
    Learn(learn),
    Export(export),
    Vet(vet),
    Grow(grow),
    Suite(suite),
    Report(report),
    Gaps(gaps),
    Import(import),
    Doctor(doctor),
    Init(init),
    Completions(completions),
    Help(help),
}

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
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) adapter: adapter::Args,
}

/// The command line with all options of each command, for completions.
pub fn whole_command() -> clap::Command {
    Cli::command()
}

/// The command line as `--help` and man pages describe it, and as the tests of the documentation read it.
pub fn command() -> clap::Command {
    screens::whole(
        whole_command().after_help(
            "`tabiya help COMMAND` describes a command, `tabiya help options` tabiya's own options, and `tabiya help --guide` opens the guide.",
        ),
        Command::SCREENS,
    )
}

/// The error of a command line that lacks what a command needs, with an example of it.
pub(crate) fn with_example(mut error: clap::Error, line: &[OsString]) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return error;
    }
    let words: Vec<_> = line.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let name = |len| words.get(..len).map(|words| words.join(" "));
    let screen = [2, 1].into_iter().filter_map(name).find_map(|name| screens::of(Command::SCREENS, &name));
    if let Some(example) = screen.and_then(|screen| screen.examples.first()) {
        let tip = ContextValue::StyledStrs(vec![format!("for example: {example}").into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// The command line as `-h` of a command describes it.
pub(crate) fn brief_command() -> clap::Command {
    screens::brief(whole_command(), Command::SCREENS)
}

/// The pages that describe a command, by its whole name.
#[cfg(test)]
pub(crate) fn pages(name: &str) -> Option<&'static [screens::Page]> {
    screens::of(Command::SCREENS, name).map(|screen| screen.pages)
}

#[cfg(test)]
mod tests {
    use clap::Command as Described;

    use super::*;

    /// The words of a line as a shell reads them, up to where its output goes.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" > ").next().unwrap();
        let parts = line.split('"').enumerate();
        parts
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    /// Each command below these, with its whole name.
    fn named(cli: &Described, within: &str) -> Vec<(String, Described)> {
        let mut found = vec![];
        for command in cli.get_subcommands() {
            let name = format!("{within}{}", command.get_name());
            found.extend(named(command, &format!("{name} ")));
            found.push((name, command.clone()));
        }
        found
    }

    #[test]
    fn each_example_is_a_command_line_that_its_command_takes() {
        for Screen { command: name, examples, .. } in Command::SCREENS.iter().copied().flatten() {
            for line in *examples {
                let found = super::command().try_get_matches_from(words(line));
                let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
                let (command, inner) = found.subcommand().unwrap();
                let whole = inner.subcommand_name().map(|inner| format!("{command} {inner}"));
                assert!(command == *name || whole.as_deref() == Some(*name), "{line}");
            }
        }
    }

    #[test]
    fn a_command_line_that_lacks_something_is_answered_with_an_example() {
        let mut lacking = 0;
        for Screen { command: name, examples, .. } in Command::SCREENS.iter().copied().flatten() {
            let line = words(&format!("tabiya {name}"));
            let Err(error) = super::command().try_get_matches_from(&line) else { continue };
            let kind = error.kind();
            let line: Vec<OsString> = line.into_iter().map(Into::into).collect();
            let said = with_example(error, &line).render().to_string();
            let is_lacking = kind == clap::error::ErrorKind::MissingRequiredArgument;
            assert_eq!(said.contains(examples[0]), is_lacking, "{said}");
            lacking += u32::from(is_lacking);
        }
        assert!(lacking > 10, "{lacking}");
    }

    #[test]
    fn the_short_help_of_each_command_fits_a_screen_and_has_an_example() {
        let commands = named(&brief_command(), "");
        assert_eq!(commands.len(), Command::SCREENS.iter().copied().flatten().count());
        for (name, command) in commands {
            let screen = screens::of(Command::SCREENS, &name)
                .unwrap_or_else(|| panic!("what does `tabiya {name} -h` show?"));
            let text = command.clone().term_width(80).render_help().to_string();
            let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.lines().count() <= 24, "{name}: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}\n{text}");
            assert!(flowing.contains(&format!("Example: {}", screen.examples[0])), "{name}\n{text}");
            for (id, words) in screen.shown {
                let argument = command.get_arguments().find(|argument| argument.get_id() == id);
                let argument = argument.unwrap_or_else(|| panic!("{name}: {id}"));
                let is_shown = |words: &str| flowing.contains(words);
                assert!(
                    argument.get_long().is_none_or(|long| is_shown(&format!("--{long}"))),
                    "{name}: {id}"
                );
                assert!(is_shown(words), "{name}: {words}\n{text}");
            }
            // What matters in every command that has it.
            for id in ["output", "force", "json", "engine"] {
                let has = command.get_arguments().any(|argument| argument.get_id() == id);
                assert!(!has || screen.shown.iter().any(|(shown, _)| *shown == id), "{name}: {id}");
            }
        }
    }

    #[test]
    fn the_long_help_of_each_command_describes_every_argument() {
        for (name, command) in named(&command(), "") {
            let text = command.clone().term_width(100).render_long_help().to_string();
            for line in screens::of(Command::SCREENS, &name).unwrap().examples {
                assert!(text.contains(line), "{name}: {line}");
            }
            for argument in command.get_arguments() {
                let shown =
                    argument.get_long().map_or_else(|| argument.to_string(), |long| format!("--{long}"));
                assert!(text.contains(&shown), "{name}: {shown}");
            }
        }
    }
}
