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

#[cfg(feature = "archives")]
use unpack::unpacked;

/// Bytes read from the disk at a time.
const BLOCK_LEN: usize = 1 << 17;

/// Bytes at the start of a file that tell how it is compressed.
const START_LEN: u64 = 16;

/// The first bytes of a gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of a Zstandard frame (RFC 8878), little-endian 0xFD2FB528.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes 1 to 3 of a skippable frame, whose first byte is 0x50 to 0x5F (RFC 8878).
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
/// The first bytes of an xz file.
const XZ: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
/// The first bytes of a bzip2 file; a digit follows.
const BZIP2: &[u8] = b"BZh";
/// The bytes after that digit: the start of the first block, or the end of an empty file.
const BZIP2_BLOCKS: [&[u8; 6]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

/// The content of a file. Its first bytes tell whether it is compressed with gzip, Zstandard, bzip2, xz, or not at all.
///
/// # Errors
/// When the first bytes cannot be read.
pub(crate) fn decompressed(file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut file = BufReader::with_capacity(BLOCK_LEN, file);
    if is_packed(file.fill_buf()?) { unpacked(file) } else { Ok(Box::new(file)) }
}

/// Whether a compressed file begins with these bytes.
fn is_packed(start: &[u8]) -> bool {
    start.starts_with(&GZIP)
        || start.starts_with(&ZSTD)
        || is_skippable(start)
        || start.starts_with(&XZ)
        || is_bzip2(start)
}

/// The content of a compressed file, which nothing here can read.
#[cfg(not(feature = "archives"))]
fn unpacked(_: impl BufRead) -> io::Result<Box<dyn Read + Send>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "it is compressed: unpack it first"))
}

/// Whether a file can be read and is compressed.
pub(crate) fn is_compressed(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START_LEN).read_to_end(&mut start));
    read.is_ok() && is_packed(&start)
}

/// Whether a Zstandard frame to be skipped begins with these bytes.
fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [first, rest @ ..] if first & 0xf0 == 0x50 && rest.starts_with(&SKIPPABLE))
}

fn is_bzip2(start: &[u8]) -> bool {
    let block = start.strip_prefix(BZIP2).and_then(|rest| rest.get(1..)).unwrap_or_default();
    BZIP2_BLOCKS.iter().any(|sign| block.starts_with(*sign))
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
            assert!(at < XZ.len() || read(bytes).is_err(), "{at}");
            assert!(at < XZ.len() || read(XZ_TEXT[..at].to_vec()).is_err(), "{at}");
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
        let frame = |window: u8| [&ZSTD[..], &[0, window], b"\x09\0\0x"].concat();
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
