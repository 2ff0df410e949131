//! The error type: what is wrong, where, and what the user can do about it.

use std::error::Error as StdError;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// The kind of an error: it depends on what a user can do about the error, and decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line or the configuration asks for something that does not exist.
    Usage,
    /// A file cannot be opened, read or written.
    File,
    /// A file was read but is not what it should be.
    Format,
    /// The child engine cannot be started, is not a UCI engine, hangs or died.
    Engine,
    /// The user asked the work to stop.
    Interrupted,
}

/// What helps against an error and needs the user. Programs word it: they know their commands and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Write to another file, or allow this one to be replaced.
    Replace,
    /// Make room for temporary files, put them into another folder, or allow more memory.
    TemporaryFiles,
    /// Put temporary files into another folder.
    TemporaryFolder,
    /// Leave out rare or late moves.
    SmallerBook,
    /// Count the games again with their positions, or make a book that needs no positions.
    CountPositions,
    /// Count the games again, separately by speed and rating.
    CountBy,
    /// Set all learn fields of the book to zero, and begin a new journal.
    ResetLearned,
    /// Drop the games that wait for a book which is not there any more.
    DropGames,
    NameEngine,
    /// Name another working folder for the engine.
    EngineFolder,
    /// Name another book, or allow books to be missing.
    OptionalBooks,
    /// Name the configuration file to show that it is trusted, or move it.
    TrustConfiguration,
    /// Try the engine as a GUI would.
    TryEngine,
    /// Sum a database of games up, write it as PGN, or make a book of it.
    ReadGames,
    /// Make a book of games or counts.
    Build,
    /// Write a book anew.
    Convert,
    /// Write a book without a line.
    Trim,
    /// Look at the moves of a position.
    ShowMoves,
    /// Sort a count file.
    SortCounts,
}

/// An error that names the file, the offset in it where there is one, and what to do.
///
/// Shown as `FILE: what is wrong (byte OFFSET): what to do`, and with `{:#}` as `FILE: what is wrong: source (byte OFFSET): what to do`.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    offset: Option<u64>,
    what: String,
    advice: Option<String>,
    remedy: Option<Remedy>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// A result, with [`Error`] where nothing else is said.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind`; `what` is a clause without a full stop.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, path: None, offset: None, what: what.into(), advice: None, remedy: None, source: None }
    }

    /// A file that cannot be opened, read or written. Reading that was interrupted is an interrupt.
    pub fn file(path: impl AsRef<Path>, what: impl Into<String>, source: std::io::Error) -> Self {
        let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        if let Some(Self { kind: kind @ ErrorKind::Interrupted, what, .. }) = inner {
            return Self::new(*kind, what);
        }
        let path = path.as_ref();
        // What is missing here may be somewhere else.
        let whole = (source.kind() == std::io::ErrorKind::NotFound && path.is_relative())
            .then(|| std::path::absolute(path).ok())
            .flatten();
        let advice = whole.map(|whole| format!("its whole path is {}", whole.display()));
        let source = Some(Box::new(without_path(source)) as _);
        Self { source, advice, ..Self::new(ErrorKind::File, what).at_path(path) }
    }

    /// A file whose content is not what it should be.
    pub fn format(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Format, what).at_path(path)
    }

    /// A file that exists already and may not be replaced.
    pub fn exists(path: impl AsRef<Path>) -> Self {
        Self::new(ErrorKind::File, "this file exists already").at_path(path).remedied_by(Remedy::Replace)
    }

    /// A temporary file that cannot be written or read in this folder.
    pub fn temporary(folder: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::file(folder, "cannot write or read a temporary file in this folder", source)
            .remedied_by(Remedy::TemporaryFiles)
    }

    #[must_use]
    pub fn at_path(mut self, path: impl AsRef<Path>) -> Self {
        self.path = Some(path.as_ref().to_owned());
        self
    }

    /// Names the file if it does not name one.
    #[must_use]
    pub fn or_at_path(self, path: impl AsRef<Path>) -> Self {
        if self.path.is_some() { self } else { self.at_path(path) }
    }

    /// Names the offset, in bytes from the start of the file.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Says what to do, as a clause without a full stop.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Says something else of what is wrong.
    #[must_use]
    pub(crate) fn reworded(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// Names what helps, for the program to word.
    #[must_use]
    pub fn remedied_by(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// Whether the error says what to do, apart from its [`Error::remedy`].
    pub fn has_advice(&self) -> bool {
        self.advice.is_some()
    }

    /// What to do, as a clause, apart from the [`Error::remedy`].
    pub fn advice_text(&self) -> Option<&str> {
        self.advice.as_deref()
    }

    /// What helps, where the program has to word it.
    pub fn remedy(&self) -> Option<Remedy> {
        self.remedy
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, as a clause, without file, offset and advice.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What is wrong and what to do, without file and offset.
    pub fn what_and_advice(&self) -> String {
        self.advice.iter().fold(self.what.clone(), |what, advice| format!("{what}: {advice}"))
    }

    /// The file, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The offset in the file in bytes, where there is one.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The error as a line for people, with what its source says.
    pub fn with_source(&self) -> String {
        format!("{self:#}")
    }
}

/// The error of a temporary file without the path that the crate `tempfile` adds: the file no longer exists.
fn without_path(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    match text.rfind(" at path \"") {
        Some(end) => std::io::Error::new(error.kind(), text.get(..end).unwrap_or(&text)),
        None => error,
    }
}

/// Writes text with its control characters escaped, as in `\u{1b}`: names and contents of files may have some, which a
/// terminal would obey.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if letter.is_control() {
                write!(self.0, "{}", letter.escape_default())?;
            } else {
                self.0.write_char(letter)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = Escaped(f);
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        f.write_str(&self.what)?;
        if let Some(source) = self.source.as_ref().filter(|_| f.0.alternate()) {
            write!(f, ": {source:#}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " (byte {offset})")?;
        }
        if let Some(advice) = &self.advice {
            write!(f, ": {advice}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_whole_path_of_a_missing_file_is_said() {
        let of = |path: &Path, kind: std::io::ErrorKind| Error::file(path, "no", kind.into()).to_string();
        let whole = std::env::current_dir().unwrap().join("a.bin");
        let missing = of(Path::new("a.bin"), std::io::ErrorKind::NotFound);
        assert_eq!(missing, format!("a.bin: no: its whole path is {}", whole.display()));
        assert_eq!(of(&whole, std::io::ErrorKind::NotFound), format!("{}: no", whole.display()));
        assert_eq!(of(Path::new("a.bin"), std::io::ErrorKind::PermissionDenied), "a.bin: no");
    }

    #[test]
    fn an_error_names_file_offset_and_advice_in_one_line() {
        let error =
            Error::format("a.bin", "the last entry is cut off").at_offset(48).advice("convert the book");
        assert_eq!(error.to_string(), "a.bin: the last entry is cut off (byte 48): convert the book");
    }

    #[test]
    fn control_characters_are_escaped() {
        let error = Error::format("a\u{1b}[2J.bin", "no such file: C:\new\tabs").advice("look again\u{7f}");
        assert_eq!(error.to_string(), r"a\u{1b}[2J.bin: no such file: C:\new\tabs: look again\u{7f}");
    }

    #[test]
    fn an_io_error_follows_what_was_tried() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let error = Error::file("b.bin", "cannot open the book", source).advice("name another");
        assert_eq!(format!("{error:#}"), "b.bin: cannot open the book: no such file: name another");
        // Whoever shows an error with its sources shows none twice.
        let source = error.source().map(ToString::to_string);
        assert_eq!(
            (error.to_string(), source),
            ("b.bin: cannot open the book: name another".into(), Some("no such file".into()))
        );
        let outer = Error::file("c.bin", "cannot read", std::io::Error::other(error));
        assert_eq!(
            format!("{outer:#}"),
            "c.bin: cannot read: b.bin: cannot open the book: no such file: name another"
        );
    }
}
