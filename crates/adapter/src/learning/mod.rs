//! Learning from finished games on separate threads: no line ever waits for a disk.
//!
//! One thread writes each game to the spool immediately. Another one, the worker, learns it from there, however long that
//! takes, and marks it as done. A game that cannot be written to the spool is learned without it.

mod open_games;
mod spool_path;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use log::Level;

use tabiya_base::task_thread::{self, TaskThread};
use tabiya_learn::identity;
use tabiya_learn::{IdentifiedGame, Spool};

use self::open_games::OpenGames;
use self::worker::{SpooledGame, Worker, learn_all};
use super::session::{LearnableBook, PlayedGame};

pub use self::spool_path::{spool_path, spool_paths};
pub(super) use self::worker::Work;

/// How long to wait for other processes that have locked a book or the spool.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long to wait for them before a finished game is not kept in the spool.
const KEEP_PATIENCE: Duration = Duration::from_secs(60);

/// How long the adapter's end may wait until the last games are on a disk: before that they would be lost.
const KEEP_TIME: Duration = Duration::from_secs(600);

/// How long it may wait until they are learned.
const LEARN_TIME: Duration = Duration::from_secs(10);

/// A job of the thread that writes the spool.
type SpoolJob = Box<dyn FnOnce() + Send>;

/// Takes messages, each with its level.
pub(super) type ReportMessage = Arc<dyn Fn(Level, String) + Send + Sync>;

/// Messages, each with its level.
type Messages = Vec<(Level, String)>;

/// The threads, which are started when there is something to do.
#[derive(Default)]
pub(super) struct Learning {
    worker: Option<TaskThread<Work>>,
    spool: Option<TaskThread<SpoolJob>>,
    games: OpenGames,
}

/// The end of the threads.
pub(super) struct Ending {
    /// The end of the thread that writes the spool, if there is one.
    kept: Option<task_thread::Ending>,
    /// The end of the worker.
    learned: task_thread::Ending,
    games: OpenGames,
    keep_time: Duration,
    learn_time: Duration,
}

impl Learning {
    /// Hands work to the worker.
    pub(super) fn submit(&mut self, work: Work, report: &ReportMessage) {
        if let Some(worker) = self.worker(report) {
            let _ = worker.send(work);
        }
    }

    /// Identifies the books from which a game is played.
    pub(super) fn identify(&mut self, sources: Arc<[LearnableBook]>) {
        self.write_spool(move || sources.iter().for_each(|source| _ = source.fingerprint()));
    }

    /// Keeps a game in this spool, and learns it.
    pub(super) fn learn(&mut self, played: PlayedGame, spool: Option<PathBuf>, report: &ReportMessage) {
        let Some(worker) = self.worker(report) else { return };
        let PlayedGame { sources, game, source, verdict } = played;
        let id = identity::of_played(&game.start, &game.moves);
        let game = game.said_by(source, id);
        self.games.add(game.id);
        log::info!("will be kept and learned: {}", game.game.note);
        let (report, games) = (Arc::clone(report), self.games.clone());
        self.write_spool(move || {
            let game = keep(sources, game, spool);
            if let Ok((spool, _)) = &game.kept {
                games.keep(game.finished.id, spool.path());
            }
            report(Level::Info, verdict);
            let _ = worker.send(Work::Learn(Box::new(game)));
        });
    }

    /// The channel to the worker.
    fn worker(&mut self, report: &ReportMessage) -> Option<Sender<Work>> {
        let (report, games) = (Arc::clone(report), self.games.clone());
        let learn = move |work| learn_all(&work, &mut Worker::new(games), &*report);
        let worker = TaskThread::started(&mut self.worker, "learn", learn);
        worker
            .inspect_err(|error| log::error!("games will not be learned: {error}"))
            .ok()
            .map(TaskThread::sender)
    }

    /// Hands a job to the thread that writes the spool.
    fn write_spool(&mut self, job: impl FnOnce() + Send + 'static) {
        let work = |jobs: Receiver<SpoolJob>| jobs.into_iter().for_each(|job| job());
        match TaskThread::started(&mut self.spool, "spool", work) {
            Ok(spool) => spool.send(Box::new(job)),
            Err(error) => log::error!("games will be neither kept nor learned: {error}"),
        }
    }

    /// Closes the channels; `None` if nothing is being learned.
    pub(super) fn end(&mut self) -> Option<Ending> {
        let kept = self.spool.take().map(TaskThread::close);
        let learned = self.worker.take()?.close();
        let games = self.games.clone();
        Some(Ending { kept, learned, games, keep_time: KEEP_TIME, learn_time: LEARN_TIME })
    }
}

impl Ending {
    /// Waits until everything is done, but not forever; returns messages about games that are not learned by then.
    pub(super) fn wait(&self) -> Messages {
        self.kept.as_ref().map(|end| end.comes_within(self.keep_time));
        // A game that could not be written to the spool is not on a disk until it is learned.
        let done = self.learned.comes_within(self.learn_time)
            || self.games.are_any_unsaved() && self.learned.comes_within(self.keep_time);
        if done { Vec::new() } else { self.games.messages(self.learn_time) }
    }
}

/// Writes a game to the spool.
fn keep(sources: Arc<[LearnableBook]>, finished: IdentifiedGame, spool: Option<PathBuf>) -> SpooledGame {
    let kept = match spool {
        None => Err("there is no folder to keep it in".to_owned()),
        Some(path) => {
            let spool = Spool::new(path);
            let games: Vec<_> =
                sources.iter().map(|source| (source.file(), source.fingerprint(), &finished)).collect();
            spool
                .put(&games, KEEP_PATIENCE)
                .map(|places| (spool, places))
                .map_err(|error| error.with_source())
        }
    };
    SpooledGame { sources, finished, kept }
}

#[cfg(test)]
mod tests;
