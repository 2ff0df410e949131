//! Finding the columns of a count file, and checking their types.
#![allow(clippy::cast_possible_truncation, reason = "the lengths are small constants")]

use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type as Schema};
use polars_parquet_format::{ConvertedType, FieldRepetitionType, Type};

use super::footer::{Element, Logical};
use super::{By, COUNT_COLUMNS, KEY, MOVE, POSITION, RATING, SPEED, Shape};
use crate::base::error::{Error, ErrorKind, Result};
use crate::chess::PACKED_LEN;

/// The most bytes that a whole number may have.
pub(crate) const NUMBER_LEN: usize = 16;

/// The columns of numbers: the key, the move, wins, draws and losses.
pub(crate) const NUMBERS: usize = 5;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One of the numbers that each row has.
    Number,
    /// Texts.
    Text,
    /// Positions.
    Position,
    /// Speeds.
    Speed,
    /// Bands of ratings.
    Rating,
}

/// A column that is read.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What it holds.
    pub holds: Holds,
    /// Its number among the columns of the file.
    pub at: usize,
    /// Its name and type.
    pub descriptor: ColumnDescPtr,
    /// Whether its numbers are unsigned: negative ones then stand for large ones.
    pub is_unsigned: bool,
}

impl Column {
    fn new(holds: Holds, (at, element): (usize, &Element)) -> Result<Self> {
        let physical = match element.kind {
            Some(Type::INT32) => Physical::INT32,
            Some(Type::INT64) => Physical::INT64,
            Some(Type::BYTE_ARRAY) => Physical::BYTE_ARRAY,
            _ => Physical::FIXED_LEN_BYTE_ARRAY,
        };
        let (repetition, levels) = match element.repetition {
            Some(FieldRepetitionType::OPTIONAL) => (Repetition::OPTIONAL, 1),
            _ => (Repetition::REQUIRED, 0),
        };
        let schema = Schema::primitive_type_builder(&element.name, physical)
            .with_repetition(repetition)
            .with_length(element.len.unwrap_or(-1))
            .build()
            .map_err(|_| error(format!("the type of the column {:?} is damaged", element.name)))?;
        let path = ColumnPath::from(element.name.as_str());
        Ok(Self {
            holds,
            at,
            descriptor: Arc::new(ColumnDescriptor::new(Arc::new(schema), levels, 0, path)),
            is_unsigned: match element.logical {
                Some(Logical::Integer { is_signed }) => !is_signed,
                _ => element
                    .converted
                    .is_some_and(|kind| (ConvertedType::UINT_8..=ConvertedType::UINT_64).contains(&kind)),
            },
        })
    }
}

/// The columns that a count file has and others may not have.
pub(super) fn shape(columns: &[Column]) -> Shape {
    let has = |holds| columns.iter().any(|column| column.holds == holds);
    let by = By { speed: has(Holds::Speed), rating: has(Holds::Rating) };
    Shape { positions: has(Holds::Position), by }
}

/// Finds the columns by their names, in any letter case, and checks their types: first those of numbers, then those of
/// positions, speeds and ratings that the file has.
///
/// # Errors
/// When one is missing, or has a type that cannot hold its values. The errors name no file.
pub fn find(schema: &[Element]) -> Result<Vec<Column>> {
    let all = outermost(schema);
    let mut columns = Vec::with_capacity(NUMBERS + 3);
    for name in [KEY, MOVE].into_iter().chain(COUNT_COLUMNS) {
        let cast = match name {
            KEY => "CAST(key AS UBIGINT) AS key".to_owned(),
            MOVE => "CAST(move AS INTEGER) AS move".to_owned(),
            count => format!("CAST(sum({count}) AS UBIGINT) AS {count}"),
        };
        columns.push(number(schema, name, &cast)?.ok_or_else(|| {
            error(format!("this Parquet file has no column {name:?}, and is not a count file without it"))
                .advice("the columns are key, move, wins, draws and losses")
        })?);
    }
    if let Some(found @ (_, element)) = named(&all, POSITION)? {
        let fits = match element.kind {
            Some(Type::BYTE_ARRAY) => true,
            Some(Type::FIXED_LEN_BYTE_ARRAY) => element.len == Some(PACKED_LEN as i32),
            _ => false,
        };
        if !fits {
            return Err(error(format!("the column {POSITION:?} does not hold {PACKED_LEN} bytes"))
                .advice("leave the column out, or write it as a BLOB"));
        }
        columns.push(Column::new(Holds::Position, found)?);
    }
    // Columns of another kind with these names are another program's own.
    if let Some(found) = named(&all, SPEED)?.filter(|(_, element)| element.kind == Some(Type::BYTE_ARRAY)) {
        columns.push(Column::new(Holds::Speed, found)?);
    }
    if let Some(found) =
        named(&all, RATING)?.filter(|(_, element)| whole_numbers(element, RATING, "").is_ok())
    {
        columns.push(Column::new(Holds::Rating, found)?);
    }
    Ok(columns)
}

/// The column of whole numbers of this name, in any letter case, if there is one; `cast` is the SQL that makes them such.
///
/// # Errors
/// When there are two, or it does not hold whole numbers. The errors name no file.
pub fn number(schema: &[Element], name: &str, cast: &str) -> Result<Option<Column>> {
    let Some(found) = named(&outermost(schema), name)? else { return Ok(None) };
    whole_numbers(found.1, name, cast)?;
    Column::new(Holds::Number, found).map(Some)
}

/// The column of texts of this name, in any letter case, if there is one.
///
/// # Errors
/// When there are two, or it does not hold texts. The errors name no file.
pub fn text(schema: &[Element], name: &str) -> Result<Option<Column>> {
    let Some(found @ (_, element)) = named(&outermost(schema), name)? else { return Ok(None) };
    if element.kind != Some(Type::BYTE_ARRAY) {
        return Err(error(format!("the column {name:?} does not hold texts")));
    }
    Column::new(Holds::Text, found).map(Some)
}

/// The columns outside lists and structures, with their numbers.
fn outermost(schema: &[Element]) -> Vec<(usize, &Element)> {
    let mut found = Vec::new();
    // Columns so far, and how many of the next elements belong to groups.
    let (mut at, mut inside) = (0, 0_u64);
    for element in schema.iter().skip(1) {
        let children = element.children.and_then(|children| u64::try_from(children).ok()).unwrap_or(0);
        if children == 0 && element.kind.is_some() {
            if inside == 0 && element.repetition != Some(FieldRepetitionType::REPEATED) {
                found.push((at, element));
            }
            at += 1;
        }
        inside = inside.saturating_sub(1).saturating_add(children);
    }
    found
}

fn named<'a>(all: &[(usize, &'a Element)], name: &str) -> Result<Option<(usize, &'a Element)>> {
    let mut found = all.iter().filter(|(_, element)| element.name.eq_ignore_ascii_case(name));
    let first = found.next().copied();
    match found.next() {
        Some(_) => Err(error(format!("there are two columns {name:?}"))),
        None => Ok(first),
    }
}

/// Checks that a column holds whole numbers.
fn whole_numbers(element: &Element, name: &str, cast: &str) -> Result<()> {
    let integer = matches!(element.logical, None | Some(Logical::Integer { .. }))
        && element
            .converted
            .is_none_or(|kind| (ConvertedType::UINT_8..=ConvertedType::INT_64).contains(&kind));
    // Digits after the point, of a decimal.
    let scale = match element.logical {
        Some(Logical::Decimal { scale }) => Some(scale),
        _ if element.converted == Some(ConvertedType::DECIMAL) => Some(element.scale.unwrap_or(0)),
        _ => None,
    };
    let whole = match element.kind {
        Some(Type::INT32 | Type::INT64) => integer || scale == Some(0),
        Some(Type::FIXED_LEN_BYTE_ARRAY) => {
            let fits = |len| (1..=NUMBER_LEN as i32).contains(&len);
            scale == Some(0) && element.len.is_some_and(fits)
        }
        Some(Type::BYTE_ARRAY) => scale == Some(0),
        _ => false,
    };
    if whole {
        return Ok(());
    }
    let holds = match element.kind {
        Some(Type::DOUBLE) => "DOUBLE numbers, which are not exact",
        Some(Type::FLOAT) => "FLOAT numbers, which are not exact",
        _ => "no whole numbers",
    };
    Err(error(format!("the column {name:?} holds {holds}"))
        .advice(format!("write it as whole numbers, with {cast}")))
}

fn error(what: String) -> Error {
    Error::new(ErrorKind::Format, what)
}
