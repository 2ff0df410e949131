//! Files that are packed while they are written: the other side of what [`super::open()`] unpacks.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::base::error::{Error, Result};
use crate::base::replace::Replacement;

/// Bytes of a Zstandard frame before they are packed: frames follow each other, so that memory is bounded.
const FRAME_LEN: usize = 1 << 22;

/// How a file of games is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// With gzip.
    Gzip,
    /// With Zstandard.
    Zstd,
}

impl Packing {
    /// What the end of the name of a PGN file asks for; `None` where it is not that of a PGN file.
    ///
    /// ```
    /// use tabiya::games::pack::Packing;
    /// assert_eq!(Packing::named("a.PGN.gz".as_ref()), Some(Packing::Gzip));
    /// assert_eq!(Packing::named("a.gz".as_ref()), None);
    /// ```
    pub fn named(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = [(".pgn", Self::None), (".pgn.gz", Self::Gzip), (".pgn.zst", Self::Zstd)];
        ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, packing)| packing)
    }
}

/// A file that is being written, packed.
#[derive(Debug)]
pub enum Packed {
    /// As it comes.
    None(Replacement),
    /// With gzip.
    Gzip(GzEncoder<Replacement>),
    /// With Zstandard; what waits for its frame.
    Zstd(Replacement, Vec<u8>),
}

impl Packed {
    /// Packs what is written into a file.
    pub fn new(file: Replacement, packing: Packing) -> Self {
        match packing {
            Packing::None => Self::None(file),
            Packing::Gzip => Self::Gzip(GzEncoder::new(file, Compression::default())),
            Packing::Zstd => Self::Zstd(file, Vec::with_capacity(FRAME_LEN)),
        }
    }

    /// The file.
    pub fn get_ref(&self) -> &Replacement {
        match self {
            Self::None(file) | Self::Zstd(file, _) => file,
            Self::Gzip(encoder) => encoder.get_ref(),
        }
    }

    /// Writes out what is left; the file is given back, to be put in its place.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub fn finish(mut self) -> Result<Replacement> {
        let path = self.get_ref().target().to_owned();
        let cannot = |error| Error::file(path, "cannot write the file", error);
        match self.flush_frame() {
            Err(error) => Err(cannot(error)),
            Ok(()) => match self {
                Self::None(file) | Self::Zstd(file, _) => Ok(file),
                Self::Gzip(encoder) => encoder.finish().map_err(cannot),
            },
        }
    }

    /// Writes the frame that waits.
    fn flush_frame(&mut self) -> io::Result<()> {
        let Self::Zstd(file, waiting) = self else { return Ok(()) };
        if !waiting.is_empty() {
            file.write_all(&compress_to_vec(&waiting[..], CompressionLevel::Fastest))?;
            waiting.clear();
        }
        Ok(())
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(_, waiting) => {
                let room = FRAME_LEN.saturating_sub(waiting.len()).max(1);
                let taken = bytes.get(..room).unwrap_or(bytes);
                waiting.extend_from_slice(taken);
                if waiting.len() >= FRAME_LEN {
                    self.flush_frame()?;
                }
                Ok(taken.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::None(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            // A frame is written when it is full, or at the end.
            Self::Zstd(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::unpack::unpacked;
    use std::io::Read;

    #[test]
    fn what_is_packed_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let line = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1/2-1/2\n";
        let text: Vec<u8> = line.iter().copied().cycle().take(FRAME_LEN + 1000).collect();
        for (name, start) in
            [("a.pgn", &line[..4]), ("a.pgn.gz", &[0x1f, 0x8b]), ("a.pgn.zst", &[0x28, 0xb5, 0x2f, 0xfd])]
        {
            let path = folder.path().join(name);
            let packing = Packing::named(&path).unwrap();
            let mut file = Packed::new(Replacement::new(&path, false).unwrap(), packing);
            text.chunks(100_000).for_each(|part| file.write_all(part).unwrap());
            file.finish().unwrap().commit().unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(start), "{name}");
            let mut read = Vec::new();
            unpacked(std::fs::File::open(&path).unwrap()).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == text, "{name}");
        }
    }
}
