//! The layout of the three files of a CTG book.
//!
//! A CTG book is three files of one stem: `.ctg` holds pages of entries, `.ctb` the bitmap of a trie over the hashes of
//! positions, `.cto` the page that each leaf of the trie names. All numbers are big-endian.
//!
//! The format and where each fact comes from: `docs/formats/ctg.md`, whose sections are cited below.

/// Bytes of a page, the header page included (docs/formats/ctg.md, Header page).
pub const PAGE_LEN: u64 = 4096;

/// The first eight bytes of the header page (docs/formats/ctg.md, Header page).
pub const CTG_START: [u8; 8] = [0, 0x20, 0x10, 0, 0, 1, 0, 1];

/// Offset of the number of data pages in the header page, 32 bits (docs/formats/ctg.md, Header page).
pub(crate) const CTG_PAGES: u64 = 16;

/// Offset of the number of positions in the header page, 32 bits; ChessBase's own is approximate
/// (docs/formats/ctg.md, Header page).
pub(crate) const CTG_POSITIONS: u64 = 24;

/// Offset of the number of games in the header page, 32 bits (docs/formats/ctg.md, Header page).
pub(crate) const CTG_GAMES: u64 = 28;

/// What else the header page of every book has, by offset: the length of a page, and bytes of unknown meaning
/// (docs/formats/ctg.md, Header page).
#[cfg(feature = "write")]
pub(crate) const CTG_FIXED: [(u64, &[u8]); 4] = [
    (0, &CTG_START),
    (8, &[0, 0, 0x10, 0, 0x7f, 0xff, 0x7f, 0xff]),
    (20, &[0xff; 4]),
    (1024, &[0, 1, 0, 5, 0, 1, 0x7f, 0xff, 0, 3, 0x7f, 0xff, 0, 5, 0, 0x1e, 0, 6, 0, 2, 0, 7, 0, 1]),
];

/// What each game adds to the four unknown bytes of an entry, exactly or approximately (docs/formats/ctg.md, Entry).
#[cfg(feature = "write")]
pub(crate) const UNKNOWN_OF_A_GAME: u32 = 5;

/// Bytes before the first entry of a page: the number of entries and the end of the last one, 16 bits each
/// (docs/formats/ctg.md, Pages).
pub(crate) const PAGE_HEADER: usize = 4;

/// The first four bytes of a `.cto` file: its header's length, and 1 (docs/formats/ctg.md, Index).
pub const CTO_START: [u8; 4] = [0, 0x10, 0, 1];

/// Bytes before the page numbers of a `.cto` file (docs/formats/ctg.md, Index).
pub(crate) const CTO_HEADER: u64 = 16;

/// Offset of the number of page numbers in a `.cto` file, 32 bits (docs/formats/ctg.md, Index).
pub(crate) const CTO_COUNT: u64 = 4;

/// Offset of the copy of [`CTB_LOW`] in a `.cto` file, 32 bits (docs/formats/ctg.md, Index).
pub(crate) const CTO_LOW: u64 = 12;

/// Bytes of a page number (docs/formats/ctg.md, Index).
pub(crate) const NUMBER_LEN: u64 = 4;

/// The page number that means no page (docs/formats/ctg.md, Index).
pub(crate) const NO_PAGE: u32 = u32::MAX;

/// The first four bytes of a `.ctb` file: its header's length, and 1 (docs/formats/ctg.md, Index).
pub const CTB_START: [u8; 4] = [0, 0x0c, 0, 1];

/// Bytes before the bitmap of a `.ctb` file (docs/formats/ctg.md, Index).
pub(crate) const CTB_HEADER: u64 = 12;

/// Offset of the lower bound in a `.ctb` file, 32 bits: eight times the number of the bitmap's first byte that is not
/// all ones (docs/formats/ctg.md, Index).
pub(crate) const CTB_LOW: u64 = 4;

/// Offset of the upper bound in a `.ctb` file, 32 bits: the bits of the bitmap (docs/formats/ctg.md, Index).
pub(crate) const CTB_HIGH: u64 = 8;

/// The bits of an entry's first byte that hold the length of its signature, that byte included
/// (docs/formats/ctg.md, Signature).
pub(crate) const LENGTH_BITS: u8 = 0x1f;

/// Set in an entry's first byte if the signature holds an en-passant file (docs/formats/ctg.md, Signature).
pub(crate) const EN_PASSANT: u8 = 0x20;

/// Set in an entry's first byte if the signature holds castling rights (docs/formats/ctg.md, Signature).
pub(crate) const CASTLING: u8 = 0x40;

/// The longest signature: what [`LENGTH_BITS`] can say.
pub(crate) const MAX_SIGNATURE: usize = LENGTH_BITS as usize;

/// Bytes after an entry's moves (docs/formats/ctg.md, Entry).
pub(crate) const STATISTICS_LEN: usize = 33;

/// The shortest entry: a signature of its first byte, no move, the statistics.
pub(crate) const SHORTEST_ENTRY: u64 = 2 + STATISTICS_LEN as u64;

/// The bits of a move's second byte that mean nothing in a book that sets them on every move
/// (docs/formats/ctg.md, Marks and comments).
pub(crate) const UPPER_BITS: u8 = 0xe0;

/// Pages from the start of a book that are searched for a mark without [`UPPER_BITS`]: 4 MB.
pub(crate) const PAGES_OF_MARKS: usize = 1024;

/// The most moves that an entry can hold: their length in bytes has 8 bits (docs/formats/ctg.md, Entry).
pub(crate) const MAX_MOVES: usize = 127;

/// Levels that a trie may grow beyond those that evenly spread hashes would need. This keeps the index smaller than the
/// pages, whatever the hashes are.
pub(crate) const SPARE: u32 = 8;

/// The last level of the trie whose node numbers have 32 bits.
pub(crate) const DEEPEST: u32 = 30;

/// Castling on the king's side (docs/formats/ctg.md, Move table).
pub(crate) const CASTLE_SHORT: u8 = 0x6b;

/// Castling on the queen's side (docs/formats/ctg.md, Move table).
pub(crate) const CASTLE_LONG: u8 = 0xf6;

/// The two codes of the second queen on which sources disagree: six squares up if that is legal, otherwise six to the
/// right (docs/formats/ctg.md, Move table).
pub(crate) const UNSURE: [u8; 2] = [0x1a, 0xf9];

/// Set in the recommendation of a position that it is good to move to: green (docs/formats/ctg.md, Entry).
pub(crate) const GREEN: u8 = 0x80;

/// Set in the recommendation of a position that it is bad to move to: red (docs/formats/ctg.md, Entry).
pub(crate) const RED: u8 = 0x40;

/// Set in the recommendation of every position with a factor, which may be 0 (docs/formats/ctg.md, Factor).
pub(crate) const HAS_FACTOR: u8 = 0x04;

/// Set with positive and with negative factors (docs/formats/ctg.md, Factor).
pub(crate) const SIGNS_OF_FACTOR: u8 = 0x10 | 0x20;

/// The summands of the hash (docs/formats/ctg.md, Hash).
pub(crate) const HASH: [u32; 64] = [
    0x3100_d2bf,
    0x3118_e3de,
    0x34ab_1372,
    0x2807_a847,
    0x1633_f566,
    0x2143_b359,
    0x26d5_6488,
    0x3b9e_6f59,
    0x3775_5656,
    0x3089_ca7b,
    0x18e9_2d85,
    0x0cd0_e9d8,
    0x1a9e_3b54,
    0x3eaa_902f,
    0x0d9b_faae,
    0x2f32_b45b,
    0x31ed_6102,
    0x3d3c_8398,
    0x1466_60e3,
    0x0f8d_4b76,
    0x02c7_7a5f,
    0x146c_8799,
    0x1c47_f51f,
    0x249f_8f36,
    0x2477_2043,
    0x1fbc_1e4d,
    0x1e86_b3fa,
    0x37df_36a6,
    0x16ed_30e4,
    0x02c3_148e,
    0x216e_5929,
    0x0636_b34e,
    0x317f_9f56,
    0x15f0_9d70,
    0x1310_26fb,
    0x38c7_84b1,
    0x29ac_3305,
    0x2b48_5dc5,
    0x3c04_9ddc,
    0x35a9_fbcd,
    0x31d5_373b,
    0x2b24_6799,
    0x0a29_23d3,
    0x08a9_6e9d,
    0x3003_1a9f,
    0x08f5_25b5,
    0x3361_1c06,
    0x2409_db98,
    0x0ca4_feb2,
    0x1000_b71e,
    0x3056_6e32,
    0x3944_7d31,
    0x194e_3752,
    0x0823_3a95,
    0x0f38_fe36,
    0x29c7_cd57,
    0x0f7b_3a39,
    0x328e_8a16,
    0x1e7d_1388,
    0x0fba_78f5,
    0x274c_7e7c,
    0x1e8b_e65c,
    0x2fa0_b0bb,
    0x1eb6_c371,
];
