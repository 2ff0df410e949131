//! Options: those that the engine lists, and those that the GUI sets.

use log::Level;
use shakmaty::CastlingMode;

use tabiya_chess::{Variant, rules_of};
use tabiya_search::offered_as;
use tabiya_uci::{
    MAX_OWN_BOOKS, SetOption, VARIANT, is_own_book, offered_variants, option_default, option_name,
    option_type, option_with_default, same_name,
};

use super::child::Child;
use super::event::About;
use super::{Output, Session, lossy};
use crate::settings::books::NO_BOOK;
use crate::settings::opponent::{OPPONENT, Opponent};
use crate::settings::options::{OptionChange, Options};
use crate::settings::spelling;

/// The option with which GUIs announce analysis.
const ANALYSE_MODE: &str = "UCI_AnalyseMode";

/// The options of an engine that are ours if it has none.
const LENT: [&str; 2] = [ANALYSE_MODE, OPPONENT];

/// The start of the message about another kind of chess.
const OTHER_VARIANT: &str = "UCI_Variant is ";

/// The options of the engine that the session follows.
const FOLLOWED: [&str; 4] = [MULTI_PV, ANALYSE_MODE, CHESS960, VARIANT];

/// Bytes of names of the engine's options that are kept, each with a line end: 64 KiB.
const MAX_NAMES: usize = 64 << 10;

/// The option with which GUIs ask for several lines of play.
const MULTI_PV: &str = "MultiPV";

/// The option with which GUIs announce Chess960.
const CHESS960: &str = "UCI_Chess960";

/// The error for an option that was set and that neither the engine nor the adapter has.
pub(crate) fn unknown_option(name: &str) -> String {
    let ours = spelling::nearest(name, Options::names()).or_else(|| spelling::without_book(name));
    let advice = match ours {
        Some(ours) => format!("write '{ours}'"),
        None => "correct the name".to_owned(),
    };
    format!("{name}: neither the engine nor tabiya has an option of this name: {advice}")
}

/// What an `option` line says after the name.
fn option_kind(line: &str) -> &str {
    line.split_once(" type ").map_or(line, |(_, kind)| kind).trim_end()
}

/// A value as the engine's line of the option spells it: a variant has many names.
fn spelled(line: &[u8], value: &[u8]) -> Vec<u8> {
    let own = offered_as(&lossy(line), &lossy(value)).map(|own| own.as_bytes().to_vec());
    own.unwrap_or_else(|| value.to_vec())
}

/// Whether a value of `UCI_Variant` stands for standard chess, or Chess960.
pub fn is_chess(variant: &str) -> bool {
    rules_of(variant) == Some(Variant::Chess)
}

/// An option of the engine that the user set in advance.
#[derive(Clone)]
struct Setting {
    name: String,
    value: String,
    /// Whether the engine has listed it.
    listed: bool,
    /// The type of the option in the engine's words, if that excludes the value.
    refused_by: Option<String>,
    /// Whether the GUI has set it since.
    overruled: bool,
}

/// An option of the engine that the session follows.
#[derive(Default)]
struct Followed {
    /// How the engine lists it.
    line: Option<Vec<u8>>,
    /// The value that was set last, unless the engine ignores it.
    value: Option<Vec<u8>>,
    /// Whether the GUI has set that.
    is_of_gui: bool,
}

/// What the session knows about the engine's options.
#[derive(Default)]
pub(super) struct EngineOptions {
    followed: [Followed; FOLLOWED.len()],
    /// Options that the user set in advance.
    settings: Vec<Setting>,
    settings_sent: bool,
    /// Whether the engine has listed all its options.
    complete: bool,
    /// Those of [`LENT`] that the engine has listed.
    has: [bool; LENT.len()],
    /// Names of the engine's options that make it use its own book.
    own_books: Vec<Vec<u8>>,
    /// The names of the engine's options, a line each, as far as [`MAX_NAMES`] allows.
    names: Vec<u8>,
}

impl EngineOptions {
    /// The engine has listed all its options.
    pub(super) fn are_complete(&mut self) {
        self.complete = true;
    }

    fn followed(&mut self, name: &[u8]) -> Option<&mut Followed> {
        let place = FOLLOWED.iter().position(|followed| same_name(followed.as_bytes(), name))?;
        self.followed.get_mut(place)
    }

    /// Whether this value of an option that is followed counts: an empty or unknown one changes nothing. But a GUI plays the
    /// variant that it names, whatever the engine offers.
    fn takes(&mut self, option: &SetOption<'_>, is_of_gui: bool) -> bool {
        let Some(followed) = self.followed(option.name) else { return true };
        let takes = match &followed.line {
            Some(line) if !(is_of_gui && option.is(VARIANT)) => {
                option_with_default(line, &spelled(line, option.value)).is_some()
            }
            _ => !option.value.trim_ascii().is_empty(),
        };
        if takes {
            (followed.value, followed.is_of_gui) = (Some(option.value.to_owned()), is_of_gui);
        }
        takes
    }

    /// The line that sets an option as the engine spells the value; `None` where it spells it as we do, or has not said.
    fn own_line(&mut self, option: &SetOption<'_>) -> Option<Vec<u8>> {
        let line = self.followed(option.name)?.line.as_ref()?;
        let value = spelled(line, option.value);
        (value != option.value)
            .then(|| [b"setoption name ", option.name, b" value ", &value[..], b"\n"].concat())
    }

    /// The line that sets the variant that the GUI named before the engine had listed those that it offers, if it spells that
    /// otherwise.
    fn own_variant(&mut self) -> Option<Vec<u8>> {
        let followed = self.followed(VARIANT.as_bytes()).filter(|followed| followed.is_of_gui)?;
        let value = followed.value.clone()?;
        self.own_line(&SetOption { name: VARIANT.as_bytes(), value: &value })
    }

    /// Whether the engine lists variants, but not this one.
    fn lacks_variant(&mut self, variant: &str) -> bool {
        let followed = self.followed(VARIANT.as_bytes());
        let line = followed.and_then(|followed| followed.line.as_deref()).map(lossy).unwrap_or_default();
        offered_variants(&line).next().is_some() && offered_as(&line, variant).is_none()
    }

    /// Notes how the engine lists an option that is followed; returns the value that it has.
    fn listed(&mut self, name: &[u8], line: &[u8]) -> Option<Vec<u8>> {
        let followed = self.followed(name)?;
        followed.line = Some(line.to_owned());
        let is_played = followed.is_of_gui && same_name(name, VARIANT.as_bytes());
        let fits = |value: &Vec<u8>| is_played || option_with_default(line, &spelled(line, value)).is_some();
        followed.value = followed.value.take().filter(fits);
        Some(followed.value.clone().unwrap_or_else(|| option_default(line)))
    }

    /// Whether this option is ours, because the engine has none.
    fn lack(&self, name: &[u8]) -> bool {
        let mut lent = LENT.iter().zip(self.has);
        self.complete && lent.any(|(lent, has)| !has && same_name(lent.as_bytes(), name))
    }

    /// The names and values of the options that the user set in advance.
    pub(super) fn configured_values(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|Setting { name, value, .. }| (&**name, &**value)).collect()
    }

    /// The GUI sets this option: what was set in advance is not sent any more.
    fn overrule(&mut self, name: &[u8]) {
        let settings = self.settings.iter_mut();
        settings
            .filter(|setting| same_name(setting.name.as_bytes(), name))
            .for_each(|set| set.overruled = true);
    }

    /// Whether the engine lists an option of this name.
    fn lists(&self, name: &[u8]) -> bool {
        self.names.split(|byte| *byte == b'\n').any(|listed| same_name(listed, name))
    }

    fn is_own_book(&self, name: &[u8]) -> bool {
        self.own_books.iter().any(|book| same_name(book, name))
    }

    /// Notes the name of an option that the engine lists; whether the adapter's own option replaces it.
    fn is_hidden(&mut self, name: &[u8], line: &[u8]) -> bool {
        let is_own_book = is_own_book(line);
        if is_own_book
            && self.own_books.len() < MAX_OWN_BOOKS
            && !self.own_books.iter().any(|own| own == name)
        {
            self.own_books.push(name.to_owned());
        }
        let is_hidden = is_own_book || Options::is_ours(name);
        for (lent, has) in LENT.iter().zip(&mut self.has) {
            *has |= same_name(lent.as_bytes(), name);
        }
        if !is_hidden && self.names.len() + name.len() < MAX_NAMES {
            self.names.extend_from_slice(name);
            self.names.push(b'\n');
        }
        is_hidden
    }

    /// The user's value for an option that the engine lists, if there is one.
    fn configured(&mut self, name: &[u8], line: &[u8]) -> Option<String> {
        let mut configured = None;
        for setting in self.settings.iter_mut().filter(|setting| same_name(name, setting.name.as_bytes())) {
            setting.listed = true;
            let own = spelled(line, setting.value.as_bytes());
            setting.value = String::from_utf8(own).unwrap_or_default();
            let fits = option_with_default(line, setting.value.as_bytes()).is_some();
            let kind = Some(line).filter(|_| !fits && option_type(line) != Some(b"button"));
            setting.refused_by = kind.map(|line| option_kind(&lossy(line)).to_owned());
            configured = Some(setting.value.clone());
        }
        configured
    }

    /// Switches the engine's own books off.
    pub(super) fn disable_own_books(&self, child: &mut Child, out: &mut Output) {
        for name in &self.own_books {
            child.send(&[b"setoption name ", &name[..], b" value false\n"].concat(), out);
        }
    }
}

/// The file that an option of ours names: an empty name is the configured one, and one for no file empty.
fn name_file(name: &mut String, configured: &str) {
    if name.is_empty() {
        configured.clone_into(name);
    } else if name.eq_ignore_ascii_case(NO_BOOK) {
        name.clear();
    }
}

/// The GUI's modes that affect the book.
pub(super) struct Modes {
    pub(super) castling: CastlingMode,
    pub(super) multipv: u32,
    pub(super) analysing: bool,
    /// Whose rules `UCI_Variant` names; `None` if they are not known here.
    pub(super) rules: Option<Variant>,
    variant: String,
    /// What `UCI_Opponent` was set to, whether nothing was said of it yet, and whether a value was that UCI does not specify.
    opponent: String,
    opponent_is_new: bool,
    opponent_reported: bool,
    /// Whether the engine lists variants, but not that one.
    is_unoffered: bool,
    /// Whether that kind was reported since it began.
    variant_reported: bool,
    /// Whether analysis was reported: some clients analyse and play in turn, so once is enough.
    analysis_reported: bool,
}

impl Modes {
    /// Why every request is analysis; `None` if it depends on the request.
    fn analysis(&self) -> Option<String> {
        if self.multipv > 1 {
            Some(format!("{MULTI_PV} is {}", self.multipv))
        } else {
            self.analysing.then(|| format!("{ANALYSE_MODE} is true"))
        }
    }

    /// Whether every request is analysis.
    pub(super) fn are_analysis(&self) -> bool {
        self.multipv > 1 || self.analysing
    }
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            castling: CastlingMode::Standard,
            multipv: 1,
            analysing: false,
            rules: Some(Variant::Chess),
            variant: String::new(),
            opponent: String::new(),
            opponent_is_new: false,
            opponent_reported: false,
            is_unoffered: false,
            variant_reported: false,
            analysis_reported: false,
        }
    }
}

impl Session {
    /// Sets options of the engine in advance: names and values.
    pub(super) fn configure_engine(&mut self, settings: Vec<(String, String)>) {
        for (name, value) in settings {
            self.follow(&SetOption { name: name.as_bytes(), value: value.as_bytes() }, false);
            let setting = Setting { name, value, listed: false, refused_by: None, overruled: false };
            self.engine_options.settings.push(setting);
        }
    }

    /// Forwards an `option` line, unless the option is ours or an own book of the engine.
    pub(super) fn engine_option(&mut self, line: &[u8], out: &mut Output) {
        let name = option_name(line);
        if self.engine_options.is_hidden(&name, line) {
            let what = format!("hidden, tabiya's own option replaces it: {}", lossy(line));
            return out.note(Level::Info, what);
        }
        let configured = self.engine_options.configured(&name, line);
        // An engine may play another variant of chess unless it is set to standard chess, and it ignores values that it does not
        // list.
        if let Some(value) = self.engine_options.listed(&name, line) {
            self.has_value(&SetOption { name: &name, value: &value });
        }
        // The user's setting is listed as the default, because GUIs send defaults back.
        match configured.and_then(|value| option_with_default(line, value.as_bytes())) {
            Some(line) => self.gui.send(&line, out),
            None => self.gui.send(line, out),
        }
    }

    /// Sends the engine the options that the user set in advance, once.
    pub(super) fn send_settings(&mut self, out: &mut Output) {
        if std::mem::replace(&mut self.engine_options.settings_sent, true) {
            return;
        }
        let options_are_known = self.engine_options.complete;
        for Setting { name, value, listed, refused_by, overruled } in self.engine_options.settings.clone() {
            if overruled || self.engine_options.lack(name.as_bytes()) {
                continue;
            }
            if self.engine_options.is_own_book(name.as_bytes()) {
                let what = format!("{name} is not set: the engine's own book is off, OwnBook replaces it");
                self.gui.notify_about(About::Option, what, out);
                continue;
            }
            if options_are_known && !listed {
                // An engine may have options that it does not list.
                self.gui.notify_about(About::Option, unknown_option(&name), out);
            }
            if let Some(kind) = refused_by {
                let what = format!("{name}: the engine does not accept '{value}': it lists {kind}");
                self.gui.notify_about(About::Option, what, out);
            }
            let value = if value.is_empty() { String::new() } else { format!(" value {value}") };
            self.child.send(format!("setoption name {name}{value}\n").as_bytes(), out);
        }
        if let Some(line) = self.engine_options.own_variant() {
            self.child.send(&line, out);
        }
    }

    pub(super) fn set_option(&mut self, line: &[u8], rest: &[u8], out: &mut Output) {
        let Some(option) = SetOption::parse(rest) else { return self.forward(line, out) };
        let before = self.options.clone();
        match self.options.set(&option) {
            None => {
                // The engine's own book stays off; the GUI does not know of the option.
                if self.engine_options.is_own_book(option.name) {
                    return;
                }
                if !self.engine_options.lists(option.name) {
                    let name = lossy(option.name);
                    if spelling::nearest(&name, Options::names()).is_some() {
                        self.gui.notify(unknown_option(&name), out);
                    }
                }
                self.engine_options.overrule(option.name);
                self.follow(&option, true);
                self.say_modes(out);
                if self.engine_options.lack(option.name) {
                    return;
                }
                self.child.is_ready = false;
                let own = self.engine_options.own_line(&option);
                self.forward(own.as_deref().unwrap_or(line), out);
            }
            Some(Err(problem)) => self.gui.notify(problem, out),
            Some(Ok(change)) => {
                out.note(Level::Info, format!("set: {}", lossy(line)));
                self.apply(change, &before, out);
                self.idle.is_due |= self.options != before;
                self.say_modes(out);
            }
        }
    }

    /// Acts on a change of one of our options. Runners send all options again before each game.
    fn apply(&mut self, change: OptionChange, before: &Options, out: &mut Output) {
        match change {
            OptionChange::Value => {}
            OptionChange::Learn => {
                out.resume_learning |= self.options.policy.learn;
                self.check_learning(out);
            }
            OptionChange::Books => self.books.open(&self.options, out),
            OptionChange::Evaluations => self.books.need_evaluations(&self.options, out),
            OptionChange::Seed if self.options.seed != before.seed => self.books.reseed(self.options.seed),
            OptionChange::Seed => {}
            OptionChange::Lines => {
                name_file(&mut self.options.fresh_file, &self.configured_lines);
                if self.options.fresh_file != before.fresh_file {
                    self.share_lines(out);
                }
                self.read_lines(out);
            }
            OptionChange::Fresh if self.options.fresh => self.read_lines(out),
            OptionChange::Fresh => {}
            OptionChange::Log => {
                name_file(&mut self.options.log, &self.configured_log);
                out.log_to = Some(self.options.log.clone());
                // The spool is beside the log.
                out.resume_learning |= self.options.policy.learn;
            }
        }
    }

    /// Shares played lines with other processes in the file that the options name, or with none.
    pub(super) fn share_lines(&mut self, out: &mut Output) {
        let name = self.options.fresh_file.clone();
        self.books.lines.share(!name.is_empty());
        out.lines_file = Some(name);
        out.lines = self.books.lines.take_unsaid();
    }

    /// Follows the engine's options that affect the book.
    fn follow(&mut self, option: &SetOption<'_>, is_of_gui: bool) {
        if self.engine_options.takes(option, is_of_gui) {
            self.has_value(option);
        }
    }

    /// An option of the engine has this value now.
    fn has_value(&mut self, option: &SetOption<'_>) {
        let value = String::from_utf8_lossy(option.value);
        let value = value.trim();
        let is_true = value.eq_ignore_ascii_case("true");
        if option.is(MULTI_PV) {
            self.modes.multipv = value.parse().unwrap_or(1);
        } else if option.is(ANALYSE_MODE) {
            self.modes.analysing = is_true;
        } else if option.is(OPPONENT) {
            let opponent = Opponent::parse(value);
            opponent.name().clone_into(&mut self.watch.announced);
            value.clone_into(&mut self.modes.opponent);
            self.modes.opponent_is_new = true;
            self.books.meet(opponent);
        } else if option.is(CHESS960) {
            self.modes.castling = CastlingMode::from_chess960(is_true);
            self.board.reread(self.modes.castling);
        } else if option.is(VARIANT) {
            self.modes.is_unoffered = !value.is_empty() && self.engine_options.lacks_variant(value);
            self.follow_variant(value);
        }
    }

    /// The `option` lines of what the engine does not have, with the values that are set as defaults: GUIs send these back.
    pub(super) fn lent_options(&self) -> String {
        let lent = LENT.into_iter().filter(|name| self.engine_options.lack(name.as_bytes()));
        let line = |name| match name {
            ANALYSE_MODE => format!("option name {name} type check default {}\n", self.modes.analysing),
            _ => {
                let set = Some(self.modes.opponent.as_str()).filter(|set| !set.is_empty());
                format!("option name {name} type string default {}\n", set.unwrap_or("<empty>"))
            }
        };
        lent.map(line).collect()
    }

    /// Says who was announced as the opponent, and once that it was not as UCI specifies.
    fn say_opponent(&mut self, out: &mut Output) {
        let Modes { opponent, opponent_is_new, opponent_reported, .. } = &mut self.modes;
        if !std::mem::take(opponent_is_new) {
            return;
        }
        let read = Opponent::parse(opponent);
        if !read.is_as_specified() && !std::mem::replace(opponent_reported, true) {
            let name = read.name();
            let what = format!("'{name}' is taken as a name: it is not TITLE RATING human|computer NAME");
            self.gui.notify_about(About::Option, format!("{OPPONENT}: {what}"), out);
        }
        if let Some(said) = self.books.met() {
            out.note(Level::Info, said);
        }
    }

    /// Follows the kind of chess: only books of that variant answer.
    fn follow_variant(&mut self, variant: &str) {
        let rules = rules_of(variant);
        variant.clone_into(&mut self.modes.variant);
        if rules == self.modes.rules {
            return;
        }
        // No game goes on under other rules.
        self.watch.over(None, self.board.game());
        self.modes.rules = rules;
        if let Some(rules) = rules {
            self.board.play_variant(rules, self.modes.castling);
            self.books.play_variant(rules, &mut self.options);
        }
    }

    /// Whether the game has rules for which there is no book.
    pub(super) fn is_other_variant(&self) -> bool {
        self.modes.rules.is_none() || self.books.lack_variant(&self.options)
    }

    /// Whether the engine has not said yet which options it has.
    pub(super) fn awaits_options(&self) -> bool {
        self.child.uci_owed > 0 && !self.engine_options.complete
    }

    /// Says who the opponent is, and once why the books are silent whatever is asked, when it is known which values the engine takes.
    pub(super) fn say_modes(&mut self, out: &mut Output) {
        if self.awaits_options() {
            return;
        }
        self.books.refresh(&self.options, out);
        self.say_opponent(out);
        if !self.options.own_book {
            return;
        }
        let is_bookless = self.books.lack_variant(&self.options);
        let Modes { rules, variant, variant_reported, is_unoffered, .. } = &mut self.modes;
        let what = match rules {
            None => Some("books do not know its rules, and are silent".to_owned()),
            Some(rules) if is_bookless => Some(format!(
                "no book is named for it: name one in tabiya.toml below a line [variant.{rules}]"
            )),
            Some(rules) if *is_unoffered => {
                Some(format!("the engine does not offer it; the books of {rules} answer"))
            }
            Some(_) => None,
        };
        if let Some(what) = what.as_ref().filter(|_| !*variant_reported) {
            self.gui.notify_about(About::Variant, format!("{OTHER_VARIANT}{variant}: {what}"), out);
        }
        *variant_reported = what.is_some();
        if let Some(why) = self.modes.analysis().filter(|_| !self.modes.analysis_reported) {
            let what = "that is analysis, in which the engine plays every move and books are silent";
            self.gui.notify_about(About::Analysis, format!("{why}: {what}"), out);
            self.modes.analysis_reported = true;
        }
    }

    /// Whether the books may answer: they are on, and the game has their rules.
    pub(super) fn uses_books(&self) -> bool {
        self.options.own_book && !self.is_other_variant()
    }
}
