//! The executable: arguments, output, exit codes, and the words of every message. Only it knows about terminals.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

mod args;
mod cli;
mod commands;
#[cfg(test)]
mod documentation;
#[cfg(test)]
#[path = "../examples/manpages/pages.rs"]
mod manpages;
mod output;

fn main() -> std::process::ExitCode {
    cli::main()
}
