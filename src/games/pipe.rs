//! Pipes, which may stay silent for any time: the work can be interrupted meanwhile.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::base::interrupt;

/// Bytes of a block.
const BLOCK_LEN: usize = 1 << 16;

/// Blocks to read ahead.
const AHEAD: usize = 4;

/// How often a silent pipe checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);

/// A pipe. Its own thread opens and reads it, because both may block forever.
pub(crate) struct Pipe {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
}

impl Pipe {
    /// Reads from what `open` opens.
    pub fn new<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Self {
        let (send, blocks) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            if let Err(error) = open().and_then(|from| forward(from, &send)) {
                let _ = send.send(Err(error));
            }
        });
        Self { blocks, block: io::Cursor::default() }
    }
}

/// Sends everything, until the receiver is gone.
fn forward(mut from: impl Read, to: &SyncSender<io::Result<Vec<u8>>>) -> io::Result<()> {
    let mut room = vec![0; BLOCK_LEN];
    loop {
        let read = match from.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if to.send(Ok(room.get(..read).unwrap_or_default().to_vec())).is_err() {
            return Ok(());
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.block.read(into)? {
                0 if !into.is_empty() => {}
                read => return Ok(read),
            }
            match self.blocks.recv_timeout(POLL) {
                Ok(block) => self.block = io::Cursor::new(block?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if interrupt::asked() => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn an_error_follows_the_bytes_before_it() {
        let (text, result) = read(Pipe::new(|| Ok(Once(Some(b"abc".to_vec()), true))));
        assert_eq!(text, b"abc");
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let (text, result) = read(Pipe::new(|| Ok(Once(None, false))));
        assert!(text.is_empty() && result.is_ok());
        let (_, result) = read(Pipe::new(|| Err::<Once, _>(io::ErrorKind::NotFound.into())));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
