//! The configuration file: TOML with the names of the command line's arguments.

mod advice;
mod book_tables;
mod set;
mod variants;

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use tabiya_base::error::{Error, Result};

use super::books::BookFiles;
use super::options::Options;
use super::rules::Rule;
use super::table::{self, SET, SettingKind};
use super::{Given, spelling};

/// Reads a configuration file.
///
/// # Errors
/// When it cannot be read; those of [`text()`] and [`parse`].
pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Result<FromFile> {
    let bytes = fs::read(path).map_err(|error| Error::file(path, "cannot read the configuration", error))?;
    parse(path, &text(path, &bytes)?, warnings)
}

/// The text of a configuration file in UTF-8, or in UTF-16, in which Windows's editor and shell can save it, without a byte
/// order mark.
///
/// # Errors
/// When it is in another encoding.
pub fn text(path: &Path, bytes: &[u8]) -> Result<String> {
    let text = decoded(bytes).map_err(|(before, encoding)| {
        let what = format!("line {}: a character is not valid in {encoding}", line_of(&before));
        Error::format(path, what).advice("save the file in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// The text of a file in UTF-8 or UTF-16; or what comes before a character that is not valid, and the encoding.
fn decoded(bytes: &[u8]) -> std::result::Result<Cow<'_, str>, (Cow<'_, str>, &'static str)> {
    // Without a byte order mark: a configuration begins with characters of ASCII.
    let (unit, encoding): (fn([u8; 2]) -> u16, _) = match bytes {
        [0xff, 0xfe, ..] | [1..=0x7f, 0, 1..=0x7f, 0, ..] => (u16::from_le_bytes, "UTF-16LE"),
        [0xfe, 0xff, ..] | [0, 1..=0x7f, 0, 1..=0x7f, ..] => (u16::from_be_bytes, "UTF-16BE"),
        _ => {
            return std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
                (String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or(bytes)), "UTF-8")
            });
        }
    };
    let (units, rest) = bytes.as_chunks();
    let mut text = String::new();
    let whole = char::decode_utf16(units.iter().map(|bytes| unit(*bytes)))
        .all(|read| read.map(|read| text.push(read)).is_ok());
    if whole && rest.is_empty() { Ok(text.into()) } else { Err((text.into(), encoding)) }
}

/// The number of the line that follows this text, from 1.
fn line_of(before: &str) -> usize {
    1 + before.matches('\n').count()
}

/// What a configuration file says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FromFile {
    /// Its settings.
    pub(super) given: Given,
    /// Its `[[book]]` tables.
    pub(super) of_books: Vec<Rule>,
    /// Its tables of variants.
    pub(super) variants: Vec<BookFiles>,
}

/// Parses the text of a configuration file.
///
/// # Errors
/// When it is not TOML, has a misspelt key, a bad value about the engine or books, a name in `set` that is not an option,
/// or a mistake in a `[[book]]` table: tabiya stops rather than play a tournament with the wrong engine or book.
pub(super) fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<FromFile> {
    let wrong = |offset: usize, what: String| {
        let line = line_of(text.get(..offset).unwrap_or(text));
        Error::format(path, format!("line {line}: {what}"))
    };
    let of_table = |Wrong { offset, what, advice }| {
        wrong(offset, what).advice(advice.unwrap_or_else(|| REPAIR.to_owned()))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().trim().to_owned();
        let Some(span) = error.span() else { return Error::format(path, what).advice(REPAIR) };
        let advice = advice::advice(text, span.start, &what);
        wrong(span.start, what).advice(advice)
    })?;
    let mut ignore =
        |offset, what| warnings.push(wrong(offset, format!("{what}; it is ignored")).with_source());
    let (mut given, mut of_books) = (Given::default(), Vec::new());
    let mut variants = Vec::new();
    for (key, value) in in_order(table.get_ref()) {
        let (name, start) = (key.get_ref().as_ref(), key.span().start);
        if name == SET
            && let DeValue::Table(table) = value.get_ref()
        {
            given.put(SET, set::read(table, &mut ignore).map_err(of_table)?);
            continue;
        }
        if let Some(rules) = (name == "book").then(|| book_tables::read_all(value.get_ref(), start)).flatten()
        {
            of_books = rules.map_err(of_table)?;
            continue;
        }
        if name == variants::KEY {
            variants = variants::read(value.get_ref(), start).map_err(of_table)?;
            continue;
        }
        match table::start().find(|row| row.key == name) {
            Some(_) if has_control(value.get_ref()) => {
                return Err(wrong(start, format!("'{name}' {CONTROL}")).advice(QUOTES));
            }
            Some(row) => {
                if let Some(values) = texts(row.kind, value.get_ref()) {
                    let mut set = values.iter().filter(|_| name == SET);
                    set.try_for_each(|text| set::check(text, start)).map_err(of_table)?;
                    given.put(row.key, values);
                    continue;
                }
                let what = format!("'{name}' must be {}", row.kind.needs());
                if table::decides(name) {
                    let advice = match value.get_ref() {
                        DeValue::Table(table) => advice::of_table(name, table),
                        _ => REPAIR.to_owned(),
                    };
                    return Err(wrong(start, what).advice(advice));
                }
                ignore(start, what);
            }
            None => {
                let what = format!("unknown key '{name}'");
                if let Some(way) = instead_of(name, value.get_ref(), text) {
                    return Err(wrong(start, what).advice(way));
                }
                ignore(start, format!("{what} (options of the engine belong below a line [set])"));
            }
        }
    }
    Ok(FromFile { given, of_books, variants })
}

/// What to do about a key that is not known; `None` if it may be one that a later version knows.
fn instead_of(name: &str, value: &DeValue<'_>, text: &str) -> Option<String> {
    if let Some(row) = table::options().find(|row| row.key == name && row.is_option()) {
        return Some(format!("write \"{}\" below a line [set], or '{name}' in a [[book]] table", row.name));
    }
    if let DeValue::Table(table) = value
        && let Some((key, _)) = table.iter().find(|(key, _)| table::decides(key.get_ref()))
    {
        return Some(format!("remove the line [{name}]: '{}' belongs before the first table", key.get_ref()));
    }
    if let Some(nearest) = spelling::nearest(name, table::keys()) {
        return Some(format!("write '{nearest}'"));
    }
    let option = spelling::nearest(name, Options::names())?;
    Some(format!("write \"{option}\" {}", below_set(text)))
}

/// Where options are written in this file.
fn below_set(text: &str) -> &'static str {
    match has_commented_set(text) {
        true => "below the line [set], and remove the # before that",
        false => "below a line [set]",
    }
}

/// The line of the table of options in the template.
pub(super) const COMMENTED_SET: &str = "#[set]";

/// Whether the table of options is a comment alone.
pub(super) fn has_commented_set(text: &str) -> bool {
    let is_set = |line: &str| line.split('#').next().is_some_and(|line| line.trim_end() == "[set]");
    let mut lines = text.lines().map(str::trim);
    lines.clone().any(|line| line == COMMENTED_SET) && !lines.any(is_set)
}

/// The entries of a table in the order of the file, so that its first mistake is reported.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// What is wrong with a table, where it is, and what to do about it if that is known.
#[derive(Debug)]
pub(super) struct Wrong {
    /// The offset in the file.
    pub(super) offset: usize,
    pub(super) what: String,
    pub(super) advice: Option<String>,
}

/// A key and its value.
type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

/// What to do about a file that cannot be used.
const REPAIR: &str = "correct the file, or start tabiya without it";

/// What to do about a path with `\` in "double quotes".
pub(super) const QUOTES: &str = "write paths in 'single quotes', or with / instead of \\";

/// What is wrong with a text in which `\` began an escape such as `\n`.
pub(super) const CONTROL: &str = "has a control character, such as \\n or \\t in \"double quotes\"";

/// Whether a string, or one in a list, has a control character.
pub(super) fn has_control(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(text) => text.contains(char::is_control),
        DeValue::Array(list) => list.iter().any(|item| has_control(item.get_ref())),
        _ => false,
    }
}

/// The values that a key is given, as text; `None` if the setting may have no such value.
pub(super) fn texts(kind: SettingKind, value: &DeValue<'_>) -> Option<Vec<String>> {
    let texts = match (kind, value) {
        (SettingKind::Check, _) => vec![value.as_bool()?.to_string()],
        (SettingKind::Spin { .. }, _) | (SettingKind::Share, DeValue::Integer(_)) => {
            vec![integer(value)?.to_string()]
        }
        (_, DeValue::String(text)) => vec![text.to_string()],
        (_, DeValue::Array(list)) if kind.is_list() => {
            let texts = list.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<_>>()?
        }
        _ => return None,
    };
    // Books that are named none are a mistake.
    let is_lack = kind == SettingKind::Files && texts.is_empty();
    Some(texts).filter(|texts| !is_lack && texts.iter().all(|text| kind.takes(text)))
}

pub(super) fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
mod tests;
