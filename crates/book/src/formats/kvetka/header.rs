//! The header of a book, at the start of `NAME_0.kob`.

use std::ffi::OsStr;

use tabiya_base::error::{Error, ErrorKind, Result};

use super::layout::{ALL_PLIES, HAS_LINKS, TYPE};
use super::wire::{self, KvetkaReader, put_unicode};
use crate::Heading;

/// The description of a book, and which games it takes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvetkaHeader {
    /// A short description.
    pub caption: String,
    /// The least Elo that White, Black, the stronger and the weaker player of a game need; 0 is none.
    pub least_elo: [u16; 4],
    /// Plies that are taken in from the start of a game; 255 is all.
    pub plies: u8,
    /// What elements may hold: see [`HAS_LINKS`].
    pub element_type: u8,
    /// Whether Kvetka looks for moves between positions of different games.
    pub transpositions: u8,
    /// Blocks of the book.
    pub blocks: u32,
}

impl Default for KvetkaHeader {
    fn default() -> Self {
        Self {
            caption: String::new(),
            least_elo: [0; 4],
            plies: ALL_PLIES,
            element_type: HAS_LINKS,
            transpositions: 0,
            blocks: 0,
        }
    }
}

impl KvetkaHeader {
    /// Reads the header at the start of a file, and its length.
    ///
    /// # Errors
    /// When there is none that can be read, with the offset where reading failed.
    pub fn read(data: &[u8]) -> Result<(Self, u64)> {
        let mut reader = KvetkaReader::at(data, 0);
        let error = |at: u64, what: String| Error::new(ErrorKind::Format, what).at_offset(at);
        if let Ok(kind) = reader.u8()
            && kind != TYPE
        {
            let what =
                format!("this kind of Kvetka book, {kind}, is not supported: only kind 1 is described");
            return Err(error(0, what).advice("save the book in Kvetka's current format"));
        }
        let header = Self::after_type(&mut reader).map_err(|why| {
            let what = format!("the header of the Kvetka book {why}");
            error(reader.offset(), what).advice("copy or download it again")
        })?;
        Ok((header, reader.offset()))
    }

    fn after_type(reader: &mut KvetkaReader<'_>) -> wire::Result<Self> {
        Ok(Self {
            caption: reader.unicode()?,
            least_elo: [reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?],
            plies: reader.u8()?,
            element_type: reader.u8()?,
            transpositions: reader.u8()?,
            blocks: reader.u32()?,
        })
    }

    /// What it says of the book of this name. A caption that is only the name says nothing.
    pub(super) fn heading(&self, name: &OsStr) -> Heading {
        let Self { caption, least_elo, plies, transpositions, .. } = self;
        let caption = if name == caption.as_str() { "" } else { caption };
        let limits = least_elo.map(i32::from);
        Heading {
            format: crate::kvetka::FORMAT,
            texts: vec![caption.to_owned()],
            settings: [&limits[..], &[i32::from(*plies), i32::from(*transpositions)]].concat(),
            weighs: false,
            says_anything: !caption.is_empty() || *least_elo != [0; 4] || *plies != ALL_PLIES,
        }
    }

    /// Takes what is said of a book.
    #[cfg(feature = "write")]
    pub(super) fn describe(&mut self, heading: &Heading) {
        let number = |at: usize| heading.settings.get(at).copied().unwrap_or_default();
        if let Some(caption) = heading.texts.first().filter(|caption| !caption.is_empty()) {
            self.caption.clone_from(caption);
        }
        self.least_elo = std::array::from_fn(|at| u16::try_from(number(at)).unwrap_or_default());
        self.plies = u8::try_from(number(4)).unwrap_or(ALL_PLIES);
        self.transpositions = u8::try_from(number(5)).unwrap_or_default();
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
