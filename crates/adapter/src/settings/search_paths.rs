//! Where files that the user names are looked up: each GUI starts engines in a folder of its choice.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tabiya_book::{self as book, BookFolder};

use super::advice::{several, worded};

/// Folders outside `PATH` in which Debian and similar systems install games, chess engines among them.
const GAME_FOLDERS: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The folders against which a relative path is looked up, in this order: the working folder, the configuration
/// file's, the executable's.
#[derive(Clone, Debug)]
pub struct SearchPaths {
    folders: Vec<PathBuf>,
    /// The folder of the configuration file, if there is one.
    config: Option<PathBuf>,
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
        let config = config.and_then(Path::parent).map(absolute);
        Self { config, ..Self::from_folders(folders.into_iter().flatten()) }
    }

    /// These folders, without duplicates.
    pub(crate) fn from_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut paths = Self { folders: Vec::new(), config: None };
        for folder in folders {
            let folder = absolute(&folder);
            if !paths.folders.contains(&folder) {
                paths.folders.push(folder);
            }
        }
        paths
    }

    /// The folders, in the order in which they are searched.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The path of a file that several processes share, whether or not it exists: a relative name is in the folder of the
    /// configuration file, without one in the working folder.
    pub(crate) fn shared(&self, name: &str) -> PathBuf {
        let name = Path::new(unquoted(name));
        self.config
            .as_ref()
            .or(self.folders.first())
            .map_or_else(|| name.to_owned(), |folder| folder.join(name))
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

    /// The book of this name, or the books of a folder of this name.
    ///
    /// # Errors
    /// When there is no such book, with the paths that were tried, or when the folder cannot be read.
    pub fn find_books(&self, name: &str) -> Result<FoundBooks, String> {
        let found = self.find(name);
        let found = found.or_else(|tried| tried.iter().find_map(|path| book::in_any_case(path)).ok_or(tried));
        let path = found.map_err(|tried| {
            format!("{name}: no such book; looked for it at {}{}", listed(&tried), several(name))
        })?;
        let folder = book::books_in(&path).map_err(|error| worded(&error))?;
        Ok(match folder {
            None => FoundBooks { paths: vec![path], folder: None },
            Some(BookFolder { books, others }) => FoundBooks { paths: books, folder: Some((path, others)) },
        })
    }

    /// A program: a plain name is looked up on `PATH` first, anything else as a path.
    ///
    /// # Errors
    /// When it is not found: a message that names what was tried.
    pub fn find_program(&self, name: &str) -> Result<PathBuf, String> {
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

/// The books that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundBooks {
    /// Their paths, by priority.
    pub paths: Vec<PathBuf>,
    /// The folder that they are in, if that is what is named, with the names of its files that are no books.
    folder: Option<(PathBuf, Vec<String>)>,
}

/// How many files that are no books are named.
const MOST_NAMED: usize = 3;

impl FoundBooks {
    /// Whether a folder is named. A book of it that cannot be opened does not keep the others from being played.
    pub fn is_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// What is said of a folder in which no book is found, or can be opened.
    pub fn lack_books(&self) -> Option<String> {
        let (folder, _) = self.folder.as_ref()?;
        let what = if self.paths.is_empty() { "has no book" } else { "has no book that can be opened" };
        Some(format!("{}: this folder {what}", folder.display()))
    }

    /// What is in a folder that is named: its books in their order, and the files that are ignored.
    pub fn described(&self) -> Option<String> {
        let (folder, others) = self.folder.as_ref()?;
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let books: Vec<_> = self.paths.iter().map(name).collect();
        let mut text = format!("{}: {}", folder.display(), books.join(", "));
        if let Some(named) = others.chunks(MOST_NAMED).next() {
            text += &format!("; ignored: {}", named.join(", "));
        }
        if let Some(more @ 1..) = others.len().checked_sub(MOST_NAMED) {
            text += &format!(" and {more} more");
        }
        Some(text)
    }
}

/// Paths as a list for a message.
pub fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

/// An absolute path; an empty one is the working folder.
fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
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
    fn a_shared_file_is_beside_the_configuration_whatever_the_working_folder() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("tabiya.toml");
        let shared = |config: Option<&Path>, name: &str| SearchPaths::new(config).shared(name);
        assert_eq!(shared(Some(&config), "match.lines"), folder.path().join("match.lines"));
        let working = env::current_dir().unwrap();
        assert_eq!(shared(None, "match.lines"), working.join("match.lines"));
        assert_eq!(shared(Some(Path::new("tabiya.toml")), "match.lines"), working.join("match.lines"));
        assert_eq!(shared(Some(Path::new("tabiya.toml")), config.to_str().unwrap()), config);
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
