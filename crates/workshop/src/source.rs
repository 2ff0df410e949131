//! What is at a path: the one place that decides it, by the path and the first bytes of the file.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::file_kind::FileKind;
use tabiya_book::counts;
use tabiya_book::{self as book, Certainty, Format};
use tabiya_games::text::{self, STDIN};
use tabiya_games::{self as games, Sources};

/// What is at a path. Whoever wants something else refuses it with [`Source::not`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Source {
    /// Standard input, a pipe or a device: a text that can be read once.
    Pipe,
    /// A book, by the name of any of its files.
    Book,
    /// A Parquet file, or a folder of nothing else: counts of games, or a table of evaluations.
    Counts(CountFiles),
    /// A database of games, by the name of any of its files or of its archive.
    Database,
    /// A ZIP archive, in which games may be.
    Archive,
    /// A store of evaluations.
    Store,
    /// A text, which may be compressed: games, or lines with evaluations.
    Text,
    /// A folder of any files, with the count files in it.
    Folder(CountFiles),
    /// A file of another program, which is not read.
    Foreign(FileKind),
    /// Nothing.
    Missing,
}

/// Count files that are found at a path.
#[derive(Debug, Default)]
pub struct CountFiles {
    /// Their paths, in the order of their names.
    pub files: Vec<PathBuf>,
    /// Whether the path is the folder that they are in.
    pub in_folder: bool,
    /// Why folders in that folder cannot be read.
    pub unread: Vec<Error>,
}

impl CountFiles {
    /// The files, if none is missing.
    ///
    /// # Errors
    /// When a folder in the folder cannot be read.
    pub fn whole(mut self) -> Result<Vec<PathBuf>> {
        self.unread.pop().map_or(Ok(self.files), Err)
    }
}

impl Source {
    /// What is at a path; `-` is standard input. Of a file no more than its start is read, and of a folder the names in it.
    ///
    /// # Errors
    /// When the start of a file, or a folder, cannot be read.
    pub fn at(path: &Path) -> Result<Self> {
        if path.as_os_str() == STDIN {
            return Ok(Self::Pipe);
        }
        let kind = FileKind::by_name(path);
        let is_database = kind.is_some_and(FileKind::is_database);
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(_) if is_database => return Ok(Self::Database),
            Err(_) if book::in_any_case(path).is_some() => return Ok(Self::Book),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Missing),
            Err(error) => return Err(Error::file(path, "cannot open the file", error)),
        };
        if metadata.is_dir() {
            return Self::of_folder(path);
        }
        if is_database {
            return Ok(Self::Database);
        }
        // Reading a pipe would wait for its writer, and take bytes from it.
        if !metadata.is_file() {
            return Ok(Self::Pipe);
        }
        let start = start_of(path).map_err(|error| Error::file(path, "cannot open the file", error))?;
        Ok(match FileKind::by_start(&start) {
            Some(FileKind::Parquet) => Self::of_count_file(path),
            Some(FileKind::Store) => Self::Store,
            Some(FileKind::Zip) => Self::Archive,
            Some(kind) if kind.is_compressed() => Self::Text,
            Some(kind) => Self::Foreign(kind),
            // Who opens it says what it is instead.
            None if counts::is_named(path) => Self::of_count_file(path),
            None => kind.map_or_else(|| Self::book_or_text(path, &start), Self::Foreign),
        })
    }

    fn of_count_file(path: &Path) -> Self {
        Self::Counts(CountFiles { files: vec![path.to_owned()], ..CountFiles::default() })
    }

    fn of_folder(path: &Path) -> Result<Self> {
        let counts::CountFolder { counts, has_others, unread } = counts::folder(path)?;
        if has_others || counts.is_empty() {
            // Who reads the games reports what cannot be read.
            return Ok(Self::Folder(CountFiles { files: counts, in_folder: true, unread: Vec::new() }));
        }
        Ok(Self::Counts(CountFiles { files: counts, in_folder: true, unread }))
    }

    /// Where no mark tells, books have zeros among their first bytes, and texts have none. Where the name does not agree with that,
    /// opening the book decides.
    fn book_or_text(path: &Path, start: &[u8]) -> Self {
        let is_text = match Format::of_file(path, start) {
            // An empty file is what its name says.
            None => !start.is_empty() || Format::of_name(path).is_none(),
            Some((_, Certainty::Possible)) => match (text::is_text(start), games::is_named(path)) {
                (is_text, is_named) if is_text == is_named => is_text,
                // Zeros are what a crash leaves of a text, though they would be entries of a Polyglot book too.
                (_, true) if start.iter().all(|&byte| byte == 0) => true,
                _ => book::open_book(path).is_err(),
            },
            Some(_) => false,
        };
        if is_text { Self::Text } else { Self::Book }
    }

    /// Whether games are read here. Of all else, what opens books says what is wrong.
    pub fn holds_games(&self) -> bool {
        matches!(self, Self::Pipe | Self::Text | Self::Database | Self::Archive | Self::Folder(_))
    }

    /// The error of this source at a path where something else is wanted, such as "games". What to do is left to who wants it, except
    /// with what is missing or never read.
    pub fn not(&self, wanted: &str, path: &Path) -> Error {
        let what = match self {
            Self::Missing => {
                return Error::file(path, "cannot open the file", io::ErrorKind::NotFound.into());
            }
            Self::Foreign(kind) => return kind.not(wanted, path),
            Self::Book => match book::open_book(path) {
                Ok(book) => book.format().noun().to_owned(),
                Err(_) => return Error::format(path, format!("this is not {wanted}")),
            },
            Self::Pipe => "a pipe".to_owned(),
            Self::Counts(CountFiles { in_folder: true, .. }) => "a folder of count files".to_owned(),
            Self::Counts(_) => FileKind::Parquet.what().to_owned(),
            Self::Database => FileKind::by_name(path).unwrap_or(FileKind::Database).what().to_owned(),
            Self::Archive => FileKind::Zip.what().to_owned(),
            Self::Store => FileKind::Store.what().to_owned(),
            Self::Text => "text".to_owned(),
            Self::Folder(_) => "a folder".to_owned(),
        };
        Error::format(path, format!("this is {what}, not {wanted}"))
    }
}

/// As many bytes from the start of a file as show whether it is text.
fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(text::START_LEN).read_to_end(&mut start)?;
    Ok(start)
}

/// Opens the games in files and folders, as [`games::open_files`]. What holds something else is named by what it is.
///
/// # Errors
/// As [`games::open_files`].
pub fn open_games(paths: &[PathBuf]) -> Result<Sources> {
    games::open_files(paths).map_err(|error| explained(error, "games"))
}

/// The error of a path where no games or evaluations were found, or the one that names what is there.
pub(crate) fn explained(error: Error, wanted: &str) -> Error {
    let path = error.path().filter(|_| [ErrorKind::Format, ErrorKind::File].contains(&error.kind()));
    let Some(path) = path else { return error };
    match Source::at(path) {
        Ok(source @ Source::Counts(_)) => source.not(wanted, path).advice(text::ADVICE),
        Ok(source @ Source::Book) if book::open_book(path).is_ok() => {
            source.not(wanted, path).advice(text::ADVICE)
        }
        _ => error,
    }
}

/// The paths of books, and those of games; what opens books says what is wrong with all else. `is_of_games` says of a text whether it
/// is taken for games: who shows games later would not find out that it has none.
pub fn books_and_games(
    paths: &[PathBuf],
    is_of_games: impl Fn(&Path) -> bool,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let has_games = |path: &PathBuf| match Source::at(path) {
        Ok(Source::Text) => is_of_games(path),
        Ok(source) => source.holds_games(),
        Err(_) => false,
    };
    let (games, books) = paths.iter().cloned().partition(has_games);
    (books, games)
}

/// Paths that a user names, with the count files apart: those that are named, and those in folders, which may hold games too.
#[derive(Debug, Default)]
pub struct Sorted {
    /// The paths of all else, with what is there.
    pub others: Vec<(PathBuf, Source)>,
    counts: Vec<(PathBuf, bool)>,
    unread: Vec<Error>,
}

impl Sorted {
    /// Looks at each path.
    ///
    /// # Errors
    /// As [`Source::at`].
    pub fn new(paths: &[PathBuf]) -> Result<Self> {
        let mut sorted = Self::default();
        for path in paths {
            let source = match Source::at(path)? {
                Source::Counts(counts) => {
                    sorted.add(counts);
                    continue;
                }
                Source::Folder(mut counts) => {
                    sorted.add(std::mem::take(&mut counts));
                    Source::Folder(counts)
                }
                source => source,
            };
            sorted.others.push((path.clone(), source));
        }
        Ok(sorted)
    }

    fn add(&mut self, CountFiles { files, in_folder, unread }: CountFiles) {
        self.counts.extend(files.into_iter().map(|file| (file, in_folder)));
        self.unread.extend(unread);
    }

    /// The paths of all but count files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.others.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The count files, and whether each is in a folder that is named.
    pub fn counts(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.counts.iter().map(|(path, in_folder)| (&**path, *in_folder))
    }

    /// Takes why folders in folders of count files cannot be read.
    pub fn unread(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.unread)
    }

    /// Opens the count files; returns also why some of those in folders cannot be opened.
    ///
    /// # Errors
    /// When one that is named cannot be opened.
    pub fn open_counts<T>(&mut self, open: impl Fn(&Path) -> Result<T>) -> Result<(Vec<T>, Vec<Error>)> {
        let (mut opened, mut passed_over) = (Vec::with_capacity(self.counts.len()), self.unread());
        for (path, in_folder) in self.counts() {
            match open(path) {
                Ok(file) => opened.push(file),
                Err(error) if in_folder => passed_over.push(error.or_at_path(path)),
                Err(error) => return Err(error),
            }
        }
        Ok((opened, passed_over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// Files of all kinds, each with the variant that it is.
    const FILES: [(&str, &[u8], &str); 22] = [
        ("a.bin", &[0; 16], "Book"),
        ("book", &[0; 16], "Book"),
        ("book.pgn", b"\0\0\0\0\0\0\0\x01\0\x01\0\x01\0\0\0\0", "Book"),
        ("crash.pgn", &[0; 16], "Text"),
        ("empty.exp", b"", "Book"),
        ("empty.bin", b"", "Book"),
        ("empty", b"", "Text"),
        ("a.pgn", b"1. e4 *", "Text"),
        ("a.epd", b"8/8/8/8/8/8/8/8 w - -", "Text"),
        ("games.bin", b"[Event \"x\"]\n", "Text"),
        ("power.pgn", b"1. e4\n\0\0\0", "Text"),
        ("broken.pgn", b"\xff\0\xfe\0", "Text"),
        ("a.pgn.gz", b"\x1f\x8b\x08\0", "Text"),
        ("a.zip", b"PK\x03\x04", "Archive"),
        ("a", b"Rar!\x1a\x07\0", "Foreign(Rar)"),
        ("a.SG3", b"\0\x01", "Foreign(OldScid)"),
        ("engine", b"\x7fELF", "Foreign(Program)"),
        ("a.bin.evals", b"TabEvals", "Store"),
        ("a.CBG", b"", "Database"),
        ("a.SG4", b"\0\x01", "Database"),
        ("counts", b"PAR1", "Counts"),
        ("a.parquet", b"<html>", "Counts"),
    ];

    #[test]
    fn each_kind_is_known_by_its_name_and_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let kind = |path: &Path| {
            let mut text = String::new();
            write!(text, "{:?}", Source::at(path).unwrap()).unwrap();
            text.split(['(', ' ']).next().map(str::to_owned).unwrap_or_default()
                + text.find("Foreign").map_or("", |_| &text["Foreign".len()..])
        };
        for (name, bytes, expected) in FILES {
            fs::write(at(name), bytes).unwrap();
            assert_eq!(kind(&at(name)), expected, "{name}");
        }
        assert_eq!(kind(folder.path()), "Folder");
        assert_eq!(kind(Path::new("-")), "Pipe");
        for (name, expected) in [("none.bin", "Missing"), ("NONE.CBH", "Database"), ("A.PGN.X", "Missing")] {
            assert_eq!(kind(&at(name)), expected, "{name}");
        }
    }

    #[test]
    fn what_is_not_wanted_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let says = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let error = open_games(std::slice::from_ref(&path)).unwrap_err();
            assert_eq!((error.kind(), error.path()), (ErrorKind::Format, Some(&*path)));
            error.what_and_advice()
        };
        let advice = text::ADVICE;
        assert_eq!(says("a.bin", &[0; 16]), format!("this is a Polyglot book, not games: {advice}"));
        assert_eq!(says("a.parquet", b"PAR1\0"), format!("this is a Parquet file, not games: {advice}"));
        assert_eq!(says("b.pgn", b"\0\x01"), format!("this is not a text file of games: {advice}"));
        assert_eq!(says("a.7z", b""), "this is a 7z archive: unpack it first");
        let missing = Source::Missing.not("games", Path::new("none.pgn"));
        assert!(missing.with_source().starts_with("none.pgn: cannot open the file: "), "{missing:#}");
    }

    #[test]
    fn books_are_told_from_games() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let games = ["a.pgn", "B.PGN", "c.pgn.zst", "d.cbh", "e.CBV", "f.txt", "games"].map(at);
        let books = ["a.bin", "pgn", "d.ctg", "e.parquet", "f.7z", "counts", "none"].map(at);
        for file in games.iter().filter(|path| !path.ends_with("games")) {
            fs::write(file, "1. e4 *").unwrap();
        }
        for file in ["a.bin", "pgn", "d.ctg", "e.parquet", "f.7z"] {
            fs::write(at(file), [1; 32]).unwrap();
        }
        for (name, file) in [("games", "a.pgn"), ("counts", "a.parquet")] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join(file), "").unwrap();
        }
        let all: Vec<PathBuf> =
            games.iter().zip(&books).flat_map(|(game, book)| [game.clone(), book.clone()]).collect();
        assert_eq!(books_and_games(&all, |_| true), (books.to_vec(), games.to_vec()));
        let (others, named) = books_and_games(&games, games::is_named);
        assert_eq!((others, named.len()), (vec![at("f.txt")], games.len() - 1));
    }

    #[test]
    fn count_files_are_told_from_other_sources() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("spark/part")).unwrap();
        fs::create_dir(at("both")).unwrap();
        for name in ["spark/part/2.parquet", "spark/1.PARQUET", "both/3.parquet", "4.bin"] {
            fs::write(at(name), b"PAR1").unwrap();
        }
        for name in ["spark/_SUCCESS", "spark/.1.parquet.crc", "both/a.pgn", "b.pgn"] {
            fs::write(at(name), "1. e4 *").unwrap();
        }
        let paths = ["spark", "both", "b.pgn", "4.bin"].map(at);
        let mut sorted = Sorted::new(&[&paths[..], &[PathBuf::from("-")]].concat()).unwrap();
        assert_eq!(sorted.paths(), [at("both"), at("b.pgn"), PathBuf::from("-")]);
        let counts: Vec<_> = sorted.counts().map(|(path, in_folder)| (path.to_owned(), in_folder)).collect();
        let expected = [
            ("spark/1.PARQUET", true),
            ("spark/part/2.parquet", true),
            ("both/3.parquet", true),
            ("4.bin", false),
        ];
        assert_eq!(counts, expected.map(|(name, in_folder)| (at(name), in_folder)));
        let open =
            |path: &Path| if path == at("both/3.parquet") { Err(Error::format(path, "no")) } else { Ok(()) };
        let (opened, passed_over) = sorted.open_counts(open).unwrap();
        assert_eq!((opened.len(), passed_over.len()), (3, 1));
    }
}
