//! The lock of a book: who edits it, in whatever process and through whatever name, waits for the others.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::interrupt;
use tabiya_base::lock::{Locked, lock_in_turn, lock_named};
use tabiya_base::replace::leftovers;

/// How long a process may keep a book locked without changing it before others give up: as long as the edit of a large
/// book takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pause before another look at a lock that cannot be opened.
const PAUSE: Duration = Duration::from_millis(10);

/// Links that lead to a file at most.
const MAX_LINKS: usize = 40;

/// A book that is ours alone until this is dropped. The lock is a file beside it, because the book's own files are replaced.
pub(super) struct BookLock {
    path: PathBuf,
    /// Dropped after the file is removed: until then no other process has the lock.
    _file: File,
}

impl BookLock {
    /// Locks the book of this path, and waits for others for as long as they change it.
    ///
    /// # Errors
    /// When a process keeps it for too long, or its folder cannot be written or has no locks.
    pub fn take(book: &Path) -> Result<Self> {
        let cannot = |error| Error::file(book, "cannot lock the book, to edit it", error);
        let real = followed(book);
        let folder = dunce::canonicalize(folder::parent_of(&real)).map_err(cannot)?;
        let path = leftovers::lock_file(&folder, &real.file_stem().unwrap_or_default().to_string_lossy());
        let begun = Instant::now();
        let attempt = || {
            loop {
                match lock_named(&path, PATIENCE, true) {
                    Ok(Locked::Ours(file)) => return Ok(Some(file)),
                    Ok(_) => return Ok(None),
                    // That of another user, or on Windows one that is about to be removed.
                    Err(error)
                        if error.kind() == io::ErrorKind::PermissionDenied
                            && path.symlink_metadata().is_ok()
                            && begun.elapsed() < PATIENCE =>
                    {
                        thread::sleep(PAUSE);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let changed = || fs::metadata(&real).and_then(|data| Metadata::modified(&data)).ok();
        match lock_in_turn(attempt, changed).map_err(cannot)? {
            Some(file) => Ok(Self { path, _file: file }),
            None => {
                interrupt::check()?;
                Err(Error::new(ErrorKind::File, "another process is editing the book")
                    .at_path(book)
                    .advice("try again when it is done"))
            }
        }
    }
}

impl Drop for BookLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The file that links lead to, which need not exist: one that is being replaced may be away for a moment.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder::parent_of(&path).join(target);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_at_a_time_has_a_book_under_whatever_name_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.abk");
        fs::write(&path, b"book").unwrap();
        let link = folder.path().join("b").join("link.abk");
        #[cfg(unix)]
        {
            fs::create_dir(folder.path().join("b")).unwrap();
            std::os::unix::fs::symlink("../a.abk", &link).unwrap();
        }
        let mut names = vec![path.clone(), folder.path().join(".").join("a.abk"), link];
        names.retain(|name| name.exists());
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            for name in names.iter().cycle().take(6) {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = BookLock::take(name).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(fs::read_dir(folder.path()).unwrap().flatten().all(|entry| {
            let name = entry.file_name();
            name == "a.abk" || name == "b"
        }));
        // While a book is replaced, its file is away.
        fs::remove_file(&path).unwrap();
        assert!(names.iter().all(|name| followed(name).file_name() == path.file_name()));
        assert!(BookLock::take(&folder.path().join("none").join("a.abk")).is_err());
    }
}
