//! The content of compressed files.

use std::io::{self, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use tabiya_base::file_kind::FileKind;

use super::frames::Frames;

/// Memory for decompressing an xz file, in KiB: twice what its highest level needs.
const XZ_MEMORY: u32 = 1 << 17;

/// The content of a file that is compressed in this way.
///
/// # Errors
/// When its first bytes cannot be read.
pub(super) fn unpacked(
    file: BufReader<impl Read + Send + 'static>,
    kind: FileKind,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match kind {
        FileKind::Gzip => Box::new(MultiGzDecoder::new(file)),
        FileKind::Zstandard => Box::new(Frames::new(file)?),
        FileKind::Xz => Box::new(Xz(XzReader::new_mem_limit(file, true, XZ_MEMORY))),
        FileKind::Bzip2 => Box::new(MultiBzDecoder::new(file)),
        _ => Box::new(file),
    })
}

/// An xz file, with errors for users.
struct Xz<R: Read>(XzReader<R>);

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "it is cut off",
                io::ErrorKind::OutOfMemory => {
                    "it takes more than 128 MiB to unpack: unpack it with another program first"
                }
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => "its xz data are damaged",
                _ => return error,
            };
            io::Error::new(error.kind(), what)
        })
    }
}
