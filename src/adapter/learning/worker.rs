//! The learning worker: it learns new games at once, and games that were kept earlier in small batches.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use log::Level;

use super::{Messages, OpenGames, PATIENCE};
use crate::adapter::session::Source;
use crate::base::error::Result;
use crate::book::Fingerprint;
use crate::learn::{self, IdentifiedGame, Learner, Outcome, Place, Spool, Spooled};

/// Games that are learned together at most.
const MOST_AT_ONCE: usize = 255;

/// What the worker does.
pub(in crate::adapter) enum Work {
    /// Learn a game.
    Learn(Box<Game>),
    /// Complete what a process that died has begun in this book.
    Settle(PathBuf),
    /// Learn the games that were kept earlier in these spools.
    Resume(Vec<PathBuf>),
}

/// A game that is to be learned.
pub(in crate::adapter) struct Game {
    /// The books that it is learned into.
    pub(super) sources: Arc<[Source]>,
    pub(super) finished: IdentifiedGame,
    /// The spool that it is in, with its place there for each book; or why it is in none.
    pub(super) kept: std::result::Result<(Spool, Vec<Place>), String>,
}

impl Game {
    /// Adds the place of the game in its spool, for the book of this index, to those that are crossed out.
    fn cross_out<'a>(&'a self, index: usize, done: &mut HashMap<&'a Path, Vec<Place>>) {
        if let Ok((spool, places)) = &self.kept {
            done.entry(spool.path()).or_default().extend(places.get(index).cloned());
        }
    }
}

/// A book as it was when a game was played from it.
type PlayedBook = (PathBuf, Option<Fingerprint>);

/// A spool that is being learned, batch by batch.
struct Drain {
    spool: Spool,
    /// Where the next batch starts.
    at: u64,
    learned: BTreeMap<PathBuf, usize>,
    /// Books that are not tried again, with the reason.
    failed: HashMap<PlayedBook, String>,
}

/// The state of the worker.
pub(super) struct Worker {
    learners: HashMap<PathBuf, Learner>,
    drains: VecDeque<Drain>,
    /// Books for which games wait in a spool.
    waiting: HashSet<(PlayedBook, PathBuf)>,
    games: OpenGames,
}

impl Worker {
    pub(super) fn new(games: OpenGames) -> Self {
        Self { learners: HashMap::new(), drains: VecDeque::new(), waiting: HashSet::new(), games }
    }

    fn work(&mut self, works: Vec<Work>) -> Messages {
        let mut messages = Vec::new();
        let mut games = Vec::new();
        for work in works {
            match work {
                Work::Learn(game) => games.push(*game),
                Work::Settle(book) => learn::settle(&book),
                Work::Resume(spools) => spools.into_iter().for_each(|path| self.resume(path)),
            }
        }
        self.learn_new(&games, &mut messages);
        messages
    }

    /// Learns the games of a spool, unless that is already planned.
    fn resume(&mut self, path: PathBuf) {
        if !self.drains.iter().any(|drain| drain.spool.path() == path && drain.at == 0) {
            let (spool, learned, failed) = (Spool::new(path), BTreeMap::new(), HashMap::new());
            self.drains.push_back(Drain { spool, at: 0, learned, failed });
        }
    }

    /// Learns games that have just ended, all games of a book together.
    fn learn_new(&mut self, games: &[Game], messages: &mut Messages) {
        // The games of each book, with its index among the books of the game.
        let mut books: BTreeMap<PlayedBook, Vec<(&Game, usize)>> = BTreeMap::new();
        let mut done: HashMap<&Path, Vec<Place>> = HashMap::new();
        for game in games {
            for (index, source) in game.sources.iter().enumerate() {
                // Two hard links to one file are one book.
                let mut before = game.sources.iter().take(index);
                if before.any(|other| learn::is_same_file(other.file(), source.file())) {
                    game.cross_out(index, &mut done);
                } else {
                    let known = (source.file().to_owned(), source.fingerprint());
                    books.entry(known).or_default().push((game, index));
                }
            }
        }
        for (known, wanted) in books {
            let finished: Vec<_> = wanted.iter().map(|(game, _)| game.finished.clone()).collect();
            let name = known.0.display();
            match self.learn(&known, &finished) {
                Ok(outcomes) => {
                    for ((game, index), outcome) in wanted.into_iter().zip(outcomes) {
                        game.cross_out(index, &mut done);
                        let note = &game.finished.game.note;
                        let what = match outcome {
                            Outcome::Learned(1) => format!("{note}: learned: 1 entry of {name}"),
                            Outcome::Learned(count) => format!("{note}: learned: {count} entries of {name}"),
                            Outcome::Known => format!("{note}: learned: by another tabiya, into {name}"),
                            Outcome::Absent => format!("{note}: no move of it is an entry of {name}"),
                        };
                        messages.push((Level::Info, what));
                        if let Err(error) = &game.kept {
                            messages.push((
                                Level::Warn,
                                format!("{note}: learned, but not kept in a spool before: {error}"),
                            ));
                        }
                    }
                    self.catch_up(&known);
                }
                Err(error) => {
                    for (game, _) in wanted {
                        let note = &game.finished.game.note;
                        messages.push(match &game.kept {
                            Ok((spool, _)) => {
                                let path = spool.path();
                                self.waiting.insert((known.clone(), path.to_owned()));
                                let path = path.display();
                                (Level::Warn, format!("{note}: not learned yet, kept in {path}: {error}"))
                            }
                            Err(other) => (
                                Level::Error,
                                format!("{note}: not learned: {error}; not kept either: {other}"),
                            ),
                        });
                    }
                }
            }
        }
        for (spool, places) in done {
            // A game that is not crossed out is in the book's journal, and is not learned again.
            let _ = Spool::new(spool).cross_out(&places, PATIENCE);
        }
        games.iter().for_each(|game| self.games.close(game.finished.id));
    }

    /// Learns the games that have waited for a book, because it can learn again.
    fn catch_up(&mut self, book: &PlayedBook) {
        let spools: Vec<PathBuf> =
            self.waiting.extract_if(|(other, _)| other == book).map(|(_, spool)| spool).collect();
        spools.into_iter().for_each(|spool| self.resume(spool));
    }

    fn learn(&mut self, (book, fingerprint): &PlayedBook, games: &[IdentifiedGame]) -> Result<Vec<Outcome>> {
        // A link may have replaced the file.
        let moved = |learner: &Learner| fs::canonicalize(book).is_ok_and(|now| now != learner.path());
        if self.learners.get(book).is_some_and(moved) {
            self.learners.remove(book);
        }
        let learner = match self.learners.get_mut(book) {
            Some(learner) => learner,
            None => {
                let learner = Learner::new(book)?.patience(PATIENCE);
                self.learners.entry(book.clone()).or_insert(learner)
            }
        };
        learner.expect(*fingerprint);
        learner.learn(games, false)
    }

    /// Learns a batch of the games that were kept earlier. A book that still cannot learn is tried once.
    fn drain(&mut self) -> Messages {
        let mut messages = Vec::new();
        let Some(mut drain) = self.drains.pop_front() else { return messages };
        match drain.spool.batch(drain.at, PATIENCE) {
            Ok(batch) => {
                self.learn_batch(&mut drain, batch.games);
                if let Some(next) = batch.next {
                    drain.at = next;
                    self.drains.push_front(drain);
                    return messages;
                }
            }
            Err(error) => messages.push((Level::Warn, error.to_string())),
        }
        if let Err(error) = drain.spool.tidy(PATIENCE) {
            messages.push((Level::Warn, error.to_string()));
        }
        drain.report(&mut messages);
        messages
    }

    fn learn_batch(&mut self, drain: &mut Drain, games: Vec<Spooled>) {
        let mut books: BTreeMap<PlayedBook, (Vec<IdentifiedGame>, Vec<Place>)> = BTreeMap::new();
        for Spooled { book, fingerprint, finished, place } in games {
            if self.games.has(finished.id) {
                continue;
            }
            let (games, places) = books.entry((book, fingerprint)).or_default();
            games.push(finished);
            places.push(place);
        }
        let mut done = Vec::new();
        for (known, (games, places)) in books {
            if drain.failed.contains_key(&known) {
                continue;
            }
            match self.learn(&known, &games) {
                Ok(_) => {
                    *drain.learned.entry(known.0).or_default() += places.len();
                    done.extend(places);
                }
                Err(error) => {
                    self.waiting.insert((known.clone(), drain.spool.path().to_owned()));
                    drain.failed.insert(known, error.to_string());
                }
            }
        }
        if !done.is_empty() {
            let _ = drain.spool.cross_out(&done, PATIENCE);
        }
    }

    /// Ends the work: learns the first batch of each spool that has not had its turn.
    fn end(&mut self) -> Messages {
        let mut messages = Vec::new();
        while let Some(drain) = self.drains.front() {
            if drain.at == 0 {
                messages.extend(self.drain());
            }
            if let Some(drain) = self.drains.pop_front_if(|drain| drain.at > 0) {
                drain.report(&mut messages);
            }
        }
        messages
    }
}

impl Drain {
    fn report(self, messages: &mut Messages) {
        for (book, count) in self.learned {
            messages.push((
                Level::Info,
                format!("games kept earlier and learned now into {}: {count}", book.display()),
            ));
        }
        for error in self.failed.into_values() {
            let path = self.spool.path().display();
            messages.push((Level::Warn, format!("games kept in {path} cannot be learned yet: {error}")));
        }
    }
}

/// Does the work that comes: new games first, and between them those that were kept earlier, until no more can come.
pub(super) fn learn_all(work: &Receiver<Work>, worker: &mut Worker, report: impl Fn(Level, String)) {
    let mut open = true;
    while open {
        let first = if worker.drains.is_empty() {
            work.recv().inspect_err(|_| open = false).ok()
        } else {
            work.try_recv().inspect_err(|error| open = *error == TryRecvError::Empty).ok()
        };
        let messages = match first {
            // All games that have come meanwhile are learned together, to keep up with them on a slow disk.
            Some(first) => {
                worker.work(std::iter::once(first).chain(work.try_iter().take(MOST_AT_ONCE)).collect())
            }
            None if open => worker.drain(),
            None => worker.end(),
        };
        messages.into_iter().for_each(|(level, message)| report(level, message));
    }
}
