//! Writes the man pages and the shell completions of tabiya, and its configuration file.
//! usage: cargo run --example manpages -- FOLDER

#[allow(dead_code, unused_imports, reason = "only the description of the command line is used")]
#[path = "../../src/args/mod.rs"]
mod args;
#[allow(dead_code, reason = "only the description of the command line is used")]
#[path = "../../src/cli.rs"]
mod cli;
#[allow(dead_code, unused_imports, reason = "only the description of the command line is used")]
#[path = "../../src/commands/mod.rs"]
mod commands;
#[allow(dead_code, unused_imports, reason = "only the description of the command line is used")]
#[path = "../../src/output/mod.rs"]
mod output;
mod pages;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: manpages FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    match pages::write(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manpages: {}: {error}", folder.display());
            ExitCode::from(3)
        }
    }
}
