//! Checking a whole archive: its directory, and that every member unpacks.

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::{Findings, kinds};

use super::Cbv;

/// Bytes that may follow the last member: those that fill the last 8 of an archive that was locked.
const PADDING: u64 = 7;

kinds! {
    /// What can be wrong with an archive.
    pub enum Kind {
        Member: Error "files that cannot be unpacked",
        Trailing: Warning "bytes after the last file",
    }
}

/// Unpacks every member, and adds those that cannot be to `findings`.
///
/// # Errors
/// When the archive cannot be read, or the work is interrupted.
pub fn check(archive: &Cbv, findings: &mut Findings<'_>) -> Result<()> {
    let mut add = |error: Error| {
        if error.kind() != ErrorKind::Format {
            return Err(error);
        }
        findings.add(Kind::Member, error.offset().unwrap_or(0), error.what());
        Ok(())
    };
    for member in archive.members() {
        archive.unpacked(member).and_then(|unpacked| unpacked.check()).or_else(&mut add)?;
    }
    let trailing = archive.len() - archive.end().min(archive.len());
    if trailing > PADDING {
        findings.add(Kind::Trailing, archive.end(), format_args!("{trailing} bytes follow the last file"));
    }
    Ok(())
}
