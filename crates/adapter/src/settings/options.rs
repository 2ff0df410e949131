//! The values of the adapter's own UCI options.

use std::fmt;
use std::sync::Arc;

use tabiya_book::choose::{Policy, Weights};
use tabiya_chess::Variant;
use tabiya_chess::openings::ChosenOpenings;

use super::books::{BookFiles, BookList};

/// The adapter's options and their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `OwnBook`: whether the adapter's book is used.
    pub own_book: bool,
    /// `Book File`, `Book White` and `Book Black`: the books that are named.
    pub books: BookFiles,
    /// The books of other variants, which only the configuration file names.
    pub variants: Vec<BookFiles>,
    /// `Book Score`: the score that is announced with a book move.
    pub score: BookScore,
    /// How a move is chosen from a book.
    pub policy: Policy,
    /// `Book Ponder`: whether the engine ponders while the book still answers.
    pub ponder: bool,
    /// `Book Fresh`: whether moves are preferred that lead to lines which were not played.
    pub fresh: bool,
    /// `Book Fresh File`: where processes share which lines were played; empty = each knows its own.
    pub fresh_file: String,
    /// `Book Learn Margin`: the score in centipawns from which an unfinished game counts as won or lost.
    pub learn_margin: u32,
    /// `Book Seed`: 0 = random.
    pub seed: u32,
    /// `Book Log`: the log's file; empty = none.
    pub log: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            own_book: true,
            books: BookFiles::default(),
            variants: Vec::new(),
            score: BookScore::default(),
            policy: Policy::default(),
            ponder: true,
            fresh: false,
            fresh_file: String::new(),
            learn_margin: 600,
            seed: 0,
            log: String::new(),
        }
    }
}

impl Options {
    /// The books that are named for a variant.
    pub fn books_of(&self, variant: Variant) -> Option<&BookFiles> {
        std::iter::once(&self.books).chain(&self.variants).find(|files| files.variant == variant)
    }
}

/// A policy by which books answer.
pub(super) struct UsedPolicy {
    pub(super) policy: Policy,
    /// Whether evaluations are known beside a book that answers by it.
    pub(super) has_evaluations: bool,
    /// Whether one of its books counts games.
    pub(super) counts_games: bool,
}

/// What the adapter must do after an option has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionChange {
    /// Nothing: the value is read when it is needed.
    Value,
    /// Open the books again.
    Books,
    /// Open the stores of evaluations, if they are needed now.
    Evaluations,
    /// Seed the random numbers again.
    Seed,
    /// Read which lines other processes have played.
    Fresh,
    /// Share played lines in another file.
    Lines,
    Log,
    /// Start or stop learning.
    Learn,
}

/// A reference to the value of one option.
#[derive(PartialEq)]
pub(super) enum Value<'a> {
    Check(&'a mut bool),
    Spin(&'a mut u32),
    /// A share, in thousandths.
    Share(&'a mut u32),
    Choice(&'a mut dyn Choice),
    Openings(&'a mut Option<Arc<ChosenOpenings>>),
    Files(&'a mut BookList),
    Text(&'a mut String),
}

/// One of several values that have names.
pub(super) trait Choice {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Becomes the value of this name, in any letter case; `None` if there is none.
    fn set(&mut self, name: &str) -> Option<()>;
}

impl PartialEq for dyn Choice + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Choice for BookScore {
    fn name(&self) -> &'static str {
        self.as_str()
    }

    fn set(&mut self, name: &str) -> Option<()> {
        *self = Self::ALL.into_iter().find(|value| value.as_str().eq_ignore_ascii_case(name))?;
        Some(())
    }
}

impl Choice for Weights {
    fn name(&self) -> &'static str {
        self.as_str()
    }

    fn set(&mut self, name: &str) -> Option<()> {
        *self = Self::of_name(&name.to_ascii_lowercase())?;
        Some(())
    }
}

/// A share as text.
pub(super) fn percent(thousandths: u32) -> String {
    format!("{} %", f64::from(thousandths) / 10.0)
}

/// The value as UCI has it; empty for files, whose names are those of today.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Check(value) => value.fmt(f),
            Value::Spin(value) => value.fmt(f),
            Value::Share(value) => f.write_str(&percent(**value)),
            Value::Choice(value) => f.write_str(value.name()),
            Value::Openings(Some(value)) => value.fmt(f),
            Value::Openings(None) | Value::Files(_) | Value::Text(_) => Ok(()),
        }
    }
}

/// Which score is announced with a book move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BookScore {
    #[default]
    Zero,
    /// The score that the results of the move amount to.
    Statistics,
}

impl BookScore {
    /// All values, in the order in which GUIs list them.
    pub(super) const ALL: [Self; 2] = [BookScore::Zero, BookScore::Statistics];

    pub(super) const NAMES: [&str; 2] = [Self::ALL[0].as_str(), Self::ALL[1].as_str()];

    /// The value's name in the option.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            BookScore::Zero => "zero",
            BookScore::Statistics => "statistics",
        }
    }
}
