//! What distinguishes one book from others, whatever it has learned (docs/formats/polyglot.md, Writing).
#![allow(clippy::cast_possible_truncation, reason = "the part of a whole is not greater than the whole")]

use std::convert::Infallible;

use sha2::{Digest as _, Sha256};

use tabiya_book::Learnable;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::polyglot::layout::ENTRY_LEN;

/// What distinguishes one book from others, whatever it has learned.
pub type Fingerprint = [u8; 32];

/// Entries in the fingerprint.
const SAMPLES: u64 = 64;

/// The SHA-256 of a book's length in bytes and of the key, move and weight of 64 entries, evenly spaced from the first
/// to the last. `entry` reads the entry of a number, from 0.
///
/// # Errors
/// When `entry` fails.
pub fn fingerprint<E>(
    len: u64,
    mut entry: impl FnMut(u64) -> Result<Option<PolyglotEntry>, E>,
) -> Result<Fingerprint, E> {
    let mut hash = Sha256::new();
    hash.update(len.to_be_bytes());
    let last = (len / ENTRY_LEN as u64).saturating_sub(1);
    for sample in 0..SAMPLES {
        let index = (u128::from(last) * u128::from(sample) / u128::from(SAMPLES - 1)) as u64;
        if let Some(entry) = entry(index)? {
            hash.update(entry.key.to_be_bytes());
            hash.update(entry.mv.0.to_be_bytes());
            hash.update(entry.weight.to_be_bytes());
        }
    }
    Ok(hash.finalize().into())
}

/// The fingerprint of an open book.
pub fn fingerprint_of(book: &dyn Learnable) -> Fingerprint {
    let entries = book.entries();
    let len = entries.len() as u64 * ENTRY_LEN as u64 + entries.trailing as u64;
    let entry = |index| Ok::<_, Infallible>(entries.get(usize::try_from(index).unwrap_or(usize::MAX)));
    match fingerprint(len, entry) {
        Ok(fingerprint) => fingerprint,
    }
}
