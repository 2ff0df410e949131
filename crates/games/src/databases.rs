//! The kinds of databases: the only list of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, Result};
use tabiya_base::file_kind::FileKind;
use tabiya_base::folder;

use super::database::{Database, DatabaseKind};
use super::{cbh, scid};

/// Every kind.
const KINDS: &[&DatabaseKind] = &[&cbh::KIND, &scid::KIND];

/// The kind of the database that a file belongs to, by its name.
fn kind(path: &Path) -> Option<&'static DatabaseKind> {
    let file = FileKind::by_name(path)?;
    KINDS.iter().copied().find(|kind| kind.files.contains(&file))
}

/// Whether a name is that of a file of a database, or of its archive.
pub fn is_named(path: &Path) -> bool {
    kind(path).is_some()
}

/// Opens the database that a file belongs to.
///
/// # Errors
/// When it is missing or cannot be read, with what to do.
pub fn open(path: &Path) -> Result<Arc<dyn Database>> {
    let unnamed = || {
        let file = FileKind::unread_by_name(path);
        file.map_or_else(|| Error::format(path, "this is no database"), |file| file.not("games", path))
    };
    (kind(path).ok_or_else(unnamed)?.open)(path)
}

/// All files of the database that a file belongs to.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    kind(path).map_or_else(|| vec![path.to_owned()], |kind| (kind.parts)(path))
}

/// Whether a file in a folder means a database.
pub(crate) fn is_main(path: &Path) -> bool {
    let is_main = |kind: &DatabaseKind| kind.main.iter().any(|end| folder::has_extension(path, end));
    KINDS.iter().copied().any(is_main)
}

/// Whether a file in a folder holds games of a database whose list of them is missing.
pub(crate) fn is_alone(path: &Path) -> bool {
    let mut games = KINDS.iter().flat_map(|kind| kind.games);
    let found = games.find(|[games, _]| folder::has_extension(path, games));
    found.is_some_and(|[_, main]| matches!(folder::sibling(path, main), Ok(None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_the_names_of_their_files() {
        for (name, named, main) in [
            ("a.cbh", true, true),
            ("a.CBV", true, true),
            ("a.cbg", true, false),
            ("a.pgn", false, false),
            ("a.2cbh", false, false),
        ] {
            assert_eq!((is_named(Path::new(name)), is_main(Path::new(name))), (named, main), "{name}");
        }
        assert!(open(Path::new("a.2cbh")).unwrap_err().to_string().contains("save it as a CBH database"));
        assert!(open(Path::new("a.pgn")).unwrap_err().to_string().contains("no database"));
    }
}
