//! The learning worker: it learns new games at once, and games from an earlier process in small batches.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::{iter, mem};

use log::Level;

use super::{Messages, OpenGames, PATIENCE};
use crate::adapter::session::Source;
use crate::base::error::{Error, Result};
use crate::book::Fingerprint;
use crate::learn::{self, IdentifiedGame, Learner, Outcome, Place, Spool, Spooled};

/// The most games that are learned together.
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

/// A game to learn.
pub(in crate::adapter) struct Game {
    /// The books that it is learned into.
    pub(super) sources: Arc<[Source]>,
    pub(super) finished: IdentifiedGame,
    /// The spool that it is in, with its place there for each book; or why it is in none.
    pub(super) kept: std::result::Result<(Spool, Vec<Place>), String>,
}

impl Game {
    /// Adds the game's place in its spool, for the book of this index, to those that are crossed out.
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
#[derive(Default)]
pub(super) struct Worker {
    learners: HashMap<PathBuf, Learner>,
    drains: VecDeque<Drain>,
    /// Books for which games wait in a spool.
    waiting: HashSet<(PlayedBook, PathBuf)>,
    games: OpenGames,
    messages: Messages,
}

impl Worker {
    pub(super) fn new(games: OpenGames) -> Self {
        Self { games, ..Self::default() }
    }

    fn say(&mut self, level: Level, message: String) {
        self.messages.push((level, message));
    }

    fn work(&mut self, works: impl Iterator<Item = Work>) {
        let mut games = Vec::new();
        for work in works {
            match work {
                Work::Learn(game) => games.push(*game),
                Work::Settle(book) => learn::settle(&book),
                Work::Resume(spools) => spools.into_iter().for_each(|path| self.resume(path)),
            }
        }
        self.learn_new(&games);
    }

    /// Learns the games of a spool, unless that is already planned.
    fn resume(&mut self, path: PathBuf) {
        if !self.drains.iter().any(|drain| drain.spool.path() == path && drain.at == 0) {
            let (spool, learned, failed) = (Spool::new(path), BTreeMap::new(), HashMap::new());
            self.drains.push_back(Drain { spool, at: 0, learned, failed });
        }
    }

    /// Learns games that have just ended, all games of a book together.
    fn learn_new(&mut self, games: &[Game]) {
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
                    let book = (source.file().to_owned(), source.fingerprint());
                    books.entry(book).or_default().push((game, index));
                }
            }
        }
        for (book, played) in books {
            let finished: Vec<_> = played.iter().map(|(game, _)| game.finished.clone()).collect();
            match self.learn(&book, &finished) {
                Ok(outcomes) => {
                    for ((game, index), outcome) in played.into_iter().zip(outcomes) {
                        game.cross_out(index, &mut done);
                        self.say_learned(game, &book.0, &outcome);
                    }
                    self.catch_up(&book);
                }
                Err(error) => played.iter().for_each(|(game, _)| self.say_not_learned(game, &book, &error)),
            }
        }
        for (spool, places) in done {
            // A game that is not crossed out is in the book's journal, and is not learned again.
            let _ = Spool::new(spool).cross_out(&places, PATIENCE);
        }
        games.iter().for_each(|game| self.games.close(game.finished.id));
    }

    fn say_learned(&mut self, game: &Game, book: &Path, outcome: &Outcome) {
        let (note, book) = (&game.finished.game.note, book.display());
        let what = match outcome {
            Outcome::Learned(1) => format!("{note}: learned: 1 entry of {book}"),
            Outcome::Learned(count) => format!("{note}: learned: {count} entries of {book}"),
            Outcome::Known => format!("{note}: learned: by another tabiya, into {book}"),
            Outcome::Absent => format!("{note}: no move of it is an entry of {book}"),
        };
        self.say(Level::Info, what);
        if let Err(error) = &game.kept {
            self.say(Level::Warn, format!("{note}: learned, but not kept in a spool before: {error}"));
        }
    }

    fn say_not_learned(&mut self, game: &Game, book: &PlayedBook, error: &Error) {
        let note = &game.finished.game.note;
        match &game.kept {
            Ok((spool, _)) => {
                let path = spool.path();
                self.waiting.insert((book.clone(), path.to_owned()));
                let path = path.display();
                self.say(Level::Warn, format!("{note}: not learned yet, kept in {path}: {error}"));
            }
            Err(other) => {
                self.say(Level::Error, format!("{note}: not learned: {error}; not kept either: {other}"));
            }
        }
    }

    /// Learns the games that have waited for a book, because it can learn again.
    fn catch_up(&mut self, book: &PlayedBook) {
        let spools: Vec<PathBuf> =
            self.waiting.extract_if(|(other, _)| other == book).map(|(_, spool)| spool).collect();
        spools.into_iter().for_each(|spool| self.resume(spool));
    }

    fn learn(&mut self, (book, fingerprint): &PlayedBook, games: &[IdentifiedGame]) -> Result<Vec<Outcome>> {
        // A link may have replaced the file.
        let moved = |learner: &Learner| dunce::canonicalize(book).is_ok_and(|now| now != learner.path());
        if self.learners.get(book).is_some_and(moved) {
            self.learners.remove(book);
        }
        let learner = match self.learners.entry(book.clone()) {
            Entry::Occupied(learner) => learner.into_mut(),
            Entry::Vacant(place) => place.insert(Learner::new(book)?.patience(PATIENCE)),
        };
        learner.expect(*fingerprint);
        learner.learn(games, false)
    }

    /// Learns a batch of the games that were kept earlier. A book that still cannot learn is tried once.
    fn drain(&mut self) {
        let Some(mut drain) = self.drains.pop_front() else { return };
        match drain.spool.batch(drain.at, PATIENCE) {
            Ok(batch) => {
                self.learn_batch(&mut drain, batch.games);
                if let Some(next) = batch.next {
                    drain.at = next;
                    return self.drains.push_front(drain);
                }
            }
            Err(error) => self.say(Level::Warn, error.to_string()),
        }
        if let Err(error) = drain.spool.tidy(PATIENCE) {
            self.say(Level::Warn, error.to_string());
        }
        self.report(drain);
    }

    fn learn_batch(&mut self, drain: &mut Drain, games: Vec<Spooled>) {
        let mut books: BTreeMap<PlayedBook, (Vec<IdentifiedGame>, Vec<Place>)> = BTreeMap::new();
        for Spooled { book, fingerprint, finished, place } in games {
            let book = (book, fingerprint);
            if !self.games.has(finished.id) && !drain.failed.contains_key(&book) {
                let (games, places) = books.entry(book).or_default();
                games.push(finished);
                places.push(place);
            }
        }
        let mut done = Vec::new();
        for (book, (games, places)) in books {
            match self.learn(&book, &games) {
                Ok(_) => {
                    *drain.learned.entry(book.0).or_default() += places.len();
                    done.extend(places);
                }
                Err(error) => {
                    self.waiting.insert((book.clone(), drain.spool.path().to_owned()));
                    drain.failed.insert(book, error.to_string());
                }
            }
        }
        if !done.is_empty() {
            let _ = drain.spool.cross_out(&done, PATIENCE);
        }
    }

    /// Ends the work: learns the first batch of each spool that has not had its turn.
    fn end(&mut self) {
        while let Some(drain) = self.drains.front() {
            if drain.at == 0 {
                self.drain();
            }
            if let Some(drain) = self.drains.pop_front_if(|drain| drain.at > 0) {
                self.report(drain);
            }
        }
    }

    /// Reports what was learned from a spool.
    fn report(&mut self, drain: Drain) {
        for (book, count) in drain.learned {
            let book = book.display();
            self.say(Level::Info, format!("games kept earlier and learned now into {book}: {count}"));
        }
        let path = drain.spool.path().display();
        for error in drain.failed.into_values() {
            self.say(Level::Warn, format!("games kept in {path} cannot be learned yet: {error}"));
        }
    }
}

/// Does the work as it comes: new games first, games that were kept earlier while there are no new ones. Returns when
/// nobody can send more.
pub(super) fn learn_all(work: &Receiver<Work>, worker: &mut Worker, report: impl Fn(Level, String)) {
    let mut open = true;
    while open {
        let first = if worker.drains.is_empty() {
            work.recv().inspect_err(|_| open = false).ok()
        } else {
            work.try_recv().inspect_err(|error| open = *error == TryRecvError::Empty).ok()
        };
        match first {
            // All games that have come meanwhile are learned together, to keep up with them on a slow disk.
            Some(first) => worker.work(iter::once(first).chain(work.try_iter().take(MOST_AT_ONCE))),
            None if open => worker.drain(),
            None => worker.end(),
        }
        mem::take(&mut worker.messages).into_iter().for_each(|(level, message)| report(level, message));
    }
}
