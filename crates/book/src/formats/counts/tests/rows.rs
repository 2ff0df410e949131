//! Rows of count files and their bytes, for the tests here and those of merging in `tabiya-workshop`.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    unreachable_pub,
    dead_code
)]

use std::path::Path;

use proptest::prelude::*;
use tabiya_book::Slice;
use tabiya_book::counts::{CountFile, CountWriter, CountsRow, Shape};
use tabiya_chess::MoveCode;

/// A legal move that means something: e2e4.
pub const E2E4: MoveCode = MoveCode(0x031c);

pub fn line(key: u64, counts: [u64; 3]) -> CountsRow {
    let [wins, draws, losses] = counts;
    CountsRow { key, mv: E2E4, wins, draws, losses, packed: None, slice: Slice::default() }
}

/// The bytes of a count file of ours.
pub fn ours(lines: &[CountsRow], positions: bool) -> Vec<u8> {
    shaped(lines, Shape { positions, ..Shape::default() })
}

/// The same with further columns.
pub fn shaped(lines: &[CountsRow], shape: Shape) -> Vec<u8> {
    let mut writer = CountWriter::new(Path::new("a.parquet"), Vec::new(), shape).unwrap();
    lines.iter().for_each(|line| writer.add(line).unwrap());
    let (file, written) = writer.close().unwrap();
    assert_eq!(written.rows, lines.len() as u64);
    file
}

/// All rows of a file, or its first error.
pub fn rows(bytes: Vec<u8>, placed: bool) -> std::result::Result<Vec<CountsRow>, String> {
    let file = CountFile::from_bytes("a.parquet", bytes).map_err(|error| error.to_string())?;
    let mut lines = Vec::new();
    for group in 0..file.groups() {
        let see = |line: &CountsRow| {
            lines.push(*line);
            Ok(())
        };
        file.group(group, Shape { positions: placed, by: file.shape().by }, see)
            .map_err(|error| error.to_string())?;
    }
    assert_eq!(lines.len() as u64, file.rows());
    Ok(lines)
}

/// Rows of a few keys, each pair once, sorted.
pub fn lines() -> impl Strategy<Value = Vec<CountsRow>> {
    slices_of(1, 1)
}

/// The same, in some slices.
pub fn slices_of(speeds: u8, ratings: u8) -> impl Strategy<Value = Vec<CountsRow>> {
    let row = (0..40_u64, 0..3_u16, [0..9_u64, 0..9, 1..9], 0..speeds, 0..ratings);
    prop::collection::vec(row, 0..300).prop_map(|rows| {
        let mut lines: Vec<_> = rows
            .into_iter()
            .map(|(key, mv, counts, speed, rating)| CountsRow {
                mv: MoveCode(E2E4.0 - mv),
                slice: Slice::numbered(speed << 4 | rating),
                ..line(key.wrapping_mul(0x9e37_79b9_7f4a_7c15), counts)
            })
            .collect();
        lines.sort_by_key(|line| (line.key, line.mv, line.slice));
        lines.dedup_by_key(|line| (line.key, line.mv, line.slice));
        lines
    })
}

/// The places of the bytes of all pages in a file, without their headers.
pub fn pages(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use polars_parquet_format::PageHeader;

    let reader = SerializedFileReader::new(bytes::Bytes::from(file.to_vec())).unwrap();
    let mut pages = Vec::new();
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let (start, len) = column.byte_range();
            let (mut at, end) = (start as usize, (start + len) as usize);
            while at < end {
                let (header, len) =
                    tabiya_parquet::footer::read::<PageHeader>(file.get(at..end).unwrap()).unwrap();
                assert!(header.crc.is_some());
                let data = at + len..at + len + header.compressed_page_size as usize;
                at = data.end;
                pages.push(data);
            }
        }
    }
    pages
}
