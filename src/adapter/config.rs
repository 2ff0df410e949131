//! What the adapter is told when it starts: the command line over the configuration file over the defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use log::Level;
use toml::de::{DeTable, DeValue};

use super::books::BookList;
use super::options::{Options, SEED_MAX};
use super::paths::Places;
use super::{spelling, trust};
use crate::base::error::{Error, ErrorKind, Result};
use crate::uci::SetOption;

/// The configuration file's name where none is given.
pub const FILE_NAME: &str = "tabiya.toml";

/// The engine where none is named.
const DEFAULT_ENGINE: &str = "stockfish";

/// Seconds that may be granted for that: up to a day.
pub const TIMEOUTS: std::ops::RangeInclusive<u64> = 1..=86_400;

/// What a log can take, from little to much.
pub const LOG_LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

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
    /// A book that cannot be opened does not end the adapter.
    pub book_optional: bool,
    /// The name that GUIs see.
    pub name: Option<String>,
    /// `NAME=VALUE` of options.
    pub set: Vec<String>,
    /// The log's file.
    pub log: Option<String>,
    /// The least that the log takes, one of [`LOG_LEVELS`].
    pub log_level: Option<String>,
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
    /// The name that GUIs see; `None` is the engine's own with an addition.
    pub name: Option<String>,
    /// Whether play goes on where a book cannot be opened.
    pub book_optional: bool,
    /// The least that the log takes.
    pub log_level: Level,
    /// The adapter's options.
    pub options: Options,
    /// Options of the engine that are set in advance, name and value.
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
    /// When the named file cannot be read, when a file that was not named cannot be trusted, when a file is no TOML,
    /// when it has a key that is nearly one that exists, when it says something about the engine that cannot be meant,
    /// and when a `NAME=VALUE` of the command line has no `=`. Other bad keys are warnings.
    pub fn load(given: Given, file: Option<&str>) -> Result<Self> {
        let path = match file {
            Some(name) => Some(Places::new(None).find(name).map_err(|tried| {
                let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
                Error::new(ErrorKind::File, format!("{name}: no such configuration file"))
                    .advice(format!("looked for it at {}", tried.join(", ")))
            })?),
            None => Places::new(None).find(FILE_NAME).ok(),
        };
        if let Some(path) = path.as_deref().filter(|_| file.is_none()) {
            trust::check(path)?;
        }
        let mut warnings = Vec::new();
        let from_file = match &path {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Error::file(path, "cannot read the configuration", error))?;
                parse(path, &text, &mut warnings)?
            }
            None => Given::default(),
        };
        // From the weakest word to the strongest: defaults, the file's keys, its set, the line's arguments, its --set.
        let mut options = Options::default();
        let mut settings = Vec::new();
        name_books(&mut options, &from_file);
        options.seed = from_file.seed.unwrap_or_default();
        options.log = from_file.log.clone().unwrap_or_default();
        let of_file = path.as_deref().map(|path| format!("{}: set: ", path.display())).unwrap_or_default();
        for text in &from_file.set {
            match split(text) {
                Some((name, value)) => {
                    put_option(&mut options, &mut settings, name, value, &of_file, &mut warnings)
                }
                None => warnings.push(format!("{of_file}'{text}' is not NAME=VALUE; it is left out")),
            }
        }
        name_books(&mut options, &given);
        options.seed = given.seed.unwrap_or(options.seed);
        options.log = given.log.clone().unwrap_or(options.log);
        for text in &given.set {
            let (name, value) = split(text).ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("--set '{text}' is not NAME=VALUE"))
                    .advice("write it like --set \"Hash=256\"")
            })?;
            put_option(&mut options, &mut settings, name, value, "--set ", &mut warnings);
        }
        let named = given.engine.is_some();
        let engine = given.engine.or(from_file.engine).unwrap_or_else(|| DEFAULT_ENGINE.to_owned());
        // Arguments and folder in the file belong to the file's engine.
        let (file_args, file_dir) =
            if named { (Vec::new(), None) } else { (from_file.engine_args, from_file.engine_dir) };
        let engine_args = if given.engine_args.is_empty() { file_args } else { given.engine_args };
        let engine_dir = given.engine_dir.or(file_dir);
        let log_level = given.log_level.or(from_file.log_level).and_then(|level| level.parse().ok());
        let seconds = given.engine_timeout.or(from_file.engine_timeout).unwrap_or(DEFAULT_TIMEOUT);
        let name =
            given.name.or(from_file.name).map(|name| name.replace(['\n', '\r'], " ").trim().to_owned());
        Ok(Self {
            name: name.filter(|name| !name.is_empty()),
            book_optional: given.book_optional || from_file.book_optional,
            engine,
            engine_args,
            engine_dir,
            engine_timeout: Duration::from_secs(seconds),
            log_level: log_level.unwrap_or(Level::Info),
            options,
            settings,
            places: Places::new(path.as_deref()),
            file: path,
            warnings,
        })
    }
}

/// Names the books that are given; a list that is not given stays.
fn name_books(options: &mut Options, given: &Given) {
    let books = &mut options.books;
    for (list, files) in
        [(&mut books.both, &given.books), (&mut books.white, &given.white), (&mut books.black, &given.black)]
    {
        if !files.is_empty() {
            *list = BookList::of(files.iter().map(String::as_str));
        }
    }
}

/// Splits `NAME=VALUE`.
fn split(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    // A line end would begin a command of its own.
    let whole = !name.trim().is_empty() && !text.contains(['\n', '\r']);
    whole.then(|| (name.trim(), value.trim()))
}

/// Sets an option of the adapter, or keeps one for the engine.
fn put_option(
    options: &mut Options,
    settings: &mut Vec<(String, String)>,
    name: &str,
    value: &str,
    place: &str,
    warnings: &mut Vec<String>,
) {
    match options.set(&SetOption { name: name.as_bytes(), value: value.as_bytes() }) {
        None => settings.push((name.to_owned(), value.to_owned())),
        Some(Ok(_)) => {}
        Some(Err(problem)) => warnings.push(format!("{place}{problem}")),
    }
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
        if name == "set"
            && let DeValue::Table(table) = value.get_ref()
        {
            for (name, value) in table {
                match assignment(name.get_ref(), value.get_ref()) {
                    Some(text) => given.set.push(text),
                    None => warnings.push(format!(
                        "{}: line {}: set: '{}' must be a text, a number, true or false; it is left out",
                        path.display(),
                        line_of(name.span().start),
                        name.get_ref()
                    )),
                }
            }
            continue;
        }
        let wrong = |what: String| format!("{}: line {line}: {what}", path.display());
        let Some((_, take)) = KEYS.iter().find(|(known, _)| *known == name) else {
            if let Some(meant) = spelling::nearest(name, KEYS.iter().map(|(known, _)| *known)) {
                return Err(Error::format(path, format!("line {line}: '{name}' is no key"))
                    .advice(format!("write '{meant}'")));
            }
            warnings.push(wrong(format!("'{name}' is no key; it is left out")));
            continue;
        };
        match take(&mut given, value.get_ref()) {
            Ok(()) => {}
            Err(needed) if name.starts_with("engine") => {
                // A tournament played by the wrong engine is worse than none.
                return Err(Error::format(path, format!("line {line}: '{name}' must be {needed}"))
                    .advice("mend the file, or start tabiya without it"));
            }
            Err(needed) => {
                warnings.push(wrong(format!("'{name}' must be {needed}; it is left out")));
            }
        }
    }
    Ok(given)
}

/// Takes a key's value; the error is what it must be.
type Take = fn(&mut Given, &DeValue<'_>) -> Taken;

type Taken = std::result::Result<(), &'static str>;

/// The keys of the file. A table `set` is read before them.
const KEYS: [(&str, Take); 13] = [
    ("engine", |given, value| put(text(value), &mut given.engine, TEXT)),
    ("engine-arg", |given, value| put(texts(value), &mut given.engine_args, TEXTS)),
    ("engine-dir", |given, value| put(text(value), &mut given.engine_dir, TEXT)),
    ("engine-timeout", |given, value| {
        let seconds = number(value).filter(|seconds| TIMEOUTS.contains(seconds));
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
        let seed = number(value).filter(|seed| *seed <= SEED_MAX as u64);
        put(seed.map(Some), &mut given.seed, "a number from 0 to 2147483647")
    }),
];

/// What a key must be.
const TEXT: &str = "a text";

/// What a key that can be given several times on the command line must be.
const TEXTS: &str = "a text or a list of texts";

fn put<T>(value: Option<T>, place: &mut T, needed: &'static str) -> Taken {
    *place = value.ok_or(needed)?;
    Ok(())
}

/// A text; the outer `None` is any other value.
fn text(value: &DeValue<'_>) -> Option<Option<String>> {
    value.as_str().map(|text| Some(text.to_owned()))
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

/// An option in a table, as it is written on the command line.
fn assignment(name: &str, value: &DeValue<'_>) -> Option<String> {
    let text = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number_text(number.as_str(), number.radix())?,
        DeValue::Float(number) => number.as_str().replace('_', ""),
        DeValue::Boolean(truth) => truth.to_string(),
        _ => return None,
    };
    Some(format!("{name}={text}"))
}

/// A number in decimal digits, as engines read it.
fn number_text(digits: &str, radix: u32) -> Option<String> {
    i64::from_str_radix(&digits.replace('_', ""), radix).ok().map(|number| number.to_string())
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
             book-white = ['w.bin']\nbook-black = 'b.bin'\nbook-optional = true\nname = 'n'\nlog = 'l'\nlog-level = 'trace'\nseed = 7\n[set]\nHash = 64\n'Book Variety' = 10\n\
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
        assert_eq!((given.book_optional, given.name.as_deref()), (true, Some("n")));
        assert_eq!(given.log_level.as_deref(), Some("trace"));
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
    fn a_key_that_is_nearly_one_ends_the_adapter_and_names_it() {
        for (text, meant) in [
            ("Engine = 'x'", "write 'engine'"),
            ("engine-args = ['x']", "write 'engine-arg'"),
            ("engine_dir = 'x'", "write 'engine-dir'"),
            ("Books = 'x'", "write 'book'"),
            ("bookWhite = 'x'", "write 'book-white'"),
            ("seeds = 3", "write 'seed'"),
            ("[Set]\nHash = 1", "write 'set'"),
        ] {
            let error = read(&format!("log = 'l'\n{text}\n")).0.unwrap_err();
            let message = error.to_string();
            assert!(message.contains("line 2") && message.ends_with(meant), "{text}: {message}");
            assert_eq!(error.kind(), ErrorKind::Format);
        }
    }

    #[test]
    fn what_could_start_the_wrong_engine_ends_the_adapter() {
        let error = read("engine = 5\n").0.unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        let error = read("book = 'x'\nengine = \n").0.unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn one_bad_option_leaves_the_others() {
        let (given, warnings) = read("[set]\nHash = 1_000\nContempt = 0.5\nMask = 0x10\n\nBad = [1]\n");
        assert_eq!(given.unwrap().set, ["Contempt=0.5", "Hash=1000", "Mask=16"]);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("line 6") && warnings[0].contains("Bad"), "{warnings:?}");
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tabiya.toml");
        let text = "book = 'key.bin'\nseed = 1\n[set]\n'Book File' = 'file.bin'\n'Book Seed' = 7\nHash = 1\n\
                    'Book Depth' = 5000\n'Book Reserve' = 3\n";
        std::fs::write(&file, text).unwrap();
        let load = |given: Given| Config::load(given, file.to_str());
        let config = load(Given::default()).unwrap();
        assert_eq!(
            (config.options.books.both.files(), config.options.seed),
            (&["file.bin".to_owned()][..], 7)
        );
        assert_eq!(config.options.policy.reserve, 3);
        assert_eq!(config.settings, [("Hash".to_owned(), "1".to_owned())]);
        assert!(
            config.warnings.len() == 1 && config.warnings[0].contains("Book Depth"),
            "{:?}",
            config.warnings
        );
        let line = Given { books: vec!["a;1".into(), "b".into()], seed: Some(3), ..Given::default() };
        let config = load(line.clone()).unwrap();
        assert_eq!(config.options.books.both.files(), ["a;1", "b"]);
        assert_eq!((config.options.seed, config.book_optional), (3, false));
        let named = Given { name: Some(" My\nengine ".to_owned()), book_optional: true, ..Given::default() };
        let config = load(named).unwrap();
        assert_eq!((config.name.as_deref(), config.book_optional), (Some("My engine"), true));
        let set = vec!["Book Seed=4".to_owned(), "Hash = x = y".to_owned(), "Book Log=l".to_owned()];
        let config = load(Given { set, ..line }).unwrap();
        assert_eq!((config.options.seed, config.options.log.as_str()), (4, "l"));
        assert_eq!(config.settings[1], ("Hash".to_owned(), "x = y".to_owned()));
        for bad in ["A", "=1", "A=1\nquit"] {
            let error = load(Given { set: vec![bad.to_owned()], ..Given::default() }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
        }
    }
}
