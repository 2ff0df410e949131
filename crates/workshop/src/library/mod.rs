//! The interface for other programs, shown at the root of the crate: books, choosing, writing, games. Positions and moves are
//! shakmaty's, which is exported there too.
//!
//! | what | module |
//! |---|---|
//! | a book: what it says of positions, chances, a choice | [`Book`] |
//! | a book that is to be written | [`Draft`], [`NewBook`] |
//! | games of PGN files and ChessBase databases | [`Games`] |

mod books;
#[cfg(feature = "workshop")]
mod draft;
#[cfg(feature = "workshop")]
mod games;
#[cfg(feature = "workshop")]
mod new_book;

pub use books::Book;
#[cfg(feature = "workshop")]
pub use draft::Draft;
#[cfg(feature = "workshop")]
pub use games::{Games, MainLine};
#[cfg(feature = "workshop")]
pub use new_book::{Damaged, NewBook};
