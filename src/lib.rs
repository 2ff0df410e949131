//! tabiya gives any UCI chess engine any opening book.
//!
//! The crate is one executable and the library that it is made of, so that tests, benches and fuzz targets reach
//! every part. Each floor of the house uses only the floors named beside it, which all lie below; `tests/floors.rs` reads
//! this table and the `use` lines, and fails where they differ.
//!
//! | floor | what it holds | uses |
//! |---|---|---|
//! | [`cli`] | the commands: arguments, terminal output, exit codes | adapter, bookmaker, learn, choose, games, book, engine, chess, uci, base |
//! | [`adapter`] | the proxy between a GUI and the child engine | learn, choose, book, engine, chess, uci, base |
//! | [`bookmaker`] | games become counts, counts become weights, weights become a book | games, book, chess, base |
//! | [`learn`] | results of games go into Polyglot books, so that nothing is lost | book, chess, base |
//! | [`choose`] | a book's moves and a policy become chances, and chances one move | book, chess |
//! | [`games`] | streams of games out of files, and games written as PGN | chess, base |
//! | [`book`] | the trait that each book format implements, the formats, several books as one | chess, base |
//! | [`engine`] | the child process: it is started, its end is noticed, and it does not outlive us | base |
//! | [`chess`] | what shakmaty does not do for us: keys, codes of moves, games that go on | |
//! | [`uci`] | a line, a command, a reply; it knows nothing of books | |
//! | [`base`] | bounds-checked reading, maps, files that are written whole, sorting, errors, progress | |

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
