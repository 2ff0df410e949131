//! What to do about a text that is not TOML: the mistakes of people who do not know it.

use toml::de::DeTable;

use super::{QUOTES, REPAIR};
use crate::settings::table;

/// What to do about a list `book` and tables `[[book]]` in one file.
pub(super) const TWICE: &str = "name the books either in book = [...] or in [[book]] tables";

/// What to do about the mistake at this offset, of which the parser says `what`.
pub(super) fn advice(text: &str, offset: usize, what: &str) -> String {
    let line = line_at(text, offset);
    if names_books_twice(text, offset) {
        TWICE.to_owned()
    } else if REMARKS.iter().any(|start| line.trim_start().starts_with(start)) {
        "begin remarks with #".to_owned()
    } else if line.split_once('"').is_some_and(|(_, quoted)| quoted.contains('\\')) {
        // As a path of Windows has it.
        QUOTES.to_owned()
    } else if DeTable::parse(line).is_ok_and(|table| !table.get_ref().is_empty()) {
        // Alone it is right.
        match what.contains(" array") {
            true => closed(text, offset),
            false => "remove it, or the line before that sets the same".to_owned(),
        }
    } else {
        corrected(line).or_else(|| in_list(line, what)).unwrap_or_else(|| REPAIR.to_owned())
    }
}

/// How remarks begin elsewhere.
const REMARKS: [&str; 4] = ["//", ";", "/*", "--"];

/// What to do about a list that is not closed before the line at this offset.
fn closed(text: &str, offset: usize) -> String {
    let before = text.get(..offset).and_then(|before| before.rsplit_once('\n'));
    let mut lines = before.map(|(lines, _)| lines).unwrap_or_default().lines().rev();
    let opening = lines.find(|line| line.contains('[') && !line.contains(']'));
    opening.and_then(corrected).unwrap_or_else(|| "close the list before it with ]".to_owned())
}

/// What to do about a line of a list that has several.
fn in_list(line: &str, what: &str) -> Option<String> {
    if what.contains("unclosed array") {
        return Some("close the list with ]".to_owned());
    }
    what.contains("missing comma").then(|| format!("write a comma before {}", line.trim()))
}

/// What to do about a table where text belongs, as in `[engine]`.
pub(super) fn of_table(name: &str, table: &DeTable<'_>) -> String {
    let text = table.iter().find_map(|(_, value)| value.get_ref().as_str());
    let right = text.map_or_else(|| format!("{name} = '...'"), |text| format!("{name} = {}", quoted(text)));
    format!("write {right} before the first table, in place of [{name}] and what is below it")
}

/// The line in which this offset is.
fn line_at(text: &str, offset: usize) -> &str {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = offset + after.find('\n').unwrap_or(after.len());
    text.get(start..end).unwrap_or_default()
}

/// Whether the error at this offset is a second `book` beside a table `[[book]]`.
fn names_books_twice(text: &str, offset: usize) -> bool {
    let at = text.get(offset..).unwrap_or_default().trim_start_matches(['[', ' ']);
    let after = at.strip_prefix("book").and_then(|after| after.trim_start_matches(' ').chars().next());
    matches!(after, Some('=' | ']')) && text.lines().any(|line| line.trim_start().starts_with("[[book]]"))
}

/// What to write in place of a line `NAME = VALUE`; `None` where that is not known. What is advised can be read.
fn corrected(line: &str) -> Option<String> {
    let is_toml = |text: &str| DeTable::parse(text).is_ok();
    let header = line.trim_end().trim_end_matches(']');
    if line.trim_start().starts_with('[') && !line.contains('=') {
        let closed = format!("{header}{}", if header.trim_start().starts_with("[[") { "]]" } else { "]" });
        return is_toml(&closed).then(|| format!("write {closed}"));
    }
    let (name, value) = parted(line)?;
    let (before, value) = (value, without_remark(value));
    let (name, place) = match name.strip_prefix("set ") {
        Some(option) => (option.trim(), " below a line [set]"),
        None => (name, ""),
    };
    let key = if is_toml(&format!("{name} = 1")) { name.to_owned() } else { format!("\"{name}\"") };
    let is_right = is_toml(&format!("x = {value}"));
    let value = if is_right { Written::plain(value.to_owned()) } else { written(&key, value)? };
    let remark = match (is_right, before.split_once(" #")) {
        (true, Some((_, remark))) => format!(" #{remark}"),
        _ => String::new(),
    };
    let right = format!("{key} = {}{remark}", value.text);
    if name.is_empty() || value.text.is_empty() || !is_toml(&right) {
        return None;
    }
    // As it was, but for its value.
    let is_named_so = line.trim_start().starts_with(&key) && line.contains('=') && place.is_empty();
    Some(match value.text.as_str() {
        "true" | "false" if is_named_so => format!("write {}", value.text),
        _ if is_named_so && !value.is_quoted => format!("put text in 'single quotes': {right}"),
        _ => format!("write {right}{place}"),
    })
}

/// The name and the value of a line: `NAME = VALUE`, or as YAML, JSON and other files have it.
fn parted(line: &str) -> Option<(&str, &str)> {
    let plain = line.trim().trim_start_matches(['{', ' ']);
    let plain = plain.strip_prefix("- ").unwrap_or(plain);
    let (equals, colon) = (plain.find('='), plain.find(':'));
    let at = match (equals, colon) {
        (Some(equals), Some(colon)) => Some(equals.min(colon)),
        (equals, colon) => equals.or(colon),
    };
    if let Some(at) = at {
        let (name, value) = (plain.get(..at)?, plain.get(at + 1..)?);
        return Some((name.trim().trim_matches(MARKS).trim(), value.trim()));
    }
    let (name, value) = plain.split_once(char::is_whitespace)?;
    table::keys().any(|key| key == name).then(|| (name, value.trim()))
}

/// A value without the remark after it, which begins with `#`, or as elsewhere.
fn without_remark(value: &str) -> &str {
    let mut mark = None;
    for (at, letter) in value.char_indices() {
        let rest = value.get(at..).unwrap_or_default();
        match mark {
            Some(end) => mark = mark.filter(|_| letter != end),
            None if letter == '"' || letter == '\'' => mark = Some(letter),
            None if rest.starts_with(" #") || rest.starts_with(" //") => {
                return value.get(..at).unwrap_or(value).trim();
            }
            None => {}
        }
    }
    value.split(" #").next().unwrap_or_default().trim()
}

/// The quotation marks of all kinds that text programs make of straight ones.
const MARKS: [char; 9] = ['\'', '"', '“', '”', '„', '‘', '’', '«', '»'];

/// A value as TOML has it.
struct Written {
    text: String,
    /// Whether its texts were in straight quotation marks.
    is_quoted: bool,
}

impl Written {
    fn plain(text: String) -> Self {
        Self { text, is_quoted: true }
    }
}

/// A value as TOML has it: `true`, `false`, text in quotes, or a list of these, if that is what it can mean for this key.
fn written(key: &str, value: &str) -> Option<Written> {
    let value = value.trim_end_matches([',', ';', ' ', '}']);
    let truth = value.to_lowercase();
    if truth == "true" || truth == "false" {
        return Some(Written::plain(truth));
    }
    let opened = value.trim_start_matches(['[', '(', '{']);
    let (items, is_quoted) = items(opened.trim_end_matches([']', ')', '}']));
    let takes_list = table::start().find(|row| row.key == key).is_none_or(|row| row.kind.is_list());
    let is_list = opened.len() < value.len() || items.len() > 1 && (takes_list || is_quoted);
    let all: Vec<String> = items.iter().map(|item| self::value(item)).collect();
    Some(match all.as_slice() {
        [] => return None,
        [first, ..] if is_list && !takes_list => Written { text: first.clone(), is_quoted },
        _ if is_list && takes_list => Written { text: format!("[{}]", all.join(", ")), is_quoted },
        [one] if is_quoted => Written { text: one.clone(), is_quoted },
        _ => Written { text: self::value(value), is_quoted: false },
    })
}

/// The parts of a list, and whether each is in straight quotation marks: what is not ends at a comma or a semicolon.
fn items(list: &str) -> (Vec<&str>, bool) {
    let (mut items, mut is_quoted) = (Vec::new(), true);
    let mut rest = list.trim();
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let is_mark = first == '"' || first == '\'';
        let (item, next) = match after.split_once(first) {
            Some((item, next)) if is_mark => (item, next),
            _ => {
                is_quoted = false;
                rest.split_once([',', ';']).unwrap_or((rest, ""))
            }
        };
        items.extend(Some(item.trim()).filter(|item| !item.is_empty()));
        rest = next.trim_start_matches([',', ';', ' ', '\t']);
    }
    (items, is_quoted)
}

/// One value as TOML has it: `true`, `false`, or text in quotes.
fn value(written: &str) -> String {
    let truth = written.to_lowercase();
    if truth == "true" || truth == "false" {
        return truth;
    }
    match written.trim_matches(MARKS) {
        "" => String::new(),
        text => quoted(text),
    }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    if text.contains('\'') { toml::Value::from(text).to_string() } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_several_lines_is_corrected() {
        for (text, right) in [
            ("book = [\n'a.bin'\n'b.bin'\n]\n", "write a comma before 'b.bin'"),
            ("book = [\n'a.bin',\nseed = 3\n", "close the list before it with ]"),
            ("book = [\n'a.bin',\n", "close the list with ]"),
        ] {
            let error = DeTable::parse(text).unwrap_err();
            let advice = advice(text, error.span().unwrap().start, error.message());
            assert_eq!(advice, right, "{text}: {error}");
        }
    }

    #[test]
    fn a_line_as_players_write_it_is_corrected() {
        for (line, right) in [
            (
                r"engine = C:\Engines\sf 17.exe",
                r"put text in 'single quotes': engine = 'C:\Engines\sf 17.exe'",
            ),
            (
                "engine = /usr/games/stockfish # mine",
                "put text in 'single quotes': engine = '/usr/games/stockfish'",
            ),
            ("book=book.bin", "put text in 'single quotes': book = 'book.bin'"),
            ("book = [a.bin, 'b.bin']", "put text in 'single quotes': book = ['a.bin', 'b.bin']"),
            ("engine = “C:\\sf.exe”", "put text in 'single quotes': engine = 'C:\\sf.exe'"),
            ("engine = 'sf", "put text in 'single quotes': engine = 'sf'"),
            ("name = it's mine", "put text in 'single quotes': name = \"it's mine\""),
            ("Book Variety = 30", "write \"Book Variety\" = 30"),
            ("  Book Learn = True", "write \"Book Learn\" = true"),
            ("Skill Level (0-20) = 5 # low", "write \"Skill Level (0-20)\" = 5 # low"),
            ("Book File = a.bin", "write \"Book File\" = 'a.bin'"),
            ("OwnBook = False", "write false"),
            ("book-optional = TRUE # for now", "write true"),
            ("engine =", REPAIR),
            ("= 3", REPAIR),
            ("[set", "write [set]"),
            ("[[book", "write [[book]]"),
            ("[variant.atomic", "write [variant.atomic]"),
            // As other files have it.
            ("book = [\"book.bin\"", "write book = ['book.bin']"),
            ("book = \"a.bin\", \"b.bin\"", "write book = ['a.bin', 'b.bin']"),
            ("book = \"a.bin\";\"b.bin\"", "write book = ['a.bin', 'b.bin']"),
            ("book = ['a.bin' 'b.bin']", "write book = ['a.bin', 'b.bin']"),
            ("book = a.bin; b.bin", "put text in 'single quotes': book = ['a.bin', 'b.bin']"),
            ("book = (\"b.bin\")", "write book = ['b.bin']"),
            ("book = {b.bin}", "put text in 'single quotes': book = ['b.bin']"),
            ("engine = [stockfish", "put text in 'single quotes': engine = 'stockfish'"),
            ("engine = \"sf\";", "write engine = 'sf'"),
            ("engine = 'sf' // the best", "write engine = 'sf'"),
            ("engine: stockfish", "write engine = 'stockfish'"),
            ("engine: C:\\sf 17.exe", "write engine = 'C:\\sf 17.exe'"),
            ("- book: book.bin", "write book = 'book.bin'"),
            ("{\"engine\": \"stockfish\"}", "write engine = 'stockfish'"),
            ("\"book-optional\": True,", "write book-optional = true"),
            ("engine stockfish", "write engine = 'stockfish'"),
            ("Book Variety: 30", "write \"Book Variety\" = 30"),
            ("set Hash = 64", "write Hash = 64 below a line [set]"),
            ("// mine", "begin remarks with #"),
            ("; mine", "begin remarks with #"),
            ("a\"b = 3", REPAIR),
        ] {
            for text in [line.to_owned(), format!("log = 'l'\n{line}\nseed = 3\n"), format!("{line}\r\n")] {
                let error = DeTable::parse(&text).unwrap_err();
                let advice = advice(&text, error.span().unwrap().start, error.message());
                assert_eq!(advice, right, "{text}");
            }
        }
    }
}
