//! The book formats, one folder each: the only place that names all of them.

pub mod abk;
pub mod counts;
pub mod ctg;
pub mod exp;
pub mod kvetka;
pub mod obk;
pub mod polyglot;
pub mod text;

pub use polyglot::Learnable;

use std::path::Path;

#[cfg(feature = "write")]
use tabiya_chess::MoveCode;

use crate::driver::{Certainty, Driver};
use crate::{Extra, Format};

/// The formats, in the order in which they are offered; of two that a file may be of for the same reason, the first counts.
const DRIVERS: &[&dyn Driver] = &[
    &polyglot::PolyglotDriver,
    &ctg::CtgDriver,
    &abk::AbkDriver,
    &kvetka::KvetkaDriver,
    &obk::ObkDriver,
    &exp::ExpDriver,
    &text::TextDriver::EPD,
    &text::TextDriver::FEN,
    &counts::CountsDriver,
];

/// The drivers of these formats.
pub(crate) fn drivers(of: impl Fn(Format) -> bool) -> impl Iterator<Item = &'static dyn Driver> {
    DRIVERS.iter().copied().filter(move |driver| of(driver.format()))
}

#[doc(hidden)]
impl Format {
    /// All formats, in the order in which they are offered.
    pub fn all() -> impl Iterator<Item = Self> {
        DRIVERS.iter().map(|driver| driver.format())
    }

    /// The format whose books take results of games.
    pub fn learning() -> Option<Self> {
        Self::all().find(|format| format.learns())
    }

    /// The books that count games of some kinds separately, such as "count files".
    pub fn sliced() -> String {
        one_of(Self::all().filter(|format| format.is_sliced()).map(Self::plural))
    }

    /// The format whose files have such a name.
    pub fn of_name(path: &Path) -> Option<Self> {
        Self::all().find(|format| format.has_name(path))
    }

    /// The format that a file most probably has, and how certain that is. The bytes are all that there are, or as many as are
    /// known of its start.
    pub fn of_file(path: &Path, bytes: &[u8]) -> Option<(Self, Certainty)> {
        of_file(path, bytes).map(|(driver, certainty)| (driver.format(), certainty))
    }

    /// Whether books of any records are written in it.
    #[cfg(feature = "write")]
    pub fn is_writable(self) -> bool {
        drivers(|format| format == self).any(|driver| driver.writer().is_some())
    }
}

/// The driver of the format that a file most probably has, and how certain that is.
pub(crate) fn of_file(path: &Path, bytes: &[u8]) -> Option<(&'static dyn Driver, Certainty)> {
    let mut best: Option<(&dyn Driver, Certainty)> = None;
    for driver in DRIVERS.iter().copied() {
        let certainty = driver.sniff(path, bytes);
        if certainty == Certainty::Marked {
            return Some((driver, certainty));
        }
        if best.map_or(Certainty::No, |(_, best)| best) < certainty {
            best = Some((driver, certainty));
        }
    }
    best
}

impl Extra {
    /// Whether people would miss it in a book of another format.
    pub fn is_missed(&self) -> bool {
        drivers(|format| format == self.format).any(|driver| driver.is_missed(&self.bytes))
    }

    /// Whether it says of a move how it is to be played, so that its weight is not only that of its results.
    #[cfg(feature = "write")]
    pub(crate) fn decides(&self, mv: MoveCode) -> bool {
        drivers(|format| format == self.format).any(|driver| driver.decides(&self.bytes, mv))
    }
}

/// What to do with a file that is not a book of a known format.
pub(crate) fn advice() -> String {
    let books = Format::all().filter(|format| format.found_by().is_some());
    let (books, others): (Vec<_>, Vec<_>) = books.partition(|format| format.noun().ends_with(" book"));
    let others = others.into_iter().map(|format| format!(", or {} (.{})", format.noun(), format.extension()));
    let books = one_of(books.into_iter().map(Format::with_extension));
    format!("name a {books} book{}", others.collect::<String>())
}

/// What to do with a name without the extension of a writable format.
#[cfg(feature = "write")]
pub(crate) fn endings(of: impl Fn(Format) -> bool) -> String {
    let named = |format: Format| format!(".{} ({})", format.extension(), format.title());
    one_of(Format::all().filter(|format| of(*format)).map(named))
}

/// "a, b or c".
pub(crate) fn one_of(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<_> = names.collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} or {last}", names.join(", ")) }
}
