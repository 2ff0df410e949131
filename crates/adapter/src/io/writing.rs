//! Writing to both sides: a thread that has bytes for a side writes them, unless another thread is writing there.

use std::io::{self, Write as _};
use std::mem;
use std::process::ChildStdin;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use super::shared::Shared;
use super::state::{End, Flush, Locked, Side};

/// Capacity of the buffers for pending bytes that is kept between writes.
const ROOM_KEPT: usize = 64 << 10;

/// How long the engine may run after it has closed its input.
const INPUT_CLOSED_TIME: Duration = Duration::from_millis(500);

impl Shared {
    /// Writes a block of the engine straight to the GUI: after the bytes that are pending, and before those that
    /// another thread adds once the lock is open.
    pub(super) fn pass<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, block: &[u8]) -> Locked<'a> {
        if state.writing.gui || !state.out.gui.is_empty() {
            state.out.gui.extend_from_slice(block);
            return state;
        }
        state.writing.gui = true;
        drop(state);
        let written = (&self.gui).write_all(block);
        if written.is_err() {
            self.end(End::Asked);
        }
        let mut state = self.lock();
        state.writing.count += 1;
        state.writing.gui = false;
        self.flush_gui(state)
    }

    pub(super) fn flush_gui<'a>(self: &'a Arc<Self>, state: Locked<'a>) -> Locked<'a> {
        let write = |bytes: &[u8]| (&self.gui).write_all(bytes);
        let (state, written) = self.flush(state, Side::Gui, Flush::UntilEmpty, write);
        if written.is_ok() {
            return state;
        }
        // A GUI that closes our output has gone.
        drop(state);
        self.end(End::Asked);
        self.lock()
    }

    pub(super) fn flush_engine<'a>(&'a self, state: Locked<'a>, flush: Flush) -> Locked<'a> {
        let write = |bytes: &[u8]| match &mut *self.engine_input() {
            Some(input) => input.write_all(bytes),
            None => Ok(()),
        };
        let (mut state, written) = self.flush(state, Side::Engine, flush, write);
        if written.is_err() {
            self.give_up_after(&mut state, INPUT_CLOSED_TIME, "the engine closed its input");
        }
        if state.end.is_some() && state.out.engine.is_empty() && !state.writing.engine {
            self.engine_input().take();
        }
        state
    }

    /// Writes the bytes for the engine, and closes its input at the end: at once if its pipe takes them even if it does not read,
    /// else on a thread of their own, which may wait for it.
    pub(super) fn write_to_engine<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, from: Side) -> Locked<'a> {
        if state.fits_the_pipe(from) {
            state = self.flush_engine(state, Flush::Once);
        }
        if state.out.engine.is_empty() || state.writing.engine || mem::replace(&mut state.writing.later, true)
        {
            return state;
        }
        drop(state);
        let write = |shared: &Arc<Self>| {
            let mut state = shared.flush_engine(shared.lock(), Flush::UntilEmpty);
            state.writing.later = false;
        };
        self.spawn("engine writer", write);
        self.lock()
    }

    fn engine_input(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the pending bytes of a side, unless another thread does: that one writes until none are left.
    fn flush<'a>(
        &'a self,
        mut state: Locked<'a>,
        side: Side,
        flush: Flush,
        write: impl Fn(&[u8]) -> io::Result<()>,
    ) -> (Locked<'a>, io::Result<()>) {
        let mut result = Ok(());
        if mem::replace(state.side(side).0, true) {
            return (state, result);
        }
        let mut bytes = Vec::new();
        while !state.side(side).1.is_empty() {
            bytes.clear();
            mem::swap(&mut bytes, state.side(side).1);
            self.wake(&state);
            drop(state);
            if result.is_ok() {
                result = write(&bytes);
            }
            state = self.lock();
            state.writing.count += 1;
            if flush == Flush::Once {
                break;
            }
        }
        // The buffer is kept for the next time.
        bytes.clear();
        bytes.shrink_to(ROOM_KEPT);
        let (writing, pending) = state.side(side);
        if pending.is_empty() && pending.capacity() < bytes.capacity() {
            *pending = bytes;
        }
        *writing = false;
        self.wake(&state);
        (state, result)
    }
}
