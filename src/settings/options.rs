//! The adapter's own UCI options: their names, their limits and their values.

use std::borrow::Cow;

use vampirc_uci::{Serializable, UciMessage, UciOptionConfig};

use super::books::{BookFiles, BookList};
use crate::choose::{MAX_LOSS_MAX, Policy};
use crate::uci::SetOption;

/// The greatest seed that a GUI's spin box can hold: many store it in 32 signed bits.
pub(crate) const SEED_MAX: u32 = i32::MAX as u32;

/// The longest time of a check by the engine, in milliseconds: a minute.
const GUARD_MAX: u32 = 60_000;

/// The adapter's options and their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `OwnBook`: whether the adapter's book is used.
    pub own_book: bool,
    /// `Book File`, `Book White` and `Book Black`: the books that are named.
    pub books: BookFiles,
    /// `Book Score`: the score that is announced with a book move.
    pub score: BookScore,
    /// How a move is chosen from a book.
    pub policy: Policy,
    /// `Book Guard`: how long the engine checks a book move of which nothing is known, in milliseconds; 0 = not at all.
    pub guard: u32,
    /// `Book Ponder`: whether the engine ponders while the book still answers.
    pub ponder: bool,
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
            score: BookScore::default(),
            policy: Policy::default(),
            guard: 0,
            ponder: true,
            learn_margin: 600,
            seed: 0,
            log: String::new(),
        }
    }
}

/// What the adapter must do after an option has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the value is read when it is needed.
    Value,
    /// Open the books again.
    Books,
    /// Open the stores of evaluations, if they are needed now.
    Evaluations,
    /// Seed the random numbers again.
    Seed,
    /// Open another log.
    Log,
    /// Start or stop learning.
    Learn,
}

/// The option that switches the books off.
const OWN_BOOK: &str = "OwnBook";

/// The name of an option, what to do after a change, and where its value is.
type Row = (&'static str, Change, fn(&mut Options) -> Value<'_>);

/// The options, in the order in which GUIs list them. No name contains a keyword of the `option` line as it is
/// written there, in small letters: that would confuse some clients.
const ROWS: [Row; 19] = [
    (OWN_BOOK, Change::Value, |options| Value::Check(&mut options.own_book)),
    ("Book File", Change::Books, |options| Value::Files(&mut options.books.both)),
    ("Book White", Change::Books, |options| Value::Files(&mut options.books.white)),
    ("Book Black", Change::Books, |options| Value::Files(&mut options.books.black)),
    ("Book Variety", Change::Value, |options| Value::Spin(&mut options.policy.variety, 100)),
    ("Book Depth", Change::Value, |options| Value::Spin(&mut options.policy.depth, 1000)),
    ("Book Threshold", Change::Value, |options| Value::Spin(&mut options.policy.threshold, 1000)),
    ("Book Games", Change::Value, |options| Value::Spin(&mut options.policy.games, 1_000_000)),
    ("Book Reserve", Change::Value, |options| Value::Spin(&mut options.policy.reserve, 100)),
    ("Book Max Loss", Change::Evaluations, |options| Value::Spin(&mut options.policy.max_loss, MAX_LOSS_MAX)),
    ("Book Guard", Change::Value, |options| Value::Spin(&mut options.guard, GUARD_MAX)),
    ("Book Tournament", Change::Value, |options| Value::Check(&mut options.policy.tournament)),
    ("Book Repeats", Change::Value, |options| Value::Check(&mut options.policy.repeats)),
    ("Book Ponder", Change::Value, |options| Value::Check(&mut options.ponder)),
    ("Book Score", Change::Value, |options| Value::Score(&mut options.score)),
    ("Book Learn", Change::Learn, |options| Value::Check(&mut options.policy.learn)),
    ("Book Learn Margin", Change::Value, |options| Value::Spin(&mut options.learn_margin, 10_000)),
    ("Book Seed", Change::Seed, |options| Value::Spin(&mut options.seed, SEED_MAX)),
    ("Book Log", Change::Log, |options| Value::Text(&mut options.log)),
];

/// A reference to the value of one option.
enum Value<'a> {
    Check(&'a mut bool),
    /// A number and its limit.
    Spin(&'a mut u32, u32),
    Score(&'a mut BookScore),
    Files(&'a mut BookList),
    Text(&'a mut String),
}

impl Value<'_> {
    /// Sets the value.
    ///
    /// # Errors
    /// When the text is not valid: a clause that says which texts are, and the value that the option keeps.
    fn set(self, text: &str) -> Result<(), String> {
        match self {
            Value::Check(value) => {
                let truth = text.to_ascii_lowercase().parse();
                *value = truth.map_err(|_| format!("is neither true nor false; it stays {value}"))?;
            }
            Value::Spin(value, max) => {
                let number = text.parse().ok().filter(|number| *number <= max);
                let refused = || format!("is not a number from 0 to {max}; it stays {value}");
                *value = number.ok_or_else(refused)?;
            }
            Value::Score(value) => {
                let mut all = BookScore::ALL.into_iter();
                let score = all.find(|score| score.as_str().eq_ignore_ascii_case(text));
                let names = BookScore::ALL.map(BookScore::as_str).join(" nor ");
                let refused = || format!("is neither {names}; it stays {}", value.as_str());
                *value = score.ok_or_else(refused)?;
            }
            Value::Files(value) => *value = BookList::parse(text),
            Value::Text(value) => text.clone_into(value),
        }
        Ok(())
    }
}

/// What a field of a form holds.
#[cfg(feature = "explore")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Form {
    /// `check`, `spin`, `combo`, `files` or `text`.
    pub(crate) kind: &'static str,
    /// The least number.
    pub(crate) min: Option<u32>,
    /// The greatest number.
    pub(crate) max: Option<u32>,
    /// The texts to choose from.
    pub(crate) choices: Option<&'static [&'static str]>,
}

#[cfg(feature = "explore")]
impl Form {
    /// Any text.
    pub(crate) const TEXT: Self = Self { kind: "text", min: None, max: None, choices: None };
    /// Names of files.
    pub(crate) const FILES: Self = Self { kind: "files", ..Self::TEXT };
    /// True or false.
    pub(crate) const CHECK: Self = Self { kind: "check", ..Self::TEXT };

    /// A number.
    pub(crate) const fn spin(min: u32, max: u32) -> Self {
        Self { kind: "spin", min: Some(min), max: Some(max), choices: None }
    }

    /// One of some texts.
    pub(crate) const fn combo(choices: &'static [&'static str]) -> Self {
        Self { kind: "combo", min: None, max: None, choices: Some(choices) }
    }
}

#[cfg(feature = "explore")]
impl Options {
    /// The name of each option, what it holds, and its default.
    pub(crate) fn forms() -> impl Iterator<Item = (&'static str, Form, String)> {
        let mut options = Self::default();
        ROWS.into_iter().map(move |(name, _, value)| {
            let (form, default) = match value(&mut options) {
                Value::Check(value) => (Form::CHECK, value.to_string()),
                Value::Spin(value, max) => (Form::spin(0, max), value.to_string()),
                Value::Score(value) => (Form::combo(&BookScore::NAMES), value.as_str().to_owned()),
                Value::Files(_) => (Form::FILES, String::new()),
                Value::Text(_) => (Form::TEXT, String::new()),
            };
            (name, form, default)
        })
    }
}

impl Options {
    /// Whether the adapter has an option of this name.
    pub(crate) fn is_ours(name: &[u8]) -> bool {
        let option = SetOption { name, value: b"" };
        Self::names().any(|ours| option.is(ours))
    }

    /// The names of the adapter's options.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.into_iter().map(|(name, ..)| name)
    }

    /// Whether the option of this name decides which books play.
    pub(crate) fn names_books(name: &str) -> bool {
        let option = SetOption { name: name.as_bytes(), value: b"" };
        let decides = |name: &str, change| change == Change::Books || name == OWN_BOOK;
        ROWS.iter().any(|(name, change, _)| decides(name, *change) && option.is(name))
    }

    /// What to do about a value that leaves open which books play; `None` for any other value or option.
    pub(crate) fn lacks(name: &str, value: &str) -> Option<&'static str> {
        let option = SetOption { name: name.as_bytes(), value: value.as_bytes() };
        let mut options = Self::default();
        let set = Some(name).filter(|name| Self::names_books(name)).and_then(|_| options.set(&option))?;
        match set {
            Err(_) => Some("write true or false"),
            Ok(Change::Books) if options.books == BookFiles::default() => {
                Some("name a book, or <none> for no book")
            }
            Ok(_) => None,
        }
    }

    /// Appends the `option` lines, with the current values as defaults. Files are listed as empty, which means those of
    /// the configuration: a GUI that saves options must not save the paths of today.
    pub(crate) fn declare(&self, out: &mut Vec<u8>) {
        let mut options = self.clone();
        for (name, _, value) in ROWS {
            let name = name.to_owned();
            let option = match value(&mut options) {
                Value::Check(value) => UciOptionConfig::Check { name, default: Some(*value) },
                Value::Spin(value, max) => UciOptionConfig::Spin {
                    name,
                    default: Some((*value).into()),
                    min: Some(0),
                    max: Some(max.into()),
                },
                Value::Score(value) => UciOptionConfig::Combo {
                    name,
                    default: Some(value.as_str().to_owned()),
                    var: BookScore::ALL.map(|score| score.as_str().to_owned()).to_vec(),
                },
                Value::Files(_) | Value::Text(_) => {
                    UciOptionConfig::String { name, default: Some("<empty>".to_owned()) }
                }
            };
            out.extend(UciMessage::Option(option).serialize().into_bytes());
            out.push(b'\n');
        }
    }

    /// Sets an option; `None` if the adapter has no option of this name.
    ///
    /// # Errors
    /// When the value is not valid: the message says which values are, and the option keeps its value.
    pub fn set(&mut self, option: &SetOption<'_>) -> Option<Result<Change, String>> {
        let (name, change, value) = ROWS.into_iter().find(|(name, ..)| option.is(name))?;
        let text = text(option.value);
        let text = text.trim();
        let set = value(self).set(text);
        Some(set.map(|()| change).map_err(|why| format!("{name}: '{text}' {why}")))
    }
}

/// The text of a value: what is not UTF-8 is in the code page of the system on Windows, where old GUIs send file names
/// in it.
fn text(value: &[u8]) -> Cow<'_, str> {
    #[cfg(windows)]
    if std::str::from_utf8(value).is_err()
        && let Some(text) = crate::base::windows::from_ansi(value)
    {
        return Cow::Owned(text);
    }
    String::from_utf8_lossy(value)
}

/// Which score is announced with a book move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BookScore {
    /// Always 0.
    #[default]
    Zero,
    /// The score that the results of the move amount to.
    Statistics,
}

impl BookScore {
    /// All values, in the order in which GUIs list them.
    const ALL: [Self; 2] = [BookScore::Zero, BookScore::Statistics];

    /// Their names.
    #[cfg(feature = "explore")]
    const NAMES: [&str; 2] = [Self::ALL[0].as_str(), Self::ALL[1].as_str()];

    /// The value's name in the option.
    const fn as_str(self) -> &'static str {
        match self {
            BookScore::Zero => "zero",
            BookScore::Statistics => "statistics",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &mut Options, line: &str) -> Option<Result<Change, String>> {
        options.set(&SetOption::parse(line.as_bytes()).unwrap())
    }

    #[cfg(windows)]
    #[test]
    fn names_in_the_code_page_of_the_system_are_understood() {
        let mut options = Options::default();
        let value = b"B\xfccher\\Gr\xf6\xdfe.bin";
        let known = crate::base::windows::from_ansi(value).unwrap();
        assert!(known.starts_with('B') && known.ends_with(".bin"), "{known}");
        options.set(&SetOption { name: b"Book File", value }).unwrap().unwrap();
        assert_eq!(options.books.both, BookList::parse(&known));
    }

    #[test]
    fn options_are_declared_as_promised() {
        let mut out = Vec::new();
        Options::default().declare(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "option name OwnBook type check default true\n\
             option name Book File type string default <empty>\n\
             option name Book White type string default <empty>\n\
             option name Book Black type string default <empty>\n\
             option name Book Variety type spin default 50 min 0 max 100\n\
             option name Book Depth type spin default 0 min 0 max 1000\n\
             option name Book Threshold type spin default 5 min 0 max 1000\n\
             option name Book Games type spin default 0 min 0 max 1000000\n\
             option name Book Reserve type spin default 0 min 0 max 100\n\
             option name Book Max Loss type spin default 0 min 0 max 10000\n\
             option name Book Guard type spin default 0 min 0 max 60000\n\
             option name Book Tournament type check default true\n\
             option name Book Repeats type check default false\n\
             option name Book Ponder type check default true\n\
             option name Book Score type combo default zero var zero var statistics\n\
             option name Book Learn type check default false\n\
             option name Book Learn Margin type spin default 600 min 0 max 10000\n\
             option name Book Seed type spin default 0 min 0 max 2147483647\n\
             option name Book Log type string default <empty>\n"
        );
    }

    /// The rows of a table that follows a heading, cell by cell, without the line of the columns' names.
    fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
        let rest = page.split_once(heading).unwrap().1;
        let table = rest.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        let table = table.take_while(|line| line.starts_with('|'));
        table.map(|row| row.split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_guide_has_the_options_in_their_order_with_kind_range_and_default() {
        let mut out = Vec::new();
        Options::default().declare(&mut out);
        let mut declared = Vec::new();
        for line in String::from_utf8(out).unwrap().lines() {
            let (name, rest) = line.strip_prefix("option name ").unwrap().split_once(" type ").unwrap();
            let (kind, rest) = rest.split_once(" default ").unwrap();
            let (default, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let range = rest.strip_prefix("min ").map(|range| range.replace(" max ", "-"));
            let default = default.strip_prefix("<empty>").unwrap_or(default);
            declared.push((name.to_owned(), kind.to_owned(), range, default.to_owned()));
            let values: Vec<_> =
                rest.split("var ").skip(1).map(|value| format!("`{}`", value.trim())).collect();
            let meant = include_str!("../../docs/guide/options.md").lines().find(|row| {
                row.starts_with(&format!("| {name} |")) && values.iter().all(|value| row.contains(value))
            });
            assert!(kind != "combo" || values.len() > 1 && meant.is_some(), "{line}");
        }
        let mut shown = Vec::new();
        for cells in rows(include_str!("../../docs/guide/options.md"), "\n## UCI options\n") {
            let [_, names, kind, default, ..] = cells[..] else { panic!("{cells:?}") };
            let (kind, range) =
                kind.split_once(' ').map_or((kind, None), |(kind, range)| (kind, Some(range)));
            for name in names.split(" / ") {
                // A seed is any number that UCI's programs keep.
                let range = if name == "Book Seed" { Some("0-2147483647") } else { range };
                shown.push((name.to_owned(), kind.to_owned(), range.map(str::to_owned), default.to_owned()));
            }
        }
        assert_eq!(shown, declared);
        let some = rows(include_str!("../../README.md"), "\n## The options that most people change\n");
        assert!(some.len() > 3);
        for cells in some {
            let is_it = |(name, _, _, default): &&(String, String, Option<String>, String)| {
                name == cells[1] && default == cells[2]
            };
            assert!(declared.iter().any(|option| is_it(&option)), "{cells:?}");
        }
    }

    #[test]
    fn the_keys_of_a_rule_have_the_ranges_of_the_options() {
        let mut out = Vec::new();
        Options::default().declare(&mut out);
        let declared = String::from_utf8(out).unwrap();
        let rows = rows(include_str!("../../docs/guide/options.md"), "\n### A policy for each book\n");
        let mut seen = 0;
        for cells in rows {
            let Some(option) = cells[2].strip_prefix("as *").and_then(|rest| rest.split('*').next()) else {
                continue;
            };
            let range = cells[1].split(['(', ')']).nth(1).unwrap();
            let (min, max) = range.split_once('-').unwrap();
            let line = declared.lines().find(|line| line.contains(&format!(" {option} type "))).unwrap();
            assert!(line.ends_with(&format!(" min {min} max {max}")), "{line}: {cells:?}");
            seen += 1;
        }
        assert_eq!(seen, 5);
    }

    #[test]
    fn files_are_listed_as_empty_and_other_options_as_set() {
        let mut options = Options::default();
        for line in [
            "name Book File value a.bin",
            "name Book White value <none>",
            "name Book Log value l",
            "name Book Depth value 9",
            "name Book Score value statistics",
        ] {
            assert!(set(&mut options, line).unwrap().is_ok());
        }
        let mut out = Vec::new();
        options.declare(&mut out);
        let text = String::from_utf8(out).unwrap();
        for line in [
            "option name Book File type string default <empty>",
            "option name Book White type string default <empty>",
            "option name Book Log type string default <empty>",
            "option name Book Depth type spin default 9 min 0 max 1000",
            "option name Book Score type combo default statistics var zero var statistics",
        ] {
            assert!(text.lines().any(|said| said == line), "{line}: {text}");
        }
    }

    #[test]
    fn no_name_contains_a_keyword_of_the_syntax() {
        for name in Options::names() {
            for word in name.split(' ') {
                let reserved = ["name", "type", "default", "min", "max", "var", "value"];
                assert!(!reserved.contains(&word), "{name}");
            }
        }
    }

    #[test]
    fn names_are_recognised_in_any_letter_case() {
        let mut options = Options::default();
        assert_eq!(set(&mut options, "name BOOK  variety value 7"), Some(Ok(Change::Value)));
        assert_eq!(options.policy.variety, 7);
        assert_eq!(set(&mut options, "name ownbook value FALSE"), Some(Ok(Change::Value)));
        assert!(!options.own_book);
        assert_eq!(set(&mut options, "name Book File value a.bin;b.bin"), Some(Ok(Change::Books)));
        assert_eq!(options.books.both, BookList::Files(vec!["a.bin".to_owned(), "b.bin".to_owned()]));
        assert_eq!(set(&mut options, "name Book File value <empty>"), Some(Ok(Change::Books)));
        assert_eq!(options.books.both, BookList::Unnamed);
        assert_eq!(set(&mut options, "name book score value STATISTICS"), Some(Ok(Change::Value)));
        assert_eq!(options.score, BookScore::Statistics);
        assert_eq!(set(&mut options, "name Hash value 64"), None);
    }

    #[test]
    fn a_value_out_of_range_is_refused() {
        let mut options = Options::default();
        for line in [
            "name Book Variety value 101",
            "name Book Variety value -1",
            "name Book Variety value x",
            "name Book Variety",
            "name Book Ponder value 1",
            "name Book Score value chances",
            "name Book Score",
            "name Book Seed value 99999999999999999999",
        ] {
            assert!(matches!(set(&mut options, line), Some(Err(_))), "{line}");
        }
        assert_eq!(options, Options::default());
    }
}
