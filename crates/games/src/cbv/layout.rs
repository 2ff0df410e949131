//! The layout of archives, all numbers little-endian (docs/formats/cbv.md, Header; docs/formats/cbv.md, Directory;
//! docs/formats/cbv.md, Blocks).

/// The first two bytes: the length of the header, where the directory begins.
pub const START: [u8; 2] = [8, 0];
/// Bytes of the header.
pub(crate) const HEADER_LEN: u64 = 8;
/// Offset of the number of members in the header.
pub(crate) const COUNT_AT: u64 = 2;
/// Offset of the length of a member's entry.
pub(crate) const ENTRY_LEN_AT: u64 = 4;
/// The length of an entry, in old and in new archives.
pub(crate) const ENTRY_LENS: [u16; 2] = [149, 173];

/// Bytes of a name in an entry; it ends at the first NUL.
pub(crate) const NAME_LEN: u64 = 128;
/// Offsets in an entry: where the packed bytes begin in the file, how many there are, and how many they unpack to.
pub(crate) const NUMBERS_AT: [u64; 3] = [128, 132, 136];
/// Offsets of the same numbers in 64 bits, in new archives.
pub(crate) const WIDE_AT: [u64; 3] = [149, 157, 165];

/// Bytes before the content of a block: its length and checksum.
pub(crate) const HEAD_LEN: u64 = 4;
/// Bytes that every block of a real archive but a member's last one unpacks to.
pub(crate) const BLOCK: u64 = 0xf000;
/// The most bytes that a block may unpack to.
pub(crate) const MAX_BLOCK: usize = 1 << 16;
/// The most blocks of a member: more than one of [`MAX_MEMBER`] has. It bounds the table of them to 2 MB.
pub(crate) const MAX_BLOCKS: usize = 1 << 17;
/// The most bytes that a member may unpack to: real ones have up to 1.25 GB.
pub(crate) const MAX_MEMBER: u64 = 4 << 30;
/// The most bytes of a member that is held in memory, such as the players of a database: real ones have some tens of MB.
pub(crate) const MAX_HELD: u64 = 128 << 20;
