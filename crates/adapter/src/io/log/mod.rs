//! The log: a file, which may change while the adapter runs, or none.
//!
//! Lines are formatted where something happens and written by another thread, each in one write: no move waits for a
//! disk, and the lines of several processes do not mix.

mod file;

use std::io::{self, Write};
use std::mem;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use log::{Level, LevelFilter};
use simplelog::{ConfigBuilder, WriteLogger};

use tabiya_base::task_thread::TaskThread;

use self::file::LogFile;
use crate::settings::search_paths::SearchPaths;

/// Bytes that may wait to be written: 4 MiB. If a disk does not keep up, further lines are left out and counted.
const MAX_WAITING: usize = 4 << 20;

/// How long the end waits for the last lines to be written.
const LAST_TIME: Duration = Duration::from_secs(2);

/// Where relative names are looked up, and the level.
static SETUP: OnceLock<(SearchPaths, LevelFilter)> = OnceLock::new();

static LOG: Mutex<Log> = Mutex::new(Log { writer: None, lost: 0, base: None });

/// Bytes of the lines that wait to be written.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The log, as its writers see it.
struct Log {
    /// The thread that writes the lines.
    writer: Option<TaskThread<LogItem>>,
    /// Lines that were left out since the last one that was not.
    lost: u64,
    /// The log's path without day and process.
    base: Option<PathBuf>,
}

/// What the thread is sent.
enum LogItem {
    /// A line with its line end, and the number of lines that were left out before it.
    Line(String, u64),
    /// The file for the lines that follow.
    To(Option<LogFile>),
}

impl Log {
    fn lock() -> MutexGuard<'static, Self> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&mut self, line: String) {
        let Some(writer) = &self.writer else { return };
        let len = line.len();
        if WAITING.load(Ordering::Relaxed) + len > MAX_WAITING {
            self.lost += 1;
            return;
        }
        WAITING.fetch_add(len, Ordering::Relaxed);
        writer.send(LogItem::Line(line, mem::take(&mut self.lost)));
    }
}

/// Puts the pieces of a line together for the thread that writes it. Never standard output, which belongs to the protocol.
#[derive(Default)]
struct Pieces(String);

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // The line's end comes as a piece of its own; one inside a message would begin another line.
        if piece == b"\n" {
            let line = with_process(&mem::take(&mut self.0));
            Log::lock().line(line);
        } else {
            self.0 += &String::from_utf8_lossy(piece).replace(['\n', '\r'], " ");
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line with our process ID after the time, and its line end.
fn with_process(line: &str) -> String {
    let (time, rest) = line.split_once(' ').unwrap_or_default();
    format!("{time} {} {rest}\n", process::id())
}

/// The log's path without day and process, if there is a log: files that belong to it, but not to one day or process,
/// are named after it.
pub fn base() -> Option<PathBuf> {
    Log::lock().base.clone()
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
    let mut log = Log::lock();
    if file.is_some() {
        TaskThread::started(&mut log.writer, "log", write)
            .map_err(|error| format!("{name}: cannot write the log: cannot start a thread: {error}"))?;
    }
    log.base = file.as_ref().map(LogFile::base);
    let level = if file.is_some() { *level } else { LevelFilter::Off };
    if let Some(writer) = &log.writer {
        writer.send(LogItem::To(file));
    }
    drop(log);
    // The second and later calls find the logger in place, which is all that is wanted.
    let config = ConfigBuilder::new()
        .set_time_format_rfc3339()
        .set_thread_level(LevelFilter::Off)
        .set_target_level(LevelFilter::Off)
        .set_location_level(LevelFilter::Off)
        .build();
    // Which lines are written, the level below decides.
    let _ = WriteLogger::init(LevelFilter::Trace, config, Pieces::default());
    log::set_max_level(level);
    Ok(())
}

/// Waits until everything is written, but not forever: a disk may hang.
pub fn finish() {
    let writer = Log::lock().writer.take();
    writer.map(|writer| writer.close().comes_within(LAST_TIME));
}

/// Writes items as they come.
fn write(items: Receiver<LogItem>) {
    let mut file: Option<LogFile> = None;
    for item in items {
        match item {
            LogItem::To(to) => file = to,
            LogItem::Line(line, lost) => {
                if let Some(file) = &mut file {
                    file.write(&line, lost);
                }
                WAITING.fetch_sub(line.len(), Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn our_process_id_follows_the_time() {
        let line = with_process("2026-01-02T03:04:05Z [INFO] a b  c");
        assert_eq!(line, format!("2026-01-02T03:04:05Z {} [INFO] a b  c\n", process::id()));
    }

    #[test]
    fn lines_that_a_slow_disk_cannot_keep_up_with_are_counted() {
        let (passed, seen) = channel();
        let (resume, wait) = channel();
        let writer = TaskThread::start("test", move |items: Receiver<LogItem>| {
            wait.recv().unwrap();
            items.into_iter().for_each(|item| {
                let LogItem::Line(line, lost) = item else { panic!("a file") };
                WAITING.fetch_sub(line.len(), Ordering::Relaxed);
                passed.send(lost).unwrap();
            });
        });
        let mut log = Log { writer: writer.ok(), lost: 0, base: None };
        for _ in 0..5 {
            log.line("x".repeat(MAX_WAITING / 2));
        }
        assert_eq!(log.lost, 3);
        resume.send(()).unwrap();
        assert_eq!((seen.recv().unwrap(), seen.recv().unwrap()), (0, 0));
        log.line("x".to_owned());
        assert_eq!((seen.recv().unwrap(), log.lost), (3, 0));
    }
}
