//! `tabiya evals`: stores of evaluations.

mod export;
mod import;
mod info;

use std::path::PathBuf;

use clap::Subcommand;

use tabiya_base::error::Result;
use tabiya_learn::evals;

use crate::args::resources::ResourcesArgs;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, progress};

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
    /// Write the evaluations of a store as EPD
    Export(export::Args),
    /// Show what each store contains
    Info(info::Args),
    /// Sort a store, and drop damaged records
    Compact(CompactArgs),
}

/// `tabiya evals compact`.
#[derive(clap::Args, Debug)]
struct CompactArgs {
    /// The store
    #[arg(value_name = "STORE")]
    store: PathBuf,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    match &args.command {
        Command::Import(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::Info(args) => info::run(args),
        Command::Compact(args) => compact(args),
    }
}

fn compact(args: &CompactArgs) -> Result<Exit> {
    interrupts::watch();
    let progress = progress::on_terminal(args.store.to_string_lossy());
    let positions = evals::compact(&args.store, &args.resources.resolve()?, &progress)?;
    drop(progress);
    output::print_lines(&[format!("{}: {}", args.store.display(), many(positions, "position"))], Exit::Done)
}
