//! Unfinished files: each is locked while its process lives, and the next run in its folder removes those of dead
//! processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::{Builder, NamedTempFile};

use crate::bytes::hex;
use crate::folder;

/// The name of an unfinished file: this, the machine that writes it, a dash, some random letters, and the end.
const START: &str = ".tabiya-";
const END: &str = ".part";

/// How long a file that may belong to another machine is left alone after its last change: machines that share a folder
/// do not always share locks.
const FOREIGN_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// How often to check whether another process has put its new files in place, which takes milliseconds.
const LOOKS: u32 = 50;

/// The pause between two checks.
const LOOK: Duration = Duration::from_millis(4);

/// Creates an unfinished file in a folder.
///
/// # Errors
/// When the folder is missing or cannot be written.
pub fn create(folder: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!("{START}{}-", machine());
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(END);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file; the umask of the process restricts it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Some file systems have no locks: then the age of the file must suffice.
        let _ = file.as_file().lock();
        // Another process may have removed it as a leftover before it was locked.
        if file.path().symlink_metadata().is_ok() {
            return Ok(file);
        }
    }
}

/// The file whose lock is that of the books of this name, in whatever letters, in a folder. One that a dead process has left
/// is removed as those of other machines are.
pub fn lock_file(folder: &Path, name: &str) -> PathBuf {
    let hash = Sha256::digest(name.to_lowercase());
    folder.join(format!("{START}lock-{}{END}", hex(hash.iter().take(8))))
}

/// Where an old file is while a new one takes its place: beside it, under a name that begins with that of a marker.
/// While the marker exists, the old file is the valid one; without the marker, the old file can be removed.
pub(crate) fn aside(marker: &Path, old: &Path) -> PathBuf {
    let mut name = marker.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(old.file_name().unwrap_or_default());
    old.with_file_name(name)
}

/// The name of a file that is whole, closed, and waits for its place: while the marker exists, it is left alone.
pub(crate) fn member(marker: &Path, number: usize) -> PathBuf {
    let mut name = marker.file_name().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    marker.with_file_name(name)
}

/// Removes the unfinished files of dead processes from a folder, and puts back the old files that they moved aside.
/// Files that cannot be removed, or may still be written, stay.
pub fn remove(folder: &Path) {
    for (path, rest) in named(folder, START) {
        if let Some(rest) = rest.strip_suffix(END) {
            let ours = rest.strip_prefix(machine()).is_some_and(|rest| rest.starts_with('-'));
            remove_dead(&path, ours);
        }
    }
    for (path, rest) in named(folder, START) {
        if let Some((marker, _)) = rest.split_once(&format!("{END}.")).or(rest.split_once(&format!("{END}-")))
            && fs::symlink_metadata(folder.join(format!("{START}{marker}{END}")))
                .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// Puts back the old files of a folder that a dead process moved aside: what it had not finished is undone. A process that
/// lives is waited for, as it has no file in its place for a moment.
pub fn put_back(folder: &Path) {
    for _ in 0..LOOKS {
        let files = named(folder, START);
        let markers = files.iter().filter_map(|(_, rest)| rest.split_once(&format!("{END}.")));
        let markers: Vec<PathBuf> =
            markers.map(|(marker, _)| folder.join(format!("{START}{marker}{END}"))).collect();
        if markers.is_empty() {
            return;
        }
        remove(folder);
        if !markers.iter().any(|marker| marker.symlink_metadata().is_ok()) {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// The files of a folder whose names have this start, with the rest of their names.
fn named(folder: &Path, start: &str) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_file =
        |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_symlink());
    let entries = entries.flatten().filter(is_file);
    let rest = |entry: fs::DirEntry| {
        let name = entry.file_name();
        Some((entry.path(), name.to_str()?.strip_prefix(start)?.to_owned()))
    };
    entries.filter_map(rest).collect()
}

fn remove_dead(path: &Path, ours: bool) {
    if !fs::symlink_metadata(path).is_ok_and(|there| there.is_file()) {
        return;
    }
    let Ok(file) = File::open(path) else { return };
    let is_old = || {
        let changed = file.metadata().and_then(|metadata| metadata.modified());
        changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > FOREIGN_AGE))
    };
    let dead = match file.try_lock() {
        Ok(()) => ours || is_old(),
        Err(fs::TryLockError::WouldBlock) => false,
        Err(fs::TryLockError::Error(_)) => is_old(),
    };
    if dead && restore(path).is_ok() {
        // The lock is held until the file is removed: a process that has just created it notices that.
        let _ = fs::remove_file(path);
    }
}

/// Puts the old files back that were moved aside under a marker.
fn restore(marker: &Path) -> io::Result<()> {
    let mut start = marker.file_name().unwrap_or_default().to_string_lossy().into_owned();
    start.push('.');
    named(folder::parent_of(marker), &start)
        .iter()
        .try_for_each(|(aside, old)| fs::rename(aside, aside.with_file_name(old)))
}

/// This machine in eight letters.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        #[cfg(windows)]
        let name = crate::windows::host_name();
        #[cfg(not(windows))]
        let name = sysinfo::System::host_name();
        hex(Sha256::digest(name.unwrap_or_default().as_bytes()).iter().take(4))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn parts(folder: &Path) -> usize {
        fs::read_dir(folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(END))
            .count()
    }

    #[test]
    fn a_dead_process_leaves_a_file_that_the_next_removes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = create(folder.path()).unwrap().into_parts();
        let path = path.keep().unwrap();
        remove(folder.path());
        assert!(path.exists(), "its process lives");
        drop(file);
        remove(folder.path());
        assert!(!path.exists());
    }

    #[test]
    fn files_that_a_dead_process_moved_aside_are_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.ctg");
        let (file, marker) = create(folder.path()).unwrap().into_parts();
        let aside = aside(&marker, &place);
        fs::write(&aside, "old").unwrap();
        fs::write(&place, "new").unwrap();
        put_back(folder.path());
        assert_eq!(fs::read(&place).unwrap(), b"new", "its process lives");
        drop(file);
        let _marker = marker.keep().unwrap();
        put_back(folder.path());
        assert_eq!(fs::read(&place).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_of_other_machines_are_removed_when_they_are_old_and_other_files_never() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * FOREIGN_AGE;
        for (name, goes) in [
            (".tabiya-0123456-abcdef.part", true),
            (".tabiya-abcdef.part", true),
            (".tabiya-abcdef.partial", false),
            ("tabiya-abcdef.part", false),
        ] {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            remove(folder.path());
            assert!(path.exists(), "{name}");
            file.set_modified(old).unwrap();
            file.lock().unwrap();
            remove(folder.path());
            assert!(path.exists(), "{name} is locked");
            drop(file);
            remove(folder.path());
            assert_eq!(path.exists(), !goes, "{name}");
        }
        fs::create_dir(folder.path().join(".tabiya-folder.part")).unwrap();
        remove(folder.path());
        assert!(folder.path().join(".tabiya-folder.part").exists());
    }

    #[test]
    fn files_that_are_created_while_others_are_removed_stay() {
        let folder = tempfile::tempdir().unwrap();
        let all_created = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let removing = scope.spawn(|| {
                while !all_created.load(Ordering::Relaxed) {
                    remove(folder.path());
                }
            });
            let files: Vec<_> = (0..100).map(|_| create(folder.path())).collect();
            all_created.store(true, Ordering::Relaxed);
            removing.join().unwrap();
            assert!(files.iter().all(|file| file.as_ref().unwrap().path().exists()));
        });
        assert_eq!(parts(folder.path()), 0);
    }
}
