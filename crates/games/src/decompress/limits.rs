//! What is too much of a Zstandard file, and how one that cannot be read is reported.

use std::io;

/// The most memory that decompressing a Zstandard file may take, as a power of two: 128 MiB, as the program zstd allows by
/// default.
pub(super) const ZSTD_WINDOW_LOG: u32 = 27;

/// The error of Zstandard data that refer back further than is kept in memory.
pub(super) fn too_long() -> io::Error {
    let what =
        "it takes more than 128 MiB to unpack (its window is larger): unpack it with another program first";
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}

/// The error of damaged Zstandard data.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its Zstandard data are damaged")
}

pub(super) fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut off")
}
