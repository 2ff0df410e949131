//! The header and the moves of a file (docs/formats/obk.md, Header; docs/formats/obk.md, Moves).

use shakmaty::{Chess, Move, Position as _, Role, Square};

use tabiya_base::bytes;
use tabiya_chess::MoveCode;

use super::layout::{
    COUNT_AT, HEADER_V1, HEADER_V2, LAST, LEAF, RECORD_LEN, SQUARE, START_V1, START_V2, TEXTS_AT,
    WEIGHT_SHIFT, WEIGHTS,
};

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObkHeader {
    /// 1 or 2.
    pub version: u8,
    /// Bytes before the first move.
    pub len: usize,
    /// Moves.
    pub moves: u32,
    /// Bytes of the texts after the moves.
    pub texts: u32,
}

impl ObkHeader {
    /// Reads a header; `None` if the bytes do not begin as one or end within it.
    pub fn read(data: &[u8]) -> Option<Self> {
        let moves = bytes::u32_le(data, COUNT_AT)?;
        match bytes::array(data, 0)? {
            START_V1 => Some(Self { version: 1, len: HEADER_V1, moves, texts: 0 }),
            START_V2 => {
                Some(Self { version: 2, len: HEADER_V2, moves, texts: bytes::u32_le(data, TEXTS_AT)? })
            }
            _ => None,
        }
    }

    /// The moves that the file has room for.
    pub fn records(self, data: &[u8]) -> &[[u8; RECORD_LEN]] {
        let held = data.get(self.len..).unwrap_or_default().as_chunks().0;
        let claimed = usize::try_from(self.moves).unwrap_or(usize::MAX);
        held.get(..claimed).unwrap_or(held)
    }

    /// Where a move is, in bytes from the start of the file.
    pub fn offset(self, number: usize) -> u64 {
        (self.len + number * RECORD_LEN) as u64
    }
}

/// A move of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObkRecord {
    /// The square that it comes from, 0 (a1) to 63 (h8).
    pub from: u8,
    /// The square that it goes to.
    pub to: u8,
    /// 0, never to be played, to 3.
    pub weight: u8,
    /// Whether no other move follows for the same position.
    pub is_last: bool,
    /// Whether no move follows after this one.
    pub is_leaf: bool,
}

impl ObkRecord {
    /// Reads a move.
    pub fn from_bytes([first, second]: [u8; RECORD_LEN]) -> Self {
        Self {
            from: first & SQUARE,
            to: second & SQUARE,
            weight: second >> WEIGHT_SHIFT,
            is_last: first & LAST != 0,
            is_leaf: first & LEAF != 0,
        }
    }

    /// The move as it is in the file.
    pub fn to_bytes(self) -> [u8; RECORD_LEN] {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let first = self.from & SQUARE | flag(self.is_last, LAST) | flag(self.is_leaf, LEAF);
        [first, self.to & SQUARE | self.weight << WEIGHT_SHIFT]
    }

    /// Whether it is a1a1, which is no move.
    pub fn is_null(self) -> bool {
        (self.from, self.to) == (0, 0)
    }

    /// Its weight in per cent.
    pub fn percent(self) -> u64 {
        WEIGHTS.get(usize::from(self.weight)).copied().unwrap_or(0)
    }

    /// Its move, a promotion being one to a queen.
    pub fn code(self, chess: &Chess) -> MoveCode {
        let [from, to] = [self.from, self.to].map(|square| Square::new(u32::from(square & SQUARE)));
        let promotes = chess.board().role_at(from) == Some(Role::Pawn)
            && to.rank() == chess.turn().relative_rank(shakmaty::Rank::Eighth);
        MoveCode::new(from, to, promotes.then_some(Role::Queen))
    }

    /// Its legal move in a position.
    pub fn legal(self, chess: &Chess) -> Option<Move> {
        self.code(chess).resolve(chess).filter(|&mv| chess.is_legal(mv))
    }
}
