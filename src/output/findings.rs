//! The findings of a check, one per line.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use tabiya_base::error::Result;
use tabiya_base::findings::{Finding, Severity};
use tabiya_base::progress::Progress;
use tabiya_book::OtherRules;

use super::Printed;
use super::advice::with_variant;
use super::exit::Exit;
use super::rows::{self, many};
use crate::output::progress;

/// A finding in JSON. Names of keys are a promise.
fn line(path: &Path, finding: &Finding) -> Value {
    let Finding { severity, what, count, offset, file, .. } = finding;
    json!({
        "book": path.to_string_lossy(), "severity": severity.to_string(),
        "what": what, "count": count, "offset": offset, "file": file,
    })
}

/// The finding that a book, or a file of it, is not for the variant that it is read for.
pub(crate) fn of_other_rules(other: &OtherRules, file: Option<&Path>) -> Finding {
    Finding {
        severity: Severity::Error,
        what: with_variant(other),
        count: 1,
        offset: None,
        file: file.map(|file| file.to_string_lossy().into_owned()),
        means: "",
    }
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
                true => rows::json(&line(path, &finding), out),
                false => writeln!(
                    out,
                    "{name}: {}: {finding}{}{}",
                    finding.severity,
                    if finding.means.is_empty() { "" } else { ": " },
                    finding.means
                ),
            });
        }
    })?;
    drop(progress);
    written?;
    let exit = if errors == 0 { Exit::Done } else { Exit::Findings };
    if json {
        rows::json(&json!({ "book": path.to_string_lossy(), "errors": errors, "warnings": warnings }), out)?;
        return Ok(exit);
    }
    let errors_found = if errors == 0 { "sound".to_owned() } else { many(errors, "error") };
    let warnings_found =
        if warnings == 0 { String::new() } else { format!(", {}", many(warnings, "warning")) };
    writeln!(out, "{name}: {errors_found}{warnings_found}")?;
    Ok(exit)
}
