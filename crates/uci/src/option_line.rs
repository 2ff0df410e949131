//! The `option` line of an engine: what it offers, and the line with another default.

use std::ops::Range;

use super::{option_name, same_name, words};

/// The option with which GUIs choose a variant of chess.
pub const VARIANT: &str = "UCI_Variant";

/// The variants that an engine offers in a line; none if the line is not that of the option [`VARIANT`].
///
/// ```
/// use tabiya_uci::offered_variants;
/// let line = "option name UCI_Variant type combo default chess var atomic var chess";
/// assert_eq!(offered_variants(line).collect::<Vec<_>>(), ["atomic", "chess"]);
/// ```
pub fn offered_variants(line: &str) -> impl Iterator<Item = &str> {
    let is_variant = same_name(&option_name(line.as_bytes()), VARIANT.as_bytes());
    let values = line.split(" var ").skip(1).map(str::trim);
    values.filter(move |value| is_variant && !value.is_empty())
}

/// The line with this value as its default; `None` where the option cannot have the value, or is a button.
///
/// The rest of the line stays unchanged. The value is checked as far as the line limits it.
///
/// ```
/// use tabiya_uci::option_with_default;
/// let line = b"option name Hash type spin default 16 min 1 max 1024\n";
/// let said = option_with_default(line, b"256").unwrap();
/// assert_eq!(said, b"option name Hash type spin default 256 min 1 max 1024\n");
/// assert_eq!(option_with_default(line, b"4096"), None);
/// ```
pub fn option_with_default(line: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let text = line.trim_ascii_end();
    let mut places = words(text).map(|word| place(text, word));
    // What comes before it is the name, which may hold the same words.
    places.by_ref().find(|at| text.get(at.clone()) == Some(b"type"))?;
    let kind = places.next()?;
    let rest: Vec<(Range<usize>, &[u8])> =
        places.filter_map(|at| Some((at.clone(), text.get(at)?))).collect();
    let number = |after: &[u8]| {
        let at = rest.iter().position(|(_, word)| *word == after)?;
        std::str::from_utf8(rest.get(at + 1)?.1).ok()?.parse::<i64>().ok()
    };
    let value = value.trim_ascii();
    // The value, and the word before which the old one ends.
    let (value, next): (Vec<u8>, &[&[u8]]) = match text.get(kind.clone())? {
        b"spin" => {
            let value: i64 = std::str::from_utf8(value).ok()?.parse().ok()?;
            let fits = number(b"min").is_none_or(|min| value >= min)
                && number(b"max").is_none_or(|max| value <= max);
            (fits.then(|| value.to_string().into_bytes())?, &[b"min", b"max"])
        }
        b"check" => {
            let truth = [&b"true"[..], b"false"].into_iter().find(|word| word.eq_ignore_ascii_case(value))?;
            (truth.to_vec(), &[])
        }
        b"combo" => {
            let mut choices = rest.split(|(_, word)| [&b"var"[..], b"default"].contains(word));
            let choice = choices.find_map(|choice| {
                let choice = choice.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(&b' ');
                (!choice.is_empty() && same_name(&choice, value)).then_some(choice)
            })?;
            (choice, &[b"var"])
        }
        b"string" if value.is_empty() => (b"<empty>".to_vec(), &[]),
        b"string" if !value.contains(&b'\n') && !value.contains(&b'\r') => (value.to_vec(), &[]),
        _ => return None,
    };
    let mut after_default = rest.iter().skip_while(|(_, word)| *word != b"default");
    let (word, start, end) = match after_default.next() {
        Some((at, _)) => {
            let next = after_default.find(|(_, word)| next.contains(word));
            (&b" "[..], at.end, next.map_or(text.len(), |(at, _)| at.start - 1))
        }
        None => (&b" default "[..], kind.end, kind.end),
    };
    Some([line.get(..start)?, word, &value, line.get(end..)?].concat())
}

/// Where a word of the text is in it.
fn place(text: &[u8], word: &[u8]) -> Range<usize> {
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    start..start + word.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(line: &str, value: &str) -> Option<String> {
        let line = option_with_default(line.as_bytes(), value.as_bytes())?;
        Some(String::from_utf8(line).unwrap())
    }

    #[test]
    fn a_default_is_replaced_and_the_rest_stays() {
        for (line, value, expected) in [
            (
                "option name Hash type spin default 16 min 1 max 99\n",
                "64",
                "option name Hash type spin default 64 min 1 max 99\n",
            ),
            (
                "option name Hash type spin min 1 max 99 default 16\r\n",
                " 7 ",
                "option name Hash type spin min 1 max 99 default 7\r\n",
            ),
            (
                "option name A type  spin  min -5  max 5\n",
                "-3",
                "option name A type  spin default -3  min -5  max 5\n",
            ),
            ("option name type name  x type check default false", "TRUE", ""),
            (
                "option name Ponder type check default false\n",
                "TRUE",
                "option name Ponder type check default true\n",
            ),
            (
                "option name Style type combo default Normal var Solid var Very Risky var Normal\n",
                "very risky",
                "option name Style type combo default Very Risky var Solid var Very Risky var Normal\n",
            ),
            (
                "option name Style type combo var a var b default a\n",
                "b",
                "option name Style type combo var a var b default b\n",
            ),
            (
                "option name File type string default a b  min c\n",
                "C:\\x  y",
                "option name File type string default C:\\x  y\n",
            ),
            ("option name File type string default\n", "x", "option name File type string default x\n"),
            ("option name File type string\r\n", "x", "option name File type string default x\r\n"),
            (
                "option name File type string default x\n",
                "",
                "option name File type string default <empty>\n",
            ),
            ("option name default type spin default 1", "2", "option name default type spin default 2"),
        ] {
            let expected = (!expected.is_empty()).then(|| expected.to_owned());
            assert_eq!(said(line, value), expected, "{line:?} {value:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_declared_nothing_panics_and_the_beginning_stays(
            words in prop::collection::vec("name|type|spin|check|combo|string|default|min|max|var|true|[0-9a-z ]{0,4}|\\PC", 0..12),
            end in "\n|\r\n| ?",
            value in "[0-9]{0,3}|true|[a-z ]{0,4}|\\PC{0,4}",
        ) {
            let line = format!("option {}{end}", words.join(" "));
            if let Some(said) = option_with_default(line.as_bytes(), value.as_bytes()) {
                let at = line.find(" type ").unwrap();
                prop_assert!(said.starts_with(&line.as_bytes()[..at]));
                prop_assert_eq!(said.ends_with(b"\n"), line.ends_with('\n'));
                prop_assert_eq!(said.iter().filter(|byte| **byte == b'\n').count(), line.matches('\n').count());
            }
        }
    }

    #[test]
    fn a_value_that_the_option_cannot_have_is_not_announced() {
        for (line, value) in [
            ("option name Hash type spin default 16 min 1 max 99\n", "100"),
            ("option name Hash type spin default 16 min 1 max 99\n", "0"),
            ("option name Hash type spin default 16 min 1 max 99\n", "many"),
            ("option name Hash type spin default 16 min 1 max 99\n", ""),
            ("option name Ponder type check default false\n", "1"),
            ("option name Style type combo default a var a var b\n", "c"),
            ("option name Style type combo default a var a var b\n", ""),
            ("option name Clear type button\n", "x"),
            ("option name File type string default x\n", "a\nquit"),
            ("option name File\n", "x"),
            ("option\n", "x"),
            ("option name File type\n", "x"),
        ] {
            assert_eq!(said(line, value), None, "{line:?} {value:?}");
        }
    }
}
