//! Positions in text, where a tag of another name or form than `FEN` has them.

use tabiya_base::bytes::Parts as _;

use super::look::{memchr, memchr_iter, memmem};

/// The pieces of the ordinary start in a FEN.
const ORDINARY: &[u8] = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// Ranks of a board, between which a FEN has slashes.
const RANKS: usize = 8;

/// Parts of the names of tags whose position comes after the moves, such as `CurrentPosition`.
const LATER: [&[u8]; 4] = [b"current", b"final", b"last", b"end"];

/// What courses of Chessable write before the position of a diagram in their words.
const DIAGRAM: &[u8] = b"@@StartFEN@@";

/// Whether a head has a position that its game may start from, and that is not the ordinary one.
pub(super) fn has_start(head: &[u8]) -> bool {
    // Nearly all heads have fewer slashes than a board.
    if memchr_iter(b'/', head).count() < RANKS - 1 {
        return false;
    }
    head.split(|byte| *byte == b'\n').any(|line| {
        let mut rest = line;
        // A bracket begins another tag.
        while !rest.is_empty() {
            let len = memchr(b'[', rest.part(1..)).map_or(rest.len(), |len| 1 + len);
            let (tag, after) = rest.split_at_checked(len).unwrap_or_default();
            if memchr(b'/', tag).is_some() && has_board(tag) {
                return true;
            }
            rest = after;
        }
        false
    })
}

/// Whether a tag, or text in which none begins, has such a position.
fn has_board(head: &[u8]) -> bool {
    let later = if head.starts_with(b"[") { later(head) } else { head.len() };
    let mut at = 0;
    while let Some(slash) = memchr(b'/', head.part(at..)) {
        let slash = at + slash;
        let is_end = |byte: &u8| !matches!(byte, b'1'..=b'8' | b'/') && !b"pnbrqkPNBRQK~".contains(byte);
        let before = head.part(..slash);
        let start = before.iter().rposition(is_end).map_or(0, |at| at + 1);
        let rest = head.part(slash..);
        let end = slash + rest.iter().position(is_end).unwrap_or(rest.len());
        let board = head.part(start..end);
        let is_diagram = head.part(..start).trim_ascii_end().ends_with(DIAGRAM);
        if is_board(board) && board != ORDINARY && start < later && !is_diagram {
            return true;
        }
        at = end.max(slash + 1);
    }
    false
}

/// Whether a text is that of eight ranks with eight squares each.
fn is_board(text: &[u8]) -> bool {
    let squares =
        |rank: &[u8]| -> usize {
            rank.iter()
                .map(|byte| {
                    if byte.is_ascii_digit() { usize::from(byte - b'0') } else { usize::from(*byte != b'~') }
                })
                .sum()
        };
    memchr_iter(b'/', text).count() == RANKS - 1
        && text.split(|byte| *byte == b'/').all(|rank| squares(rank) == 8)
}

/// How much of a tag comes before what says that it is for the position after the moves.
fn later(tag: &[u8]) -> usize {
    let tag = tag.to_ascii_lowercase();
    let ends = LATER.iter().filter_map(|part| Some(memmem::find(&tag, part)? + part.len()));
    ends.min().unwrap_or(tag.len())
}
