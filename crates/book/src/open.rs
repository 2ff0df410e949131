//! Recognises the format of a file by its content, then by its name, and opens or creates it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::file_kind::FileKind;
#[cfg(feature = "write")]
use tabiya_base::folder;
#[cfg(feature = "write")]
use tabiya_base::folder::has_extension;
use tabiya_base::map::Map;
#[cfg(feature = "write")]
use tabiya_base::replace::leftovers;
use tabiya_chess::Variant;

use super::driver::{Certainty, Driver, Opening, is_text};
use super::format::Variants;
#[cfg(feature = "write")]
use super::formats::endings;
use super::formats::{advice, drivers, of_file};
use super::{Among, Format};
#[cfg(feature = "write")]
use super::{BookWriter, WriteOptions};
use crate::traits::Book;

/// Opens a book, which takes the same time whatever its size.
///
/// Any of the files of a CTG or a Kvetka book, in any letter case, opens the book; so does the name of a Kvetka book
/// without number or extension. A count file, or a folder of nothing else, is a book too. Polyglot books have no mark: every
/// other file that is long enough and whose keys ascend, apart from some breaks, may be one.
///
/// Files of a CTG or Kvetka book that a process had moved aside when it died are put back first: see [`put_back`]. Some formats start a
/// thread that reads ahead.
///
/// # Errors
/// When the file cannot be opened, is empty or too short for a book, or is something else by its content or name; and
/// what the format says.
pub fn open(path: impl AsRef<Path>) -> Result<Arc<dyn Book>> {
    open_as(path, Variant::Chess)
}

/// Opens a book of a variant. A Polyglot book does not say its variant, so it is taken for one of this; a count file says it, and
/// other formats hold standard chess only.
///
/// # Errors
/// When the book is one of another variant, and as [`open()`].
pub fn open_as(path: impl AsRef<Path>, variant: Variant) -> Result<Arc<dyn Book>> {
    let path = path.as_ref();
    put_back(path);
    open_as_it_is(path, variant)
}

/// As [`open_as`], but nothing in the folder is touched.
///
/// # Errors
/// As [`open_as`].
pub(crate) fn open_as_it_is(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    let book = open_any(path, variant)?;
    if book.variant() == variant {
        return Ok(book);
    }
    let is_stated = book.format().variants() == Variants::Stated;
    let holds = if is_stated { "the file holds" } else { "books of this format hold" };
    let held = book.variant();
    Err(Error::new(ErrorKind::Usage, format!("{holds} {held}, not {variant}")).at_path(path))
}

/// The variant that the file of a book states; `None` for books that do not state it.
pub fn stated_variant(path: &Path) -> Option<Variant> {
    let states = |format: Format| format.variants() == Variants::Stated;
    open_at(path, states, &Among::default()).ok().flatten().map(|book| book.variant())
}

/// Opens what is at a path, if it is a book of one of these formats whatever its name.
pub(crate) fn open_at(
    path: &Path,
    of: impl Fn(Format) -> bool,
    among: &Among,
) -> Result<Option<Arc<dyn Book>>> {
    drivers(of).map(|driver| driver.open_at(path, among)).find_map(Result::transpose).transpose()
}

/// With the feature `write`, puts files of a CTG or Kvetka book back that a process had moved aside when it died, and removes those that
/// it had begun; one that is replacing the book is waited for, up to 0.2 s.
pub(crate) fn put_back(path: &Path) {
    #[cfg(feature = "write")]
    if Format::of_name(path).is_some_and(|format| format.extensions().len() > 1) || !path.exists() {
        leftovers::put_back(folder::parent_of(path));
    }
    #[cfg(not(feature = "write"))]
    let _ = path;
}

fn open_any(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    let opening = |bytes: Map| Opening { path, bytes, in_memory: false, variant };
    let located = drivers(|_| true).find_map(|driver| Some((driver, driver.locate(path)?)));
    if let Some((driver, file)) = &located
        && !file.exists()
    {
        return driver.open(opening(Map::from(Vec::new())));
    }
    if path.is_dir()
        && let Some(book) = open_at(path, |_| true, &Among::default())?
    {
        return Ok(book);
    }
    let bytes = Map::open(located.as_ref().map_or(path, |(_, file)| file))?;
    if let Some(kind) = FileKind::by_name(path) {
        return Err(not_a_book(path, kind));
    }
    recognized(path, &bytes)?.open(opening(bytes))
}

/// Opens a book in which only some games count.
///
/// # Errors
/// When the book does not count these games separately, and as [`open()`].
pub fn open_among(path: impl AsRef<Path>, among: &Among) -> Result<Arc<dyn Book>> {
    let path = path.as_ref();
    if !among.by().any() {
        return open(path);
    }
    if let Some(book) = open_at(path, Format::is_sliced, among)? {
        return Ok(book);
    }
    let names = among.by().columns().collect::<Vec<_>>().join(" and ");
    let what = format!("a book does not count games separately by {names}; only {} do", Format::sliced());
    Err(Error::new(ErrorKind::Usage, what).at_path(path).remedied_by(Remedy::CountBy))
}

/// The file that a path means if it does not exist itself: the parts of CTG and Kvetka books are found in any letter
/// case, and Kvetka books also by their name without number or extension.
pub fn in_any_case(path: &Path) -> Option<PathBuf> {
    drivers(|_| true).find_map(|driver| driver.locate(path))
}

/// Opens a book from bytes in memory or inside the executable. `path` is only its name.
///
/// ```
/// let book = tabiya_book::open_bytes("tiny.bin", vec![0; 16])?;
/// assert_eq!(book.format().to_string(), "polyglot");
/// # Ok::<_, tabiya_base::error::Error>(())
/// ```
///
/// # Errors
/// As [`open()`], except for opening the file.
pub fn open_bytes(path: impl AsRef<Path>, bytes: impl Into<Map>) -> Result<Arc<dyn Book>> {
    let (path, bytes) = (path.as_ref(), bytes.into());
    let driver = recognized(path, &bytes)?;
    driver.open(Opening { path, bytes, in_memory: true, variant: Variant::Chess })
}

/// The format of a file by its content, then by its name.
fn recognized(path: &Path, bytes: &[u8]) -> Result<&'static dyn Driver> {
    let found = of_file(path, bytes);
    let error = |what: &str| Err(Error::format(path, what).advice(advice()));
    if let Some((driver, Certainty::Marked)) = found {
        return Ok(driver);
    }
    if let Some(kind) = FileKind::by_start(bytes) {
        return Err(not_a_book(path, kind));
    }
    match found {
        Some((driver, Certainty::Named)) => Ok(driver),
        _ if bytes.is_empty() => error("the file is empty"),
        _ if is_text(bytes) => error("this is text, not a book"),
        Some((driver, _)) => Ok(driver),
        None => error("this is not a book"),
    }
}

/// The files that a book written at `path` may replace.
#[cfg(feature = "write")]
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let others = drivers(|format| format.has_name(path)).flat_map(|driver| driver.others(path));
    std::iter::once(path.to_owned()).chain(others).collect()
}

/// Begins a book at `path`, in the format of its extension.
///
/// # Errors
/// When the extension is of no format that can be written, or as [`tabiya_base::replace::Replacement::new`].
#[cfg(feature = "write")]
pub fn create(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Box<dyn BookWriter>> {
    let (path, variant) = (path.as_ref(), options.variant);
    let format = format_of(path);
    if let Some(format) = format
        && variant != Variant::Chess
        && format.variants() == Variants::Chess
    {
        let what = format!("{format} books hold standard chess only, not {variant}");
        let advice = format!("end the name with {}", endings(|format| format.variants() != Variants::Chess));
        return Err(Error::new(ErrorKind::Usage, what).at_path(path).advice(advice));
    }
    let Some(create) = drivers(|known| Some(known) == format).find_map(|driver| driver.writer()) else {
        let what = "the name does not say which format to write";
        let advice = format!("end it with {}", endings(Format::is_writable));
        return Err(Error::new(ErrorKind::Usage, what).at_path(path).advice(advice));
    };
    create(path, options)
}

/// The format in which [`create`] writes a book of this name.
#[cfg(feature = "write")]
pub fn format_of(path: &Path) -> Option<Format> {
    Format::all().find(|format| format.is_writable() && has_extension(path, format.extension()))
}

/// The error of a file of another kind, with what to do.
fn not_a_book(path: &Path, kind: FileKind) -> Error {
    let error = kind.not("a book", path);
    match kind {
        FileKind::Store => error.advice("name the book beside it"),
        FileKind::Program => error.advice(advice()),
        kind if kind.is_database() => error.remedied_by(Remedy::ReadGames),
        kind if kind.is_packed() => error,
        _ => error.remedied_by(Remedy::Build),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, bytes: &[u8]) -> String {
        let Err(error) = open_bytes(name, bytes.to_vec()) else { panic!("{name} was opened") };
        assert_eq!(error.kind(), ErrorKind::Format);
        error.to_string()
    }

    #[test]
    fn anything_else_is_a_polyglot_book_whatever_its_name() {
        for name in ["a.bin", "a", "a.book", "bin"] {
            assert_eq!(open_bytes(name, vec![0; 17]).unwrap().path(), Path::new(name));
        }
    }

    #[test]
    fn an_empty_and_a_short_file_say_so() {
        assert_eq!(refusal("a.bin", b""), format!("a.bin: the file is empty: {}", advice()));
        let short = refusal("a.bin", &[0; 15]);
        let what = "the file is too short for a book: it has 15 bytes, and one entry takes 16";
        assert_eq!(short, format!("a.bin: {what}: {}", advice()));
    }

    #[test]
    fn other_formats_are_recognised_by_content_then_by_name() {
        let ctg = [0, 0x20, 0x10, 0, 0, 1, 0, 1, 0, 0, 0x10, 0, 0x7f, 0xff, 0x7f, 0xff];
        for name in ["a.bin", "a.CTO"] {
            assert!(refusal(name, &ctg).contains("one of the three files of a CTG book"), "{name}");
        }
        let what = "this part of a Kvetka book has no positions";
        assert!(refusal("x/a.KIN", &[0; 16]).contains(what));
        assert!(refusal("a.b.kob", &[0; 16]).contains("this kind of Kvetka book, 0, is not supported"));
        assert!(refusal("a.kob", b"PK\x03\x04").contains("zip"));
    }

    #[test]
    fn an_arena_book_is_recognised_by_content_then_by_name() {
        let mut abk = b"\x03AB2\x70\x62\0\0\x1c\0\0\0\x11Happy".to_vec();
        let cut =
            "a.bin: the file ends inside its header of 25200 bytes (byte 18): copy or download it again";
        assert_eq!(refusal("a.bin", &abk), cut);
        let mut whole = abk.clone();
        whole.resize(25_200, b'x');
        assert_eq!(open_bytes("a.bin", whole).unwrap().format().to_string(), "abk");
        abk[4] = 0;
        assert!(refusal("x/a.ABK", &abk).contains("does not start like an Arena book"));
        assert!(refusal("a.bin", &abk).contains("no Polyglot book"));
    }

    #[test]
    fn text_archives_and_programs_are_refused() {
        let pgn = b"[Event \"A\"]\r\n[Site \"B\xfcrgerhaus\"]\r\n\r\n1. e4 *\r\n";
        assert_eq!(refusal("games.bin", pgn), format!("games.bin: this is text, not a book: {}", advice()));
        let zip = b"PK\x03\x04\x14\0\0\0\x08\0aaaaaaaaaa";
        assert_eq!(refusal("b.bin", zip), "b.bin: this is a zip archive: unpack it first");
        let counts = refusal("a.bin", b"PAR1\x15\x04\x15\0PAR1");
        assert!(counts.contains("Parquet") || cfg!(not(feature = "counts")), "{counts}");
        assert!(refusal("stockfish", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0").contains("a program"));
    }

    #[test]
    fn parts_of_a_database_are_no_books() {
        let folder = tempfile::tempdir().unwrap();
        for (name, says) in
            [("a.cbh", "not a book"), ("a.CBG", "not a book"), ("a.cbv", "not a book"), ("a.2cbh", "save it")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, [7; 64]).unwrap();
            let error = open(&path).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Format);
            assert!(error.to_string().contains("ChessBase") && error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn bytes_inside_the_executable_are_not_copied() {
        static BYTES: [u8; 16] = [0; 16];
        assert!(open_bytes("starter", &BYTES[..]).is_ok());
    }
}
