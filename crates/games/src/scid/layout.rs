//! The layout of the files, as `docs/formats/scid.md` describes it. Version 4 is big-endian, the index of version 5 little-endian.

/// The first bytes of a `.si4` file.
pub const INDEX_MARK: &[u8; 8] = b"Scid.si\0";

/// The first bytes of a `.sn4` file.
pub const NAMES_MARK: &[u8; 8] = b"Scid.sn\0";

/// Where things are in the header of a `.si4` file.
pub mod header {
    /// Its version.
    pub const VERSION: u64 = 8;
    /// The number of games, in three bytes.
    pub const COUNT: u64 = 14;
    /// The description, which ends at the first zero byte.
    pub const DESCRIPTION: u64 = 20;
    /// Bytes of the description.
    pub const DESCRIPTION_LEN: u64 = 108;
    /// Bytes of the longest header.
    pub const MAX_LEN: usize = 182;
}

/// Where things are in a record of version 4; of version 300 too, once it has the byte that it lacks.
pub mod record4 {
    /// The offset of the game in `.sg4`.
    pub const OFFSET: u64 = 0;
    /// The low bits of its length.
    pub const LENGTH: u64 = 4;
    /// The high bit of its length, and high flags. Version 300 does not have this byte.
    pub const LENGTH_HIGH: usize = 6;
    /// The low flags.
    pub const FLAGS: u64 = 7;
    /// The high bits of the players' numbers.
    pub const PLAYERS_HIGH: usize = 9;
    /// The low bits of the numbers of White and Black.
    pub const PLAYERS: [u64; 2] = [10, 12];
    /// The high bits of the numbers of event, site and round.
    pub const NAMES_HIGH: usize = 14;
    /// Their low bits.
    pub const NAMES: [u64; 3] = [15, 17, 19];
    /// The result, and counts that are not used.
    pub const RESULT: u64 = 21;
    /// The code of the opening.
    pub const ECO: u64 = 23;
    /// The date, and the date of the event in relation to it.
    pub const DATES: u64 = 25;
    /// The ratings of White and Black.
    pub const RATINGS: [u64; 2] = [29, 31];
}

/// Bytes of a record of each version.
pub const RECORD_LEN: [u64; 3] = [46, 47, 56];

/// The most bytes of a record.
pub const MAX_RECORD_LEN: usize = 56;

/// The bit of the flags that marks a deleted game.
pub const DELETED: u32 = 1 << 3;

/// Where the counts of names are in a `.sn4` file, and where the highest frequencies of each list.
pub const COUNTS: u64 = 12;
/// As [`COUNTS`].
pub const FREQUENCIES: u64 = 24;
/// Where the names begin.
pub const NAMES_AT: usize = 36;

/// Lists of names: players, events, sites, rounds.
pub const LISTS: usize = 4;

/// The most names that the numbers of version 4 tell apart, by list.
pub const MOST_NAMES: [u32; LISTS] = [1 << 20, 1 << 19, 1 << 19, 1 << 18];

/// The kind of a record in `.sn5` that is a setting and not a name.
pub const SETTING: u64 = 4;

/// Kinds of ratings, by their numbers, as the tags end.
pub const RATINGS: [&str; 7] = ["Elo", "Rating", "Rapid", "ICCF", "USCF", "DWZ", "ECF"];

/// The most bytes of a game.
pub const MAX_GAME: u64 = (1 << 17) - 1;

/// Tags that have a number instead of a name, from [`FIRST_COMMON`] on.
pub const COMMON_TAGS: [&str; 10] = [
    "WhiteCountry",
    "BlackCountry",
    "Annotator",
    "PlyCount",
    "EventDate",
    "Opening",
    "Variation",
    "Setup",
    "Source",
    "SetUp",
];
/// As [`COMMON_TAGS`].
pub const FIRST_COMMON: u8 = 241;
/// A tag of three bytes without a length, in old databases.
pub const OLD_DATE_TAG: u8 = 255;

/// The bit of the byte before the moves that says that a FEN follows.
pub const HAS_FEN: u8 = 1;

/// Bytes among the moves that are no moves.
pub mod mark {
    /// A numeric annotation glyph, in the next byte.
    pub const GLYPH: u8 = 11;
    /// A comment.
    pub const COMMENT: u8 = 12;
    /// A variation begins.
    pub const OPEN: u8 = 13;
    /// It ends.
    pub const CLOSE: u8 = 14;
    /// The game ends.
    pub const END: u8 = 15;
}

/// How deep variations may be nested: a game of 131,071 bytes can nest 65,000.
pub const MAX_NESTING: usize = 1000;

/// The most pieces of a side: they have numbers of four bits.
pub const MOST_PIECES: usize = 16;
