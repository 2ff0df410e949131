//! `tabiya.toml` as a form: the settings with their values, and changes that leave comments and order as they are.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use toml_edit::{Array, Document, DocumentMut, Item, Table, Value};

use super::options::Options;
use super::table::{self, Kind, Row, SET};
use super::{file, split};
use crate::base::error::{Error, ErrorKind, Result};
use crate::choose::Policy;
use crate::uci::same_name;

/// What separates files in a field.
const BETWEEN: char = ';';

/// A setting with its value.
#[derive(Serialize)]
pub(crate) struct Setting {
    /// What a form calls it: letters, digits and hyphens.
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) row: &'static Row,
    /// What holds if there is no value.
    default: String,
    value: Option<String>,
}

impl Setting {
    fn new(row: &'static Row, key: String, value: Option<String>) -> Self {
        Self { key, row, default: row.default(), value }
    }
}

/// The settings of a policy for which there are sliders.
pub(crate) fn sliders(policy: &Policy) -> Vec<Setting> {
    let mut options = Options { policy: policy.clone(), ..Options::default() };
    let value = |row: &'static Row| Setting::new(row, row.key.to_owned(), Some(row.text(&mut options)));
    table::sliders().map(value).collect()
}

/// The settings with what this text of a file says.
///
/// # Errors
/// When it is not TOML.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<Setting>> {
    let (given, _) = file::parse(path, text, &mut Vec::new())?;
    // Arguments of the engine are a list whose order matters, and options of the engine are not known here.
    let at_start = table::start().filter(|row| !matches!(row.kind, Kind::Texts | Kind::Pairs)).map(|row| {
        let texts = given.texts(row.key);
        let value = (!texts.is_empty()).then(|| texts.join(&format!("{BETWEEN} ")));
        Setting::new(row, row.key.to_owned(), value)
    });
    let options = table::options().filter(|row| !row.at_start).map(|row| {
        let pairs = given.texts(SET).iter().filter_map(|pair| split(pair));
        let mut values = pairs.filter(|(name, _)| same_name(name.as_bytes(), row.name.as_bytes()));
        let value = values.next_back().map(|(_, value)| value.to_owned());
        Setting::new(row, row.name.to_ascii_lowercase().replace(' ', "-"), value)
    });
    Ok(at_start.chain(options).collect())
}

/// The text of a file with other values: `None` is the default again.
///
/// # Errors
/// When there is no such key, when a value does not fit it, and when the file would not be valid then.
pub(crate) fn changed(path: &Path, text: &str, set: &BTreeMap<String, Option<String>>) -> Result<String> {
    let usage = |what: String| Error::new(ErrorKind::Usage, what);
    let settings = read(path, text)?;
    let has_returns = text.contains("\r\n");
    let mut text = text.replace("\r\n", "\n");
    for (key, value) in set {
        let setting = settings.iter().find(|setting| setting.key == *key);
        let setting = setting.ok_or_else(|| usage(format!("there is no setting {key:?}")))?;
        let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
        let value = value.map(|value| {
            field(setting.row.kind, value)
                .map_err(|needs| usage(format!("{}: {value:?} is not {needs}", setting.row.name)))
        });
        text = put(path, &text, setting.row, value.transpose()?)?;
    }
    file::parse(path, &text, &mut Vec::new())?;
    Ok(if has_returns { text.replace('\n', "\r\n") } else { text })
}

/// A value of the file from the text of a field.
///
/// # Errors
/// What it must be.
fn field(kind: Kind, text: &str) -> std::result::Result<Value, String> {
    if text.contains(char::is_control) {
        return Err("without control characters".to_owned());
    }
    if !kind.takes(text) {
        return Err(kind.needs());
    }
    Ok(match (kind, kind.number(text)) {
        (Kind::Check, Some(number)) => Value::from(number != 0),
        (_, Some(number)) => Value::from(i64::from(number)),
        (Kind::Files, None) => {
            let files = text.split(BETWEEN).map(str::trim).filter(|file| !file.is_empty());
            match *files.collect::<Vec<_>>() {
                [file] => Value::from(file),
                ref files => Value::from(files.iter().copied().collect::<Array>()),
            }
        }
        (_, None) => Value::from(text),
    })
}

fn parsed(path: &Path, text: &str) -> Result<Document<String>> {
    // The reader of the file says it in words that help more.
    file::parse(path, text, &mut Vec::new())?;
    Document::parse(text.to_owned()).map_err(|error| Error::format(path, error.message().to_owned()))
}

/// Puts a value into a text, or makes its line a comment.
fn put(path: &Path, text: &str, row: &Row, value: Option<Value>) -> Result<String> {
    let (name, in_set) = if row.at_start { (row.key, false) } else { (row.name, true) };
    let document = parsed(path, text)?;
    if in_set && document.get(SET).is_some_and(|set| !set.is_table()) {
        return Err(Error::format(path, "the options are not in a table [set]")
            .advice("change the file by hand, or write the options below a line [set]"));
    }
    let table = if in_set { document.get(SET).and_then(Item::as_table) } else { Some(document.as_table()) };
    let found = table.and_then(|table| table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)));
    if found.is_some_and(|(_, item)| !item.is_value()) {
        let what = format!("[[{name}]] has tables of its own, which a form does not show");
        return Err(Error::format(path, what).advice("change the file by hand"));
    }
    match (found, value) {
        (Some((known, item)), None) => {
            Ok(match (table.and_then(|table| table.key(known)).and_then(|key| key.span()), item.span()) {
                (Some(key), Some(value)) => commented(text, key.start, value.end),
                _ => text.to_owned(),
            })
        }
        (None, None) => Ok(text.to_owned()),
        (Some((known, _)), Some(mut value)) => {
            let mut document = edited(path, text)?;
            let table = if in_set {
                document.get_mut(SET).and_then(Item::as_table_mut)
            } else {
                Some(document.as_table_mut())
            };
            if let Some(old) = table.and_then(|table| table.get_mut(known)).and_then(Item::as_value_mut) {
                // The space and the comment after it stay.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            Ok(document.to_string())
        }
        (None, Some(value)) => match uncommented(text, name, in_set, &value) {
            Some(text) => Ok(text),
            None => {
                let mut document = edited(path, text)?;
                if in_set {
                    let set = document.entry(SET).or_insert_with(|| Item::Table(Table::new()));
                    set.as_table_mut().map(|table| table.insert(name, Item::Value(value)));
                } else {
                    document.insert(name, Item::Value(value));
                }
                Ok(document.to_string())
            }
        },
    }
}

fn edited(path: &Path, text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| Error::format(path, error.message().to_owned()))
}

/// The text with the lines from one offset to another as comments.
fn commented(text: &str, start: usize, end: usize) -> String {
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at >= from && at < end {
            out.push('#');
        }
        out.push_str(line);
        at += line.len();
    }
    out
}

/// The text with a value in place of its commented line, as the template has one for each key; `None` if there is no such line.
fn uncommented(text: &str, name: &str, in_set: bool, value: &Value) -> Option<String> {
    let key = toml_edit::Key::new(name);
    let header = (in_set && commented_set_is_empty(text)).then_some(COMMENTED_SET);
    let mut table = None;
    let (mut out, mut is_done) = (String::with_capacity(text.len() + 32), false);
    for line in text.split_inclusive('\n') {
        let words = line.trim_start();
        if words.starts_with('[') || header == Some(words.trim_end()) {
            table = Some(words.trim_start_matches('#').trim_end() == "[set]");
        }
        let is_place = if in_set { table == Some(true) } else { table.is_none() };
        let after = words
            .strip_prefix('#')
            .filter(|_| is_place && !is_done)
            .map(|words| words.trim_start_matches([' ', '"']));
        let rest = after
            .and_then(|words| words.strip_prefix(name))
            .map(|rest| rest.trim_start_matches('"').trim_start());
        if rest.is_some_and(|rest| rest.starts_with('=')) {
            is_done = true;
            out.push_str(&format!("{} = {}\n", key.display_repr(), value.to_string().trim()));
        } else {
            out.push_str(line);
        }
    }
    is_done.then(|| match header {
        Some(header) => out.replacen(header, header.trim_start_matches('#'), 1),
        None => out,
    })
}

/// The line of the table of options in the template.
const COMMENTED_SET: &str = "#[set]";

/// Whether the table of options is a comment, and nothing would come into it that is outside now.
fn commented_set_is_empty(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let is_set = |line: &str| line.split('#').next().is_some_and(|line| line.trim_end() == "[set]");
    let has_set = text.lines().any(|line| is_set(line.trim()));
    let found = lines.any(|line| line == COMMENTED_SET);
    let mut below = lines.take_while(|line| !line.starts_with('['));
    found && !has_set && below.all(|line| line.is_empty() || line.starts_with('#'))
}

#[cfg(test)]
mod tests;
