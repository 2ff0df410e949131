//! The interface for other programs, books, choosing, writing, games. Positions and moves are shakmaty's, which is exported
//! here too.
//!
//! | what | module |
//! |---|---|
//! | a book: what it says of positions, chances, a choice | [`Book`] |
//! | a book that is to be written | [`Draft`], [`NewBook`] |
//! | games of PGN files and ChessBase databases | [`Games`] |

mod books;
mod draft;
mod games;
mod new_book;

pub use shakmaty;
pub use tabiya_base::error::{Error, ErrorKind};
pub use tabiya_base::findings::{Finding, Severity};
pub use tabiya_base::interrupt::Interrupt;
pub use tabiya_book::choose::Policy;
pub use tabiya_book::{
    Among, Annotation, Counts, Format, Green, Keeps, Learned, MoveFacts, Ratings, Recommendation,
    WriteOptions, Written,
};
pub use tabiya_chess::openings::Opening;
pub use tabiya_chess::{FenError, Position, RatingBand, Speed};
pub use tabiya_games::{Date, End, GameError, GameResult, Header, Place, PlayerName, Reason, Spot, Visitor};

pub use crate::bookmaker::{
    Drop, Drops, FailedGames, Filter, Left, Merged, Only, Report, TagPattern, Tags, Weigh,
};
pub use books::Book;
pub use draft::Draft;
pub use games::{Games, MainLine};
pub use new_book::{Damaged, NewBook};
