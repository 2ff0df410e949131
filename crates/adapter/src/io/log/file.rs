//! The log's file: its name, which may contain the day and the process, and what happens when it has grown large.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use time::{Date, OffsetDateTime};

use tabiya_base::bytes::Parts as _;
use tabiya_base::lock::is_at;

use crate::io::appended;
use crate::settings::search_paths::SearchPaths;

/// The size at which a log is renamed and another begun: 64 MiB.
const MAX_SIZE: u64 = 64 << 20;

/// The suffix of a log that has grown large; it replaces the previous one.
const OLD_SUFFIX: &str = ".1";

/// A log that is open.
pub(super) struct LogFile {
    /// The name as given.
    name: String,
    search_paths: SearchPaths,
    path: PathBuf,
    file: File,
    /// The day in the name.
    day: Date,
    /// The size at which it is renamed.
    size_max: u64,
    /// Lines that could not be written since the last one that was.
    lost: u64,
    /// Whether the last line was cut off in the middle.
    torn: bool,
}

impl LogFile {
    /// Opens the log of this name.
    ///
    /// # Errors
    /// When it cannot be opened for writing in any of the search paths.
    pub(super) fn open(name: &str, search_paths: &SearchPaths) -> Result<Self, String> {
        let day = today();
        let (path, file) = find(name, day, search_paths)?;
        let (name, search_paths) = (name.to_owned(), search_paths.clone());
        Ok(Self { name, search_paths, path, file, day, size_max: MAX_SIZE, lost: 0, torn: false })
    }

    /// Its path without day and process.
    pub(super) fn base(&self) -> PathBuf {
        let name = Path::new(&self.name).file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(expand(&name, "", ""))
    }

    /// Writes a line with its line end, in one write; `lost` lines were left out before it. A full disk must not end a
    /// game: lines that cannot be written are left out and counted.
    pub(super) fn write(&mut self, line: &str, lost: u64) {
        self.lost += lost;
        self.rotate();
        let mut text = if self.torn { "\n".to_owned() } else { String::new() };
        if self.lost > 0 {
            let _ = writeln!(text, "({} lines could not be written)", self.lost);
        }
        text.push_str(line);
        match self.write_all(text.as_bytes()) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost += 1,
        }
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(written) if written > 0 => {
                    bytes = bytes.part(written..);
                    self.torn = !bytes.is_empty();
                }
                Ok(_) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Continues in another file if the day has changed, or if this one has grown large.
    fn rotate(&mut self) {
        let day = today();
        if self.name.contains("%d") && day != self.day {
            self.day = day;
            if let Ok((path, file)) = find(&self.name, day, &self.search_paths) {
                (self.path, self.file) = (path, file);
            }
        } else if self.file.metadata().is_ok_and(|data| data.is_file() && data.len() >= self.size_max) {
            // A log that cannot be renamed continues to grow.
            let _ = self.rename();
        }
    }

    /// Renames the log and begins another, unless another process has done so. The process that renames holds a lock on
    /// the file of that name, so no other process renames the next file instead.
    fn rename(&mut self) -> io::Result<()> {
        let present = append(&self.path)?;
        match present.try_lock() {
            Ok(()) => {}
            // Another process is renaming it; the next line sees the result.
            Err(fs::TryLockError::WouldBlock) => return Ok(()),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        // Another file may have got the name between the opening and the lock.
        if fs::metadata(&self.path)?.len() >= self.size_max && is_at(&present, &self.path) {
            let mut old = self.path.clone().into_os_string();
            old.push(OLD_SUFFIX);
            fs::rename(&self.path, old)?;
        }
        self.file = append(&self.path)?;
        Ok(())
    }
}

/// The day in UTC, as in the lines.
fn today() -> Date {
    OffsetDateTime::now_utc().date()
}

/// Opens the log of this name for a day.
fn find(name: &str, day: Date, search_paths: &SearchPaths) -> Result<(PathBuf, File), String> {
    let name = expand(name, &process::id().to_string(), &day.to_string());
    appended::open(&name, "the log", search_paths, &OpenOptions::new())
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// A name with `%p`, `%d` and `%%` replaced; other per cent signs stay.
fn expand(name: &str, process: &str, day: &str) -> String {
    let mut text = String::new();
    let mut left = name;
    while let Some((before, after)) = left.split_once('%') {
        text.push_str(before);
        let (replacement, rest) = match after.chars().next() {
            Some('p') => (process, after.get(1..)),
            Some('d') => (day, after.get(1..)),
            Some('%') => ("%", after.get(1..)),
            _ => ("%", Some(after)),
        };
        text.push_str(replacement);
        left = rest.unwrap_or_default();
    }
    text + left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &Path, name: &str) -> LogFile {
        LogFile::open(name, &SearchPaths::from_folders([folder.to_owned()])).unwrap()
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_name_contains_the_process_and_the_day() {
        assert_eq!(expand("a%p-%d%%x%y%", "7", "2026-01-02"), "a7-2026-01-02%x%y%");
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path(), "t-%p-%d.log");
        log.write("one\n", 0);
        let path = folder.path().join(format!("t-{}-{}.log", process::id(), today()));
        assert_eq!(text(&path), "one\n");
        assert_eq!(log.base(), folder.path().join("t--.log"));
        // The next day another file follows.
        let next = log.day;
        log.day = log.day.previous_day().unwrap();
        fs::rename(&path, folder.path().join("yesterday")).unwrap();
        log.write("two\n", 0);
        assert_eq!((text(&path).as_str(), log.day), ("two\n", next));
    }

    #[test]
    fn a_relative_name_is_looked_up_and_created_if_it_is_not_found() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let search_paths = SearchPaths::from_folders([first.path().to_owned(), second.path().to_owned()]);
        fs::write(second.path().join("old.log"), "there\n").unwrap();
        LogFile::open("old.log", &search_paths).unwrap().write("more\n", 0);
        assert_eq!(text(&second.path().join("old.log")), "there\nmore\n");
        LogFile::open("new.log", &search_paths).unwrap().write("one\n", 0);
        assert_eq!(text(&first.path().join("new.log")), "one\n");
        fs::create_dir(second.path().join("sub")).unwrap();
        LogFile::open("sub/new.log", &search_paths).unwrap().write("one\n", 0);
        assert_eq!(text(&second.path().join("sub/new.log")), "one\n");
        let problem = LogFile::open("none/new.log", &search_paths).err().unwrap();
        assert!(problem.starts_with(&first.path().join("none").display().to_string()), "{problem}");
    }

    #[test]
    fn a_large_log_is_renamed_by_one_of_those_that_write_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let old = folder.path().join("a.log.1");
        let (mut one, mut other) = (log(folder.path(), "a.log"), log(folder.path(), "a.log"));
        (one.size_max, other.size_max) = (20, 20);
        for _ in 0..2 {
            one.write("one one o\n", 0);
            other.write("other oth\n", 0);
        }
        // The third line finds the first two too large; the fourth follows it.
        assert_eq!(text(&old), "one one o\nother oth\n");
        assert_eq!(text(&path), "one one o\nother oth\n");
        other.write("other\n", 0);
        one.write("one\n", 0);
        assert_eq!(text(&old), "one one o\nother oth\n");
        assert_eq!(text(&path), "other\none\n");
    }

    #[test]
    fn threads_that_write_and_rename_neither_lose_nor_tear_lines() {
        const EACH: usize = 500;
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let mut log = log(folder.path(), "a.log");
                // So large that it is renamed once at most: a second time would drop lines.
                log.size_max = 15_000;
                scope.spawn(move || {
                    for line in 0..EACH {
                        log.write(&format!("{number} {line:04} x\n"), 0);
                    }
                });
            }
        });
        let all = text(&folder.path().join("a.log.1")) + &text(&folder.path().join("a.log"));
        let mut lines: Vec<&str> = all.lines().collect();
        lines.sort_unstable();
        let wanted: Vec<String> =
            (0..4).flat_map(|number| (0..EACH).map(move |line| format!("{number} {line:04} x"))).collect();
        assert_eq!(lines, wanted);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path(), "a.log");
        let good = std::mem::replace(&mut log.file, File::open(folder.path().join("a.log")).unwrap());
        log.write("one\n", 0);
        log.write("two\n", 0);
        log.file = good;
        log.write("three\n", 0);
        assert_eq!(text(&folder.path().join("a.log")), "(2 lines could not be written)\nthree\n");
    }
}
