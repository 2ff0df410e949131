//! PGN files in ZIP archives, decompressed while they are read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;
use zip::read::Config;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, ZipReadOptions};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, Result};

use super::Member;
use crate::decode_text;

/// The most PGN files read from one archive; real ones have a few hundred.
const MAX_MEMBERS: usize = 1 << 16;

const UNPACK: &str = "unpack it first";

/// The PGN files of an archive, in its order.
///
/// # Errors
/// When the archive cannot be read, or holds one that is encrypted or compressed in a rare way.
pub(crate) fn members(path: &Path) -> Result<Vec<Member>> {
    let damaged = |error: ZipError| match error {
        ZipError::Io(error) => Error::file(path, "cannot read the archive", error),
        _ => Error::format(path, "this archive is damaged").advice(UNPACK),
    };
    let open = || File::open(path).map_err(|error| Error::file(path, "cannot open the file", error));
    let mut body = open()?;
    let mut archive = ZipIterable::try_new(BufReader::new(open()?), Config::default()).map_err(damaged)?;
    let mut members = Vec::new();
    for entry in archive.files().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let within = decode_text(entry.name_raw()).into_owned();
        let name = within.rsplit(['/', '\\']).next().unwrap_or(&within);
        // macOS keeps facts about other files under such names.
        if name.starts_with("._") || !name.to_lowercase().ends_with(".pgn") {
            continue;
        }
        let refuse =
            |what: &str| Err(Error::format(path, format!("{} {what}", shown(&within))).advice(UNPACK));
        let (compressed, len, crc) = (entry.compressed_size(), entry.size(), entry.crc32());
        let deflated = match entry.compression() {
            _ if entry.encrypted() => return refuse("in this archive is encrypted"),
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            _ => return refuse("in this archive is compressed in an unsupported way"),
        };
        if members.len() == MAX_MEMBERS {
            return Err(Error::format(path, "this archive holds too many files").advice(UNPACK));
        }
        let at = entry.with_reader(&mut body, ZipReadOptions::new()).map_err(damaged)?.data_start();
        let Some(at) = at else { return refuse("cannot be found in this archive") };
        let name = within.split(['/', '\\']).filter(|part| !["", ".", ".."].contains(part));
        let name = name.fold(path.to_owned(), |path, part| path.join(shown(part)));
        members.push(Member { name, compressed, archive: path.to_owned(), at, len, crc, deflated });
    }
    Ok(members)
}

/// A name without characters that would garble messages.
fn shown(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() || letter == ':' { '_' } else { letter }).collect()
}

impl Member {
    /// Opens the file; `counting` wraps the reader of its bytes on the disk.
    ///
    /// # Errors
    /// When the archive cannot be opened.
    pub fn open<R: Read + Send + 'static>(
        &self,
        counting: impl FnOnce(io::Take<File>) -> R,
    ) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.archive)?;
        file.seek(SeekFrom::Start(self.at))?;
        let compressed = BufReader::with_capacity(1 << 17, counting(file.take(self.compressed)));
        let from: Box<dyn Read + Send> =
            if self.deflated { Box::new(DeflateDecoder::new(compressed)) } else { Box::new(compressed) };
        Ok(Box::new(Checked { from, crc: Hasher::new(), expected: self.crc, left: self.len }))
    }
}

/// Compares content with its expected length and checksum.
struct Checked {
    from: Box<dyn Read + Send>,
    crc: Hasher,
    expected: u32,
    left: u64,
}

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.crc.update(into.part(..read));
        let wrong = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        match self.left.checked_sub(read as u64) {
            None => return wrong("the file is longer than the archive says"),
            Some(left) => self.left = left,
        }
        match read {
            0 if into.is_empty() => Ok(0),
            0 if self.left > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            0 if self.crc.clone().finalize() != self.expected => wrong("the checksum is wrong"),
            read => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::is_zip;
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn archive(folder: &Path, files: &[(&str, &[u8])]) -> PathBuf {
        let path = folder.join("a.zip");
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        for (number, (name, text)) in files.iter().enumerate() {
            let method =
                [CompressionMethod::Deflated, CompressionMethod::Stored].into_iter().nth(number % 2).unwrap();
            zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            zip.write_all(text).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    fn read(member: &Member) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        member.open(|file| file)?.read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn the_pgn_files_of_an_archive_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"1. e4 e5 *\n\n".repeat(9000);
        let path = archive(
            folder.path(),
            &[("b.pgn", &text), ("x/../a.PGN", b"1. d4 *"), ("readme.txt", b"no"), ("/etc/c.pgn", b"")],
        );
        assert!(is_zip(&path));
        let found = members(&path).unwrap();
        let names: Vec<_> = found.iter().map(|member| member.name.clone()).collect();
        assert_eq!(names, [path.join("b.pgn"), path.join("x").join("a.PGN"), path.join("etc").join("c.pgn")]);
        let texts: Vec<_> = found.iter().map(|member| read(member).unwrap()).collect();
        assert_eq!(texts, [text, b"1. d4 *".to_vec(), Vec::new()]);
        assert!(found[0].compressed < 1000);
    }

    #[test]
    fn broken_archives_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), &[("readme.txt", b"no")]);
        assert!(members(&path).unwrap().is_empty());
        let text: Vec<u8> = (0..20_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        let path = archive(folder.path(), &[("a.pgn", &text)]);
        let sound = std::fs::read(&path).unwrap();
        // With any byte changed, the result is an error or the text.
        for at in (0..sound.len()).step_by(97).chain(sound.len() - 90..sound.len()) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x55;
            std::fs::write(&path, bytes).unwrap();
            if let Ok(members) = members(&path) {
                for member in members {
                    if let Ok(read) = read(&member) {
                        assert!(read == text, "byte {at}");
                    }
                }
            }
        }
        for len in (0..sound.len()).step_by(997) {
            std::fs::write(&path, &sound[..len]).unwrap();
            assert!(members(&path).is_err());
        }
    }
}
