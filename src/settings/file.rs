//! The configuration file: TOML with the names of the command line's arguments.

mod advice;
mod set;

use std::fs;
use std::path::Path;

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::options::{Options, SEED_MAX};
use super::rules::{self, Wrong};
use super::{Given, LOG_LEVELS, TIMEOUTS, spelling, split};
use crate::base::error::{Error, Result};

/// Reads a configuration file in UTF-8, or in UTF-16, in which Windows's editor and shell can save it.
///
/// # Errors
/// When it cannot be read, or is in another encoding; those of [`parse`].
pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Result<Given> {
    let bytes = fs::read(path).map_err(|error| Error::file(path, "cannot read the configuration", error))?;
    // Without a byte order mark: a configuration begins with characters of ASCII.
    let guess = match bytes.as_slice() {
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => UTF_16BE,
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => UTF_16LE,
        _ => UTF_8,
    };
    let (text, _, damaged) = guess.decode(&bytes);
    if damaged {
        let before = text.split(char::REPLACEMENT_CHARACTER).next().unwrap_or_default();
        let what = format!("line {}: a character is not valid in {}", line_of(before), guess.name());
        return Err(Error::format(path, what).advice("save the file in UTF-8"));
    }
    parse(path, &text, warnings)
}

/// The number of the line that follows this text, from 1.
fn line_of(before: &str) -> usize {
    1 + before.matches('\n').count()
}

/// Parses the text of a configuration file.
///
/// # Errors
/// When it is not TOML, has a misspelt key, a bad value about the engine or books, a name in `set` that is not an option, or a
/// mistake in a `[[book]]` table: a tournament played by another engine or from another book is worse than none.
pub(super) fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<Given> {
    let wrong = |offset: usize, what: String| {
        let line = line_of(text.get(..offset).unwrap_or(text));
        Error::format(path, format!("line {line}: {what}"))
    };
    let of_table = |Wrong { offset, what, advice }| {
        wrong(offset, what).advice(advice.unwrap_or_else(|| REPAIR.to_owned()))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().trim().to_owned();
        match error.span() {
            Some(span) => wrong(span.start, what).advice(advice::advice(text, span.start)),
            None => Error::format(path, what).advice(REPAIR),
        }
    })?;
    let mut ignore =
        |offset, what| warnings.push(wrong(offset, format!("{what}; it is ignored")).to_string());
    let mut given = Given::default();
    for (key, value) in in_order(table.get_ref()) {
        let (name, start) = (key.get_ref().as_ref(), key.span().start);
        if name == SET
            && let DeValue::Table(table) = value.get_ref()
        {
            given.set = set::read(table, &mut ignore).map_err(of_table)?;
            continue;
        }
        if let Some(rules) = (name == "book").then(|| rules::read_all(value.get_ref(), start)).flatten() {
            given.rules = rules.map_err(of_table)?;
            continue;
        }
        match KEYS.iter().find(|(known, _)| *known == name) {
            Some(_) if has_control(value.get_ref()) => {
                return Err(wrong(start, format!("'{name}' {CONTROL}")).advice(QUOTES));
            }
            Some((_, read)) => {
                let Err(needed) = read(&mut given, value.get_ref()) else {
                    let mut set = given.set.iter().filter(|_| name == SET);
                    set.try_for_each(|text| set::check(text, start)).map_err(of_table)?;
                    continue;
                };
                let what = format!("'{name}' must be {needed}");
                if decides(name) {
                    return Err(wrong(start, what).advice(REPAIR));
                }
                ignore(start, what);
            }
            None => {
                let what = format!("unknown key '{name}'");
                if let Some(nearest) = spelling::nearest(name, keys()) {
                    return Err(wrong(start, what).advice(format!("write '{nearest}'")));
                }
                if let Some(option) = spelling::nearest(name, Options::names()) {
                    return Err(wrong(start, what).advice(format!("write \"{option}\" below a line [set]")));
                }
                ignore(start, format!("{what} (options of the engine belong below a line [set])"));
            }
        }
    }
    Ok(given)
}

/// The entries of a table in the order of the file, so that its first mistake is reported.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A key and its value.
type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

/// The key of options.
const SET: &str = "set";

/// What to do about a file that cannot be used.
const REPAIR: &str = "correct the file, or start tabiya without it";

/// What to do about a path with `\` in "double quotes".
pub(super) const QUOTES: &str = "write paths in 'single quotes', or with / instead of \\";

/// What is wrong with a text in which `\` began an escape such as `\n`.
pub(super) const CONTROL: &str = "has a control character, such as \\n or \\t in \"double quotes\"";

/// The names of the keys.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, _)| *name)
}

/// Whether a key decides which engine and which books play.
pub(super) fn decides(key: &str) -> bool {
    key.starts_with("engine") || key.starts_with("book") || key == SET
}

/// Whether a string, or one in a list, has a control character.
pub(super) fn has_control(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(text) => text.contains(char::is_control),
        DeValue::Array(list) => list.iter().any(|item| has_control(item.get_ref())),
        _ => false,
    }
}

/// Reads a key's value; the error says what it must be.
type Read = fn(&mut Given, &DeValue<'_>) -> std::result::Result<(), &'static str>;

/// The keys of the file. A table `set` is handled before them.
const KEYS: [(&str, Read); 13] = [
    ("engine", |given, value| put(text(value), &mut given.engine, TEXT)),
    ("engine-arg", |given, value| put(texts(value), &mut given.engine_args, TEXTS)),
    ("engine-dir", |given, value| put(text(value), &mut given.engine_dir, TEXT)),
    ("engine-timeout", |given, value| {
        let seconds = integer(value).filter(|seconds| TIMEOUTS.contains(seconds));
        put(seconds.map(Some), &mut given.engine_timeout, "a number of seconds from 1 to 86400")
    }),
    ("book", |given, value| put(books(value), &mut given.books, BOOKS)),
    ("book-white", |given, value| put(books(value), &mut given.white, BOOKS)),
    ("book-black", |given, value| put(books(value), &mut given.black, BOOKS)),
    ("book-optional", |given, value| put(value.as_bool(), &mut given.book_optional, "true or false")),
    ("name", |given, value| put(text(value), &mut given.name, TEXT)),
    (SET, |given, value| {
        let set = texts(value).filter(|set| set.iter().all(|text| split(text).is_some()));
        put(set, &mut given.set, "a list of \"NAME=VALUE\", or a table of options")
    }),
    ("log", |given, value| put(text(value), &mut given.log, TEXT)),
    ("log-level", |given, value| {
        let level = value.as_str().filter(|level| LOG_LEVELS.contains(level)).map(str::to_owned);
        put(level.map(Some), &mut given.log_level, "error, warn, info, debug or trace")
    }),
    ("seed", |given, value| {
        let seed = integer(value).filter(|seed| *seed <= SEED_MAX);
        put(seed.map(Some), &mut given.seed, "a number from 0 to 2147483647")
    }),
];

/// What a key must be.
const TEXT: &str = "a string";

/// What a key that can be given several times on the command line must be.
const TEXTS: &str = "a string or a list of strings";

/// What a key about books must be.
const BOOKS: &str = "the path of a book or a list of them, or '<none>' for no book";

fn put<T>(value: Option<T>, place: &mut T, needed: &'static str) -> std::result::Result<(), &'static str> {
    *place = value.ok_or(needed)?;
    Ok(())
}

/// A string; the outer `None` is any other value.
fn text(value: &DeValue<'_>) -> Option<Option<String>> {
    value.as_str().map(|text| Some(text.to_owned()))
}

pub(super) fn integer<T: TryFrom<i64>>(value: &DeValue<'_>) -> Option<T> {
    let number = value.as_integer()?;
    T::try_from(i64::from_str_radix(number.as_str(), number.radix()).ok()?).ok()
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Array(list) => list.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// Paths of books: at least one, and none of them empty.
fn books(value: &DeValue<'_>) -> Option<Vec<String>> {
    texts(value).filter(|names| !names.is_empty() && names.iter().all(|name| !name.trim().is_empty()))
}

#[cfg(test)]
mod tests;
