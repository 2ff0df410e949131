//! Checking a whole archive: that every file in it unpacks, also those that are not of the database.

use tabiya_base::error::{ErrorKind, Result};

use super::Cbv;

/// Bytes that may follow the last file: those that fill the last 8 of an archive that was locked.
const PADDING: u64 = 7;

/// Unpacks every file, and shows `found` what is wrong with those that cannot be, with the offset.
///
/// # Errors
/// When the archive cannot be read, or the work is interrupted.
pub fn check(archive: &Cbv, found: &mut dyn FnMut(u64, &str)) -> Result<()> {
    for member in archive.members() {
        match archive.unpacked(member).and_then(|unpacked| unpacked.check()) {
            Err(error) if error.kind() == ErrorKind::Format => {
                found(error.offset().unwrap_or(0), error.what())
            }
            checked => checked?,
        }
    }
    Ok(())
}

/// Bytes after the last file that no program writes: their offset and number.
pub fn trailing(archive: &Cbv) -> Option<(u64, u64)> {
    let count = archive.len().saturating_sub(archive.end());
    (count > PADDING).then(|| (archive.end(), count))
}
