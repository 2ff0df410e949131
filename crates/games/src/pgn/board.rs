//! Positions in text, where a tag of another name or form than `FEN` has them.

use tabiya_base::bytes::Parts as _;

use memchr::{memchr, memchr_iter, memrchr};

/// The pieces of the ordinary start in a FEN.
const ORDINARY: &[u8] = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// Parts of the names of tags whose position comes after the moves, such as `CurrentPosition`.
const LATER: [&[u8]; 4] = [b"current", b"final", b"last", b"end"];

/// Whether a head has a position that its game may start from, and that is not the ordinary one.
pub(super) fn has_start(head: &[u8]) -> bool {
    let mut at = 0;
    while let Some(slash) = memchr(b'/', head.part(at..)) {
        let slash = at + slash;
        let is_end = |byte: &u8| !matches!(byte, b'1'..=b'8' | b'/') && !b"pnbrqkPNBRQK~".contains(byte);
        let before = head.part(..slash);
        let start = before.iter().rposition(is_end).map_or(0, |at| at + 1);
        let rest = head.part(slash..);
        let end = slash + rest.iter().position(is_end).unwrap_or(rest.len());
        let board = head.part(start..end);
        if is_board(board) && board != ORDINARY && !is_later(head.part(..start)) {
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
    memchr_iter(b'/', text).count() == 7 && text.split(|byte| *byte == b'/').all(|rank| squares(rank) == 8)
}

/// Whether the line that goes on here is a tag for the position after the moves.
fn is_later(before: &[u8]) -> bool {
    let line = before.part(memrchr(b'\n', before).map_or(0, |at| at + 1)..).to_ascii_lowercase();
    let tag = memrchr(b'[', &line).and_then(|at| line.get(at..)).unwrap_or_default();
    LATER.iter().any(|part| memchr::memmem::find(tag, part).is_some())
}
