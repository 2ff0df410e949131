//! Learning aside: a thread of its own takes games that are over, so that no line ever waits for a disk.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use log::Level;

use super::hub::Hub;
use super::session::Taught;
use crate::learn::{self, Fate, Learner, Lesson, Spool};

/// How long other processes may keep a book or the spool before the game goes its other way.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the adapter's end may wait for the last games to be learned, or kept for later.
const LEARN_TIME: Duration = Duration::from_secs(10);

/// Games that wait and are learned in one go.
const MOST_AT_ONCE: usize = 255;

/// What is added to the log's name for the spool's.
const SPOOL_SUFFIX: &str = ".spool";

/// The spool's name where there is no log.
const SPOOL_NAME: &str = "games.spool";

/// What the thread is to do.
pub(super) enum Job {
    /// Learn a game.
    Learn(Box<Taught>, Option<PathBuf>),
    /// Finish what a process that died has begun in this book.
    Settle(PathBuf),
    /// Learn what was kept earlier.
    Resume(Option<PathBuf>),
}

/// The way to the thread; it is started when there is something to do.
#[derive(Default)]
pub(super) struct Study {
    thread: Option<(Sender<Job>, Receiver<()>)>,
}

impl Study {
    /// Hands a job to the thread.
    pub(super) fn give(&mut self, hub: &Arc<Hub>, job: Job) {
        if self.thread.is_none() {
            let (jobs, taken) = channel();
            let (finished, end) = channel();
            let hub = Arc::clone(hub);
            let work = move || {
                let mut desk = Desk::default();
                while let Ok(job) = taken.recv() {
                    // What has come meanwhile is learned in one go: a slow disk must not fall ever further behind.
                    let jobs = std::iter::once(job).chain(taken.try_iter().take(MOST_AT_ONCE)).collect();
                    for (level, message) in desk.work(jobs) {
                        hub.report(level, message);
                    }
                }
                // Nobody may wait for it any more.
                let _ = finished.send(());
            };
            if thread::Builder::new().name("study".to_owned()).spawn(work).is_ok() {
                self.thread = Some((jobs, end));
            }
        }
        let given = self.thread.as_ref().is_some_and(|(jobs, _)| jobs.send(job).is_ok());
        if !given {
            log::error!("no thread to learn a game: it is not learned");
        }
    }

    /// The way to the end of the thread; no more jobs can be given.
    pub(super) fn end(&mut self) -> Option<Receiver<()>> {
        self.thread.take().map(|(_, end)| end)
    }
}

/// Waits until the thread has done all, but not for ever.
pub(super) fn wait(end: &Receiver<()>) {
    if end.recv_timeout(LEARN_TIME) == Err(RecvTimeoutError::Timeout) {
        log::error!("the last game could not be learned in {} s", LEARN_TIME.as_secs());
    }
}

/// Where games are kept that cannot be learned: beside the log, or where there is none in the user's own folder for
/// such things.
pub(super) fn spool_path(log: &str) -> Option<PathBuf> {
    if !log.is_empty() {
        let mut name = OsString::from(log);
        name.push(SPOOL_SUFFIX);
        return std::path::absolute(PathBuf::from(name)).ok();
    }
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library").join("Application Support"))
    } else {
        folder("XDG_STATE_HOME").or_else(|| Some(env::home_dir()?.join(".local").join("state")))
    };
    base.map(|base| base.join("tabiya").join(SPOOL_NAME))
}

/// What the thread knows.
#[derive(Default)]
struct Desk {
    learners: HashMap<PathBuf, Learner>,
}

/// What is to be told, and how loudly.
type Told = Vec<(Level, String)>;

impl Desk {
    fn work(&mut self, jobs: Vec<Job>) -> Told {
        let mut told = Vec::new();
        // The games of each book; the log, and so the spool, is that of the last.
        let mut games: Vec<(PathBuf, Vec<Lesson>)> = Vec::new();
        let mut keep = None;
        for job in jobs {
            match job {
                Job::Learn(taught, spool) => {
                    let lesson = Lesson { id: rand::random(), ..taught.lesson };
                    keep = spool;
                    for book in taught.books {
                        match games.iter_mut().find(|(other, _)| *other == book) {
                            Some((_, lessons)) => lessons.push(lesson.clone()),
                            None => games.push((book, vec![lesson.clone()])),
                        }
                    }
                }
                Job::Settle(book) => learn::settle(&book),
                Job::Resume(spool) => {
                    if let Some(path) = spool {
                        self.resume(&Spool::new(path), &mut told);
                    }
                }
            }
        }
        for (book, lessons) in games {
            self.learn_or_keep(&book, &lessons, keep.as_deref(), &mut told);
        }
        told
    }

    /// Learns games into one book, or keeps them for later.
    fn learn_or_keep(&mut self, book: &Path, lessons: &[Lesson], spool: Option<&Path>, told: &mut Told) {
        let name = book.display();
        let error = match self.learn(book, lessons) {
            Ok(fates) => {
                return told.extend(lessons.iter().zip(fates).map(|(Lesson { note, .. }, fate)| {
                    let what = match fate {
                        Fate::Learned(1) => format!("{note}: learned: 1 entry of {name}"),
                        Fate::Learned(count) => format!("{note}: learned: {count} entries of {name}"),
                        Fate::Known | Fate::Absent => format!("{note}: no move of it is an entry of {name}"),
                    };
                    (Level::Info, what)
                }));
            }
            Err(error) => error,
        };
        for lesson in lessons {
            let note = &lesson.note;
            let Some(path) = spool else {
                told.push((Level::Error, format!("{note}: not learned: {error}")));
                continue;
            };
            told.push(match Spool::new(path).put(book, lesson, PATIENCE) {
                Ok(()) => {
                    let path = path.display();
                    (Level::Warn, format!("{note}: not learned yet, kept in {path}: {error}"))
                }
                Err(other) => (Level::Error, format!("{note}: not learned: {error}; nor kept: {other}")),
            });
        }
    }

    fn learn(&mut self, book: &Path, lessons: &[Lesson]) -> crate::base::error::Result<Vec<Fate>> {
        let learner = match self.learners.get_mut(book) {
            Some(learner) => learner,
            None => {
                let learner = Learner::new(book)?.patience(PATIENCE);
                self.learners.entry(book.to_owned()).or_insert(learner)
            }
        };
        learner.learn(lessons, false)
    }

    /// Learns the games that were kept earlier. A book that still cannot be learned into is tried once.
    fn resume(&mut self, spool: &Spool, told: &mut Told) {
        let mut learned: HashMap<PathBuf, u32> = HashMap::new();
        let mut failed: HashMap<PathBuf, String> = HashMap::new();
        let drained = spool.drain(PATIENCE, |kept| {
            if failed.contains_key(&kept.book) {
                return false;
            }
            match self.learn(&kept.book, std::slice::from_ref(&kept.lesson)) {
                Ok(_) => {
                    *learned.entry(kept.book.clone()).or_default() += 1;
                    true
                }
                Err(error) => {
                    failed.insert(kept.book.clone(), error.to_string());
                    false
                }
            }
        });
        for (book, count) in learned {
            told.push((
                Level::Info,
                format!("games kept earlier and learned now into {}: {count}", book.display()),
            ));
        }
        for error in failed.into_values() {
            let path = spool.path().display();
            told.push((Level::Warn, format!("games kept in {path} cannot be learned yet: {error}")));
        }
        told.extend(drained.err().map(|error| (Level::Warn, error.to_string())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::polyglot::layout::{Entry, RawMove};
    use crate::chess::Position;
    use shakmaty::{ByColor, Chess, Color, KnownOutcome, Position as _, Square};
    use std::fs;

    fn taught(book: &Path) -> Taught {
        let e4 = shakmaty::Move::Normal {
            role: shakmaty::Role::Pawn,
            from: Square::E2,
            capture: None,
            to: Square::E4,
            promotion: None,
        };
        assert!(Chess::default().is_legal(e4));
        let lesson = Lesson {
            id: [0; 16],
            start: Position::start(),
            moves: vec![e4],
            sides: ByColor { white: true, black: false },
            outcome: KnownOutcome::Decisive { winner: Color::White },
            note: "game 1".to_owned(),
        };
        Taught { books: vec![book.to_owned()], lesson }
    }

    fn book(path: &Path) {
        let mv = RawMove::new(Square::E2, Square::E4, None);
        let entry = Entry { key: Position::start().key(), mv, weight: 1, games: 0, halfpoints: 0 };
        fs::write(path, entry.to_bytes()).unwrap();
    }

    #[test]
    fn what_cannot_be_learned_is_kept_and_learned_later() {
        let folder = tempfile::tempdir().unwrap();
        let (path, spool) = (folder.path().join("a.bin"), folder.path().join("log.spool"));
        let mut desk = Desk::default();
        let told = desk.work(vec![Job::Learn(Box::new(taught(&path)), Some(spool.clone()))]);
        assert_eq!(told[0].0, Level::Warn);
        assert!(told[0].1.contains("not learned yet, kept in "), "{told:?}");
        let told = desk.work(vec![Job::Resume(Some(spool.clone()))]);
        assert!(told[0].1.contains("cannot be learned yet"), "{told:?}");
        book(&path);
        let told = desk.work(vec![Job::Learn(Box::new(taught(&path)), Some(spool.clone()))]);
        assert!(told[0].1.contains("learned: 1 entry of "), "{told:?}");
        let told = desk.work(vec![Job::Resume(Some(spool.clone()))]);
        assert!(told[0].1.starts_with("games kept earlier and learned now into "), "{told:?}");
        assert_eq!(fs::read(&path).unwrap()[12..], [0, 2, 0, 4]);
        assert_eq!(desk.work(vec![Job::Resume(Some(spool.clone()))]), []);
        assert_eq!(fs::metadata(&spool).unwrap().len(), 0);
    }

    #[test]
    fn two_games_of_the_same_moves_are_two_games() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        book(&path);
        let mut desk = Desk::default();
        let job = || Job::Learn(Box::new(taught(&path)), None);
        assert_eq!(desk.work(vec![job(), job()]).len(), 2);
        desk.work(vec![job()]);
        assert_eq!(fs::read(&path).unwrap()[12..], [0, 3, 0, 6]);
    }

    #[test]
    fn the_spool_lies_beside_the_log() {
        let path = spool_path("some/log.txt").unwrap();
        assert!(path.is_absolute() && path.ends_with("some/log.txt.spool"), "{path:?}");
    }
}
