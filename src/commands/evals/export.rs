//! `tabiya evals export`: a store as EPD.

use std::io::Write;
use std::path::PathBuf;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_learn::evals::Store;
use tabiya_workshop::evals::export::epd;

use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{Printed, print, print_lines, progress, warn};

/// `tabiya evals export`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The store
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// The EPD file to write; without this, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes each position with its evaluation, in the order of the store.
///
/// # Errors
/// When the store cannot be read, the file cannot be written, or the work is interrupted: then no file is written.
pub(super) fn run(args: &Args) -> Result<Exit> {
    let store = Store::open(&args.store)?;
    let progress = progress::on_terminal(args.store.to_string_lossy());
    progress.things(store.sorted() + store.appended(), "positions");
    let Some(path) = &args.output else {
        // Ctrl-C ends this at once.
        drop(progress);
        return print(|out| Ok(ended(&store, write(&store, out, &Progress::none())?.1)));
    };
    keep_inputs(std::slice::from_ref(path), std::slice::from_ref(&args.store))?;
    interrupts::watch();
    let mut file = Replacement::new(path, args.force)?;
    let (positions, lost) = match write(&store, &mut file, &progress) {
        Ok(written) => written,
        Err(crate::output::Stop::Error(error)) => return Err(error),
        Err(crate::output::Stop::Output(error)) => return Err(file.error(error)),
    };
    file.commit()?;
    drop(progress);
    let exit = ended(&store, lost);
    print_lines(&[format!("{}: {}", path.display(), many(positions, "position"))], exit)
}

/// Writes all positions; returns how many were written, and how many are not positions of chess.
fn write(store: &Store, out: &mut dyn Write, progress: &Progress) -> Printed<(u64, u64)> {
    let (mut positions, mut lost) = (0_u64, 0);
    for (packed, evaluation) in store.iter() {
        progress.step(positions)?;
        match packed.unpack() {
            Some(at) => {
                epd(&at, &evaluation, out)?;
                positions += 1;
            }
            None => lost += 1,
        }
    }
    Ok((positions, lost))
}

fn ended(store: &Store, lost: u64) -> Exit {
    if lost == 0 {
        return Exit::Done;
    }
    let lost = many(lost, "position");
    warn(&format!("{}: left out: {lost} with a damaged position", store.path().display()));
    Exit::Findings
}
