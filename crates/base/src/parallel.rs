//! Running work on several threads, which end before the call returns.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::error::{Error, ErrorKind, Result};
use super::interrupt;

/// How many threads the machine can run at the same time.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on each of `threads` threads, and `lead` on this one meanwhile; returns their results.
pub fn beside<T: Send, L>(
    threads: usize,
    work: impl Fn() -> T + Sync,
    lead: impl FnOnce() -> L,
) -> (L, Vec<T>) {
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(interrupt::inherited(&work))).collect();
        let led = lead();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (led, running.into_iter().map(join).collect())
    })
}

/// How threads share what is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Whichever is free takes the next item.
    Evenly,
    /// Where the next item takes as long to find as to work on: each thread works only while more items wait than threads come before
    /// it, so that one that is not needed leaves the processor to whoever finds them.
    Sparingly,
}

/// Hands what `next` returns to threads, and returns what `finish` makes of each thread's value. `work` returns whether more is wanted.
///
/// # Errors
/// When `next` or `finish` fails, or the work is interrupted.
pub fn hand_out<I: Send, W, T: Send>(
    threads: usize,
    sharing: Sharing,
    mut next: impl FnMut() -> Result<Option<I>>,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, I) -> bool + Sync,
    finish: impl Fn(W) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = threads.max(1);
    // Enough to keep every thread busy while this one waits for the disk, and no more.
    let queue = Queue::new(threads, sharing);
    let number = AtomicUsize::new(0);
    let each = || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let _panic = StopOnPanic(&queue);
        let mut worker = make();
        while let Some(item) = queue.take(number) {
            if !work(&mut worker, item) {
                queue.stop();
            }
        }
        finish(worker)
    };
    let mut lead = || {
        // Whatever happens here, the threads end when all is taken.
        let _end = EndOfQueue(&queue);
        while let Some(item) = next()? {
            interrupt::check()?;
            if !queue.put(item) {
                break;
            }
        }
        interrupt::check()
    };
    let (led, done) = beside(threads, each, || lead().inspect_err(|_| queue.stop()));
    led?;
    done.into_iter().collect()
}

/// What waits for threads.
struct Queue<I> {
    state: Mutex<Waiting<I>>,
    /// Wakes each thread when enough items wait for it; all of them wait for the first where they are not used sparingly.
    enough: Vec<Condvar>,
    room: Condvar,
    sharing: Sharing,
}

struct Waiting<I> {
    items: VecDeque<I>,
    /// Nothing comes any more.
    over: bool,
    /// Nothing is wanted any more.
    stopped: bool,
}

impl<I> Queue<I> {
    fn new(threads: usize, sharing: Sharing) -> Self {
        let state = Mutex::new(Waiting { items: VecDeque::new(), over: false, stopped: false });
        let enough = (0..threads).map(|_| Condvar::new()).collect();
        Self { state, enough, room: Condvar::new(), sharing }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item when there is room; returns whether it was wanted.
    fn put(&self, item: I) -> bool {
        let is_full =
            |waiting: &mut Waiting<I>| waiting.items.len() >= 2 * self.enough.len() && !waiting.stopped;
        let mut waiting = self.room.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
        if waiting.stopped {
            return false;
        }
        waiting.items.push_back(item);
        let before = waiting.items.len() - 1;
        drop(waiting);
        // The threads before this one were woken by the items before.
        self.enough.get(self.place(before)).into_iter().for_each(Condvar::notify_one);
        true
    }

    /// The next item for the thread of this number, from 0, when enough wait or no more come.
    fn take(&self, number: usize) -> Option<I> {
        let place = self.place(number);
        let is_too_few =
            |waiting: &mut Waiting<I>| waiting.items.len() <= place && !waiting.over && !waiting.stopped;
        let mut waiting = self
            .enough
            .get(place)?
            .wait_while(self.lock(), is_too_few)
            .unwrap_or_else(PoisonError::into_inner);
        if waiting.stopped {
            return None;
        }
        let item = waiting.items.pop_front();
        drop(waiting);
        self.room.notify_one();
        item
    }

    /// How many items wait for others where the thread of this number is wanted.
    fn place(&self, number: usize) -> usize {
        if self.sharing == Sharing::Sparingly { number } else { 0 }
    }

    fn end(&self, stopped: bool) {
        let mut waiting = self.lock();
        waiting.over = true;
        waiting.stopped |= stopped;
        drop(waiting);
        self.enough.iter().chain([&self.room]).for_each(Condvar::notify_all);
    }

    fn stop(&self) {
        self.end(true);
    }
}

/// Stops the work when a thread panics: with no thread left, nothing would be taken.
struct StopOnPanic<'a, I>(&'a Queue<I>);

impl<I> Drop for StopOnPanic<'_, I> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Lets the threads end when nothing comes any more.
struct EndOfQueue<'a, I>(&'a Queue<I>);

impl<I> Drop for EndOfQueue<'_, I> {
    fn drop(&mut self) {
        self.0.end(false);
    }
}

/// Lets threads work on what `next` returns, each thread with the value that `make` returns, and takes the results in order,
/// with their numbers from 0. A result that was taken is reused, so it keeps its memory. `waiting` results of each thread may
/// wait to be taken, besides the one that it works on.
///
/// # Errors
/// When `next` fails, after the results of what it returned before; when `take` fails: the work stops then.
pub fn in_order<I: Send, W, T: Default + Send>(
    threads: usize,
    waiting: usize,
    mut next: impl FnMut() -> Result<Option<I>>,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, I, &mut T) + Sync,
    mut take: impl FnMut(u64, &mut T) -> Result<()>,
) -> Result<()> {
    if threads <= 1 {
        let (mut worker, mut found) = (make(), T::default());
        for number in 0.. {
            let Some(item) = next()? else { break };
            work(&mut worker, item, &mut found);
            take(number, &mut found)?;
        }
        return Ok(());
    }
    let (make, work) = (&make, &work);
    let most = threads.saturating_mul(waiting + 1);
    thread::scope(|scope| {
        let lane = || {
            let (give, items) = mpsc::channel::<(I, T)>();
            let (done, found) = mpsc::channel();
            scope.spawn(interrupt::inherited(move || {
                let mut worker = make();
                for (item, mut found) in items {
                    work(&mut worker, item, &mut found);
                    if done.send(found).is_err() {
                        return;
                    }
                }
            }));
            (give, found)
        };
        // Each thread gets every n-th item, and is started for its first one.
        let (mut lanes, mut spare) = (Vec::new(), Vec::new());
        let (mut handed, mut over) = (0_usize, Ok(false));
        for number in 0.. {
            while handed - number < most && matches!(over, Ok(false)) {
                match next() {
                    Ok(Some(item)) => {
                        if lanes.len() < threads {
                            lanes.push(lane());
                        }
                        if let Some((give, _)) = lanes.get(handed % threads) {
                            // A thread that takes nothing has panicked, and the scope reports it.
                            let _ = give.send((item, spare.pop().unwrap_or_default()));
                        }
                        handed += 1;
                    }
                    other => over = other.map(|_| true),
                }
            }
            let Some((_, found)) = lanes.get(number % threads).filter(|_| number < handed) else { break };
            let mut found = found.recv().map_err(|_| Error::new(ErrorKind::File, "the work stopped"))?;
            take(number as u64, &mut found)?;
            spare.push(found);
        }
        over.map(|_| ())
    })
}

#[cfg(test)]
mod tests {
    use super::Sharing::{Evenly, Sparingly};
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [0, 1, 2, 3, 8] {
            for (jobs, waiting) in [(0, 0), (1, 0), (7, 2), (500, 0), (500, 3)] {
                let (mut seen, mut all) = (Vec::new(), 0..jobs);
                let work = |_: &mut (), job: u64, found: &mut Vec<u64>| {
                    found.clear();
                    found.push(job * job);
                };
                let take = |job: u64, found: &mut Vec<u64>| {
                    assert_eq!(*found, [job * job]);
                    seen.append(found);
                    Ok(())
                };
                in_order(threads, waiting, || Ok(all.next()), || (), work, take).unwrap();
                assert_eq!(seen, (0..jobs).map(|job| job * job).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn each_item_goes_to_one_thread_until_an_error_or_until_none_is_wanted() {
        for (threads, sharing) in
            [(0, Evenly), (1, Evenly), (3, Evenly), (1, Sparingly), (3, Sparingly), (8, Sparingly)]
        {
            let mut items = 0..1000_u64;
            let sums = hand_out(
                threads,
                sharing,
                || Ok(items.next()),
                || 0,
                |sum, item| {
                    *sum += item;
                    true
                },
                Ok,
            );
            assert_eq!(sums.unwrap().iter().sum::<u64>(), 499_500);
            let mut asked = 0_u64;
            let endless = || {
                asked += 1;
                Ok(Some(asked))
            };
            assert!(hand_out(threads, sharing, endless, || (), |(), item| item < 50, Ok).is_ok());
            let broken = || Err::<Option<u8>, _>(Error::new(ErrorKind::File, "gone"));
            let error = hand_out(threads, sharing, broken, || (), |(), _| true, Ok).unwrap_err();
            assert_eq!(error.to_string(), "gone");
        }
    }

    #[test]
    fn where_all_threads_panic_the_work_ends() {
        for (threads, sharing) in [(1, Evenly), (3, Evenly), (3, Sparingly)] {
            let (mut items, panicked) = (0..1000_u64, AtomicU32::new(0));
            let work = |(): &mut (), _| {
                panicked.fetch_add(1, Ordering::Relaxed);
                panic!("on purpose")
            };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                hand_out(threads, sharing, || Ok(items.next()), || (), work, Ok)
            }));
            assert!(done.is_err() && panicked.into_inner() > 0);
        }
    }

    #[test]
    fn an_error_stops_the_work() {
        for threads in [1, 4] {
            let error = || Error::new(ErrorKind::File, "full");
            let done =
                in_order(threads, 2, || Ok(Some(1)), || (), |(), _, _: &mut ()| {}, |_, ()| Err(error()));
            assert_eq!(done.unwrap_err().to_string(), "full");
            // What came before an error of the source is taken.
            let (mut items, mut seen) = (0..5_u64, 0);
            let next = || items.next().map(Some).ok_or_else(error);
            let done = in_order(
                threads,
                2,
                next,
                || (),
                |(), _, _: &mut ()| {},
                |_, ()| {
                    seen += 1;
                    Ok(())
                },
            );
            assert_eq!((done.unwrap_err().to_string(), seen), ("full".to_owned(), 5));
        }
    }

    #[test]
    fn each_thread_returns_what_it_did() {
        let (send, receive) = mpsc::sync_channel(1);
        let receive = std::sync::Mutex::new(receive);
        let sum = AtomicU32::new(0);
        let work = || {
            let mut taken = 0;
            while let Ok(number) = receive.lock().unwrap().recv() {
                sum.fetch_add(number, Ordering::Relaxed);
                taken += 1;
            }
            taken
        };
        let lead = move || (1..=100).filter(|number| send.send(*number).is_ok()).count();
        let (led, done) = beside(3, work, lead);
        assert_eq!((led, done.len(), done.iter().sum::<usize>(), sum.into_inner()), (100, 3, 100, 5050));
    }
}
