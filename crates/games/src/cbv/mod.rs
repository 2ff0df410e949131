//! Archives of ChessBase databases (`.cbv`), read in place. The format is described in `docs/formats/cbv.md`.
//!
//! A member is a run of blocks that unpack on their own. Opening reads the directory, and of the members that are asked for the
//! checksum of each block; reading unpacks the blocks that are needed, of which the last ones are kept. So memory does not
//! grow with the archive, and nothing is written.

pub mod check;
mod directory;
pub mod layout;
mod member;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::Path;

use tabiya_base::file_kind::FileKind;

pub use directory::Cbv;
pub use member::CbvMember;

/// Whether a name is that of an archive.
pub fn is_named(path: &Path) -> bool {
    FileKind::by_name(path) == Some(FileKind::DatabaseArchive)
}
