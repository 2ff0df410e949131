//! The writing end of a pipe, used by one thread at a time.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The two sides of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Gui,
    Engine,
}

/// A pipe that can be closed while others hold it. A write that has begun is not interrupted.
pub(super) struct Sink<W> {
    pipe: Mutex<Option<W>>,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(pipe: W) -> Self {
        Self { pipe: Mutex::new(Some(pipe)) }
    }

    /// Writes all bytes; does nothing once the pipe is closed.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *pipe {
            Some(pipe) => {
                pipe.write_all(bytes)?;
                pipe.flush()
            }
            None => Ok(()),
        }
    }

    pub(super) fn close(&self) {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
