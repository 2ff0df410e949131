//! The content of compressed files.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::frames::Frames;
use super::{GZIP, XZ, ZSTD, is_bzip2, is_skippable};

/// Memory for decompressing an xz file, in KiB: twice what its highest level needs.
const XZ_MEMORY: u32 = 1 << 17;

/// The content of a compressed file.
///
/// # Errors
/// When its first bytes cannot be read.
pub(super) fn unpacked(mut file: BufReader<impl Read + Send + 'static>) -> io::Result<Box<dyn Read + Send>> {
    let start = file.fill_buf()?;
    if start.starts_with(&GZIP) {
        Ok(Box::new(MultiGzDecoder::new(file)))
    } else if start.starts_with(&ZSTD) || is_skippable(start) {
        Ok(Box::new(Frames::new(file)?))
    } else if start.starts_with(&XZ) {
        Ok(Box::new(Xz(XzReader::new_mem_limit(file, true, XZ_MEMORY))))
    } else if is_bzip2(start) {
        Ok(Box::new(MultiBzDecoder::new(file)))
    } else {
        Ok(Box::new(file))
    }
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
