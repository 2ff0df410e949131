//! The table of settings, a row for each. UCI's `option` lines, the command line, the configuration file and its template, the
//! `[[book]]` tables, and the explorer's form and policy are made from it; tests compare the guide and Python's `Policy` with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use tabiya_base::likeness::{in_words, nearest};
use tabiya_book::choose::{MAX_LOSS_LIMIT, Weights};
use tabiya_chess::openings::{self, ChosenOpenings, Opening, UnknownOpening};

use self::SettingKind::{Check, Choice, Files, Openings, Pairs, Range, Share, Spin, Text, Texts};
use super::opponent::{OpponentKind, range};
use super::options::{BookScore, OptionChange, Options, UsedPolicy, Value};
use super::split;

/// The greatest seed that a GUI's spin box can hold: many store it in 32 signed bits.
const MAX_SEED: u32 = i32::MAX as u32;

/// Seconds in a day.
const DAY: u32 = 86_400;

/// The option that switches the books off.
pub(super) const OWN_BOOK: &str = "OwnBook";

/// The key of the engine.
pub const ENGINE: &str = "engine";

/// The key of the engine's arguments.
pub(crate) const ENGINE_ARG: &str = "engine-arg";

/// The key of the folder in which the engine works.
pub(crate) const ENGINE_DIR: &str = "engine-dir";

/// The key of the time that the engine is given to answer `uci`.
pub const ENGINE_TIMEOUT: &str = "engine-timeout";

/// The key of options.
pub const SET: &str = "set";

/// The key of the books for both sides.
pub(crate) const BOOK: &str = "book";

/// What settings are about, in the order in which a form shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum SettingGroup {
    Engine,
    Books,
    #[serde(rename = "Choosing moves")]
    Moves,
    Learning,
    #[serde(rename = "Log and name")]
    Log,
}

/// The values that a setting may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SettingKind {
    Check,
    /// A number from the one to the other.
    Spin {
        min: u32,
        max: u32,
    },
    /// A share with at most one decimal, in percent; without the sign its thousandths, as it was written before.
    Share,
    /// Numbers from one to another, of which one may be left out.
    Range,
    /// One of these texts.
    #[serde(rename = "combo")]
    Choice {
        choices: &'static [&'static str],
    },
    /// Names or codes of openings, with `;` between them; empty for all.
    #[serde(rename = "text")]
    Openings,
    Text,
    /// Several texts, in an order that matters.
    Texts,
    Pairs,
    Files,
}

impl SettingKind {
    /// What a value must be, in words.
    pub fn needs(self) -> String {
        match self {
            Check => "true or false".to_owned(),
            Spin { min, max } => format!("a number from {min} to {max}"),
            Share => "a share from 0 % to 100 %, such as '0.5 %'".to_owned(),
            Range => "a range, such as '1800..2200', '2200..' or '..1800'".to_owned(),
            Choice { choices } => format!("one of {}", choices.join(", ")),
            Openings => "the name or code of an opening, or several with ';' between them".to_owned(),
            Text => "a string".to_owned(),
            Texts => "a string or a list of strings".to_owned(),
            Pairs => "a list of \"NAME=VALUE\", or a table of options".to_owned(),
            Files => "the path of a book or a list of them, or '<none>' for no book".to_owned(),
        }
    }

    /// The number that a text means, 1 for true, the thousandths of a share; `None` if the setting cannot have that value.
    pub(crate) fn number(self, text: &str) -> Option<u32> {
        match self {
            Share => match text.strip_suffix('%') {
                Some(percent) => thousandths(percent.trim_end()).map(u32::from),
                None => text.parse().ok().filter(|number| *number <= 1000),
            },
            Spin { min, max } => text.parse().ok().filter(|number| (min..=max).contains(number)),
            Check => text.parse::<bool>().ok().map(u32::from),
            _ => None,
        }
    }

    /// Whether a text is a value that the setting may have, or one of several.
    pub fn takes(self, text: &str) -> bool {
        match self {
            Check | Spin { .. } | Share => self.number(text).is_some(),
            Range => range(text).is_some(),
            Choice { choices } => choices.contains(&text),
            Openings => chosen_openings(text).is_ok(),
            Text | Texts => true,
            Pairs => split(text).is_some(),
            Files => !text.trim().is_empty(),
        }
    }

    /// What somebody may mean who gives it a value that it cannot have, in words.
    pub fn meant(self, text: &str) -> Option<String> {
        let unknown = if self == Openings { chosen_openings(text).err()? } else { return None };
        // Of names that are equally near the short ones come first.
        let short_first = |name: &'static str| (name.len(), name);
        let names = || openings::all().map(Opening::name);
        let parts = names().flat_map(|name| name.split([':', ','])).map(str::trim);
        let all: BTreeSet<_> = parts.chain(names()).map(short_first).collect();
        let near = nearest(&[unknown.name.as_str()], all.into_iter().map(|(_, name)| name));
        Some(in_words(&near)).filter(|words| !words.is_empty())
    }

    /// Whether it may have several values.
    pub fn is_list(self) -> bool {
        matches!(self, Texts | Pairs | Files)
    }
}

#[derive(Clone, Copy, Serialize)]
pub struct SettingRow {
    /// Its name for people; that of an option is its name in UCI.
    pub name: &'static str,
    /// Its name in the file, on the command line and in addresses, as far as it has one there.
    #[serde(skip)]
    pub key: &'static str,
    #[serde(flatten)]
    pub kind: SettingKind,
    /// The default, as a value or in words; empty for an option whose default is in [`Options`].
    #[serde(skip)]
    default: &'static str,
    /// What the command line's help calls a value.
    #[serde(skip)]
    pub value_name: &'static str,
    /// What it is for, in one line.
    pub help: &'static str,
    /// What it is about.
    #[serde(skip)]
    pub(crate) group: SettingGroup,
    /// Where its value is among the options of UCI.
    #[serde(skip)]
    holder: Option<fn(&mut Options) -> Value<'_>>,
    /// What keeps it from having any effect, if something does: among the options, and the policies by which books answer.
    #[serde(skip)]
    lack: fn(&Options, &[&UsedPolicy]) -> Option<&'static str>,
    /// What the adapter must do after the option has changed.
    #[serde(skip)]
    pub(super) change: OptionChange,
    /// Whether it is given at the start: a key outside `set` in the file, an argument of the adapter.
    #[serde(skip)]
    pub(crate) at_start: bool,
    /// Whether a `[[book]]` table may set it.
    #[serde(skip)]
    by_book: bool,
    /// Whether it is an argument of the commands that show what the adapter would play.
    #[serde(skip)]
    shown: bool,
    /// Whether the explorer's page has a slider for it, and the unit beside that.
    #[serde(skip)]
    slider: Option<&'static str>,
}

impl SettingRow {
    /// Whether it is an option of UCI.
    pub(super) fn is_option(&self) -> bool {
        self.holder.is_some()
    }

    /// Whether it belongs to the policy of a book.
    pub(super) fn is_of_policy(&self) -> bool {
        self.by_book && self.is_option()
    }

    /// Whether it has another value in these options than by default.
    pub(super) fn is_changed(&self, mut options: Options) -> bool {
        self.value(&mut options) != self.value(&mut Options::default())
    }

    /// What keeps it from having any effect; `None` where nothing does.
    pub(super) fn lack(&self, options: &Options, used: &[&UsedPolicy]) -> Option<&'static str> {
        (self.lack)(options, used)
    }

    /// The value in these options; `None` for a setting that is not an option.
    pub(super) fn value<'a>(&self, options: &'a mut Options) -> Option<Value<'a>> {
        self.holder.map(|value| value(options))
    }

    /// The default, as a value or in words; empty for none.
    pub fn default(&self) -> String {
        match self.default {
            "" => self.text(&mut Options::default()),
            words => words.to_owned(),
        }
    }

    /// The value in these options as text; empty for a setting that only the start knows.
    pub fn text(&self, options: &mut Options) -> String {
        self.value(options).map(|value| value.to_string()).unwrap_or_default()
    }
}

/// The thousandths of a share in percent that has at most one decimal; `None` for more than 100 %, and what is no number.
pub fn thousandths(percent: &str) -> Option<u16> {
    let (whole, tenths) = percent.split_once('.').unwrap_or((percent, "0"));
    let digits =
        |text: &str| text.parse::<u16>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let tenths = digits(tenths).filter(|_| tenths.len() == 1);
    digits(whole)?.checked_mul(10)?.checked_add(tenths?).filter(|thousandths| *thousandths <= 1000)
}

/// The openings that a text names; `None` for an empty one.
pub(super) fn chosen_openings(text: &str) -> Result<Option<Arc<ChosenOpenings>>, UnknownOpening> {
    if text.trim().is_empty() { Ok(None) } else { ChosenOpenings::named(text).map(Some) }
}

/// What a setting lacks, if it does.
fn lack(is_lacking: bool, what: &'static str) -> Option<&'static str> {
    is_lacking.then_some(what)
}

/// Default values of a row.
const ROW: SettingRow = SettingRow {
    name: "",
    key: "",
    kind: Text,
    default: "",
    value_name: "",
    help: "",
    group: SettingGroup::Moves,
    holder: None,
    lack: |_, _| None,
    change: OptionChange::Value,
    at_start: false,
    by_book: false,
    shown: false,
    slider: None,
};

/// What rows have that are given at the start.
const START: SettingRow = SettingRow { at_start: true, ..ROW };

/// What rows of the policy have.
const POLICY: SettingRow = SettingRow { by_book: true, shown: true, ..ROW };

/// What rows have that only a `[[book]]` table sets.
const BY_BOOK: SettingRow = SettingRow { by_book: true, ..ROW };

/// All settings: options in the order in which GUIs list them. No name of an option contains a keyword of the `option` line
/// as it is written there, in small letters: that would confuse some clients.
#[rustfmt::skip]
static ROWS: &[SettingRow] = &[
    SettingRow { name: "Engine", key: ENGINE, value_name: "PROGRAM", default: "stockfish",
        group: SettingGroup::Engine, help: "The engine: a path, or a name on PATH", ..START },
    SettingRow { name: "Engine arguments", key: ENGINE_ARG, value_name: "ARG", kind: Texts,
        group: SettingGroup::Engine, help: "An argument for the engine", ..START },
    SettingRow { name: "Engine folder", key: ENGINE_DIR, value_name: "DIR", default: "tabiya's",
        group: SettingGroup::Engine, help: "The engine's working folder", ..START },
    // Clients give up after 10 to 35 seconds.
    SettingRow { name: "Engine timeout", key: ENGINE_TIMEOUT, value_name: "SECONDS", kind: Spin { min: 1, max: DAY }, default: "30",
        group: SettingGroup::Engine, help: "Seconds to wait for the engine to answer `uci`", ..START },
    SettingRow { name: OWN_BOOK, kind: Check, holder: Some(|it| Value::Check(&mut it.own_book)),
        group: SettingGroup::Books, help: "Play from the books", ..ROW },
    SettingRow { name: "Book File", key: BOOK, value_name: "FILE", kind: Files, holder: Some(|it| Value::Files(&mut it.books.both)),
        default: "the starter book inside tabiya, if no book is named", change: OptionChange::Books,
        group: SettingGroup::Books, help: "A book; of several, the first that knows the position answers", ..START },
    SettingRow { name: "Book White", key: "book-white", value_name: "FILE", kind: Files, holder: Some(|it| Value::Files(&mut it.books.white)),
        change: OptionChange::Books, group: SettingGroup::Books, help: "A book for White, tried before the others", ..START },
    SettingRow { name: "Book Black", key: "book-black", value_name: "FILE", kind: Files, holder: Some(|it| Value::Files(&mut it.books.black)),
        change: OptionChange::Books, group: SettingGroup::Books, help: "A book for Black, tried before the others", ..START },
    SettingRow { name: "Play without missing books", key: "book-optional", kind: Check, default: "false",
        group: SettingGroup::Books, help: "If a book cannot be opened, play on with the others or the engine alone", ..START },
    SettingRow { key: "file", help: "The book", ..BY_BOOK },
    SettingRow { key: "color", kind: Choice { choices: &["white", "black"] }, help: "Use the book only for this side", ..BY_BOOK },
    SettingRow { key: "opponent", kind: Choice { choices: &OpponentKind::NAMES }, help: "Use the book only against a human, or a computer", ..BY_BOOK },
    SettingRow { key: "opponent-name", help: "Use the book only against this opponent; * is any text", ..BY_BOOK },
    SettingRow { key: "opponent-rating", kind: Range, help: "Use the book only against opponents of these ratings", ..BY_BOOK },
    SettingRow { name: "Book Variety", key: "variety", value_name: "0-100", kind: Spin { min: 0, max: 100 }, holder: Some(|it| Value::Spin(&mut it.policy.variety)),
        slider: Some(""), help: "0 = always the best move, 50 = by weight, 100 = every playable move equally often", ..POLICY },
    SettingRow { name: "Book Depth", key: "depth", value_name: "MOVE", kind: Spin { min: 0, max: 1000 }, holder: Some(|it| Value::Spin(&mut it.policy.depth)),
        help: "Last full move to play from the book; 0 = no limit", ..POLICY },
    SettingRow { name: "Book Threshold", key: "threshold", value_name: "PERCENT", kind: Share, holder: Some(|it| Value::Share(&mut it.policy.threshold)),
        slider: Some("%"), help: "Skip rare moves: the least share of the position's total weight, in percent", ..POLICY },
    SettingRow { name: "Book Games", key: "games", value_name: "GAMES", kind: Spin { min: 0, max: 1_000_000 }, holder: Some(|it| Value::Spin(&mut it.policy.games)),
        help: "Skip moves with fewer games than this, where the book counts games", ..POLICY },
    SettingRow { name: "Book Weights", key: "weights", value_name: "points|games", kind: Choice { choices: &Weights::NAMES }, holder: Some(|it| Value::Choice(&mut it.policy.weights)),
        lack: |_, used| lack(used.iter().all(|it| !it.counts_games), "no book counts games"),
        help: "Where a book counts games, what its weights are made of: what the moves scored (points), or how often they were played (games)", ..POLICY },
    SettingRow { name: "Book Opening", key: "opening", value_name: "NAME", kind: Openings, holder: Some(|it| Value::Openings(&mut it.policy.openings)),
        help: "Only moves that lead to or stay in these openings, by name or code ('Najdorf Variation', 'C4*'), with ';' between several; empty = all", ..POLICY },
    SettingRow { name: "Book Reserve", key: "reserve", value_name: "PLIES", kind: Spin { min: 0, max: 100 }, holder: Some(|it| Value::Spin(&mut it.policy.reserve)),
        slider: Some("plies"), help: "Skip moves whose line in the book is shorter than this many plies, the move included", ..POLICY },
    SettingRow { name: "Book Max Loss", key: "max-loss", value_name: "CENTIPAWNS", kind: Spin { min: 0, max: MAX_LOSS_LIMIT }, holder: Some(|it| Value::Spin(&mut it.policy.max_loss)),
        change: OptionChange::Evaluations,
        lack: |_, used| lack(used.iter().all(|it| !it.has_evaluations && !it.policy.guards()), "there are no evaluations beside the book (BOOK.evals), and Book Guard is 0"),
        help: "Skip moves that lose more than this many centipawns, by the evaluations beside the book (BOOK.evals); 0 = no limit", ..POLICY },
    SettingRow { name: "Book Guard", key: "guard", kind: Spin { min: 0, max: 60_000 }, holder: Some(|it| Value::Spin(&mut it.policy.guard)),
        shown: false, lack: |_, used| lack(used.iter().all(|it| it.policy.max_loss == 0), "Book Max Loss is 0, which allows every loss"),
        help: "Milliseconds for the engine to check a book move that has no evaluation; 0 = no check", ..POLICY },
    SettingRow { name: "Book Tournament", key: "tournament", value_name: "true|false", kind: Check, holder: Some(|it| Value::Check(&mut it.policy.tournament)),
        help: "Follow the book's own recommendations: colors, marks and limits", ..POLICY },
    SettingRow { name: "Book Factor", key: "factor", value_name: "true|false", kind: Check, holder: Some(|it| Value::Check(&mut it.policy.factor)),
        lack: |_, used| lack(used.iter().all(|it| !it.policy.tournament), "Book Tournament is false"),
        help: "With Book Tournament: multiply the weights of a CTG book by its factors, as their meaning is inferred", ..POLICY },
    SettingRow { name: "Book Threefold", key: "threefold", kind: Check, holder: Some(|it| Value::Check(&mut it.policy.threefold)),
        help: "Allow book moves that repeat a position for the third time", ..POLICY },
    SettingRow { key: "optional", kind: Check, help: "Play on without the book if it cannot be opened", ..BY_BOOK },
    SettingRow { key: "min-clock", kind: Spin { min: 0, max: DAY }, help: "Skip the book when the side to move has fewer seconds left than this", ..BY_BOOK },
    SettingRow { key: "max-uses", kind: Spin { min: 1, max: 1000 }, help: "Play at most this many moves of a game from the book", ..BY_BOOK },
    SettingRow { name: "Book Fresh", kind: Check, holder: Some(|it| Value::Check(&mut it.fresh)), change: OptionChange::Fresh,
        lack: |_, used| lack(used.iter().all(|it| it.policy.variety == 0), "Book Variety is 0: the best move is always played"),
        help: "Prefer moves into lines not yet played since tabiya started; choose among them by weight", ..ROW },
    SettingRow { name: "Book Fresh File", holder: Some(|it| Value::Text(&mut it.fresh_file)), change: OptionChange::Lines,
        lack: |it, _| lack(!it.fresh, "Book Fresh is false"),
        help: "With Book Fresh: share played lines with other running copies of tabiya through this file", ..ROW },
    SettingRow { name: "Book Ponder", kind: Check, holder: Some(|it| Value::Check(&mut it.ponder)),
        help: "Let the engine ponder while moves still come from the book", ..ROW },
    SettingRow { name: "Book Score", kind: Choice { choices: &BookScore::NAMES }, holder: Some(|it| Value::Choice(&mut it.score)),
        help: "The score to show with a book move: zero, or what the results of the move amount to (statistics)", ..ROW },
    SettingRow { name: "Book Learn", key: "learn", kind: Check, holder: Some(|it| Value::Check(&mut it.policy.learn)), change: OptionChange::Learn,
        by_book: false, group: SettingGroup::Learning, help: "Let learned results change the weights; in play, also write the result of each game into the Polyglot books", ..POLICY },
    SettingRow { name: "Book Learn Margin", kind: Spin { min: 0, max: 10_000 }, holder: Some(|it| Value::Spin(&mut it.learn_margin)),
        group: SettingGroup::Learning, lack: |it, _| lack(!it.policy.learn, "Book Learn is false"),
        help: "The score, in centipawns, at which an unfinished game counts as won or lost", ..ROW },
    SettingRow { name: "Book Seed", key: "seed", value_name: "N", kind: Spin { min: 0, max: MAX_SEED }, holder: Some(|it| Value::Spin(&mut it.seed)),
        change: OptionChange::Seed, help: "Seed for random choices: the same seed repeats them; 0 = different each time", ..START },
    SettingRow { name: "Book Log", key: "log", value_name: "FILE", holder: Some(|it| Value::Text(&mut it.log)), change: OptionChange::Log,
        group: SettingGroup::Log, help: "Write a log to this file; in its name, %p becomes the process ID and %d the date", ..START },
    SettingRow { name: "Log level", key: "log-level", value_name: "LEVEL", kind: Choice { choices: &["error", "warn", "info", "debug", "trace"] }, default: "info",
        group: SettingGroup::Log, help: "How much to log: error, warn, info, debug (adds the GUI's lines, and why the book did not \
               answer) or trace (adds the engine's lines)", ..START },
    SettingRow { name: "Name", key: "name", value_name: "NAME", default: "the engine's own and \"(tabiya)\"", group: SettingGroup::Log, help: "The engine name that GUIs show", ..START },
    SettingRow { name: "Options", key: SET, value_name: "NAME=VALUE", kind: Pairs, group: SettingGroup::Engine, help: "Set an option of the engine or of tabiya", ..START },
];

/// The settings that are given at the start: in the file, or on the command line.
pub fn start() -> impl Iterator<Item = &'static SettingRow> {
    ROWS.iter().filter(|row| row.at_start)
}

/// The options of UCI, in the order in which GUIs list them.
pub fn options() -> impl Iterator<Item = &'static SettingRow> {
    ROWS.iter().filter(|row| row.holder.is_some())
}

/// The settings of the policy that are arguments of the commands that show what the adapter would play.
pub fn shown() -> impl Iterator<Item = &'static SettingRow> {
    ROWS.iter().filter(|row| row.shown)
}

/// The settings that a `[[book]]` table may have.
pub(crate) fn by_book() -> impl Iterator<Item = &'static SettingRow> {
    ROWS.iter().filter(|row| row.by_book)
}

/// The settings for which the explorer's page has sliders, with their units.
pub(super) fn sliders() -> impl Iterator<Item = (&'static SettingRow, &'static str)> {
    ROWS.iter().filter_map(|row| Some((row, row.slider?)))
}

/// The names of the keys of the configuration file.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    start().map(|row| row.key)
}

/// Whether a key decides which engine and which books play.
pub(super) fn decides(key: &str) -> bool {
    key.starts_with("engine") || key.starts_with("book") || key == SET
}
