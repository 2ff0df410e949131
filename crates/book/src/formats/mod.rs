//! The book formats, one folder each. Only [`mod@crate::book::open`] and [`crate::book::Format`] name all of them.

pub mod abk;
pub mod counts;
pub mod ctg;
pub mod kvetka;
pub mod polyglot;
