//! The header of a book, at the start of `NAME_0.kob`.

use super::layout::{ALL_PLIES, HAS_LINKS, TYPE};
use super::wire::{Fault, Reader, put_unicode};

/// What a book says of itself, and by which games it grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// A short description.
    pub caption: String,
    /// The least Elo of White, Black, the stronger and the weaker player that a game needs to be taken in; 0 is none.
    pub least_elo: [u16; 4],
    /// Plies from the start of a game that are taken in; 255 is all.
    pub plies: u8,
    /// What elements may hold: see [`HAS_LINKS`].
    pub element_type: u8,
    /// Whether moves between positions that other games have are looked for.
    pub transpositions: u8,
    /// Blocks of the book.
    pub blocks: u32,
}

impl Default for Header {
    fn default() -> Self {
        let element_type = HAS_LINKS;
        Self {
            caption: String::new(),
            least_elo: [0; 4],
            plies: ALL_PLIES,
            element_type,
            transpositions: 0,
            blocks: 0,
        }
    }
}

/// Why a file has no header that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// The first byte is another than that of the described kind.
    Type(u8),
    /// Something in it cannot be read.
    Cut(Fault),
}

impl Header {
    /// Reads the header at the start of a file, and its length.
    ///
    /// # Errors
    /// When there is none, with the offset of what is wrong.
    pub fn read(data: &[u8]) -> Result<(Self, u64), (u64, HeaderFault)> {
        let mut reader = Reader::at(data, 0);
        if let Ok(kind) = reader.u8()
            && kind != TYPE
        {
            return Err((0, HeaderFault::Type(kind)));
        }
        match Self::behind_type(&mut reader) {
            Ok(header) => Ok((header, reader.offset())),
            Err(fault) => Err((reader.offset(), HeaderFault::Cut(fault))),
        }
    }

    fn behind_type(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let caption = reader.unicode()?;
        let mut least_elo = [0; 4];
        for least in &mut least_elo {
            *least = reader.u16()?;
        }
        Ok(Self {
            caption,
            least_elo,
            plies: reader.u8()?,
            element_type: reader.u8()?,
            transpositions: reader.u8()?,
            blocks: reader.u32()?,
        })
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![TYPE];
        put_unicode(&self.caption, &mut bytes);
        bytes.extend(self.least_elo.iter().flat_map(|least| least.to_be_bytes()));
        bytes.extend([self.plies, self.element_type, self.transpositions]);
        bytes.extend(self.blocks.to_be_bytes());
        bytes
    }

    /// Whether elements may hold links to games.
    pub fn has_links(&self) -> bool {
        self.element_type & HAS_LINKS != 0
    }
}
