//! Rules: the `[[book]]` tables of the configuration file, each a book with its own policy.

use std::path::Path;
use std::time::Duration;

use shakmaty::Color;

use tabiya_book::choose::Policy;

use super::given::Given;

/// A book with conditions for its use, and its own values in place of the ordinary options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// `file`: the book, as the user named it.
    pub file: String,
    /// The other keys, some of them in place of the options.
    pub given: Given,
}

impl Rule {
    /// The rule with another key.
    #[must_use]
    pub fn with(self, key: &'static str, value: &str) -> Self {
        Self { given: self.given.with(key, [value]), ..self }
    }

    /// The side for which it is asked; `None` for both.
    pub fn color(&self) -> Option<Color> {
        self.given.text("color").map(|color| Color::from_white(color == "white"))
    }

    /// The policy of its book: the rule's values, and those of the options where it has none.
    #[must_use]
    pub fn policy(&self, options: &Policy) -> Policy {
        self.given.over(options)
    }

    /// Whether tabiya plays on without its book if that cannot be opened.
    pub fn is_optional(&self) -> bool {
        self.given.is_true("optional")
    }

    /// Whether its book may be asked with this much on the mover's clock; `None` where no clock limits the move.
    pub fn has_time(&self, left: Option<Duration>) -> bool {
        let least = Duration::from_secs(self.min_clock().unwrap_or(0).into());
        left.is_none_or(|left| left >= least)
    }

    /// Seconds; with less on the mover's clock its book is not asked.
    pub fn min_clock(&self) -> Option<u32> {
        self.given.number("min-clock")
    }

    /// The most moves of one game that its book answers for a side.
    pub fn max_uses(&self) -> Option<u32> {
        self.given.number("max-uses")
    }

    /// Whether its book may answer again after this many answers in the game.
    pub fn has_uses(&self, used: usize) -> bool {
        self.max_uses().is_none_or(|most| u64::from(most) > used as u64)
    }
}

/// The name of a rule in messages: its number, from 1, and the name of its book's file, as in `rule 2 (main.bin)`.
pub fn rule_name(number: usize, book: &Path) -> String {
    let file = book.file_name().unwrap_or(book.as_os_str());
    format!("rule {number} ({})", file.to_string_lossy())
}
