//! Each option of each command is on the page, and in the section, where users of the command look for it, and what the tables
//! there say of it is so.

use std::collections::BTreeSet;

use clap::Arg;

use crate::args::screens::Page;
use crate::commands::pages;

use super::{Command, commands, fs, root};

/// What many commands have is described here, once.
const SHARED: Page = ("options.md", "## Options of several commands");

/// The text of a place: up to the next heading of the same kind.
fn text((page, heading): Page) -> String {
    let text = fs::read_to_string(root().join("docs/guide").join(page)).unwrap();
    if heading.is_empty() {
        return text;
    }
    let start = format!("\n{heading}\n");
    let text = format!("\n{text}");
    let (_, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{page} has no {heading}"));
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The commands with their whole names.
fn named(cli: &Command, above: &str) -> Vec<(String, Command)> {
    let mut found = vec![];
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("{above}{}", command.get_name());
        found.extend(named(command, &format!("{name} ")));
        found.push((name, command.clone()));
    }
    found
}

#[test]
fn each_option_of_each_command_is_where_its_users_look() {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut missing = vec![];
    let cli = crate::commands::command();
    assert_eq!(
        named(&cli, "").len(),
        commands(&cli).iter().filter(|command| command.get_name() != "help").count()
    );
    for (name, command) in named(&cli, "") {
        let places = pages(&name).filter(|pages| !pages.is_empty());
        let places = places.unwrap_or_else(|| panic!("which page describes tabiya {name}?"));
        let text: String = places.iter().chain([&SHARED]).map(|place| text(*place)).collect();
        let words: Vec<&str> = text.split(|letter| !is_letter(letter)).collect();
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let Some(long) = argument.get_long().filter(|long| *long != "help") else { continue };
            let short = argument.get_short().map(|short| format!("-{short}"));
            let is_it =
                |word: &&str| word.strip_prefix("--") == Some(long) || Some(*word) == short.as_deref();
            missing.extend((!words.iter().any(is_it)).then(|| format!("tabiya {name} --{long}")));
        }
    }
    assert!(missing.is_empty(), "not on the page of the command: {missing:#?}");
}

/// The options in the first cells of a place's tables, such as `--nodes N`, each with its row.
fn rows(place: Page) -> Vec<(String, String)> {
    let text = text(place);
    let rows = text.lines().filter(|line| line.starts_with("| `-"));
    let options = rows.flat_map(|row| {
        let first = row.split(" | ").next().unwrap_or_default();
        let spans = first.split('`').skip(1).step_by(2).filter(|span| span.starts_with("--"));
        spans.map(|span| (span.to_owned(), row.to_owned())).collect::<Vec<_>>()
    });
    options.collect()
}

/// What is wrong in the row of an option.
fn wrong(shown: &str, row: &str, argument: &Arg) -> Option<String> {
    let value = shown.split_once([' ', '=']).map_or("", |(_, value)| value);
    let names = argument.get_value_names().unwrap_or_default();
    if !argument.get_action().takes_values() {
        return (!value.is_empty()).then(|| "takes no value".to_owned());
    }
    // A value in small letters is one of those that can be given.
    let is_name = value.chars().any(|letter| letter.is_ascii_uppercase());
    if is_name && !names.iter().any(|name| name == value) {
        return Some(format!("takes {names:?}"));
    }
    let row = row.replace(',', "");
    let says =
        |word: &str| row.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').any(|said| said == word);
    let mut defaults = argument.get_default_values().iter().filter_map(|default| default.to_str());
    let unsaid = defaults.find(|&default| {
        default != "0" && !says(default) && (default != "1" || !row.contains("one unless given"))
    });
    unsaid.map(|default| format!("has the default {default}"))
}

#[test]
fn each_row_of_an_option_has_its_value_and_its_default() {
    let cli = crate::commands::command();
    let named = named(&cli, "");
    let places: BTreeSet<&Page> = named.iter().filter_map(|(name, _)| pages(name)).flatten().collect();
    let mut checked = 0;
    // The adapter's are compared by the tests of the settings; the other page lists messages.
    for &place in places.into_iter().filter(|place| !["options.md", "troubleshooting.md"].contains(&place.0))
    {
        let are_here = |name: &String| pages(name).is_some_and(|pages| pages.contains(&place));
        let commands: Vec<_> =
            named.iter().filter(|(name, _)| are_here(name)).map(|(_, command)| command).collect();
        for (shown, row) in rows(place) {
            let long = shown[2..].split([' ', '=']).next();
            let arguments = commands.iter().flat_map(|command| command.get_arguments());
            let arguments: Vec<_> = arguments.filter(|argument| argument.get_long() == long).collect();
            assert!(!arguments.is_empty(), "{place:?} describes {shown}, which no command there has");
            for argument in arguments {
                checked += 1;
                assert_eq!(wrong(&shown, &row, argument), None, "{place:?}: {shown}");
            }
        }
    }
    assert!(checked > 40, "{checked}");
}
