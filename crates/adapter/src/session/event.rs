//! What a session does, as data for other parts of this program: none of them reads the lines for the GUI.

use std::fmt;
use std::path::PathBuf;

use tabiya_book::choose::Refused;

use serde::{Deserialize, Serialize};

/// Something that a caller in this program may want to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A book has answered a request with a move that had this chance, from 0 to 1.
    Book {
        file: PathBuf,
        /// The number of its rule, from 1, if there is one.
        rule: Option<usize>,
        /// The chance of the move.
        chance: f64,
    },
    /// The engine has answered a request.
    Engine {
        /// Why no book has.
        why: Silence,
    },
    /// The user is warned.
    Notice {
        /// What it is about.
        about: About,
        text: String,
    },
}

/// Why the books have not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Silence {
    /// They have no playable move.
    #[default]
    NoMove,
    Off,
    /// The engine plays another kind of chess.
    Variant,
    /// The request is analysis.
    Analysis,
    /// The position is not known.
    Position,
    /// Rules, or the request, have ruled out moves that may be played at another time; or the books are not open yet.
    ForOnce,
}

/// A book that has moves in a position, none of which may be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SilentBook {
    pub(super) file: PathBuf,
    /// The number of its rule, from 1, if there is one.
    pub(super) rule: Option<usize>,
    pub(super) refused: Refused,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMove => "not in the book",
            Self::Off => "OwnBook is off",
            Self::Variant => "there is no book of this kind of chess",
            Self::Analysis => "analysis",
            Self::Position => "the position is not known",
            Self::ForOnce => "no book may answer this time",
        })
    }
}

impl fmt::Display for SilentBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, rule, refused } = self;
        if let Some(number) = rule {
            write!(f, "rule {number}, ")?;
        }
        let (file, count) = (file.display(), refused.each.len());
        write!(f, "{file}: {count} {}; {refused}", if count == 1 { "move" } else { "moves" })
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The configuration, which says the same to whoever reads it.
    Configuration,
    /// An option that was set in advance.
    Option,
    /// Another kind of chess.
    Variant,
    /// Analysis, in which books are silent.
    Analysis,
    /// Books that cannot learn.
    Learning,
    /// Files, and everything else.
    Other,
}
