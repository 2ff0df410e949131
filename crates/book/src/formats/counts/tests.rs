//! Count files written by us and by others, sound and broken.
#![allow(clippy::unwrap_used, reason = "a module of tests that needs a feature as well")]

mod rows;
mod seeking;
mod writing;

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use tabiya_base::error::Remedy;
use tabiya_chess::{Position, RatingBand, Speed};

use self::rows::{E2E4, line, ours, rows};
use super::*;
use crate::slice::MAX_GAMES;

/// A column of another's file; `None` is NULL.
enum Column {
    I32(Vec<i32>),
    I64(Vec<i64>),
    Double(Vec<f64>),
    Bytes(Vec<Vec<u8>>),
    Fixed(Vec<Vec<u8>>),
    Nulls(Vec<Option<i64>>),
}

/// A file of one row group a call of others, as `schema` says.
fn theirs(schema: &str, groups: &[Vec<Column>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let schema = parse_message_type(&format!("message schema {{ {schema} }}")).unwrap();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        for column in columns {
            let mut to = group.next_column().unwrap().unwrap();
            let levels = |len| Some(vec![1; len]);
            let nullable = |to: &mut parquet::file::writer::SerializedColumnWriter<'_>| {
                matches!(to.untyped(), parquet::column::writer::ColumnWriter::Int64ColumnWriter(to)
                    if to.get_descriptor().max_def_level() > 0)
            };
            match column {
                Column::I32(values) => to.typed::<Int32Type>().write_batch(values, None, None),
                Column::I64(values) => {
                    let levels = if nullable(&mut to) { levels(values.len()) } else { None };
                    to.typed::<Int64Type>().write_batch(values, levels.as_deref(), None)
                }
                Column::Double(values) => to.typed::<DoubleType>().write_batch(values, None, None),
                Column::Bytes(values) => {
                    let values: Vec<_> = values.iter().cloned().map(ByteArray::from).collect();
                    to.typed::<ByteArrayType>().write_batch(&values, None, None)
                }
                Column::Fixed(values) => {
                    let values: Vec<_> = values.iter().cloned().map(FixedLenByteArray::from).collect();
                    to.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)
                }
                Column::Nulls(values) => {
                    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                    let values: Vec<_> = values.iter().flatten().copied().collect();
                    to.typed::<Int64Type>().write_batch(&values, Some(&levels), None)
                }
            }
            .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

/// The least that a table must be, with wins as given.
fn table(wins_type: &str, wins: Column) -> Vec<u8> {
    let schema = format!(
        "required int64 key; required int32 move; required {wins_type}; required int64 draws; required int64 losses;"
    );
    let group = vec![
        Column::I64(vec![1, 2]),
        Column::I32(vec![E2E4.0.into(); 2]),
        wins,
        Column::I64(vec![0, 4]),
        Column::I64(vec![1, 5]),
    ];
    theirs(&schema, &[group], plain())
}

fn refusal(bytes: Vec<u8>) -> String {
    rows(bytes, false).unwrap_err()
}

#[test]
fn rows_with_other_types_and_orders_are_read() {
    let schema = "required binary site (UTF8); optional int64 LOSSES; required int64 draws (DECIMAL(18,0)); \
        required fixed_len_byte_array(13) wins (DECIMAL(30,0)); required int64 move (INTEGER(64,true)); \
        required fixed_len_byte_array(9) key (DECIMAL(20,0)); required binary position;";
    let group = |key: u64, count: u64| {
        let start = Packed::new(&Position::start()).unwrap();
        vec![
            Column::Bytes(vec![b"somewhere".to_vec()]),
            Column::I64(vec![1]),
            Column::I64(vec![2]),
            Column::Fixed(vec![u128::from(count).to_be_bytes()[3..].to_vec()]),
            Column::I64(vec![E2E4.0.into()]),
            Column::Fixed(vec![[&[0], &key.to_be_bytes()[..]].concat()]),
            Column::Bytes(vec![start.0.to_vec()]),
        ]
    };
    let start = Position::start().key();
    let file = theirs(schema, &[group(u64::MAX, 70_000), group(start, 3)], plain());
    let lines = rows(file.clone(), false).unwrap();
    assert_eq!(lines, [line(u64::MAX, [70_000, 2, 1]), line(start, [3, 2, 1])]);
    let error = rows(file, true).unwrap_err();
    assert!(
        error.starts_with("a.parquet: row 0, counted from 0: position does not have this key"),
        "{error}"
    );
    let placed = rows(theirs(schema, &[group(start, 3)], plain()), true).unwrap();
    assert_eq!(placed[0].packed, Packed::new(&Position::start()));
}

#[test]
fn every_encoding_of_the_crate_is_read() {
    let keys: Vec<i64> = (0..5000).map(|row| i64::MIN + row * row * 77_777).collect();
    let schema = "required int64 key; required int32 move (INTEGER(16,false)); required int64 wins; \
        optional int64 draws; required int32 losses (INTEGER(32,false));";
    let group = || {
        vec![
            Column::I64(keys.clone()),
            Column::I32(vec![E2E4.0.into(); 5000]),
            Column::I64((0..5000).collect()),
            Column::I64((0..5000).map(|row| row / 100).collect()),
            Column::I32(vec![-1; 5000]),
        ]
    };
    let ways = [
        plain(),
        plain().set_compression(Compression::SNAPPY),
        plain().set_compression(Compression::SNAPPY).set_writer_version(WriterVersion::PARQUET_2_0),
        plain().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BINARY_PACKED),
        plain().set_dictionary_enabled(false).set_encoding(Encoding::BYTE_STREAM_SPLIT),
        plain()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_data_page_row_count_limit(100)
            .set_write_batch_size(64),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let lines = rows(theirs(schema, &[group(), group()], way), false).unwrap();
        assert_eq!(lines.len(), 10_000, "way {number}");
        for (row, read) in lines.iter().enumerate() {
            let row = row % 5000;
            let expected =
                line(keys[row].cast_unsigned(), [row as u64, row as u64 / 100, u64::from(u32::MAX)]);
            assert_eq!(*read, expected, "way {number}, row {row}");
        }
    }
}

#[test]
fn columns_that_cannot_hold_counts_are_refused_with_advice() {
    let double = refusal(table("double wins", Column::Double(vec![1.0, 2.0])));
    let what = "a.parquet: the column \"wins\" holds DOUBLE numbers, which are not exact";
    assert_eq!(double, format!("{what}: write it as whole numbers, with CAST(sum(wins) AS UBIGINT) AS wins"));
    let text = refusal(table("binary wins (UTF8)", Column::Bytes(vec![b"1".to_vec(); 2])));
    assert!(text.contains("holds no whole numbers"), "{text}");
    let half = refusal(table("int64 wins (DECIMAL(10,1))", Column::I64(vec![10, 20])));
    assert!(half.contains("holds no whole numbers"), "{half}");
    let time = refusal(table("int64 wins (TIMESTAMP_MILLIS)", Column::I64(vec![10, 20])));
    assert!(time.contains("holds no whole numbers"), "{time}");
    let missing = refusal(table("int64 victories", Column::I64(vec![1, 2])));
    assert!(missing.contains("no column \"wins\""), "{missing}");
    let twice = refusal(theirs(
        "required int64 key; required int64 KEY;",
        &[vec![Column::I64(vec![1]), Column::I64(vec![1])]],
        plain(),
    ));
    assert!(twice.contains("two columns \"key\""), "{twice}");
}

#[test]
fn impossible_numbers_are_refused_with_their_row() {
    for (wins, what) in [
        (vec![1, -3], "row 1, counted from 0: wins is -3, but cannot be negative"),
        (vec![i64::MAX, 1], "row 0, counted from 0: wins is 9223372036854775807, which is too large"),
        (vec![1, MAX_GAMES as i64], "row 1, counted from 0: wins is 549755813887, which is too large"),
    ] {
        let refusal = refusal(table("int64 wins", Column::I64(wins)));
        assert!(refusal.starts_with(&format!("a.parquet: {what}")), "{refusal}");
    }
    let null = refusal(theirs(
        "required int64 key; required int32 move; optional int64 wins; required int64 draws; required int64 losses;",
        &[vec![
            Column::I64(vec![1, 2]),
            Column::I32(vec![E2E4.0.into(); 2]),
            Column::Nulls(vec![Some(1), None]),
            Column::I64(vec![1, 2]),
            Column::I64(vec![1, 2]),
        ]],
        plain(),
    ));
    assert_eq!(null, "a.parquet: row 1, counted from 0: a value is missing (NULL)");
    let moves = theirs(
        "required int64 key; required int32 move; required int64 wins; required int64 draws; required int64 losses;",
        &[vec![
            Column::I64(vec![1]),
            Column::I32(vec![0x7000]),
            Column::I64(vec![1]),
            Column::I64(vec![1]),
            Column::I64(vec![1]),
        ]],
        plain(),
    );
    assert!(refusal(moves).contains("row 0, counted from 0: move is 28672, which is not the code of a move"));
}

#[test]
fn other_files_and_other_versions_are_refused() {
    assert_eq!(refusal(b"".to_vec()), "a.parquet: this is not a Parquet file: write or download it again");
    assert_eq!(refusal(vec![7; 100]), "a.parquet: this is not a Parquet file: write or download it again");
    for len in [4, 8, 11, 12] {
        let cut = [b"PAR1".to_vec(), vec![0; len]].concat();
        assert!(refusal(cut).contains("is cut off: its end is missing"), "{len}");
    }
    let secret = [b"PARE".to_vec(), vec![1; 8], b"PARE".to_vec()].concat();
    assert!(refusal(secret).contains("is encrypted"));
    let huge = [b"PAR1".to_vec(), vec![0xff; 4], b"PAR1".to_vec()].concat();
    assert!(refusal(huge).contains("larger than 64 MiB (byte 4)"));
    let newer =
        plain().set_key_value_metadata(Some(vec![KeyValue::new(VERSION_NAME.to_owned(), "2".to_owned())]));
    let newer = refusal(theirs("required int64 key;", &[vec![Column::I64(vec![1])]], newer));
    assert!(newer.ends_with("version \"2\": read it with a newer tabiya"), "{newer}");
}

/// A file without pages.
fn of_footer(footer: &[u8]) -> Vec<u8> {
    [&PARQUET[..], footer, &u32::try_from(footer.len()).unwrap().to_le_bytes(), &PARQUET].concat()
}

#[test]
fn footers_that_claim_more_than_they_hold_are_refused_at_once() {
    const MAX: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x07];
    // A group of columns that claims 2^31 - 1 members; then the same, hidden in what says that it is text.
    let group = [&[0x48, 1, b'x', 0x15, 0xfe][..], &MAX[1..4], &[0x0f, 0]].concat();
    let crowded = [&[0x15, 2, 0x19, 0x1c][..], &group, &[0x16, 0, 0x19, 0x0c, 0]].concat();
    let hidden = [&[0x28, 0x1c][..], &group, &[0; 28]].concat();
    // Groups of one member each, one in the other.
    let deep = [&[0x15, 2, 0x19, 0xfc, 0xa0, 0x8d, 6][..], &[0x48, 1, b'x', 0x15, 2, 0].repeat(100_000)];
    let deep = [&deep.concat()[..], &[0x16, 0, 0x19, 0x0c, 0]].concat();
    // Field 20, unknown: lists of truth values, which may be hidden in one another.
    let truths = [&[0x09, 40, 0xf1][..], &MAX].concat().repeat(1000);
    // Row groups, and more of them than there are bytes.
    let groups = [&[0x49, 0xfc][..], &MAX, &[0; 1000]].concat();
    for (footer, what) in [
        (&crowded[..], "has no column \"key\""),
        (&hidden, "has no column \"key\""),
        (&deep, "has no column \"key\""),
        (&truths, "its footer is damaged"),
        (&groups, "its footer is damaged"),
        (&[0x1c; 100_000], "its footer is damaged"),
        (&[0], "has no column \"key\""),
        (&[], "its footer is damaged"),
    ] {
        let refusal = refusal(of_footer(footer));
        assert!(refusal.starts_with("a.parquet: ") && refusal.contains(what), "{what}: {refusal}");
    }
}

#[test]
fn a_group_has_a_limited_number_of_rows() {
    let lines: Vec<_> = (0..300_000).map(|key| line(key * 3, [key % 7, 0, key % 3])).collect();
    let file = ours(&lines, false);
    let open = CountFile::from_bytes("a.parquet", file.clone()).unwrap();
    assert_eq!((open.groups(), open.group_rows(0), open.group_rows(1)), (2, 1 << 18, 300_000 - (1 << 18)));
    assert_eq!((open.version(), open.has_positions()), (Some(VERSION), false));
    assert_eq!(rows(file, false).unwrap(), lines);
}

#[test]
fn speeds_and_ratings_of_others_are_read_if_they_are_wanted() {
    let schema = "required int64 key; required int32 move; required int64 wins; required int64 draws; \
        required int64 losses; required binary speed (UTF8); optional int64 rating;";
    let file = |speed: &str, rating: Option<i64>| {
        let group = vec![
            Column::I64(vec![1]),
            Column::I32(vec![E2E4.0.into()]),
            Column::I64(vec![1]),
            Column::I64(vec![2]),
            Column::I64(vec![3]),
            Column::Bytes(vec![speed.as_bytes().to_vec()]),
            Column::Nulls(vec![rating]),
        ];
        theirs(schema, &[group], plain())
    };
    let slice = |rating| Slice::new(Speed::named("rapid"), rating);
    for (rating, band) in [(Some(1600), RatingBand::from_lowest(1600)), (None, None)] {
        let read = rows(file("rapid", rating), false).unwrap();
        assert_eq!(read, [CountsRow { slice: slice(band), ..line(1, [1, 2, 3]) }]);
    }
    let said = refusal(file("fast", None));
    assert!(
        said.starts_with("a.parquet: row 0, counted from 0: speed is \"fast\", not one of ultra"),
        "{said}"
    );
    let said = refusal(file("blitz", Some(1650)));
    assert!(said.contains("row 0, counted from 0: rating is 1650, but bands begin"), "{said}");
    // Nobody asks for them, so they are another program's own.
    let open = CountFile::from_bytes("a.parquet", file("fast", Some(1650))).unwrap();
    open.group(0, Shape::default(), |read| {
        assert_eq!(*read, line(1, [1, 2, 3]));
        Ok(())
    })
    .unwrap();
    let plain = CountFile::from_bytes("a.parquet", ours(&[line(1, [1, 0, 0])], false)).unwrap();
    let wanted = Shape { by: By { rating: true, ..By::default() }, ..Shape::default() };
    let error = plain.group(0, wanted, |_| Ok(())).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::CountBy), "{error}");
}

#[test]
fn more_games_than_a_row_holds_are_an_error() {
    let mut writer = CountWriter::new(Path::new("a.parquet"), Vec::new(), Shape::default()).unwrap();
    let error = writer.add(&line(1, [MAX_GAMES, 0, 0])).unwrap_err();
    assert!(error.to_string().contains("too many games to count"), "{error}");
}
