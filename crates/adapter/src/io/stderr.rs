//! Messages on standard error: the adapter never waits for their reader.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tabiya_base::task_thread::TaskThread;

/// Messages that may wait for the reader of standard error; further ones are left out.
const MAX_WAITING: usize = 256;

/// How long the last messages may take to be read before the adapter ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread that writes them.
static WRITER: Mutex<Option<TaskThread<String>>> = Mutex::new(None);

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Writes `tabiya: MESSAGE` as one line, soon.
pub fn say(message: &str) {
    let mut writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(writer) = TaskThread::started(&mut writer, "messages", write)
        && WAITING.load(Ordering::Relaxed) < MAX_WAITING
    {
        WAITING.fetch_add(1, Ordering::Relaxed);
        writer.send(format!("tabiya: {}\n", message.replace(['\n', '\r'], " ")));
    }
}

fn write(lines: Receiver<String>) {
    for line in lines {
        let _ = std::io::stderr().write_all(line.as_bytes());
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until all messages are written, but not for a reader that does not read.
pub fn finish() {
    let writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner).take();
    writer.map(|writer| writer.close().comes_within(PATIENCE));
}
