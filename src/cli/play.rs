//! `tabiya` without a command: the adapter.

use super::adapter_args::Args;
use super::exit::Exit;
use crate::adapter::run;
use crate::base::error::Result;

/// Runs the adapter until the GUI or the engine ends it.
///
/// # Errors
/// When the configuration cannot be meant, or the engine fails.
pub fn run(args: &Args) -> Result<Exit> {
    run::run(&args.load()?)?;
    Ok(Exit::Done)
}
