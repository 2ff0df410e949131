//! The columns of a count file (docs/formats/counts.md, Columns).

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_chess::PACKED_LEN;
use tabiya_parquet::columns::{Column, Columns};
use tabiya_parquet::footer::Element;

use super::{COUNT_COLUMNS, KEY, MOVE, POSITION, Shape};
use crate::{By, RATING, SPEED};

/// The columns of numbers: the key, the move, wins, draws and losses.
pub(crate) const NUMBERS: usize = 5;

/// Rows that one byte of a file may hold for each slice of games. Each position has its own key of 8 bytes, and at most 218
/// moves.
pub(super) const ROWS_PER_BYTE: u64 = 64;

/// The columns that a count file has and others may not have.
pub(super) fn shape(columns: &[Column]) -> Shape {
    let has = |name| columns.iter().any(|column| column.is_named(name));
    Shape { positions: has(POSITION), by: By { speed: has(SPEED), rating: has(RATING) } }
}

/// Finds the columns by their names, in any letter case, and checks their types: first those of numbers, then those of
/// positions, speeds and ratings that the file has.
///
/// # Errors
/// When one is missing, or has a type that cannot hold its values. The errors name no file.
pub(super) fn find(schema: &[Element]) -> Result<Vec<Column>> {
    let all = Columns::from_schema(schema);
    let mut columns = Vec::with_capacity(NUMBERS + 3);
    for name in [KEY, MOVE].into_iter().chain(COUNT_COLUMNS) {
        let cast = match name {
            KEY => "CAST(key AS UBIGINT) AS key".to_owned(),
            MOVE => "CAST(move AS INTEGER) AS move".to_owned(),
            count => format!("CAST(sum({count}) AS UBIGINT) AS {count}"),
        };
        let found = all.named(name)?.ok_or_else(|| {
            let what = format!("this Parquet file has no column {name:?}, which every count file has");
            Error::new(ErrorKind::Format, what).advice("the columns are key, move, wins, draws and losses")
        })?;
        columns.push(found.numbers(&cast)?);
    }
    columns.extend(all.named(POSITION)?.map(|found| found.bytes(PACKED_LEN)).transpose()?);
    // Columns of another type with these names belong to another program.
    columns.extend(all.named(SPEED)?.and_then(|found| found.texts().ok()));
    columns.extend(all.named(RATING)?.and_then(|found| found.numbers("").ok()));
    Ok(columns)
}
