//! The book formats, one folder each. Only [`mod@crate::open`] and [`crate::Format`] name all of them.

pub mod abk;
pub mod counts;
pub mod ctg;
pub mod exp;
pub mod kvetka;
pub mod obk;
pub mod polyglot;
