//! The layout of the files of a database.
//!
//! A database is a dozen files of one stem. Numbers are big-endian in `.cbh`, `.cbg` and `.cba`, and little-endian in
//! the others, but for the records of `.cbj`, which are big-endian too.
//!
//! The format and where each fact comes from: `docs/formats/cbh.md`, whose sections are cited below.

/// Bytes of the header of a `.cbh` file, and of each of its records (docs/formats/cbh.md, Record).
pub const RECORD_LEN: u64 = 46;

/// Offset of the number of records plus one in the header of a `.cbh` file, 32 bits (docs/formats/cbh.md, Record).
pub const CBH_COUNT: u64 = 6;

/// Offset of the size of the records in the header of a `.cbh` file, 16 bits: it holds 46 and a version
/// (docs/formats/cbh.md, Record).
pub const CBH_MARK: [u8; 2] = [0x00, 0x2e];

/// Offset of [`CBH_MARK`].
pub const CBH_MARK_AT: u64 = 3;

/// Bytes of a game's head in a `.cbg` file: flags 1, size 3 (docs/formats/cbh.md, Game).
pub const GAME_HEAD_LEN: u64 = 4;

/// Set in a game's first byte where a starting position follows its head (docs/formats/cbh.md, Game).
pub const SET_UP: u8 = 0x40;

/// Bytes of a starting position (docs/formats/cbh.md, Starting position).
pub const SETUP_LEN: u64 = 28;

/// The bits of a starting position's second byte that hold the file of the pawn to be captured en passant, 1 for a
/// (docs/formats/cbh.md, Starting position).
pub const SETUP_EN_PASSANT: u8 = 0x0f;

/// Set in that byte where Black is to move (docs/formats/cbh.md, Starting position).
pub const SETUP_BLACK: u8 = 0x10;

/// Bytes before the board in a starting position (docs/formats/cbh.md, Starting position).
pub const SETUP_BOARD: usize = 4;

/// Bytes of the board in a starting position (docs/formats/cbh.md, Starting position).
pub const SETUP_BOARD_LEN: usize = 24;

/// Bytes after the starting position of a game of Chess960 (docs/formats/cbh.md, Starting position).
pub const CHESS960_LEN: u64 = 8;

/// Offset of the number of the starting position in them, 16 bits (docs/formats/cbh.md, Starting position).
pub const CHESS960_NUMBER: u64 = 6;

/// Bytes before the annotations of a game in a `.cba` file (docs/formats/cbh.md, Annotations).
pub const NOTES_HEAD_LEN: u64 = 14;

/// Offset of the size of the annotations of a game, their head included, 32 bits (docs/formats/cbh.md, Annotations).
pub const NOTES_SIZE: u64 = 10;

/// Bytes of an annotation's head: position 3, type 1, size with these bytes 2 (docs/formats/cbh.md, Annotations).
pub const NOTE_HEAD_LEN: u64 = 6;

/// The position that means the game as a whole (docs/formats/cbh.md, Annotations).
pub const WHOLE_GAME: u32 = 0xff_ffff;

/// The most bytes of annotations of one game that are read; real ones have some ten thousand
/// (docs/formats/cbh.md, Annotations).
pub const NOTES_MOST: u64 = 16 << 20;

/// The most moves of a game with its variations that are read: its bytes could hold sixteen times as many, and the
/// largest analyses have some ten thousand.
pub const MOVES_MOST: u32 = 1 << 20;

/// The most variations inside one another; 74 are the most in real games (docs/formats/cbh.md, Variations).
pub const NESTING_MOST: usize = 1000;

/// The number at [`ENTITY_MARK_AT`] of every file of entities (docs/formats/cbh.md, Names).
pub const ENTITY_MARK: u32 = 1_234_567_890;

/// Offset of [`ENTITY_MARK`], 32 bits (docs/formats/cbh.md, Names).
pub const ENTITY_MARK_AT: u64 = 8;

/// Bytes of the header of a file of entities, to which the number at 24 is added (docs/formats/cbh.md, Names).
pub const ENTITY_HEADER: u64 = 28;

/// Offset of the number of records in such a header, 32 bits (docs/formats/cbh.md, Names).
pub const ENTITY_COUNT: u64 = 0;

/// Offset of the size of a record in it, without the links of the tree, 32 bits (docs/formats/cbh.md, Names).
pub const ENTITY_SIZE: u64 = 12;

/// Offset of the number of records that are not deleted, 32 bits (docs/formats/cbh.md, Names).
pub const ENTITY_LIVE: u64 = 20;

/// Offset of the number of further bytes of the header, 32 bits (docs/formats/cbh.md, Names).
pub const ENTITY_MORE: u64 = 24;

/// Bytes of the links of the tree in each record (docs/formats/cbh.md, Names).
pub const ENTITY_LINKS: u64 = 9;

/// The left link of a deleted record (docs/formats/cbh.md, Names).
pub const ENTITY_DELETED: u32 = (-999_i32).cast_unsigned();

/// Bytes of a `.cbm` file without media (docs/formats/cbh.md, Names).
pub const CBM_HEADER: u64 = 32;

/// Bytes of the header of a `.cbj` file (docs/formats/cbh.md, Second record).
pub const CBJ_HEADER: u64 = 32;

/// Offset of the size of a record in it, 32 bits (docs/formats/cbh.md, Second record).
pub const CBJ_SIZE: u64 = 4;

/// Offset of the team of White in a `.cbj` record, 32 bits; that of Black follows (docs/formats/cbh.md, Second record).
pub const CBJ_TEAMS: u64 = 0;

/// Offset of the game's title in a `.cbj` record, 32 bits, which is one of `.cbl` (docs/formats/cbh.md, Second record).
pub const CBJ_TITLE: u64 = 8;

/// Offset of the annotations in `.cba` in a `.cbj` record, 64 bits (docs/formats/cbh.md, Second record).
pub const CBJ_NOTES: u64 = 0x0c;

/// Offset of the moves in `.cbg` in a `.cbj` record, 64 bits (docs/formats/cbh.md, Second record).
pub const CBJ_MOVES: u64 = 0x1e;

/// Offsets in a `.cbh` record of a game (docs/formats/cbh.md, Record).
pub mod record {
    /// What the record is: [`GAME`], [`TEXT`] and [`DELETED`].
    pub const FLAGS: u64 = 0;
    /// Set in the flags of a game, and of a text.
    pub const GAME: u8 = 0x01;
    /// Set in the flags of a text.
    pub const TEXT: u8 = 0x02;
    /// Set in the flags of what is deleted.
    pub const DELETED: u8 = 0x80;
    /// Offset of the moves or of the text in `.cbg`, 32 bits.
    pub const MOVES: u64 = 1;
    /// Offset of the annotations in `.cba`, 32 bits.
    pub const NOTES: u64 = 5;
    /// Number of White in `.cbp`, 24 bits.
    pub const WHITE: u64 = 9;
    /// Number of Black in `.cbp`, 24 bits.
    pub const BLACK: u64 = 12;
    /// Number in `.cbt`, 24 bits.
    pub const TOURNAMENT: u64 = 15;
    /// Number in `.cbc`, 24 bits.
    pub const ANNOTATOR: u64 = 18;
    /// Number in `.cbs`, 24 bits.
    pub const SOURCE: u64 = 21;
    /// Date, 24 bits: day in bits 0-4, month in 5-8, year in 9-20.
    pub const DATE: u64 = 24;
    /// Result, in bits 0-2.
    pub const RESULT: u64 = 27;
    /// Evaluation of a line.
    pub const EVALUATION: u64 = 28;
    /// Round.
    pub const ROUND: u64 = 29;
    /// Subround.
    pub const SUBROUND: u64 = 30;
    /// Elo of White, 16 bits.
    pub const WHITE_ELO: u64 = 31;
    /// Elo of Black, 16 bits.
    pub const BLACK_ELO: u64 = 33;
    /// Opening, 16 bits: bits 7-15 are 1 for A00 to 500 for E99; from [`CHESS960`] on a position of Chess960.
    pub const OPENING: u64 = 35;
    /// The opening from which on it is the number of a Chess960 position.
    pub const CHESS960: u16 = u16::MAX - 959;
    /// Medals, 16 bits.
    pub const MEDALS: u64 = 37;
    /// Full moves of the main line.
    pub const FULL_MOVES: u64 = 45;
}

/// Offsets in a `.cbh` record of a text, where they differ from those of a game (docs/formats/cbh.md, Record).
pub mod text_record {
    /// Number in `.cbt`, 24 bits.
    pub const TOURNAMENT: u64 = 7;
    /// Number in `.cbs`, 24 bits.
    pub const SOURCE: u64 = 10;
    /// Number in `.cbc`, 24 bits.
    pub const ANNOTATOR: u64 = 13;
}

/// A player in `.cbp`, after the links; of text offset and length (docs/formats/cbh.md, Names).
pub mod player {
    /// Last name.
    pub const LAST_NAME: (u64, u64) = (0, 30);
    /// First name.
    pub const FIRST_NAME: (u64, u64) = (30, 20);
    /// The least bytes of a record: two names, two numbers.
    pub const LEAST: u64 = 58;
}

/// A tournament in `.cbt`, after the links; of text offset and length (docs/formats/cbh.md, Names).
pub mod tournament {
    /// Title.
    pub const TITLE: (u64, u64) = (0, 40);
    /// Place.
    pub const PLACE: (u64, u64) = (40, 30);
    /// Date, 32 bits.
    pub const DATE: u64 = 70;
    /// Type: [`KIND_MASK`], [`BLITZ`], [`RAPID`], [`CORRESPONDENCE`].
    pub const KIND: u64 = 74;
    /// The bits of the kind of tournament.
    pub const KIND_MASK: u8 = 0x1f;
    /// Set in the type of blitz.
    pub const BLITZ: u8 = 0x20;
    /// Set in the type of rapid chess.
    pub const RAPID: u8 = 0x40;
    /// Set in the type of correspondence chess.
    pub const CORRESPONDENCE: u8 = 0x80;
    /// Bit 0: a tournament of teams.
    pub const TEAM: u64 = 75;
    /// Country.
    pub const NATION: u64 = 76;
    /// Category.
    pub const CATEGORY: u64 = 78;
    /// Rounds.
    pub const ROUNDS: u64 = 80;
    /// The least bytes of a record.
    pub const LEAST: u64 = 81;
}

/// An annotator in `.cbc`, after the links (docs/formats/cbh.md, Names).
pub mod annotator {
    /// Name, as that of a team: offset and length.
    pub const NAME: (u64, u64) = (0, 45);
    /// The least bytes of a record.
    pub const LEAST: u64 = 45;
}

/// A source in `.cbs`, after the links; of text offset and length (docs/formats/cbh.md, Names).
pub mod source {
    /// Title.
    pub const TITLE: (u64, u64) = (0, 25);
    /// Publisher.
    pub const PUBLISHER: (u64, u64) = (25, 16);
    /// Date of publication, 32 bits.
    pub const PUBLICATION: u64 = 41;
    /// Date, 32 bits.
    pub const DATE: u64 = 45;
    /// Version.
    pub const VERSION: u64 = 49;
    /// Quality.
    pub const QUALITY: u64 = 50;
    /// The least bytes of a record.
    pub const LEAST: u64 = 51;
}

/// A team in `.cbe`, after the links, whose name is where that of an annotator is (docs/formats/cbh.md, Names).
pub mod team {
    /// Number of the team, 16 bits.
    pub const NUMBER: u64 = 45;
    /// Year, 32 bits.
    pub const YEAR: u64 = 50;
    /// Country.
    pub const NATION: u64 = 54;
    /// The least bytes of a record.
    pub const LEAST: u64 = 55;
}

/// A game's title in `.cbl`, after the links (docs/formats/cbh.md, Names).
pub mod title {
    /// Bytes of the title in one language.
    pub const LEN: u64 = 200;
    /// Languages.
    pub const LANGUAGES: u64 = 8;
    /// The least bytes of a record.
    pub const LEAST: u64 = LEN * LANGUAGES;
}
