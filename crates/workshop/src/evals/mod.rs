//! Evaluations of other programs: [`import`] reads their files into a store, [`export`] writes EPD.

pub mod export;
pub mod import;
