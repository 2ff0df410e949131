//! Writing pages with their checksums, which the crate `parquet` (as of 60.1.0) leaves out.
#![allow(clippy::cast_possible_wrap, reason = "Parquet keeps a checksum in a signed number")]

use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result};
use polars_parquet_format::thrift::protocol::TCompactOutputProtocol;
use polars_parquet_format::{self as format, DataPageHeader, DictionaryPageHeader, PageHeader, PageType};

/// The checksum of a page: of its bytes in the file, without its header.
pub(crate) fn checksum(data: &[u8]) -> i32 {
    crc32fast::hash(data) as i32
}

/// The pages of a column, one after another in memory.
pub struct CheckedPages<'a>(pub &'a mut Vec<u8>);

impl PageWriter for CheckedPages<'_> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let Self(bytes) = self;
        let start = bytes.len();
        let failed = |error: format::thrift::Error| ParquetError::General(error.to_string());
        header(&page)?
            .write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut **bytes))
            .map_err(failed)?;
        let header_len = bytes.len() - start;
        bytes.extend_from_slice(page.data());
        let mut spec = PageWriteSpec::new();
        spec.page_type = page.page_type();
        spec.uncompressed_size = page.uncompressed_size() + header_len;
        spec.compressed_size = page.compressed_size() + header_len;
        spec.num_values = page.num_values();
        spec.offset = start as u64;
        spec.bytes_written = (bytes.len() - start) as u64;
        Ok(spec)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The header of a page.
fn header(page: &CompressedPage) -> Result<PageHeader> {
    let number =
        |of: usize| i32::try_from(of).map_err(|_| ParquetError::General("a page is too long".to_owned()));
    let values = number(page.num_values() as usize)?;
    let mut header = PageHeader::new(
        PageType::DATA_PAGE,
        number(page.uncompressed_size())?,
        number(page.compressed_size())?,
        checksum(page.data()),
        None,
        None,
        None,
        None,
    );
    match *page.compressed_page() {
        Page::DataPage { encoding, def_level_encoding, rep_level_encoding, .. } => {
            header.data_page_header = Some(DataPageHeader::new(
                values,
                code(encoding),
                code(def_level_encoding),
                code(rep_level_encoding),
                None,
            ));
        }
        Page::DictionaryPage { encoding, is_sorted, .. } => {
            header.type_ = PageType::DICTIONARY_PAGE;
            header.dictionary_page_header =
                Some(DictionaryPageHeader::new(values, code(encoding), is_sorted));
        }
        Page::DataPageV2 { .. } => {
            return Err(ParquetError::General("the writer made a page of an unexpected kind".to_owned()));
        }
    }
    Ok(header)
}

/// The same encoding in the other crate.
fn code(encoding: Encoding) -> format::Encoding {
    format::Encoding(encoding as i32)
}
