//! `learn spool`: lists the games in spools, and learns them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::describe;
use crate::adapter::learning::spool_paths;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::book::Fingerprint;
use crate::cli::output::exit::Exit;
use crate::cli::output::rows::many;
use crate::cli::output::{self, Printed, complain};
use crate::learn::{IdentifiedGame, Learner, Outcome, PATIENCE, Spool, Spooled};

/// A book as it was when a game was played from it.
type PlayedBook = (PathBuf, Option<Fingerprint>);

/// Lists and learns the games in the spool beside this log, and in the spool that is used without a log.
///
/// # Errors
/// When a spool cannot be read, or the work is interrupted. A book that cannot be written is reported, and its games stay in
/// the spool.
pub fn learn(log: Option<&Path>) -> Result<Exit> {
    let paths = spool_paths(&log.map(Path::to_string_lossy).unwrap_or_default());
    interrupt::watch();
    output::print(|out| {
        let mut exit = Exit::Done;
        for path in paths {
            let mut learner = SpoolLearner { exit, learners: HashMap::new(), failed: HashSet::new() };
            learner.empty(&Spool::new(path), out)?;
            exit = learner.exit;
        }
        Ok(exit)
    })
}

struct SpoolLearner {
    exit: Exit,
    learners: HashMap<PathBuf, Learner>,
    /// Books that are not tried again.
    failed: HashSet<PlayedBook>,
}

impl SpoolLearner {
    /// Learns as many games of a spool as possible.
    fn empty(&mut self, spool: &Spool, out: &mut dyn Write) -> Printed<()> {
        let (mut kept, mut learned) = (0_u64, 0_u64);
        let mut at = Some(0);
        while let Some(from) = at {
            let batch = spool.batch(from, PATIENCE)?;
            let mut books: BTreeMap<PlayedBook, Vec<Spooled>> = BTreeMap::new();
            for game in batch.games {
                books.entry((game.book.clone(), game.fingerprint)).or_default().push(game);
            }
            for (known, games) in books {
                if interrupt::asked() {
                    let what =
                        "interrupted: the games listed as learned are learned, the others are still kept";
                    return Err(Error::new(ErrorKind::Interrupted, what).into());
                }
                kept += games.len() as u64;
                learned += self.learn(spool, &known, &games, out)?;
            }
            out.flush()?;
            at = batch.next;
        }
        spool.tidy(PATIENCE)?;
        let (games, were) = (many(kept, "game"), if kept == 1 { "was" } else { "were" });
        writeln!(out, "{}: {games} {were} kept, {learned} learned now", spool.path().display())?;
        Ok(())
    }

    /// Learns games into their book and crosses them out; returns how many.
    fn learn(
        &mut self,
        spool: &Spool,
        known: &PlayedBook,
        games: &[Spooled],
        out: &mut dyn Write,
    ) -> Printed<u64> {
        let mut outcomes = vec![None; games.len()];
        if !self.failed.contains(known) {
            match self.try_learn(known, games) {
                Ok(learned) => {
                    spool.cross_out(games.iter().map(|game| &game.place), PATIENCE)?;
                    outcomes = learned.into_iter().map(Some).collect();
                }
                Err(error) => {
                    out.flush()?;
                    complain(&error);
                    self.exit = self.exit.max(error.kind().into());
                    self.failed.insert(known.clone());
                }
            }
        }
        for (spooled, outcome) in games.iter().zip(&outcomes) {
            let game = &spooled.finished.game;
            let plies = many(game.moves.len() as u64, "ply");
            let what = outcome.map_or_else(|| "still kept".to_owned(), describe);
            writeln!(out, "  {}; {plies}; {}: {what}", game.note, known.0.display())?;
        }
        Ok(outcomes.iter().flatten().count() as u64)
    }

    fn try_learn(&mut self, (book, fingerprint): &PlayedBook, games: &[Spooled]) -> Result<Vec<Outcome>> {
        let learner = match self.learners.entry(book.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Learner::new(book)?),
        };
        learner.expect(*fingerprint);
        let finished: Vec<IdentifiedGame> = games.iter().map(|game| game.finished.clone()).collect();
        learner.learn(&finished, false)
    }
}
