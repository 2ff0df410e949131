//! Files that several processes append to, named by the user.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::settings::search_paths::SearchPaths;

/// Opens a file for appending, with these `options` besides. A relative name is looked up like a book's; if there is no such file, it is
/// created in the first of the search paths that allows it. `what` is for messages, such as "the log".
///
/// # Errors
/// When it cannot be opened for writing in any of them.
pub(super) fn open(
    name: &str,
    what: &str,
    search_paths: &SearchPaths,
    options: &OpenOptions,
) -> Result<(PathBuf, File), String> {
    let paths = search_paths.find(name).map_or_else(|tried| tried, |path| vec![path]);
    let mut problem = String::new();
    for path in paths {
        if is_pipe(&path) {
            return Err(format!("{}: this is a pipe, but {what} need a file", path.display()));
        }
        match options.clone().append(true).create(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if problem.is_empty() => {
                problem = format!("{}: cannot write {what}: {error}", path.display());
            }
            Err(_) => {}
        }
    }
    Err(problem)
}

/// Whether opening the file would wait for a reader.
pub(super) fn is_pipe(path: &Path) -> bool {
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
