//! `tabiya build --resume`: what it cannot do, and what it says of the work that it keeps.

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_games::Sources;
use tabiya_workshop::bookmaker::Work;

use super::Args;
use crate::output;
use crate::output::rows::many;

/// The error of a build whose counts alone do not make the output.
pub(super) fn refused(what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("--resume keeps only counts, which are not enough for {what}"))
        .advice("leave --resume out")
}

/// Checks that a build with these arguments can be continued.
///
/// # Errors
/// When it cannot.
pub(super) fn check(args: &Args, source: &Sources) -> Result<()> {
    if args.is_piped() {
        return Err(refused("standard output, which cannot be continued"));
    }
    if source.size().is_none() {
        return Err(refused("a pipe, which can be read only once"));
    }
    let games = &args.games;
    if !args.counts() && (games.variations || games.skip_mistakes || games.repertoire.is_some()) {
        return Err(refused("the marks and weights of --variations, --skip-mistakes and --repertoire"));
    }
    Ok(())
}

/// Removes the work folder after a build whose counts are of no more use, and says otherwise how to go on.
///
/// # Errors
/// That of the build.
pub(super) fn settled<T>(
    done: Result<T>,
    is_finished: impl FnOnce(&T) -> bool,
    work: Option<Work>,
    progress: &Progress,
) -> Result<T> {
    let Some(work) = work else { return done };
    let folder = work.folder().display();
    for name in work.changed() {
        let line = format!("{name}: counted again, because it has changed since it was counted");
        progress.aside(|| output::warn(&line));
    }
    if work.known() > 0 {
        let line = format!("{folder}: {} had been counted before", many(work.known() as u64, "source"));
        progress.aside(|| output::warn(&line));
    }
    match &done {
        Err(error) if work.has_counts() => {
            // An error of usage itself says what to do.
            if error.kind() != ErrorKind::Usage {
                let line =
                    format!("{folder}: holds the counts so far: run the same command again to continue");
                progress.aside(|| output::warn(&line));
            }
        }
        Ok(made) if work.has_counts() && !is_finished(made) => {
            let line =
                format!("{folder}: holds the counts: run the command again with lower limits of moves");
            progress.aside(|| output::warn(&line));
        }
        _ => work.remove(),
    }
    done
}
