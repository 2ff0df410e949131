//! Zstandard files, read by the reference implementation, a library in C: as fast as `zstdcat`.

use std::io::{self, BufRead, Read};

use zstd::stream::read::Decoder;

use super::{cut, damaged};

/// A Zstandard file: a sequence of frames. A frame whose window is larger than 128 MiB, as `zstd --ultra --long=31` makes
/// them, counts as damaged: it would take as much memory.
pub(super) struct Frames<R: BufRead>(Decoder<'static, R>);

impl<R: BufRead> Frames<R> {
    /// Reads a file of frames.
    ///
    /// # Errors
    /// When the memory of the decoder is not available.
    pub fn new(file: R) -> io::Result<Self> {
        Ok(Self(Decoder::with_buffer(file)?))
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => cut(),
            // What the library reports; errors of the file have other kinds.
            io::ErrorKind::Other => {
                log::debug!("Zstandard: {error}");
                damaged()
            }
            _ => error,
        })
    }
}
