//! The configuration file: TOML with the names of the command line's arguments.

use std::fs;
use std::path::Path;

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use toml::de::{DeTable, DeValue};

use super::options::SEED_MAX;
use super::rules::{self, Wrong};
use super::{Given, LOG_LEVELS, TIMEOUTS, spelling};
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
/// When it is not TOML, has a misspelt key, a bad value about the engine, or a mistake in a `[[book]]` table.
pub(super) fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<Given> {
    let wrong = |offset: usize, what: String| {
        let line = line_of(text.get(..offset).unwrap_or(text));
        Error::format(path, format!("line {line}: {what}"))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().trim();
        match error.span() {
            Some(span) if names_books_twice(text, span.start) => {
                wrong(span.start, what.to_owned()).advice(TWICE)
            }
            Some(span) if is_windows_path(text, span.start) => {
                wrong(span.start, what.to_owned()).advice(QUOTES)
            }
            Some(span) => wrong(span.start, what.to_owned()).advice(REPAIR),
            None => Error::format(path, what).advice(REPAIR),
        }
    })?;
    let mut ignore =
        |offset, what| warnings.push(wrong(offset, format!("{what}; it is ignored")).to_string());
    let mut given = Given::default();
    for (key, value) in table.get_ref() {
        let (name, start) = (key.get_ref().as_ref(), key.span().start);
        if name == "set"
            && let DeValue::Table(table) = value.get_ref()
        {
            for (key, value) in table {
                let name = key.get_ref();
                if has_control(value.get_ref()) {
                    ignore(key.span().start, format!("set: '{name}' {CONTROL}"));
                    continue;
                }
                match assignment(name, value.get_ref()) {
                    Some(text) => given.set.push(text),
                    None => ignore(
                        key.span().start,
                        format!("set: '{name}' must be a string, a number, true or false"),
                    ),
                }
            }
            continue;
        }
        if let Some(rules) = (name == "book").then(|| rules::read_all(value.get_ref(), start)).flatten() {
            given.rules = rules.map_err(|Wrong { offset, what, advice }| {
                wrong(offset, what).advice(advice.unwrap_or_else(|| REPAIR.to_owned()))
            })?;
            continue;
        }
        match KEYS.iter().find(|(known, _)| *known == name) {
            Some(_) if has_control(value.get_ref()) => {
                return Err(wrong(start, format!("'{name}' {CONTROL}")).advice(QUOTES));
            }
            Some((_, read)) => {
                let Err(needed) = read(&mut given, value.get_ref()) else { continue };
                let what = format!("'{name}' must be {needed}");
                if name.starts_with("engine") {
                    // A tournament played by the wrong engine is worse than no tournament.
                    return Err(wrong(start, what).advice(REPAIR));
                }
                ignore(start, what);
            }
            None => {
                let what = format!("unknown key '{name}'");
                if let Some(nearest) = spelling::nearest(name, KEYS.iter().map(|(known, _)| *known)) {
                    return Err(wrong(start, what).advice(format!("write '{nearest}'")));
                }
                ignore(start, what);
            }
        }
    }
    Ok(given)
}

/// What to do about a file that cannot be used.
const REPAIR: &str = "correct the file, or start tabiya without it";

/// What to do about a list `book` and tables `[[book]]` in one file.
const TWICE: &str = "name the books either in book = [...] or in [[book]] tables";

/// What to do about a path with `\` in "double quotes".
pub(super) const QUOTES: &str = "write paths in 'single quotes', or with / instead of \\";

/// What is wrong with a text in which `\` began an escape such as `\n`.
pub(super) const CONTROL: &str = "has a control character, such as \\n or \\t in \"double quotes\"";

/// Whether an error at this offset is in a line that has `\` after a double quote, as a path of Windows has.
fn is_windows_path(text: &str, offset: usize) -> bool {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = offset + after.find('\n').unwrap_or(after.len());
    let line = text.get(start..end).unwrap_or_default();
    line.split_once('"').is_some_and(|(_, quoted)| quoted.contains('\\'))
}

/// Whether the error at this offset is a second `book` beside a table `[[book]]`.
fn names_books_twice(text: &str, offset: usize) -> bool {
    let at = text.get(offset..).unwrap_or_default().trim_start_matches(['[', ' ']);
    let after = at.strip_prefix("book").and_then(|after| after.trim_start_matches(' ').chars().next());
    matches!(after, Some('=' | ']')) && text.lines().any(|line| line.trim_start().starts_with("[[book]]"))
}

/// Whether the file has a key of this name.
pub(super) fn is_key(name: &str) -> bool {
    KEYS.iter().any(|(known, _)| *known == name)
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
    ("book", |given, value| put(texts(value), &mut given.books, TEXTS)),
    ("book-white", |given, value| put(texts(value), &mut given.white, TEXTS)),
    ("book-black", |given, value| put(texts(value), &mut given.black, TEXTS)),
    ("book-optional", |given, value| put(value.as_bool(), &mut given.book_optional, "true or false")),
    ("name", |given, value| put(text(value), &mut given.name, TEXT)),
    ("set", |given, value| {
        put(texts(value), &mut given.set, "a list of \"NAME=VALUE\", or a table of options")
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

/// An option of a table, in the form of the command line.
fn assignment(name: &str, value: &DeValue<'_>) -> Option<String> {
    let text = match value {
        DeValue::String(text) => text.to_string(),
        // In decimal digits, which is what engines read.
        DeValue::Integer(_) => integer::<i64>(value)?.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        _ => return None,
    };
    Some(format!("{name}={text}"))
}

#[cfg(test)]
mod tests;
