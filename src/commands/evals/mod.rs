//! `tabiya evals`: stores of evaluations.

mod import;
mod info;

use clap::Subcommand;

use tabiya_base::error::Result;

use crate::output::exit::Exit;

/// `tabiya evals`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add evaluations to a store: from Lichess's dump, EPD, or games with [%eval] in their comments
    Import(import::Args),
    /// Show what each store contains
    Info(info::Args),
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    match &args.command {
        Command::Import(args) => import::run(args),
        Command::Info(args) => info::run(args),
    }
}
