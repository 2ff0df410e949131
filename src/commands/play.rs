//! `tabiya` without a command: the adapter.

use std::fs::File;
use std::io::{self, IsTerminal as _};

use tabiya_adapter::io::{log, run, stderr};
use tabiya_base::error::Result;

use crate::args::adapter::Args;
use crate::output::advice::worded;
use crate::output::exit::Exit;
use crate::output::{UNDER_DOCTOR, warn};

/// Runs the adapter until the GUI or the engine ends it.
///
/// # Errors
/// When the configuration is not valid, a book cannot be opened, or the engine fails.
pub fn run(args: &Args) -> Result<Exit> {
    if io::stdin().is_terminal() {
        warn(
            "waiting for a chess program, which starts tabiya as its engine: `quit` ends it, `tabiya -h` lists commands, `tabiya init` sets it up",
        );
    }
    let config = args.load().inspect_err(|error| run::refuse(&worded(error)))?;
    // Under doctor, which reads them.
    let events = std::env::var_os(UNDER_DOCTOR).and_then(|path| File::options().append(true).open(path).ok());
    let ended = run::run(&config, worded, events);
    stderr::finish();
    log::finish();
    ended.map(|()| Exit::Done)
}

/// Reports an invalid command line to a GUI, which may not show standard error: the first line of the error.
pub(crate) fn refuse(error: &clap::Error) {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    run::notify_gui(first.strip_prefix("error: ").unwrap_or(first));
}
