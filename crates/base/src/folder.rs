//! Folders, and the files in them by their names.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Error, ErrorKind, Result};

/// How deep folders may be nested.
const DEEPEST: u32 = 64;

/// The folder of a file: the current one where its path names none.
///
/// ```
/// use std::path::Path;
/// use tabiya_base::folder;
/// assert_eq!(folder::parent_of(Path::new("a.bin")), Path::new("."));
/// assert_eq!(folder::parent_of(Path::new("books/a.bin")), Path::new("books"));
/// ```
pub fn parent_of(file: &Path) -> &Path {
    here(file.parent().unwrap_or(file))
}

/// A folder, where an empty name means the current one.
pub fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Waits until the names in a folder are on the disk.
///
/// # Errors
/// When the disk fails, or the file system cannot do it.
pub fn sync(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened as a file, and a name is as durable as its file.
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Whether a name has this extension, in any letter case.
pub fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|given| given.eq_ignore_ascii_case(extension))
}

/// The path of a file with another extension, in upper case if the old one is.
///
/// ```
/// use std::path::Path;
/// use tabiya_base::folder;
/// assert_eq!(folder::with_extension(Path::new("A.CTG"), "cto"), Path::new("A.CTO"));
/// ```
pub fn with_extension(file: &Path, extension: &str) -> PathBuf {
    let upper = file.extension().is_some_and(|given| given.to_string_lossy().chars().any(char::is_uppercase));
    file.with_extension(if upper { extension.to_uppercase() } else { extension.to_owned() })
}

/// The file beside another one whose name adds this to that of the other: `book.bin.evals` of `book.bin`.
///
/// ```
/// use std::path::Path;
/// use tabiya_base::folder;
/// assert_eq!(folder::with_suffix(Path::new("a/book.bin"), ".evals"), Path::new("a/book.bin.evals"));
/// ```
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_name().map_or_else(OsString::new, OsStr::to_owned);
    name.push(suffix);
    file.with_file_name(name)
}

/// The file of the same name with another extension: as [`with_extension`] names it, else in any letter case.
///
/// # Errors
/// When the folder cannot be read.
pub fn sibling(file: &Path, extension: &str) -> io::Result<Option<PathBuf>> {
    let likely = with_extension(file, extension);
    if likely.is_file() { Ok(Some(likely)) } else { in_any_case(&likely) }
}

/// The file whose name equals this one apart from letter case; of several, the first in the order of their bytes.
///
/// # Errors
/// When the folder cannot be read.
pub fn in_any_case(file: &Path) -> io::Result<Option<PathBuf>> {
    let lower = |name: &OsStr| name.to_string_lossy().to_lowercase();
    let Some(wanted) = file.file_name().map(lower) else { return Ok(None) };
    let names =
        fs::read_dir(parent_of(file))?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    let found = names.into_iter().filter(|name| lower(name) == wanted).min();
    Ok(found.map(|name| file.with_file_name(name)))
}

/// The files of a folder and of its subfolders.
#[derive(Debug, Default)]
pub struct FolderFiles {
    /// The files, in the order of their names.
    pub found: Vec<PathBuf>,
    /// Why subfolders cannot be read.
    pub unread: Vec<Error>,
}

/// The files of a folder and of its subfolders. Names for which `skips` is true are left out. Links to folders are not
/// followed, because they may lead back.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn files(folder: &Path, skips: &dyn Fn(&OsStr) -> bool) -> Result<FolderFiles> {
    let mut files = FolderFiles::default();
    add_files(folder, DEEPEST, skips, &mut files)?;
    Ok(files)
}

fn add_files(
    folder: &Path,
    depth: u32,
    skips: &dyn Fn(&OsStr) -> bool,
    files: &mut FolderFiles,
) -> Result<()> {
    let cannot = |error| Error::file(folder, "cannot read the folder", error);
    if depth == 0 {
        return Err(Error::new(ErrorKind::File, "the folders are nested too deep").at_path(folder));
    }
    let mut entries =
        fs::read_dir(folder).map_err(cannot)?.collect::<io::Result<Vec<_>>>().map_err(cannot)?;
    entries.retain(|entry| !skips(&entry.file_name()));
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let unread = add_files(&path, depth - 1, skips, files).err();
            files.unread.extend(unread);
        } else {
            files.found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_in_the_order_of_their_names_from_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/c.x", "b/.hidden/d.x", "a.x", "z.x", ".e.x"] {
            let path = folder.path().join(name);
            fs::create_dir_all(parent_of(&path)).unwrap();
            fs::write(path, b"").unwrap();
        }
        let names = |skips: &dyn Fn(&OsStr) -> bool| {
            let found = files(folder.path(), skips).unwrap().found;
            found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let hidden = |name: &OsStr| name.to_string_lossy().starts_with('.');
        assert_eq!(names(&hidden), ["a.x", "b/c.x", "z.x"].map(PathBuf::from));
        assert_eq!(names(&|_| false), [".e.x", "a.x", "b/.hidden/d.x", "b/c.x", "z.x"].map(PathBuf::from));
        let mut deep = folder.path().to_owned();
        deep.extend(["d"; DEEPEST as usize]);
        fs::create_dir_all(deep).unwrap();
        let FolderFiles { found, unread } = files(folder.path(), &|_| false).unwrap();
        assert_eq!(found.len(), 5);
        assert!(unread.len() == 1 && unread[0].to_string().contains("nested too deep"), "{unread:?}");
    }
}
