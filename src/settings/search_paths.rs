//! Where files that the user names are looked up: each GUI starts engines in a folder of its choice.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders outside `PATH` in which Debian and similar systems install games, chess engines among them.
const GAME_FOLDERS: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The folders against which a relative path is looked up, in this order: the working folder, the configuration
/// file's, the executable's.
#[derive(Clone, Debug)]
pub struct SearchPaths {
    folders: Vec<PathBuf>,
}

impl SearchPaths {
    /// The search paths of this process; `config` is the configuration file, if there is one.
    pub fn new(config: Option<&Path>) -> Self {
        let executable = env::current_exe().ok();
        let folders = [
            env::current_dir().ok(),
            config.and_then(Path::parent).map(Path::to_owned),
            executable.as_deref().and_then(Path::parent).map(Path::to_owned),
        ];
        Self::from_folders(folders.into_iter().flatten())
    }

    /// These folders, without duplicates.
    pub(crate) fn from_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut paths = Self { folders: Vec::new() };
        for folder in folders {
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            if !paths.folders.contains(&folder) {
                paths.folders.push(folder);
            }
        }
        paths
    }

    /// The folders, in the order in which they are searched.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The first path at which `name` exists.
    ///
    /// # Errors
    /// When there is none: every path that was tried.
    pub fn find(&self, name: &str) -> Result<PathBuf, Vec<PathBuf>> {
        let name = Path::new(unquoted(name));
        let tried: Vec<PathBuf> = self.folders.iter().map(|folder| folder.join(name)).collect();
        let mut tried = if tried.is_empty() { vec![name.to_owned()] } else { tried };
        tried.dedup();
        tried.iter().find(|path| path.exists()).cloned().ok_or(tried)
    }

    /// A program: a plain name is looked up on `PATH` first, anything else as a path.
    ///
    /// # Errors
    /// When it is not found: a message that names what was tried.
    pub(crate) fn find_program(&self, name: &str) -> Result<PathBuf, String> {
        let name = unquoted(name);
        if name.is_empty() {
            return Err("its name is empty".to_owned());
        }
        let is_plain = Path::new(name).components().count() == 1 && !name.ends_with(['/', '\\']);
        if is_plain {
            let working = env::current_dir().unwrap_or_default();
            if let Ok(found) = which::which_in(name, Some(search_path()), working) {
                return Ok(found);
            }
        }
        // On Windows a program may be named without its extension; elsewhere this is the same name again.
        let with_extension = format!("{name}{}", env::consts::EXE_SUFFIX);
        let found = self.find(name).or_else(|tried| self.find(&with_extension).map_err(|_| tried));
        let found = found.map_err(|mut tried| {
            if is_plain {
                tried.insert(0, PathBuf::from("PATH"));
            }
            format!("not found; looked for it at {}", listed(&tried))
        })?;
        if found.is_dir() { Err(format!("{} is a folder", found.display())) } else { Ok(found) }
    }
}

/// Paths as a list for a message.
pub fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

/// A path without the quotation marks that users copy with it.
fn unquoted(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    if !cfg!(unix) {
        return path;
    }
    let folders = env::split_paths(&path).chain(GAME_FOLDERS.iter().map(PathBuf::from));
    env::join_paths(folders).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_that_has_the_file_wins() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let paths = SearchPaths::from_folders([a.path().to_owned(), b.path().to_owned()]);
        assert_eq!(paths.find("x.bin").unwrap_err(), [a.path().join("x.bin"), b.path().join("x.bin")]);
        std::fs::write(b.path().join("x.bin"), "").unwrap();
        assert_eq!(paths.find("x.bin").unwrap(), b.path().join("x.bin"));
        assert_eq!(paths.find("\"x.bin\"").unwrap(), b.path().join("x.bin"));
        std::fs::write(a.path().join("x.bin"), "").unwrap();
        assert_eq!(paths.find("x.bin").unwrap(), a.path().join("x.bin"));
    }

    #[test]
    fn an_absolute_path_is_tried_once() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.bin");
        let paths = SearchPaths::from_folders([folder.path().to_owned(), std::env::temp_dir()]);
        assert_eq!(paths.find(missing.to_str().unwrap()).unwrap_err(), [missing]);
    }

    #[test]
    fn a_program_that_is_not_found_is_reported_with_every_path_tried() {
        let folder = tempfile::tempdir().unwrap();
        let paths = SearchPaths::from_folders([folder.path().to_owned()]);
        let problem = paths.find_program("no-such-engine").unwrap_err();
        assert!(problem.contains("PATH") && problem.contains(folder.path().to_str().unwrap()), "{problem}");
        let problem = paths.find_program("sub/no-such-engine").unwrap_err();
        assert!(!problem.contains("PATH"), "{problem}");
    }
}
