//! The configuration file: TOML with the names of the command line's arguments.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::options::SEED_MAX;
use super::{Given, LOG_LEVELS, TIMEOUTS, spelling};
use crate::base::error::{Error, Result};

/// Parses the text of a configuration file.
///
/// # Errors
/// When it is not TOML, has a misspelt key, or a bad value about the engine.
pub(super) fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<Given> {
    let wrong = |offset: usize, what: String| {
        let line = 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        Error::format(path, format!("line {line}: {what}"))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().trim();
        let error = match error.span() {
            Some(span) => wrong(span.start, what.to_owned()),
            None => Error::format(path, what),
        };
        error.advice(REPAIR)
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
        let names = KEYS.iter().map(|(known, _)| *known);
        match KEYS.iter().find(|(known, _)| *known == name) {
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
                if let Some(nearest) = spelling::nearest(name, names) {
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

fn integer<T: TryFrom<i64>>(value: &DeValue<'_>) -> Option<T> {
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
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

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
    fn a_bad_key_is_reported_with_its_line_and_the_rest_is_used() {
        let (given, warnings) = read("book = 'x.bin'\nboook = 1\n\nseed = 'x'\n");
        assert_eq!(given.unwrap().books, ["x.bin"]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("line 2") && warnings[0].contains("boook"), "{warnings:?}");
        assert!(warnings[1].contains("line 4") && warnings[1].contains("a number"), "{warnings:?}");
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_the_right_one() {
        for (text, right) in [
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
            assert!(message.contains("line 2") && message.ends_with(right), "{text}: {message}");
            assert_eq!(error.kind(), ErrorKind::Format);
        }
    }

    #[test]
    fn a_bad_value_about_the_engine_is_an_error() {
        let error = read("engine = 5\n").0.unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        let error = read("book = 'x'\nengine = \n").0.unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn a_bad_option_does_not_affect_the_others() {
        let (given, warnings) = read("[set]\nHash = 1_000\nContempt = 0.5\nMask = 0x10\n\nBad = [1]\n");
        assert_eq!(given.unwrap().set, ["Contempt=0.5", "Hash=1000", "Mask=16"]);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("line 6") && warnings[0].contains("Bad"), "{warnings:?}");
    }
}
