//! Learning from finished games, on threads of its own, so that no line ever waits for a disk.
//!
//! One thread writes each game to the spool at once; another one, the worker, learns it from there, however long that
//! takes, and crosses it out. A game that the spool does not take is learned without it.

mod open_games;
mod spool_path;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use log::Level;

use self::open_games::OpenGames;
use self::worker::{Game, Work, Worker, learn_all};
use super::session::{PlayedGame, Source};
use crate::learn::identity;
use crate::learn::{IdentifiedGame, Spool};

pub use self::spool_path::{spool_path, spool_paths};

/// How long to wait for other processes that have locked a book or the spool.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long to wait for them before a finished game is not kept in the spool.
const KEEP_PATIENCE: Duration = Duration::from_secs(60);

/// How long the adapter's end may wait for the disk to take the last games: until then they would be lost.
const KEEP_TIME: Duration = Duration::from_secs(600);

/// How long it may wait for them to be learned.
const LEARN_TIME: Duration = Duration::from_secs(10);

/// Something to do.
pub(super) enum Job {
    /// Identify the books from which a game is played.
    Identify(Arc<[Source]>),
    /// Keep a game in this spool, and learn it.
    Learn(Box<PlayedGame>, Option<PathBuf>),
    /// Complete what a process that died has begun in this book.
    Settle(PathBuf),
    /// Learn the games that were kept earlier in these spools.
    Resume(Vec<PathBuf>),
}

/// A job of the thread that writes the spool.
enum SpoolJob {
    Identify(Arc<[Source]>),
    /// Keep a game of these books in this spool, then report this message.
    Keep(Arc<[Source]>, Box<IdentifiedGame>, Option<PathBuf>, String),
}

/// Takes messages, each with its level.
pub(super) type Report = Arc<dyn Fn(Level, String) + Send + Sync>;

/// Messages, each with its level.
type Messages = Vec<(Level, String)>;

/// A job of the thread that writes the spool, and where its result goes.
type SpoolOrder = (SpoolJob, Sender<Work>);

/// The channels to the threads, which are started when there is something to do.
#[derive(Default)]
pub(super) struct Learning {
    worker: Option<(Sender<Work>, Receiver<()>)>,
    spool: Option<(Sender<SpoolOrder>, Receiver<()>)>,
    games: OpenGames,
}

/// The end of the threads.
pub(super) struct Ending {
    /// The end of the thread that writes the spool, if there is one.
    kept: Option<Receiver<()>>,
    /// The end of the worker.
    learned: Receiver<()>,
    games: OpenGames,
    keep_time: Duration,
    learn_time: Duration,
}

impl Learning {
    /// Hands a job to the threads.
    pub(super) fn submit(&mut self, job: Job, report: &Report) {
        let Some(worker) = self.worker(report) else {
            return log::error!("cannot start a thread to learn: nothing is learned");
        };
        let job = match job {
            Job::Settle(book) => return drop(worker.send(Work::Settle(book))),
            Job::Resume(spools) => return drop(worker.send(Work::Resume(spools))),
            Job::Identify(sources) => SpoolJob::Identify(sources),
            Job::Learn(played, spool) => {
                let PlayedGame { sources, game, verdict } = *played;
                let game = Box::new(game.identified(identity::of_played()));
                self.games.add(game.id);
                log::info!("to be kept and learned: {}", game.game.note);
                SpoolJob::Keep(sources, game, spool, verdict)
            }
        };
        match self.spool(report) {
            Some(jobs) => drop(jobs.send((job, worker))),
            None => log::error!("cannot start a thread to keep games: the game is not learned"),
        }
    }

    /// The channel to the worker.
    fn worker(&mut self, report: &Report) -> Option<Sender<Work>> {
        if self.worker.is_none() {
            let (sender, work) = channel();
            let (finished, end) = channel();
            let (report, games) = (Arc::clone(report), self.games.clone());
            let learn = move || {
                learn_all(&work, &mut Worker::new(games), &*report);
                // The receiver may have given up waiting.
                let _ = finished.send(());
            };
            thread::Builder::new().name("learn".to_owned()).spawn(learn).ok()?;
            self.worker = Some((sender, end));
        }
        self.worker.as_ref().map(|(sender, _)| sender.clone())
    }

    /// The channel to the thread that writes the spool.
    fn spool(&mut self, report: &Report) -> Option<Sender<(SpoolJob, Sender<Work>)>> {
        if self.spool.is_none() {
            let (sender, jobs) = channel::<(SpoolJob, Sender<Work>)>();
            let (finished, end) = channel();
            let (report, games) = (Arc::clone(report), self.games.clone());
            let keep_all = move || {
                for (job, worker) in jobs {
                    match job {
                        SpoolJob::Identify(sources) => sources.iter().for_each(|source| {
                            let _ = source.fingerprint();
                        }),
                        SpoolJob::Keep(sources, finished, spool, verdict) => {
                            let game = keep(sources, *finished, spool);
                            if let Ok((spool, _)) = &game.kept {
                                games.keep(spool.path());
                            }
                            report(Level::Info, verdict);
                            let _ = worker.send(Work::Learn(Box::new(game)));
                        }
                    }
                }
                let _ = finished.send(());
            };
            thread::Builder::new().name("spool".to_owned()).spawn(keep_all).ok()?;
            self.spool = Some((sender, end));
        }
        self.spool.as_ref().map(|(sender, _)| sender.clone())
    }

    /// Closes the channels; `None` if no thread was started.
    pub(super) fn end(&mut self) -> Option<Ending> {
        let kept = self.spool.take().map(|(_, end)| end);
        let (_, learned) = self.worker.take()?;
        let games = self.games.clone();
        Some(Ending { kept, learned, games, keep_time: KEEP_TIME, learn_time: LEARN_TIME })
    }
}

impl Ending {
    /// Waits until all is done, but not forever; returns messages about games that are not learned by then.
    pub(super) fn wait(&self) -> Messages {
        let in_time = |end: &Receiver<()>, time| end.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
        let _ = self.kept.as_ref().map(|end| in_time(end, self.keep_time));
        // A game that the spool does not take is on no disk until it is learned.
        let done = in_time(&self.learned, self.learn_time)
            || self.games.are_any_loose() && in_time(&self.learned, self.keep_time);
        if done { Vec::new() } else { self.games.messages(self.learn_time) }
    }
}

/// Writes a game to the spool.
fn keep(sources: Arc<[Source]>, finished: IdentifiedGame, spool: Option<PathBuf>) -> Game {
    let kept = match spool {
        None => Err("there is no folder for a spool".to_owned()),
        Some(path) => {
            let spool = Spool::new(path);
            let games: Vec<_> =
                sources.iter().map(|source| (source.file(), source.fingerprint(), &finished)).collect();
            spool.put(&games, KEEP_PATIENCE).map(|places| (spool, places)).map_err(|error| error.to_string())
        }
    };
    Game { sources, finished, kept }
}

#[cfg(test)]
mod tests;
