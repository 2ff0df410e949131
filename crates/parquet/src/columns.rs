//! Finding columns of a Parquet file, and checking their types.
#![allow(clippy::cast_possible_truncation, reason = "the lengths are small constants")]

use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type as Schema};
use polars_parquet_format::{ConvertedType, FieldRepetitionType, Type};

use tabiya_base::error::{Error, ErrorKind, Result};

use super::footer::{Element, Logical, NUMBER_LEN};

/// A column that is read.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its number among the columns of the file.
    pub at: usize,
    /// Its name and type.
    pub descriptor: ColumnDescPtr,
    /// Whether its numbers are unsigned: negative ones are then large ones.
    pub is_unsigned: bool,
}

impl Column {
    fn new(at: usize, element: &Element) -> Result<Self> {
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

    /// Whether it has this name, in any letter case.
    pub fn is_named(&self, name: &str) -> bool {
        self.descriptor.name().eq_ignore_ascii_case(name)
    }
}

/// The columns of a file outside lists and structures, with their numbers.
pub struct Columns<'a>(Vec<(usize, &'a Element)>);

impl<'a> Columns<'a> {
    /// Those of a schema.
    pub fn from_schema(schema: &'a [Element]) -> Self {
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
        Self(found)
    }

    /// The column of a name, in any letter case, if there is one.
    ///
    /// # Errors
    /// When there are two. The errors of columns name no file.
    pub fn named<'n>(&self, name: &'n str) -> Result<Option<Named<'a, 'n>>> {
        let mut found = self.0.iter().filter(|(_, element)| element.name.eq_ignore_ascii_case(name));
        let first = found.next().map(|&(at, element)| Named { name, at, element });
        match found.next() {
            Some(_) => Err(error(format!("there are two columns {name:?}"))),
            None => Ok(first),
        }
    }
}

/// A column that was found by its name.
#[derive(Clone, Copy)]
pub struct Named<'a, 'n> {
    name: &'n str,
    at: usize,
    element: &'a Element,
}

impl Named<'_, '_> {
    /// The column, if it holds whole numbers; `cast` is the SQL that makes them such.
    ///
    /// # Errors
    /// When it does not.
    pub fn numbers(self, cast: &str) -> Result<Column> {
        let Self { name, at, element } = self;
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
            return Column::new(at, element);
        }
        let holds = match element.kind {
            Some(Type::DOUBLE) => "DOUBLE numbers, which are not exact",
            Some(Type::FLOAT) => "FLOAT numbers, which are not exact",
            _ => "no whole numbers",
        };
        Err(error(format!("the column {name:?} holds {holds}"))
            .advice(format!("write it as whole numbers, with {cast}")))
    }

    /// The column, if it holds texts.
    ///
    /// # Errors
    /// When it does not.
    pub fn texts(self) -> Result<Column> {
        let Self { name, at, element } = self;
        if element.kind != Some(Type::BYTE_ARRAY) {
            return Err(error(format!("the column {name:?} does not hold texts")));
        }
        Column::new(at, element)
    }

    /// The column, if it can hold this many bytes in each row.
    ///
    /// # Errors
    /// When it cannot.
    pub fn bytes(self, len: usize) -> Result<Column> {
        let Self { name, at, element } = self;
        let fits = match element.kind {
            Some(Type::BYTE_ARRAY) => true,
            Some(Type::FIXED_LEN_BYTE_ARRAY) => {
                element.len.and_then(|len| usize::try_from(len).ok()) == Some(len)
            }
            _ => false,
        };
        if !fits {
            return Err(error(format!("the column {name:?} does not hold {len} bytes"))
                .advice("leave the column out, or write it as a BLOB"));
        }
        Column::new(at, element)
    }
}

fn error(what: String) -> Error {
    Error::new(ErrorKind::Format, what)
}
