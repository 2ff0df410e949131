//! Playing through all games of a source, on all cores.

use std::sync::atomic::{AtomicU64, Ordering};

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::parallel::{self, Sharing};
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;

use super::pgn::Room;
use super::{Batch, Sources, Visitor};

/// The part of the memory that one long game may take.
const LONG: usize = 8;

/// Players of each thread that may wait to be taken.
const WAITING: usize = 2;

/// Plays through the games of a source on several threads, some games with each player, and takes the players in the order of
/// the games.
///
/// # Errors
/// When a file cannot be read, `take` fails, or the work is interrupted.
pub fn play_in_order<P: Visitor + Send>(
    source: &mut Sources,
    resources: &Resources,
    progress: &Progress,
    player: impl Fn() -> P + Sync,
    mut take: impl FnMut(P) -> Result<()>,
) -> Result<()> {
    prepare(source, resources, progress);
    let games = AtomicU64::new(0);
    let next = || {
        interrupt::check()?;
        let batch = source.next_batch()?;
        progress.games_at(source.done(), games.load(Ordering::Relaxed));
        Ok(batch)
    };
    let work = |(): &mut (), batch: Box<dyn Batch>, played: &mut Option<P>| {
        let mut player = player();
        games.fetch_add(batch.play(&mut player), Ordering::Relaxed);
        *played = Some(player);
    };
    let take = |_, played: &mut Option<P>| played.take().map_or(Ok(()), &mut take);
    parallel::in_order(resources.threads, WAITING, next, || (), work, take)
}

/// Lets long games be read whole, as far as the resources allow.
fn prepare(source: &mut Sources, resources: &Resources, progress: &Progress) {
    source.read_within(Room::new(resources.memory / LONG));
    progress.games(source.size());
}

/// Plays through the games of a source on all threads, and returns what `finish` makes of each thread's player. Which
/// thread gets which game differs from run to run.
///
/// # Errors
/// When a file cannot be read, or the work is interrupted.
pub fn play<P: Visitor + Send, T: Send>(
    source: &mut Sources,
    resources: &Resources,
    progress: &Progress,
    player: impl Fn() -> P + Sync,
    finish: impl Fn(P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    prepare(source, resources, progress);
    let games = AtomicU64::new(0);
    let next = || {
        let batch = source.next_batch()?;
        progress.games_at(source.done(), games.load(Ordering::Relaxed));
        Ok(batch)
    };
    let work = |player: &mut P, batch: Box<dyn Batch>| {
        games.fetch_add(batch.play(player), Ordering::Relaxed);
        !player.has_failed()
    };
    // Of a compressed file this thread has as much to do as one that reads the first plies of its games.
    parallel::hand_out(resources.threads, Sharing::Sparingly, next, player, work, finish)
}
