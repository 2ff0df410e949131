//! What to do about a text that is not TOML: the mistakes of people who do not know it.

use toml::de::DeTable;

use super::{QUOTES, REPAIR};

/// What to do about a list `book` and tables `[[book]]` in one file.
pub(super) const TWICE: &str = "name the books either in book = [...] or in [[book]] tables";

/// What to do about the mistake at this offset.
pub(super) fn advice(text: &str, offset: usize) -> String {
    let line = line_at(text, offset);
    if names_books_twice(text, offset) {
        TWICE.to_owned()
    } else if line.split_once('"').is_some_and(|(_, quoted)| quoted.contains('\\')) {
        // As a path of Windows has it.
        QUOTES.to_owned()
    } else if DeTable::parse(line).is_ok_and(|table| !table.get_ref().is_empty()) {
        // Alone it is right.
        "remove it, or the line before that sets the same".to_owned()
    } else {
        corrected(line).unwrap_or_else(|| REPAIR.to_owned())
    }
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

/// What to write in place of a line `NAME = VALUE`; `None` where that is not known.
fn corrected(line: &str) -> Option<String> {
    let is_toml = |text: &str| DeTable::parse(text).is_ok();
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let key = if is_toml(&format!("{name} = 1")) { name.to_owned() } else { format!("\"{name}\"") };
    let value = if is_toml(&format!("x = {value}")) { value.to_owned() } else { self::value(value) };
    let right = format!("{key} = {value}");
    if name.is_empty() || value.is_empty() || !is_toml(&right) {
        return None;
    }
    Some(match value.as_str() {
        "true" | "false" if key == name => format!("write {value}"),
        _ if key == name => format!("put text in 'single quotes': {right}"),
        _ => format!("write {right}"),
    })
}

/// The quotation marks of all kinds that text programs make of straight ones.
const MARKS: [char; 9] = ['\'', '"', '“', '”', '„', '‘', '’', '«', '»'];

/// A value as TOML has it: `true`, `false`, text in quotes, or a list of these.
fn value(written: &str) -> String {
    let written = written.split(" #").next().unwrap_or_default().trim();
    let truth = written.to_lowercase();
    if truth == "true" || truth == "false" {
        return truth;
    }
    if let Some(list) = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items: Vec<String> = list.split(',').map(value).collect();
        return format!("[{}]", items.join(", "));
    }
    let text = written.trim_matches(MARKS);
    match text {
        "" => String::new(),
        text if text.contains('\'') => toml::Value::from(text).to_string(),
        text => format!("'{text}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[set", REPAIR),
            ("a\"b = 3", REPAIR),
        ] {
            for text in [line.to_owned(), format!("log = 'l'\n{line}\nseed = 3\n"), format!("{line}\r\n")] {
                let error = DeTable::parse(&text).unwrap_err();
                assert_eq!(advice(&text, error.span().unwrap().start), right, "{text}");
            }
        }
    }
}
