//! A thread for work that may have to wait for a disk or for another program: the caller does not wait.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::interrupt;

/// A thread that does what it is sent, in that order.
pub struct TaskThread<T> {
    tasks: Sender<T>,
    ending: Ending,
}

/// The end of such a thread, once nothing more can be sent to it.
pub struct Ending(Receiver<()>);

impl<T: Send + 'static> TaskThread<T> {
    /// Starts a thread that does `work` with what it is sent, until all senders are gone.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(name: &str, work: impl FnOnce(Receiver<T>) + Send + 'static) -> io::Result<Self> {
        let (tasks, taken) = channel();
        let (running, end) = channel();
        let run = move || {
            work(taken);
            drop(running);
        };
        thread::Builder::new().name(name.to_owned()).spawn(interrupt::inherited(run))?;
        Ok(Self { tasks, ending: Ending(end) })
    }

    /// The thread in `place`, started first if there is none.
    ///
    /// # Errors
    /// As [`TaskThread::start`].
    pub fn started<'a>(
        place: &'a mut Option<Self>,
        name: &str,
        work: impl FnOnce(Receiver<T>) + Send + 'static,
    ) -> io::Result<&'a Self> {
        match place {
            Some(thread) => Ok(thread),
            none => Ok(none.insert(Self::start(name, work)?)),
        }
    }

    pub fn send(&self, task: T) {
        // The thread ends only after this.
        let _ = self.tasks.send(task);
    }

    /// Lets others hand over work: the thread does not end before they are dropped.
    pub fn sender(&self) -> Sender<T> {
        self.tasks.clone()
    }

    /// Nothing more is sent from here.
    pub fn close(self) -> Ending {
        self.ending
    }
}

impl Ending {
    /// Waits for the end of the thread; whether it comes in time.
    pub fn comes_within(&self, time: Duration) -> bool {
        self.0.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_done_in_order_and_the_end_waits_for_all_who_may_send() {
        let (done, seen) = channel();
        let work = move |tasks: Receiver<u32>| tasks.into_iter().for_each(|task| done.send(task).unwrap());
        let mut place = None;
        TaskThread::started(&mut place, "test", work).unwrap().send(1);
        TaskThread::started(&mut place, "not started", |_| panic!("there is one")).unwrap().send(2);
        let thread = place.unwrap();
        let (other, end) = (thread.sender(), thread.close());
        assert!(!end.comes_within(Duration::ZERO));
        other.send(3).unwrap();
        drop(other);
        assert!(end.comes_within(Duration::from_secs(60)));
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
