//! What the user answers to a question about a file.

use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};

/// The item of a list that an answer names by its number, from 1, or else what `named` makes of it. `least` is the least number
/// that can be answered.
///
/// # Errors
/// When a number is not in the list; those of `named`.
pub(super) fn pick(
    answer: &str,
    list: &[PathBuf],
    least: usize,
    named: impl Fn(&str) -> Result<PathBuf>,
) -> Result<PathBuf> {
    let number = answer.parse::<usize>().ok();
    if let Some(item) = number.and_then(|number| list.get(number.checked_sub(1)?)) {
        return Ok(item.clone());
    }
    if number.is_some() && !Path::new(answer).exists() {
        let numbers: Vec<String> = (least..=list.len()).map(|number| number.to_string()).collect();
        let numbers = match numbers.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}, or a path", rest.join(", ")),
            Some((only, _)) => format!("{only}, or a path"),
            None => "a path".to_owned(),
        };
        return Err(Error::new(ErrorKind::Usage, format!("there is no number {answer} in the list"))
            .advice(format!("type {numbers}")));
    }
    named(&dragged(answer))
}

/// The path of a file that was dragged into a terminal, which puts it in quotes, or `\` before its spaces.
fn dragged(answer: &str) -> String {
    let answer = answer.strip_prefix("& ").unwrap_or(answer).trim();
    let quoted = ['\'', '"'].iter().find_map(|mark| answer.strip_prefix(*mark)?.strip_suffix(*mark));
    match quoted {
        Some(path) => path.to_owned(),
        None if cfg!(unix) && !Path::new(answer).exists() => {
            let mut letters = answer.chars();
            let next = || {
                letters
                    .next()
                    .map(|letter| if letter == '\\' { letters.next().unwrap_or(letter) } else { letter })
            };
            std::iter::from_fn(next).collect()
        }
        None => answer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_an_item_of_the_list() {
        let (one, two) = ([PathBuf::from("a")], [PathBuf::from("a"), PathBuf::from("b")]);
        let named = |name: &str| Ok(PathBuf::from(format!("named {name}")));
        let picked = |answer: &str, list: &[PathBuf], least| {
            pick(answer, list, least, named).map_err(|error| error.to_string())
        };
        assert_eq!(picked("2", &two, 1), Ok("b".into()));
        for (answer, list, least, advice) in [
            ("3", &two[..], 1, "type 1 or 2, or a path"),
            ("0", &two, 1, "type 1 or 2, or a path"),
            ("3", &two, 0, "type 0, 1 or 2, or a path"),
            ("2", &one, 1, "type 1, or a path"),
            ("1", &[], 1, "type a path"),
        ] {
            let error = picked(answer, list, least).unwrap_err();
            assert!(error.contains(&format!("no number {answer} ")) && error.ends_with(advice), "{error}");
        }
        for (answer, name) in
            [("a", "a"), ("-1", "-1"), ("'a b'", "a b"), ("\"a b\"", "a b"), ("& 'a b'", "a b")]
        {
            assert_eq!(picked(answer, &two, 1), Ok(format!("named {name}").into()));
        }
        let escaped = if cfg!(unix) { "a b\\" } else { "a\\ b\\\\" };
        assert_eq!(dragged("a\\ b\\\\"), escaped);
    }
}
