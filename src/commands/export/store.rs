//! A store of evaluations as EPD.

use std::io::Write;
use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::replace::keep_inputs;
use tabiya_games::compress::Compression;
use tabiya_search::evals::Store;
use tabiya_workshop::evals::export::epd;

use super::to_file;
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{Printed, print, print_lines, progress, warn};

/// Writes each position with its evaluation, in the order of the store, to a file or to standard output.
///
/// # Errors
/// When the store cannot be read, the output cannot be written, or the work is interrupted: then no file is written.
pub(super) fn write(path: &Path, to: Option<(&Path, Compression)>, force: bool) -> Result<Exit> {
    let store = Store::open(path)?;
    let Some(to) = to else {
        // Ctrl-C ends this at once.
        return print(|out| Ok(ended(&store, each(&store, out, &Progress::none())?.1)));
    };
    keep_inputs(&[to.0.to_owned()], &[path.to_owned()])?;
    let progress = progress::on_terminal(path.to_string_lossy());
    progress.things(store.sorted() + store.appended(), "positions");
    let (positions, lost) = to_file(to, force, |out| each(&store, out, &progress))?;
    drop(progress);
    let exit = ended(&store, lost);
    print_lines(&[format!("{}: {}", to.0.display(), many(positions, "position"))], exit)
}

/// Positions that are left out.
#[derive(Default)]
struct LeftOut {
    damaged: u64,
    of_variants: u64,
}

/// Writes all positions of standard chess; returns how many were written, and which were not.
fn each(store: &Store, out: &mut dyn Write, progress: &Progress) -> Printed<(u64, LeftOut)> {
    let (mut positions, mut lost) = (0_u64, LeftOut::default());
    for (packed, evaluation) in store.iter() {
        progress.step(positions)?;
        match packed.unpack() {
            Some(at) => {
                epd(&at, &evaluation, out)?;
                positions += 1;
            }
            None if packed.is_of_variant() => lost.of_variants += 1,
            None => lost.damaged += 1,
        }
    }
    Ok((positions, lost))
}

fn ended(store: &Store, lost: LeftOut) -> Exit {
    let left_out = |count: u64, what: &str| {
        if count > 0 {
            warn(&format!("{}: left out: {} {what}", store.path().display(), many(count, "position")));
        }
    };
    left_out(lost.of_variants, "of variants of chess");
    left_out(lost.damaged, "with a damaged position");
    if lost.damaged > 0 { Exit::Findings } else { Exit::Done }
}
