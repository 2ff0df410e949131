//! Files that appear whole or not at all, one or several together: written beside their place, synced, renamed into it.

use std::fs;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;
use serde::Serialize;
use tempfile::{NamedTempFile, PathPersistError, PersistError, TempPath};

use super::error::{Error, ErrorKind, Result};
use super::folder;

#[cfg(feature = "faults")]
pub mod faults;
pub mod leftovers;
mod set;

pub use set::FileSet;

/// Whether a step of replacing files can be done: tests let it fail.
fn step() -> io::Result<()> {
    #[cfg(feature = "faults")]
    faults::step()?;
    Ok(())
}

/// Bytes that are gathered before they are written.
const BUFFER_LEN: usize = 1 << 18;

/// A file that is being written beside its place.
///
/// Dropped before [`Replacement::commit`], it leaves nothing, and the old file unchanged.
///
/// ```
/// use std::io::Write;
/// use tabiya_base::replace::Replacement;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("book.bin");
/// let mut file = Replacement::new(&path, false)?;
/// file.write_all(b"sixteen bytes...")?;
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"sixteen bytes...");
/// assert!(Replacement::new(&path, false).is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    /// It may replace another file.
    force: bool,
    /// There was a file in its place when the work began.
    replaces: bool,
}

impl Replacement {
    /// Begins a file whose place is `target`; with `force` it may replace an existing one.
    ///
    /// A link at `target` is followed: the file that it names is replaced, not the link.
    ///
    /// # Errors
    /// When there is a file and `force` is not given, when it is not a regular file, or when its folder is missing or
    /// cannot be written.
    pub fn new(target: impl AsRef<Path>, force: bool) -> Result<Self> {
        FileSet::default().begin(target.as_ref(), force)
    }

    /// As [`Replacement::new`]; `tidy` is called with the folder before a file comes into it.
    fn begin(named: &Path, force: bool, tidy: impl FnOnce(&Path)) -> Result<Self> {
        let is_link = fs::symlink_metadata(named).is_ok_and(|old| old.is_symlink());
        let path =
            is_link.then(|| dunce::canonicalize(named).ok()).flatten().unwrap_or_else(|| named.to_owned());
        let old = fs::symlink_metadata(&path).ok();
        match &old {
            Some(old) if !old.is_file() => {
                return Err(Error::new(ErrorKind::File, "this is a folder, a pipe or a device")
                    .at_path(named)
                    .advice("name a file to write"));
            }
            Some(_) if !force => return Err(Error::exists(named)),
            _ => {}
        }
        let folder = folder::parent_of(&path);
        tidy(folder);
        let file = step().and_then(|()| leftovers::create(folder)).map_err(|error| {
            Error::file(named, "cannot write a file into this folder", error)
                .advice("name a folder that exists and can be written to")
        })?;
        let replaces = old.is_some();
        if let Some(old) = old {
            // The new file is as open to others as the one it replaces.
            let _ = fs::set_permissions(file.path(), old.permissions());
        }
        Ok(Self { file: BufWriter::with_capacity(BUFFER_LEN, file), path, force, replaces })
    }

    /// The place of the file.
    pub fn target(&self) -> &Path {
        &self.path
    }

    /// An error of writing, as users see it.
    pub fn error(&self, error: io::Error) -> Error {
        let error = Error::file(&self.path, "cannot write the file", error);
        if self.replaces { error.advice("the old file is unchanged") } else { error }
    }

    /// Writes out and syncs what was written, without giving it its name yet.
    fn whole(mut self) -> Result<Whole> {
        let synced =
            step().and_then(|()| self.file.flush()).and_then(|()| self.file.get_ref().as_file().sync_all());
        synced.map_err(|error| self.error(error))?;
        let Self { file, path, force, replaces } = self;
        Ok(Whole { file: Unnamed::Open(file.into_parts().0), path, force, replaces })
    }

    /// Writes out, syncs, and puts the file in its place.
    ///
    /// # Errors
    /// When the disk is full or fails, or when another file has appeared there meanwhile: the old file stays unchanged.
    pub fn commit(self) -> Result<()> {
        let mut set = FileSet::default();
        set.add(self)?;
        set.commit()
    }

    /// Writes this as JSON that people can read, and puts the file in its place.
    ///
    /// # Errors
    /// As [`Replacement::commit`].
    pub fn commit_json(mut self, what: &impl Serialize) -> Result<()> {
        let written = serde_json::to_writer_pretty(&mut self, what).map_err(io::Error::from);
        written.and_then(|()| self.write_all(b"\n")).map_err(|error| self.error(error))?;
        self.commit()
    }
}

/// A file that is written and synced, and waits for its name.
#[derive(Debug)]
struct Whole {
    file: Unnamed,
    path: PathBuf,
    /// It may replace another file.
    force: bool,
    /// There was a file in its place when the work began.
    replaces: bool,
}

/// A file under a temporary name.
#[derive(Debug)]
enum Unnamed {
    /// Open, and with that locked.
    Open(NamedTempFile),
    /// Closed: a marker protects it.
    Closed(TempPath),
}

impl Whole {
    /// Puts the file into its place, and replaces what is there.
    fn replace(self) -> Result<(), Self> {
        let placed = match self.file {
            Unnamed::Open(file) => {
                file.persist(&self.path).map(drop).map_err(|PersistError { file, .. }| Unnamed::Open(file))
            }
            Unnamed::Closed(file) => file.persist(&self.path).map_err(|error| Unnamed::Closed(error.path)),
        };
        match placed {
            Ok(()) => {
                sync_folder(&self.path);
                Ok(())
            }
            Err(file) => Err(Self { file, ..self }),
        }
    }

    /// Puts the file into its place, which is free.
    fn appear(self) -> io::Result<()> {
        let (file, error) = match self.file {
            Unnamed::Open(file) => match file.persist_noclobber(&self.path) {
                Ok(_) => return Ok(()),
                Err(PersistError { file, error }) => (Unnamed::Open(file), error),
            },
            Unnamed::Closed(file) => match file.persist_noclobber(&self.path) {
                Ok(()) => return Ok(()),
                Err(PathPersistError { path, error }) => (Unnamed::Closed(path), error),
            },
        };
        // Some file systems cannot rename without replacing: hours of work must not be lost for that.
        let old = fs::symlink_metadata(&self.path);
        let is_free = old.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if is_free { Self { file, ..self }.replace().map_err(|_| error) } else { Err(error) }
    }

    /// Closes the file, under a name that lasts as long as the marker.
    fn close(self, marker: &Path, number: usize) -> Result<Self> {
        let Unnamed::Open(file) = self.file else { return Ok(self) };
        let closed = leftovers::member(marker, number);
        let kept = file.into_temp_path();
        let renamed = fs::rename(&kept, &closed).and_then(|()| TempPath::try_from_path(closed));
        // There is no file of its old name.
        drop(kept.keep());
        let file = renamed.map_err(|error| Error::file(&self.path, "cannot write the file", error))?;
        Ok(Self { file: Unnamed::Closed(file), ..self })
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Replacement {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Refuses to write over one of the files that are read, under whatever name and through whatever link.
///
/// # Errors
/// When an output and an input are the same file.
pub fn keep_inputs(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<()> {
    for output in outputs {
        let Some(old) = handle(output) else { continue };
        if let Some(input) = inputs.iter().find(|input| handle(input).as_ref() == Some(&old)) {
            return Err(refused(output, "an input", input));
        }
    }
    Ok(())
}

/// Refuses outputs that would replace each other, whether they exist or not. Each may consist of several files.
///
/// # Errors
/// When two of them have a file in common.
pub fn keep_apart(outputs: &[Vec<PathBuf>]) -> Result<()> {
    let place = |path: &Path| {
        Some((dunce::canonicalize(folder::parent_of(path)).ok()?, path.file_name()?.to_owned()))
    };
    let is_one = |a: &Path, b: &Path| {
        place(a).is_some_and(|a| place(b) == Some(a)) || handle(a).is_some_and(|a| handle(b) == Some(a))
    };
    for (number, output) in outputs.iter().enumerate() {
        for other in outputs.iter().take(number).flatten() {
            if let Some(file) = output.iter().find(|file| is_one(file, other)) {
                return Err(refused(file, "another output", other));
            }
        }
    }
    Ok(())
}

/// What distinguishes an existing file from others, under whatever name.
fn handle(path: &Path) -> Option<Handle> {
    // A pipe would wait for its other end.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| Handle::from_path(path).ok()).flatten()
}

fn refused(output: &Path, which: &str, other: &Path) -> Error {
    let what = format!("this would replace {which} of the command, {}", other.display());
    Error::new(ErrorKind::Usage, what).at_path(output).advice("name another output")
}

/// Makes the name of a file durable, where the file system can do that: the file itself is already safe.
fn sync_folder(file: &Path) {
    let _ = folder::sync(folder::parent_of(file));
}

#[cfg(test)]
mod tests {
    use super::super::error::Remedy;
    use super::*;

    pub(super) fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_and_only_when_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let mut file = Replacement::new(&path, false).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn a_dropped_file_leaves_no_trace_and_the_old_file_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, b"old").unwrap();
        let mut file = Replacement::new(&path, true).unwrap();
        file.write_all(&[7; BUFFER_LEN * 2]).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, b"old").unwrap();
        let error = Replacement::new(&path, false).unwrap_err();
        assert_eq!(error.remedy(), Some(Remedy::Replace), "{error}");
        let mut file = Replacement::new(&path, true).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_that_appeared_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let file = Replacement::new(&path, false).unwrap();
        fs::write(&path, b"other").unwrap();
        assert!(file.commit().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn an_error_mentions_the_old_file_only_where_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let full = || {
            let file = Replacement::new(&path, true).unwrap();
            file.error(io::ErrorKind::StorageFull.into()).to_string()
        };
        assert!(!full().contains("unchanged"), "{}", full());
        fs::write(&path, b"old").unwrap();
        assert!(full().ends_with("the old file is unchanged"), "{}", full());
    }

    #[test]
    fn an_error_does_not_name_the_file_that_is_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let error = Replacement::new(folder.path().join("none/a.bin"), false).unwrap_err().to_string();
        assert!(!error.contains(".part") && error.contains("a.bin: cannot write"), "{error}");
    }

    #[test]
    fn an_input_is_refused_as_output_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.bin"), b"book").unwrap();
        fs::write(at("b.bin"), b"book").unwrap();
        fs::hard_link(at("a.bin"), at("hard.bin")).unwrap();
        let keep =
            |output: &str| keep_inputs(&[at("c.bin"), at(output)], &[at("b.bin"), at("none"), at("a.bin")]);
        let error = keep("hard.bin").unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Usage, Some(&*at("hard.bin"))));
        assert!(error.what().ends_with("a.bin"), "{error}");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("b.bin"), at("soft.bin")).unwrap();
            assert!(keep("soft.bin").is_err());
        }
        assert!(keep("b.bin").is_err() && keep("none").is_ok());
        fs::write(at("d.bin"), b"book").unwrap();
        assert!(keep("d.bin").is_ok());
    }

    #[test]
    fn one_file_is_not_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.bin"), b"book").unwrap();
        fs::hard_link(at("a.bin"), at("hard.bin")).unwrap();
        for (one, other, is_refused) in [
            ("a.bin", "a.bin", true),
            ("a.bin", "hard.bin", true),
            ("new.bin", "new.bin", true),
            ("new.bin", "./new.bin", true),
            ("new.bin", "other.bin", false),
            ("a.bin", "new.bin", false),
        ] {
            let error = keep_apart(&[vec![at(one)], vec![at("b.bin"), at(other)]])
                .err()
                .map(|error| error.what().to_owned());
            assert_eq!(
                error.is_some_and(|error| error.contains("another output")),
                is_refused,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn a_folder_and_a_missing_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Replacement::new(folder.path(), true).is_err());
        assert!(Replacement::new(folder.path().join("none/a.bin"), false).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_the_file_that_it_names_is_replaced_with_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.bin"), folder.path().join("link.bin"));
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = Replacement::new(&link, true).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
