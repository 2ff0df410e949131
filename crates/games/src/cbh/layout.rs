//! The layout of the files of a database.
//!
//! A database is a dozen files with the same stem. Numbers are big-endian in `.cbh`, `.cbg`, `.cba` and the records of
//! `.cbj`, and little-endian everywhere else.
//!
//! `docs/formats/cbh.md` describes the format and the source of each fact. The comments below cite its sections.

/// Bytes of the header of a `.cbh` file, and of each of its records (docs/formats/cbh.md, Record).
pub const RECORD_LEN: u64 = 46;

/// Offset of the number of records plus one in the header of a `.cbh` file, 32 bits (docs/formats/cbh.md, Record).
pub(crate) const CBH_COUNT: u64 = 6;

/// The length of a record, as the header of a `.cbh` file has it (docs/formats/cbh.md, Record).
pub(crate) const CBH_MARK: [u8; 2] = [0x00, 0x2e];

/// Offset of [`CBH_MARK`] (docs/formats/cbh.md, Record).
pub(crate) const CBH_MARK_AT: u64 = 3;

/// The shortest header of a `.cbg` file: no game begins before its end (docs/formats/cbh.md, Game).
pub(crate) const MIN_CBG_HEADER: u64 = 10;

/// Bytes of a game's head in a `.cbg` file: flags 1, size 3 (docs/formats/cbh.md, Game).
pub(crate) const GAME_HEAD_LEN: u64 = 4;

/// The bits of that head that hold the size (docs/formats/cbh.md, Game).
pub(crate) const GAME_SIZE_BITS: u32 = 0xff_ffff;

/// The bits of a game's first byte that hold its encoding mode (docs/formats/cbh.md, Game).
pub(crate) const MODE_BITS: u8 = 0x3f;

/// The encoding mode of a game that starts from an illegal position (docs/formats/cbh.md, Encoding modes).
pub(crate) const MODE_ILLEGAL_START: u8 = 63;

/// Set in a game's first byte where a starting position follows its head (docs/formats/cbh.md, Game).
pub(crate) const SET_UP: u8 = 0x40;

/// Bytes of a starting position (docs/formats/cbh.md, Starting position).
pub(crate) const SETUP_LEN: u64 = 28;

/// The bits of a starting position's second byte that hold the file of the pawn to be captured en passant, 1 for a
/// (docs/formats/cbh.md, Starting position).
pub(crate) const SETUP_EN_PASSANT: u8 = 0x0f;

/// Set in that byte where Black is to move (docs/formats/cbh.md, Starting position).
pub(crate) const SETUP_BLACK: u8 = 0x10;

/// Bytes before the board in a starting position (docs/formats/cbh.md, Starting position).
pub(crate) const SETUP_BOARD: usize = 4;

/// Bytes of the board in a starting position (docs/formats/cbh.md, Starting position).
pub(crate) const SETUP_BOARD_LEN: usize = 24;

/// Bytes after the starting position of a game of Chess960 (docs/formats/cbh.md, Starting position).
pub(crate) const CHESS960_LEN: u64 = 8;

/// Offsets in them of the squares of the rooks, in the order of the bits of the castling rights: White long and short,
/// Black long and short (docs/formats/cbh.md, Starting position).
pub(crate) const CHESS960_ROOKS: [usize; 4] = [3, 2, 5, 4];

/// Bytes before the annotations of a game in a `.cba` file (docs/formats/cbh.md, Annotations).
pub(crate) const NOTES_HEAD_LEN: u64 = 14;

/// Offset of the size of the annotations of a game, their head included, 32 bits (docs/formats/cbh.md, Annotations).
pub(crate) const NOTES_SIZE: u64 = 10;

/// The bits of a game's number that its annotations repeat (docs/formats/cbh.md, Annotations).
pub(crate) const NOTES_GAME_BITS: u32 = 0xff_ffff;

/// The most bytes of annotations read for one game; real games have some ten thousand
/// (docs/formats/cbh.md, Annotations).
pub(crate) const MAX_NOTES: u64 = 16 << 20;

/// Set in a simple move before which a position is kept (docs/formats/cbh.md, Simple moves).
pub(crate) const PUSH: u16 = 0x8000;

/// Set in a simple move that ends its line (docs/formats/cbh.md, Simple moves).
pub(crate) const POP: u16 = 0x4000;

/// The most moves read for one game, variations included: its bytes could hold sixteen times as many, and the largest
/// analyses have some ten thousand.
pub(crate) const MAX_MOVES: u32 = 1 << 20;

/// The deepest nesting of variations that is read; real games reach 74 (docs/formats/cbh.md, Variations).
pub(crate) const MAX_NESTING: usize = 1000;

/// The number at [`ENTITY_MARK_AT`] of every file of entities (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_MARK: u32 = 1_234_567_890;

/// Offset of [`ENTITY_MARK`], 32 bits (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_MARK_AT: u64 = 8;

/// Bytes of the header of a file of entities, without those that [`ENTITY_MORE`] counts (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_HEADER: u64 = 28;

/// Offset of the number of records in such a header, 32 bits (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_COUNT: u64 = 0;

/// Offset of the size of a record in it, without the links of the tree, 32 bits (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_SIZE: u64 = 12;

/// Offset of the number of records that are not deleted, 32 bits (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_LIVE: u64 = 20;

/// Offset of the number of further bytes of the header, 32 bits (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_MORE: u64 = 24;

/// Bytes of the links of the tree in each record (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_LINKS: u64 = 9;

/// The left link of a deleted record (docs/formats/cbh.md, Names).
pub(crate) const ENTITY_DELETED: u32 = (-999_i32).cast_unsigned();

/// Bytes of a `.cbm` file without media (docs/formats/cbh.md, Names).
pub(crate) const CBM_HEADER: u64 = 32;

/// Bytes of the header of a `.cbj` file (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_HEADER: u64 = 32;

/// Offset of the size of a record in it, 32 bits (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_SIZE: u64 = 4;

/// Offsets of the teams of White and Black in a `.cbj` record, 32 bits each (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_TEAMS: [u64; 2] = [0, 4];

/// The number of a team or title that means none (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_NONE: u32 = u32::MAX;

/// Offset of the game's title in a `.cbj` record, 32 bits, which is one of `.cbl` (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_TITLE: u64 = 8;

/// Offset of the annotations in `.cba` in a `.cbj` record, 64 bits (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_NOTES: u64 = 0x0c;

/// Offset of the moves in `.cbg` in a `.cbj` record, 64 bits (docs/formats/cbh.md, Second record).
pub(crate) const CBJ_MOVES: u64 = 0x1e;

/// Offsets in a `.cbh` record of a game (docs/formats/cbh.md, Record).
pub mod record {
    /// What the record is: [`GAME`], [`TEXT`] and [`DELETED`].
    pub(crate) const FLAGS: u64 = 0;
    /// Set in the flags of a game, and of a text.
    pub(crate) const GAME: u8 = 0x01;
    /// Set in the flags of a text.
    pub(crate) const TEXT: u8 = 0x02;
    /// Set in the flags of what is deleted.
    pub(crate) const DELETED: u8 = 0x80;
    /// Offset of the moves or of the text in `.cbg`, 32 bits.
    pub(crate) const MOVES: u64 = 1;
    /// Offset of the annotations in `.cba`, 32 bits.
    pub(crate) const NOTES: u64 = 5;
    /// Number of White in `.cbp`, 24 bits.
    pub(crate) const WHITE: u64 = 9;
    /// Number of Black in `.cbp`, 24 bits.
    pub(crate) const BLACK: u64 = 12;
    /// Number in `.cbt`, 24 bits.
    pub(crate) const TOURNAMENT: u64 = 15;
    /// Number in `.cbc`, 24 bits.
    pub(crate) const ANNOTATOR: u64 = 18;
    /// Number in `.cbs`, 24 bits.
    pub(crate) const SOURCE: u64 = 21;
    /// Date, 24 bits: day in bits 0-4, month in 5-8, year in 9-20.
    pub(crate) const DATE: u64 = 24;
    pub(crate) const RESULT: u64 = 27;
    /// The bits that hold the result.
    pub(crate) const RESULT_BITS: u8 = 0x07;
    /// Evaluation of a line.
    pub(crate) const EVALUATION: u64 = 28;
    pub(crate) const ROUND: u64 = 29;
    pub(crate) const SUBROUND: u64 = 30;
    /// Elo of White, 16 bits.
    pub(crate) const WHITE_ELO: u64 = 31;
    /// Elo of Black, 16 bits.
    pub(crate) const BLACK_ELO: u64 = 33;
    /// Opening, 16 bits: above [`ECO_SHIFT`] bits, 1 for A00 to 500 for E99; from [`CHESS960`] on, the number of a
    /// Chess960 position instead.
    pub(crate) const OPENING: u64 = 35;
    /// Bits of the opening below its ECO code.
    pub(crate) const ECO_SHIFT: u32 = 7;
    /// The opening that means position 0 of Chess960.
    pub(crate) const CHESS960: u16 = u16::MAX - 959;
    /// Full moves of the main line.
    pub(crate) const FULL_MOVES: u64 = 45;
}

/// Offsets in a `.cbh` record of a text, where they differ from those of a game (docs/formats/cbh.md, Record).
pub(crate) mod text_record {
    /// Number in `.cbt`, 24 bits.
    pub(crate) const TOURNAMENT: u64 = 7;
    /// Number in `.cbs`, 24 bits.
    pub(crate) const SOURCE: u64 = 10;
    /// Number in `.cbc`, 24 bits.
    pub(crate) const ANNOTATOR: u64 = 13;
}

/// An annotation, after [`NOTES_HEAD_LEN`] bytes (docs/formats/cbh.md, Annotations).
pub mod note {
    /// Bytes of the head.
    pub(crate) const HEAD_LEN: u64 = 6;
    /// Position in bits 8-31, type in bits 0-7, 32 bits.
    pub(crate) const POSITION_AND_TYPE: u64 = 0;
    /// Size, head included, 16 bits.
    pub(crate) const SIZE: u64 = 4;
    /// The position that means the game as a whole.
    pub(crate) const WHOLE_GAME: u32 = 0xff_ffff;
    /// Bytes before a text: an unknown one, and the language.
    pub(crate) const TEXT: usize = 2;

    /// Type of a text after the move.
    pub(crate) const TEXT_AFTER: u8 = 0x02;
    /// Type of up to three glyphs: the move, the position, a prefix.
    pub(crate) const SYMBOLS: u8 = 0x03;
    /// Type of coloured squares.
    pub(crate) const SQUARES: u8 = 0x04;
    /// Type of coloured arrows.
    pub(crate) const ARROWS: u8 = 0x05;
    /// Type of the time spent on the move.
    pub(crate) const TIME_SPENT: u8 = 0x07;
    /// Type of a training question.
    pub(crate) const TRAINING: u8 = 0x09;
    /// Type of White's clock.
    pub(crate) const WHITE_CLOCK: u8 = 0x16;
    /// Type of Black's clock.
    pub(crate) const BLACK_CLOCK: u8 = 0x17;
    /// Type of a critical position.
    pub(crate) const CRITICAL: u8 = 0x18;
    pub(crate) const MEDALS: u8 = 0x22;
    /// Type of the time control.
    pub(crate) const TIME_CONTROL: u8 = 0x24;
    /// Type of a text before the move.
    pub(crate) const TEXT_BEFORE: u8 = 0x82;

    /// The types that PGN cannot express.
    pub(crate) const WITHOUT_PGN: [(u8, &str); 9] = [
        (0x10, "sound"),
        (0x11, "picture"),
        (0x13, "game quotation"),
        (0x14, "pawn structure"),
        (0x15, "piece path"),
        (0x19, "correspondence move"),
        (0x20, "video"),
        (0x23, "color of a variation"),
        (0x61, "correspondence header"),
    ];
}

/// A stage of a time control (docs/formats/cbh.md, Annotations).
pub mod stage {
    /// Bytes of a stage.
    pub(crate) const LEN: usize = 11;
    /// Time in hundredths of a second, 32 bits.
    pub(crate) const TIME: u64 = 0;
    /// Increment in hundredths of a second, 32 bits.
    pub(crate) const INCREMENT: u64 = 4;
    pub(crate) const MOVES: u64 = 8;
    /// The number of moves that means the rest of the game.
    pub(crate) const REST: u16 = 1000;
}

/// A player in `.cbp`, after the links; texts as offset and length (docs/formats/cbh.md, Names).
pub mod player {
    pub(crate) const LAST_NAME: (u64, u64) = (0, 30);
    pub(crate) const FIRST_NAME: (u64, u64) = (30, 20);
    /// The least bytes of a record: two names, two numbers.
    pub(crate) const MIN: u64 = 58;
}

/// A tournament in `.cbt`, after the links; texts as offset and length (docs/formats/cbh.md, Names).
pub mod tournament {
    pub(crate) const TITLE: (u64, u64) = (0, 40);
    pub(crate) const PLACE: (u64, u64) = (40, 30);
    pub(crate) const DATE: u64 = 70;
    /// Type: [`KIND_MASK`], [`BLITZ`], [`RAPID`], [`CORRESPONDENCE`].
    pub(crate) const KIND: u64 = 74;
    /// The bits of the kind of tournament.
    pub(crate) const KIND_MASK: u8 = 0x1f;
    /// The kinds of tournaments by their numbers, as ChessBase names them.
    pub(crate) const KINDS: [&str; 9] =
        ["", "game", "match", "tourn", "swiss", "team", "k.o.", "simul", "schev"];
    /// Set in the type of blitz.
    pub(crate) const BLITZ: u8 = 0x20;
    /// Set in the type of rapid chess.
    pub(crate) const RAPID: u8 = 0x40;
    /// Set in the type of correspondence chess.
    pub(crate) const CORRESPONDENCE: u8 = 0x80;
    /// Whether it is a tournament of teams, in [`TEAM_BIT`].
    pub(crate) const TEAM: u64 = 75;
    /// Set for a tournament of teams.
    pub(crate) const TEAM_BIT: u8 = 0x01;
    pub(crate) const NATION: u64 = 76;
    pub(crate) const CATEGORY: u64 = 78;
    pub(crate) const ROUNDS: u64 = 80;
    /// The least bytes of a record.
    pub(crate) const MIN: u64 = 81;
}

/// An annotator in `.cbc`, after the links (docs/formats/cbh.md, Names).
pub(crate) mod annotator {
    /// Name, as that of a team: offset and length.
    pub const NAME: (u64, u64) = (0, 45);
    /// The least bytes of a record.
    pub(crate) const MIN: u64 = 45;
}

/// A source in `.cbs`, after the links; texts as offset and length (docs/formats/cbh.md, Names).
pub mod source {
    pub(crate) const TITLE: (u64, u64) = (0, 25);
    pub(crate) const PUBLISHER: (u64, u64) = (25, 16);
    /// Date of publication, 32 bits.
    pub(crate) const PUBLICATION: u64 = 41;
    pub(crate) const DATE: u64 = 45;
    pub(crate) const VERSION: u64 = 49;
    pub(crate) const QUALITY: u64 = 50;
    /// The least bytes of a record.
    pub(crate) const MIN: u64 = 51;
}

/// A team in `.cbe`, after the links, whose name is where that of an annotator is (docs/formats/cbh.md, Names).
pub(crate) mod team {
    /// Number of the team, 16 bits.
    pub const NUMBER: u64 = 45;
    pub(crate) const NATION: u64 = 54;
    /// The least bytes of a record.
    pub(crate) const MIN: u64 = 55;
}

/// A game's title in `.cbl`, after the links (docs/formats/cbh.md, Names).
pub(crate) mod title {
    /// Bytes of the title in one language.
    pub(crate) const LEN: u64 = 200;
    pub(crate) const LANGUAGES: u64 = 8;
    /// The least bytes of a record.
    pub(crate) const MIN: u64 = LEN * LANGUAGES;
}
