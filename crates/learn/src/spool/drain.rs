//! Learning what a spool keeps.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fingerprint::Fingerprint;
use tabiya_base::error::{Error, Remedy, Result};

use super::{Spool, SpoolPlace, Spooled};
use crate::finished::IdentifiedGame;
use crate::learner::{LearnOutcome, Learner};
use crate::storage::is_same_file;

/// A book as it was when a game was played from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayedBook {
    pub file: PathBuf,
    /// Its fingerprint, if that is known.
    pub fingerprint: Option<Fingerprint>,
}

/// The books that are learned into, each opened once.
pub struct Learners {
    open: HashMap<PathBuf, Learner>,
    patience: Duration,
}

impl Learners {
    /// None yet; `patience` is how long to wait for other processes.
    pub fn new(patience: Duration) -> Self {
        Self { open: HashMap::new(), patience }
    }

    /// Learns games into the book from which they were played.
    ///
    /// # Errors
    /// As [`Learner::learn`], and where no book or another one is in its place: [`Remedy::DropGames`].
    pub fn learn(&mut self, book: &PlayedBook, games: &[IdentifiedGame]) -> Result<Vec<LearnOutcome>> {
        self.learn_into(book, games).map_err(|error| match book.file.try_exists() {
            Ok(false) => {
                error.advice("put the book back, and the game will be learned").remedied_by(Remedy::DropGames)
            }
            _ => error,
        })
    }

    fn learn_into(&mut self, book: &PlayedBook, games: &[IdentifiedGame]) -> Result<Vec<LearnOutcome>> {
        // A link may have replaced the file.
        let moved =
            |learner: &Learner| dunce::canonicalize(&book.file).is_ok_and(|now| now != learner.path());
        if self.open.get(&book.file).is_some_and(moved) {
            self.open.remove(&book.file);
        }
        let learner = match self.open.entry(book.file.clone()) {
            Entry::Occupied(learner) => learner.into_mut(),
            Entry::Vacant(place) => place.insert(Learner::new(&book.file)?.patience(self.patience)),
        };
        learner.expect(book.fingerprint);
        learner.learn(games, false)
    }
}

/// What became of some games of a spool.
#[derive(Debug)]
pub enum Drained {
    /// They are learned: the outcome of each.
    Learned(Vec<LearnOutcome>),
    /// They stay in the spool, and why; `None` if that was said before.
    Kept(Option<Error>),
    /// They are no longer in the spool and not learned, and why the book could not learn them; `None` if that was said before.
    Dropped(Option<Error>),
}

/// A spool whose games are learned, batch by batch.
pub struct Drain {
    spool: Spool,
    /// Where the next batch begins; `None` at the end.
    next: Option<u64>,
    /// Books that could not learn: they are not tried again.
    failed: HashSet<PlayedBook>,
    /// The book whose games are dropped if it is no longer there.
    drop: Option<PathBuf>,
    /// Those of the books that failed whose games are dropped.
    dropped: HashSet<PlayedBook>,
    /// Why games could not be crossed out.
    problem: Option<Error>,
    patience: Duration,
}

impl Drain {
    /// Begins with the first game; `patience` is how long to wait for other processes.
    pub fn new(spool: Spool, patience: Duration) -> Self {
        Self {
            spool,
            next: Some(0),
            failed: HashSet::new(),
            drop: None,
            dropped: HashSet::new(),
            problem: None,
            patience,
        }
    }

    /// Drops the games that wait for this book if the book from which they were played is no longer there. Games that can be
    /// learned, now or when something else is mended, are not dropped.
    #[must_use]
    pub fn dropping(self, book: Option<PathBuf>) -> Self {
        Self { drop: book, ..self }
    }

    pub fn path(&self) -> &Path {
        self.spool.path()
    }

    /// Whether the first batch is still to be learned.
    pub fn is_fresh(&self) -> bool {
        self.next == Some(0)
    }

    /// Learns the `wanted` games of a batch, all games of a book together, and reports to `see` what became of those of
    /// each book. Returns whether there are more batches.
    ///
    /// # Errors
    /// When the spool cannot be read, or games that are dropped cannot be crossed out; and those of `see`, after which no other
    /// book learns.
    pub fn batch<E: From<Error>>(
        &mut self,
        learners: &mut Learners,
        wanted: impl Fn(&Spooled) -> bool,
        mut see: impl FnMut(&PlayedBook, &[Spooled], Drained) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(at) = self.next.take() else { return Ok(false) };
        let batch = self.spool.batch(at, self.patience)?;
        let mut books: BTreeMap<PlayedBook, Vec<Spooled>> = BTreeMap::new();
        for game in batch.games.into_iter().filter(wanted) {
            books.entry(game.book.clone()).or_default().push(game);
        }
        let mut done: Vec<SpoolPlace> = Vec::new();
        let seen = books.iter().try_for_each(|(book, games)| {
            let mut why = None;
            if !self.failed.contains(book) {
                let finished: Vec<IdentifiedGame> = games.iter().map(|game| game.finished.clone()).collect();
                match learners.learn(book, &finished) {
                    Ok(outcomes) => {
                        done.extend(games.iter().map(|game| game.place.clone()));
                        return see(book, games, Drained::Learned(outcomes));
                    }
                    Err(error) => self.note_failed(book, why.insert(error)),
                }
            }
            if !self.dropped.contains(book) {
                return see(book, games, Drained::Kept(why));
            }
            self.spool.cross_out(games.iter().map(|game| &game.place), self.patience)?;
            see(book, games, Drained::Dropped(why))
        });
        if !done.is_empty() {
            // A game that is not marked as done is in the book's journal, and is not learned again.
            self.problem = self.spool.cross_out(&done, self.patience).err().or(self.problem.take());
        }
        seen?;
        self.next = batch.next;
        Ok(self.next.is_some())
    }

    /// Notes that a book cannot learn, and whether its games are dropped.
    fn note_failed(&mut self, book: &PlayedBook, error: &Error) {
        self.failed.insert(book.clone());
        let is_named = self.drop.as_ref().is_some_and(|named| is_same_file(named, &book.file));
        if is_named && error.remedy() == Some(Remedy::DropGames) {
            self.dropped.insert(book.clone());
        }
    }

    /// Frees the space of the games that were learned.
    ///
    /// # Errors
    /// When games could not be marked as done, and as [`Spool::tidy`].
    pub fn end(&mut self) -> Result<()> {
        let tidied = self.spool.tidy(self.patience);
        self.problem.take().map_or(tidied, Err)
    }
}
