//! Writes the man pages and the shell completions of tabiya.
//! usage: cargo run --example manpages -- FOLDER
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use clap_complete::Shell;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: manpages FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    match write(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manpages: {}: {error}", folder.display());
            ExitCode::from(3)
        }
    }
}

/// Writes `man/`, a page for tabiya and one for each command, and `completions/`, a file for each shell.
fn write(folder: &Path) -> io::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(tabiya::cli::command(), &man)?;
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut tabiya::cli::command(), "tabiya", &completions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let page = |name: &str| fs::read_to_string(folder.path().join("man").join(name)).unwrap();
        let (cli, top) = (tabiya::cli::command(), page("tabiya.1"));
        let check = |name: &str, command: &clap::Command| {
            // In roff a hyphen of an option is escaped.
            let text = page(&format!("tabiya-{name}.1")).replace('\\', "");
            for long in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(text.contains(&format!("--{long}")), "{name}: --{long}");
            }
        };
        let mut pages = 1;
        for command in cli.get_subcommands() {
            let name = command.get_name();
            assert!(top.contains(&format!("tabiya\\-{name}(1)")), "{name} is not in tabiya.1");
            check(name, command);
            pages += 1;
            for inner in command.get_subcommands() {
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
            for command in tabiya::cli::command().get_subcommands() {
                assert!(text.contains(command.get_name()), "{file:?}: {}", command.get_name());
            }
        }
    }
}
