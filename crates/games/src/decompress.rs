//! Decompressing files while they are read: never to the disk, never whole into memory.

#[cfg(feature = "archives")]
#[cfg_attr(feature = "zstd", path = "decompress/library.rs")]
mod frames;
#[cfg(feature = "archives")]
mod limits;
#[cfg(feature = "archives")]
mod unpack;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use tabiya_base::file_kind::{FileKind, START_LEN};

#[cfg(feature = "archives")]
use unpack::unpacked;

/// Bytes read from the disk at a time.
const BLOCK_LEN: usize = 1 << 17;

/// The content of a file. Its first bytes tell whether it is compressed with gzip, Zstandard, bzip2, xz, or not at all.
///
/// # Errors
/// When the first bytes cannot be read.
pub(crate) fn decompressed(file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut file = BufReader::with_capacity(BLOCK_LEN, file);
    match FileKind::by_start(file.fill_buf()?).filter(|kind| kind.is_compressed()) {
        Some(kind) => unpacked(file, kind),
        None => Ok(Box::new(file)),
    }
}

/// The content of a compressed file, which nothing here can read.
#[cfg(not(feature = "archives"))]
fn unpacked(_: impl BufRead, _: FileKind) -> io::Result<Box<dyn Read + Send>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "it is compressed: unpack it first"))
}

/// The kind of a file that can be read, by its first bytes.
pub(crate) fn kind_of(path: &Path) -> Option<FileKind> {
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(START_LEN as u64).read_to_end(&mut start).ok()?;
    FileKind::by_start(&start)
}

/// The rest of a file that cannot be read: an error, and then the end.
pub(super) struct Failing(pub(super) Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
#[cfg(feature = "archives")]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    /// `printf 'one two three\n' | xz`, with a dictionary of 8 MiB.
    const XZ_TEXT: &[u8] = include_bytes!("decompress/words.xz");

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decompressed(io::Cursor::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn text() -> Vec<u8> {
        (0..60_000_u32).flat_map(|number| number.to_string().into_bytes()).collect()
    }

    #[test]
    fn a_file_of_one_part_and_of_several_is_read_whole() {
        let text = text();
        let twice = [&text[..], &text].concat();
        assert_eq!(read(text.clone()).unwrap(), text);
        for pack in [gzip, zstd, bzip2] {
            assert_eq!(read(pack(&text)).unwrap(), text);
            assert_eq!(read([pack(&text), pack(&text)].concat()).unwrap(), twice);
        }
        assert_eq!(read(Vec::new()).unwrap(), b"");
    }

    #[test]
    fn xz_files_are_read_and_their_damage_found() {
        let text = b"one two three\n".repeat(2000);
        assert_eq!(read(XZ_TEXT.to_vec()).unwrap(), text);
        assert_eq!(read([XZ_TEXT, XZ_TEXT].concat()).unwrap(), text.repeat(2));
        for at in 0..XZ_TEXT.len() {
            let mut bytes = XZ_TEXT.to_vec();
            bytes[at] ^= 0x41;
            // Without its sign it is no xz file.
            assert!(at < 6 || read(bytes).is_err(), "{at}");
            assert!(at < 6 || read(XZ_TEXT[..at].to_vec()).is_err(), "{at}");
        }
    }

    #[test]
    fn an_xz_file_that_needs_gigabytes_is_refused() {
        // The property of the dictionary's size in the header of the first block, 39 is 3 GiB; and its checksum.
        let mut bytes = XZ_TEXT.to_vec();
        let header = &mut bytes[12..24];
        assert_eq!(header[..4], [2, 0, 0x21, 1]);
        header[4] = 39;
        let checksum = crc32fast::hash(&header[..8]);
        header[8..].copy_from_slice(&checksum.to_le_bytes());
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains("128 MiB"), "{error}");
    }

    #[test]
    fn errors_are_plain_text() {
        let zstd = zstd(&text());
        for (bytes, what) in [
            (zstd[..zstd.len() / 2].to_vec(), "it is cut off"),
            // A block of a reserved type.
            (b"\x28\xb5\x2f\xfd\x00\x58\x07\x00\x00 and more".to_vec(), "its Zstandard data are damaged"),
        ] {
            assert_eq!(read(bytes).unwrap_err().to_string(), what);
        }
    }

    #[test]
    fn text_that_begins_like_a_compressed_file_is_text() {
        for text in ["BZh9 is no move", "BZh", "7zXZ", "PK"] {
            assert_eq!(read(text.into()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn a_zstandard_file_that_needs_more_than_128_mib_is_refused_with_the_reason() {
        // A frame whose header has only the descriptor of a window: 2^(10 + 5 bits) + 3 bits of eighths; and a raw last block.
        let frame = |window: u8| [b"\x28\xb5\x2f\xfd", &[0, window][..], b"\x09\0\0x"].concat();
        assert_eq!(read(frame(17 << 3)).unwrap(), b"x");
        for window in [17 << 3 | 1, 18 << 3, 21 << 3, 21 << 3 | 7] {
            for bytes in [frame(window), [zstd(b"y"), frame(window)].concat()] {
                let error = read(bytes).unwrap_err().to_string();
                assert!(error.contains("128 MiB") && error.contains("unpack it"), "{window}: {error}");
            }
        }
        // Windows that zstd itself does not make.
        assert!(read(frame(22 << 3)).unwrap_err().to_string().contains("128 MiB"));
    }

    #[test]
    fn skippable_frames_are_skipped() {
        let skipped = b"\x5e\x2a\x4d\x18\x03\0\0\0abc";
        assert_eq!(read([skipped, &zstd(b"x")[..], skipped].concat()).unwrap(), b"x");
        let cut = b"\x5e\x2a\x4d\x18\xff\xff\xff\xffabc";
        assert!(read(cut.to_vec()).is_err());
    }

    #[test]
    fn a_cut_or_changed_file_is_an_error_after_what_came_before() {
        let text = text();
        for pack in [gzip, zstd, bzip2] {
            let packed = pack(&text);
            for len in [packed.len() / 2, packed.len() - 1] {
                let mut decoder = decompressed(io::Cursor::new(packed[..len].to_vec())).unwrap();
                let mut read = Vec::new();
                assert!(decoder.read_to_end(&mut read).is_err(), "{len}");
                assert!(text.starts_with(&read));
                // The part that is cut, a block of 128 KiB at most, and no more than that, is lost.
                assert!(read.len() + (1 << 17) > text.len() * len / packed.len(), "{} of {len}", read.len());
            }
        }
    }
}
