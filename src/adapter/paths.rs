//! Where a file that the user named may lie: GUIs start engines in folders of their own choosing.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders outside `PATH` in which Debian and its kin put games, chess engines among them.
const GAME_FOLDERS: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The folders against which a relative path is looked up, in this order: the working folder, the configuration
/// file's, the executable's.
#[derive(Clone, Debug)]
pub struct Places {
    folders: Vec<PathBuf>,
}

impl Places {
    /// The places of this process; `config` is the configuration file, where there is one.
    pub fn new(config: Option<&Path>) -> Self {
        let executable = env::current_exe().ok();
        let folders = [
            env::current_dir().ok(),
            config.and_then(Path::parent).map(Path::to_owned),
            executable.as_deref().and_then(Path::parent).map(Path::to_owned),
        ];
        Self::of(folders.into_iter().flatten())
    }

    /// Given places.
    pub fn of(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut places = Self { folders: Vec::new() };
        for folder in folders {
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            if !places.folders.contains(&folder) {
                places.folders.push(folder);
            }
        }
        places
    }

    /// The first place where `name` exists.
    ///
    /// # Errors
    /// When it exists in none: every path that was tried.
    pub fn find(&self, name: &str) -> Result<PathBuf, Vec<PathBuf>> {
        let name = Path::new(unquoted(name));
        let tried: Vec<PathBuf> = self.folders.iter().map(|folder| folder.join(name)).collect();
        let mut tried = if tried.is_empty() { vec![name.to_owned()] } else { tried };
        tried.dedup();
        match tried.iter().find(|path| path.exists()) {
            Some(found) => Ok(found.clone()),
            None => Err(tried),
        }
    }

    /// A program: a plain name is looked for on `PATH` first, all else as a path.
    ///
    /// # Errors
    /// When it is nowhere: a sentence that names what was tried.
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
        let described = |tried: &[PathBuf]| {
            let paths: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
            let on_path = if is_plain { "PATH, " } else { "" };
            format!("not found; looked for it at {on_path}{}", paths.join(", "))
        };
        let found = self
            .find(name)
            .or_else(|tried| {
                // On Windows a program may be named without its ending.
                let ending = env::consts::EXE_SUFFIX;
                if ending.is_empty() {
                    Err(tried)
                } else {
                    self.find(&format!("{name}{ending}")).map_err(|_| tried)
                }
            })
            .map_err(|tried| described(&tried))?;
        if found.is_dir() { Err(format!("{} is a folder", found.display())) } else { Ok(found) }
    }
}

/// A path as users copy it, without the quotation marks around it.
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
    fn the_first_place_that_has_the_file_wins() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let places = Places::of([a.path().to_owned(), b.path().to_owned()]);
        assert_eq!(places.find("x.bin").unwrap_err(), [a.path().join("x.bin"), b.path().join("x.bin")]);
        std::fs::write(b.path().join("x.bin"), "").unwrap();
        assert_eq!(places.find("x.bin").unwrap(), b.path().join("x.bin"));
        assert_eq!(places.find("\"x.bin\"").unwrap(), b.path().join("x.bin"));
        std::fs::write(a.path().join("x.bin"), "").unwrap();
        assert_eq!(places.find("x.bin").unwrap(), a.path().join("x.bin"));
    }

    #[test]
    fn an_absolute_path_is_tried_once() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.bin");
        let places = Places::of([folder.path().to_owned(), std::env::temp_dir()]);
        assert_eq!(places.find(missing.to_str().unwrap()).unwrap_err(), [missing]);
    }

    #[test]
    fn a_program_that_is_nowhere_names_every_path_tried() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::of([folder.path().to_owned()]);
        let problem = places.find_program("no-such-engine").unwrap_err();
        assert!(problem.contains("PATH") && problem.contains(folder.path().to_str().unwrap()), "{problem}");
        let problem = places.find_program("sub/no-such-engine").unwrap_err();
        assert!(!problem.contains("PATH"), "{problem}");
    }
}
