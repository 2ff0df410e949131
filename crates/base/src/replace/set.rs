//! Files that get their names together: all or none.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Replacement, Whole, leftovers, step, sync_folder};
use crate::error::{Error, ErrorKind, Result};
use crate::folder;

/// The files of one book, written beside their places.
///
/// One guarantee holds on every system: when [`FileSet::commit`] returns, either every file is in its place, or every
/// place is as it was before, or the error says where each old file is. If the process dies meanwhile, the next process
/// that writes into the folder puts the old files back. A file that others have mapped can be replaced: they keep the
/// old content.
///
/// ```
/// use std::io::Write;
/// use tabiya_base::replace::FileSet;
/// let folder = tempfile::tempdir()?;
/// let mut set = FileSet::default();
/// for name in ["a.ctb", "a.cto", "a.ctg"] {
///     let mut file = set.begin(folder.path().join(name), false)?;
///     file.write_all(b"...")?;
///     set.add(file)?;
/// }
/// set.commit()?;
/// assert!(folder.path().join("a.ctg").exists());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct FileSet {
    files: Vec<Whole>,
    removed: Vec<PathBuf>,
    /// What protects files that are closed until they have their names, in the folder of each.
    markers: BTreeMap<PathBuf, NamedTempFile>,
    /// Folders without what dead processes have left.
    tidy: BTreeSet<PathBuf>,
}

/// How many files stay open until they have their names: systems limit how many a process may have, macOS to 256 by default.
const MAX_OPEN: usize = 16;

/// What is called before each change of a name: tests let it fail.
type BeforeRename<'a> = &'a mut dyn FnMut() -> io::Result<()>;

impl FileSet {
    /// Begins a file as [`Replacement::new`] does, but removes what dead processes have left in a folder only before the first
    /// file of the set there: a set may have many files.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn begin(&mut self, target: impl AsRef<Path>, force: bool) -> Result<Replacement> {
        Replacement::begin(target.as_ref(), force, |folder| {
            if self.tidy.insert(folder.to_owned()) {
                leftovers::remove(folder);
            }
        })
    }

    /// Writes out and syncs a file, without giving it its name yet.
    ///
    /// # Errors
    /// When the disk is full or fails: nothing has changed then.
    pub fn add(&mut self, file: Replacement) -> Result<()> {
        let mut file = file.whole()?;
        if self.files.len() >= MAX_OPEN {
            let marker = marker(&mut self.markers, folder::parent_of(&file.path))
                .map_err(|error| Error::file(&file.path, "cannot write the file", error))?;
            file = file.close(marker, self.files.len())?;
        }
        self.files.push(file);
        Ok(())
    }

    /// Removes an old file together with those that are replaced, unless it is one of them under another name.
    pub fn remove(&mut self, old: PathBuf) {
        self.removed.push(old);
    }

    /// Puts all files into their places.
    ///
    /// # Errors
    /// When a file cannot be moved, or another one has appeared in its place.
    pub fn commit(self) -> Result<()> {
        self.commit_by(&mut step)
    }

    fn commit_by(mut self, step: BeforeRename) -> Result<()> {
        if let ([file], []) = (&*self.files, &*self.removed)
            && file.force
            && let Some(file) = self.files.pop()
        {
            // A single file is replaced in one step, except on Windows where it is mapped.
            match if step().is_ok() { file.replace() } else { Err(file) } {
                Ok(()) => return Ok(()),
                Err(file) => self.files.push(file),
            }
        }
        let replaces = !self.removed.is_empty() || self.files.iter().any(|file| file.replaces);
        let mut moves = MovedFiles { replaces, ..MovedFiles::default() };
        match self.place(&mut moves, step) {
            Ok(()) => {
                moves.keep();
                Ok(())
            }
            Err(error) => Err(moves.undo(error, step)),
        }
    }

    fn place(self, moves: &mut MovedFiles, step: BeforeRename) -> Result<()> {
        let Self { files, removed, markers: _markers, .. } = self;
        // In another letter case it may be the same file.
        let same = |old: &Path, new: &Path| {
            old == new
                || dunce::canonicalize(old)
                    .is_ok_and(|old| dunce::canonicalize(new).is_ok_and(|new| old == new))
        };
        let is_other = |old: &&PathBuf| !files.iter().any(|file| same(old, &file.path));
        let replaced = files.iter().filter(|file| file.force).map(|file| &file.path);
        for old in removed.iter().filter(is_other).chain(replaced) {
            moves.aside(old, step)?;
        }
        files.into_iter().try_for_each(|file| moves.place(file, step))
    }
}

/// The path of the marker in a folder, which is made first.
fn marker<'a>(markers: &'a mut BTreeMap<PathBuf, NamedTempFile>, folder: &Path) -> io::Result<&'a Path> {
    Ok(match markers.entry(folder.to_owned()) {
        Entry::Occupied(marker) => marker.into_mut().path(),
        Entry::Vacant(place) => place.insert(leftovers::create(folder)?).path(),
    })
}

/// What was moved so far.
#[derive(Debug, Default)]
struct MovedFiles {
    /// Whether there were old files when the work began.
    replaces: bool,
    /// A file in each folder whose old files were moved aside. While it exists, the old files are the valid ones.
    markers: BTreeMap<PathBuf, NamedTempFile>,
    /// Where each old file is now, and its place.
    aside: Vec<(PathBuf, PathBuf)>,
    /// New files in their places.
    placed: Vec<PathBuf>,
}

impl MovedFiles {
    /// Moves an old file, where there is one, out of the way.
    fn aside(&mut self, old: &Path, step: BeforeRename) -> Result<()> {
        let cannot =
            |error| Error::file(old, "cannot replace the file, which another program may have open", error);
        match fs::symlink_metadata(old) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot(error)),
            Ok(there) if there.is_dir() => {
                return Err(Error::new(ErrorKind::File, "a folder has appeared in its place").at_path(old));
            }
            Ok(_) => {}
        }
        let folder = folder::parent_of(old);
        if !self.markers.contains_key(folder) {
            step().map_err(cannot)?;
        }
        let aside = leftovers::aside(marker(&mut self.markers, folder).map_err(cannot)?, old);
        step().and_then(|()| fs::rename(old, &aside)).map_err(cannot)?;
        self.aside.push((aside, old.to_owned()));
        Ok(())
    }

    /// Gives a new file its name.
    fn place(&mut self, file: Whole, step: BeforeRename) -> Result<()> {
        let path = file.path.clone();
        let placed = step().and_then(|()| file.appear());
        placed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::exists(&path),
            _ => Error::file(&path, "cannot write the file", error),
        })?;
        self.placed.push(path);
        Ok(())
    }

    /// Makes the new files valid, and removes the old ones.
    fn keep(self) {
        let Self { markers, aside, placed, .. } = self;
        placed.iter().for_each(|path| sync_folder(path));
        drop(markers);
        // Windows does not remove a mapped file: the next run does.
        aside.iter().for_each(|(aside, _)| drop(fs::remove_file(aside)));
    }

    /// Undoes all moves; returns the error to report.
    fn undo(self, error: Error, step: BeforeRename) -> Error {
        let Self { replaces, markers, aside, placed } = self;
        let mut wrong = Vec::new();
        // The others are replaced by the old files.
        for path in placed.into_iter().filter(|path| aside.iter().all(|(_, old)| old != path)) {
            if step().and_then(|()| fs::remove_file(&path)).is_err() {
                wrong.push(format!("remove the new {}", path.display()));
            }
        }
        for (aside, place) in aside {
            if step().and_then(|()| fs::rename(&aside, &place)).is_err() {
                wrong.push(format!("rename {} to {}", aside.display(), place.display()));
            }
        }
        if !wrong.is_empty() {
            // The next run tries again.
            markers.into_values().for_each(|marker| drop(marker.keep()));
            return error.advice(format!("not all old files could be put back: {}", wrong.join(", ")));
        }
        if replaces { error.advice("the old files are unchanged") } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Remedy;
    use crate::replace::tests::names;
    use std::io::Write;

    const OLD: [&str; 3] = ["a.ctg", "a.cto", "A_7.kob"];

    /// A folder with two old files that are going to be replaced, one that is going to be removed, and another one.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in OLD {
            fs::write(folder.path().join(name), format!("old {name}")).unwrap();
        }
        fs::write(folder.path().join("b.ctg"), b"other").unwrap();
        folder
    }

    fn set(folder: &Path, force: bool, names: &[&str]) -> FileSet {
        let mut set = FileSet::default();
        for name in names {
            let mut file = Replacement::new(folder.join(name), force).unwrap();
            write!(file, "new {name}").unwrap();
            set.add(file).unwrap();
        }
        set
    }

    fn replacing(folder: &Path) -> FileSet {
        let mut set = set(folder, true, &["a.ctb", "a.cto", "a.ctg"]);
        set.remove(folder.join("A_7.kob"));
        set
    }

    fn is_old(folder: &Path) -> bool {
        names(folder) == ["A_7.kob", "a.ctg", "a.cto", "b.ctg"]
            && OLD.iter().all(|name| fs::read(folder.join(name)).unwrap() == format!("old {name}").as_bytes())
    }

    fn is_new(folder: &Path) -> bool {
        let new = ["a.ctb", "a.ctg", "a.cto"];
        names(folder) == ["a.ctb", "a.ctg", "a.cto", "b.ctg"]
            && new.iter().all(|name| fs::read(folder.join(name)).unwrap() == format!("new {name}").as_bytes())
    }

    #[test]
    fn a_set_looks_once_for_what_dead_processes_left() {
        let folder = tempfile::tempdir().unwrap();
        let leave = || {
            let file = leftovers::create(folder.path()).unwrap();
            file.keep().unwrap().1
        };
        let (first, mut set) = (leave(), FileSet::default());
        let one = set.begin(folder.path().join("a"), false).unwrap();
        assert!(!first.exists());
        let second = leave();
        let other = set.begin(folder.path().join("b"), false).unwrap();
        assert!(second.exists());
        drop(Replacement::new(folder.path().join("c"), false).unwrap());
        assert!(!second.exists());
        [one, other].into_iter().try_for_each(|file| set.add(file)).unwrap();
        set.commit().unwrap();
        assert_eq!(super::super::tests::names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_set_of_many_files_keeps_few_of_them_open() {
        let folder = tempfile::tempdir().unwrap();
        let fill = |folder: &Path| {
            let mut set = FileSet::default();
            for number in 0..300 {
                let mut file = Replacement::new(folder.join(format!("{number:03}")), false).unwrap();
                write!(file, "{number}").unwrap();
                set.add(file).unwrap();
            }
            set
        };
        let set = fill(folder.path());
        #[cfg(target_os = "linux")]
        {
            let held = fs::read_dir("/proc/self/fd").unwrap().flatten();
            let held = held.filter_map(|entry| fs::read_link(entry.path()).ok());
            let open =
                held.filter(|path| path.starts_with(dunce::canonicalize(folder.path()).unwrap())).count();
            assert!(open <= MAX_OPEN + 1, "{open}");
        }
        // Another process that writes into the folder leaves them alone.
        leftovers::remove(folder.path());
        set.commit().unwrap();
        let all: Vec<_> = (0..300).map(|number| format!("{number:03}")).collect();
        assert_eq!(names(folder.path()), all);
        assert!(all.iter().all(|name| {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text == name.parse::<u32>().unwrap().to_string()
        }));
        // Nothing stays of one that is not committed, nor of a process that died.
        let other = tempfile::tempdir().unwrap();
        drop(fill(other.path()));
        assert!(names(other.path()).is_empty());
        let mut set = fill(other.path());
        let path = |number| leftovers::member(set.markers.values().next().unwrap().path(), number);
        let left = path(MAX_OPEN);
        assert!(left.exists());
        let copy = fs::read(&left).unwrap();
        set.files.clear();
        fs::write(&left, copy).unwrap();
        leftovers::remove(other.path());
        assert!(left.exists());
        drop(set);
        leftovers::remove(other.path());
        assert!(names(other.path()).is_empty());
    }

    #[test]
    fn a_failure_at_any_step_leaves_everything_as_it_was() {
        for failing in 0.. {
            let folder = folder();
            let mut steps = 0;
            let done = replacing(folder.path()).commit_by(&mut || {
                steps += 1;
                if steps == failing + 1 { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
            });
            let Err(error) = done else {
                // A marker, three old files, three new ones.
                assert_eq!(failing, 7);
                assert!(is_new(folder.path()));
                break;
            };
            assert!(is_old(folder.path()), "{failing}: {:?}", names(folder.path()));
            assert!(error.to_string().ends_with("the old files are unchanged"), "{failing}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_put_back_is_named_and_the_next_run_puts_it_back() {
        for failing in 2..7 {
            let folder = folder();
            let mut steps = 0;
            let done = replacing(folder.path()).commit_by(&mut || {
                steps += 1;
                if steps > failing { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
            });
            let error = done.unwrap_err().to_string();
            assert!(error.contains("not all old files could be put back: "), "{error}");
            let aside: Vec<_> =
                names(folder.path()).into_iter().filter(|name| name.contains(".part.")).collect();
            assert_eq!(aside.len(), usize::min(failing - 1, 3));
            assert!(aside.iter().all(|name| error.contains(name)), "{error}");
            // As for a process that died at this step.
            leftovers::remove(folder.path());
            if folder.path().join("a.ctb").exists() {
                assert!(error.contains("remove the new"), "{error}");
                fs::remove_file(folder.path().join("a.ctb")).unwrap();
            }
            assert!(is_old(folder.path()), "{failing}: {:?}", names(folder.path()));
        }
    }

    #[test]
    fn old_files_that_could_not_be_removed_are_removed_by_the_next_run() {
        let folder = folder();
        let marker = leftovers::create(folder.path()).unwrap();
        let aside = leftovers::aside(marker.path(), &folder.path().join("a.ctg"));
        fs::write(&aside, b"older").unwrap();
        leftovers::remove(folder.path());
        assert!(aside.exists(), "its process lives");
        drop(marker);
        leftovers::remove(folder.path());
        assert!(is_old(folder.path()), "{:?}", names(folder.path()));
    }

    #[test]
    fn nothing_appears_where_one_place_was_taken_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let set = set(folder.path(), false, &["a.ctb", "a.cto", "a.ctg"]);
        fs::write(folder.path().join("a.ctg"), b"other").unwrap();
        assert_eq!(set.commit().unwrap_err().remedy(), Some(Remedy::Replace));
        assert_eq!(names(folder.path()), ["a.ctg"]);
        assert_eq!(fs::read(folder.path().join("a.ctg")).unwrap(), b"other");
    }

    #[test]
    fn a_mapped_file_is_replaced_and_its_reader_keeps_the_old_content() {
        let folder = folder();
        let path = folder.path().join("a.ctg");
        let map = crate::map::Map::open(&path).unwrap();
        // At once, and where the system does not allow that.
        for fails in [false, true] {
            let mut first = fails;
            let set = set(folder.path(), true, &["a.ctg"]);
            set.commit_by(&mut || {
                if std::mem::take(&mut first) { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
            })
            .unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new a.ctg");
            assert_eq!(&map[..], b"old a.ctg");
        }
        drop(map);
        leftovers::remove(folder.path());
        assert_eq!(names(folder.path()), ["A_7.kob", "a.ctg", "a.cto", "b.ctg"]);
    }
}
