#![doc = include_str!("../README.md")]
#![warn(missing_docs, missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub use tabiya_base::error::{Error, ErrorKind};

pub mod bookmaker;
mod changed;
pub mod edit;
pub mod evals;
pub mod expected;
pub mod gaps;
pub mod grow;
mod pairs;
pub mod report;
pub mod source;
pub mod suite;
pub mod values;
pub mod vet;
pub mod view;
