//! What a database says of itself.

use tabiya_base::findings::Finding;

use crate::Date;

/// What a database holds. Deleted games count as deleted and nothing else.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Records of any kind.
    pub records: u64,
    /// What else is known: a key for programs, a name for people, and the fact.
    pub facts: Vec<(&'static str, &'static str, Fact)>,
    /// What is wrong, summed up by kind.
    pub findings: Vec<Finding>,
}

/// A fact of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// How many there are.
    Count(u64),
    /// How many bytes there are.
    Bytes(u64),
    /// What the database says in its own words.
    Text(String),
    /// The earliest and the latest known date of a game.
    Dates(Option<(Date, Date)>),
    /// In how many games moves are stored in each way.
    Modes(Vec<Mode>),
}

/// A way to store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its number.
    pub number: u8,
    /// The games.
    pub games: u64,
    /// What it means, as a word; empty for an ordinary one.
    pub means: &'static str,
}

impl Summary {
    /// The dates of a game too, if it is known.
    pub(crate) fn with(dates: Option<(Date, Date)>, date: Date) -> Option<(Date, Date)> {
        if date.is_unknown() {
            return dates;
        }
        let (first, last) = dates.unwrap_or((date, date));
        Some((first.min(date), last.max(date)))
    }
}
