//! The files of a book, found by the name of any of them.

use std::fs;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::{self, has_extension};

/// The extension of the files with positions.
pub(crate) const KOB: &str = "kob";

/// The extension of the file with the first key of each block.
pub(crate) const KIN: &str = "kin";

/// The extension of the file with the games.
pub(crate) const KSF: &str = "ksf";

/// The most `.kob` files of a book, which bounds the work in a folder full of names: 1.3 TB at 20 MB each.
const MAX_FILES: usize = 1 << 16;

/// The files of one book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KvetkaFiles {
    /// The `.kob` files with their numbers, in order; a single file without a number has number 0.
    pub kob: Vec<(u32, PathBuf)>,
    /// The `.kin` file, if it exists.
    pub kin: Option<PathBuf>,
    /// The `.ksf` file, if it exists.
    pub ksf: Option<PathBuf>,
}

/// Whether a name has an extension of a Kvetka book, in any letter case.
pub fn is_part(path: &Path) -> bool {
    [KOB, KIN, KSF].iter().any(|name| has_extension(path, name))
}

/// The path of a book without number and extension: `book` for `book.kob`, `book_0.kob`, `book.kin` and `book.ksf`.
pub fn stem(path: &Path) -> PathBuf {
    let mut stem = if is_part(path) { path.with_extension("") } else { path.to_owned() };
    if has_extension(path, KOB)
        && let Some(name) = stem.file_name().and_then(|name| name.to_str())
        && let Some(name) = name.strip_suffix("_0").filter(|name| !name.is_empty())
    {
        stem = stem.with_file_name(name);
    }
    stem
}

/// The file of a book: its stem with an end, such as `_0.kob`.
pub(crate) fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.file_name().unwrap_or_default().to_owned();
    name.push(end);
    stem.with_file_name(name)
}

/// The `.kob` file of a number.
pub fn kob(stem: &Path, number: u32) -> PathBuf {
    with_end(stem, &format!("_{number}.{KOB}"))
}

/// The path to open if it names a book and no file: `book` and `book.kob` name `book_0.kob`, in any letter case.
pub fn in_any_case(path: &Path) -> Option<PathBuf> {
    // A stem may have dots too.
    let may_be_book = is_part(path) || path.extension().is_none() || kob(path, 0).exists();
    (!path.exists() && may_be_book && find(path).is_ok()).then(|| path.to_owned())
}

/// The files of the book of a path.
///
/// `book_7.kob` is the eighth file of `book`, or the only file of a book of that name if the folder has no other part of
/// either. Names are compared without letter case.
///
/// # Errors
/// When the folder cannot be read, or there is no such book.
pub fn find(path: &Path) -> Result<KvetkaFiles> {
    let names = names_beside(path)?;
    for stem in stems(path) {
        let files = files_of(&stem, &names);
        // A name with a number must be among the files: another book may have the same stem.
        let held = files.kob.iter().any(|(_, kob)| lower(kob) == lower(path));
        if !files.kob.is_empty() && (held || !has_extension(path, KOB) || !path.exists()) {
            return Ok(files);
        }
    }
    if path.is_file() && has_extension(path, KOB) {
        let stem = lower(&path.with_extension("")).unwrap_or_default();
        return Ok(KvetkaFiles { kob: vec![(0, path.to_owned())], ..files_of(&stem, &names) });
    }
    let (missing, what) = if path.exists() {
        (kob(&stem(path), 0), "the positions of this Kvetka book are missing")
    } else {
        (path.to_owned(), "there is no such Kvetka book")
    };
    Err(Error::new(ErrorKind::File, what).at_path(missing).advice(
        "put the .kob, .kin and .ksf of one book into one folder, with the same name before the number",
    ))
}

/// All files of a book of this stem, and those that would be opened in their place: an unnumbered `.kob` too.
///
/// # Errors
/// When the folder cannot be read.
pub fn existing(stem: &Path) -> Result<Vec<PathBuf>> {
    let Some(name) = lower(stem) else { return Ok(Vec::new()) };
    let names = names_beside(stem)?;
    let KvetkaFiles { kob, kin, ksf } = files_of(&name, &names);
    let numbered = kob.into_iter().map(|(_, path)| path);
    let whole = format!("{name}.{KOB}");
    let whole = names.into_iter().filter(|(lower, _)| *lower == whole).map(|(_, path)| path);
    Ok(numbered.chain(whole).chain(kin).chain(ksf).collect())
}

fn lower(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase())
}

/// The possible stems of a path, in lower case: `a_7` for `a_7_0.kob`; for `a_7.kob` first `a`, then `a_7`.
fn stems(path: &Path) -> Vec<String> {
    let Some(name) = lower(path) else { return Vec::new() };
    if !is_part(path) {
        return vec![name];
    }
    let whole = name.rsplit_once('.').map_or(name.as_str(), |(whole, _)| whole).to_owned();
    let cut = has_extension(path, KOB).then(|| numbered(&whole)).flatten().map(|(stem, _)| stem.to_owned());
    // An existing file without a number is a book by itself.
    cut.into_iter().chain((!(has_extension(path, KOB) && path.is_file())).then_some(whole)).collect()
}

/// The stem and number of a name such as `a_7`, without its extension.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let (stem, digits) = name.rsplit_once('_')?;
    let number: u32 = digits.parse().ok()?;
    // Without leading zeros or a sign.
    (number.to_string() == digits && !stem.is_empty()).then_some((stem, number))
}

/// The files with an extension of a Kvetka book in the folder of a path, each with its name in lower case.
fn names_beside(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let cannot = |error| Error::file(path, "cannot look for the files of this Kvetka book", error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder::parent_of(path)).map_err(cannot)? {
        let file = path.with_file_name(entry.map_err(cannot)?.file_name());
        if is_part(&file) {
            names.extend(lower(&file).map(|lower| (lower, file)));
        }
    }
    // Of names that differ only by letter case, the first in the order of their bytes.
    names.sort();
    names.dedup_by(|b, a| a.0 == b.0);
    Ok(names)
}

/// The files of a stem in lower case.
fn files_of(stem: &str, names: &[(String, PathBuf)]) -> KvetkaFiles {
    let mut files = KvetkaFiles { kob: Vec::new(), kin: None, ksf: None };
    for (lower, path) in names {
        match lower.rsplit_once('.') {
            Some((name, KOB)) if files.kob.len() < MAX_FILES => {
                let number = numbered(name).filter(|(own, _)| *own == stem).map(|(_, number)| number);
                files.kob.extend(number.map(|number| (number, path.clone())));
            }
            Some((name, KIN)) if name == stem => files.kin = Some(path.clone()),
            Some((name, KSF)) if name == stem => files.ksf = Some(path.clone()),
            _ => {}
        }
    }
    files.kob.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| fs::write(folder.path().join(name), b"").unwrap());
        folder
    }

    fn found(folder: &tempfile::TempDir, name: &str) -> Result<String> {
        let files = find(&folder.path().join(name))?;
        let mut names: Vec<PathBuf> = files.kob.into_iter().map(|(_, path)| path).collect();
        names.extend(files.kin);
        names.extend(files.ksf);
        let names: Vec<_> =
            names.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        Ok(names.join(" "))
    }

    #[test]
    fn any_name_finds_all_files_in_order() {
        let names =
            ["b_10.kob", "b_2.KOB", "B_0.kob", "b_1.kob", "b.Kin", "b.ksf", "b_x.kob", "b_01.kob", "c_0.kob"];
        let folder = folder(&names);
        let all = "B_0.kob b_1.kob b_2.KOB b_10.kob b.Kin b.ksf";
        for name in
            ["B_0.kob", "b_10.kob", "b.Kin", "b.ksf", "b", "b.kob", "B_1.KOB", "b.kin", "b_0.kob", "b_5.kob"]
        {
            assert_eq!(found(&folder, name).unwrap(), all, "{name}");
        }
        assert_eq!(found(&folder, "c").unwrap(), "c_0.kob");
    }

    #[test]
    fn a_number_may_belong_to_the_name() {
        let folder = folder(&[
            "games_2024_0.kob",
            "games_2024_1.kob",
            "games_2024.kin",
            "single_7.kob",
            "one.kob",
            "one.kin",
        ]);
        for name in ["games_2024.kob", "games_2024", "games_2024_1.kob", "games_2024.kin"] {
            assert_eq!(
                found(&folder, name).unwrap(),
                "games_2024_0.kob games_2024_1.kob games_2024.kin",
                "{name}"
            );
        }
        assert_eq!(found(&folder, "single_7.kob").unwrap(), "single_7.kob");
        assert_eq!(found(&folder, "one.kob").unwrap(), "one.kob one.kin");
    }

    #[test]
    fn a_missing_book_is_named() {
        let folder = folder(&["alone.kin", "a.bin"]);
        let text = found(&folder, "none.kob").unwrap_err().to_string();
        assert!(text.contains("none.kob: there is no such Kvetka book: put the .kob"), "{text}");
        let text = found(&folder, "alone.kin").unwrap_err().to_string();
        assert!(text.contains("alone_0.kob: the positions of this Kvetka book are missing"), "{text}");
        assert!(in_any_case(&folder.path().join("none")).is_none());
        assert!(find(Path::new("no such folder/a.kob")).is_err());
    }

    #[test]
    fn a_name_without_a_file_finds_the_book() {
        let folder = folder(&["Book_0.kob", "v1.2_0.kob"]);
        for name in ["Book", "Book.kob", "book_0.KOB", "v1.2"] {
            let path = folder.path().join(name);
            assert_eq!(in_any_case(&path).is_some(), !path.exists(), "{name}");
        }
        assert_eq!(stem(Path::new("x/a_0.kob")), Path::new("x/a"));
        assert_eq!(stem(Path::new("x/a_1.kob")), Path::new("x/a_1"));
        assert_eq!(stem(Path::new("a.b.KSF")), Path::new("a.b"));
        assert_eq!(with_end(Path::new("x/a.b"), "_0.kob"), Path::new("x/a.b_0.kob"));
    }
}
