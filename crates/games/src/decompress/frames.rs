//! Zstandard files, read by a decoder in Rust: half as fast as [the library in C](super::frames), and without it nothing needs
//! a C compiler.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::limits::{ZSTD_WINDOW_LOG, cut, damaged, too_long};

/// The end of a Zstandard frame: an empty last block (RFC 8878), and room for a checksum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// A Zstandard file: a sequence of frames.
pub(super) struct Frames<R: BufRead> {
    file: R,
    decoder: FrameDecoder,
    /// Whether a frame is being read.
    inside: bool,
    /// The error of a file that ends within the frame, reported after the content.
    cut: Option<io::Error>,
}

impl<R: BufRead> Frames<R> {
    /// Reads a file of frames. Nothing can fail before the first read.
    #[expect(clippy::unnecessary_wraps, reason = "the decoder of the C library may lack memory")]
    pub fn new(file: R) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(1 << ZSTD_WINDOW_LOG);
        Ok(Self { file, decoder, inside: false, cut: None })
    }

    /// Begins the next frame; `false` at the end of the file.
    fn next(&mut self) -> io::Result<bool> {
        while !self.file.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.file) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.file).take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(cut());
                    }
                }
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(false)
    }

    /// Decodes some more of a frame. Where the file is cut off, an end of our own makes the decoder release what it
    /// holds back for later references, before the error is reported.
    fn decode(&mut self) -> io::Result<()> {
        let one = || BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.file, one()) else { return Ok(()) };
        let error = if self.file.fill_buf()?.is_empty() { cut() } else { broken(error) };
        if error.kind() != io::ErrorKind::UnexpectedEof
            || self.decoder.decode_blocks(&mut &END[..], one()).is_err()
        {
            return Err(error);
        }
        self.cut = Some(error);
        Ok(())
    }

    /// Ends a frame whose content was read.
    fn end(&mut self) -> io::Result<()> {
        self.inside = false;
        if let Some(error) = self.cut.take() {
            return Err(error);
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(counted)) if stored != counted => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum is wrong"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside && !self.next()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decode()?;
            }
            match self.decoder.read(into)? {
                0 => self.end()?,
                read => return Ok(read),
            }
        }
    }
}

fn broken(error: FrameDecoderError) -> io::Error {
    // The decoder's own message is not for users.
    log::debug!("Zstandard: {error}");
    if matches!(error, FrameDecoderError::WindowSizeTooBig { .. }) { too_long() } else { damaged() }
}
