//! Stores of evaluations: what `tabiya info` shows of them, and one with its values backed up through a book.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::{Finding, summed};
use tabiya_book::traits::Book;
use tabiya_search::evals::{EngineId, Store};
use tabiya_workshop::values::Look;

use super::exit::Exit;
use super::rows::{Sheet, many};
use super::{Printed, interrupts, progress};

/// The evaluations of one engine.
#[derive(Serialize)]
struct EngineLine {
    name: String,
    positions: u64,
    /// The least, the middle and the greatest depth.
    depths: [u16; 3],
}

/// Prints what a store contains.
///
/// # Errors
/// When it cannot be read, or standard output cannot be written.
pub fn info(path: &Path, json: bool, out: &mut dyn Write) -> Printed<Exit> {
    let store = Store::open(path)?;
    let progress = progress::on_terminal(path.to_string_lossy());
    let (checked, findings) = summed(|findings| store.check(&progress, findings));
    checked?;
    // How many evaluations of each depth.
    let mut engines: BTreeMap<EngineId, BTreeMap<u16, u64>> = BTreeMap::new();
    for (_, evaluation) in store.iter() {
        *engines.entry(evaluation.engine).or_default().entry(evaluation.depth).or_default() += 1;
    }
    drop(progress);
    let mut lines: Vec<_> = engines
        .iter()
        .map(|(id, depths)| {
            let positions: u64 = depths.values().sum();
            let middle = |rank: u64| {
                let mut before = 0;
                let found = depths.iter().find(|(_, count)| {
                    before += **count;
                    before > rank
                });
                found.map_or(0, |(depth, _)| *depth)
            };
            let depths = [0, positions / 2, positions.saturating_sub(1)].map(middle);
            EngineLine { name: store.engine(*id), positions, depths }
        })
        .collect();
    lines.sort_by(|a, b| b.positions.cmp(&a.positions).then_with(|| a.name.cmp(&b.name)));

    let mut sheet = Sheet::new(path, json, out)?;
    sheet.key("format", "evals")?;
    sheet.row("format", "store of evaluations")?;
    sheet.files([path.to_owned()])?;
    sheet.number("positions", "positions", lines.iter().map(|line| line.positions).sum::<u64>())?;
    sheet.number("appended", "appended", store.appended())?;
    for EngineLine { name, positions, depths: [least, middle, most] } in &lines {
        let positions = many(*positions, "position");
        sheet.row("source", format_args!("{name}: {positions}, depth {least} to {most}, median {middle}"))?;
    }
    sheet.key("sources", &lines)?;
    sheet.findings("oddities", &findings)?;
    sheet.end()?;
    let damaged = findings.iter().any(Finding::is_error);
    Ok(if damaged { Exit::Findings } else { Exit::Done })
}

/// That a store of evaluations is missing, and what to do.
pub(crate) fn no_store(path: &Path, advice: &str) -> Error {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Error::new(ErrorKind::File, "there is no store of evaluations").at_path(path).advice(advice)
}

/// The store with its values backed up through a book.
///
/// # Errors
/// When there is no such store, when it cannot be read, and when the work is interrupted.
pub(crate) fn backed_up(store: &Path, book: &dyn Book) -> Result<Look> {
    let Some(mut look) = Look::open(store)? else {
        return Err(no_store(store, "make one with `tabiya vet` or `tabiya import`"));
    };
    interrupts::watch();
    look.back_up(book, &progress::on_terminal(book.path().to_string_lossy()))?;
    Ok(look)
}
