//! `learn --spool`: lists the games that wait in spools, and learns them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::adapter::learning::spool_paths;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::book::Fingerprint;
use crate::bookmaker::report::many;
use crate::cli::output::exit::Exit;
use crate::cli::output::{self, Stop, complain};
use crate::learn::{FinishedGame, IdentifiedGame, Learner, Outcome, PATIENCE, Spool, Spooled};

/// A book as it was when a game was played from it.
type PlayedBook = (PathBuf, Option<Fingerprint>);

/// Lists the games in the spool beside this log, and in the one that is used where there is no log, and learns them.
///
/// # Errors
/// When a spool cannot be read, or the work is interrupted. A book that cannot be learned into is reported, and keeps its
/// games waiting.
pub fn learn(log: Option<&Path>) -> Result<Exit> {
    let paths = spool_paths(&log.map(Path::to_string_lossy).unwrap_or_default());
    interrupt::watch();
    output::print(|out| {
        let mut exit = Exit::Done;
        for path in paths {
            let mut learner =
                SpoolLearner { exit: Exit::Done, learners: HashMap::new(), failed: HashSet::new() };
            learner.empty(&Spool::new(path), out)?;
            exit = exit.graver(learner.exit);
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
    /// Learns all games of a spool that can be learned.
    fn empty(&mut self, spool: &Spool, out: &mut dyn Write) -> std::result::Result<(), Stop> {
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
                    let what = "interrupted: the games listed as learned are learned, the others still wait";
                    return Err(Error::new(ErrorKind::Interrupted, what).into());
                }
                kept += games.len() as u64;
                learned += self.learn(spool, &known, &games, out)?;
            }
            out.flush()?;
            at = batch.next;
        }
        spool.tidy(PATIENCE)?;
        let games = many(kept, "game was kept", "games were kept");
        writeln!(out, "{}: {games}, {learned} learned now", spool.path().display())?;
        Ok(())
    }

    /// Learns games into their book and crosses them out; returns how many.
    fn learn(
        &mut self,
        spool: &Spool,
        known: &PlayedBook,
        games: &[Spooled],
        out: &mut dyn Write,
    ) -> std::result::Result<u64, Stop> {
        let tried = if self.failed.contains(known) { None } else { Some(self.try_learn(known, games)) };
        let outcomes = match tried {
            Some(Ok(outcomes)) => {
                spool.cross_out(games.iter().map(|game| &game.place), PATIENCE)?;
                outcomes.into_iter().map(Some).collect()
            }
            Some(Err(error)) => {
                out.flush()?;
                complain(&error);
                self.exit = self.exit.graver(Exit::of(error.kind()));
                self.failed.insert(known.clone());
                vec![None; games.len()]
            }
            None => vec![None; games.len()],
        };
        for (spooled, outcome) in games.iter().zip(&outcomes) {
            list(known, &spooled.finished.game, *outcome, out)?;
        }
        Ok(outcomes.iter().flatten().count() as u64)
    }

    fn try_learn(&mut self, (book, fingerprint): &PlayedBook, games: &[Spooled]) -> Result<Vec<Outcome>> {
        let learner = match self.learners.get_mut(book) {
            Some(learner) => learner,
            None => {
                let learner = Learner::new(book)?;
                self.learners.entry(book.clone()).or_insert(learner)
            }
        };
        learner.expect(*fingerprint);
        let finished: Vec<IdentifiedGame> = games.iter().map(|game| game.finished.clone()).collect();
        learner.learn(&finished, false)
    }
}

fn list(
    (book, _): &PlayedBook,
    game: &FinishedGame,
    outcome: Option<Outcome>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let what = match outcome {
        Some(Outcome::Learned(entries)) => format!("learned, {}", many(entries as u64, "entry", "entries")),
        Some(Outcome::Known) => "learned before".to_owned(),
        Some(Outcome::Absent) => "no move of it is an entry".to_owned(),
        None => "still kept".to_owned(),
    };
    let plies = many(game.moves.len() as u64, "ply", "plies");
    writeln!(out, "  {}; {plies}; {}: {what}", game.note, book.display())
}
