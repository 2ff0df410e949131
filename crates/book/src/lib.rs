#![doc = include_str!("../README.md")]
//!
//! The modules: what a book says of positions, the files of a book, and what a book knows of a move.
#![warn(missing_docs, missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

// The helpers of tests name this crate as other crates do.
#[cfg(test)]
extern crate self as tabiya_book;

mod book;
mod book_folder;
mod book_set;
#[doc(hidden)]
pub mod choose;
#[cfg(feature = "write")]
mod create;
mod driver;
#[doc(hidden)]
pub mod edit;
mod evaluations;
mod facts;
mod format;
#[doc(hidden)]
pub mod formats;
mod game;
mod internal;
#[cfg(feature = "serde")]
mod json;
mod open;
mod other_rules;
mod policy;
mod positions;
mod record;
mod slice;
mod sorted;
#[cfg(test)]
pub(crate) mod tests;
#[doc(hidden)]
pub mod traits;
#[doc(hidden)]
pub mod traverse;
#[doc(hidden)]
pub mod verdict;
#[cfg(feature = "write")]
mod write;

pub use book::{Book, OpenOptions, open, starter};
#[cfg(feature = "write")]
pub use create::{CreateOptions, NewBook, create};
pub use facts::{Annotation, Counts, Learned, MoveFacts, Ratings, Recommendation};
pub use format::Format;
pub use policy::{Policy, Weights};
pub use positions::{PositionFacts, Positions};
pub use tabiya_chess::{FenError, Position, Variant};
#[cfg(feature = "write")]
pub use write::Written;

tabiya_base::public_error!();

// What the other crates of tabiya need: no promise.
#[doc(hidden)]
pub use internal::*;
