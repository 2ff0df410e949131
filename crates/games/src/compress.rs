//! Compressing files while they are written. [`super::open()`] reads them.

use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use tabiya_base::error::{Error, Result};
use tabiya_base::replace::Replacement;

/// Bytes of a Zstandard frame before compression: several frames keep memory bounded.
const FRAME_LEN: usize = 1 << 22;

/// How a file of games is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// With gzip.
    Gzip,
    /// With Zstandard.
    Zstd,
}

impl Compression {
    /// The compression that the name of a PGN file asks for; `None` if it is not the name of a PGN file.
    ///
    /// ```
    /// use tabiya_games::compress::Compression;
    /// assert_eq!(Compression::named("a.PGN.gz".as_ref()), Some(Compression::Gzip));
    /// assert_eq!(Compression::named("a.gz".as_ref()), None);
    /// ```
    pub fn named(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = [(".pgn", Self::None), (".pgn.gz", Self::Gzip), (".pgn.zst", Self::Zstd)];
        ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, compression)| compression)
    }
}

/// A file that is compressed while it is written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Compressor {
    /// Not compressed.
    None(Replacement),
    /// With gzip.
    Gzip(GzEncoder<Replacement>),
    /// With Zstandard.
    Zstd(BufWriter<Frames>),
}

/// Writes each piece as a Zstandard frame.
#[derive(Debug)]
pub struct Frames(Replacement);

impl Compressor {
    /// Compresses what is written into a file.
    pub fn new(file: Replacement, compression: Compression) -> Self {
        match compression {
            Compression::None => Self::None(file),
            Compression::Gzip => Self::Gzip(GzEncoder::new(file, GzipLevel::default())),
            Compression::Zstd => Self::Zstd(BufWriter::with_capacity(FRAME_LEN, Frames(file))),
        }
    }

    /// The file.
    pub fn get_ref(&self) -> &Replacement {
        match self {
            Self::None(file) => file,
            Self::Gzip(encoder) => encoder.get_ref(),
            Self::Zstd(frames) => &frames.get_ref().0,
        }
    }

    /// Writes what is left, and returns the file to be committed.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub fn finish(self) -> Result<Replacement> {
        let path = self.get_ref().target().to_owned();
        let finished = match self {
            Self::None(file) => Ok(file),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(frames) => {
                frames.into_inner().map(|frames| frames.0).map_err(IntoInnerError::into_error)
            }
        };
        finished.map_err(|error| Error::file(path, "cannot write the file", error))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::None(file) => file,
            Self::Gzip(encoder) => encoder,
            Self::Zstd(frames) => frames,
        }
    }
}

impl Write for Compressor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(&compress_to_vec(bytes, CompressionLevel::Fastest))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompress::decompressed;
    use std::io::Read;

    #[test]
    fn compressed_files_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let line = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1/2-1/2\n";
        let text: Vec<u8> = line.iter().copied().cycle().take(FRAME_LEN + 1000).collect();
        for (name, start) in
            [("a.pgn", &line[..4]), ("a.pgn.gz", &[0x1f, 0x8b]), ("a.pgn.zst", &[0x28, 0xb5, 0x2f, 0xfd])]
        {
            let path = folder.path().join(name);
            let compression = Compression::named(&path).unwrap();
            let mut file = Compressor::new(Replacement::new(&path, false).unwrap(), compression);
            text.chunks(100_000).for_each(|part| file.write_all(part).unwrap());
            file.finish().unwrap().commit().unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(start), "{name}");
            let mut read = Vec::new();
            decompressed(std::fs::File::open(&path).unwrap()).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == text, "{name}");
        }
    }
}
