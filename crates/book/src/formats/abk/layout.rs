//! The file's layout: a header as long as 900 records, then records of 28 bytes, all numbers little-endian
//! (docs/formats/abk.md, Header; docs/formats/abk.md, Record).

use shakmaty::Role;

/// The first three bytes; a letter or the digit of a version follows, `K` or `2` (docs/formats/abk.md, Header).
pub const START: [u8; 3] = *b"\x03AB";

/// Bytes of the header, and the number at [`HEADER_LEN_AT`].
pub const HEADER_LEN: u32 = 25_200;

/// Bytes of a record, and the number at [`RECORD_LEN_AT`].
pub const RECORD_LEN: u32 = 28;

/// The number of the first record, the first move of the starting position: before it is the header
/// (docs/formats/abk.md, Record).
pub const ROOT: u32 = HEADER_LEN / RECORD_LEN;

/// The highest priority that Arena gives a move; 0 means never to play it.
pub(crate) const HIGHEST_PRIORITY: u8 = 9;

/// Offset of the header's length in the header, in bytes.
pub(crate) const HEADER_LEN_AT: u64 = 0x04;
/// Offset of a record's length.
pub(crate) const RECORD_LEN_AT: u64 = 0x08;
/// Offset of the comment: a byte with its length, then the text.
pub(crate) const COMMENT: u64 = 0x0c;
/// The most bytes of the comment's text.
pub(crate) const COMMENT_ROOM: usize = 120;
/// Offset of the author, written like the comment.
pub(crate) const AUTHOR: u64 = 0x85;
/// The most bytes of the author's text.
pub(crate) const AUTHOR_ROOM: usize = 80;
/// Offset of the number of records that are not deleted.
pub(crate) const LIVE_RECORDS: u64 = 0xda;
/// Offset of the fewest games that a move needs.
pub(crate) const MIN_GAMES: u64 = 0xde;
/// Offset of the fewest games that the mover must have won.
pub(crate) const MIN_WINS: u64 = 0xe2;
/// Offset of the least percentage of games won by White that a White move needs.
pub(crate) const MIN_PERCENT_WHITE: u64 = 0xe6;
/// Offset of the same for Black.
pub(crate) const MIN_PERCENT_BLACK: u64 = 0xea;
/// Offset of how much the priority counts.
pub(crate) const BY_PRIORITY: u64 = 0xee;
/// Offset of how much the number of games counts.
pub(crate) const BY_GAMES: u64 = 0xf2;
/// Offset of how much the score counts.
pub(crate) const BY_SCORE: u64 = 0xf6;
/// Offset of the last ply to be played.
pub(crate) const LAST_PLY: u64 = 0xfa;

/// The comment of a book that tabiya made of others without one.
pub(crate) const WRITTEN: &str = "written by tabiya";

/// A number of the header that was never written: four times an x.
pub(crate) const UNSET: u32 = u32::from_le_bytes(*b"xxxx");

/// The byte that fills the rest of the header.
pub(crate) const FILLER: u8 = b'x';

/// The top byte of the flags of a deleted record (docs/formats/abk.md, Record).
pub(crate) const DELETED: u32 = 0x01;

/// A link that leads nowhere.
pub(crate) const NONE: i32 = -1;

/// The priority that Arena gives a new move.
#[cfg(feature = "write")]
pub(crate) const DEFAULT_PRIORITY: u8 = 5;

/// A last ply that is no limit, as in a real book (docs/formats/abk.md, Header).
#[cfg(any(test, feature = "write"))]
pub(crate) const NO_LAST_PLY: i32 = 9999;

/// The promotion pieces by their number in the book without its sign, 0 being none.
pub(crate) const PROMOTIONS: [Option<Role>; 5] =
    [None, Some(Role::Rook), Some(Role::Knight), Some(Role::Bishop), Some(Role::Queen)];
