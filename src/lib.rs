//! tabiya gives any UCI chess engine any opening book.
//!
//! The crate is one executable and its library, so that tests, benches and fuzz targets reach every part. Each floor uses
//! only the floors listed beside it, which are all below it; `tests/floors.rs` reads this table and the `use` lines, and
//! fails where they differ.
//!
//! | floor | contents | uses |
//! |---|---|---|
//! | [`cli`] | the commands: arguments, terminal output, exit codes | adapter, bookmaker, learn, choose, games, book, engine, chess, uci, base |
//! | [`adapter`] | the proxy between a GUI and the child engine | learn, choose, book, engine, chess, uci, base |
//! | [`bookmaker`] | games become counts, counts become weights, weights become a book | games, book, chess, base |
//! | [`learn`] | writes results of games into Polyglot books so that none is lost | book, chess, base |
//! | [`choose`] | turns a book's moves and a policy into chances, and chances into one move | book, chess |
//! | [`games`] | reads streams of games from files, and writes games as PGN | chess, base |
//! | [`book`] | the trait that each book format implements, the formats, several books as one | chess, base |
//! | [`engine`] | starts the child process, notices its end, and makes sure that it does not outlive us | base |
//! | [`chess`] | what shakmaty does not do for us: keys, codes of moves, games in progress | |
//! | [`uci`] | a line, a command, a reply; knows nothing of books | |
//! | [`base`] | bounds-checked reading, maps, atomic replacement of files, sorting, errors, progress | |

pub mod adapter;
pub mod base;
pub mod book;
pub mod bookmaker;
pub mod chess;
pub mod choose;
pub mod cli;
pub mod engine;
pub mod games;
pub mod learn;
pub mod uci;
