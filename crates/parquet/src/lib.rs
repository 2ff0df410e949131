//! Parquet files: the columns, row groups and pages that are wanted, within a limit of memory whatever the file claims.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub mod checked;
pub mod columns;
pub mod footer;
pub mod pages;
pub mod recent;
pub mod table;
pub mod values;
