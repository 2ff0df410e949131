//! Zstandard files, read by the reference implementation, a library in C: as fast as `zstdcat`.

use std::io::{self, BufRead, Read};

use zstd::stream::read::Decoder;

use super::limits::{ZSTD_WINDOW_LOG, cut, damaged, too_long};

/// What the library says of a frame whose window is too large.
const TOO_MUCH: &str = "Frame requires too much memory";

/// A Zstandard file: a sequence of frames. A frame whose window is larger than 128 MiB, as `zstd --ultra --long=31` makes
/// them, is refused: it would take as much memory.
pub(super) struct Frames<R: BufRead>(Decoder<'static, R>);

impl<R: BufRead> Frames<R> {
    /// Reads a file of frames.
    ///
    /// # Errors
    /// When the memory of the decoder is not available.
    pub fn new(file: R) -> io::Result<Self> {
        let mut decoder = Decoder::with_buffer(file)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        Ok(Self(decoder))
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => cut(),
            // What the library reports; errors of the file have other kinds.
            io::ErrorKind::Other => {
                log::debug!("Zstandard: {error}");
                // The library gives its reasons as texts alone.
                if error.to_string().contains(TOO_MUCH) { too_long() } else { damaged() }
            }
            _ => error,
        })
    }
}
