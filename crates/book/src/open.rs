//! Recognises the format of a file by its content, then by its name. Besides this file only `format.rs` names every format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::file_kind::{FileKind, PARQUET};
#[cfg(feature = "write")]
use tabiya_base::folder;
use tabiya_base::folder::has_extension;
use tabiya_base::map::Map;
#[cfg(feature = "write")]
use tabiya_base::replace::leftovers;
use tabiya_chess::Variant;

use super::abk::{Abk, is_abk};
use super::counts;
use super::ctg::layout::CTG_START;
use super::ctg::{self, Ctg};
use super::exp::{self, Exp, is_exp};
use super::kvetka::{self, Kvetka};
use super::obk::{Obk, is_obk};
use super::polyglot::layout::ENTRY_LEN;
use super::polyglot::{self, Polyglot};
use super::{Among, Format};
#[cfg(feature = "write")]
use super::{BookWriter, WriteOptions};
use crate::traits::Book;

/// What to do with a file that is not a book of a known format.
const ADVICE: &str = "name a Polyglot (.bin), ChessBase (.ctg), Arena (.abk), Kvetka (.kob) or Chessmaster (.obk) book, or an experience file (.exp)";

/// What to do with a name without the extension of a writable format.
#[cfg(feature = "write")]
const WRITABLE: &str = "end it with .bin (Polyglot), .ctg (ChessBase), .abk (Arena) or .kob (Kvetka)";

/// Bytes from the start that decide whether a file is text.
const TEXT_LEN: usize = 256;

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
/// as [`Ctg::open`], [`Kvetka::open`] and [`counts::open`].
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
    let holds = if book.format() == Format::Counts { "the file holds" } else { "books of this format hold" };
    let held = book.variant();
    Err(Error::new(ErrorKind::Usage, format!("{holds} {held}, not {variant}")).at_path(path))
}

/// The variant that a count file names; `None` for other books, which do not say it.
pub fn stated_variant(path: &Path) -> Option<Variant> {
    let files = counts::named(path).ok().flatten()?;
    counts::open(path, &files, &Among::default()).ok().map(|book| book.variant())
}

/// With the feature `write`, puts files of a CTG or Kvetka book back that a process had moved aside when it died, and removes those that
/// it had begun; one that is replacing the book is waited for, up to 0.2 s.
pub(crate) fn put_back(path: &Path) {
    #[cfg(feature = "write")]
    if ctg::part(path).is_some() || kvetka::is_part(path) || !path.exists() {
        leftovers::put_back(folder::parent_of(path));
    }
    #[cfg(not(feature = "write"))]
    let _ = path;
}

fn open_any(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    let found = ctg::in_any_case(path);
    if found.is_none() && !path.exists() && kvetka::in_any_case(path).is_some() {
        return Ok(Arc::new(Kvetka::open(path)?));
    }
    if path.is_dir()
        && let Some(files) = counts::named(path)?
    {
        return counts::open(path, &files, &Among::default());
    }
    let bytes = Map::open(found.as_deref().unwrap_or(path))?;
    if bytes.starts_with(&PARQUET) {
        return counts::open(path, &[path.to_owned()], &Among::default());
    }
    if let Some(kind) = FileKind::by_name(path) {
        return Err(not_a_book(path, kind));
    }
    if is_kvetka(path, &bytes) {
        return Ok(Arc::new(Kvetka::open(path)?));
    }
    if is_ctg(path, &bytes) {
        return Ok(Arc::new(Ctg::open(path)?));
    }
    from_bytes(path, bytes, variant)
}

/// Opens a book in which only some games count.
///
/// # Errors
/// When the book does not count these games separately, and as [`open()`].
pub fn open_among(path: impl AsRef<Path>, among: &Among) -> Result<Arc<dyn Book>> {
    let path = path.as_ref();
    match counts::named(path)? {
        _ if !among.by().any() => open(path),
        Some(files) => counts::open(path, &files, among),
        None => {
            let names = among.by().columns().collect::<Vec<_>>().join(" and ");
            let what = format!("a book does not count games separately by {names}; only count files do");
            Err(Error::new(ErrorKind::Usage, what).at_path(path).remedied_by(Remedy::CountBy))
        }
    }
}

/// The file that a path means if it does not exist itself: the parts of CTG and Kvetka books are found in any letter
/// case, and Kvetka books also by their name without number or extension.
pub fn in_any_case(path: &Path) -> Option<PathBuf> {
    ctg::in_any_case(path).or_else(|| kvetka::in_any_case(path))
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
    from_bytes(path.as_ref(), bytes.into(), Variant::Chess)
}

fn from_bytes(path: &Path, bytes: Map, variant: Variant) -> Result<Arc<dyn Book>> {
    let error = |what: &str, advice: &str| Err(Error::format(path, what).advice(advice));
    let ends_with = |end| has_extension(path, end);
    // An engine that has found out nothing yet leaves an empty file.
    if bytes.is_empty() && !ends_with(exp::EXTENSION) {
        return error("the file is empty", ADVICE);
    }
    match FileKind::by_start(&bytes) {
        Some(FileKind::Parquet) => return counts::from_bytes(path, bytes.to_vec()),
        Some(kind) => return Err(not_a_book(path, kind)),
        None => {}
    }
    if is_ctg(path, &bytes) {
        return error(
            "this is one of the three files of a CTG book",
            "open it as a file, with the other two beside it",
        );
    }
    if is_abk(&bytes) || ends_with("abk") {
        return Ok(Arc::new(Abk::new(path, bytes)?));
    }
    if is_obk(&bytes) || ends_with("obk") {
        return Ok(Arc::new(Obk::new(path, bytes)?));
    }
    if is_exp(path, &bytes) {
        return Ok(Arc::new(Exp::new(path, bytes)?));
    }
    if is_kvetka(path, &bytes) {
        if ends_with("kob") {
            return Ok(Arc::new(Kvetka::new(path, bytes)?));
        }
        return error(
            "this part of a Kvetka book has no positions",
            "open it as a file, with the .kob beside it",
        );
    }
    if is_text(&bytes) {
        return error("this is text, not a book", ADVICE);
    }
    if bytes.len() < ENTRY_LEN {
        let what = format!(
            "the file is too short for a book: it has {} bytes, and one entry takes {ENTRY_LEN}",
            bytes.len()
        );
        return error(&what, ADVICE);
    }
    if let Some(what) = polyglot::foreign(&bytes) {
        return error(&what, ADVICE);
    }
    Ok(Arc::new(Polyglot::new(path, bytes).of_variant(variant)))
}

/// The files that a book written at `path` may replace.
#[cfg(feature = "write")]
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts = vec![path.to_owned()];
    if ctg::part(path).is_some() {
        for end in ctg::EXTENSIONS {
            parts.extend([path.with_extension(end), path.with_extension(end.to_uppercase())]);
        }
    } else if kvetka::is_part(path) {
        parts.extend(kvetka::existing(&kvetka::stem(path)).unwrap_or_default());
    }
    parts
}

/// Begins a book at `path`, in the format of its extension.
///
/// # Errors
/// When the extension is of no format that can be written, or as [`tabiya_base::replace::Replacement::new`].
#[cfg(feature = "write")]
pub fn create(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Box<dyn BookWriter>> {
    let path = path.as_ref();
    if let (Some(format), variant) = (format_of(path), options.variant)
        && variant != Variant::Chess
        && format != Format::Polyglot
    {
        let what = format!("{format} books hold standard chess only, not {variant}");
        return Err(Error::new(ErrorKind::Usage, what)
            .at_path(path)
            .advice("end the name with .bin (Polyglot) or .parquet (counts)"));
    }
    match format_of(path) {
        Some(Format::Ctg) => Ok(Box::new(ctg::CtgWriter::new(path, options)?)),
        Some(Format::Abk) => Ok(Box::new(super::abk::AbkWriter::new(path, options)?)),
        Some(Format::Polyglot) => Ok(Box::new(polyglot::PolyglotWriter::new(path, options)?)),
        Some(Format::Kvetka) => Ok(Box::new(kvetka::KvetkaWriter::new(path, options)?)),
        Some(Format::Counts | Format::Exp | Format::Obk) | None => {
            Err(Error::new(ErrorKind::Usage, "the name does not say which format to write")
                .at_path(path)
                .advice(WRITABLE))
        }
    }
}

/// The format in which [`create`] writes a book of this name.
pub fn format_of(path: &Path) -> Option<Format> {
    match &*path.extension()?.to_string_lossy().to_ascii_lowercase() {
        "ctg" => Some(Format::Ctg),
        "abk" => Some(Format::Abk),
        "bin" => Some(Format::Polyglot),
        "kob" => Some(Format::Kvetka),
        _ => None,
    }
}

/// The error of a file of another kind, with what to do.
fn not_a_book(path: &Path, kind: FileKind) -> Error {
    let error = kind.not("a book", path);
    match kind {
        FileKind::Store => error.advice("name the book beside it"),
        FileKind::Program => error.advice(ADVICE),
        kind if kind.is_database() => error.remedied_by(Remedy::ReadGames),
        kind if kind.is_packed() => error,
        _ => error.remedied_by(Remedy::Build),
    }
}

/// Whether a file is a part of a CTG book by its content or by its name.
fn is_ctg(path: &Path, data: &[u8]) -> bool {
    data.starts_with(&CTG_START)
        || ctg::part(path).is_some() && FileKind::by_start(data).is_none() && !is_text(data)
}

/// Whether a file is a part of a Kvetka book: by its name, because the format has no mark, unless its content is
/// something else.
fn is_kvetka(path: &Path, data: &[u8]) -> bool {
    kvetka::is_part(path)
        && FileKind::by_start(data).is_none()
        && !data.starts_with(&CTG_START)
        && !is_abk(data)
}

/// Whether the file begins like text: without control characters, which every Polyglot book has.
fn is_text(data: &[u8]) -> bool {
    data.iter().take(TEXT_LEN).all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace())
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
        assert_eq!(refusal("a.bin", b""), format!("a.bin: the file is empty: {ADVICE}"));
        let short = refusal("a.bin", &[0; 15]);
        let what = "the file is too short for a book: it has 15 bytes, and one entry takes 16";
        assert_eq!(short, format!("a.bin: {what}: {ADVICE}"));
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
        assert_eq!(refusal("games.bin", pgn), format!("games.bin: this is text, not a book: {ADVICE}"));
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
