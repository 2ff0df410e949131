//! The layout of the files, all numbers little-endian (docs/formats/exp.md, Families; docs/formats/exp.md, Records).

/// The first bytes of a file of SugaR's second version, without a NUL (docs/formats/exp.md, Families).
pub const SUGAR_V2: [u8; 26] = *b"SugaR Experience version 2";

/// The first bytes of a file of SugaR's first version.
pub const SUGAR_V1: [u8; 5] = *b"SugaR";

/// Bytes of a record of each family that is read.
pub const RECORD_LEN: usize = 24;

/// The version, and the length of a record, by which files of other builds with SugaR's signature are known.
pub(crate) const WIDE_VERSION_AT: u64 = 26;
pub(crate) const WIDE_VERSION: u8 = 2;
pub(crate) const WIDE_LEN_AT: u64 = 39;
pub(crate) const WIDE_LEN: u32 = 34;

/// The first bytes of two formats of other programs.
pub(crate) const REVOLUTION: &[u8] = b"# Revolution experience format";
pub(crate) const VIEWER: &[u8] = b"Experience version 3.0";

/// The greatest depth of a record that is plausible (docs/formats/exp.md, Families).
pub(crate) const MAX_DEPTH: i32 = 250;

/// A value above that of every mate: none is known (docs/formats/exp.md, Values).
pub(crate) const NO_VALUE: i32 = 32_002;

/// The greatest win probability, in per cent.
pub(crate) const MAX_PERFORMANCE: i32 = 100;

/// Codes of moves that are none: a1a1, and b1b1 for passing (docs/formats/exp.md, Moves).
pub(crate) const NO_MOVES: [u16; 2] = [0, 65];

/// The first of the two bits of a promotion piece, and of those of the kind of a move.
pub(crate) const PROMOTION_SHIFT: u32 = 12;
pub(crate) const KIND_SHIFT: u32 = 14;

/// The kind of a promotion.
pub(crate) const PROMOTION: u16 = 1;
