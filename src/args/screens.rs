//! What `-h` shows of each command, on a screen of 80 columns and 24 lines: what people need first, and an example. `--help` has
//! all, and more examples.

use clap::Command;

/// A page of the guide, or the section of it that begins with a heading.
pub(crate) type Page = (&'static str, &'static str);

/// What `-h` and the guide show of a command.
pub(crate) struct Screen {
    /// Its name, after that of the command that it belongs to.
    pub(crate) command: &'static str,
    /// The arguments that are shown, each with what is said of it there; empty: what `--help` says.
    pub(crate) shown: &'static [(&'static str, &'static str)],
    /// Lines that do what people use it for most; `-h` shows the first.
    pub(crate) examples: &'static [&'static str],
    /// Where the guide describes its options, which tests compare with them.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests read the guide"))]
    pub(crate) pages: &'static [Page],
}

/// The page on count files, which describes some options of the commands that write books.
pub(crate) const COUNTS: Page = ("count-files.md", "");

pub(crate) const BOOK_OUT: &str = "The book to write; its extension selects the format";
pub(crate) const FORCE: &str = "Replace a file that exists";
pub(crate) const MOVES: &str = "The moves from the start, such as \"1. e4 e5 2. Nf3\"";
pub(crate) const GAMES: &str = "PGN files (also .gz, .zst, .zip), folders, .cbh, .cbv, .si4, .si5, -";
pub(crate) const SOURCES: &str = "Books, count files, databases, or stores of evaluations";
pub(crate) const CHECKED_SOURCES: &str = "Books, count files, or databases";
pub(crate) const POSITION_SOURCES: &str = "Books, count files, or games";
pub(crate) const PLAYER: &str = "Only games of players with this in their name";
pub(crate) const VARIANT: &str = "atomic, antichess, crazyhouse, horde, 3check, ...";
pub(crate) const ENGINE: &str = "The engine [default: that of tabiya.toml]";
pub(crate) const NODES: &str = "Nodes to search in each position [default: 1000000]";
pub(crate) const JOBS: &str = "Run this many engines at once [default: 1]";
pub(crate) const TIME: &str = "Stop searching after this, such as 30m or 8h";

impl Screen {
    /// The command as `-h` describes it.
    fn brief(&self, command: Command) -> Command {
        let command = command.mut_args(|argument| {
            let place = self.shown.iter().position(|(id, _)| argument.get_id() == id);
            let Some((place, (_, words))) = place.and_then(|place| Some((place, self.shown.get(place)?)))
            else {
                return argument.hide_short_help(true);
            };
            let has_values = argument.get_action().takes_values();
            let argument =
                argument.help_heading(None).hide_short_help(false).hide_possible_values(has_values);
            let argument = if words.is_empty() { argument } else { argument.help(*words) };
            if argument.is_positional() { argument } else { argument.display_order(place) }
        });
        let first: String = self.examples.iter().take(1).map(|line| format!("Example: {line}")).collect();
        command.after_help(first)
    }

    /// The command as `--help` describes it.
    fn whole(&self, command: Command) -> Command {
        let lines: String = self.examples.iter().map(|line| format!("\n  {line}")).collect();
        command.after_long_help(format!("Examples:{lines}"))
    }
}

/// The screens of commands, those of each with those of the commands below it.
type Screens = &'static [&'static [Screen]];

/// The screen of the command of this whole name.
pub(crate) fn of(screens: Screens, command: &str) -> Option<&'static Screen> {
    screens.iter().copied().flatten().find(|screen| screen.command == command)
}

/// The command line as `-h` of a command describes it.
pub(crate) fn brief(cli: Command, screens: Screens) -> Command {
    each(cli, "", &|name, command| match of(screens, name) {
        Some(screen) => screen.brief(command),
        None => command,
    })
}

/// The command line as `--help` of a command describes it.
pub(crate) fn whole(cli: Command, screens: Screens) -> Command {
    each(cli, "", &|name, command| match of(screens, name) {
        Some(screen) => screen.whole(command),
        None => command,
    })
}

/// Gives each command its shape; `within`: the names of the commands that these belong to.
fn each(cli: Command, within: &str, shape: &dyn Fn(&str, Command) -> Command) -> Command {
    cli.mut_subcommands(|command| {
        let name = format!("{within}{}", command.get_name());
        each(shape(&name, command), &format!("{name} "), shape)
    })
}
