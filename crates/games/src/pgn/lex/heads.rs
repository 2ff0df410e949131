//! Where heads begin, by the first of the tags that every game has.

use memchr::{memmem, memrchr};

use tabiya_chess::{char_at, is_blank};

/// The start of a game: the first of the seven tags that the PGN standard requires, at the start of a line.
pub(in crate::pgn) const FIRST_TAG: &[u8] = b"[Event ";

/// The most bytes by which a head is indented.
const MAX_INDENT: usize = 256;

/// Where the next game begins after this byte: at its bracket.
pub(in crate::pgn) fn next_head(text: &[u8], after: usize) -> Option<usize> {
    let mut from = after + 1;
    loop {
        let at = from + memmem::find(text.get(from..)?, FIRST_TAG)?;
        if begins_line(text, at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Whether a line begins here, apart from space.
pub(in crate::pgn) fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(MAX_INDENT)..at).unwrap_or_default();
    if before.ends_with(b"\n") {
        return true;
    }
    let Some(line) = memrchr(b'\n', before) else { return false };
    let mut indent = before.get(line + 1..).unwrap_or_default();
    while let (Some(c), len) = char_at(indent)
        && is_blank(c)
    {
        indent = indent.get(len..).unwrap_or_default();
    }
    indent.is_empty()
}
