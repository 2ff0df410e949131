//! What an engine offers, and how it is set up before it searches.

use tabiya_chess::{Variant, rules_of, spelled_as};
use tabiya_uci::engine::{Client, Failure, Setup};
use tabiya_uci::{
    MAX_OWN_BOOKS, VARIANT, id_name, is_own_book, offered_variants, option_default, option_name, same_name,
    split_word,
};

/// The option of engines that say how they expect games to end.
const SHOW_WDL: &str = "UCI_ShowWDL";

/// The option of engines that show several lines of play.
const MULTI_PV: &str = "MultiPV";

const THREADS: &str = "Threads";
pub(crate) const CHESS960: &str = "UCI_Chess960";

/// The options of an engine that are kept; further ones count as not offered.
const MAX_OPTIONS: usize = 1024;

/// What an engine answers to `uci`.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The name, unless it is empty.
    pub name: Option<String>,
    /// How many options it has.
    pub options: usize,
    names: Vec<Vec<u8>>,
    /// Options that make it play from a book of its own.
    own_books: Vec<String>,
    /// How it lists the option [`VARIANT`].
    variant: Option<String>,
}

impl Offer {
    /// Takes a line of the answer.
    pub fn take(&mut self, line: &str) {
        if let Some(name) = id_name(line.as_bytes()) {
            let name = String::from_utf8_lossy(name).trim().to_owned();
            self.name = Some(name).filter(|name| !name.is_empty()).or(self.name.take());
        }
        if split_word(line.as_bytes()).0 != b"option" {
            return;
        }
        let name = option_name(line.as_bytes());
        self.options += 1;
        if self.own_books.len() < MAX_OWN_BOOKS && is_own_book(line.as_bytes()) {
            self.own_books.push(String::from_utf8_lossy(&name).into_owned());
        }
        if same_name(&name, VARIANT.as_bytes()) {
            self.variant.get_or_insert_with(|| line.to_owned());
        }
        if self.names.len() < MAX_OPTIONS {
            self.names.push(name);
        }
    }

    /// Whether it has an option of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| same_name(other, name.as_bytes()))
    }

    /// The value of [`VARIANT`] that it begins with, if it has that option.
    pub fn begins_with(&self) -> Option<String> {
        let value = option_default(self.variant.as_ref()?.as_bytes());
        Some(String::from_utf8_lossy(&value).trim().to_owned())
    }

    /// The line that sets a variant as the engine spells it; `None` if the engine does not offer it.
    pub fn set_variant(&self, variant: Variant) -> Option<String> {
        Some(set(VARIANT, offered_as(self.variant.as_ref()?, variant.uci())?))
    }
}

/// The line that sets an option.
pub(crate) fn set(name: &str, value: &str) -> String {
    format!("setoption name {name} value {value}")
}

/// What an engine is prepared for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preparation {
    /// The variant of chess. Standard chess is set only in an engine that begins with another one.
    pub variant: Variant,
    /// Whether it is to say how it expects games to end, if it can.
    pub shows_wdl: bool,
    /// How many lines of play it is to show, if not as many as it is set up to.
    pub lines: Option<usize>,
    /// With how many threads it is to search, if it can, and not with as many as it is set up to.
    pub threads: Option<usize>,
    /// Whether castling is that of Chess960.
    pub is_chess960: bool,
}

/// Why an engine cannot search.
#[derive(Clone, Debug)]
pub enum Unprepared {
    /// It gives no answer.
    Failure(Failure),
    /// It does not offer the variant. What it offers says its name.
    LacksVariant(Offer),
}

impl From<Failure> for Unprepared {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Asks an engine who it is, sets the options of its setup and those that it is prepared with, and waits until it is ready. Its own
/// book is switched off: moves from there have no score.
///
/// # Errors
/// When it does not answer, or does not offer the variant.
pub fn greet(client: &mut Client, setup: &Setup, wanted: &Preparation) -> Result<Offer, Unprepared> {
    let mut offer = Offer::default();
    client.demand("uci", "uciok", setup.patience, |line| offer.take(&line))?;
    for (name, value) in &setup.options {
        client.send(&set(name, value));
    }
    for name in &offer.own_books {
        client.send(&set(name, "false"));
    }
    let is_set =
        |wanted: &str| setup.options.iter().any(|(name, _)| same_name(name.as_bytes(), wanted.as_bytes()));
    if wanted.variant != Variant::Chess {
        let Some(line) = offer.set_variant(wanted.variant) else {
            return Err(Unprepared::LacksVariant(offer));
        };
        client.send(&line);
    } else if offer.begins_with().is_some_and(|value| is_other(&value)) && !is_set(VARIANT) {
        offer.set_variant(Variant::Chess).iter().for_each(|line| client.send(line));
    }
    if wanted.shows_wdl && offer.has(SHOW_WDL) && !is_set(SHOW_WDL) {
        client.send(&set(SHOW_WDL, "true"));
    }
    if let Some(lines) = wanted.lines {
        client.send(&set(MULTI_PV, &lines.to_string()));
    }
    if let Some(threads) = wanted.threads.filter(|_| offer.has(THREADS)) {
        client.send(&set(THREADS, &threads.to_string()));
    }
    if wanted.is_chess960 && offer.has(CHESS960) {
        client.send(&set(CHESS960, "true"));
    }
    client.settle(setup.patience)?;
    Ok(offer)
}

impl Offer {
    /// Whether it can be told that castling is that of Chess960.
    pub(crate) fn plays_chess960(&self) -> bool {
        self.has(CHESS960)
    }

    /// Whether it can say how it expects games to end.
    pub(crate) fn gives_wdl(&self) -> bool {
        self.has(SHOW_WDL)
    }
}

/// Whether a value of [`VARIANT`] stands for another variant than standard chess, or Chess960.
fn is_other(value: &str) -> bool {
    rules_of(value) != Some(Variant::Chess)
}

/// Sets standard chess where a user has set another variant, because each search sets its own. Returns what to say of that where
/// standard chess is searched.
pub fn set_chess(options: &mut [(String, String)]) -> Option<String> {
    let is_other_variant = |(name, value): &&mut (String, String)| {
        same_name(name.as_bytes(), VARIANT.as_bytes()) && is_other(value)
    };
    let mut said = None;
    for (_, value) in options.iter_mut().filter(is_other_variant) {
        let shown = if value.is_empty() { "empty" } else { value.as_str() };
        said = Some(format!("{VARIANT} is {shown}: this command searches standard chess only"));
        value.replace_range(.., Variant::Chess.uci());
    }
    said
}

/// The variant of this name as an engine spells it that lists the option [`VARIANT`] in this line; `None` if it does not offer it.
pub fn offered_as<'a>(line: &'a str, variant: &str) -> Option<&'a str> {
    spelled_as(variant, offered_variants(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_says_what_it_offers() {
        let mut offer = Offer::default();
        for line in [
            "id name  Two Words ",
            "option name OwnBook type check default true",
            "option name UCI_Variant type combo default crazyhouse var chess var crazyhouse var 3check",
            "option name Threads type spin default 1 min 1 max 8",
            "info string option name Hash",
            "id name ",
        ] {
            offer.take(line);
        }
        assert_eq!((offer.name.as_deref(), offer.options), (Some("Two Words"), 3));
        assert!(offer.has("threads") && !offer.has("Hash") && !offer.gives_wdl());
        assert_eq!(offer.own_books, ["OwnBook"]);
        assert_eq!(offer.begins_with().as_deref(), Some("crazyhouse"));
        let line = |variant| offer.set_variant(variant);
        assert_eq!(line(Variant::ThreeCheck).as_deref(), Some("setoption name UCI_Variant value 3check"));
        assert_eq!(line(Variant::Horde), None);
    }

    #[test]
    fn another_variant_that_is_set_in_advance_becomes_chess() {
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut options = [option("uci_variant", "Atomic"), option("Hash", "1"), option(VARIANT, "chess960")];
        assert!(set_chess(&mut options).unwrap().contains("is Atomic: "));
        assert_eq!(
            options,
            [option("uci_variant", "chess"), option("Hash", "1"), option(VARIANT, "chess960")]
        );
        assert_eq!(set_chess(&mut options), None);
    }
}
