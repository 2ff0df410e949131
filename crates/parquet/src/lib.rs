//! Parquet files: the columns, row groups and pages that are wanted, within a limit of memory whatever the file claims.

#[cfg(feature = "parquet")]
pub(crate) mod checked;
#[cfg(feature = "parquet")]
pub(crate) mod columns;
#[cfg(feature = "parquet")]
pub(crate) mod footer;
#[cfg(feature = "parquet")]
pub(crate) mod pages;
#[cfg(feature = "parquet")]
pub(crate) mod recent;
#[cfg(feature = "parquet")]
pub(crate) mod table;
#[cfg(feature = "parquet")]
pub(crate) mod values;

/// The first and the last bytes of a Parquet file.
pub const MAGIC: &[u8] = b"PAR1";
