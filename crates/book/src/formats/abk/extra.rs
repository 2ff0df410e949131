//! What other Arena books keep of a position: the priorities of its moves.

use tabiya_chess::MoveCode;

use super::FORMAT;
use crate::{Extra, PositionRecord};

/// Bytes of a move: its code, its priority.
const LEN: usize = 3;

/// The priorities of moves, for other Arena books.
pub(super) fn extra(priorities: impl Iterator<Item = (MoveCode, u8)>) -> Extra {
    let bytes = priorities.flat_map(|(mv, priority)| {
        let [low, high] = mv.0.to_le_bytes();
        [low, high, priority]
    });
    Extra { format: FORMAT, book: 0, bytes: bytes.collect() }
}

/// The moves of such bytes, with their priorities.
pub(super) fn each(bytes: &[u8]) -> impl Iterator<Item = (MoveCode, u8)> {
    let (moves, _) = bytes.as_chunks::<LEN>();
    moves.iter().map(|&[low, high, priority]| (MoveCode(u16::from_le_bytes([low, high])), priority))
}

/// The priority that a move has in the Arena books of a record; whatever their order and number, the same results.
pub fn priority(known: &PositionRecord, mv: MoveCode) -> Option<u8> {
    let own = known.extras.iter().filter(|extra| extra.format == FORMAT);
    own.flat_map(|extra| each(&extra.bytes))
        .filter(|(known, _)| *known == mv)
        .map(|(_, priority)| priority)
        .max()
}
