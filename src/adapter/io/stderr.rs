//! Messages on standard error: the adapter never waits for their reader.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Messages that may wait for the reader of standard error; further ones are left out.
const WAITING_MAX: usize = 256;

/// How long the last messages may take to be read before the adapter ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// The channel to the thread that writes, and one that closes when all messages are written.
struct Writer {
    messages: SyncSender<String>,
    done: Receiver<()>,
}

static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

fn writer() -> MutexGuard<'static, Option<Writer>> {
    WRITER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes `tabiya: MESSAGE` as one line, soon.
pub fn say(message: &str) {
    let line = format!("tabiya: {}\n", message.replace(['\n', '\r'], " "));
    let mut writer = writer();
    if writer.is_none() {
        *writer = start();
    }
    if let Some(writer) = &*writer {
        let _ = writer.messages.try_send(line);
    }
}

fn start() -> Option<Writer> {
    let (messages, waiting) = sync_channel::<String>(WAITING_MAX);
    let (end, done) = sync_channel(0);
    let write = move || {
        let _end = end;
        for line in waiting {
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    };
    thread::Builder::new().name("messages".to_owned()).spawn(write).ok()?;
    Some(Writer { messages, done })
}

/// Waits until all messages are written, but not for a reader that does not read.
pub fn finish() {
    let Some(Writer { messages, done }) = writer().take() else { return };
    drop(messages);
    let _ = done.recv_timeout(PATIENCE);
}
