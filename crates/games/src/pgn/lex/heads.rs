//! Where heads begin, by the first of the tags that every game has.

use tabiya_base::bytes::Parts as _;

use super::super::look::{Finder, Needle, memchr_iter, memrchr};
use super::tags::is_whole_tag;
use tabiya_chess::{char_at, is_blank};

/// The start of a game: the first of the seven tags that the PGN standard requires, at the start of a line.
pub(in crate::pgn) const FIRST_TAG: &[u8] = b"[Event ";

static HEADS: Needle = Needle::new(|| Finder::new(FIRST_TAG));

/// The most bytes by which a head is indented.
const MAX_INDENT: usize = 256;

/// Where the next game begins after this byte: at its bracket.
pub(in crate::pgn) fn next_head(text: &[u8], after: usize) -> Option<usize> {
    let mut from = after + 1;
    loop {
        let at = from + HEADS.find(text.get(from..)?)?;
        if begins_line(text, at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// The brackets of the lines, but for the first, that begin with a whole tag.
pub(in crate::pgn) fn tag_lines(text: &[u8]) -> impl Iterator<Item = usize> {
    bracket_lines(text).filter(|at| is_whole_tag(text.part(*at..)))
}

/// The brackets that lines begin with, but for the first line.
pub(in crate::pgn) fn bracket_lines(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'\n', text).map(|line| line + 1).filter(|at| text.get(*at) == Some(&b'['))
}

/// Whether a line begins here, apart from space.
pub(in crate::pgn) fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text.part(at.saturating_sub(MAX_INDENT)..at);
    if before.ends_with(b"\n") {
        return true;
    }
    let Some(line) = memrchr(b'\n', before) else { return false };
    let mut indent = before.part(line + 1..);
    while let (Some(c), len) = char_at(indent)
        && is_blank(c)
    {
        indent = indent.part(len..);
    }
    indent.is_empty()
}
