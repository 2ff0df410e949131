//! `learn spool`: lists the games in spools, and learns them.

use std::path::Path;

use tabiya_adapter::learning::spool_paths;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_learn::{Drain, Drained, Learners, PATIENCE, PlayedBook, Spool, Spooled, is_same_file};

use super::describe;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, Printed, complain};

/// Lists and learns the games in the spool beside this log, and in the spool that is used without a log; those that wait for
/// the book `drop` are dropped if it is no longer there.
///
/// # Errors
/// When a spool cannot be read, or the work is interrupted. A book that cannot be written is reported, and its games stay in
/// the spool.
pub fn learn(log: Option<&Path>, drop: Option<&Path>) -> Result<Exit> {
    let drop = drop
        .map(std::path::absolute)
        .transpose()
        .map_err(|error| Error::file(drop.unwrap_or(Path::new("")), "cannot find the book", error))?;
    let paths = spool_paths(&log.map(Path::to_string_lossy).unwrap_or_default());
    interrupts::watch();
    output::print_work(|out| {
        let mut exit = Exit::Done;
        let mut learners = Learners::new(PATIENCE);
        let mut asked = drop.is_none();
        for path in paths {
            let mut drain = Drain::new(Spool::new(path), PATIENCE).dropping(drop.clone());
            let (mut kept, mut learned, mut dropped) = (0_u64, 0_u64, 0_u64);
            let mut see = |book: &PlayedBook, games: &[Spooled], done| -> Printed<()> {
                kept += games.len() as u64;
                let is_named = drop.as_ref().is_some_and(|named| is_same_file(named, &book.file));
                asked |= is_named;
                let (outcomes, else_what) = match done {
                    Drained::Learned(outcomes) => (outcomes, ""),
                    Drained::Dropped(_) => {
                        dropped += games.len() as u64;
                        (Vec::new(), "dropped")
                    }
                    Drained::Kept(why) => {
                        if let Some(error) = why {
                            out.flush()?;
                            complain(&error);
                            exit = exit.max(error.kind().into());
                        }
                        (
                            Vec::new(),
                            if is_named {
                                "still kept, because it can be learned later"
                            } else {
                                "still kept"
                            },
                        )
                    }
                };
                learned += outcomes.len() as u64;
                for (number, spooled) in games.iter().enumerate() {
                    let game = &spooled.finished.game;
                    let plies = many(game.moves.len() as u64, "ply");
                    let what = outcomes.get(number).map_or(else_what.to_owned(), |known| describe(*known));
                    writeln!(out, "  {}; {plies}; {}: {what}", game.note, book.file.display())?;
                }
                if interrupt::asked() {
                    let what =
                        "interrupted: the games listed as learned are learned, the others are still kept";
                    return Err(Error::new(ErrorKind::Interrupted, what).into());
                }
                Ok(out.flush()?)
            };
            while drain.batch(&mut learners, |_| true, &mut see)? {}
            drain.end()?;
            let (games, were) = (many(kept, "game"), if kept == 1 { "was" } else { "were" });
            let dropped = if dropped > 0 { format!(", {dropped} dropped") } else { String::new() };
            writeln!(out, "{}: {games} {were} kept, {learned} learned now{dropped}", drain.path().display())?;
        }
        if let Some(book) = drop.filter(|_| !asked) {
            writeln!(out, "{}: no game waits for this book", book.display())?;
        }
        Ok(exit)
    })
}
