//! Files that several processes append to: their locks, which end with their process, and how one of them is replaced.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use same_file::Handle;
use tempfile::TempPath;

use super::folder::parent_of;
use super::interrupt;
use super::replace::leftovers;

/// The first pause between two attempts to lock a file; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// The longest pause between two attempts.
const LAST_PAUSE: Duration = Duration::from_millis(10);

/// Locks a file for this process alone; `None` when another one keeps it longer than `patience`, or until the work must stop. The
/// system's own wait for a lock cannot be cancelled, so the lock is tried again and again.
///
/// # Errors
/// When the file system has no locks.
pub fn lock(file: File, patience: Duration) -> io::Result<Option<File>> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(error);
            }
            Err(_) => {}
        }
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() || interrupt::asked() {
            return Ok(None);
        }
        // Random, so that processes that wait do not keep step.
        thread::sleep(pause.mul_f64(random_share()).min(left));
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// A random number from 0.5 to 1.
fn random_share() -> f64 {
    let bits = RandomState::new().hash_one(Instant::now()) >> (u64::BITS - 20);
    0.5 + bits as f64 / f64::from(1 << 21)
}

/// Tries to lock again whenever `progress` has changed during a failed attempt: then it is not one process that keeps the
/// lock but several that take turns. `None` after an attempt in which nothing changed.
///
/// # Errors
/// Those of `attempt`.
pub fn lock_in_turn<T, P: PartialEq>(
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
    mut progress: impl FnMut() -> P,
) -> io::Result<Option<T>> {
    let mut before = progress();
    loop {
        if let Some(locked) = attempt()? {
            return Ok(Some(locked));
        }
        let now = progress();
        if now == before {
            return Ok(None);
        }
        before = now;
    }
}

/// What an attempt to lock a file by its name gives.
pub enum Locked {
    /// The file, locked until this is dropped.
    Ours(File),
    /// Another process kept it locked for as long as we were willing to wait, or until the work had to stop.
    Busy,
    /// There is no file, and none was to be created.
    Missing,
}

/// Opens and locks the file of this name, which others append to, replace or remove: waits until it has been locked and
/// of the same length for as long as `patience`. With `create` a missing one is created, empty.
///
/// # Errors
/// When it cannot be opened, created or locked.
pub fn lock_named(path: &Path, patience: Duration, create: bool) -> io::Result<Locked> {
    let attempt = || {
        loop {
            let opened = File::options().read(true).write(true).create(create).truncate(false).open(path);
            let file = match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !create => {
                    return Ok(Some(Locked::Missing));
                }
                opened => opened?,
            };
            let Some(file) = lock(file, patience)? else { return Ok(None) };
            // A file that was replaced while we waited no longer locks anybody out.
            if is_at(&file, path) {
                return Ok(Some(Locked::Ours(file)));
            }
        }
    };
    let len = || fs::metadata(path).map(|metadata| metadata.len()).ok();
    Ok(lock_in_turn(attempt, len)?.unwrap_or(Locked::Busy))
}

/// Whether a path still names this open file.
pub fn is_at(file: &File, path: &Path) -> bool {
    let open = file.try_clone().and_then(Handle::from_file);
    matches!((open, Handle::from_path(path)), (Ok(open), Ok(named)) if open == named)
}

/// Whether this file, which is missing, could be created: one without a name is, in the same folder.
///
/// # Errors
/// When it could not.
pub fn may_create(path: &Path) -> io::Result<()> {
    let folder = parent_of(path);
    fs::metadata(folder)?;
    // That error names a temporary file, and only its kind is about the folder.
    tempfile::tempfile_in(folder).map(|_| ()).map_err(|error| error.kind().into())
}

/// A file that is to replace one that we have locked. It is locked too. Dropped before [`Successor::replace`], it leaves
/// nothing.
pub struct Successor {
    pub file: File,
    path: TempPath,
    target: PathBuf,
}

impl Successor {
    /// Begins a file beside the one of this name; where that is a link, beside the file that it leads to.
    ///
    /// # Errors
    /// When it cannot be created, or cannot be as open to others as the one it replaces.
    pub fn new(old: &Path) -> io::Result<Self> {
        let target = dunce::canonicalize(old)?;
        let folder = target.parent().ok_or(io::ErrorKind::NotFound)?;
        leftovers::remove(folder);
        // Locked before anybody knows its name.
        let (file, path) = leftovers::create(folder)?.into_parts();
        let old = fs::metadata(&target)?;
        file.set_permissions(old.permissions())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let new = file.metadata()?;
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
            }
        }
        Ok(Self { file, path, target })
    }

    /// Waits until all that was written is on the disk, then renames it over the other, in one step.
    ///
    /// # Errors
    /// When it cannot be synced or renamed: the old file is unchanged then.
    pub fn replace(self) -> io::Result<File> {
        let Self { file, path, target } = self;
        file.sync_all()?;
        // Not with `persist`: on Windows this replaces files that others have open as well.
        fs::rename(&path, &target)?;
        // The temporary name no longer exists.
        let _ = path.keep();
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_while_others_take_turns() {
        // The numbers are what the others have done after each attempt; the lock is free at the last attempt, if at all.
        let turns = |done: &[u32], free: bool| {
            let (mut attempts, mut seen) = (0, done.iter());
            let attempt = || {
                attempts += 1;
                Ok((free && attempts == done.len()).then_some(attempts))
            };
            lock_in_turn(attempt, || seen.next()).unwrap()
        };
        assert_eq!(turns(&[0], true), Some(1));
        assert_eq!(turns(&[0, 1, 2, 3], true), Some(4));
        assert_eq!(turns(&[0, 1, 2, 2, 3], true), None);
        assert_eq!(turns(&[0, 0], false), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn waiting_in_vain_leaves_no_thread_and_no_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let open = || File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        let held = lock(open(), Duration::ZERO).unwrap();
        let mine = || {
            let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
            let files = links.filter(|link| fs::read_link(link.path()).is_ok_and(|to| to == path)).count();
            let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
            let names = threads.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
            (files, names.filter(|name| name.trim() == "lock").count())
        };
        for _ in 0..5 {
            assert!(lock(open(), Duration::from_millis(2)).unwrap().is_none());
        }
        assert_eq!(mine(), (1, 0));
        drop(held);
    }
}
