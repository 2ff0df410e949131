//! Checksums of what is appended to files.

use sha2::{Digest as _, Sha256};

/// The first bytes of the SHA-256, as many as wanted.
///
/// ```
/// use tabiya_base::check::check;
/// assert_eq!(check(b"abc"), [0xba, 0x78, 0x16, 0xbf]);
/// ```
pub fn check<const N: usize>(data: &[u8]) -> [u8; N] {
    Sha256::digest(data).first_chunk().copied().unwrap_or([0; N])
}
