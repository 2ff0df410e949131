//! The games that are kept in spools: listed, and learned now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::adapter::spool_paths;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::book::Fingerprint;
use crate::build::report::many;
use crate::cli::exit::Exit;
use crate::cli::out::{self, Stop, complain};
use crate::learn::{Fate, Learner, Lesson, PATIENCE, Spool, Spooled};

/// A book, as the game knew it that was played from it.
type Known = (PathBuf, Option<Fingerprint>);

/// Lists the games in the spool beside this log, and in the one that is used where there is no log, and learns them.
///
/// # Errors
/// When a spool cannot be read, or the work is interrupted. A book that cannot be learned into is reported, and keeps its
/// games waiting.
pub fn learn(log: Option<&Path>) -> Result<Exit> {
    let paths = spool_paths(&log.map(Path::to_string_lossy).unwrap_or_default());
    interrupt::watch();
    out::print(|out| {
        let mut exit = Exit::Done;
        for path in paths {
            let mut desk = Desk { exit: Exit::Done, learners: HashMap::new(), failed: HashSet::new() };
            desk.empty(&Spool::new(path), out)?;
            exit = exit.graver(desk.exit);
        }
        Ok(exit)
    })
}

struct Desk {
    exit: Exit,
    learners: HashMap<PathBuf, Learner>,
    /// Books that are not tried again.
    failed: HashSet<Known>,
}

impl Desk {
    /// Learns all games of a spool that can be learned.
    fn empty(&mut self, spool: &Spool, out: &mut dyn Write) -> std::result::Result<(), Stop> {
        let (mut kept, mut learned) = (0_u64, 0_u64);
        let mut at = Some(0);
        while let Some(from) = at {
            let batch = spool.batch(from, PATIENCE)?;
            let mut books: BTreeMap<Known, Vec<Spooled>> = BTreeMap::new();
            for game in batch.games {
                books.entry((game.book.clone(), game.fingerprint)).or_default().push(game);
            }
            for (known, games) in books {
                if interrupt::asked() {
                    let what = "interrupted: the games listed as learned are learned, the others are kept";
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
        known: &Known,
        games: &[Spooled],
        out: &mut dyn Write,
    ) -> std::result::Result<u64, Stop> {
        let tried = if self.failed.contains(known) { None } else { Some(self.study(known, games)) };
        let fates = match tried {
            Some(Ok(fates)) => {
                spool.cross_out(games.iter().map(|game| &game.place), PATIENCE)?;
                fates.into_iter().map(Some).collect()
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
        for (game, fate) in games.iter().zip(&fates) {
            list(known, &game.lesson, *fate, out)?;
        }
        Ok(fates.iter().flatten().count() as u64)
    }

    fn study(&mut self, (book, fingerprint): &Known, games: &[Spooled]) -> Result<Vec<Fate>> {
        let learner = match self.learners.get_mut(book) {
            Some(learner) => learner,
            None => {
                let learner = Learner::new(book)?;
                self.learners.entry(book.clone()).or_insert(learner)
            }
        };
        learner.expect(*fingerprint);
        let lessons: Vec<Lesson> = games.iter().map(|game| game.lesson.clone()).collect();
        learner.learn(&lessons, false)
    }
}

fn list((book, _): &Known, lesson: &Lesson, fate: Option<Fate>, out: &mut dyn Write) -> io::Result<()> {
    let what = match fate {
        Some(Fate::Learned(entries)) => format!("learned, {}", many(entries as u64, "entry", "entries")),
        Some(Fate::Known) => "learned before".to_owned(),
        Some(Fate::Absent) => "no move of it is an entry".to_owned(),
        None => "still kept".to_owned(),
    };
    let plies = many(lesson.moves.len() as u64, "ply", "plies");
    writeln!(out, "  {}; {plies}; {}: {what}", lesson.note, book.display())
}
