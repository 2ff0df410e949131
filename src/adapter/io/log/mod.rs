//! The log: a file, which may change while the adapter runs, or none.
//!
//! Lines are formatted where something happens and written by another thread, each in one write: no move waits for a
//! disk, and the lines of several processes do not mix.

mod file;

use std::io::{self, Write};
use std::mem;
use std::process;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use log::{Level, LevelFilter};
use simplelog::{ConfigBuilder, WriteLogger};

use self::file::LogFile;
use crate::settings::search_paths::SearchPaths;

pub use self::file::base;

/// Bytes that may wait to be written: 4 MiB. If a disk does not keep up, further lines are left out and counted.
const WAITING_MAX: usize = 4 << 20;

/// How long the end waits for the last lines to be written.
const LAST_TIME: Duration = Duration::from_secs(2);

/// Where relative names are looked up, and the level.
static SETUP: OnceLock<(SearchPaths, LevelFilter)> = OnceLock::new();

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { items: Vec::new(), bytes: 0, lost: 0, busy: false, has_thread: false });

/// Signals that something waits to be written.
static MORE: Condvar = Condvar::new();

/// Signals that everything has been written.
static DONE: Condvar = Condvar::new();

/// The items that wait for the thread that writes.
struct Queue {
    items: Vec<Item>,
    /// Bytes of the lines in it.
    bytes: usize,
    /// Lines that were left out since the last item.
    lost: u64,
    /// Whether the thread is writing.
    busy: bool,
    has_thread: bool,
}

enum Item {
    /// A line with its line end.
    Line(Vec<u8>),
    /// The number of lines that were left out.
    Lost(u64),
    /// The file for the lines that follow.
    To(Option<LogFile>),
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn line(&mut self, line: Vec<u8>) {
        if self.bytes + line.len() > WAITING_MAX {
            self.lost += 1;
            return;
        }
        self.count_lost();
        self.bytes += line.len();
        self.items.push(Item::Line(line));
        MORE.notify_one();
    }

    fn count_lost(&mut self) {
        if self.lost > 0 {
            self.items.push(Item::Lost(mem::take(&mut self.lost)));
        }
    }
}

/// Puts the pieces of a line together. Never standard output, which belongs to the protocol.
#[derive(Default)]
struct Pieces {
    line: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // The line's end comes as a piece of its own; one inside a message would begin another line.
        if piece != b"\n" {
            let text = piece.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
            self.line.extend(text);
            return Ok(piece.len());
        }
        let mut line = mem::take(&mut self.line);
        // The time, our number, the rest.
        if let Some(place) = line.iter().position(|byte| *byte == b' ') {
            let number = format!(" {}", process::id());
            line.splice(place..place, number.into_bytes());
        }
        line.push(b'\n');
        queue().line(line);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sets where relative names are looked up, and the level of the lines that are written. Only the first call counts.
pub fn set_up(search_paths: SearchPaths, level: Level) {
    let _ = SETUP.set((search_paths, level.to_level_filter()));
}

/// Begins, changes or (with an empty name) ends the log. New lines are appended to the file.
///
/// In the name, `%p` is the process ID, `%d` the day, and `%%` a per cent sign. A relative name is looked up like a
/// book's; if there is no such file, it is created in the first of the search paths that allows it.
///
/// # Errors
/// When the file cannot be opened for writing; the log that was open continues.
pub fn open(name: &str) -> Result<(), String> {
    let (search_paths, level) = SETUP.get_or_init(|| (SearchPaths::new(None), LevelFilter::Info));
    let file = if name.is_empty() { None } else { Some(LogFile::open(name, search_paths)?) };
    file::name_base(file.as_ref());
    let is_on = file.is_some();
    let mut queue = queue();
    if is_on && !queue.has_thread {
        let started = thread::Builder::new().name("log".to_owned()).spawn(write_lines);
        started.map_err(|error| format!("{name}: cannot write the log: no thread for it: {error}"))?;
        queue.has_thread = true;
    }
    queue.count_lost();
    queue.items.push(Item::To(file));
    MORE.notify_one();
    drop(queue);
    if !is_on {
        log::set_max_level(LevelFilter::Off);
        return Ok(());
    }
    let config = ConfigBuilder::new()
        .set_time_format_rfc3339()
        .set_thread_level(LevelFilter::Off)
        .set_target_level(LevelFilter::Off)
        .set_location_level(LevelFilter::Off)
        .build();
    // The second and later calls find the logger in place, which is all that is wanted.
    let _ = WriteLogger::init(*level, config, Pieces::default());
    log::set_max_level(*level);
    Ok(())
}

/// Waits until everything is written, but not forever: a disk may hang.
pub fn finish() {
    let mut queue = queue();
    queue.count_lost();
    MORE.notify_one();
    let writes = |queue: &mut Queue| queue.has_thread && (queue.busy || !queue.items.is_empty());
    drop(DONE.wait_timeout_while(queue, LAST_TIME, writes));
}

/// Writes items as they come.
fn write_lines() {
    let mut file = None;
    let mut items = Vec::new();
    loop {
        let mut queue = queue();
        queue.busy = false;
        while queue.items.is_empty() {
            DONE.notify_all();
            queue = MORE.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        mem::swap(&mut items, &mut queue.items);
        (queue.bytes, queue.busy) = (0, true);
        drop(queue);
        for item in items.drain(..) {
            match (item, &mut file) {
                (Item::To(to), file) => *file = to,
                (Item::Line(line), Some(file)) => file.write(&line),
                (Item::Lost(count), Some(file)) => file.lost(count),
                (Item::Line(_) | Item::Lost(_), None) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_two_lines_becomes_one_line_with_our_process_id() {
        let mut pieces = Pieces::default();
        for piece in ["2026-01-02T03:04:05Z", " ", "[INFO] ", "a\nb", "\r\nc", "\n"] {
            assert_eq!(pieces.write(piece.as_bytes()).unwrap(), piece.len());
        }
        let queue = queue();
        let Some(Item::Line(line)) = queue.items.last() else { panic!("no line") };
        let line = String::from_utf8(line.clone()).unwrap();
        assert_eq!(line, format!("2026-01-02T03:04:05Z {} [INFO] a b  c\n", process::id()));
    }

    #[test]
    fn lines_that_a_slow_disk_cannot_keep_up_with_are_counted() {
        let mut queue = Queue { items: Vec::new(), bytes: 0, lost: 0, busy: false, has_thread: false };
        for _ in 0..5 {
            queue.line(vec![b'x'; WAITING_MAX / 2]);
        }
        assert_eq!((queue.items.len(), queue.lost), (2, 3));
        queue.bytes = 0;
        queue.line(vec![b'x']);
        assert!(matches!(queue.items[2], Item::Lost(3)));
        assert_eq!((queue.items.len(), queue.lost), (4, 0));
    }
}
