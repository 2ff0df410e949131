//! Locks of files, which end with their process.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// The first pause between two attempts to lock a file; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// The longest pause between two attempts.
const LAST_PAUSE: Duration = Duration::from_millis(10);

/// Locks a file for this process alone; `None` when another one keeps it longer than `patience`. The system's own wait
/// for a lock cannot be cancelled, so the lock is tried again and again.
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
        if left.is_zero() {
            return Ok(None);
        }
        // Random, so that processes that wait do not keep step.
        thread::sleep(pause.mul_f64(rand::random_range(0.5..1.0)).min(left));
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// Tries to lock again whenever `progress` has changed during an attempt in vain: then it is not one process that keeps
/// the lock but several that take turns. `None` after an attempt in which nothing changed.
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

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::fs;

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
