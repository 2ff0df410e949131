//! Arguments that several commands share.

pub mod adapter;
pub mod policy;
pub mod positions;
pub mod resources;
