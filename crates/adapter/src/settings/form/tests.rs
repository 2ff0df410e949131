//! Changes of configuration files, and what stays.

use super::super::{Config, template};
use super::*;

fn path() -> &'static Path {
    Path::new("tabiya.toml")
}

fn change(text: &str, set: &[(&str, Option<&str>)]) -> std::result::Result<String, String> {
    let set = set.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
    changed(path(), text, &set).map_err(|error| error.to_string())
}

fn value(text: &str, key: &str) -> Option<String> {
    read(path(), text).unwrap().into_iter().find(|setting| setting.key == key).unwrap().value
}

#[test]
fn every_option_and_key_has_a_field() {
    let settings = read(path(), "").unwrap();
    for row in table::options().chain(table::start()).filter(|row| !["engine-arg", SET].contains(&row.key)) {
        assert_eq!(settings.iter().filter(|setting| setting.row.name == row.name).count(), 1, "{}", row.name);
    }
    let mut keys: Vec<_> = settings.iter().map(|setting| setting.key.as_str()).collect();
    assert!(
        keys.iter().all(|key| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')),
        "{keys:?}"
    );
    keys.sort_unstable();
    keys.dedup();
    assert_eq!((keys.len(), settings.iter().all(|setting| setting.value.is_none())), (settings.len(), true));
}

#[test]
fn comments_of_the_template_become_settings_and_comments_again() {
    let text = change(
        &template(),
        &[
            ("engine", Some(r"C:\Engines\a b.exe")),
            ("book", Some("first.bin; second.ctg")),
            ("book-variety", Some("70")),
            ("book-tournament", Some("false")),
            ("log-level", Some("debug")),
        ],
    )
    .unwrap();
    assert_eq!(text.lines().count(), template().lines().count());
    assert_eq!(value(&text, "engine").as_deref(), Some(r"C:\Engines\a b.exe"));
    assert_eq!(value(&text, "book").as_deref(), Some("first.bin; second.ctg"));
    assert!(
        text.contains("\n\"Book Variety\" = 70\n") && text.contains("\n\"Book Tournament\" = false\n"),
        "{text}"
    );
    let different = text.lines().zip(template().lines()).filter(|(a, b)| a != b).count();
    assert_eq!(different, 6, "with the line [set]");
    let back = change(&text, &[("engine", None), ("book-variety", None), ("log-level", Some(" "))]).unwrap();
    assert_eq!(
        (value(&back, "engine"), value(&back, "book-variety"), value(&back, "log-level")),
        (None, None, None)
    );
    assert!(back.contains("\n#\"Book Variety\" = 70\n"));
    let again = change(&back, &[("book-variety", Some("20"))]).unwrap();
    assert!(again.contains("\n\"Book Variety\" = 20\n") && !again.contains("70"));
}

#[test]
fn keys_after_the_template_stay_outside_the_table_of_options() {
    let appended = format!("{}engine = 'mine'\nbook = 'my.bin'\n", template());
    assert_eq!(value(&appended, "engine").as_deref(), Some("mine"));
    let text = change(&appended, &[("book-variety", Some("70"))]).unwrap();
    let got = ["engine", "book", "book-variety"].map(|key| value(&text, key));
    assert_eq!(got, ["mine", "my.bin", "70"].map(|value| Some(value.to_owned())));
    let with_table = format!("{}[set]\nHash = 1\n", template());
    let text = change(&with_table, &[("book-variety", Some("70"))]).unwrap();
    assert!(
        text.starts_with(&template()) && text.ends_with("[set]\nHash = 1\n\"Book Variety\" = 70\n"),
        "{text}"
    );
}

#[test]
fn comments_order_and_line_ends_stay() {
    let text = "# mine\r\nengine = 'a'   # fast\r\n\r\n[set] # options\r\n  hash = 5\r\n\"book variety\" = 60 # high\r\n";
    let changed =
        change(text, &[("book-variety", Some("70")), ("engine", Some("b")), ("book-depth", Some("9"))])
            .unwrap();
    let expected = "# mine\r\nengine = \"b\"   # fast\r\n\r\n[set] # options\r\n  hash = 5\r\n\"book variety\" = 70 # high\r\n\"Book Depth\" = 9\r\n";
    assert_eq!(changed, expected);
    assert_eq!(change(text, &[]).unwrap(), text);
    let without = change(text, &[("engine", None)]).unwrap();
    assert!(without.starts_with("# mine\r\n#engine = 'a'   # fast\r\n"), "{without}");
    let list = "book = [\n  'a.bin', # first\n  'b.bin',\n]\nname = 'x'\n";
    assert_eq!(
        change(list, &[("book", None)]).unwrap(),
        "#book = [\n#  'a.bin', # first\n#  'b.bin',\n#]\nname = 'x'\n"
    );
    assert_eq!(change("", &[("book-depth", Some("9"))]).unwrap(), "[set]\n\"Book Depth\" = 9\n");
    assert_eq!(value("set = [\"Hash=5\", \"book depth = 7\"]", "book-depth").as_deref(), Some("7"));
}

#[test]
fn new_lines_come_after_the_last_one_of_their_table() {
    let depth = ("book-depth", Some("9"));
    let name = ("name", Some("x"));
    for (text, set, expected) in [
        ("name = 'a'\n", depth, "name = 'a'\n\n[set]\n\"Book Depth\" = 9\n"),
        ("name = 'a'", depth, "name = 'a'\n\n[set]\n\"Book Depth\" = 9\n"),
        (
            "[set] # mine\n\n[[book]]\nfile = 'b'\n",
            depth,
            "[set] # mine\n\"Book Depth\" = 9\n\n[[book]]\nfile = 'b'\n",
        ),
        ("[set]\nHash = 1", depth, "[set]\nHash = 1\n\"Book Depth\" = 9\n"),
        ("[set]", depth, "[set]\n\"Book Depth\" = 9\n"),
        ("\u{feff}[set]\nHash = 1\n", name, "\u{feff}name = \"x\"\n[set]\nHash = 1\n"),
        ("book = [\n  'a',\n] # two\n[set]\n", name, "book = [\n  'a',\n] # two\nname = \"x\"\n[set]\n"),
        ("set = { 'Book Depth' = 1 }\n", name, "name = \"x\"\nset = { 'Book Depth' = 1 }\n"),
    ] {
        assert_eq!(change(text, &[set]).unwrap(), expected, "{text}");
    }
    for text in ["set = { Hash = 1 }", "set.Hash = 1"] {
        assert!(change(text, &[depth]).unwrap_err().contains("not in a table [set]"), "{text}");
    }
}

#[test]
fn what_is_not_valid_is_refused() {
    for (key, value, said) in [
        ("book-variety", "101", "Book Variety: \"101\" is not a number from 0 to 100"),
        ("book-variety", "-1", "is not a number"),
        ("book-learn", "yes", "is not true or false"),
        ("log-level", "all", "is not one of error, warn, info, debug, trace"),
        ("engine-timeout", "0", "is not a number from 1 to 86400"),
        ("engine", "a\nb", "is not without control characters"),
        ("hash", "5", "there is no setting \"hash\""),
    ] {
        let refused = change(&template(), &[(key, Some(value))]).unwrap_err();
        assert!(refused.contains(said), "{key}: {refused}");
    }
    assert!(change("engine = [", &[]).unwrap_err().contains("tabiya.toml: line 1"));
    assert!(change("set = ['Hash=5']", &[("book-depth", Some("9"))]).unwrap_err().contains("[set]"));
    let rules = "[[book]]\nfile = 'a.bin'\n";
    assert!(change(rules, &[("book", Some("b.bin"))]).is_err());
    assert!(change(rules, &[("book-depth", Some("9"))]).unwrap().contains("[[book]]\nfile = 'a.bin'\n"));
}

proptest::proptest! {
    #[test]
    fn whatever_is_set_is_read_again(text in "[^\\p{Cc}]{1,40}", number in 0..=100_u32, windows: bool) {
        let before = if windows { template().replace('\n', "\r\n") } else { template() };
        let after = change(&before, &[("name", Some(&text)), ("book-variety", Some(&number.to_string()))]).unwrap();
        let wanted = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        proptest::prop_assert_eq!(value(&after, "name"), wanted);
        proptest::prop_assert_eq!(value(&after, "book-variety"), Some(number.to_string()));
        proptest::prop_assert_eq!(change(&after, &[]).unwrap(), after);
    }
}

#[test]
fn an_option_in_the_table_is_shown_and_changed_there_because_it_wins() {
    let text = "book = 'a.bin'\nseed = 1\nlog = 'x'\n\n[set]\n\"book file\" = 'b.bin; c.bin' # mine\n\"Book White\" = 'w.bin'\n\"Book Seed\" = 7\n\
                \"Book Threefold\" = true\n";
    let set =
        ["book", "book-white", "book-black", "seed", "log", "book-threefold"].map(|key| value(text, key));
    assert_eq!(
        set,
        [Some("b.bin; c.bin"), Some("w.bin"), None, Some("7"), Some("x"), Some("true")]
            .map(|set| set.map(str::to_owned))
    );
    let new = [
        ("book", Some("d.bin; e.bin")),
        ("book-white", Some("v.bin")),
        ("book-black", Some("s.bin; t.bin")),
        ("seed", Some("9")),
        ("log", Some("y")),
        ("book-threefold", Some("false")),
    ];
    let changed = change(text, &new).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tabiya.toml");
    std::fs::write(&file, &changed).unwrap();
    let config = Config::merged(Given::default(), Some(file)).unwrap().options;
    assert_eq!(config.books.both.files(), ["d.bin", "e.bin"]);
    assert_eq!(config.books.white.files(), ["v.bin"]);
    assert_eq!(config.books.black.files(), ["s.bin", "t.bin"]);
    assert_eq!((config.seed, config.log.as_str(), config.policy.threefold), (9, "y", false));
    assert!(changed.contains("\"book file\" = \"d.bin;e.bin\" # mine\n"), "{changed}");
    for (key, value_now) in new {
        assert_eq!(
            value(&changed, key).map(|now| now.replace(';', "; ").replace("  ", " ")).as_deref(),
            value_now
        );
    }
    // The default again, wherever the value was.
    let none = change(&changed, &new.map(|(key, _)| (key, None))).unwrap();
    assert!(new.iter().all(|(key, _)| value(&none, key).is_none()), "{none}");
    assert_eq!(none.lines().count(), changed.lines().count());
}

#[test]
fn tables_of_books_are_shown_and_say_why_they_stay() {
    let text = "[[book]]\nfile = 'a.bin'\n[[book]]\nfile = 'b.bin'\ncolor = 'white'\n";
    let settings = read(path(), text).unwrap();
    let book = settings.iter().find(|setting| setting.key == "book").unwrap();
    assert_eq!((book.value.as_deref(), book.fixed), (Some("a.bin; b.bin"), Some(TABLES)));
    assert!(settings.iter().all(|setting| setting.key == "book" || setting.fixed.is_none()));
    let refused = |text, set: (&str, &str)| {
        let set = [(set.0.to_owned(), Some(set.1.to_owned()))].into();
        let error = changed(path(), text, &set).unwrap_err();
        (error.kind(), error.to_string())
    };
    let (kind, said) = refused(text, ("book", "c.bin"));
    assert!(kind == ErrorKind::Usage && said.contains("[[book]] tables"), "{said}");
    assert_eq!(refused("set = ['Hash=5']", ("book-depth", "9")).0, ErrorKind::Usage);
    // Options win over tables, too.
    let set = format!("{text}[set]\n'Book File' = 'x.bin'\n");
    assert!(change(&set, &[("book", Some("y.bin"))]).unwrap().ends_with("'Book File' = \"y.bin\"\n"));
}

#[test]
fn the_rows_of_each_group_follow_each_other() {
    let settings = read(path(), "").unwrap();
    assert!(settings.is_sorted_by_key(|setting| setting.row.group));
    let group = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap().row.group;
    assert_eq!(
        ["ownbook", "book", "book-white", "book-optional"].map(group),
        [table::SettingGroup::Books; 4]
    );
    assert_eq!(
        (group("seed"), group("book-learn-margin"), group("name")),
        (table::SettingGroup::Moves, table::SettingGroup::Learning, table::SettingGroup::Log)
    );
    let learn = settings.iter().find(|setting| setting.key == "book-learn").unwrap();
    assert!(learn.row.help.contains("write the result of each game into the Polyglot books"));
}
