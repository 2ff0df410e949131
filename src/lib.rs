//! tabiya gives any UCI chess engine any opening book.
//!
//! The crate is one executable with a library behind it, so that its tests, benches and fuzz targets
//! reach every part. A module uses only the modules below it:
//!
//! | floor | what it holds |
//! |---|---|
//! | [`cli`] | the commands: arguments, terminal output, exit codes |
//! | [`adapter`] | the proxy between a GUI and the child engine |
//! | [`build`] | games become counts, counts become weights, weights become a book |
//! | [`games`] | streams of games out of files |
//! | [`choose`] | a book's moves and a policy become chances, and one move |
//! | [`learn`] | results of games into Polyglot books, so that nothing is lost |
//! | [`book`] | the trait every book format implements, the formats, the shelf |
//! | [`chess`] and [`uci`] | positions and keys; lines and words. They do not know each other |
//! | [`base`] | bounds-checked reading, memory maps, errors, progress |
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod adapter;
pub mod base;
pub mod book;
pub mod build;
pub mod chess;
pub mod choose;
pub mod cli;
pub mod games;
pub mod learn;
pub mod uci;
