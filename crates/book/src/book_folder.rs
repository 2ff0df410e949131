//! A folder that is named in place of a book: the books in it, by their names.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::{has_extension, here};

use crate::driver::Certainty;
use crate::open::open_at;
use crate::{Among, Format};

/// The most files of a folder that are looked at.
const MAX_FILES: usize = 10_000;

/// Bytes from the start of a file that show whether it is a book.
const HEAD: u64 = 4096;

/// The books in a folder, and what else is there. Folders in it and hidden files do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookFolder {
    /// One file of each book, in the order of their names without regard to letter case.
    pub books: Vec<PathBuf>,
    /// The names of other files, in the same order, but for those that begin with the name of a book, as its journal does.
    pub others: Vec<String>,
}

/// What a file is to the books of its folder.
enum Part {
    /// It may be a book alone.
    Whole,
    /// It is one of the files of such a book.
    Of(Format, String),
    /// No book.
    Other,
}

/// The books of a folder: files with the extension of a book, and those whose content alone is that of one. `None` if it is no folder,
/// or one book itself, as a folder of count files is.
///
/// # Errors
/// When the folder cannot be read, or has too many files.
pub fn books_in(folder: &Path) -> Result<Option<BookFolder>> {
    if !folder.is_dir() || open_at(folder, |_| true, &Among::default())?.is_some() {
        return Ok(None);
    }
    let unread = |error: io::Error| Error::file(folder, "cannot read the folder", error);
    let mut files = Vec::new();
    for entry in fs::read_dir(here(folder)).map_err(unread)? {
        let name = entry.map_err(unread)?.file_name();
        let shown = name.to_string_lossy().into_owned();
        let path = folder.join(name);
        if !shown.starts_with('.') && path.is_file() {
            files.push((shown.to_lowercase(), shown, path));
        }
        if files.len() > MAX_FILES {
            let what = format!("the folder has more than {MAX_FILES} files");
            return Err(Error::new(ErrorKind::File, what).at_path(folder).advice("name the books"));
        }
    }
    files.sort();
    Ok(Some(sorted_out(files)))
}

fn sorted_out(files: Vec<(String, String, PathBuf)>) -> BookFolder {
    let mut books: Vec<(String, PathBuf)> = Vec::new();
    let mut others: Vec<(String, String)> = Vec::new();
    // The place among the books of each that has several files.
    let mut several: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (lower, shown, path) in files {
        match part(&lower, &path) {
            Part::Whole => books.push((lower, path)),
            Part::Other => others.push((lower, shown)),
            Part::Of(format, stem) => {
                let known =
                    several.get(&(format.name(), stem.clone())).and_then(|place| books.get_mut(*place));
                let opens = format.found_by().is_some_and(|end| has_extension(&path, end));
                match known {
                    Some(known) if opens => *known = (lower, path),
                    Some(_) => {}
                    None => {
                        several.insert((format.name(), stem), books.len());
                        books.push((lower, path));
                    }
                }
            }
        }
    }
    books.sort();
    others.retain(|(name, _)| {
        !books
            .iter()
            .any(|(book, _)| name.strip_prefix(book.as_str()).is_some_and(|rest| rest.starts_with('.')))
    });
    BookFolder {
        books: books.into_iter().map(|(_, path)| path).collect(),
        others: others.into_iter().map(|(_, shown)| shown).collect(),
    }
}

/// What a file is, by its name, or else by its content.
fn part(lower: &str, path: &Path) -> Part {
    if let Some(format) = Format::of_name(path).filter(|format| format.found_by().is_some()) {
        if format.extensions().len() == 1 {
            return Part::Whole;
        }
        // Parts may be numbered.
        let stem = lower.rsplit_once('.').map_or(lower, |(stem, _)| stem);
        let stem = match stem.rsplit_once('_') {
            Some((stem, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
            _ => stem,
        };
        return Part::Of(format, stem.to_owned());
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    match (read, Format::of_file(path, &head)) {
        (Ok(_), Some((_, Certainty::Marked))) => Part::Whole,
        _ => Part::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_book_of_a_folder_is_found_once_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        for name in
            ["b.BIN", "a.bin", "a.bin.learn", "A.bin.evals", "c.ctg", "c.CTO", "c.ctb", "d_0.kob", "d_1.kob"]
        {
            put(name, &[0; 16]);
        }
        for name in
            ["e_0.kob", "e.kin", "e.ksf", "lone.cto", ".hidden.bin", "notes.txt", "Games.pgn", "empty.epd"]
        {
            put(name, b"text");
        }
        put("mine.epd", b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;\n");
        put("counts", b"BOO!");
        fs::create_dir(folder.path().join("more.bin")).unwrap();
        let BookFolder { books, others } = books_in(folder.path()).unwrap().unwrap();
        let names: Vec<_> = books.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.bin", "b.BIN", "c.ctg", "counts", "d_0.kob", "e.kin", "lone.cto", "mine.epd"]);
        assert_eq!(others, ["empty.epd", "Games.pgn", "notes.txt"]);
        assert_eq!(books_in(&books[0]).unwrap(), None);
        assert_eq!(books_in(Path::new("no such folder")).unwrap(), None);
    }
}
