//! `tabiya.toml` as a form: the settings with their values, and changes that leave comments and order as they are.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use toml_edit::{Array, Document, DocumentMut, Item, Table, Value};

use super::options::{Form, Options, SEED_MAX};
use super::{LOG_LEVELS, file};
use crate::base::error::{Error, ErrorKind, Result};

/// What separates files in a field.
const BETWEEN: char = ';';

/// The table of options.
const SET: &str = "set";

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Setting {
    /// What a form calls it: letters, digits and hyphens.
    pub(crate) key: String,
    /// Its name for people.
    pub(crate) name: &'static str,
    /// What it holds.
    #[serde(flatten)]
    form: Form,
    /// What holds if the file does not say.
    default: String,
    /// What the file says.
    value: Option<String>,
    /// What it is for.
    help: &'static str,
    /// Its name in the file, and whether it is an option in the table `set`.
    #[serde(skip)]
    place: (&'static str, bool),
}

/// A key of the file: its name there and for people, what it holds, its default, and what it is for.
type Key = (&'static str, &'static str, Form, &'static str, &'static str);

/// The keys outside the table of options. Arguments of the engine are not in it: they are a list whose order matters.
const KEYS: [Key; 11] = [
    ("engine", "Engine", Form::TEXT, "stockfish", "The engine's program: a path, or a name on PATH."),
    ("engine-dir", "Engine's folder", Form::TEXT, "", "The folder in which the engine works."),
    (
        "engine-timeout",
        "Engine's time",
        Form::spin(1, 86_400),
        "30",
        "Seconds that the engine may take to start.",
    ),
    ("book", "Books", Form::FILES, "", "In order of priority, with ; between them. <none>: no book at all."),
    ("book-white", "Books for White", Form::FILES, "", "They are asked before the others."),
    ("book-black", "Books for Black", Form::FILES, "", "They are asked before the others."),
    ("book-optional", "Books may be missing", Form::CHECK, "false", "Play on when a book cannot be opened."),
    ("name", "Name", Form::TEXT, "", "The name that GUIs show instead of the engine's own."),
    ("log", "Log", Form::TEXT, "", "Write a log to this file; %p is the process ID, %d the day."),
    ("log-level", "Level of the log", Form::combo(&LOG_LEVELS), "info", "The lowest level that is logged."),
    (
        "seed",
        "Seed",
        Form::spin(0, SEED_MAX),
        "0",
        "Repeat the same random choices; 0: different ones each time.",
    ),
];

/// What each option is for. Those that have a key outside the table are not here.
const HELP: [(&str, &str); 14] = [
    ("OwnBook", "Play from the books."),
    ("Book Variety", "0: the best move; 50: by weight; 100: any playable move alike."),
    ("Book Depth", "The last full move that the books answer; 0: no limit."),
    ("Book Threshold", "Thousandths of the position's weight that a move needs."),
    ("Book Games", "Games that a move needs, where the format counts them."),
    ("Book Reserve", "Leave the book when its line goes on for fewer plies than this."),
    (
        "Book Max Loss",
        "Do not play moves that lose more centipawns than this; 0: off. It needs evaluations beside the book.",
    ),
    ("Book Guard", "Milliseconds in which the engine checks a book move without an evaluation; 0: off."),
    ("Book Tournament", "Colours, marks and priorities of the book act."),
    ("Book Repeats", "A book move may bring about a position for the third time."),
    ("Book Ponder", "The engine ponders while the book answers."),
    ("Book Score", "What GUIs see as the score of a book move."),
    ("Book Learn", "Write results into Polyglot books."),
    ("Book Learn Margin", "Centipawns at which an unfinished game counts as won or lost."),
];

/// The settings with what this text of a file says.
///
/// # Errors
/// When it is not TOML.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<Setting>> {
    let document = parsed(path, text)?;
    let keys = KEYS.into_iter().map(|(key, name, form, default, help)| Setting {
        key: key.to_owned(),
        name,
        form,
        default: default.to_owned(),
        value: document.get(key).and_then(text_of),
        help,
        place: (key, false),
    });
    let options = Options::forms().filter_map(|(name, form, default)| {
        let (_, help) = HELP.into_iter().find(|(known, _)| *known == name)?;
        let key = name.to_ascii_lowercase().replace(' ', "-");
        Some(Setting { key, name, form, default, value: option(&document, name), help, place: (name, true) })
    });
    Ok(keys.chain(options).collect())
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
            setting
                .form
                .value(value)
                .map_err(|form| usage(format!("{}: {value:?} is not {form}", setting.name)))
        });
        text = put(path, &text, setting.place, value.transpose()?)?;
    }
    file::parse(path, &text, &mut Vec::new())?;
    Ok(if has_returns { text.replace('\n', "\r\n") } else { text })
}

impl Form {
    /// A value of the file from the text of a field.
    ///
    /// # Errors
    /// What it must be.
    fn value(self, text: &str) -> std::result::Result<Value, String> {
        if text.contains(char::is_control) {
            return Err("without control characters".to_owned());
        }
        match (self.kind, self.choices) {
            ("check", _) => text.parse::<bool>().map(Value::from).map_err(|_| "true or false".to_owned()),
            ("spin", _) => {
                let (least, most) = (self.min.unwrap_or(0), self.max.unwrap_or(u32::MAX));
                let number = text.parse().ok().filter(|number| (least..=most).contains(number));
                number
                    .map(|number| Value::from(i64::from(number)))
                    .ok_or_else(|| format!("a number from {least} to {most}"))
            }
            ("combo", Some(choices)) if !choices.contains(&text) => {
                Err(format!("one of {}", choices.join(", ")))
            }
            ("files", _) => {
                let files: Vec<&str> =
                    text.split(BETWEEN).map(str::trim).filter(|file| !file.is_empty()).collect();
                Ok(match *files {
                    [file] => Value::from(file),
                    _ => Value::from(files.into_iter().collect::<Array>()),
                })
            }
            _ => Ok(Value::from(text)),
        }
    }
}

fn parsed(path: &Path, text: &str) -> Result<Document<String>> {
    // The reader of the file says it in words that help more.
    file::parse(path, text, &mut Vec::new())?;
    Document::parse(text.to_owned()).map_err(|error| Error::format(path, error.message().to_owned()))
}

/// The text of a value in a field.
fn text_of(item: &Item) -> Option<String> {
    let value = item.as_value()?;
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Array(list) => {
            let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            Some(texts?.join(&format!("{BETWEEN} ")))
        }
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Boolean(truth) => Some(truth.value().to_string()),
        _ => None,
    }
}

/// The value of an option, in a table or in a list of `NAME=VALUE`.
fn option(document: &Document<String>, name: &str) -> Option<String> {
    let set = document.get(SET)?;
    if let Some(list) = set.as_array() {
        let pairs = list.iter().filter_map(Value::as_str).filter_map(|pair| pair.split_once('='));
        let values = pairs.filter(|(known, _)| known.trim().eq_ignore_ascii_case(name));
        return values.last().map(|(_, value)| value.trim().to_owned());
    }
    let (_, item) = set.as_table_like()?.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    text_of(item)
}

/// Puts a value into a text, or makes its line a comment.
fn put(path: &Path, text: &str, (name, in_set): (&str, bool), value: Option<Value>) -> Result<String> {
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
