//! The log: a file that may change while the adapter runs, or nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use log::LevelFilter;
use simplelog::{ConfigBuilder, WriteLogger};

/// The file that is written to now.
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Hands the log's lines to whatever file is open. Never standard output, which belongs to the protocol.
struct Switch;

fn file() -> MutexGuard<'static, Option<File>> {
    FILE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for Switch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full disk must not end a game.
        if let Some(file) = &mut *file() {
            let _ = file.write_all(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether there is a log.
pub fn is_on() -> bool {
    file().is_some()
}

/// Whether opening the file would wait for who reads it.
fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo() || data.file_type().is_socket())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Begins, changes or (with an empty name) ends the log. What the file holds already stays before the new lines.
///
/// # Errors
/// When the file cannot be opened for writing; the log that was open goes on.
pub fn open(name: &str) -> Result<(), String> {
    if name.is_empty() {
        *file() = None;
        log::set_max_level(LevelFilter::Off);
        return Ok(());
    }
    let path = PathBuf::from(name);
    if is_pipe(&path) {
        return Err(format!("{}: a pipe cannot hold the log", path.display()));
    }
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .map_err(|error| format!("{}: cannot write the log: {error}", path.display()))?;
    *file() = Some(opened);
    let config = ConfigBuilder::new()
        .set_time_format_rfc3339()
        .set_thread_level(LevelFilter::Off)
        .set_target_level(LevelFilter::Off)
        .set_location_level(LevelFilter::Off)
        .build();
    // The second and later calls find the logger in place, which is all that is wanted.
    let _ = WriteLogger::init(LevelFilter::Debug, config, Switch);
    log::set_max_level(LevelFilter::Debug);
    Ok(())
}
