//! Lichess's evaluations as Parquet: a row for each variation of each evaluation (docs/formats/evals.md, Lichess's dump).

use std::path::Path;

use tabiya_base::blob::Blob;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_parquet::columns::{Columns, Named};
use tabiya_parquet::footer::Footer;
use tabiya_parquet::table::Table;
use tabiya_parquet::values::Values;
use tabiya_search::evals::Wanted;

use super::lichess::found;
use super::problems::{Problem, Wrong};
use super::{EvaluationLine, Parsed, position};

/// Rows between two reports of progress.
pub(super) const STRIDE: u64 = 1 << 12;

/// Rows that one byte of a file may hold: rows of one position, whose FEN is written once, may differ only in small numbers.
const ROWS_PER_BYTE: u64 = 64;

/// The columns of texts, which come first, and those of numbers.
const TEXTS: [&str; 2] = ["fen", "line"];
const NUMBERS: [&str; 4] = ["depth", "knodes", "cp", "mate"];

/// Opens a file.
///
/// # Errors
/// When it cannot be read, is damaged, lacks a column, or has one of another type.
pub(super) fn open(path: &Path) -> Result<Table> {
    let find = |footer: &Footer| {
        let all = Columns::from_schema(&footer.schema);
        let needed = |name| -> Result<Named<'_, '_>> {
            all.named(name)?.ok_or_else(|| {
                let what = format!("this Parquet file has no column {name:?}, which evaluations need");
                Error::new(ErrorKind::Format, what)
                    .advice("the columns are fen, line, depth, knodes, cp and mate")
            })
        };
        let texts = TEXTS.iter().map(|name| needed(name)?.texts());
        let numbers =
            NUMBERS.iter().map(|name| needed(name)?.numbers(&format!("CAST({name} AS BIGINT) AS {name}")));
        let columns: Result<Vec<_>> = texts.chain(numbers).collect();
        Ok((columns?, ROWS_PER_BYTE))
    };
    Table::new(Blob::open(path)?, find)
}

/// Reads a row group: `see` gets each row and its number, and returns whether to go on.
///
/// # Errors
/// When the file cannot be read or is damaged, or the work is interrupted.
pub(super) fn group(
    table: &Table,
    group: usize,
    wanted: Option<&Wanted>,
    mut see: impl FnMut(u64, Parsed) -> bool,
) -> Result<()> {
    table.rows_of(
        group,
        0..table.group_rows(group),
        |_| true,
        |first, columns, rows| {
            interrupt::check()?;
            for at in 0..rows {
                if !see(first + at as u64, row(columns, at, wanted)) {
                    return Err(Error::new(ErrorKind::File, "the work stopped"));
                }
            }
            Ok(())
        },
    )
}

fn row(columns: &[Values], at: usize, wanted: Option<&Wanted>) -> Parsed {
    let [fen, line, depth, knodes, cp, mate] = columns else { return Ok(None) };
    let missing = |name: &str| Problem::new(Wrong::Unreadable, 0, format!("{name} is missing or impossible"));
    let position = position(fen.bytes(at).ok_or_else(|| missing("fen"))?)?;
    if wanted.is_some_and(|wanted| !wanted.contains(&position)) {
        return Ok(Some(EvaluationLine::Unwanted));
    }
    let line = str::from_utf8(line.bytes(at).unwrap_or_default()).map_err(|_| missing("line"))?;
    let unsigned = |values: &Values, name: &str| {
        let number = if values.is_null(at) { Some(0) } else { values.number(at) };
        number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| missing(name))
    };
    let signed = |values: &Values| values.number(at).and_then(|number| i64::try_from(number).ok());
    let (depth, knodes) = (unsigned(depth, "depth")?, unsigned(knodes, "knodes")?);
    found(position, (signed(cp), signed(mate)), depth, knodes, line).map(Some)
}
