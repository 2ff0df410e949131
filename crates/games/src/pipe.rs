//! Reading pipes on another thread: they may stay silent for any time, and the work can be interrupted meanwhile.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tabiya_base::interrupt;

/// The most bytes of a block.
const BLOCK_LEN: usize = 1 << 17;

/// Blocks to read ahead.
const AHEAD: usize = 8;

/// How often a silent pipe checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);

/// A pipe. Its own thread opens and reads it, because both may take any time.
pub(crate) struct Pipe {
    /// Blocks in their order; an empty one is the end.
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    /// Takes back blocks that were read, for their memory.
    spare: Sender<Vec<u8>>,
    ended: bool,
}

impl Pipe {
    /// Reads from what `open` opens.
    pub fn new<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Self {
        let (send, blocks) = sync_channel(AHEAD);
        let (spare, spares) = mpsc::channel();
        let sender = send.clone();
        let run = move || {
            let all = open().and_then(|from| forward(from, &sender, &spares));
            let _ = sender.send(all.map(|()| Vec::new()));
        };
        if let Err(error) = thread::Builder::new().spawn(interrupt::inherited(run)) {
            let _ = send.try_send(Err(error));
        }
        Self { blocks, block: io::Cursor::default(), spare, ended: false }
    }
}

/// Sends everything, until the receiver is gone.
fn forward(
    mut from: impl Read,
    to: &SyncSender<io::Result<Vec<u8>>>,
    spares: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let mut block = spares.try_recv().unwrap_or_default();
        block.resize(BLOCK_LEN, 0);
        let read = loop {
            match from.read(&mut block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        block.truncate(read);
        if read == 0 || to.send(Ok(block)).is_err() {
            return Ok(());
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.block.read(into)? {
                0 if !into.is_empty() && !self.ended => {}
                read => return Ok(read),
            }
            let block = match self.blocks.recv_timeout(POLL) {
                Ok(block) => block,
                // A thread that says nothing of the end has panicked.
                Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("reading it stopped early")),
                Err(RecvTimeoutError::Timeout) if interrupt::asked() => {
                    Err(io::Error::other(interrupt::stopped()))
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            self.ended = block.as_ref().map_or(true, Vec::is_empty);
            let read = std::mem::replace(&mut self.block, io::Cursor::new(block?));
            let _ = self.spare.send(read.into_inner());
        }
    }
}

#[cfg(test)]
mod tests {
    use tabiya_base::error::{Error, ErrorKind};

    use super::*;

    /// Gives a block, and then fails or ends.
    struct Once(Option<Vec<u8>>, bool);

    impl Read for Once {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match (self.0.take(), self.1) {
                (Some(block), _) => io::Cursor::new(block).read(into),
                (None, true) => Err(io::ErrorKind::BrokenPipe.into()),
                (None, false) => Ok(0),
            }
        }
    }

    fn read(mut pipe: Pipe) -> (Vec<u8>, io::Result<usize>) {
        let mut text = Vec::new();
        let result = pipe.read_to_end(&mut text);
        (text, result)
    }

    #[test]
    fn all_bytes_arrive_in_order() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let from = io::Cursor::new(text.clone());
        assert_eq!(read(Pipe::new(move || Ok(from))).0, text);
    }

    #[test]
    fn a_silent_pipe_stops_as_interrupted_work() {
        let (hold, silent) = mpsc::channel::<()>();
        let mut pipe = Pipe::new(move || silent.recv().map(|()| io::empty()).map_err(io::Error::other));
        let interrupt = interrupt::Interrupt::new();
        interrupt.ask();
        let error = interrupt.scope(|| pipe.read(&mut [0])).unwrap_err();
        let error = Error::file("pipe", "cannot read the file", error);
        assert_eq!((error.kind(), error.what()), (ErrorKind::Interrupted, "interrupted"));
        drop(hold);
    }

    #[test]
    fn an_error_follows_the_bytes_before_it() {
        let (text, result) = read(Pipe::new(|| Ok(Once(Some(b"abc".to_vec()), true))));
        assert_eq!(text, b"abc");
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let (text, result) = read(Pipe::new(|| Ok(Once(None, false))));
        assert!(text.is_empty() && result.is_ok());
        let (_, result) = read(Pipe::new(|| Err::<Once, _>(io::ErrorKind::NotFound.into())));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_thread_that_panics_is_no_end() {
        struct Panics;
        impl Read for Panics {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                std::panic::resume_unwind(Box::new(()))
            }
        }
        let mut pipe = Pipe::new(|| Ok(Panics));
        assert!(pipe.read(&mut [0]).is_err());
        assert_eq!(pipe.read(&mut [0]).unwrap(), 0);
    }
}
