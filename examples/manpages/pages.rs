//! The man pages and the shell completions of tabiya, and its configuration file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::io;
use std::path::Path;

use clap::{Arg, Command, ValueEnum};
use clap_complete::Shell;

use tabiya_adapter::settings::{FILE_NAME, template};

/// Writes `man/`, a page for tabiya and one for each command, `completions/`, a file for each shell, and `tabiya.toml`.
pub fn write(folder: &Path) -> io::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    fs::write(folder.join(FILE_NAME), template())?;
    let mut cli = crate::commands::command();
    cli.build();
    write_pages(&cli, &man)?;
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut crate::commands::whole_command(), "tabiya", &completions)?;
    }
    Ok(())
}

/// The page of a command, and those of its commands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        // clap's own below a command of commands; that of tabiya has options.
        if inner.get_name() == "help"
            && !inner.get_arguments().any(|argument| argument.get_long() == Some("guide"))
        {
            continue;
        }
        write_pages(inner, folder)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let mut page = vec![];
    man.render(&mut page)?;
    let page = String::from_utf8(page).map_err(io::Error::other)?;
    // The synopsis of clap_mangen has the names of options only.
    let head = ".SH SYNOPSIS\n";
    let (before, rest) = page.split_once(head).unwrap();
    let (_, after) = rest.split_once("\n.SH ").unwrap();
    fs::write(folder.join(man.get_filename()), format!("{before}{head}{}\n.SH {after}", synopsis(command)))
}

/// The command with each option and its values, in roff.
fn synopsis(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut words = vec![format!("\\fB{}\\fR", escaped(name))];
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let (last, options): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|argument| argument.is_positional());
    words.extend(options.into_iter().chain(last).map(argument));
    if command.has_subcommands() {
        words.push(if command.is_subcommand_required_set() { "<COMMAND>" } else { "[COMMAND]" }.to_owned());
    }
    words.join(" ")
}

/// An argument with its values, in brackets unless it has to be there.
fn argument(argument: &Arg) -> String {
    // An argument without a name already says by brackets whether it has to be there.
    let whole = argument.to_string();
    let Some(long) = argument.get_long() else { return escaped(&whole) };
    let values = whole.trim_start_matches("--").trim_start_matches(long);
    let short = argument.get_short().map_or(String::new(), |short| format!("-{short}|"));
    let text = escaped(&format!("{short}--{long}{values}"));
    if argument.is_required_set() { text } else { format!("[{text}]") }
}

/// Text in roff: hyphens of options stay what they are, and an argument stays on its line.
fn escaped(text: &str) -> String {
    text.replace('-', "\\-").replace(' ', "\\ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let page = |name: &str| fs::read_to_string(folder.path().join("man").join(name)).unwrap();
        let (mut cli, top) = (crate::commands::command(), page("tabiya.1"));
        cli.build();
        let check = |name: &str, command: &clap::Command| {
            // In roff a hyphen of an option is escaped.
            let text = page(&format!("tabiya-{name}.1")).replace('\\', "");
            let (synopsis, options) = text.split_once(".SH DESCRIPTION").unwrap();
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let Some(long) = argument.get_long() else { continue };
                assert!(options.contains(&format!("--{long}")), "{name}: --{long}");
                // With its values: "--fen <FEN>".
                assert!(synopsis.contains(&argument.to_string()), "{name}: {argument} is not in\n{synopsis}");
            }
        };
        let mut pages = 1;
        for command in cli.get_subcommands() {
            let name = command.get_name();
            assert!(top.contains(&format!("tabiya\\-{name}(1)")), "{name} is not in tabiya.1");
            check(name, command);
            pages += 1;
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                check(&format!("{name}-{}", inner.get_name()), inner);
                pages += 1;
            }
        }
        assert_eq!(fs::read_dir(folder.path().join("man")).unwrap().count(), pages);
    }

    #[test]
    fn each_shell_completes_each_command() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let files: Vec<_> = fs::read_dir(folder.path().join("completions")).unwrap().collect();
        assert_eq!(files.len(), Shell::value_variants().len());
        for file in files {
            let text = fs::read_to_string(file.as_ref().unwrap().path()).unwrap();
            for command in crate::commands::command().get_subcommands() {
                assert!(text.contains(command.get_name()), "{file:?}: {}", command.get_name());
            }
        }
    }
}
