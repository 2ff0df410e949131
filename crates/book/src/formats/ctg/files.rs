//! The three files of a book, found by the name of any of them.

use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::{self, has_extension};

/// The extensions: pages, index, bitmap.
pub const EXTENSIONS: [&str; 3] = ["ctg", "cto", "ctb"];

/// Which of the three files a path is, by its extension in any letter case.
pub fn part(path: &Path) -> Option<usize> {
    EXTENSIONS.iter().position(|name| has_extension(path, name))
}

/// The three files of a book by the path of any of them: pages, index, bitmap. A path with another extension is that of
/// the pages.
///
/// The other files have the letter case of the given one, or else any.
///
/// # Errors
/// When one of them is missing, or the folder cannot be read.
pub fn three_files(path: &Path) -> Result<[PathBuf; 3]> {
    let given = part(path).unwrap_or_default();
    let mut files = [const { PathBuf::new() }; 3];
    for (at, (file, extension)) in files.iter_mut().zip(EXTENSIONS).enumerate() {
        *file = if at == given { path.to_owned() } else { sibling(path, extension)? };
    }
    Ok(files)
}

/// The one file in the folder of a missing part of a CTG book that differs from it by letter case alone.
pub fn in_any_case(path: &Path) -> Option<PathBuf> {
    part(path)?;
    if path.exists() {
        return None;
    }
    folder::in_any_case(path).ok().flatten()
}

fn sibling(path: &Path, extension: &str) -> Result<PathBuf> {
    let missing = folder::with_extension(path, extension);
    let found = folder::sibling(path, extension)
        .map_err(|error| Error::file(&missing, "cannot look for this part of the CTG book", error))?;
    found.ok_or_else(|| {
        Error::new(ErrorKind::File, format!("this part of the CTG book {} is missing", path.display()))
            .at_path(&missing)
            .advice(
                "put the .ctg, .cto and .ctb of one book into one folder, with the same name before the dot",
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn any_of_the_names_in_any_case_finds_the_three() {
        for names in [
            ["a.ctg", "a.cto", "a.ctb"],
            ["A.CTG", "A.CTO", "A.CTB"],
            ["Book.ctg", "BOOK.CTO", "book.Ctb"],
            ["b ü.1.CTG", "b ü.1.cto", "B Ü.1.CTB"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let paths = names.map(|name| folder.path().join(name));
            paths.iter().for_each(|path| fs::write(path, b"").unwrap());
            for path in &paths {
                let found = three_files(path).unwrap();
                // Some file systems ignore letter case.
                for (found, path) in found.iter().zip(&paths) {
                    let lower = |path: &Path| path.to_string_lossy().to_lowercase();
                    assert!(lower(found) == lower(path) && found.is_file(), "{found:?} {path:?}");
                }
            }
            let shouted = folder.path().join(names[1].to_uppercase());
            assert!(shouted.exists() || in_any_case(&shouted).is_some_and(|path| path.is_file()));
        }
    }

    #[test]
    fn a_missing_one_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.CTG");
        fs::write(&path, b"").unwrap();
        let error = three_files(&path).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::File, Some(&*folder.path().join("a.CTO"))));
        let text = error.to_string();
        assert!(text.contains("this part of the CTG book") && text.contains("into one folder"), "{text}");
        assert!(in_any_case(&path).is_none() && in_any_case(&folder.path().join("b.ctg")).is_none());
    }
}
