//! tabiya gives any UCI chess engine any opening book.
//!
//! Other programs use what is documented here: it is the promise that versions keep, in the sense of semantic versioning. The
//! modules are how the executable is made; they are public for its tests alone, not shown on docs.rs, and change with any version.
//!
//! A book is opened, asked for a position, and a move is chosen as the adapter does:
//!
//! ```
//! use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! use tabiya::{Book, Policy, shakmaty::Chess};
//!
//! let (book, at) = (Book::open("books/starter.bin")?, Chess::default());
//! for (known, chance) in book.chances(&at, &Policy::default()) {
//!     println!("{}: weight {}, {:.0} %", known.mv, known.weight, chance * 100.0);
//! }
//! let chosen = book.choose(&at, &Policy::default(), &mut Xoshiro256PlusPlus::seed_from_u64(1));
//! assert!(chosen.is_some());
//! # Ok::<_, tabiya::Error>(())
//! ```
//!
//! | feature | what it adds |
//! |---|---|
//! | none | reading books of all formats but count files, chances, a seeded choice, names of openings: 19 crates, no C compiler |
//! | `workshop` | [`Draft`], [`NewBook`] and [`Games`]: writing and building books, games of PGN files and ChessBase databases |
//! | `parquet` | count files |
//! | `serialize` | Serde's `Serialize` for what books say |
//! | `program`, `explore`, `zstd` | the executable, its explorer, and Zstandard by its library in C |
//!
//! The default is the executable: a program that uses the library names `default-features = false` and what it needs. The
//! oldest Rust that compiles it is in `Cargo.toml` as `rust-version`; a newer one is a minor version.
#![cfg_attr(
    not(feature = "program"),
    allow(dead_code, unused_imports, reason = "the command line uses them")
)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

// The crate is one executable and its library, so that tests, benches and fuzz targets reach every part. Each floor uses
// only the floors listed beside it, which are all below it; `tests/floors.rs` reads this table and the `use` lines, and
// fails where they differ.
//
// | floor | contents | uses |
// |---|---|---|
// | `cli` | the commands: arguments, terminal output, exit codes | explore, adapter, settings, suite, report, view, vet, edit, bookmaker, learn, choose, evals, games, book, openings, engine, chess, uci, base |
// | `explore` | the server of `tabiya explore`: its page, its interface, Lichess's interface | adapter, settings, view, vet, edit, bookmaker, learn, choose, evals, games, book, openings, engine, chess, uci, base |
// | `adapter` | the proxy between a GUI and the child engine | settings, learn, choose, evals, book, openings, engine, chess, uci, base |
// | `library` | the interface for other programs | bookmaker, learn, choose, games, book, chess, base |
// | `settings` | the user's settings: the table of them, the command line's, the configuration file, UCI's options | choose, uci, base |
// | `suite` | opening suites for matches: drawn from what books reach, by evaluation, and refined by games | view, bookmaker, choose, games, book, openings, chess, uci, base |
// | `report` | what books did in games: exits, openings, players | view, choose, evals, games, book, openings, chess, uci |
// | `view` | what a book says of a position under a policy, and the line of JSON for that | vet, choose, book, openings, chess |
// | `vet` | judges a book by evaluations: which positions next, minimax, losses, lines that go on | bookmaker, choose, evals, book, engine, chess, uci, base |
// | `edit` | changes moves of a position by hand, in books of every format | learn, book, chess, base |
// | `bookmaker` | games become counts, counts become weights, weights become a book | games, book, openings, chess, base |
// | `learn` | writes results of games into Polyglot books so that none is lost | book, chess, base |
// | `choose` | turns a book's moves and a policy into chances, and chances into one move | book, chess |
// | `evals` | stores of evaluations: look-ups, appending, and what other programs wrote | games, book, parquet, chess, uci, base |
// | `games` | reads streams of games from files, and writes games as PGN | chess, base |
// | `book` | what a book says, its files, the formats, several books as one | parquet, chess, base |
// | `parquet` | columns, row groups and pages of Parquet files, within a limit of memory | base |
// | `openings` | names openings by their positions | chess |
// | `engine` | starts the child process, notices its end, and makes sure that it does not outlive us | base, uci |
// | `chess` | what shakmaty does not do for us: keys, codes of moves, games in progress | |
// | `uci` | a line, a command, a reply; knows nothing of books | |
// | `base` | bounds-checked reading, maps, atomic replacement of files, sorting, errors, progress | |

#[cfg(feature = "program")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod adapter;
#[cfg_attr(docsrs, doc(hidden))]
pub mod base;
#[cfg_attr(docsrs, doc(hidden))]
pub mod book;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod bookmaker;
#[cfg_attr(docsrs, doc(hidden))]
pub mod chess;
#[cfg_attr(docsrs, doc(hidden))]
pub mod choose;
#[cfg(feature = "program")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod cli;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod edit;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod engine;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod evals;
#[cfg(feature = "explore")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod explore;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod games;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod learn;
#[cfg_attr(docsrs, doc(hidden))]
pub mod library;
#[cfg_attr(docsrs, doc(hidden))]
pub mod openings;
#[cfg_attr(docsrs, doc(hidden))]
pub mod parquet;
#[cfg(feature = "program")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod report;
#[cfg(feature = "program")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod settings;
#[cfg(feature = "program")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod suite;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod uci;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod vet;
#[cfg(feature = "workshop")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod view;

pub use shakmaty;

pub use base::error::{Error, ErrorKind};
pub use base::findings::{Finding, Severity};
pub use base::interrupt::Interrupt;
pub use book::{Among, Annotation, Counts, Format, Keeps, Learned, MoveFacts, Ratings, Recommendation};
#[cfg(feature = "workshop")]
pub use book::{Green, WriteOptions, Written};
#[cfg(feature = "workshop")]
pub use bookmaker::{Drop, Drops, FailedGames, Filter, Left, Merged, Only, Report, TagPattern, Tags, Weigh};
pub use chess::{FenError, Position, RatingBand, Speed};
pub use choose::Policy;
#[cfg(feature = "workshop")]
pub use games::{Date, End, GameError, GameResult, Header, Place, PlayerName, Reason, Spot, Visitor};
pub use library::Book;
#[cfg(feature = "workshop")]
pub use library::{Damaged, Draft, Games, MainLine, NewBook};
pub use openings::Opening;
