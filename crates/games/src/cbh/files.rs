//! The files of a database, found by the name of any of them.

use std::fs;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::unread::Unread;

use crate::cbv;

/// The extensions of the files that are read: records, moves, annotations, players, tournaments,
/// annotators, sources, teams, second records, titles, media.
pub const PARTS: [&str; 11] = ["cbh", "cbg", "cba", "cbp", "cbt", "cbc", "cbs", "cbe", "cbj", "cbl", "cbm"];

/// Whether a name is that of a file of a database, or of its archive.
pub fn is_named(path: &Path) -> bool {
    let named = |name: &&str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    PARTS.iter().any(named) || cbv::is_named(path)
}

/// All files of the database that a file belongs to, including those that are not read: files of the same name with an
/// extension of ChessBase.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    const STARTS: [&str; 4] = ["cb", "ci", "ck", "cp"];
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let entries = fs::read_dir(folder::of(path)).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = entries.filter(|entry| {
        let end = entry.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
        stem(entry) == stem(path) && STARTS.iter().any(|start| end.starts_with(start))
    });
    own.chain([path.to_owned()]).collect()
}

/// The `.cbh` file of the database that a file belongs to.
///
/// # Errors
/// When it is missing, or when the file is one of another program, with what to do about it.
pub fn main(path: &Path) -> Result<PathBuf> {
    if let Some(unread) = Unread::by_name(path) {
        return Err(unread.error(path));
    }
    if path.is_file() && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("cbh")) {
        return Ok(path.to_owned());
    }
    folder::sibling(path, "cbh").ok().flatten().ok_or_else(|| {
        Error::new(ErrorKind::File, "there is no such database")
            .at_path(path)
            .advice("name its .cbh file; the others (.cbg, .cba, .cbp ...) are found beside it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_parts_are_found_in_any_letter_case() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["My Games.CBH", "My games.cbg", "MY GAMES.Cba"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        let path = folder.path().join("My Games.CBH");
        for (part, name) in [("cbg", "My games.cbg"), ("cba", "MY GAMES.Cba")] {
            let found = folder::sibling(&path, part).unwrap().unwrap();
            assert!(found.is_file());
            assert_eq!(found.file_name().unwrap().to_string_lossy().to_lowercase(), name.to_lowercase());
        }
        assert_eq!(folder::sibling(&path, "cbp").unwrap(), None);
        assert!(main(&folder.path().join("my games.cbg")).unwrap().is_file());
    }

    #[test]
    fn other_files_are_refused_with_advice() {
        for (name, says) in [
            ("a.2cbh", "save it as a CBH database"),
            ("a.cbz", "unpack it first"),
            ("none.cbh", "name its .cbh file"),
        ] {
            assert!(main(Path::new(name)).unwrap_err().to_string().contains(says), "{name}");
        }
        let named = ["a.cbh", "a.CBV", "a.pgn", "a.2cbh"].map(|name| is_named(Path::new(name)));
        assert_eq!(named, [true, true, false, false]);
    }
}
