//! Learning off the path of lines, so that no line ever waits for a disk.
//!
//! Two threads: one puts each game that is over into the spool, at once; the other learns from there, however long that
//! takes, and crosses out what is learned. A game that the spool does not take is learned without it.

mod desk;

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use log::Level;

use self::desk::{Desk, Game};
use super::hub::Hub;
use super::session::{Source, Taught};
use crate::learn::Spool;
use crate::learn::journal::Id;

/// How long other processes may keep a book or the spool.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long other processes may keep the spool from a game that is over.
const KEEP_PATIENCE: Duration = Duration::from_secs(60);

/// How long the adapter's end may wait for the disk to take the last games: until then they would be lost.
const KEEP_TIME: Duration = Duration::from_secs(600);

/// How long it may wait for them to be learned.
const LEARN_TIME: Duration = Duration::from_secs(10);

/// Games that wait and are learned in one go.
const MOST_AT_ONCE: usize = 255;

/// What is added to the log's name for the spool's.
const SPOOL_SUFFIX: &str = ".spool";

/// The spool's name where there is no log.
const SPOOL_NAME: &str = "games.spool";

/// What is to be done.
pub(super) enum Job {
    /// Take note of the books that a game is played from.
    Bind(Arc<[Source]>),
    /// Keep a game in this spool, and learn it.
    Learn(Box<Taught>, Option<PathBuf>),
    /// Finish what a process that died has begun in this book.
    Settle(PathBuf),
    /// Learn what was kept earlier in these spools.
    Resume(Vec<PathBuf>),
}

/// What the learning thread gets to do.
enum Work {
    Learn(Box<Game>),
    Settle(PathBuf),
    Resume(Vec<PathBuf>),
}

/// A job of the thread that keeps games, and the way to the one that learns them.
type Handed = (Job, Sender<Work>);

/// A message, and how loud it is.
type Told = Vec<(Level, String)>;

/// Games that are neither learned nor reported yet.
#[derive(Default)]
struct Open {
    /// Those that are on no disk yet.
    loose: u32,
    /// Those in each spool.
    kept: BTreeMap<PathBuf, u32>,
    /// All of them.
    ids: HashSet<Id>,
}

/// The games that both threads and the adapter's end must know of.
#[derive(Clone, Default)]
struct Games(Arc<Mutex<Open>>);

impl Games {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another game.
    fn add(&self, id: Id) {
        let mut open = self.open();
        open.loose += 1;
        open.ids.insert(id);
    }

    /// Whether a game that a spool has is one of this process, and about to be learned.
    fn has(&self, id: Id) -> bool {
        self.open().ids.contains(&id)
    }

    /// A game is in this spool.
    fn keep(&self, spool: &Path) {
        let mut open = self.open();
        open.loose = open.loose.saturating_sub(1);
        *open.kept.entry(spool.to_owned()).or_default() += 1;
    }

    /// What became of a game is about to be reported.
    fn close(&self, game: &Game) {
        let mut open = self.open();
        open.ids.remove(&game.lesson.id);
        match &game.kept {
            Ok((spool, _)) => {
                if let Some(count) = open.kept.get_mut(spool.path()) {
                    *count = count.saturating_sub(1);
                }
            }
            Err(_) => open.loose = open.loose.saturating_sub(1),
        }
    }
}

/// The way to the threads; they are started when there is something to do.
#[derive(Default)]
pub(super) struct Study {
    learn: Option<(Sender<Work>, Receiver<()>)>,
    keep: Option<(Sender<Handed>, Receiver<()>)>,
    games: Games,
}

/// The end of the threads.
pub(super) struct Ending {
    /// The end of the thread that keeps games, where there is one.
    kept: Option<Receiver<()>>,
    /// The end of the thread that learns.
    learned: Receiver<()>,
    games: Games,
    /// How long games may take to be kept, and to be learned.
    times: [Duration; 2],
}

impl Study {
    /// Hands a job to the threads.
    pub(super) fn give(&mut self, hub: &Arc<Hub>, mut job: Job) {
        if let Job::Learn(taught, _) = &mut job {
            taught.lesson.id = rand::random();
            self.games.add(taught.lesson.id);
            log::info!("to be kept and learned: {}", taught.lesson.note);
        }
        let given = match job {
            Job::Settle(book) => self.learner(hub).is_some_and(|work| work.send(Work::Settle(book)).is_ok()),
            Job::Resume(spools) => {
                self.learner(hub).is_some_and(|work| work.send(Work::Resume(spools)).is_ok())
            }
            job => self.keeper(hub).is_some_and(|(jobs, work)| jobs.send((job, work)).is_ok()),
        };
        if !given {
            log::error!("the system gives no thread to learn with: nothing is learned");
        }
    }

    /// The way to the thread that learns.
    fn learner(&mut self, hub: &Arc<Hub>) -> Option<Sender<Work>> {
        if self.learn.is_none() {
            let (work, taken) = channel();
            let (finished, end) = channel();
            let (hub, games) = (Arc::clone(hub), self.games.clone());
            let learn = move || {
                learn_all(&taken, &mut Desk::new(games), |level, message| hub.report(level, message));
                // Nobody may wait for it any more.
                let _ = finished.send(());
            };
            thread::Builder::new().name("study".to_owned()).spawn(learn).ok()?;
            self.learn = Some((work, end));
        }
        self.learn.as_ref().map(|(work, _)| work.clone())
    }

    /// The way to the thread that keeps, and the way that it is to hand games on.
    fn keeper(&mut self, hub: &Arc<Hub>) -> Option<(Sender<Handed>, Sender<Work>)> {
        let work = self.learner(hub)?;
        if self.keep.is_none() {
            let (jobs, taken) = channel::<Handed>();
            let (finished, end) = channel();
            let (hub, games) = (Arc::clone(hub), self.games.clone());
            let keep = move || {
                for (job, work) in taken {
                    match job {
                        Job::Bind(sources) => sources.iter().for_each(|source| {
                            let _ = source.fingerprint();
                        }),
                        Job::Learn(taught, spool) => {
                            let (game, verdict) = keep(*taught, spool);
                            if let Ok((spool, _)) = &game.kept {
                                games.keep(spool.path());
                            }
                            hub.report(Level::Info, verdict);
                            let _ = work.send(Work::Learn(Box::new(game)));
                        }
                        Job::Settle(_) | Job::Resume(_) => {}
                    }
                }
                let _ = finished.send(());
            };
            thread::Builder::new().name("spool".to_owned()).spawn(keep).ok()?;
            self.keep = Some((jobs, end));
        }
        self.keep.as_ref().map(|(jobs, _)| (jobs.clone(), work))
    }

    /// The way to the end of the threads; no more jobs can be given.
    pub(super) fn end(&mut self) -> Option<Ending> {
        let kept = self.keep.take().map(|(_, end)| end);
        let (_, learned) = self.learn.take()?;
        Some(Ending { kept, learned, games: self.games.clone(), times: [KEEP_TIME, LEARN_TIME] })
    }
}

impl Ending {
    /// Waits until all is done, but not for ever; returns what is to be said of games that are not learned by then.
    pub(super) fn wait(&self) -> Vec<(Level, String)> {
        let mut told = Vec::new();
        let [to_keep, to_learn] = self.times;
        let in_time = |end: &Receiver<()>, time| end.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
        let _ = self.kept.as_ref().map(|end| in_time(end, to_keep));
        // A game that the spool does not take is nowhere until it is learned.
        if in_time(&self.learned, to_learn) || self.games.open().loose > 0 && in_time(&self.learned, to_keep)
        {
            return told;
        }
        let seconds = to_learn.as_secs();
        let open = self.games.open();
        for (spool, count) in open.kept.iter().filter(|(_, count)| **count > 0) {
            let (games, are) = if *count == 1 { ("game", "is") } else { ("games", "are") };
            told.push((
                Level::Warn,
                format!(
                    "{count} {games} could not be learned in {seconds} s, {are} kept in {} and learned by the next \
                     tabiya",
                    spool.display()
                ),
            ));
        }
        if open.loose > 0 {
            let what =
                format!("{} finished games could be neither kept nor learned: they are lost", open.loose);
            told.push((Level::Error, what));
        }
        told
    }
}

/// Puts a game into the spool; with it comes what is to be reported then.
fn keep(taught: Taught, spool: Option<PathBuf>) -> (Game, String) {
    let Taught { sources, lesson, verdict } = taught;
    let kept = match spool {
        None => Err("there is no folder for a spool".to_owned()),
        Some(path) => {
            let spool = Spool::new(path);
            let games: Vec<_> =
                sources.iter().map(|source| (source.file(), source.fingerprint(), &lesson)).collect();
            spool.put(&games, KEEP_PATIENCE).map(|places| (spool, places)).map_err(|error| error.to_string())
        }
    };
    (Game { sources, lesson, kept }, verdict)
}

/// Learns what comes, new games first, and between them what was kept earlier, until no more can come.
fn learn_all(taken: &Receiver<Work>, desk: &mut Desk, report: impl Fn(Level, String)) {
    let mut open = true;
    while open {
        let first = if desk.drains() {
            match taken.try_recv() {
                Ok(work) => Some(work),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => {
                    open = false;
                    None
                }
            }
        } else {
            let work = taken.recv().ok();
            open = work.is_some();
            work
        };
        let told = match first {
            // What has come meanwhile is learned in one go: a slow disk must not fall ever further behind.
            Some(first) => {
                desk.work(std::iter::once(first).chain(taken.try_iter().take(MOST_AT_ONCE)).collect())
            }
            None if open => desk.drain(),
            None => desk.end(),
        };
        told.into_iter().for_each(|(level, message)| report(level, message));
    }
}

/// The spools in which games of this process may be kept, the present one first: beside the log, and where there is no
/// log.
pub fn spool_paths(log: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = spool_path(log).into_iter().chain(spool_path("")).collect();
    paths.dedup();
    paths
}

/// Where games are kept until they are learned: beside the log, or where there is none in the user's own folder for
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

#[cfg(test)]
mod tests;
