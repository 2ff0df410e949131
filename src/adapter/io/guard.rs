//! The time of a check: the session has no clock.

use std::sync::Arc;
use std::thread;

use super::shared::Shared;
use super::state::{Side, State};

impl Shared {
    /// Watches the time of a check that has begun. The thread that does so never waits for a pipe of the engine: one that
    /// reads nothing must not hold up the move.
    pub(super) fn watch_check(self: &Arc<Self>, state: &mut State) {
        if state.check_watched || state.session.due().is_none() {
            return;
        }
        let shared = Arc::clone(self);
        let started = thread::Builder::new().name("guard".to_owned()).spawn(move || shared.time_checks());
        state.check_watched = started.is_ok();
        if started.is_err() {
            // Without the thread no move is checked: its time is up.
            let State { session, out, .. } = state;
            session.give_up_check(out);
        }
    }

    /// Reports to the session that the time of a check is up, until none runs.
    fn time_checks(self: Arc<Self>) {
        let mut state = self.lock();
        loop {
            let due = state.session.due().filter(|_| state.end.is_none());
            let Some(due) = due else {
                state.check_watched = false;
                return;
            };
            let left = due.saturating_sub(self.now());
            if left.is_zero() {
                let State { session, out, .. } = &mut *state;
                session.at(self.now());
                session.time_is_up(out);
                state = self.settle(state, Side::Engine);
            } else {
                state = self
                    .wait_for(state, left, |state| state.end.is_some() || state.session.due() != Some(due));
            }
        }
    }
}
