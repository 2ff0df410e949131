//! The `[[book]]` tables of the configuration file.

use std::fmt;

use toml::de::{DeTable, DeValue};

use super::{CONTROL, QUOTES, Wrong, has_control, in_order, texts};
use crate::settings::books::NO_BOOK;
use crate::settings::rules::Rule;
use crate::settings::spelling;
use crate::settings::table::{self, SettingRow};

/// The book and all that the rule sets, in the words of the file.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for SettingRow { key, .. } in table::by_book() {
            self.given.text(key).map_or(Ok(()), |value| write!(f, ", {key} {value}"))?;
        }
        Ok(())
    }
}

/// The names of all keys.
fn keys() -> impl Iterator<Item = &'static str> {
    table::by_book().map(|row| row.key)
}

/// Reads the table of a rule; `number` is its place among them, from 1, and `start` the offset at which it begins.
///
/// # Errors
/// When a key is unknown, a value has the wrong type or is out of its range, or there is no file.
pub(super) fn read(number: usize, table: &DeTable<'_>, start: usize) -> Result<Rule, Wrong> {
    let mut rule = Rule::default();
    for (key, value) in in_order(table) {
        let (name, value) = (key.get_ref().as_ref(), value.get_ref());
        let wrong = |what: &str, advice: Option<String>| Wrong {
            offset: key.span().start,
            what: format!("[[book]] table {number}: {what}"),
            advice,
        };
        let must = |needed: &str| wrong(&format!("'{name}' must be {needed}"), None);
        if has_control(value) {
            return Err(wrong(&format!("'{name}' {CONTROL}"), Some(QUOTES.to_owned())));
        }
        let Some(row) = table::by_book().find(|row| row.key == name) else {
            return Err(wrong(&format!("unknown key '{name}'"), Some(advice(name))));
        };
        if name == "file" {
            let file = value.as_str().map(str::trim);
            let file = file.filter(|file| !file.is_empty() && !file.eq_ignore_ascii_case(NO_BOOK));
            rule.file = file.ok_or_else(|| must("the path of a book"))?.to_owned();
        } else {
            let refused = || {
                wrong(
                    &format!("'{name}' must be {}", row.kind.needs()),
                    value.as_str().and_then(|text| row.kind.meant(text)),
                )
            };
            rule.given.put(row.key, texts(row.kind, value).ok_or_else(refused)?);
        }
    }
    if rule.file.is_empty() {
        let what = format!("[[book]] table {number}: 'file' is missing");
        return Err(Wrong {
            offset: start,
            what,
            advice: Some("name the book, as in file = 'book.bin'".to_owned()),
        });
    }
    Ok(rule)
}

/// What to do about an unknown key.
fn advice(name: &str) -> String {
    match spelling::nearest(name, keys()) {
        Some(nearest) => format!("write '{nearest}'"),
        None if table::keys().any(|key| key == name) => {
            format!("write '{name}' before the first table: it does not belong to a book")
        }
        None => format!("its keys are {}", keys().collect::<Vec<_>>().join(", ")),
    }
}

/// Reads the value of `book` if it consists of tables; `None` if there is no table in it. `start` is the offset of the key.
///
/// # Errors
/// Those of [`read`], and when paths and tables are mixed.
pub(super) fn read_all(value: &DeValue<'_>, start: usize) -> Option<Result<Vec<Rule>, Wrong>> {
    let wrong = |offset, what: &str| Wrong {
        offset,
        what: what.to_owned(),
        advice: Some("write [[book]] before the keys of each book".to_owned()),
    };
    let list = match value {
        DeValue::Array(list) if list.iter().any(|item| item.get_ref().is_table()) => list,
        DeValue::Table(_) => return Some(Err(wrong(start, "[book] is one table, and not a list of them"))),
        _ => return None,
    };
    let rules = list.iter().enumerate().map(|(index, item)| match item.get_ref() {
        DeValue::Table(table) => read(index + 1, table, item.span().start),
        _ => Err(wrong(item.span().start, "'book' has both paths and tables")),
    });
    Some(rules.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use tabiya_book::choose::Policy;

    use super::*;
    use crate::settings::rules::rule_name;

    fn rule(values: &[(&'static str, &str)]) -> Rule {
        values.iter().fold(Rule::default(), |rule, (key, value)| rule.with(key, value))
    }

    fn rules(text: &str) -> Result<Vec<Rule>, Wrong> {
        let table = DeTable::parse(text).unwrap();
        read_all(table.get_ref().get("book").unwrap().get_ref(), 0).unwrap()
    }

    #[test]
    fn each_key_of_a_table_is_read() {
        let text = "[[book]]\nfile = 'a.bin'\n[[book]]\nfile = ' b;c.bin '\ncolor = 'black'\nopponent = 'human'\n\
                    opponent-name = 'A, *'\nopponent-rating = '1800..'\nvariety = 0\ndepth = 10\n\
                    threshold = 0x10\ngames = 1_000_000\nreserve = 4\nmin-clock = 30\nmax-uses = 3\nmax-loss = 40\n\
                    guard = 500\ntournament = false\nthreefold = true\noptional = true\n";
        let plain = Rule { file: "a.bin".to_owned(), ..Rule::default() };
        let full = Rule {
            file: "b;c.bin".to_owned(),
            ..rule(&[
                ("color", "black"),
                ("opponent", "human"),
                ("opponent-name", "A, *"),
                ("opponent-rating", "1800.."),
                ("variety", "0"),
                ("depth", "10"),
                ("threshold", "16"),
                ("games", "1000000"),
                ("reserve", "4"),
                ("min-clock", "30"),
                ("max-uses", "3"),
                ("max-loss", "40"),
                ("guard", "500"),
                ("tournament", "false"),
                ("threefold", "true"),
                ("optional", "true"),
            ])
        };
        assert_eq!(rules(text).unwrap(), [plain.clone(), full.clone()]);
        assert_eq!(rules("book = [{ file = 'a.bin' }]").unwrap(), std::slice::from_ref(&plain));
        assert_eq!(plain.to_string(), "a.bin");
        assert_eq!(
            full.to_string(),
            "b;c.bin, color black, opponent human, opponent-name A, *, opponent-rating 1800.., variety 0, depth 10, threshold 16, games 1000000, reserve 4, max-loss 40, \
             guard 500, tournament false, threefold true, optional true, min-clock 30, max-uses 3"
        );
    }

    #[test]
    fn a_mistake_is_named_with_its_table_and_what_is_allowed() {
        for (line, what, advice) in [
            ("variety = 101", "'variety' must be a number from 0 to 100", ""),
            ("variety = -1", "'variety' must be a number from 0 to 100", ""),
            ("variety = '5'", "'variety' must be a number from 0 to 100", ""),
            ("depth = 1001", "'depth' must be a number from 0 to 1000", ""),
            ("depth = 1.5", "'depth' must be a number from 0 to 1000", ""),
            ("threshold = 1001", "'threshold' must be a share from 0 % to 100 %, such as '0.5 %'", ""),
            ("threshold = '0.5'", "'threshold' must be a share from 0 % to 100 %, such as '0.5 %'", ""),
            ("games = 1_000_001", "'games' must be a number from 0 to 1000000", ""),
            ("games = 99999999999999999999", "'games' must be a number from 0 to 1000000", ""),
            ("reserve = 101", "'reserve' must be a number from 0 to 100", ""),
            ("min-clock = 86401", "'min-clock' must be a number from 0 to 86400", ""),
            ("max-loss = 10001", "'max-loss' must be a number from 0 to 10000", ""),
            ("guard = 60001", "'guard' must be a number from 0 to 60000", ""),
            ("tournament = 1", "'tournament' must be true or false", ""),
            ("threefold = 'true'", "'threefold' must be true or false", ""),
            ("threefold = 3", "'threefold' must be true or false", ""),
            ("optional = 0", "'optional' must be true or false", ""),
            ("learn = true", "unknown key 'learn'", "its keys are file, color, opponent, "),
            ("max-uses = 0", "'max-uses' must be a number from 1 to 1000", ""),
            ("color = 'White'", "'color' must be one of white, black", ""),
            ("color = true", "'color' must be one of white, black", ""),
            ("min_clock = 3", "unknown key 'min_clock'", "write 'min-clock'"),
            ("maxUse = 3", "unknown key 'maxUse'", "write 'max-uses'"),
            ("Games = 3", "unknown key 'Games'", "write 'games'"),
            ("seed = 3", "unknown key 'seed'", "write 'seed' before the first table"),
            ("colour = 'white'", "unknown key 'colour'", "write 'color'"),
            ("side = 'white'", "unknown key 'side'", "its keys are file, color, opponent, "),
            (
                "opening = 'Sicilean Defence'",
                "'opening' must be the name or code of an opening, or several with ';' between them",
                "names that come near are \"Sicilian Defense\", ",
            ),
            ("opponent = 'bot'", "'opponent' must be one of human, computer", ""),
            (
                "opponent-rating = '2200..1800'",
                "'opponent-rating' must be a range, such as '1800..2200', '2200..' or '..1800'",
                "",
            ),
            (
                "opponent-rating = 1800",
                "'opponent-rating' must be a range, such as '1800..2200', '2200..' or '..1800'",
                "",
            ),
        ] {
            let wrong = rules(&format!("[[book]]\nfile = 'a'\n[[book]]\nfile = 'b'\n{line}\n")).unwrap_err();
            assert_eq!(wrong.what, format!("[[book]] table 2: {what}"), "{line}");
            assert!(wrong.advice.unwrap_or_default().starts_with(advice), "{line}");
            assert_eq!(wrong.offset, 40, "{line}");
        }
    }

    #[test]
    fn a_table_without_a_book_is_a_mistake() {
        for file in [
            "",
            "file = ''",
            "file = ' '",
            "file = 3",
            "file = ['a']",
            "file = '<none>'",
            "file = \"C:\\new\"",
        ] {
            let wrong = rules(&format!("[[book]]\nvariety = 3\n{file}\n")).unwrap_err();
            assert!(wrong.what.starts_with("[[book]] table 1: 'file' "), "{file}: {}", wrong.what);
        }
    }

    #[test]
    fn paths_and_tables_do_not_mix() {
        for text in ["book = ['a', { file = 'b' }]", "book = [{ file = 'b' }, 3]", "[book]\nfile = 'a'"] {
            let wrong = rules(text).unwrap_err();
            assert!(wrong.advice.unwrap().starts_with("write [[book]]"), "{text}");
        }
        for text in ["book = 'a'", "book = ['a', 'b']", "book = 3", "book = []", "book = [1]"] {
            let table = DeTable::parse(text).unwrap();
            assert!(read_all(table.get_ref().get("book").unwrap().get_ref(), 0).is_none(), "{text}");
        }
    }

    #[test]
    fn a_rule_takes_from_the_options_what_it_does_not_set() {
        let mut options = Policy::default();
        (options.variety, options.depth, options.learn, options.threefold) = (7, 9, true, true);
        let rule = rule(&[("depth", "0"), ("games", "3"), ("threefold", "false"), ("max-loss", "9")]);
        let mut own = options.clone();
        (own.depth, own.games, own.threefold, own.max_loss) = (0, 3, false, 9);
        assert_eq!(rule.policy(&options), own);
        assert_eq!(Rule::default().policy(&options), options);
    }

    #[test]
    fn a_rule_needs_time_and_uses() {
        let rule = rule(&[("min-clock", "30"), ("max-uses", "2")]);
        assert!(rule.has_time(None) && rule.has_time(Some(Duration::from_secs(30))));
        assert!(!rule.has_time(Some(Duration::from_millis(29_999))));
        assert!(rule.has_uses(1) && !rule.has_uses(2) && !rule.has_uses(usize::MAX));
        assert!(Rule::default().has_time(Some(Duration::ZERO)) && Rule::default().has_uses(usize::MAX));
        assert_eq!(rule_name(2, Path::new("a/main.bin")), "rule 2 (main.bin)");
    }
}
