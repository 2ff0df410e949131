//! What is known of a format of books, as data.

use std::fmt;
use std::path::Path;

use tabiya_base::error::Remedy;
use tabiya_base::folder::has_extension;

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

/// The name of the number that is the weight itself.
const WEIGHT: &str = "weight";

impl Edits {
    /// Edits of a weight up to this.
    pub(crate) const fn weight(most: u64) -> Self {
        Self::Number { name: WEIGHT, words: WEIGHT, most }
    }
}

/// A format of books.
#[derive(Clone, Copy)]
pub struct Format(&'static Facts);

impl Format {
    pub(crate) const fn new(facts: &'static Facts) -> Self {
        Self(facts)
    }

    /// Its name in tables and in JSON, such as "ctg".
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its name beside an extension, such as "ChessBase".
    pub fn title(self) -> &'static str {
        self.0.title
    }
}

// What only the other crates of tabiya use.
#[doc(hidden)]
impl Format {
    /// One of its books, such as "an experience file".
    pub fn noun(self) -> &'static str {
        self.0.noun
    }

    /// The noun alone, such as "experience file".
    pub fn singular(self) -> &'static str {
        self.noun().split_once(' ').map_or(self.noun(), |(_, noun)| noun)
    }

    /// All of its books, such as "experience files".
    pub fn plural(self) -> String {
        format!("{}s", self.singular())
    }

    /// The extensions of its files, in lower case: first that which a new book gets.
    pub fn extensions(self) -> &'static [&'static str] {
        self.0.extensions
    }

    /// The extension of new books.
    pub fn extension(self) -> &'static str {
        self.extensions().first().copied().unwrap_or_default()
    }

    /// The extension that one file of each book has, by which books are looked for in folders; `None` where they are not.
    pub fn found_by(self) -> Option<&'static str> {
        self.0.found_by
    }

    /// The variants that its books may be of.
    pub fn variants(self) -> Variants {
        self.0.variants
    }

    /// Whether it counts games.
    pub fn games(self) -> CountsGames {
        self.0.games
    }

    /// How its books are edited by hand.
    pub fn edits(self) -> Edits {
        self.0.edits
    }

    /// Whether its books can be edited by hand.
    pub fn is_editable(self) -> bool {
        !matches!(self.edits(), Edits::Not { .. })
    }

    /// Whether its books can take results of games.
    pub fn learns(self) -> bool {
        self.0.learns
    }

    /// Whether it counts games of some kinds separately.
    pub fn is_sliced(self) -> bool {
        self.0.is_sliced
    }

    /// Whether weights of moves follow from numbers of their own, which edits set.
    pub fn has_own_numbers(self) -> bool {
        matches!(self.edits(), Edits::Number { name, .. } if name != WEIGHT)
    }

    /// Whether its moves have factors, which policies may use or not.
    pub fn has_factors(self) -> bool {
        self.0.has_factors
    }

    /// Whether everything can be listed that look-ups find.
    pub fn lists_all(self) -> bool {
        self.0.lists_all
    }

    /// Whether a name has an extension of its files, in any letter case.
    pub fn has_name(self, path: &Path) -> bool {
        self.extensions().iter().any(|end| has_extension(path, end))
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
