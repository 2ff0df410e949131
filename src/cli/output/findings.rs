//! The findings of a check, one per line.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::Printed;
use super::exit::Exit;
use super::rows::{self, many};
use crate::base::error::Result;
use crate::base::findings::Finding;
use crate::base::progress::Progress;
use crate::cli::output::progress;

/// A finding in JSON. Names of keys are a promise.
#[derive(Serialize)]
struct Line<'a> {
    book: Cow<'a, str>,
    severity: String,
    /// A clause; for several findings, their number and what they are.
    what: &'a str,
    count: u64,
    /// In bytes from the start of the file.
    offset: Option<u64>,
    /// The name of that file, where it is another than the one that holds the entries.
    file: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(path: &'a Path, finding: &'a Finding) -> Self {
        let Finding { severity, what, count, offset, file } = finding;
        let (book, severity) = (path.to_string_lossy(), severity.to_string());
        Self { book, severity, what, count: *count, offset: *offset, file: file.as_deref() }
    }
}

/// What a check found, in JSON.
#[derive(Serialize)]
struct Sum<'a> {
    book: Cow<'a, str>,
    errors: u64,
    warnings: u64,
}

/// Prints the findings of `check` as they are reported, and then how many there were.
///
/// # Errors
/// When `check` fails, or standard output cannot be written.
pub fn list(
    path: &Path,
    json: bool,
    out: &mut dyn io::Write,
    check: impl FnOnce(&Progress, &mut dyn FnMut(Finding)) -> Result<()>,
) -> Printed<Exit> {
    let name = path.display();
    let progress = progress::on_terminal(path.to_string_lossy());
    let (mut errors, mut warnings) = (0, 0);
    let mut written = Ok(());
    check(&progress, &mut |finding| {
        *(if finding.is_error() { &mut errors } else { &mut warnings }) += finding.count;
        if written.is_ok() {
            written = progress.aside(|| match json {
                true => rows::json(&Line::of(path, &finding), out),
                false => writeln!(out, "{name}: {}: {finding}", finding.severity),
            });
        }
    })?;
    drop(progress);
    written?;
    let exit = if errors == 0 { Exit::Done } else { Exit::Findings };
    if json {
        rows::json(&Sum { book: path.to_string_lossy(), errors, warnings }, out)?;
        return Ok(exit);
    }
    let errors_found = if errors == 0 { "sound".to_owned() } else { many(errors, "error") };
    let warnings_found =
        if warnings == 0 { String::new() } else { format!(", {}", many(warnings, "warning")) };
    writeln!(out, "{name}: {errors_found}{warnings_found}")?;
    Ok(exit)
}
