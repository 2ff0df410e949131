//! What the learning thread does: new games at once, games kept earlier in small batches.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use log::Level;

use super::{Games, PATIENCE, Told, Work};
use crate::adapter::session::Source;
use crate::base::error::Result;
use crate::book::Fingerprint;
use crate::learn::{self, Fate, Learner, Lesson, Place, Spool, Spooled};

/// A game that is to be learned.
pub(super) struct Game {
    /// The books that it is learned into.
    pub(super) sources: Arc<[Source]>,
    pub(super) lesson: Lesson,
    /// The spool that has it, with a place for each book; or why there is none.
    pub(super) kept: std::result::Result<(Spool, Vec<Place>), String>,
}

/// A book as a game knew it.
type Known = (PathBuf, Option<Fingerprint>);

/// A way through a spool.
struct Drain {
    spool: Spool,
    /// Where the next batch begins.
    at: u64,
    learned: BTreeMap<PathBuf, usize>,
    /// Books that are not tried again, and why.
    failed: HashMap<Known, String>,
}

/// What the thread knows.
pub(super) struct Desk {
    learners: HashMap<PathBuf, Learner>,
    drains: VecDeque<Drain>,
    /// Books for which games wait in a spool.
    behind: HashSet<(Known, PathBuf)>,
    games: Games,
}

impl Desk {
    pub(super) fn new(games: Games) -> Self {
        Self { learners: HashMap::new(), drains: VecDeque::new(), behind: HashSet::new(), games }
    }

    /// Whether games that were kept earlier are being learned.
    pub(super) fn drains(&self) -> bool {
        !self.drains.is_empty()
    }

    pub(super) fn work(&mut self, works: Vec<Work>) -> Told {
        let mut told = Vec::new();
        let mut games = Vec::new();
        for work in works {
            match work {
                Work::Learn(game) => games.push(*game),
                Work::Settle(book) => learn::settle(&book),
                Work::Resume(spools) => spools.into_iter().for_each(|path| self.resume(path)),
            }
        }
        self.learn_new(&games, &mut told);
        told
    }

    /// Goes through a spool, unless that is going to be done anyway.
    fn resume(&mut self, path: PathBuf) {
        if !self.drains.iter().any(|drain| drain.spool.path() == path && drain.at == 0) {
            let (learned, failed) = Default::default();
            self.drains.push_back(Drain { spool: Spool::new(path), at: 0, learned, failed });
        }
    }

    /// Learns games that are just over, those of one book in one go.
    fn learn_new(&mut self, games: &[Game], told: &mut Told) {
        // The number of each game, and of the book among its books.
        let mut books: BTreeMap<Known, Vec<(usize, usize)>> = BTreeMap::new();
        let mut done: HashMap<PathBuf, Vec<Place>> = HashMap::new();
        for (number, game) in games.iter().enumerate() {
            for (place, source) in game.sources.iter().enumerate() {
                // One file by two hard links is one book.
                let mut before = game.sources.iter().take(place);
                if before.any(|other| learn::is_same_file(other.file(), source.file())) {
                    if let Ok((spool, places)) = &game.kept {
                        let places = places.get(place).cloned();
                        done.entry(spool.path().to_owned()).or_default().extend(places);
                    }
                    continue;
                }
                let known = (source.file().to_owned(), source.fingerprint());
                books.entry(known).or_default().push((number, place));
            }
        }
        for (known, wanted) in books {
            let wanted: Vec<(&Game, usize)> = wanted
                .into_iter()
                .filter_map(|(number, place)| games.get(number).map(|game| (game, place)))
                .collect();
            let lessons: Vec<Lesson> = wanted.iter().map(|(game, _)| game.lesson.clone()).collect();
            let name = known.0.display();
            match self.learn(&known, &lessons) {
                Ok(fates) => {
                    for ((game, place), fate) in wanted.iter().zip(fates) {
                        if let Ok((spool, places)) = &game.kept {
                            done.entry(spool.path().to_owned())
                                .or_default()
                                .extend(places.get(*place).cloned());
                        }
                        let note = &game.lesson.note;
                        let what = match fate {
                            Fate::Learned(1) => format!("{note}: learned: 1 entry of {name}"),
                            Fate::Learned(count) => format!("{note}: learned: {count} entries of {name}"),
                            Fate::Known => format!("{note}: learned: by another tabiya, into {name}"),
                            Fate::Absent => format!("{note}: no move of it is an entry of {name}"),
                        };
                        told.push((Level::Info, what));
                        if let Err(error) = &game.kept {
                            told.push((
                                Level::Warn,
                                format!("{note}: learned, but not kept before: {error}"),
                            ));
                        }
                    }
                    self.catch_up(&known);
                }
                Err(error) => {
                    for (game, _) in wanted {
                        let note = &game.lesson.note;
                        told.push(match &game.kept {
                            Ok((spool, _)) => {
                                let path = spool.path();
                                self.behind.insert((known.clone(), path.to_owned()));
                                let path = path.display();
                                (Level::Warn, format!("{note}: not learned yet, kept in {path}: {error}"))
                            }
                            Err(other) => {
                                (Level::Error, format!("{note}: not learned: {error}; nor kept: {other}"))
                            }
                        });
                    }
                }
            }
        }
        for (spool, places) in done {
            // What is not crossed out is known to the book's journal.
            let _ = Spool::new(spool).cross_out(&places, PATIENCE);
        }
        games.iter().for_each(|game| self.games.close(game));
    }

    /// A book that games wait for can be learned into again.
    fn catch_up(&mut self, book: &Known) {
        let spools: Vec<PathBuf> =
            self.behind.extract_if(|(other, _)| other == book).map(|(_, spool)| spool).collect();
        spools.into_iter().for_each(|spool| self.resume(spool));
    }

    fn learn(&mut self, (book, fingerprint): &Known, lessons: &[Lesson]) -> Result<Vec<Fate>> {
        // A link may have taken the place of the file.
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
        learner.learn(lessons, false)
    }

    /// Learns some of the games that were kept earlier. A book that still cannot be learned into is tried once.
    pub(super) fn drain(&mut self) -> Told {
        let mut told = Vec::new();
        let Some(mut drain) = self.drains.pop_front() else { return told };
        let batch = drain.spool.batch(drain.at, PATIENCE);
        let next = match batch {
            Ok(batch) => {
                self.learn_batch(&mut drain, batch.games);
                batch.next
            }
            Err(error) => {
                told.push((Level::Warn, error.to_string()));
                None
            }
        };
        match next {
            Some(next) => {
                drain.at = next;
                self.drains.push_front(drain);
            }
            None => {
                if let Err(error) = drain.spool.tidy(PATIENCE) {
                    told.push((Level::Warn, error.to_string()));
                }
                drain.tell(&mut told);
            }
        }
        told
    }

    fn learn_batch(&mut self, drain: &mut Drain, games: Vec<Spooled>) {
        let mut books: BTreeMap<Known, (Vec<Lesson>, Vec<Place>)> = BTreeMap::new();
        for Spooled { book, fingerprint, lesson, place } in games {
            if self.games.has(lesson.id) {
                continue;
            }
            let (lessons, places) = books.entry((book, fingerprint)).or_default();
            lessons.push(lesson);
            places.push(place);
        }
        let mut done = Vec::new();
        for (known, (lessons, places)) in books {
            if drain.failed.contains_key(&known) {
                continue;
            }
            match self.learn(&known, &lessons) {
                Ok(_) => {
                    *drain.learned.entry(known.0).or_default() += places.len();
                    done.extend(places);
                }
                Err(error) => {
                    self.behind.insert((known.clone(), drain.spool.path().to_owned()));
                    drain.failed.insert(known, error.to_string());
                }
            }
        }
        if !done.is_empty() {
            let _ = drain.spool.cross_out(&done, PATIENCE);
        }
    }

    /// The end: of each spool that nothing was learned from yet, the first games still are.
    pub(super) fn end(&mut self) -> Told {
        let mut told = Vec::new();
        while let Some(drain) = self.drains.front() {
            if drain.at == 0 {
                told.extend(self.drain());
            }
            if let Some(drain) = self.drains.pop_front_if(|drain| drain.at > 0) {
                drain.tell(&mut told);
            }
        }
        told
    }
}

impl Drain {
    fn tell(self, told: &mut Told) {
        for (book, count) in self.learned {
            told.push((
                Level::Info,
                format!("games kept earlier and learned now into {}: {count}", book.display()),
            ));
        }
        for error in self.failed.into_values() {
            let path = self.spool.path().display();
            told.push((Level::Warn, format!("games kept in {path} cannot be learned yet: {error}")));
        }
    }
}
