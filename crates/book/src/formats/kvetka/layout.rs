//! The layout of the files of a Kvetka book.
//!
//! A book is `NAME_0.kob`, `NAME_1.kob` and so on with the positions, `NAME.kin` with the first key of each block, and
//! `NAME.ksf` with the games. All numbers are big-endian.
//!
//! ```text
//! NAME_0.kob   header, block, block, ...      NAME_1.kob ...   block, block, ...
//! header       type u8, caption UNICODE, least Elo of White, Black, the stronger and the weaker u16 each, plies u8,
//!              kind of elements u8, look for transpositions u8, blocks u32
//! block        2048 bytes: bytes in use u16 (these two among them), element, element, ..., bytes without meaning
//! element      length COMPACT (of what follows), key 22 bytes, wins, draws, losses COMPACT, moves u8, a byte for each
//!              move, flags u8, then as the flags say: a link, the comment UNICODE, undescribed bytes
//! link         source u16, game in it u32
//! NAME.kin     key, key, ...
//! NAME.ksf     contents, source, source, ...
//! contents     sources u32, offset of each u32, up to a multiple of 512 bytes
//! source       kind u8, gone u8, address UNICODE, games u32, game, game, ...
//! game         address u32, length u32, White ANSI, Black ANSI, Elo of White u16, of Black u16, result u8
//! UNICODE      characters u32, 16 bits each        ANSI   characters u32, 8 bits each
//! COMPACT      digits to the base 128, the highest first; the highest bit of a byte is set where another follows
//! ```
//!
//! The format and where each fact comes from: `docs/formats/kvetka.md`, whose sections are cited below.

/// The only described kind of book; 0, 2 and 3 are reserved (docs/formats/kvetka.md, Header).
pub(crate) const TYPE: u8 = 1;

/// Bytes of a block (docs/formats/kvetka.md, Block).
pub const BLOCK_LEN: u64 = 2048;

/// Bytes before the first element of a block: the number of bytes in use, 16 bits (docs/formats/kvetka.md, Block).
pub(crate) const BLOCK_HEADER: usize = 2;

/// Bytes of a key (docs/formats/kvetka.md, Key).
pub const KEY_LEN: usize = 22;

/// The most bytes of an element: a third of a block. They include its length field, which is the narrower reading (docs/formats/kvetka.md, Open points).
pub(crate) const MAX_ELEMENT: usize = 682;

/// Bytes of the shortest element: its length, the key, three counts, no move, no flag.
pub(crate) const SHORTEST_ELEMENT: u64 = 1 + KEY_LEN as u64 + 5;

/// The most bytes of a `.kob` file that is written: above 20 MB Kvetka splits it (docs/formats/kvetka.md, Open points).
pub const MAX_FILE: u64 = 20 * 1024 * 1024;

/// The number of plies in the header that means all (docs/formats/kvetka.md, Header).
pub(crate) const ALL_PLIES: u8 = 0xff;

/// Set in the header's kind of elements if elements may hold links to games (docs/formats/kvetka.md, Header).
pub(crate) const HAS_LINKS: u8 = 0x01;

/// Set in an element's flags if it has a comment (docs/formats/kvetka.md, Element).
pub(crate) const HAS_COMMENT: u8 = 0x01;

/// Set in an element's flags if it has links to the games that end there, in an undescribed form.
pub(crate) const HAS_ENDS: u8 = 0x02;

/// Set in an element's flags if it has a link to one game.
pub(crate) const HAS_LINK: u8 = 0x04;

/// Bytes of a link.
pub(crate) const LINK_LEN: usize = 6;

/// The most characters of a comment (docs/formats/kvetka.md, Element).
pub(crate) const MAX_COMMENT: usize = 300;

/// The most bytes of a CompactInt: seven bits each, for a number of 64 bits. The format has no limit
/// (docs/formats/kvetka.md, Numbers and strings).
pub(crate) const MAX_COMPACT: usize = 10;

/// Castling on the king's side (docs/formats/kvetka.md, Moves).
pub(crate) const CASTLE_SHORT: u8 = 0xc4;

/// Castling on the queen's side (docs/formats/kvetka.md, Moves).
pub(crate) const CASTLE_LONG: u8 = 0xc5;

/// The contents of a `.ksf` file fill a multiple of so many bytes (docs/formats/kvetka.md, Games file).
pub(crate) const CONTENTS_UNIT: u64 = 512;

/// A source of a `.ksf` file without games.
pub(crate) const SOURCE_NONE: u8 = 0;

/// A PGN file: a game's address is its offset.
pub(crate) const SOURCE_PGN: u8 = 1;

/// A web page: a game's address has the kind of page in its highest six bits.
pub(crate) const SOURCE_WEB: u8 = 2;

/// A ChessBase database: a game's address is the offset of its record in the `.cbh` file.
pub(crate) const SOURCE_CBH: u8 = 3;

/// Stands for the folder of Kvetka at the start of a source's address; the second `%` may be missing
/// (docs/formats/kvetka.md, Open points).
pub(crate) const CURRENT_DIR: [&str; 2] = ["%currentdir%", "%currentdir"];
