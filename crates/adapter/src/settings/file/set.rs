//! The table `[set]`: options of the engine and of tabiya.

use toml::de::{DeTable, DeValue};

use super::{CONTROL, QUOTES, Wrong, has_control, in_order, integer};
use crate::settings::options::Options;
use crate::settings::spelling::Meant;
use crate::settings::split;

/// Reads the options in the form of the command line. What it cannot use is passed to `ignore` with its offset.
///
/// # Errors
/// When a name is that of a key outside the table, or nearly that of an option of tabiya, and when a value cannot say which
/// books play.
pub(super) fn read(table: &DeTable<'_>, ignore: &mut dyn FnMut(usize, String)) -> Result<Vec<String>, Wrong> {
    let mut set = Vec::new();
    for (key, value) in in_order(table) {
        let (name, offset) = (key.get_ref().as_ref(), key.span().start);
        check_name(name, offset)?;
        let (what, advice) = if has_control(value.get_ref()) {
            (format!("set: '{name}' {CONTROL}"), Some(QUOTES.to_owned()))
        } else if let Some(text) = assignment(name, value.get_ref()) {
            check(&text, offset)?;
            set.push(text);
            continue;
        } else {
            (format!("set: '{name}' must be a string, a number, true or false"), None)
        };
        if Options::names_books(name) {
            return Err(Wrong { offset, what, advice });
        }
        ignore(offset, what);
    }
    Ok(set)
}

/// Checks a `NAME=VALUE`.
///
/// # Errors
/// As [`read`].
pub(super) fn check(text: &str, offset: usize) -> Result<(), Wrong> {
    let Some((name, value)) = split(text) else { return Ok(()) };
    check_name(name, offset)?;
    let wrong = |needed: &str| {
        let what = format!("set: '{name}' does not say which books play");
        Err(Wrong { offset, what, advice: Some(needed.to_owned()) })
    };
    Options::lacks(name, value).map_or(Ok(()), wrong)
}

fn check_name(name: &str, offset: usize) -> Result<(), Wrong> {
    let advice = match Meant::by(name) {
        None => return Ok(()),
        Some(Meant::Key(key)) => format!("write '{key}' before the first table"),
        Some(Meant::Option(option)) => format!("write \"{option}\""),
    };
    Err(Wrong { offset, what: format!("set: '{name}' is not an option"), advice: Some(advice) })
}

/// An option of a table, in the form of the command line.
fn assignment(name: &str, value: &DeValue<'_>) -> Option<String> {
    let text = match value {
        DeValue::String(text) => text.to_string(),
        // In decimal digits, which is what engines read.
        DeValue::Integer(_) => integer(value)?.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        _ => return None,
    };
    Some(format!("{name}={text}"))
}
