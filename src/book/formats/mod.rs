//! The book formats, each a folder of its own; [`crate::book::open`] is the only place that names them all.

pub mod abk;
pub mod counts;
pub mod ctg;
pub mod kvetka;
pub mod polyglot;
