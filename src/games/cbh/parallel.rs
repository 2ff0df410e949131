//! A database gone through by several threads, whose findings come in the order of the games.

use std::sync::mpsc;
use std::thread;

use crate::base::error::{Error, ErrorKind, Result};

/// Games that a thread takes at once: some hundred kilobytes of PGN.
const RUN: u32 = 512;

/// Findings of one thread that may wait to be taken: memory does not grow with the database.
const WAITING: usize = 2;

/// Lets threads work on the games from `first` to `last`, run by run, each with what `make` gives it, and takes what
/// they find in order. What was taken is given back to be filled again, so that it keeps its memory.
///
/// # Errors
/// When `take` fails: the work stops then.
pub fn in_order<W, T: Default + Send>(
    (first, last): (u32, u32),
    threads: usize,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, (u32, u32), &mut T) + Sync,
    mut take: impl FnMut(u32, &mut T) -> Result<()>,
) -> Result<()> {
    let runs = u64::from((last.saturating_add(1)).saturating_sub(first)).div_ceil(u64::from(RUN));
    let run = |number: u64| {
        let from = first.saturating_add(u32::try_from(number).unwrap_or(u32::MAX).saturating_mul(RUN));
        (from, from.saturating_add(RUN - 1).min(last))
    };
    let threads = threads.max(1).min(usize::try_from(runs).unwrap_or(usize::MAX).max(1));
    if threads == 1 {
        let (mut worker, mut found) = (make(), T::default());
        for number in 0..runs {
            work(&mut worker, run(number), &mut found);
            take(run(number).1, &mut found)?;
        }
        return Ok(());
    }
    let (make, work) = (&make, &work);
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads as u64)
            .map(|lane| {
                let (give, found) = mpsc::sync_channel(WAITING);
                let (back, empty) = mpsc::channel();
                scope.spawn(move || {
                    let mut worker = make();
                    for number in (lane..runs).step_by(threads) {
                        let mut found: T = empty.try_recv().unwrap_or_default();
                        work(&mut worker, run(number), &mut found);
                        if give.send(found).is_err() {
                            return;
                        }
                    }
                });
                (found, back)
            })
            .collect();
        for (number, (found, back)) in (0..runs).zip(lanes.iter().cycle()) {
            // A thread that ended early has panicked, and the scope says so.
            let ended = |_| Error::new(ErrorKind::File, "the work stopped");
            let mut found = found.recv().map_err(ended)?;
            take(run(number).1, &mut found)?;
            let _ = back.send(found);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 3, 8] {
            for last in [0, 1, 511, 512, 513, 5000] {
                let mut seen = Vec::new();
                let work = |_: &mut (), (from, to): (u32, u32), found: &mut Vec<u32>| {
                    found.clear();
                    found.extend(from..=to);
                };
                in_order(
                    (1, last),
                    threads,
                    || (),
                    work,
                    |end, found| {
                        assert_eq!(found.last(), Some(&end));
                        seen.append(found);
                        Ok(())
                    },
                )
                .unwrap();
                assert_eq!(seen, (1..=last).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_error_stops_the_work() {
        for threads in [1, 4] {
            let error = || Error::new(ErrorKind::File, "full");
            let done = in_order((1, 1 << 20), threads, || (), |(), _, _: &mut ()| {}, |_, ()| Err(error()));
            assert_eq!(done.unwrap_err().to_string(), "full");
        }
    }
}
