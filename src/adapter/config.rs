//! What the adapter is told when it starts: the command line over the configuration file over the defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::options::{FILE_SEPARATOR, Options, SEED_MAX};
use super::paths::Places;
use crate::base::error::{Error, ErrorKind, Result};

/// The configuration file's name where none is given.
pub const FILE_NAME: &str = "tabiya.toml";

/// The engine where none is named.
const DEFAULT_ENGINE: &str = "stockfish";

/// Seconds that the engine may take to answer `uci`: clients give up after 10 to 35.
const DEFAULT_TIMEOUT: u64 = 30;

/// Settings as given in one place: the command line, or the configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The engine's program.
    pub engine: Option<String>,
    /// Its arguments.
    pub engine_args: Vec<String>,
    /// Its working folder.
    pub engine_dir: Option<String>,
    /// Seconds that it may take to answer `uci`.
    pub engine_timeout: Option<u64>,
    /// Books by priority.
    pub books: Vec<String>,
    /// Books for White.
    pub white: Vec<String>,
    /// Books for Black.
    pub black: Vec<String>,
    /// `NAME=VALUE` of options.
    pub set: Vec<String>,
    /// The log's file.
    pub log: Option<String>,
    /// The seed of random choice.
    pub seed: Option<u64>,
}

/// Everything that the adapter needs to start.
#[derive(Clone, Debug)]
pub struct Config {
    /// The engine's program as named.
    pub engine: String,
    /// Its arguments.
    pub engine_args: Vec<String>,
    /// Its working folder as named; `None` is the adapter's own.
    pub engine_dir: Option<String>,
    /// How long it may take to answer `uci`.
    pub engine_timeout: Duration,
    /// The adapter's options.
    pub options: Options,
    /// Options set in advance, the engine's and the adapter's, name and value.
    pub settings: Vec<(String, String)>,
    /// The configuration file that was read.
    pub file: Option<PathBuf>,
    /// Where files are looked up.
    pub places: Places,
    /// What is wrong with the configuration but does not hinder play.
    pub warnings: Vec<String>,
}

impl Config {
    /// Joins the command line with the configuration file: the one named, else the default one where it exists.
    ///
    /// # Errors
    /// When the named file cannot be read, when a file is no TOML, when it says something about the engine that
    /// cannot be meant, and when a `NAME=VALUE` of the command line has no `=`. Other bad keys are warnings.
    pub fn load(given: Given, file: Option<&str>) -> Result<Self> {
        let path = match file {
            Some(name) => Some(Places::new(None).find(name).map_err(|tried| {
                let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
                Error::new(ErrorKind::File, format!("{name}: no such configuration file"))
                    .advice(format!("looked for it at {}", tried.join(", ")))
            })?),
            None => Places::new(None).find(FILE_NAME).ok(),
        };
        let mut warnings = Vec::new();
        let from_file = match &path {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Error::file(path, "cannot read the configuration", error))?;
                parse(path, &text, &mut warnings)?
            }
            None => Given::default(),
        };
        let settings = settings(&given.set, &from_file.set, path.as_deref(), &mut warnings)?;
        let mut options = Options::default();
        let list = |ours: Vec<String>, theirs: Vec<String>| {
            if ours.is_empty() { theirs } else { ours }.join(&FILE_SEPARATOR.to_string())
        };
        options.books.both = list(given.books, from_file.books);
        options.books.white = list(given.white, from_file.white);
        options.books.black = list(given.black, from_file.black);
        options.seed = given.seed.or(from_file.seed).unwrap_or_default();
        options.log = given.log.or(from_file.log).unwrap_or_default();
        let named = given.engine.is_some();
        let engine = given.engine.or(from_file.engine).unwrap_or_else(|| DEFAULT_ENGINE.to_owned());
        // Arguments and folder in the file belong to the file's engine.
        let (file_args, file_dir) =
            if named { (Vec::new(), None) } else { (from_file.engine_args, from_file.engine_dir) };
        let engine_args = if given.engine_args.is_empty() { file_args } else { given.engine_args };
        let engine_dir = given.engine_dir.or(file_dir);
        let seconds = given.engine_timeout.or(from_file.engine_timeout).unwrap_or(DEFAULT_TIMEOUT);
        Ok(Self {
            engine,
            engine_args,
            engine_dir,
            engine_timeout: Duration::from_secs(seconds),
            options,
            settings,
            places: Places::new(path.as_deref()),
            file: path,
            warnings,
        })
    }
}

/// Splits each `NAME=VALUE`, the file's first, so that the command line has the last word.
fn settings(
    line: &[String],
    file: &[String],
    path: Option<&Path>,
    warnings: &mut Vec<String>,
) -> Result<Vec<(String, String)>> {
    let split = |text: &String| {
        let (name, value) = text.split_once('=')?;
        let name = name.trim();
        // A line end would begin a command of its own.
        let whole = !name.is_empty() && !text.contains(['\n', '\r']);
        whole.then(|| (name.to_owned(), value.trim().to_owned()))
    };
    let mut settings = Vec::new();
    for text in file {
        match split(text) {
            Some(setting) => settings.push(setting),
            None => {
                let path = path.map(|path| path.display().to_string()).unwrap_or_default();
                warnings.push(format!("{path}: set: '{text}' is not NAME=VALUE; it is left out"));
            }
        }
    }
    for text in line {
        let setting = split(text).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("--set '{text}' is not NAME=VALUE"))
                .advice("write it like --set \"Hash=256\"")
        })?;
        settings.push(setting);
    }
    Ok(settings)
}

/// Reads a configuration file's text.
fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<Given> {
    let line_of = |offset: usize| 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| format!("line {}: ", line_of(span.start))).unwrap_or_default();
        Error::format(path, format!("{line}{}", error.message().trim()))
            .advice("mend the file, or start tabiya without it")
    })?;
    let mut given = Given::default();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        let line = line_of(key.span().start);
        let taken = take(&mut given, name, value);
        let wrong = |what: String| format!("{}: line {line}: {what}", path.display());
        match taken {
            Taken::Yes => {}
            Taken::Unknown => warnings.push(wrong(format!("'{name}' is no key; it is left out"))),
            Taken::Wrong(needed) if name.starts_with("engine") => {
                // A tournament played by the wrong engine is worse than none.
                return Err(Error::format(path, format!("line {line}: '{name}' must be {needed}"))
                    .advice("mend the file, or start tabiya without it"));
            }
            Taken::Wrong(needed) => {
                warnings.push(wrong(format!("'{name}' must be {needed}; it is left out")));
            }
        }
    }
    Ok(given)
}

enum Taken {
    Yes,
    Unknown,
    Wrong(&'static str),
}

fn take(given: &mut Given, name: &str, value: &Spanned<DeValue<'_>>) -> Taken {
    let value = value.get_ref();
    let text = || value.as_str().map(str::to_owned);
    match name {
        "engine" => put(text().map(Some), &mut given.engine, "a text"),
        "engine-arg" => put(texts(value), &mut given.engine_args, "a text or a list of texts"),
        "engine-dir" => put(text().map(Some), &mut given.engine_dir, "a text"),
        "engine-timeout" => put(number(value).map(Some), &mut given.engine_timeout, "a number of seconds"),
        "book" => put(texts(value), &mut given.books, "a text or a list of texts"),
        "book-white" => put(texts(value), &mut given.white, "a text or a list of texts"),
        "book-black" => put(texts(value), &mut given.black, "a text or a list of texts"),
        "set" => put(assignments(value), &mut given.set, "a list of \"NAME=VALUE\", or a table of options"),
        "log" => put(text().map(Some), &mut given.log, "a text"),
        "seed" => {
            let seed = number(value).filter(|seed| *seed <= SEED_MAX as u64);
            put(seed.map(Some), &mut given.seed, "a number from 0 to 2147483647")
        }
        _ => Taken::Unknown,
    }
}

fn put<T>(value: Option<T>, place: &mut T, needed: &'static str) -> Taken {
    match value {
        Some(value) => {
            *place = value;
            Taken::Yes
        }
        None => Taken::Wrong(needed),
    }
}

fn number(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Array(list) => list.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// `set` may be written as a list, as on the command line, or as a table.
fn assignments(value: &DeValue<'_>) -> Option<Vec<String>> {
    let DeValue::Table(table) = value else { return texts(value) };
    table
        .iter()
        .map(|(name, value)| {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
                DeValue::Boolean(truth) => truth.to_string(),
                _ => return None,
            };
            Some(format!("{}={text}", name.get_ref()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<Given>, Vec<String>) {
        let mut warnings = Vec::new();
        let given = parse(Path::new("tabiya.toml"), text, &mut warnings);
        (given, warnings)
    }

    #[test]
    fn every_key_of_the_command_line_is_a_key_of_the_file() {
        let (given, warnings) = read(
            "engine = 'sf'\nengine-arg = ['a', 'b']\nengine-dir = 'd'\nengine-timeout = 5\nbook = 'x.bin'\n\
             book-white = ['w.bin']\nbook-black = 'b.bin'\nlog = 'l'\nseed = 7\n[set]\nHash = 64\n'Book Variety' = 10\n\
             Ponder = true\n",
        );
        assert!(warnings.is_empty(), "{warnings:?}");
        let given = given.unwrap();
        assert_eq!(given.engine.as_deref(), Some("sf"));
        assert_eq!(given.engine_args, ["a", "b"]);
        assert_eq!((given.engine_dir.as_deref(), given.engine_timeout), (Some("d"), Some(5)));
        assert_eq!(
            (given.books, given.white, given.black),
            (vec!["x.bin".to_owned()], vec!["w.bin".to_owned()], vec!["b.bin".to_owned()])
        );
        assert_eq!((given.log.as_deref(), given.seed), (Some("l"), Some(7)));
        assert_eq!(given.set, ["Book Variety=10", "Hash=64", "Ponder=true"]);
    }

    #[test]
    fn a_bad_key_is_told_with_its_line_and_the_rest_is_used() {
        let (given, warnings) = read("book = 'x.bin'\nboook = 1\n\nseed = 'x'\n");
        assert_eq!(given.unwrap().books, ["x.bin"]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("line 2") && warnings[0].contains("boook"), "{warnings:?}");
        assert!(warnings[1].contains("line 4") && warnings[1].contains("a number"), "{warnings:?}");
    }

    #[test]
    fn what_could_start_the_wrong_engine_ends_the_adapter() {
        let error = read("engine = 5\n").0.unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        let error = read("book = 'x'\nengine = \n").0.unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let mut warnings = Vec::new();
        let both =
            settings(&["A=2".into(), "B = x = y".into()], &["A=1".into(), "C".into()], None, &mut warnings);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(both.unwrap(), [pair("A", "1"), pair("A", "2"), pair("B", "x = y")]);
        assert_eq!(warnings.len(), 1);
        assert!(settings(&["A".into()], &[], None, &mut warnings).is_err());
        assert!(settings(&["A=1\nquit".into()], &[], None, &mut warnings).is_err());
    }
}
