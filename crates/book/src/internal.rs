//! What only the other crates of tabiya use, under the names that it has there: none of it is promised.

use std::sync::Arc;

pub use crate::book_folder::{BookFolder, books_in};
pub use crate::book_set::BookSet;
pub(crate) use crate::book_set::Reading;
pub use crate::driver::Certainty;
pub use crate::evaluations::Evaluations;
pub use crate::facts::{Decision, Points, rating_difference};
pub use crate::format::{CountsGames, Edits, Variants};
pub use crate::formats::*;
pub use crate::game::{CBH_RECORD, GameReference, ReferenceKind};
#[cfg(feature = "write")]
pub use crate::open::{create as create_book, format_of, parts};
pub use crate::open::{in_any_case, stated_variant};
pub use crate::open::{open as open_book, open_among, open_as, open_bytes};
pub use crate::other_rules::OtherRules;
pub use crate::record::{Extra, Field, PositionRecord, Scope};
pub use crate::slice::{Among, By, GAMES_BITS, MAX_GAMES, RATING, SLICE_BITS, SPEED, Slice};
pub(crate) use crate::traits::errors;
pub use crate::traits::{About, BookSummary, Heading, Moves, Patchable, Remarks, Sliced, Visit};
pub use crate::verdict::plain_weights;
#[cfg(feature = "write")]
pub use crate::write::{BookWriter, Green, LeastElo, OldJournal, WriteOptions, left_out};

use tabiya_base::error::Result;

/// The book inside the executable, which is used if none is named: see `books/README.md`.
const STARTER: &[u8] = include_bytes!("../books/starter.bin");

/// Opens the book inside the executable.
///
/// # Errors
/// Never with the book that is shipped.
pub fn starter_book() -> Result<Arc<dyn crate::traits::Book>> {
    open_bytes("starter book", STARTER)
}
