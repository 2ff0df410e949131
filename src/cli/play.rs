//! `tabiya` without a command: the adapter.

use super::adapter_args::Args;
use super::exit::Exit;
use crate::adapter::run;
use crate::base::error::{ErrorKind, Result};

/// Runs the adapter until the GUI or the engine ends it.
///
/// # Errors
/// When the configuration cannot be meant, or the engine fails.
pub fn run(args: &Args) -> Result<Exit> {
    let config = args.load().inspect_err(|error| {
        if error.kind() != ErrorKind::Usage {
            run::refuse(error);
        }
    })?;
    run::run(&config)?;
    Ok(Exit::Done)
}
