//! `learn spool`: lists the games in spools, and learns them.

use std::path::Path;

use tabiya_adapter::learning::spool_paths;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_learn::{Drain, Learners, PATIENCE, PlayedBook, Spool, Spooled};

use super::describe;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, Printed, complain};

/// Lists and learns the games in the spool beside this log, and in the spool that is used without a log.
///
/// # Errors
/// When a spool cannot be read, or the work is interrupted. A book that cannot be written is reported, and its games stay in
/// the spool.
pub fn learn(log: Option<&Path>) -> Result<Exit> {
    let paths = spool_paths(&log.map(Path::to_string_lossy).unwrap_or_default());
    interrupts::watch();
    output::print(|out| {
        let mut exit = Exit::Done;
        let mut learners = Learners::new(PATIENCE);
        for path in paths {
            let mut drain = Drain::new(Spool::new(path), PATIENCE);
            let (mut kept, mut learned) = (0_u64, 0_u64);
            let mut see = |book: &PlayedBook, games: &[Spooled], outcomes| -> Printed<()> {
                kept += games.len() as u64;
                let outcomes = match outcomes {
                    Some(Ok(outcomes)) => outcomes,
                    Some(Err(error)) => {
                        out.flush()?;
                        complain(&error);
                        exit = exit.max(error.kind().into());
                        Vec::new()
                    }
                    None => Vec::new(),
                };
                learned += outcomes.len() as u64;
                for (number, spooled) in games.iter().enumerate() {
                    let game = &spooled.finished.game;
                    let plies = many(game.moves.len() as u64, "ply");
                    let what = outcomes.get(number).map_or("still kept".to_owned(), |known| describe(*known));
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
            writeln!(out, "{}: {games} {were} kept, {learned} learned now", drain.path().display())?;
        }
        Ok(exit)
    })
}
