//! The pages of a column, read from the file and decompressed.
//!
//! The crate `parquet` decodes the values of pages, but it never sees a footer or a page header that others wrote. Its
//! reader of these (as of 60.1.0) can end the process, or keep it busy forever (docs/parquet-defects.md has inputs):
//!
//! - it reserves memory for as many columns as a group claims to have: 16 GB for a footer of 40 bytes;
//! - it descends into nested groups of columns until the stack overflows;
//! - it skips a list of booleans by counting: 2^31 steps for seven bytes;
//! - it reserves the claimed decompressed size of a page, up to 2 GiB, takes what Snappy did not fill for content, and
//!   decompresses gzip without any limit;
//! - it decompresses Zstandard only with a library in C.
//!
//! A check before it does not help, because it reads a field by its number, whatever type the file gives to it. So the
//! crate `polars-parquet-format` reads footers and headers, within a limit of memory, and pages are decompressed here,
//! into no more memory than the bytes of the file account for.
#![allow(clippy::cast_possible_truncation, reason = "a page was found to fit into memory")]

use std::io::{self, Read};
use std::sync::Arc;

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;
use polars_parquet_format::{self as format, CompressionCodec, PageHeader, PageType};

use tabiya_base::blob::Blob;
use tabiya_base::error::{Error, ErrorKind};

use super::checked::checksum;
use super::footer::{self, ByteRange, Chunk};

/// The most bytes that a page may have when decompressed. DuckDB, whose pages are the largest, ends one at 100 million.
const MAX_PAGE: u64 = 1 << 28;

/// Bytes in which a page's header is looked for: first as many as nearly all take, then as many as one may take that holds
/// the least and the greatest value of its page.
const HEADER_LENS: [u64; 2] = [1 << 8, 1 << 16];

/// Bytes of pages that are read at once, headers and all.
const WHOLE_LEN: u64 = 1 << 16;

/// Bytes that a value may take in a page, and that a page may take besides its values: a position with its length takes
/// 28, a decimal no more than 20, and values that are written as differences are padded to whole blocks.
const VALUE_LEN: u64 = 40;
const BESIDE_LEN: u64 = 1 << 16;

/// How many times longer than its compressed bytes a block can be: Snappy copies 64 bytes with 3 bytes, and LZ4 255 bytes
/// with one.
const SNAPPY_RATIO: u64 = 24;
const LZ4_RATIO: u64 = 256;

/// The names of the codecs, by their numbers in `parquet.thrift`.
const CODECS: [&str; 8] = ["no codec", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"];

/// The bytes of a file from `at` on.
///
/// # Errors
/// When the file cannot be read, or ends before.
pub fn read(file: &Blob, at: u64, len: u64) -> tabiya_base::error::Result<Vec<u8>> {
    let short = || Error::format(file.path(), "the file ends too early").at_offset(at);
    if at.checked_add(len).is_none_or(|end| end > file.len()) {
        return Err(short());
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(|_| short())?];
    // The file may be shorter than when it was opened.
    if file.read(at, &mut bytes)? < bytes.len() { Err(short()) } else { Ok(bytes) }
}

/// The pages of a column of a row group.
pub struct Pages {
    file: Arc<Blob>,
    chunk: Chunk,
    /// Pages that come after these: those that a dictionary is for.
    then: Option<ByteRange>,
    /// Bytes of a value in a dictionary, which limit its number of values.
    value_len: u64,
    /// Bytes of the file that were read with a header, and where they begin.
    ahead: (u64, Vec<u8>),
}

impl Pages {
    /// The pages of a column.
    ///
    /// # Errors
    /// When they are outside the file, or compressed in an unknown way. The errors name no file.
    pub fn open(
        file: &Arc<Blob>,
        descriptor: &ColumnDescriptor,
        chunk: Chunk,
    ) -> tabiya_base::error::Result<Self> {
        let error = |what: String| Error::new(ErrorKind::Format, what);
        let name = descriptor.name();
        if chunk.end > file.len() {
            return Err(error(format!("the column {name:?} is outside the file")));
        }
        if !is_known(chunk.codec) {
            let codec = usize::try_from(chunk.codec.0).ok().and_then(|codec| CODECS.get(codec));
            let codec = codec.copied().unwrap_or("an unknown codec");
            return Err(error(format!("the column {name:?} is compressed with {codec}"))
                .advice("write it with snappy, zstd, gzip, lz4_raw or uncompressed"));
        }
        let value_len = match descriptor.physical_type() {
            Type::INT64 => 8,
            Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(descriptor.type_length()).unwrap_or(0).max(1),
            // An INT32, or the length before the bytes.
            _ => 4,
        };
        Ok(Self { file: file.clone(), chunk, then: None, value_len, ahead: (0, Vec::new()) })
    }

    /// Leaves out the pages between the dictionary, if the column has one before its `first` page, and this part.
    #[must_use]
    pub fn only(mut self, first: u64, part: ByteRange) -> Self {
        let bounds = self.chunk;
        let end = part.at.saturating_add(part.len).min(bounds.end);
        let part =
            ByteRange { at: part.at.max(bounds.start), len: end.saturating_sub(part.at.max(bounds.start)) };
        self.chunk.end = first.clamp(bounds.start, bounds.end);
        self.then = Some(part);
        self
    }

    /// The header of the next page, and its length.
    fn header(&mut self) -> Result<(PageHeader, u64)> {
        for len in HEADER_LENS {
            // A few pages at once are read faster than each of them with its header.
            let len =
                if self.chunk.len() <= WHOLE_LEN { self.chunk.len() } else { len.min(self.chunk.len()) };
            if self.ahead(self.chunk.start, len).is_none() {
                let bytes = read(&self.file, self.chunk.start, len).map_err(external)?;
                self.ahead = (self.chunk.start, bytes);
            }
            let bytes = self.ahead(self.chunk.start, len).unwrap_or_default();
            if let Some((header, len)) = footer::read(bytes) {
                return Ok((header, len as u64));
            }
        }
        Err(broken("the header of a page is damaged"))
    }

    /// Some bytes of the file, if they were read with a header.
    fn ahead(&self, at: u64, len: u64) -> Option<&[u8]> {
        let (start, bytes) = &self.ahead;
        let from = usize::try_from(at.checked_sub(*start)?).ok()?;
        bytes.get(from..)?.get(..usize::try_from(len).ok()?)
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            if self.chunk.start >= self.chunk.end {
                let Some(part) = self.then.take() else { return Ok(None) };
                (self.chunk.start, self.chunk.end) = (part.at, part.at.saturating_add(part.len));
                continue;
            }
            let (header, header_len) = self.header()?;
            let (at, len) = (self.chunk.start + header_len, size(header.compressed_page_size)?);
            if len > self.chunk.end.saturating_sub(at) {
                return Err(broken("a page ends after its column"));
            }
            let page_start = std::mem::replace(&mut self.chunk.start, at + len);
            let read;
            let data = if let Some(data) = self.ahead(at, len) {
                data
            } else {
                read = self::read(&self.file, at, len).map_err(external)?;
                &read
            };
            if header.crc.is_some_and(|crc| crc != checksum(data)) {
                let what = "the bytes of a page do not match its checksum";
                return Err(external(Error::format(self.file.path(), what).at_offset(page_start)));
            }
            if let Some(page) = page(&header, data, self.chunk.codec, self.value_len)? {
                return Ok(Some(page));
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(broken("pages are read in their order"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(broken("pages are read in their order"))
    }
}

/// A page for the decoders; `None` for one without values.
fn page(header: &PageHeader, data: &[u8], codec: CompressionCodec, value_len: u64) -> Result<Option<Page>> {
    let len = size(header.uncompressed_page_size)?;
    if len > MAX_PAGE {
        return Err(broken("a page claims to be larger than 256 MiB"));
    }
    let values = |claimed: i32| match number(claimed)? {
        values if len > BESIDE_LEN + VALUE_LEN * u64::from(values) => {
            Err(broken("a page claims more bytes than its values take"))
        }
        values => Ok(values),
    };
    let headless = || broken("the header of a page is damaged");
    Ok(Some(match header.type_ {
        PageType::DATA_PAGE => {
            let head = header.data_page_header.as_ref().ok_or_else(headless)?;
            Page::DataPage {
                num_values: values(head.num_values)?,
                encoding: encoding(head.encoding)?,
                def_level_encoding: encoding(head.definition_level_encoding)?,
                rep_level_encoding: encoding(head.repetition_level_encoding)?,
                statistics: None,
                buf: decompress(codec, data, len)?.into(),
            }
        }
        PageType::DICTIONARY_PAGE => {
            let head = header.dictionary_page_header.as_ref().ok_or_else(headless)?;
            let num_values = number(head.num_values)?;
            if u64::from(num_values) * value_len > len {
                return Err(broken("a dictionary claims more values than it has bytes for"));
            }
            let buf = decompress(codec, data, len)?.into();
            Page::DictionaryPage { buf, num_values, encoding: encoding(head.encoding)?, is_sorted: false }
        }
        PageType::DATA_PAGE_V2 => {
            let head = header.data_page_header_v2.as_ref().ok_or_else(headless)?;
            let num_values = values(head.num_values)?;
            let nulls = number(head.definition_levels_byte_length)?;
            let repeats = number(head.repetition_levels_byte_length)?;
            let levels = u64::from(nulls) + u64::from(repeats);
            let parts = data.split_at_checked(usize::try_from(levels).unwrap_or(usize::MAX));
            let (Some((before, rest)), Some(len)) = (parts, len.checked_sub(levels)) else {
                return Err(broken("a page is shorter than the start that it claims"));
            };
            // The levels are never compressed.
            let buf = if head.is_compressed.unwrap_or(true) && !rest.is_empty() {
                [before, &decompress(codec, rest, len)?].concat()
            } else {
                data.to_vec()
            };
            Page::DataPageV2 {
                buf: buf.into(),
                num_values,
                encoding: encoding(head.encoding)?,
                num_nulls: number(head.num_nulls)?,
                num_rows: number(head.num_rows)?,
                def_levels_byte_len: nulls,
                rep_levels_byte_len: repeats,
                is_compressed: false,
                statistics: None,
            }
        }
        _ => return Ok(None),
    }))
}

/// The text of an error, without the name of its kind.
pub fn plain(error: &ParquetError) -> String {
    let mut text = error.to_string();
    for kind in ["External: ", "Parquet error: ", "EOF: ", "NYI: "] {
        text = text.strip_prefix(kind).map(str::to_owned).unwrap_or(text);
    }
    // The path of a temporary file, which no longer exists.
    text.rfind(" at path \"").map_or(text.clone(), |end| text.get(..end).unwrap_or_default().to_owned())
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

fn size(claimed: i32) -> Result<u64> {
    u64::try_from(claimed).map_err(|_| broken("a page claims a negative length"))
}

fn number(claimed: i32) -> Result<u32> {
    u32::try_from(claimed).map_err(|_| broken("a page claims a negative number of values"))
}

/// The same encoding in the other crate. The one for floating-point numbers is left out, because no column has such.
fn encoding(encoding: format::Encoding) -> Result<Encoding> {
    let known = |known: &&Encoding| **known as i32 == encoding.0 && **known != Encoding::ALP;
    let found = Encoding::VARIANTS.iter().find(known);
    found.copied().ok_or_else(|| broken("a page's values are written in an unknown way"))
}

/// Whether a column that is compressed in this way can be read.
fn is_known(codec: CompressionCodec) -> bool {
    use CompressionCodec as Codec;
    matches!(codec, Codec::UNCOMPRESSED | Codec::SNAPPY | Codec::GZIP | Codec::ZSTD | Codec::LZ4_RAW)
}

/// Decompresses a block to exactly `len` bytes.
fn decompress(codec: CompressionCodec, block: &[u8], len: u64) -> Result<Vec<u8>> {
    let claims = || broken("a page claims more bytes than can be compressed in it");
    let damaged = |error: &dyn std::error::Error| broken(&error.to_string());
    let most = |ratio| (block.len() as u64 + 1) * ratio;
    let whole = match codec {
        CompressionCodec::UNCOMPRESSED => block.to_vec(),
        _ if len == 0 => Vec::new(),
        CompressionCodec::SNAPPY => {
            // The decoder reserves the length that the block itself claims.
            let claimed = snap::raw::decompress_len(block).map_err(|error| damaged(&error))?;
            if claimed as u64 != len || len > most(SNAPPY_RATIO) {
                return Err(claims());
            }
            snap::raw::Decoder::new().decompress_vec(block).map_err(|error| damaged(&error))?
        }
        CompressionCodec::LZ4_RAW if len > most(LZ4_RATIO) => return Err(claims()),
        CompressionCodec::LZ4_RAW => {
            lz4_flex::block::decompress(block, len as usize).map_err(|error| damaged(&error))?
        }
        CompressionCodec::GZIP => up_to(flate2::bufread::MultiGzDecoder::new(block), len)?,
        CompressionCodec::ZSTD => {
            // The decoder's own words are not for users.
            let damaged = || broken("a page's Zstandard data are damaged");
            let stream = ruzstd::decoding::StreamingDecoder::new(block).map_err(|_| damaged())?;
            up_to(stream, len).map_err(|_| damaged())?
        }
        _ => return Err(broken("it is compressed in an unknown way")),
    };
    if whole.len() as u64 != len {
        return Err(broken("a page is not as long as it claims"));
    }
    Ok(whole)
}

/// The bytes of a stream, at most one more than expected.
fn up_to(stream: impl Read, len: u64) -> io::Result<Vec<u8>> {
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
        let codec = CompressionCodec::ZSTD;
        for packed in [&b"\x28\xb5\x2f\xfd\0\0"[..], b"no zstd", b"\x28\xb5\x2f\xfd\x04\x00\xff\xff\xff\xff"]
        {
            let said = plain(&decompress(codec, packed, 9).unwrap_err());
            assert_eq!(said, "a page's Zstandard data are damaged");
        }
    }

    #[test]
    fn a_block_of_another_length_than_it_claims_is_refused() {
        let text = b"e2e4 e2e4 e2e4 e2e4 e2e4 e2e4".repeat(9);
        let len = text.len() as u64;
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        let lz4 = lz4_flex::block::compress(&text);
        for (codec, block) in [
            (CompressionCodec::UNCOMPRESSED, text.clone()),
            (CompressionCodec::SNAPPY, snappy),
            (CompressionCodec::LZ4_RAW, lz4),
        ] {
            assert_eq!(decompress(codec, &block, len).unwrap(), text, "{codec:?}");
            for wrong in [1, len - 1, len + 1, 1 << 28] {
                assert!(decompress(codec, &block, wrong).is_err(), "{codec:?} {wrong}");
            }
        }
        // Five bytes that claim four thousand million.
        let claim = [0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(decompress(CompressionCodec::SNAPPY, &claim, (1 << 32) - 1).is_err());
        assert!(decompress(CompressionCodec::BROTLI, &text, len).is_err());
    }

    #[test]
    fn the_claims_of_a_page_are_checked_before_it_is_decompressed() {
        use polars_parquet_format::{DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, Encoding};
        let block = snap::raw::Encoder::new().compress_vec(&[0; 1 << 17]).unwrap();
        let refusal = |header: PageHeader| {
            page(&header, &block, CompressionCodec::SNAPPY, 8).err().map(|error| error.to_string())
        };
        let header = |kind, len| PageHeader::new(kind, len, 0, None, None, None, None, None);
        let data = |len, values, encoding: i32| PageHeader {
            data_page_header: Some(DataPageHeader::new(
                values,
                Encoding(encoding),
                Encoding::RLE,
                Encoding::RLE,
                None,
            )),
            ..header(PageType::DATA_PAGE, len)
        };
        let dictionary = PageHeader {
            dictionary_page_header: Some(DictionaryPageHeader::new((1 << 14) + 1, Encoding::PLAIN, None)),
            ..header(PageType::DICTIONARY_PAGE, 1 << 17)
        };
        let levels = DataPageHeaderV2::new(1 << 14, 0, 1 << 14, Encoding::PLAIN, 1 << 14, 0, None, None);
        let levels =
            PageHeader { data_page_header_v2: Some(levels), ..header(PageType::DATA_PAGE_V2, 1 << 17) };
        assert_eq!(refusal(data(1 << 17, 1 << 14, 0)), None);
        for (header, what) in [
            (data(1 << 17, 1 << 10, 0), "more bytes than its values take"),
            (data(1 << 17, -1, 0), "a negative number of values"),
            (data(-1, 1 << 14, 0), "a negative length"),
            (data(1 << 29, 1 << 14, 0), "larger than 256 MiB"),
            (data(1 << 17, 1 << 14, 77), "an unknown way"),
            (header(PageType::DATA_PAGE, 1 << 17), "the header of a page is damaged"),
            (dictionary, "more values than it has bytes for"),
            (levels, "shorter than the start that it claims"),
        ] {
            assert!(refusal(header).is_some_and(|refusal| refusal.contains(what)), "{what}");
        }
    }

    #[test]
    fn the_header_of_a_page_is_read_with_its_length() {
        // Kind 0, 100 bytes, 60 compressed; a checksum; data: 7 values, RLE dictionary, RLE, RLE.
        let data =
            [0x15, 0, 0x15, 200, 1, 0x15, 120, 0x15, 9, 0x1c, 0x15, 14, 0x15, 16, 0x15, 6, 0x15, 6, 0, 0];
        let (header, len) = footer::read::<PageHeader>(&[&data[..], b"values"].concat()).unwrap();
        assert_eq!((len, header.compressed_page_size), (data.len(), 60));
        assert_eq!(header.data_page_header.map(|head| head.num_values), Some(7));
        for len in 0..data.len() {
            assert!(footer::read::<PageHeader>(&data[..len]).is_none(), "{len}");
        }
    }
}
