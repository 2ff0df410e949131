//! The times at which something is to happen although nobody sends anything: neither the session nor a pipe has a clock.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::shared::Shared;
use super::state::{AdapterState, Side};
use crate::session::Session;

impl Shared {
    /// Notes what the session waits for, and for how long.
    pub(super) fn set_clock(&self, state: &mut AdapterState) {
        let check = state.session.due();
        let owes = state.session.owes_uciok();
        if check == state.due.check && owes == state.due.uci.is_some() {
            return;
        }
        state.due.check = check;
        state.due.uci = owes.then(|| state.due.uci.unwrap_or_else(|| self.now() + self.uci_limit));
        self.wake_clock(state);
    }

    /// The engine is of no more use: it is killed unless it exits within this time.
    pub(super) fn give_up_after(&self, state: &mut AdapterState, time: Duration, why: &'static str) {
        state.due.useless.get_or_insert((self.now() + time, why));
        self.wake_clock(state);
    }

    /// The engine is killed unless it exits in this time.
    pub(super) fn kill_after(&self, state: &mut AdapterState, time: Duration) {
        let exit = self.now() + time;
        state.due.exit = Some(state.due.exit.map_or(exit, |due| due.min(exit)));
        self.wake_clock(state);
    }

    /// Wakes the clock's thread if it sleeps beyond a time that is due.
    pub(super) fn wake_clock(&self, state: &AdapterState) {
        let next = state.next_due();
        if next.is_some_and(|next| state.sleeps_until.is_none_or(|until| next < until)) {
            self.clock.notify_all();
        }
    }

    /// Gives up an engine that does not answer `uci` in time or has become useless, kills one that does not exit, and starts
    /// [`Shared::tell_time`] when a deadline of the session has passed. This thread never waits for a pipe.
    pub(super) fn watch_time(self: &Arc<Self>) {
        let mut state = self.lock();
        while !state.engine.process {
            let now = self.now();
            if state.due.exit.is_some_and(|due| due <= now) {
                log::warn!("the engine did not exit after quit, so it was killed");
                return self.child.kill();
            }
            let useless = state.due.useless.filter(|_| state.end.is_none());
            let uci = state.due.uci.filter(|_| state.end.is_none());
            let late = match useless {
                Some((due, why)) if due <= now => Some(why.to_owned()),
                _ if uci.is_some_and(|due| due <= now) => {
                    let seconds = self.uci_limit.as_secs();
                    Some(format!("no uciok within {seconds} s: is it a UCI engine?"))
                }
                _ => None,
            };
            if let Some(why) = late {
                drop(state);
                self.give_up(&why);
                state = self.lock();
                continue;
            }
            if state.due_for_session().is_some_and(|due| due <= now) {
                state.telling_time = true;
                drop(state);
                self.spawn("time", Self::tell_time);
                state = self.lock();
                continue;
            }
            state.sleeps_until = state.next_due();
            state = match state.sleeps_until.map(|due| due.saturating_sub(self.now())) {
                Some(left) => self.clock.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.clock.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Tells the session which of its deadlines have passed. What follows from that may have to wait for the GUI's pipe.
    fn tell_time(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.end.is_none() {
            let now = self.now();
            state.session.at(now);
            if state.due.books.take_if(|due| *due <= now).is_some() {
                state.update(Session::books_are_late);
            }
            if state.due.lines.take_if(|due| *due <= now).is_some() {
                state.update(Session::lines_are_late);
            }
            state.update(Session::time_is_up);
            state = self.settle(state, Side::Engine);
        }
        state.telling_time = false;
        self.wake_clock(&state);
    }
}
