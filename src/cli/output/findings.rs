//! The findings of a check, one per line.

use std::io;
use std::path::Path;

use super::Printed;
use super::exit::Exit;
use super::rows::many;
use crate::base::error::Result;
use crate::base::findings::Finding;
use crate::base::progress::Progress;

/// Prints the findings of `check` as they are reported, and then how many there were.
///
/// # Errors
/// When `check` fails, or standard output cannot be written.
pub fn list(
    path: &Path,
    out: &mut dyn io::Write,
    check: impl FnOnce(&Progress, &mut dyn FnMut(Finding)) -> Result<()>,
) -> Printed<Exit> {
    let name = path.display();
    let progress = Progress::terminal(path.to_string_lossy());
    let (mut errors, mut warnings) = (0, 0);
    let mut written = Ok(());
    check(&progress, &mut |finding| {
        *(if finding.is_error() { &mut errors } else { &mut warnings }) += finding.count;
        if written.is_ok() {
            written = progress.aside(|| writeln!(out, "{name}: {}: {finding}", finding.severity));
        }
    })?;
    drop(progress);
    written?;
    let errors_found = if errors == 0 { "sound".to_owned() } else { many(errors, "error") };
    let warnings_found =
        if warnings == 0 { String::new() } else { format!(", {}", many(warnings, "warning")) };
    writeln!(out, "{name}: {errors_found}{warnings_found}")?;
    Ok(if errors == 0 { Exit::Done } else { Exit::Findings })
}
