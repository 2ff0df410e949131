//! Who sits opposite: what a GUI announces by `UCI_Opponent`, and the opponents that a rule is for.

use std::fmt;
use std::ops::RangeInclusive;

use tabiya_uci::same_name;
use wildmatch::WildMatch;

use super::rules::Rule;

/// The option by which GUIs announce the opponent.
pub const OPPONENT: &str = "UCI_Opponent";

/// Characters of an opponent's name that are kept.
const MAX_NAME: usize = 60;

/// What the option has where something is not known.
const NONE: &str = "none";

/// What plays a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpponentKind {
    Human,
    Computer,
}

impl OpponentKind {
    /// Their names in the option and in rules.
    pub(crate) const NAMES: [&str; 2] = [Self::Human.as_str(), Self::Computer.as_str()];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Computer => "computer",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        [Self::Human, Self::Computer].into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name))
    }
}

/// An opponent, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opponent {
    title: Option<String>,
    rating: Option<u32>,
    kind: Option<OpponentKind>,
    /// Empty if it is not known.
    name: String,
}

impl Opponent {
    /// Reads a value of the option: `GM 2800 human Gary Kasparov`, `none none computer Shredder`. What is not of that form is a name.
    pub fn parse(value: &str) -> Self {
        let value = value.trim();
        Self::as_specified(value).unwrap_or_else(|| Self { name: shown(value), ..Self::default() })
    }

    /// The opponent among options that are set in advance, names and values; nobody known if there is none.
    pub fn among(settings: &[(String, String)]) -> Self {
        let is_opponent = |(name, _): &&(String, String)| same_name(name.as_bytes(), OPPONENT.as_bytes());
        settings.iter().rfind(is_opponent).map(|(_, value)| Self::parse(value)).unwrap_or_default()
    }

    fn as_specified(value: &str) -> Option<Self> {
        let mut rest = value;
        let mut word = || {
            let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = more.trim_start();
            word
        };
        let known = |word: &str| !word.eq_ignore_ascii_case(NONE);
        let (title, rating, kind) = (word(), word(), word());
        let rating = if known(rating) { rating.parse().ok()? } else { 0 };
        Some(Self {
            title: Some(title).filter(|title| known(title)).map(shown),
            rating: Some(rating).filter(|rating| *rating > 0),
            kind: Some(OpponentKind::of_name(kind)?),
            name: shown(rest),
        })
    }

    /// Whether the value that it was read from was of the form that UCI specifies, or empty.
    pub fn is_as_specified(&self) -> bool {
        self.kind.is_some() || self.name.is_empty()
    }

    /// The name; empty if it is not known.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// `GM Gary Kasparov (human, 2800)`, with what is known.
impl fmt::Display for Opponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown() {
            return f.write_str("not known");
        }
        let name = if self.name.is_empty() { "somebody" } else { &self.name };
        let title = self.title.iter().map(String::as_str);
        f.write_str(&title.chain([name]).collect::<Vec<_>>().join(" "))?;
        let rating = self.rating.map(|rating| rating.to_string());
        let facts: Vec<_> =
            self.kind.map(|kind| kind.as_str().to_owned()).into_iter().chain(rating).collect();
        if facts.is_empty() { Ok(()) } else { write!(f, " ({})", facts.join(", ")) }
    }
}

/// A text without control characters, and not too long.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect()
}

/// Why a rule is not for an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It is of this other kind.
    Kind(OpponentKind),
    UnknownKind,
    Name,
    UnknownName,
    Rating,
    UnknownRating,
}

impl Mismatch {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kind(OpponentKind::Human) => "the opponent is a human",
            Self::Kind(OpponentKind::Computer) => "the opponent is a computer",
            Self::UnknownKind => "it is not known whether the opponent is a human or a computer",
            Self::Name => "the opponent has another name than its opponent-name",
            Self::UnknownName => "the opponent's name is not known",
            Self::Rating => "the opponent's rating is outside its opponent-rating",
            Self::UnknownRating => "the opponent's rating is not known",
        }
    }
}

impl Rule {
    /// Why it is not for this opponent: what it asks for is different, or not known; `None` if it is for this one.
    pub fn mismatch(&self, opponent: &Opponent) -> Option<Mismatch> {
        let kind = self.given.text("opponent").and_then(OpponentKind::of_name).and_then(|wanted| {
            let Some(kind) = opponent.kind else { return Some(Mismatch::UnknownKind) };
            (kind != wanted).then_some(Mismatch::Kind(kind))
        });
        let name = || {
            let pattern = self.given.text("opponent-name")?;
            if opponent.name.is_empty() {
                return Some(Mismatch::UnknownName);
            }
            (!is_named(pattern, &opponent.name)).then_some(Mismatch::Name)
        };
        let rating = || {
            let range = self.given.text("opponent-rating").and_then(range)?;
            let Some(rating) = opponent.rating else { return Some(Mismatch::UnknownRating) };
            (!range.contains(&rating)).then_some(Mismatch::Rating)
        };
        kind.or_else(name).or_else(rating)
    }

    /// The opponents that it is for, as a clause; `None` if it is for all.
    pub fn opponents(&self) -> Option<String> {
        let clauses = [
            self.given.text("opponent").map(|kind| format!("is a {kind}")),
            self.given.text("opponent-name").map(|name| format!("is called {name:?}")),
            self.given.text("opponent-rating").map(|range| match range.split_once("..") {
                Some((low, "")) => format!("is rated {low} or more"),
                Some(("", high)) => format!("is rated {high} or less"),
                _ => format!("is rated {}", range.replace("..", " to ")),
            }),
        ];
        let clauses: Vec<_> = clauses.into_iter().flatten().collect();
        (!clauses.is_empty()).then(|| format!("the opponent {}", clauses.join(" and ")))
    }
}

/// The numbers of a range with one end or both, both included: `1800..2200`, `2200..`, `..1800`.
pub(super) fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let (low, high) = text.split_once("..").map(|(low, high)| (low.trim(), high.trim()))?;
    let end = |text: &str, open: u32| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let range = end(low, 0)?..=end(high, u32::MAX)?;
    (!(range.is_empty() || low.is_empty() && high.is_empty())).then_some(range)
}

/// Whether a name matches a pattern, ignoring case: `*` is any text, and "Last, First" is "First Last".
fn is_named(pattern: &str, name: &str) -> bool {
    let (patterns, names) = (forms(pattern), forms(name));
    let matches = |pattern: &String| {
        let pattern = WildMatch::new(pattern);
        names.iter().any(|name| pattern.matches(name))
    };
    patterns.iter().any(matches)
}

/// A name in lower case with single blanks, as it is and with its parts in the other order if a comma parts them.
fn forms(name: &str) -> Vec<String> {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let swapped = name.split_once(',').filter(|(_, first)| !first.contains(','));
    let swapped = swapped.map(|(last, first)| plain(&format!("{first} {last}")));
    [plain(name)].into_iter().chain(swapped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value, and the title, the rating, the kind and the name in it.
    type Case = (&'static str, Option<&'static str>, Option<u32>, Option<OpponentKind>, &'static str);

    #[test]
    fn a_value_is_read_as_specified_or_taken_as_a_name() {
        use OpponentKind::{Computer, Human};
        let cases: [Case; 16] = [
            ("GM 2800 human Gary Kasparov", Some("GM"), Some(2800), Some(Human), "Gary Kasparov"),
            ("none none computer Shredder", None, None, Some(Computer), "Shredder"),
            ("none 3600 computer Stockfish 17", None, Some(3600), Some(Computer), "Stockfish 17"),
            ("  BOT\t1900  computer   maia5 ", Some("BOT"), Some(1900), Some(Computer), "maia5"),
            ("None NONE Human X", None, None, Some(Human), "X"),
            ("none 0 human Y", None, None, Some(Human), "Y"),
            ("none none computer", None, None, Some(Computer), ""),
            ("none none human human", None, None, Some(Human), "human"),
            ("", None, None, None, ""),
            ("Somebody", None, None, None, "Somebody"),
            ("Gary Kasparov", None, None, None, "Gary Kasparov"),
            ("GM human 2800 Gary", None, None, None, "GM human 2800 Gary"),
            ("GM -5 human Gary", None, None, None, "GM -5 human Gary"),
            ("none 1500? human X", None, None, None, "none 1500? human X"),
            ("none none robot Z", None, None, None, "none none robot Z"),
            ("a\u{7}b", None, None, None, "ab"),
        ];
        for (value, title, rating, kind, name) in cases {
            let read = Opponent::parse(value);
            let title = title.map(str::to_owned);
            assert_eq!(read, Opponent { title, rating, kind, name: name.to_owned() }, "{value:?}");
            assert_eq!(read.is_as_specified(), kind.is_some() || name.is_empty(), "{value:?}");
        }
        assert_eq!(Opponent::parse(&"x".repeat(99)).name().len(), MAX_NAME);
        let shown = |value| Opponent::parse(value).to_string();
        assert_eq!(shown("GM 2800 human Gary Kasparov"), "GM Gary Kasparov (human, 2800)");
        assert_eq!((shown("Somebody"), shown("")), ("Somebody".to_owned(), "not known".to_owned()));
        assert_eq!(shown("none none computer"), "somebody (computer)");
    }

    #[test]
    fn a_range_has_one_end_or_both() {
        assert_eq!(range("1800..2200"), Some(1800..=2200));
        assert_eq!((range(" 2200 .. "), range("..1800")), (Some(2200..=u32::MAX), Some(0..=1800)));
        for wrong in
            ["", "..", "1800", "2200..1800", "1800...2200", "1800..=2200", "a..b", "-1..5", "1..99999999999"]
        {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_rule_is_for_the_opponents_that_its_keys_describe() {
        use Mismatch::{Kind, Name, Rating, UnknownKind, UnknownName, UnknownRating};
        use OpponentKind::{Computer, Human};
        let (kind, name, rating) = ("opponent", "opponent-name", "opponent-rating");
        const KASPAROV: &str = "GM 2800 human Kasparov, Gary";
        const BOT: &str = "BOT 1900 computer maia5";
        type Case<'a> = (&'a [(&'static str, &'a str)], &'a str, Option<Mismatch>);
        let cases: [Case<'_>; 30] = [
            (&[], "", None),
            (&[], BOT, None),
            (&[(kind, "human")], KASPAROV, None),
            (&[(kind, "human")], BOT, Some(Kind(Computer))),
            (&[(kind, "computer")], BOT, None),
            (&[(kind, "computer")], KASPAROV, Some(Kind(Human))),
            (&[(kind, "computer")], "", Some(UnknownKind)),
            (&[(kind, "human")], "Gary Kasparov", Some(UnknownKind)),
            (&[(kind, "computer")], "none none computer", None),
            (&[(name, "Gary Kasparov")], KASPAROV, None),
            (&[(name, "kasparov, gary")], "none none human GARY  KASPAROV", None),
            (&[(name, "Kasparov*")], KASPAROV, None),
            (&[(name, "gary*")], KASPAROV, None),
            (&[(name, "*parov, G*")], KASPAROV, None),
            (&[(name, "*sparo*")], KASPAROV, None),
            (&[(name, "Kasparov")], KASPAROV, Some(Name)),
            (&[(name, "Karpov*")], KASPAROV, Some(Name)),
            (&[(name, "maia?")], BOT, None),
            (&[(name, "maia*")], "maia9", None),
            (&[(name, "*")], "", Some(UnknownName)),
            (&[(name, "*")], "none none computer", Some(UnknownName)),
            (&[(rating, "1800..2200")], BOT, None),
            (&[(rating, "1900..1900")], BOT, None),
            (&[(rating, "2000..")], BOT, Some(Rating)),
            (&[(rating, "..1899")], BOT, Some(Rating)),
            (&[(rating, "..1900")], BOT, None),
            (&[(rating, "1800..")], "none none computer maia5", Some(UnknownRating)),
            (&[(rating, "0..")], "none 0 human X", Some(UnknownRating)),
            (&[(kind, "computer"), (name, "maia*"), (rating, "1000..2000")], BOT, None),
            (&[(kind, "computer"), (name, "leela*"), (rating, "2000..")], BOT, Some(Name)),
        ];
        for (keys, value, expected) in cases {
            let rule = keys.iter().fold(Rule::default(), |rule, (key, value)| rule.with(key, value));
            assert_eq!(rule.mismatch(&Opponent::parse(value)), expected, "{keys:?} {value:?}");
            assert_eq!(rule.opponents().is_none(), keys.is_empty());
        }
    }
}
