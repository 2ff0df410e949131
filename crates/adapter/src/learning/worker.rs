//! The learning worker: it learns new games at once, and games from an earlier process in small batches.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::{iter, mem};

use log::Level;

use tabiya_base::error::Error;
use tabiya_learn::{
    self as learn, Drain, Drained, IdentifiedGame, LearnOutcome, Learners, PlayedBook, Spool, SpoolPlace,
};

use super::{Messages, OpenGames, PATIENCE};
use crate::session::LearnableBook;
use crate::settings::advice::worded;

/// The most games that are learned together.
const MAX_AT_ONCE: usize = 255;

/// What the worker does.
pub(crate) enum Work {
    Learn(Box<SpooledGame>),
    /// Complete what a process that died has begun in this book.
    Settle(PathBuf),
    /// Learn the games that were kept earlier in these spools.
    Resume(Vec<PathBuf>),
}

/// A game to learn.
pub(crate) struct SpooledGame {
    /// The books that it is learned into.
    pub(super) sources: Arc<[LearnableBook]>,
    pub(super) finished: IdentifiedGame,
    /// The spool that it is in, with its place there for each book; or why it is in none.
    pub(super) kept: Result<(Spool, Vec<SpoolPlace>), String>,
}

impl SpooledGame {
    /// Adds the game's place in its spool, for the book of this index, to those that are marked as done.
    fn cross_out<'a>(&'a self, index: usize, done: &mut HashMap<&'a Path, Vec<SpoolPlace>>) {
        if let Ok((spool, places)) = &self.kept {
            done.entry(spool.path()).or_default().extend(places.get(index).cloned());
        }
    }
}

/// A spool that is being learned.
struct Resumed {
    drain: Drain,
    learned: BTreeMap<PathBuf, usize>,
    /// Why books cannot learn.
    problems: Vec<String>,
}

/// The state of the worker.
pub(super) struct Worker {
    learners: Learners,
    resumed: VecDeque<Resumed>,
    /// Books for which games wait in a spool.
    waiting: HashSet<(PlayedBook, PathBuf)>,
    games: OpenGames,
    messages: Messages,
}

impl Worker {
    pub(super) fn new(games: OpenGames) -> Self {
        Self {
            learners: Learners::new(PATIENCE),
            resumed: VecDeque::new(),
            waiting: HashSet::new(),
            games,
            messages: Vec::new(),
        }
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
        let planned = |resumed: &Resumed| resumed.drain.path() == path && resumed.drain.is_fresh();
        if !self.resumed.iter().any(planned) {
            let drain = Drain::new(Spool::new(path), PATIENCE);
            self.resumed.push_back(Resumed { drain, learned: BTreeMap::new(), problems: Vec::new() });
        }
    }

    /// Learns games that have just ended, all games of a book together.
    fn learn_new(&mut self, games: &[SpooledGame]) {
        // The games of each book, with its index among the books of the game.
        let mut books: BTreeMap<PlayedBook, Vec<(&SpooledGame, usize)>> = BTreeMap::new();
        let mut done: HashMap<&Path, Vec<SpoolPlace>> = HashMap::new();
        for game in games {
            for (index, source) in game.sources.iter().enumerate() {
                // Two hard links to one file are one book.
                let mut before = game.sources.iter().take(index);
                if before.any(|other| learn::is_same_file(other.file(), source.file())) {
                    game.cross_out(index, &mut done);
                } else {
                    let book =
                        PlayedBook { file: source.file().to_owned(), fingerprint: source.fingerprint() };
                    books.entry(book).or_default().push((game, index));
                }
            }
        }
        for (book, played) in books {
            let finished: Vec<_> = played.iter().map(|(game, _)| game.finished.clone()).collect();
            match self.learners.learn(&book, &finished) {
                Ok(outcomes) => {
                    for ((game, index), outcome) in played.into_iter().zip(outcomes) {
                        game.cross_out(index, &mut done);
                        self.say_learned(game, &book.file, &outcome);
                    }
                    self.catch_up(&book);
                }
                Err(error) => played.iter().for_each(|(game, _)| self.say_not_learned(game, &book, &error)),
            }
        }
        for (spool, places) in done {
            // A game that is not marked as done is in the book's journal, and is not learned again.
            let _ = Spool::new(spool).cross_out(&places, PATIENCE);
        }
        games.iter().for_each(|game| self.games.close(game.finished.id));
    }

    fn say_learned(&mut self, game: &SpooledGame, book: &Path, outcome: &LearnOutcome) {
        let (note, book) = (&game.finished.game.note, book.display());
        let what = match outcome {
            LearnOutcome::Learned(1) => format!("{note}: learned: 1 entry of {book}"),
            LearnOutcome::Learned(count) => format!("{note}: learned: {count} entries of {book}"),
            LearnOutcome::Absent => format!("{note}: none of its moves is in {book}"),
            // A game that was played is corrected by none.
            LearnOutcome::Known
            | LearnOutcome::Confirmed
            | LearnOutcome::Corrected(_)
            | LearnOutcome::Withdrawn(_) => {
                format!("{note}: learned: already by another tabiya, into {book}")
            }
        };
        self.say(Level::Info, what);
        if let Err(error) = &game.kept {
            self.say(Level::Warn, format!("{note}: learned, but could not be kept on disk first: {error}"));
        }
    }

    fn say_not_learned(&mut self, game: &SpooledGame, book: &PlayedBook, error: &Error) {
        let note = &game.finished.game.note;
        match &game.kept {
            Ok((spool, _)) => {
                let path = spool.path();
                self.waiting.insert((book.clone(), path.to_owned()));
                let path = path.display();
                self.say(Level::Warn, format!("{note}: not learned yet, kept in {path}: {}", worded(error)));
            }
            Err(other) => {
                self.say(Level::Error, format!("{note}: not learned: {error:#}; not kept either: {other:#}"));
            }
        }
    }

    /// Learns the games that have waited for a book, because it can learn again.
    fn catch_up(&mut self, book: &PlayedBook) {
        let spools: Vec<PathBuf> =
            self.waiting.extract_if(|(other, _)| other == book).map(|(_, spool)| spool).collect();
        spools.into_iter().for_each(|spool| self.resume(spool));
    }

    /// Learns a batch of the games that were kept earlier.
    fn drain(&mut self) {
        let Some(mut resumed) = self.resumed.pop_front() else { return };
        let Self { learners, waiting, games, .. } = self;
        let Resumed { drain, learned, problems } = &mut resumed;
        let path = drain.path().to_owned();
        let is_more = drain.batch(
            learners,
            |game| !games.has(game.finished.id),
            |book, games, outcomes| {
                match outcomes {
                    Drained::Learned(_) => *learned.entry(book.file.clone()).or_default() += games.len(),
                    Drained::Kept(Some(error)) => {
                        waiting.insert((book.clone(), path.clone()));
                        problems.push(worded(&error));
                    }
                    Drained::Kept(None) | Drained::Dropped(_) => {}
                }
                Ok::<_, Error>(())
            },
        );
        match is_more {
            Ok(true) => return self.resumed.push_front(resumed),
            Ok(false) => {}
            Err(error) => self.say(Level::Warn, error.with_source()),
        }
        if let Err(error) = resumed.drain.end() {
            self.say(Level::Warn, error.with_source());
        }
        self.report(resumed);
    }

    /// Ends the work: learns the first batch of each spool that has not had its turn.
    fn end(&mut self) {
        while let Some(resumed) = self.resumed.front() {
            if resumed.drain.is_fresh() {
                self.drain();
            }
            if let Some(resumed) = self.resumed.pop_front_if(|resumed| !resumed.drain.is_fresh()) {
                self.report(resumed);
            }
        }
    }

    /// Reports what was learned from a spool.
    fn report(&mut self, Resumed { drain, learned, problems }: Resumed) {
        for (book, count) in learned {
            let book = book.display();
            self.say(Level::Info, format!("games kept earlier, learned now into {book}: {count}"));
        }
        let path = drain.path().display();
        for error in problems {
            self.say(Level::Warn, format!("games kept in {path} cannot be learned yet: {error}"));
        }
    }
}

/// Does the work as it comes: new games first, then games that were kept earlier, while there are no new ones. Returns when
/// all senders are gone.
pub(super) fn learn_all(work: &Receiver<Work>, worker: &mut Worker, report: impl Fn(Level, String)) {
    let mut open = true;
    while open {
        let first = if worker.resumed.is_empty() {
            work.recv().inspect_err(|_| open = false).ok()
        } else {
            work.try_recv().inspect_err(|error| open = *error == TryRecvError::Empty).ok()
        };
        match first {
            // All games that have come meanwhile are learned together, to keep up with them on a slow disk.
            Some(first) => worker.work(iter::once(first).chain(work.try_iter().take(MAX_AT_ONCE))),
            None if open => worker.drain(),
            None => worker.end(),
        }
        mem::take(&mut worker.messages).into_iter().for_each(|(level, message)| report(level, message));
    }
}
