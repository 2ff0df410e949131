//! The pages of a column, cut out of the file and unpacked.
//!
//! The crate's own page reader makes room for whatever a page claims, and unpacks Zstandard by a library in C only.
//! This one makes no more room than the bytes of the file account for, and unpacks by what the executable has for games
//! already.

use std::io::{self, Read};

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::input::Input;
use super::thrift::PageHeader;

/// The most bytes that a page may have, unpacked. DuckDB, whose pages are the largest, ends one at 100 million.
const MOST_PAGE: u64 = 1 << 28;

/// Bytes that are looked at for a page's header: first as many as nearly all have, then as many as one may have that
/// holds the least and the greatest value of its page.
const HEADER_LENS: [u64; 2] = [1 << 8, 1 << 16];

/// Bytes that a value may take in a page, and a page beside its values: a position with its length takes 28, a decimal no
/// more than 20, and what is written as differences is filled up to whole blocks.
const VALUE_LEN: u64 = 40;
const BESIDE_LEN: u64 = 1 << 16;

/// How many times longer than its packed bytes a block can be: a copy of 64 bytes takes Snappy 3 bytes, and LZ4 needs
/// one byte for each 255.
const SNAPPY_RATIO: u64 = 24;
const LZ4_RATIO: u64 = 256;

/// The pages of one column of one row group.
pub struct Pages {
    input: Input,
    at: u64,
    end: u64,
    codec: Compression,
    /// Bytes of a value in a dictionary: what its number of values is measured against.
    value_len: u64,
}

impl Pages {
    /// The pages that lie in these bytes of a file.
    pub fn new(input: Input, at: u64, end: u64, codec: Compression, kind: Type, value_len: u64) -> Self {
        let value_len = match kind {
            Type::INT32 => 4,
            Type::INT64 => 8,
            // The length that stands before it.
            Type::BYTE_ARRAY => 4,
            _ => value_len.max(1),
        };
        Self { input, at, end, codec, value_len }
    }

    fn next_page(&mut self) -> Result<Option<Page>> {
        while self.at < self.end {
            let left = self.end - self.at;
            let (header, header_len) = self.header(left)?;
            let packed = size(header.packed)?;
            if packed > left - header_len {
                return Err(broken("a page ends behind its column"));
            }
            let data = self.input.read(self.at + header_len, packed)?;
            self.at += header_len + packed;
            if let Some(page) = self.page(&header, data)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// The next page's header and its length; the column has so many bytes left.
    fn header(&self, left: u64) -> Result<(PageHeader, u64)> {
        for len in HEADER_LENS {
            if let Some((header, len)) = PageHeader::read(&self.input.read(self.at, len.min(left))?) {
                return Ok((header, len as u64));
            }
        }
        Err(broken("the header of a page is damaged"))
    }

    /// A page as the decoders take it; `None` for one that holds no values.
    fn page(&self, header: &PageHeader, data: Vec<u8>) -> Result<Option<Page>> {
        let unpacked = size(header.unpacked)?;
        if unpacked > MOST_PAGE {
            return Err(broken("a page claims to be larger than 256 MiB"));
        }
        let num_values = number(header.values)?;
        if matches!(header.kind, 0 | 3) && unpacked > BESIDE_LEN + VALUE_LEN * u64::from(num_values) {
            return Err(broken("a page claims more bytes than its values take"));
        }
        let encoding = encoding(header.encoding)?;
        Ok(Some(match header.kind {
            0 => Page::DataPage {
                buf: unpack(self.codec, data, unpacked)?.into(),
                num_values,
                encoding,
                def_level_encoding: self::encoding(header.levels[0])?,
                rep_level_encoding: self::encoding(header.levels[1])?,
                statistics: None,
            },
            2 => {
                let buf = unpack(self.codec, data, unpacked)?;
                if u64::from(num_values) * self.value_len > buf.len() as u64 {
                    return Err(broken("a dictionary claims more values than it has bytes for"));
                }
                Page::DictionaryPage { buf: buf.into(), num_values, encoding, is_sorted: false }
            }
            3 => {
                let [nulls, repeats] = header.level_lens;
                let (nulls, repeats) = (size(nulls)?, size(repeats)?);
                let levels = usize::try_from(nulls + repeats).map_err(|_| broken("a page is damaged"))?;
                let (Some(before), Some(packed)) = (data.get(..levels), data.get(levels..)) else {
                    return Err(broken("a page is shorter than what it claims to begin with"));
                };
                let values = unpacked.checked_sub(levels as u64);
                let values =
                    values.ok_or_else(|| broken("a page is shorter than what it claims to begin with"))?;
                let buf = if header.is_packed && !packed.is_empty() {
                    [before, &unpack(self.codec, packed.to_vec(), values)?].concat()
                } else {
                    data
                };
                Page::DataPageV2 {
                    buf: buf.into(),
                    num_values,
                    encoding,
                    num_nulls: number(header.nulls)?,
                    num_rows: number(header.rows)?,
                    def_levels_byte_len: nulls as u32,
                    rep_levels_byte_len: repeats as u32,
                    is_compressed: false,
                    statistics: None,
                }
            }
            _ => return Ok(None),
        }))
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.next_page()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(broken("pages are read in their order"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(broken("pages are read in their order"))
    }
}

/// What an error says, without the name of its kind.
pub fn plain(error: &ParquetError) -> String {
    let mut text = error.to_string();
    for kind in ["External: ", "Parquet error: ", "EOF: ", "NYI: "] {
        text = text.strip_prefix(kind).map(str::to_owned).unwrap_or(text);
    }
    // The path of a temporary file, which has gone by now.
    text.rfind(" at path \"").map_or(text.clone(), |end| text.get(..end).unwrap_or_default().to_owned())
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

fn size(claimed: i32) -> Result<u64> {
    u64::try_from(claimed).map_err(|_| broken("a page claims a negative length"))
}

fn number(claimed: i32) -> Result<u32> {
    u32::try_from(claimed).map_err(|_| broken("a page claims a negative number of values"))
}

/// How values are written, by the numbers of `parquet.thrift`.
fn encoding(number: i32) -> Result<Encoding> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        #[allow(deprecated, reason = "levels of old files are written so")]
        4 => Encoding::BIT_PACKED,
        _ => return Err(broken("a page's values are written in an unknown way")),
    })
}

/// Whether a column that is packed in this way can be read.
pub fn is_known(codec: Compression) -> bool {
    matches!(
        codec,
        Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_)
            | Compression::LZ4_RAW
    )
}

/// Unpacks a block of which it is known how long it is to be.
fn unpack(codec: Compression, packed: Vec<u8>, len: u64) -> Result<Vec<u8>> {
    let claims = || broken("a page claims more bytes than can be packed in it");
    let most = |ratio| (packed.len() as u64 + 1) * ratio;
    let unpacked = match codec {
        Compression::UNCOMPRESSED => packed,
        _ if len == 0 => Vec::new(),
        Compression::SNAPPY => {
            // The block claims a length of its own, and room is made for that one.
            let claimed = snap::raw::decompress_len(&packed).map_err(|error| broken(&error.to_string()))?;
            if claimed as u64 != len || len > most(SNAPPY_RATIO) {
                return Err(claims());
            }
            snap::raw::Decoder::new().decompress_vec(&packed).map_err(|error| broken(&error.to_string()))?
        }
        Compression::LZ4_RAW => {
            if len > most(LZ4_RATIO) {
                return Err(claims());
            }
            lz4_flex::block::decompress(&packed, len as usize).map_err(|error| broken(&error.to_string()))?
        }
        Compression::GZIP(_) => grown(flate2::bufread::MultiGzDecoder::new(&*packed), len)?,
        Compression::ZSTD(_) => {
            // What the decoder says itself is not for users.
            let damaged = || broken("a page's Zstandard data are damaged");
            let stream = ruzstd::decoding::StreamingDecoder::new(&*packed).map_err(|_| damaged())?;
            grown(stream, len).map_err(|_| damaged())?
        }
        _ => return Err(broken("it is packed in an unknown way")),
    };
    if unpacked.len() as u64 != len {
        return Err(broken("a page is not as long as it claims"));
    }
    Ok(unpacked)
}

/// What a stream gives, no more than one byte behind what is expected of it.
fn grown(stream: impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut into = Vec::new();
    stream.take(len + 1).read_to_end(&mut into)?;
    Ok(into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_plain_text() {
        let disk = std::io::Error::other("no room at path \"/tmp/.tabiya-x.part\"");
        assert_eq!(plain(&ParquetError::External(Box::new(disk))), "no room");
        assert_eq!(plain(&broken("a page claims too much")), "a page claims too much");
        let codec = Compression::ZSTD(parquet::basic::ZstdLevel::default());
        for packed in [&b"\x28\xb5\x2f\xfd\0\0"[..], b"no zstd", b"\x28\xb5\x2f\xfd\x04\x00\xff\xff\xff\xff"]
        {
            let said = plain(&unpack(codec, packed.to_vec(), 9).unwrap_err());
            assert_eq!(said, "a page's Zstandard data are damaged");
        }
    }

    #[test]
    fn a_block_is_as_long_as_it_claims_or_refused() {
        let text = b"e2e4 e2e4 e2e4 e2e4 e2e4 e2e4".repeat(9);
        let len = text.len() as u64;
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        let lz4 = lz4_flex::block::compress(&text);
        for (codec, packed) in [
            (Compression::UNCOMPRESSED, text.clone()),
            (Compression::SNAPPY, snappy),
            (Compression::LZ4_RAW, lz4),
        ] {
            assert_eq!(unpack(codec, packed.clone(), len).unwrap(), text, "{codec:?}");
            for wrong in [1, len - 1, len + 1, 1 << 28] {
                assert!(unpack(codec, packed.clone(), wrong).is_err(), "{codec:?} {wrong}");
            }
        }
        // Five bytes that claim four thousand million.
        assert!(unpack(Compression::SNAPPY, vec![0xff, 0xff, 0xff, 0xff, 0x0f], (1 << 32) - 1).is_err());
        assert!(unpack(Compression::BROTLI(Default::default()), text, len).is_err());
    }

    #[test]
    fn what_a_page_claims_is_measured_before_it_is_unpacked() {
        let snappy = Compression::SNAPPY;
        let pages = Pages::new(Input::memory(Vec::new()), 0, 0, snappy, Type::INT64, 0);
        let packed = snap::raw::Encoder::new().compress_vec(&[0; 1 << 17]).unwrap();
        let refusal =
            |header: PageHeader| pages.page(&header, packed.clone()).err().map(|error| error.to_string());
        let sound =
            PageHeader { unpacked: 1 << 17, values: 1 << 14, is_packed: true, ..PageHeader::default() };
        assert_eq!(refusal(sound), None);
        for (header, what) in [
            (PageHeader { values: 1 << 10, ..sound }, "more bytes than its values take"),
            (PageHeader { values: -1, ..sound }, "a negative number of values"),
            (PageHeader { unpacked: -1, ..sound }, "a negative length"),
            (PageHeader { unpacked: 1 << 29, ..sound }, "larger than 256 MiB"),
            (PageHeader { encoding: 77, ..sound }, "an unknown way"),
            (PageHeader { kind: 2, values: (1 << 14) + 1, ..sound }, "more values than it has bytes for"),
            (PageHeader { kind: 3, level_lens: [1 << 14, 0], ..sound }, "shorter than what it claims"),
        ] {
            assert!(refusal(header).is_some_and(|refusal| refusal.contains(what)), "{what}");
        }
    }
}
