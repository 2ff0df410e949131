//! What commands print about count files.

use std::io::Write;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, Result};
use tabiya_base::findings::{Severity, listed, summed};
use tabiya_book::counts::{CountFile, CountsWritten, add_unopened, sum};
use tabiya_book::{By, OtherRules};
use tabiya_chess::Variant;

use super::Printed;
use super::exit::Exit;
use super::findings::{list, of_other_rules};
use super::rows::{Sheet, many};
use crate::output::interrupts;
use crate::output::progress;

/// What was written, in a line for people; none if nothing was written.
pub(crate) fn written_lines(written: &CountsWritten) -> Vec<String> {
    let CountsWritten { file, rows, positions, plies } = written;
    let (rows, positions) = (many(*rows, "row"), many(*positions, "position"));
    let line = || format!("{}: {rows}, {positions}, {}", file.display(), many(*plies, "ply"));
    (*plies > 0).then(line).into_iter().collect()
}

/// What was read from count files, in lines for people; `filtered`: the other games were filtered; `left`: rows that the
/// filter left out.
pub(crate) fn read_lines(files: &[CountFile], filtered: bool, left: u64) -> Vec<String> {
    if files.is_empty() {
        return Vec::new();
    }
    let rows = many(files.iter().map(CountFile::rows).sum(), "row");
    let mut lines = vec![format!("{rows} read from {}", many(files.len() as u64, "count file"))];
    if left > 0 {
        lines.push(format!("left out: {} of other speeds or ratings (--speed, --rating)", many(left, "row")));
    }
    if filtered {
        lines.push("filters of games did not apply to them".to_owned());
    }
    lines
}

/// Prints what a count file or a folder of count files holds.
///
/// # Errors
/// When a file cannot be opened, or standard output cannot be written.
pub fn info(path: &Path, names: &[PathBuf], json: bool, out: &mut dyn Write) -> Printed<Exit> {
    let (files, failed) = open(names)?;
    let (sums, findings) = summed(|findings| {
        add_unopened(&failed, findings);
        let sum =
            |file: &CountFile| sum(file, &progress::on_terminal(file.path().to_string_lossy()), findings);
        files.iter().map(sum).collect::<Result<Vec<_>>>()
    });
    let mut sums = sums?;
    let mut whole = sums.pop().unwrap_or_default();
    sums.iter().for_each(|sum| whole.add(sum));
    let first = files.first();
    // The version, if it is the same in all files.
    let version = first.and_then(CountFile::version);
    let version = version.filter(|_| files.iter().all(|file| file.version() == version));
    let created_by = first.and_then(CountFile::created_by);
    let rows: u64 = files.iter().map(CountFile::rows).sum();
    let groups: usize = files.iter().map(CountFile::groups).sum();
    let has_positions = files.iter().all(CountFile::has_positions);
    let by = files.iter().map(|file| file.shape().by).reduce(By::and).unwrap_or_default();
    let by: Vec<_> = by.columns().collect();

    let mut sheet = Sheet::new(path, json, out)?;
    sheet.key("format", "counts")?;
    let numbered = version.map_or_else(String::new, |version| format!(", version {version}"));
    sheet.row("format", format_args!("counts (Parquet{numbered})"))?;
    sheet.files(files.iter().map(|file| file.path().to_owned()))?;
    if let Some(by) = created_by {
        sheet.row("written by", by)?;
    }
    sheet.key("entries", rows)?;
    sheet.row("rows", format_args!("{rows} in {}", many(groups as u64, "row group")))?;
    sheet.number("positions", "positions", whole.positions)?;
    let contents = if has_positions { "keys and positions" } else { "keys" };
    let apart = if by.is_empty() { String::new() } else { format!(", games by {}", by.join(" and ")) };
    sheet.row("contains", format_args!("{contents}{apart}"))?;
    sheet.key("games", whole.games)?;
    sheet.row("games", format_args!("{} from the starting position", whole.games))?;
    let (wins, draws, losses) = (whole.wins, whole.draws, whole.losses);
    sheet.row("plies", format_args!("{} ({wins} won, {draws} drawn, {losses} lost)", whole.plies()))?;
    for (key, count) in [("wins", wins), ("draws", draws), ("losses", losses)] {
        sheet.key(key, count)?;
    }
    sheet.key("holds_positions", has_positions)?;
    sheet.key("by", by)?;
    sheet.key("version", version)?;
    sheet.key("created_by", created_by)?;
    sheet.key("row_groups", groups)?;
    for (key, severity) in [("damages", Severity::Error), ("oddities", Severity::Warning)] {
        sheet.findings(key, findings.iter().filter(|finding| finding.severity == severity))?;
    }
    sheet.end()?;
    let is_damaged = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if is_damaged { Exit::Findings } else { Exit::Done })
}

/// Prints what is wrong with a count file or a folder of count files.
///
/// # Errors
/// When a file cannot be opened, or standard output cannot be written.
pub fn check(
    path: &Path,
    names: &[PathBuf],
    variant: Variant,
    json: bool,
    out: &mut dyn Write,
) -> Printed<Exit> {
    list(path, json, out, |progress, report| {
        let (files, failed) = open(names)?;
        let part = |file: &CountFile| (names.len() > 1).then(|| file.path().to_owned());
        for file in files.iter().filter(|file| file.variant() != variant) {
            let likely = file.variant();
            let other = OtherRules { not: variant, likely, rules: vec![likely] };
            report(of_other_rules(&other, part(file).as_deref()));
        }
        listed(report, |findings| {
            add_unopened(&failed, findings);
            files.iter().try_for_each(|file| sum(file, progress, findings).map(|_| ()))
        })
    })
}

/// Opens the count files of a folder, or the one that is named; returns also why some cannot be opened.
///
/// # Errors
/// When none can.
fn open(names: &[PathBuf]) -> Result<(Vec<CountFile>, Vec<Error>)> {
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    for name in names {
        match CountFile::open(name) {
            Ok(file) => files.push(file),
            Err(error) => failed.push(error.or_at_path(name)),
        }
    }
    interrupts::watch();
    match failed.pop() {
        Some(error) if files.is_empty() => Err(error),
        last => {
            failed.extend(last);
            Ok((files, failed))
        }
    }
}
