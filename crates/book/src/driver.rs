//! What a format of books is: facts of it as data, and the functions that open and write its files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Remedy, Result};
use tabiya_base::folder::has_extension;
use tabiya_base::map::Map;
use tabiya_chess::Variant;

use super::Among;
use super::traits::Book;
#[cfg(feature = "write")]
use super::{BookWriter, WriteOptions};

/// What is known of a format of books.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Its name in tables and in JSON.
    pub name: &'static str,
    /// Its name beside an extension, such as "ChessBase".
    pub title: &'static str,
    /// One of its books, such as "an experience file".
    pub noun: &'static str,
    /// The extensions of its files in lower case; a new book gets the first.
    pub extensions: &'static [&'static str],
    /// The extension that one file of each book has, by which books are looked for in folders; `None` where they are not.
    pub found_by: Option<&'static str>,
    /// The variants that a book may be of.
    pub variants: Variants,
    /// Whether games are counted.
    pub games: CountsGames,
    /// How a move is edited by hand.
    pub edits: Edits,
    /// Whether its books take results of games.
    pub learns: bool,
    /// Whether moves have factors, which policies may use or not.
    pub has_factors: bool,
    /// Whether games of some kinds are counted separately.
    pub is_sliced: bool,
    /// Whether everything that look-ups find can be listed.
    pub lists_all: bool,
}

impl Facts {
    /// What most formats have in common that are only read.
    pub(crate) const READ_ONLY: Self = Self {
        name: "",
        title: "",
        noun: "",
        extensions: &[],
        found_by: None,
        variants: Variants::Chess,
        games: CountsGames::No,
        edits: Edits::Not { advice: "write it in another format, and edit that", remedy: Remedy::Convert },
        learns: false,
        has_factors: false,
        is_sliced: false,
        lists_all: true,
    };
}

/// A format of books. Each folder of `formats` has one, and `formats/mod.rs` lists them.
pub(crate) trait Driver: Sync {
    /// What is known of it.
    fn facts(&self) -> &'static Facts;

    /// Whether a file may be of this format. The bytes are all that there are, or as many as are known of its start.
    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty;

    /// Opens a book.
    ///
    /// # Errors
    /// When it is none of this format.
    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>>;

    /// Opens what is at a path, if it is a book of this format whatever its name: for formats that may be folders, that count games
    /// separately, or that state their variant.
    ///
    /// # Errors
    /// When it cannot be read, or it is a book that cannot be opened.
    fn open_at(&self, _path: &Path, _among: &Among) -> Result<Option<Arc<dyn Book>>> {
        Ok(None)
    }

    /// The file that a path means if it does not exist itself, as in another letter case; or that path, if the format knows what
    /// it means.
    fn locate(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// What begins a book; `None` where none is written of the records of other books.
    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        None
    }

    /// The other files that a new book of this name may replace.
    #[cfg(feature = "write")]
    fn others(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Begins a book at a path.
#[cfg(feature = "write")]
pub(crate) type Create = fn(&Path, &WriteOptions) -> Result<Box<dyn BookWriter>>;

/// A file that is to be opened as a book.
pub(crate) struct Opening<'a> {
    /// Its path; that of a file in memory is only its name.
    pub path: &'a Path,
    /// Its bytes; none where the path is no file, but the format knows what it means.
    pub bytes: Map,
    /// Whether there is no file.
    pub in_memory: bool,
    /// The variant that is wanted.
    pub variant: Variant,
}

/// How certain it is that a file is of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Certainty {
    /// It is not.
    No,
    /// Nothing speaks against it.
    Possible,
    /// Its content is such as no other format would have by chance.
    Likely,
    /// Its name says so, and its content is not that of another.
    Named,
    /// It has the format's mark.
    Marked,
}

/// The variants that the books of a format may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variants {
    /// Standard chess.
    Chess,
    /// Any, and the file does not say which.
    Any,
    /// Any, and the file says which.
    Stated,
}

/// Whether a format counts games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountsGames {
    /// It has weights alone.
    No,
    /// Moves have counts, beside what an author may say of them.
    Yes,
    /// It has nothing but counts.
    Only,
}

/// How a move of a format is edited by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edits {
    /// It gets a number.
    Number {
        /// What the number is: "weight", or "priority" where weights follow from it.
        name: &'static str,
        /// The number in words.
        words: &'static str,
        /// The greatest; the least is 0.
        most: u64,
    },
    /// It gets a colour and a mark; weights follow from the results.
    Verdicts,
    /// Not at all.
    Not {
        /// What to do instead.
        advice: &'static str,
        /// How that is done.
        remedy: Remedy,
    },
}

impl Edits {
    /// Edits of a weight up to this.
    pub(crate) const fn weight(most: u64) -> Self {
        Self::Number { name: "weight", words: "weight", most }
    }
}

/// Bytes from the start that decide whether a file is text.
const TEXT_LEN: usize = 256;

/// Whether the file begins like text: without control characters, which books of bytes have.
pub(crate) fn is_text(data: &[u8]) -> bool {
    data.iter().take(TEXT_LEN).all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace())
}

/// Whether the name of a file that is not empty has an extension of a format.
pub(crate) fn named(format: Format, path: &Path, bytes: &[u8]) -> Certainty {
    if !bytes.is_empty() && format.has_name(path) { Certainty::Named } else { Certainty::No }
}

/// A format of books.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Driver);

impl Format {
    pub(crate) const fn new(driver: &'static dyn Driver) -> Self {
        Self(driver)
    }

    pub(crate) fn driver(self) -> &'static dyn Driver {
        self.0
    }

    /// Its name in tables and in JSON, such as "ctg".
    pub fn name(self) -> &'static str {
        self.0.facts().name
    }

    /// Its name beside an extension, such as "ChessBase".
    pub fn title(self) -> &'static str {
        self.0.facts().title
    }
}

// What only the other crates of tabiya use.
#[doc(hidden)]
impl Format {
    /// One of its books, such as "an experience file".
    pub fn noun(self) -> &'static str {
        self.0.facts().noun
    }

    /// All of its books, such as "experience files".
    pub fn plural(self) -> String {
        format!("{}s", self.noun().split_once(' ').map_or(self.noun(), |(_, noun)| noun))
    }

    /// The extensions of its files, in lower case: first that which a new book gets.
    pub fn extensions(self) -> &'static [&'static str] {
        self.0.facts().extensions
    }

    /// The extension of new books.
    pub fn extension(self) -> &'static str {
        self.extensions().first().copied().unwrap_or_default()
    }

    /// The extension that one file of each book has, by which books are looked for in folders; `None` where they are not.
    pub fn found_by(self) -> Option<&'static str> {
        self.0.facts().found_by
    }

    /// The variants that its books may be of.
    pub fn variants(self) -> Variants {
        self.0.facts().variants
    }

    /// Whether it counts games.
    pub fn games(self) -> CountsGames {
        self.0.facts().games
    }

    /// How its books are edited by hand.
    pub fn edits(self) -> Edits {
        self.0.facts().edits
    }

    /// Whether its books can be edited by hand.
    pub fn is_editable(self) -> bool {
        !matches!(self.edits(), Edits::Not { .. })
    }

    /// Whether its books can take results of games.
    pub fn learns(self) -> bool {
        self.0.facts().learns
    }

    /// Whether books of any records are written in it.
    #[cfg(feature = "write")]
    pub fn is_writable(self) -> bool {
        self.0.writer().is_some()
    }

    /// Whether it counts games of some kinds separately.
    pub fn is_sliced(self) -> bool {
        self.0.facts().is_sliced
    }

    /// Whether its moves have factors, which policies may use or not.
    pub fn has_factors(self) -> bool {
        self.0.facts().has_factors
    }

    /// Whether everything can be listed that look-ups find.
    pub fn lists_all(self) -> bool {
        self.0.facts().lists_all
    }

    /// Whether a name has an extension of its files, in any letter case.
    pub fn has_name(self, path: &Path) -> bool {
        self.extensions().iter().any(|end| has_extension(path, end))
    }

    /// How certain it is that a file is of this format. The bytes are all that there are, or as many as are known of its start.
    pub fn sniff(self, path: &Path, bytes: &[u8]) -> Certainty {
        self.0.sniff(path, bytes)
    }

    /// As its name: "Polyglot (.bin)".
    pub fn with_extension(self) -> String {
        format!("{} (.{})", self.title(), self.extension())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
