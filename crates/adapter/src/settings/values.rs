//! How the adapter's own UCI options are declared and set, as the table of settings says.

use std::borrow::Cow;

use vampirc_uci::{Serializable, UciMessage, UciOptionConfig};

use tabiya_book::choose::Policy;
use tabiya_uci::SetOption;

use super::books::{BookFiles, BookList};
use super::given::Given;
use super::options::{OptionChange, Options, Value};
use super::table::{self, OWN_BOOK, SettingKind, SettingRow, chosen_openings};

impl Value<'_> {
    /// Sets the value; `None` if the option cannot have that value: it keeps the one it has.
    fn set(&mut self, kind: SettingKind, text: &str) -> Option<()> {
        match self {
            Value::Check(value) => **value = kind.number(&text.to_ascii_lowercase())? != 0,
            Value::Spin(value) | Value::Share(value) => **value = kind.number(text)?,
            Value::Choice(value) => value.set(text)?,
            Value::Openings(value) => **value = chosen_openings(text).ok()?,
            Value::Files(value) => **value = BookList::parse(text),
            Value::Text(value) => text.clone_into(value),
        }
        Some(())
    }
}

impl Options {
    /// Whether the adapter has an option of this name.
    pub(crate) fn is_ours(name: &[u8]) -> bool {
        find_row(&SetOption { name, value: b"" }).is_some()
    }

    /// The names of the adapter's options.
    pub fn names() -> impl Iterator<Item = &'static str> {
        table::options().map(|row| row.name)
    }

    /// Whether the option of this name decides which books play.
    pub(crate) fn names_books(name: &str) -> bool {
        let row = find_row(&SetOption { name: name.as_bytes(), value: b"" });
        row.is_some_and(|row| row.change == OptionChange::Books || row.name == OWN_BOOK)
    }

    /// What to do about a value that leaves open which books play; `None` for any other value or option.
    pub(crate) fn lacks(name: &str, value: &str) -> Option<&'static str> {
        let option = SetOption { name: name.as_bytes(), value: value.as_bytes() };
        let mut options = Self::default();
        let set = Some(name).filter(|name| Self::names_books(name)).and_then(|_| options.set(&option))?;
        match set {
            Err(_) => Some("write true or false"),
            Ok(OptionChange::Books) if options.books == BookFiles::default() => {
                Some("name a book, or <none> for no book")
            }
            Ok(_) => None,
        }
    }

    /// Appends the `option` lines, with the current values as defaults. Files are listed as empty, which means those of
    /// the configuration: a GUI that saves options must not save the paths of today.
    pub(crate) fn declare(&self, out: &mut Vec<u8>) {
        let mut options = self.clone();
        for row in table::options() {
            let (name, value) = (row.name.to_owned(), row.text(&mut options));
            let option = match row.kind {
                SettingKind::Check => UciOptionConfig::Check { name, default: value.parse().ok() },
                SettingKind::Spin { min, max } => UciOptionConfig::Spin {
                    name,
                    default: value.parse().ok(),
                    min: Some(min.into()),
                    max: Some(max.into()),
                },
                SettingKind::Choice { choices } => UciOptionConfig::Combo {
                    name,
                    default: Some(value),
                    var: choices.iter().map(|choice| (*choice).to_owned()).collect(),
                },
                SettingKind::Share => UciOptionConfig::String { name, default: Some(value) },
                SettingKind::Openings if !value.is_empty() => {
                    UciOptionConfig::String { name, default: Some(value) }
                }
                _ => UciOptionConfig::String { name, default: Some("<empty>".to_owned()) },
            };
            out.extend(UciMessage::Option(option).serialize().into_bytes());
            out.push(b'\n');
        }
    }

    /// Sets an option; `None` if the adapter has no option of this name.
    ///
    /// # Errors
    /// When the value is not valid: the message says which values are, and the option keeps its value.
    pub fn set(&mut self, option: &SetOption<'_>) -> Option<Result<OptionChange, String>> {
        let row = find_row(option)?;
        let mut value = row.value(self)?;
        let text = text(option.value);
        let text = text.trim();
        let refused = |kept: Value<'_>| {
            let near = row.kind.meant(text).map(|meant| format!(": {meant}")).unwrap_or_default();
            let kept = Some(kept.to_string()).filter(|kept| !kept.is_empty());
            let kept = kept.unwrap_or_else(|| "empty".to_owned());
            format!("{}: '{text}' is not {}{near}; it stays {kept}", row.name, row.kind.needs())
        };
        Some(value.set(row.kind, text).map(|()| row.change).ok_or_else(|| refused(value)))
    }

    /// Takes what is given for these options by key: several values of one are whole paths of books.
    pub(super) fn take(&mut self, given: &Given) {
        for (key, values) in given.iter() {
            let row = table::options().find(|row| row.key == key);
            match row.and_then(|row| Some((row.kind, row.value(self)?))) {
                Some((_, Value::Files(list))) => {
                    *list = BookList::from_names(values.iter().map(String::as_str));
                }
                Some((kind, mut value)) => values.iter().for_each(|text| _ = value.set(kind, text)),
                None => {}
            }
        }
    }
}

impl Given {
    /// The policy with these values in place of its own.
    #[must_use]
    pub fn over(&self, policy: &Policy) -> Policy {
        let mut options = Options { policy: policy.clone(), ..Options::default() };
        options.take(self);
        options.policy
    }
}

/// The row of an option; `None` if the adapter has no option of this name.
fn find_row(option: &SetOption<'_>) -> Option<&'static SettingRow> {
    table::options().find(|row| option.is(row.name))
}

/// The text of a value: what is not UTF-8 is in the code page of the system on Windows, where old GUIs send file names
/// in it.
fn text(value: &[u8]) -> Cow<'_, str> {
    #[cfg(windows)]
    if std::str::from_utf8(value).is_err()
        && let Some(text) = tabiya_base::windows::from_ansi(value)
    {
        return Cow::Owned(text);
    }
    String::from_utf8_lossy(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &mut Options, line: &str) -> Option<Result<OptionChange, String>> {
        options.set(&SetOption::parse(line.as_bytes()).unwrap())
    }

    #[cfg(windows)]
    #[test]
    fn names_in_the_code_page_of_the_system_are_understood() {
        let mut options = Options::default();
        let value = b"B\xfccher\\Gr\xf6\xdfe.bin";
        let known = tabiya_base::windows::from_ansi(value).unwrap();
        assert!(known.starts_with('B') && known.ends_with(".bin"), "{known}");
        options.set(&SetOption { name: b"Book File", value }).unwrap().unwrap();
        assert_eq!(options.books.both, BookList::parse(&known));
    }

    #[test]
    fn an_option_of_each_kind_is_declared_as_guis_read_it() {
        let mut out = Vec::new();
        Options::default().declare(&mut out);
        let text = String::from_utf8(out).unwrap();
        for line in [
            "option name OwnBook type check default true",
            "option name Book File type string default <empty>",
            "option name Book Variety type spin default 50 min 0 max 100",
            "option name Book Threshold type string default 0.5 %",
            "option name Book Score type combo default zero var zero var statistics",
            "option name Book Seed type spin default 0 min 0 max 2147483647",
        ] {
            assert!(text.lines().any(|said| said == line), "{line}: {text}");
        }
    }

    #[test]
    fn a_share_is_percent_and_thousandths_where_it_has_no_sign() {
        let mut options = Options::default();
        for (value, thousandths) in [("0.5 %", 5), ("2%", 20), ("100 %", 1000), ("7", 7), ("0", 0)] {
            let line = format!("name Book Threshold value {value}");
            assert_eq!(set(&mut options, &line), Some(Ok(OptionChange::Value)), "{value}");
            assert_eq!(options.policy.threshold, thousandths, "{value}");
        }
        for value in ["0.5", "0.55 %", "100.1 %", "1001", "-1 %", "%", "few"] {
            let refused = set(&mut options, &format!("name Book Threshold value {value}"));
            let why = "is not a share from 0 % to 100 %, such as '0.5 %'; it stays 0 %";
            assert_eq!(refused, Some(Err(format!("Book Threshold: '{value}' {why}"))));
        }
    }

    /// The rows of a table that follows a heading, cell by cell, without the line of the columns' names.
    fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
        let rest = page.split_once(heading).unwrap().1;
        let table = rest.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        let table = table.take_while(|line| line.starts_with('|'));
        table.map(|row| row.split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_guide_has_the_options_in_their_order_with_kind_range_and_default() {
        let mut out = Vec::new();
        Options::default().declare(&mut out);
        let mut declared = Vec::new();
        for line in String::from_utf8(out).unwrap().lines() {
            let (name, rest) = line.strip_prefix("option name ").unwrap().split_once(" type ").unwrap();
            let (kind, rest) = rest.split_once(" default ").unwrap();
            let spaced = Some(rest).filter(|_| kind != "string").and_then(|rest| rest.split_once(' '));
            let (default, rest) = spaced.unwrap_or((rest, ""));
            let range = rest.strip_prefix("min ").map(|range| range.replace(" max ", "-"));
            let default = default.strip_prefix("<empty>").unwrap_or(default);
            declared.push((name.to_owned(), kind.to_owned(), range, default.to_owned()));
            let values: Vec<_> =
                rest.split("var ").skip(1).map(|value| format!("`{}`", value.trim())).collect();
            let meant = include_str!("../../../../docs/guide/options.md").lines().find(|row| {
                row.starts_with(&format!("| {name} |")) && values.iter().all(|value| row.contains(value))
            });
            assert!(kind != "combo" || values.len() > 1 && meant.is_some(), "{line}");
        }
        let mut shown = Vec::new();
        for cells in rows(include_str!("../../../../docs/guide/options.md"), "\n## UCI options\n") {
            let [_, names, kind, default, ..] = cells[..] else { panic!("{cells:?}") };
            let (kind, range) =
                kind.split_once(' ').map_or((kind, None), |(kind, range)| (kind, Some(range)));
            for name in names.split(" / ") {
                shown.push((name.to_owned(), kind.to_owned(), range.map(str::to_owned), default.to_owned()));
            }
        }
        let missing: Vec<_> = declared.iter().filter(|option| !shown.contains(option)).collect();
        assert!(missing.is_empty(), "docs/guide/options.md has no such rows: {missing:?}");
        assert_eq!(shown, declared);
        let named = include_str!("../../../../README.md").split('*').filter(|text| text.starts_with("Book "));
        let unknown: Vec<_> =
            named.clone().filter(|name| !declared.iter().any(|(known, ..)| known == name)).collect();
        assert!(named.count() > 3 && unknown.is_empty(), "README.md names no such options: {unknown:?}");
    }

    #[test]
    fn the_guide_has_each_key_of_a_rule_with_its_range_and_its_option() {
        let shown = rows(include_str!("../../../../docs/guide/options.md"), "\n### A policy for each book\n");
        for row in table::by_book() {
            let range = match row.kind {
                SettingKind::Spin { min, max } => format!(" ({min}-{max})"),
                SettingKind::Check => " (true or false)".to_owned(),
                _ => String::new(),
            };
            let cells = shown.iter().find(|cells| cells[1] == format!("`{}`{range}", row.key));
            let cells = cells.unwrap_or_else(|| {
                panic!("docs/guide/options.md has no row | `{}`{range} | for [[book]]", row.key)
            });
            let option = format!("*{}*", row.name);
            let names_it = cells[2].starts_with(&format!("as {option}")) && cells[3].is_empty();
            assert_eq!(names_it, !row.name.is_empty(), "{cells:?}");
        }
        assert_eq!(shown.len(), table::by_book().count());
    }

    #[test]
    fn python_has_each_option_of_a_policy_with_its_kind_and_default() {
        let class = include_str!("../../../../python/src/policy.rs");
        let types = include_str!("../../../../python/tabiya/_tabiya.pyi");
        let guide = include_str!("../../../../docs/guide/python.md");
        let flat = |text: &str| text.replace("///", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let (class, types) = (flat(class), flat(types));
        for row in table::shown() {
            let name = row.key.replace('-', "_");
            let (kind, default) = match row.kind {
                SettingKind::Check => {
                    ("bool".to_owned(), if row.default() == "true" { "True" } else { "False" }.to_owned())
                }
                SettingKind::Share => ("float".to_owned(), row.default().replace(" %", "")),
                SettingKind::Choice { choices } => {
                    let choices: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
                    (format!("Literal[{}]", choices.join(", ")), format!("{:?}", row.default()))
                }
                SettingKind::Openings => ("str".to_owned(), format!("{:?}", row.default())),
                _ => ("int".to_owned(), row.default()),
            };
            let missing = |place: &str| panic!("{place} has no {name} with the default {default}");
            if !class.contains(&format!(", {name} = {}", default.to_lowercase()))
                || !class.contains(&format!("*{name}* ("))
            {
                missing("python/src/policy.rs");
            }
            if !types.contains(&format!(" {name}: {kind} = {default},"))
                || !types.contains(&format!("*{name}* ("))
            {
                missing("python/tabiya/_tabiya.pyi");
            }
            assert!(guide.contains(&format!("`{name}`")), "docs/guide/python.md does not name {name}");
        }
    }

    #[test]
    fn the_guide_has_each_argument_with_its_value_and_default() {
        let page = include_str!("../../../../docs/guide/options.md");
        let shown = rows(page, "\nEach key is also an argument");
        for row in table::start() {
            let argument = match row.value_name {
                "" => format!("`--{}`", row.key),
                "NAME=VALUE" => format!("`--{} \"NAME=VALUE\"`", row.key),
                value => format!("`--{} {value}`", row.key),
            };
            let cells = shown.iter().find(|cells| cells[1].contains(&argument));
            let cells = cells.unwrap_or_else(|| panic!("docs/guide/options.md has no row | {argument} |"));
            let number = row.default().parse::<u32>().is_ok_and(|number| cells[3] != number.to_string());
            assert!(!number, "{cells:?}");
        }
    }

    #[test]
    fn files_are_listed_as_empty_and_other_options_as_set() {
        let mut options = Options::default();
        for line in [
            "name Book File value a.bin",
            "name Book White value <none>",
            "name Book Log value l",
            "name Book Depth value 9",
            "name Book Score value statistics",
        ] {
            assert!(set(&mut options, line).unwrap().is_ok());
        }
        let mut out = Vec::new();
        options.declare(&mut out);
        let text = String::from_utf8(out).unwrap();
        for line in [
            "option name Book File type string default <empty>",
            "option name Book White type string default <empty>",
            "option name Book Log type string default <empty>",
            "option name Book Depth type spin default 9 min 0 max 1000",
            "option name Book Score type combo default statistics var zero var statistics",
        ] {
            assert!(text.lines().any(|said| said == line), "{line}: {text}");
        }
    }

    #[test]
    fn no_name_contains_a_keyword_of_the_syntax() {
        for name in Options::names() {
            for word in name.split(' ') {
                let reserved = ["name", "type", "default", "min", "max", "var", "value"];
                assert!(!reserved.contains(&word), "{name}");
            }
        }
    }

    #[test]
    fn names_are_recognised_in_any_letter_case() {
        let mut options = Options::default();
        assert_eq!(set(&mut options, "name BOOK  variety value 7"), Some(Ok(OptionChange::Value)));
        assert_eq!(options.policy.variety, 7);
        assert_eq!(set(&mut options, "name ownbook value FALSE"), Some(Ok(OptionChange::Value)));
        assert!(!options.own_book);
        assert_eq!(set(&mut options, "name Book File value a.bin;b.bin"), Some(Ok(OptionChange::Books)));
        assert_eq!(options.books.both, BookList::Files(vec!["a.bin".to_owned(), "b.bin".to_owned()]));
        assert_eq!(set(&mut options, "name Book File value <empty>"), Some(Ok(OptionChange::Books)));
        assert_eq!(options.books.both, BookList::Unnamed);
        assert_eq!(set(&mut options, "name book score value STATISTICS"), Some(Ok(OptionChange::Value)));
        assert_eq!(options.score, crate::settings::options::BookScore::Statistics);
        assert_eq!(set(&mut options, "name Hash value 64"), None);
    }

    #[test]
    fn a_value_out_of_range_is_refused() {
        let mut options = Options::default();
        for line in [
            "name Book Variety value 101",
            "name Book Variety value -1",
            "name Book Variety value x",
            "name Book Variety",
            "name Book Ponder value 1",
            "name Book Score value chances",
            "name Book Score",
            "name Book Seed value 99999999999999999999",
        ] {
            assert!(matches!(set(&mut options, line), Some(Err(_))), "{line}");
        }
        assert_eq!(options, Options::default());
    }
}
