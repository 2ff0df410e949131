//! The file's layout: entries of 16 bytes, big-endian, ascending by key (docs/formats/polyglot.md, Entry).

/// Bytes of one entry: key 8, move 2, weight 2, learn 4 (docs/formats/polyglot.md, Entry).
pub const ENTRY_LEN: usize = 16;

/// Offset of the key in an entry, in bytes.
pub(crate) const KEY: u64 = 0;
/// Offset of the move.
pub const MOVE: u64 = 8;
/// Offset of the weight.
pub const WEIGHT: u64 = 10;
/// Offset of the learn field: games, then half-points, 16 bits each (docs/formats/polyglot.md, Learn field).
pub const LEARN: u64 = 12;
