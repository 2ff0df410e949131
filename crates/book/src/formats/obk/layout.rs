//! The layout of the files, all numbers little-endian (docs/formats/obk.md, Header; docs/formats/obk.md, Moves).

/// The first bytes of version 1, of Chessmaster up to 8000.
pub const START_V1: [u8; 4] = *b"UGWS";
/// The first bytes of version 2, of Chessmaster 9000 and later.
pub const START_V2: [u8; 4] = *b"BOO!";

/// Offset of the number of moves.
pub(crate) const COUNT_AT: u64 = 4;
/// Offset of the length of the texts in bytes, in version 2.
pub(crate) const TEXTS_AT: u64 = 8;
/// Bytes before the first move.
pub(crate) const HEADER_V1: usize = 8;
/// The same of version 2.
pub(crate) const HEADER_V2: usize = 12;

/// Bytes of a move.
pub const RECORD_LEN: usize = 2;

/// Bits of a square.
pub(crate) const SQUARE: u8 = 0x3f;
/// The bit of the first byte that says that no other move follows for the same position.
pub(crate) const LAST: u8 = 0x40;
/// The bit of the first byte that says that no move follows after this one.
pub(crate) const LEAF: u8 = 0x80;
/// How far the weight is shifted in the second byte.
pub(crate) const WEIGHT_SHIFT: u32 = 6;

/// What each weight is in per cent (docs/formats/obk.md, Weights).
pub(crate) const WEIGHTS: [u64; 4] = [0, 25, 50, 100];
