//! The files of a book, found by the name of any of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::folder;

/// The last part of the names of the files with positions.
pub const KOB: &str = "kob";

/// That of the file with the first key of each block.
pub const KIN: &str = "kin";

/// That of the file with the games.
pub const KSF: &str = "ksf";

/// The most `.kob` files of a book, so that a folder full of names does not keep us: 1.3 TB at 20 MB each.
const MOST_FILES: usize = 1 << 16;

/// The files of one book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The `.kob` files with their numbers, in order; of a book that is one file without a number, that as number 0.
    pub kob: Vec<(u32, PathBuf)>,
    /// The `.kin` file where there is one.
    pub kin: Option<PathBuf>,
    /// The `.ksf` file where there is one.
    pub ksf: Option<PathBuf>,
}

/// Whether a name is one of a Kvetka book's, by its last part in any letter case.
pub fn is_part(path: &Path) -> bool {
    [KOB, KIN, KSF].iter().any(|name| has_extension(path, name))
}

fn has_extension(path: &Path, name: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name))
}

/// The path under which a book is written, or was meant: `book` for `book.kob`, `book_0.kob`, `book.kin` and `book.ksf`.
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
pub fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.file_name().unwrap_or_default().to_owned();
    name.push(end);
    stem.with_file_name(name)
}

/// The book that a path means where there is no file of this name: `book` and `book.kob` mean `book_0.kob`, and the names
/// of a book's files are found in any letter case. The path as it should be opened.
pub fn in_any_case(path: &Path) -> Option<PathBuf> {
    if path.exists() || !(is_part(path) || path.extension().is_none() || is_part_of(path)) {
        return None;
    }
    find(path).ok().map(|_| path.to_owned())
}

/// Whether a name without one of the ends could be a book's stem: a stem may have dots too.
fn is_part_of(path: &Path) -> bool {
    with_end(path, "_0.kob").exists()
}

/// The files of the book that a path means.
///
/// A file of its own name is opened first: `book_7.kob` is the eighth file of `book`, or the only one of a book of that
/// name where the folder has no other part of either. Names are compared without letter case.
///
/// # Errors
/// When the folder cannot be read, or there is no such book.
pub fn find(path: &Path) -> Result<Files> {
    let names = Names::of(path)?;
    for stem in stems(path) {
        let files = names.files(&stem);
        let named = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        // A name with a number must be among those that were found: another book may have the same stem.
        let held = files.kob.iter().any(|(_, kob)| lower(kob) == named);
        if !files.kob.is_empty() && (held || !has_extension(path, KOB) || !path.exists()) {
            return Ok(files);
        }
    }
    if path.is_file() && has_extension(path, KOB) {
        let stem = lower(&path.with_extension("")).unwrap_or_default();
        let Files { kin, ksf, .. } = names.files(&stem);
        return Ok(Files { kob: vec![(0, path.to_owned())], kin, ksf });
    }
    let missing = with_end(&stem(path), "_0.kob");
    let what = if path.exists() {
        "the positions of this Kvetka book are missing"
    } else {
        "there is no such Kvetka book"
    };
    Err(Error::new(ErrorKind::File, what)
        .at_path(if path.exists() { missing } else { path.to_owned() })
        .advice(
            "put the .kob, .kin and .ksf of one book into one folder, with the same name before the number",
        ))
}

/// All files that a book of this stem has, or that would be taken for it: an unnumbered `.kob` too.
///
/// # Errors
/// When the folder cannot be read.
pub fn standing(stem: &Path) -> Result<Vec<PathBuf>> {
    let Some(name) = lower(stem) else { return Ok(Vec::new()) };
    let names = Names::of(stem)?;
    let Files { kob, kin, ksf } = names.files(&name);
    let mut standing: Vec<PathBuf> = kob.into_iter().map(|(_, path)| path).collect();
    let whole = format!("{name}.{KOB}");
    standing.extend(
        names.names.iter().filter(|(lower, _)| *lower == whole).map(|(_, own)| stem.with_file_name(own)),
    );
    standing.extend(kin.into_iter().chain(ksf));
    Ok(standing)
}

fn lower(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase())
}

/// The stems that a path can mean, in lower case: `a_7` for `a_7_0.kob`; for `a_7.kob` first `a`, then `a_7`.
fn stems(path: &Path) -> Vec<String> {
    let Some(name) = lower(path) else { return Vec::new() };
    if !is_part(path) {
        return vec![name];
    }
    let whole = name.rsplit_once('.').map_or(name.as_str(), |(whole, _)| whole).to_owned();
    let cut = has_extension(path, KOB).then(|| numbered(&whole)).flatten().map(|(stem, _)| stem.to_owned());
    // A file that is there under its own name without number is a book by itself.
    cut.into_iter().chain((!(has_extension(path, KOB) && path.is_file())).then_some(whole)).collect()
}

/// The stem and number of a name such as `a_7`, without its last part.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let (stem, number) = name.rsplit_once('_')?;
    let plain = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let short = number == "0" || !number.starts_with('0');
    (plain && short && !stem.is_empty()).then(|| number.parse().ok().map(|number| (stem, number)))?
}

/// The names in the folder of a path that may be a Kvetka book's, each with its lower case.
struct Names {
    folder: PathBuf,
    names: Vec<(String, PathBuf)>,
}

impl Names {
    fn of(path: &Path) -> Result<Self> {
        let cannot = |error| Error::file(path, "cannot look for the files of this Kvetka book", error);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder::of(path)).map_err(cannot)? {
            let name = PathBuf::from(entry.map_err(cannot)?.file_name());
            if is_part(&name) {
                names.extend(lower(&name).map(|lower| (lower, name)));
            }
        }
        // Of names that differ by letter case alone the first in the order of their bytes.
        names.sort();
        names.dedup_by(|b, a| a.0 == b.0);
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { folder, names })
    }

    fn files(&self, stem: &str) -> Files {
        let mut files = Files { kob: Vec::new(), kin: None, ksf: None };
        for (lower, name) in &self.names {
            let Some((whole, extension)) = lower.rsplit_once('.') else { continue };
            let path = || self.folder.join(name);
            match extension {
                KOB => match numbered(whole) {
                    Some((own, number)) if own == stem && files.kob.len() < MOST_FILES => {
                        files.kob.push((number, path()));
                    }
                    _ => {}
                },
                KIN if whole == stem => files.kin = Some(path()),
                KSF if whole == stem => files.ksf = Some(path()),
                _ => {}
            }
        }
        files.kob.sort();
        files
    }
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
    fn any_of_the_names_finds_all_in_their_order() {
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
    fn what_is_not_there_is_named() {
        let folder = folder(&["alone.kin", "a.bin"]);
        let text = found(&folder, "none.kob").unwrap_err().to_string();
        assert!(text.contains("none.kob: there is no such Kvetka book: put the .kob"), "{text}");
        let text = found(&folder, "alone.kin").unwrap_err().to_string();
        assert!(text.contains("alone_0.kob: the positions of this Kvetka book are missing"), "{text}");
        assert!(in_any_case(&folder.path().join("none")).is_none());
        assert!(find(Path::new("no such folder/a.kob")).is_err());
    }

    #[test]
    fn a_name_that_no_file_has_means_the_book() {
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
