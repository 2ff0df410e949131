//! References to games: a book says where its games are, but does not hold them.

use std::fmt;
use std::num::NonZeroU16;

use crate::Points;

/// The kind of source of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ReferenceKind {
    /// A PGN file.
    Pgn,
    /// A page of the web.
    Web,
    /// A ChessBase database.
    Cbh,
    /// Something else.
    Other,
}

impl fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pgn => "pgn",
            Self::Web => "web",
            Self::Cbh => "cbh",
            Self::Other => "unknown",
        })
    }
}

/// A game that a book names, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameReference {
    /// Its number, by which positions name it. Games of one source have consecutive numbers.
    pub number: u64,
    /// The kind of source.
    pub kind: ReferenceKind,
    /// The file or page that holds it.
    pub source: String,
    /// Whether the source is known to be gone.
    pub gone: bool,
    /// Where it is in the source: an offset in bytes, and for web pages also the kind of page.
    pub address: u64,
    /// Its length in bytes; 0 if it is unknown.
    pub length: u64,
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// White's Elo, if it is known.
    pub white_elo: Option<NonZeroU16>,
    /// Black's Elo, if it is known.
    pub black_elo: Option<NonZeroU16>,
    /// White's points, if the result is known.
    pub points: Option<Points>,
}

/// Bytes of a game's record in a `.cbh` file.
pub const CBH_RECORD: u32 = 46;

/// Bits of a web game's address after the kind of page.
const WEB_BITS: u32 = 26;

impl GameReference {
    /// The result as in PGN; `*` if it is unknown.
    pub fn result(&self) -> &'static str {
        match self.points {
            Some(Points::Loss) => "0-1",
            Some(Points::Draw) => "1/2-1/2",
            Some(Points::Win) => "1-0",
            None => "*",
        }
    }

    /// Where it is in its source, for people. The kinds of web pages are Kvetka's.
    pub fn place(&self) -> String {
        let Self { kind, address, length, .. } = *self;
        match kind {
            ReferenceKind::Web => {
                let (page, at) = (address >> WEB_BITS, address & ((1 << WEB_BITS) - 1));
                let (name, numbered) = match page {
                    1 => ("chesspro.ru", true),
                    2 => ("crestbook.com", true),
                    3 => ("PGN archive", false),
                    6 => ("PGNtoJS page", true),
                    7 => ("chessbase.com", false),
                    8 => ("ChessBase page", false),
                    9 => ("chessok.com", false),
                    10 => ("chessgames.com", false),
                    11 => ("ChessTempo page", false),
                    12 => ("chesstempo.com", false),
                    13 => ("games.ugra-chess.com", false),
                    _ => ("page of an unknown kind", false),
                };
                if numbered {
                    format!("{name}, game {}", at + 1)
                } else {
                    format!("{name}, byte {at}, {length} bytes")
                }
            }
            ReferenceKind::Cbh if address > 0 && address.is_multiple_of(CBH_RECORD.into()) => {
                format!("game {}, byte {address}", address / u64::from(CBH_RECORD))
            }
            ReferenceKind::Cbh => format!("byte {address}"),
            _ => format!("byte {address}, {length} bytes"),
        }
    }
}

impl fmt::Display for GameReference {
    /// Players with their Elo, result, source and place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let player = |f: &mut fmt::Formatter<'_>, name: &str, elo: Option<NonZeroU16>| {
            f.write_str(if name.is_empty() { "?" } else { name })?;
            elo.map_or(Ok(()), |elo| write!(f, " ({elo})"))
        };
        player(f, &self.white, self.white_elo)?;
        f.write_str(" - ")?;
        player(f, &self.black, self.black_elo)?;
        let gone = if self.gone { " (gone)" } else { "" };
        write!(f, "  {}  {}{gone}, {}", self.result(), self.source, self.place())
    }
}
