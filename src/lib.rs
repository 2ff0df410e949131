//! tabiya gives any UCI chess engine any opening book.
//!
//! The crate is one executable and its library, so that tests, benches and fuzz targets reach every part. Each floor uses
//! only the floors listed beside it, which are all below it; `tests/floors.rs` reads this table and the `use` lines, and
//! fails where they differ.
//!
//! | floor | contents | uses |
//! |---|---|---|
//! | [`cli`] | the commands: arguments, terminal output, exit codes | explore, adapter, settings, suite, report, view, vet, edit, bookmaker, learn, choose, evals, games, book, openings, engine, chess, uci, base |
//! | [`explore`] | the server of `tabiya explore`: its page, its interface, Lichess's interface | adapter, settings, view, vet, edit, bookmaker, learn, choose, evals, games, book, openings, engine, chess, uci, base |
//! | [`adapter`] | the proxy between a GUI and the child engine | settings, learn, choose, evals, book, openings, engine, chess, uci, base |
//! | [`settings`] | the user's settings: the table of them, the command line's, the configuration file, UCI's options | choose, uci, base |
//! | [`suite`] | opening suites for matches: drawn from what books reach, by evaluation, and refined by games | view, bookmaker, choose, games, book, openings, chess, uci, base |
//! | [`report`] | what books did in games: exits, openings, players | view, choose, evals, games, book, openings, chess, uci |
//! | [`view`] | what a book says of a position under a policy, and the line of JSON for that | vet, choose, book, openings, chess |
//! | [`vet`] | judges a book by evaluations: which positions next, minimax, losses, lines that go on | bookmaker, choose, evals, book, engine, chess, uci, base |
//! | [`edit`] | changes moves of a position by hand, in books of every format | bookmaker, learn, book, chess, base |
//! | [`bookmaker`] | games become counts, counts become weights, weights become a book | games, book, openings, chess, base |
//! | [`learn`] | writes results of games into Polyglot books so that none is lost | book, chess, base |
//! | [`choose`] | turns a book's moves and a policy into chances, and chances into one move | book, chess |
//! | [`evals`] | stores of evaluations: look-ups, appending, and what other programs wrote | games, book, parquet, chess, uci, base |
//! | [`games`] | reads streams of games from files, and writes games as PGN | chess, base |
//! | [`book`] | what a book says, its files, the formats, several books as one | parquet, chess, base |
//! | [`parquet`] | columns, row groups and pages of Parquet files, within a limit of memory | base |
//! | [`openings`] | names openings by their positions | chess |
//! | [`engine`] | starts the child process, notices its end, and makes sure that it does not outlive us | base, uci |
//! | [`chess`] | what shakmaty does not do for us: keys, codes of moves, games in progress | |
//! | [`uci`] | a line, a command, a reply; knows nothing of books | |
//! | [`base`] | bounds-checked reading, maps, atomic replacement of files, sorting, errors, progress | |
//!
//! # Entry points
//!
//! What only the crate itself uses is private to it, so that the compiler reports what nothing uses. The command line
//! goes through the same entry points as the examples here.
//!
//! A book is opened from a path or from bytes, asked for a position, and a move is chosen:
//!
//! ```
//! use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! use tabiya::chess::Position;
//! use tabiya::choose::{Policy, chances, draw};
//!
//! let book = tabiya::book::open("books/starter.bin")?;
//! let (mut moves, mut shares) = (Vec::new(), Vec::new());
//! book.moves(&Position::start(), &mut moves);
//! chances(&moves, &Policy::default(), |_| true, &mut shares);
//! let chosen = draw(&shares, &mut Xoshiro256PlusPlus::seed_from_u64(1)).expect("the starter book knows the start");
//! assert!(moves[chosen].weight > 0);
//! # Ok::<_, tabiya::base::error::Error>(())
//! ```
//!
//! A book is traversed, and written in another format:
//!
//! ```
//! use tabiya::base::progress::Progress;
//! use tabiya::book::{self, Scope, WriteOptions};
//!
//! let folder = tempfile::tempdir().expect("a folder");
//! let (book, path) = (book::open("books/starter.bin")?, folder.path().join("starter.ctg"));
//! let mut writer = book::create(&path, &WriteOptions::default())?;
//! book.each(Scope::Reachable, &Progress::none(), &mut |record| Ok(writer.add(record)?))?;
//! assert!(writer.finish()?.positions > 0);
//! # Ok::<_, tabiya::base::error::Error>(())
//! ```
//!
//! Games are opened and iterated:
//!
//! ```
//! use std::ops::ControlFlow;
//! use shakmaty::Move;
//! use tabiya::chess::Position;
//! use tabiya::games::{self, End, Header, GameError, Visitor};
//!
//! #[derive(Default)]
//! struct Plies(u32);
//!
//! impl Visitor for Plies {
//!     fn begin(&mut self, _: &Header) -> bool {
//!         true
//!     }
//!     fn ply(&mut self, _: &Position, _: Move) -> ControlFlow<()> {
//!         self.0 += 1;
//!         ControlFlow::Continue(())
//!     }
//!     fn end(&mut self, _: End) {}
//!     fn unreadable(&mut self, _: GameError) {}
//! }
//!
//! let folder = tempfile::tempdir().expect("a folder");
//! let path = folder.path().join("one.pgn");
//! std::fs::write(&path, "1. e4 e5 2. Nf3 *\n").expect("a file");
//! let (mut games, mut plies) = (games::open(&[path])?, Plies::default());
//! while let Some(batch) = games.next_batch()? {
//!     batch.play(&mut plies);
//! }
//! assert_eq!(plies.0, 3);
//! # Ok::<_, tabiya::base::error::Error>(())
//! ```
#![cfg_attr(
    not(feature = "program"),
    allow(dead_code, unused_imports, reason = "the command line uses them")
)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

#[cfg(feature = "program")]
pub mod adapter;
pub mod base;
pub mod book;
#[cfg(feature = "workshop")]
pub mod bookmaker;
pub mod chess;
pub mod choose;
#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "workshop")]
pub mod edit;
#[cfg(feature = "workshop")]
pub mod engine;
#[cfg(feature = "workshop")]
pub mod evals;
#[cfg(feature = "explore")]
pub mod explore;
#[cfg(feature = "workshop")]
pub mod games;
#[cfg(feature = "workshop")]
pub mod learn;
pub mod openings;
pub mod parquet;
#[cfg(feature = "program")]
pub mod report;
#[cfg(feature = "program")]
pub mod settings;
#[cfg(feature = "program")]
pub mod suite;
#[cfg(feature = "workshop")]
pub mod uci;
#[cfg(feature = "workshop")]
pub mod vet;
#[cfg(feature = "workshop")]
pub mod view;
