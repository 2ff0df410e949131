//! The commands: one file or folder each, with its arguments and its `run`.

pub mod build;
pub mod check;
pub mod completions;
pub mod convert;
pub mod diff;
pub(crate) mod doctor;
pub mod edit;
pub mod explore;
pub mod export;
pub mod grow;
pub mod help;
pub mod import;
pub mod info;
pub mod init;
pub mod learn;
pub mod play;
pub mod report;
pub mod show;
pub mod suite;
pub mod tree;
pub mod vet;
