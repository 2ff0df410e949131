//! Playing through all games of a source, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::parallel;
use crate::base::progress::Progress;
use crate::games::{Batch, Sources, Visitor};

/// What one thread does with its games.
pub(crate) trait GamesPlayer: Visitor + Send {
    /// The games that it has received.
    fn games(&self) -> u64;

    /// Whether it can take no more games.
    fn has_failed(&self) -> bool;
}

/// Plays through the games of a source on `threads` threads, and returns what `finish` makes of each thread's player. Which
/// thread gets which game differs from run to run.
///
/// # Errors
/// When a file cannot be read, or the work is interrupted.
pub(crate) fn play<P: GamesPlayer, T: Send>(
    source: &mut Sources,
    threads: usize,
    progress: &Progress,
    player: impl Fn() -> P + Sync,
    finish: impl Fn(P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = threads.max(1);
    // Enough to keep every thread busy while the reader waits for the disk, and no more.
    let (send, receive) = sync_channel(threads * 2);
    let receive = Mutex::new(receive);
    let (stop, games) = (AtomicBool::new(false), AtomicU64::new(0));
    let work = || {
        let mut player = player();
        while let Some(batch) = next(&receive) {
            if stop.load(Ordering::Relaxed) {
                continue;
            }
            let before = player.games();
            batch.play(&mut player);
            games.fetch_add(player.games() - before, Ordering::Relaxed);
            if player.has_failed() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        finish(player)
    };
    let lead = || {
        // Dropped at the end, which ends the threads.
        let send = send;
        progress.games(source.size());
        while !stop.load(Ordering::Relaxed)
            && let Some(batch) = source.next_batch()?
        {
            interrupt::check()?;
            progress.games_at(source.done(), games.load(Ordering::Relaxed));
            if send.send(batch).is_err() {
                break;
            }
        }
        interrupt::check()
    };
    let (read, players) =
        parallel::beside(threads, work, || lead().inspect_err(|_| stop.store(true, Ordering::Relaxed)));
    read?;
    players.into_iter().collect()
}

/// The next batch, for whichever thread asks first.
fn next(receive: &Mutex<Receiver<Box<dyn Batch>>>) -> Option<Box<dyn Batch>> {
    receive.lock().ok()?.recv().ok()
}
