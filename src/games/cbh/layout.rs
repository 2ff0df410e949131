//! Where what stands in the files of a database.
//!
//! A database is a dozen files of one stem. Numbers are big-endian in `.cbh`, `.cbg` and `.cba`, and little-endian in
//! the others, but for the records of `.cbj`, which are big-endian too (measured).
//!
//! Sources: *the description* is "Описание формата баз партий от Chessbase" (the CBH format as the chess program Kvetka
//! documents it) and the English text that it builds on; *measured* is what holds in every database at hand, and
//! overrules them.

/// Bytes of the header of a `.cbh` file, and of each of its records (measured).
pub const RECORD_LEN: u64 = 46;

/// Offset of the number of records plus one in the header of a `.cbh` file, 32 bits (the description).
pub const CBH_COUNT: u64 = 6;

/// Offset of the size of the records in the header of a `.cbh` file, 16 bits: it holds 46 and a version (measured).
pub const CBH_MARK: [u8; 2] = [0x00, 0x2e];

/// Where [`CBH_MARK`] stands.
pub const CBH_MARK_AT: u64 = 3;

/// Bytes before the size of a game in a `.cbg` file are one, those of the size three (the description).
pub const GAME_HEAD_LEN: u64 = 4;

/// Set in a game's first byte where a starting position follows its head (the description).
pub const SET_UP: u8 = 0x40;

/// Bytes of a starting position (the description).
pub const SETUP_LEN: u64 = 28;

/// Bytes before the board in a starting position (the description).
pub const SETUP_BOARD: usize = 4;

/// Bytes of the board in a starting position (the description).
pub const SETUP_BOARD_LEN: usize = 24;

/// Bytes behind the starting position of a game of Chess960 (measured).
pub const CHESS960_LEN: u64 = 8;

/// Offset of the number of the starting position in them, 16 bits (measured).
pub const CHESS960_NUMBER: u64 = 6;

/// Bytes before the annotations of a game in a `.cba` file (the description).
pub const NOTES_HEAD_LEN: u64 = 14;

/// Offset of the size of the annotations of a game, their head included, 32 bits (the description).
pub const NOTES_SIZE: u64 = 10;

/// Bytes before what an annotation says: position 24 bits, type 8, its size with these 16 (the description; measured
/// that the size is big-endian too).
pub const NOTE_HEAD_LEN: u64 = 6;

/// The position that means the game as a whole (measured).
pub const WHOLE_GAME: u32 = 0xff_ffff;

/// The most bytes of annotations of one game that are read; real ones have some ten thousand (measured: 45 KB).
pub const NOTES_MOST: u64 = 16 << 20;

/// The most moves of a game with its variations that are read: its bytes could hold sixteen times as many, and the
/// largest analyses have some ten thousand.
pub const MOVES_MOST: u32 = 1 << 20;

/// The most variations inside one another; measured: 74.
pub const NESTING_MOST: usize = 1000;

/// The number at offset 8 of every file of entities (the description).
pub const ENTITY_MARK: u32 = 1_234_567_890;

/// Bytes of the header of a file of entities, to which the number at 24 is added (measured).
pub const ENTITY_HEADER: u64 = 28;

/// Offset of the number of records in such a header, 32 bits (the description).
pub const ENTITY_COUNT: u64 = 0;

/// Offset of the size of a record in it, without the links of the tree, 32 bits (the description).
pub const ENTITY_SIZE: u64 = 12;

/// Offset of the number of records that are not deleted, 32 bits (the description).
pub const ENTITY_LIVE: u64 = 20;

/// Offset of the number of further bytes of the header, 32 bits (the description).
pub const ENTITY_MORE: u64 = 24;

/// Bytes of the links of the tree in each record (the description).
pub const ENTITY_LINKS: u64 = 9;

/// The left link of a deleted record (the description).
pub const ENTITY_DELETED: u32 = (-999_i32).cast_unsigned();

/// Bytes of a `.cbm` file without media (measured: five databases; no description says what follows).
pub const CBM_HEADER: u64 = 32;

/// Bytes of the header of a `.cbj` file (the description).
pub const CBJ_HEADER: u64 = 32;

/// Offset of the size of a record in it, 32 bits (the description).
pub const CBJ_SIZE: u64 = 4;

/// Offset of the team of White in a `.cbj` record, 32 bits; that of Black follows (the description).
pub const CBJ_TEAMS: u64 = 0;

/// Offset of the game's title in a `.cbj` record, 32 bits, which is one of `.cbl`.
pub const CBJ_TITLE: u64 = 8;

/// Offset of the annotations in `.cba` in a `.cbj` record, 64 bits (measured).
pub const CBJ_NOTES: u64 = 0x0c;

/// Offset of the moves in `.cbg` in a `.cbj` record, 64 bits (measured).
pub const CBJ_MOVES: u64 = 0x1e;

/// The ECO field from which on it is the number of a Chess960 position (measured).
pub const ECO_960: u16 = u16::MAX - 959;
