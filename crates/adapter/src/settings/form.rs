//! `tabiya.toml` as a form: the settings with their values, and changes that leave comments and order as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use toml::Value;
use toml::de::{DeTable, DeValue};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::choose::Policy;
use tabiya_uci::same_name;

use super::file::FromFile;
pub use super::file::text;
use super::file::{COMMENTED_SET, has_commented_set};
use super::options::{Options, percent};
use super::table::{self, BOOK, SET, SettingGroup, SettingKind, SettingRow};
use super::{Given, file, split};

/// What separates files in a field.
const BETWEEN: char = ';';

/// A setting with its value.
#[derive(Serialize)]
pub struct Setting {
    /// What a form calls it: letters, digits and hyphens.
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) row: &'static SettingRow,
    /// What holds if there is no value.
    default: String,
    value: Option<String>,
    /// Why a form cannot change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'static str>,
}

/// Why the books cannot be changed where tables name them.
const TABLES: &str = "the [[book]] tables of the file name the books: change them by hand";

impl Setting {
    fn new(row: &'static SettingRow, key: String, value: Option<String>) -> Self {
        Self { key, row, default: row.default(), value, fixed: None }
    }
}

/// Settings that are about the same.
#[derive(Serialize)]
pub struct Together<'a> {
    name: SettingGroup,
    keys: Vec<&'a str>,
}

/// The groups of settings that [`read`] has returned, in their order.
pub fn groups(settings: &[Setting]) -> Vec<Together<'_>> {
    let groups = settings.chunk_by(|one, other| one.row.group == other.row.group);
    groups
        .filter_map(|group| {
            let keys = group.iter().map(|setting| setting.key.as_str()).collect();
            Some(Together { name: group.first()?.row.group, keys })
        })
        .collect()
}

/// The value of an option in the table of options, which wins over its key outside; of several the last counts.
fn in_set(given: &Given, row: &SettingRow) -> Option<String> {
    let mut pairs = given.texts(SET).iter().filter_map(|pair| split(pair));
    let (_, value) = pairs.rfind(|(name, _)| is_option(row, name))?;
    // Where a form compares values.
    Some(match row.kind {
        SettingKind::Check => value.to_ascii_lowercase(),
        // Also what is written in thousandths.
        SettingKind::Share => row.kind.number(value).map_or_else(|| value.to_owned(), percent),
        _ => value.to_owned(),
    })
}

/// Whether a name in the table of options is that of a setting.
fn is_option(row: &SettingRow, name: &str) -> bool {
    row.is_option() && same_name(row.name.as_bytes(), name.as_bytes())
}

/// A number of a policy that a page has a slider for.
#[derive(Serialize)]
pub struct Slider {
    key: &'static str,
    name: &'static str,
    help: &'static str,
    /// The unit that is shown.
    unit: &'static str,
    /// How many steps of the slider make one of that unit.
    part: u32,
    /// Steps of the slider, and where it stands.
    max: u32,
    value: u32,
}

/// The sliders for a policy.
pub fn sliders(policy: &Policy) -> Vec<Slider> {
    let mut options = Options { policy: policy.clone(), ..Options::default() };
    let slider = |(row, unit): (&SettingRow, &'static str)| {
        let (part, max) = match row.kind {
            SettingKind::Spin { max, .. } => (1, max),
            _ => (10, 1000),
        };
        let value = row.kind.number(&row.text(&mut options)).unwrap_or_default();
        Slider { key: row.key, name: row.name, help: row.help, unit, part, max, value }
    };
    table::sliders().map(slider).collect()
}

/// The settings with what this text of a file says.
///
/// # Errors
/// When it is not TOML.
pub fn read(path: &Path, text: &str) -> Result<Vec<Setting>> {
    let FromFile { given, of_books: rules, .. } = file::parse(path, text, &mut Vec::new())?;
    // Arguments of the engine are a list whose order matters, and options of the engine are not known here.
    let at_start = table::start()
        .filter(|row| !matches!(row.kind, SettingKind::Texts | SettingKind::Pairs))
        .map(|row| {
            let texts = given.texts(row.key);
            let value = (!texts.is_empty()).then(|| texts.join(&format!("{BETWEEN} ")));
            let set = in_set(&given, row);
            let by_rules = row.key == BOOK && !rules.is_empty() && set.is_none();
            let files = || {
                rules.iter().map(|rule| rule.file.as_str()).collect::<Vec<_>>().join(&format!("{BETWEEN} "))
            };
            let value = set.or(value).or_else(|| by_rules.then(files));
            Setting { fixed: by_rules.then_some(TABLES), ..Setting::new(row, row.key.to_owned(), value) }
        });
    let options = table::options()
        .filter(|row| !row.at_start)
        .map(|row| Setting::new(row, row.name.to_ascii_lowercase().replace(' ', "-"), in_set(&given, row)));
    let mut settings: Vec<Setting> = at_start.chain(options).collect();
    // Stable: within a group in the order of the table.
    settings.sort_by_key(|setting| setting.row.group);
    Ok(settings)
}

/// The text of a file with other values: `None` is the default again.
///
/// # Errors
/// When there is no such key, when a value does not fit it, and when the file would not be valid then.
pub fn changed(path: &Path, text: &str, set: &BTreeMap<String, Option<String>>) -> Result<String> {
    let usage = |what: String| Error::new(ErrorKind::Usage, what);
    let settings = read(path, text)?;
    let has_returns = text.contains("\r\n");
    let mut text = text.replace("\r\n", "\n");
    for (key, value) in set {
        let setting = settings.iter().find(|setting| setting.key == *key);
        let setting = setting.ok_or_else(|| usage(format!("there is no setting {key:?}")))?;
        if let Some(why) = setting.fixed {
            return Err(usage(format!("{}: {why}", setting.row.name)));
        }
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
fn field(kind: SettingKind, text: &str) -> std::result::Result<Value, String> {
    if text.contains(char::is_control) {
        return Err("without control characters".to_owned());
    }
    if !kind.takes(text) {
        return Err(kind.needs());
    }
    Ok(match (kind, kind.number(text)) {
        (SettingKind::Check, Some(number)) => Value::from(number != 0),
        (SettingKind::Spin { .. }, Some(number)) => Value::from(i64::from(number)),
        (SettingKind::Files, None) => {
            let files = text.split(BETWEEN).map(str::trim).filter(|file| !file.is_empty());
            match *files.collect::<Vec<_>>() {
                [file] => Value::from(file),
                ref files => Value::from(files.to_vec()),
            }
        }
        _ => Value::from(text),
    })
}

/// Puts a value into a text, or makes its lines comments.
fn put(path: &Path, text: &str, row: &SettingRow, value: Option<Value>) -> Result<String> {
    // The reader of the file says what is wrong in words that help more.
    let FromFile { given, .. } = file::parse(path, text, &mut Vec::new())?;
    // There it wins over a key outside.
    let in_set = !row.at_start || in_set(&given, row).is_some();
    let name = if in_set { row.name } else { row.key };
    let root = DeTable::parse(text).map_err(|error| Error::format(path, error.message().to_owned()))?;
    let root = root.get_ref();
    let set = root.iter().find(|(key, _)| key.get_ref().as_ref() == SET);
    if in_set && set.is_some_and(|(key, _)| !is_header(text, key.span().end)) {
        return Err(Error::new(ErrorKind::Usage, "the options are not in a table [set]")
            .at_path(path)
            .advice("change the file by hand, or write the options below a line [set]"));
    }
    let options = set.and_then(|(_, set)| set.get_ref().as_table());
    let table = if in_set { options } else { Some(root) };
    let in_options =
        options.into_iter().flat_map(file::in_order).filter(|(name, _)| is_option(row, name.get_ref()));
    let outside = file::in_order(root)
        .into_iter()
        .filter(|(name, _)| row.at_start && row.key == name.get_ref().as_ref());
    let Some(value) = value else {
        // From the last one, so that the others stay in their places.
        let mut places: Vec<_> =
            outside.chain(in_options).map(|(key, old)| key.span().start..old.span().end).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.start));
        let comment = |text: String, place: Range<usize>| commented(&text, place.start, place.end);
        return Ok(places.into_iter().fold(text.to_owned(), comment));
    };
    let (mut in_options, mut outside) = (in_options, outside);
    let found = if in_set { in_options.next_back() } else { outside.next_back() };
    if let Some((_, old)) = found {
        // Options have one value; the space and the comment after it stay.
        let value = match value {
            Value::Array(files) if in_set => {
                let files: Vec<_> = files.iter().filter_map(Value::as_str).collect();
                Value::from(files.join(&BETWEEN.to_string()))
            }
            value => value,
        };
        return Ok(spliced(text, old.span(), &value.to_string()));
    }
    if let Some(text) = uncommented(text, name, in_set, &value) {
        return Ok(text);
    }
    let line = format!("{} = {value}\n", key_of(name));
    // After the last value of its table, or else at its start.
    let values = table.into_iter().flat_map(|table| table.values());
    let last = values.filter(|value| !has_tables(value.get_ref())).map(|value| value.span().end).max();
    Ok(match last.or_else(|| set.filter(|_| in_set).map(|(key, _)| key.span().end)) {
        Some(end) => match text.get(end..).and_then(|rest| rest.find('\n')) {
            Some(more) => spliced(text, end + more + 1..end + more + 1, &line),
            None => format!("{text}\n{line}"),
        },
        None if in_set => {
            let between = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{between}[{SET}]\n{line}")
        }
        None => {
            let start = text.len() - text.trim_start_matches('\u{feff}').len();
            spliced(text, start..start, &line)
        }
    })
}

/// Whether the key that ends at this offset is that of a header in brackets.
fn is_header(text: &str, end: usize) -> bool {
    text.get(end..).is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ', '\t']).starts_with(']'))
}

/// Whether a value is a table, or a list with tables.
fn has_tables(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Array(list) => list.iter().any(|item| item.get_ref().is_table()),
        other => other.is_table(),
    }
}

/// The text with other words at a place.
fn spliced(text: &str, place: Range<usize>, words: &str) -> String {
    let before = text.get(..place.start).unwrap_or(text);
    format!("{before}{words}{}", text.part(place.end..))
}

/// A name as a key of TOML.
fn key_of(name: &str) -> Cow<'_, str> {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{name}\"")) }
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
            out.push_str(&format!("{} = {value}\n", key_of(name)));
        } else {
            out.push_str(line);
        }
    }
    is_done.then(|| match header {
        Some(header) => out.replacen(header, header.trim_start_matches('#'), 1),
        None => out,
    })
}

/// Whether the table of options is a comment, and nothing would come into it that is outside now.
fn commented_set_is_empty(text: &str) -> bool {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != COMMENTED_SET).skip(1);
    let mut below = lines.take_while(|line| !line.starts_with('['));
    has_commented_set(text) && below.all(|line| line.is_empty() || line.starts_with('#'))
}

#[cfg(test)]
mod tests;
