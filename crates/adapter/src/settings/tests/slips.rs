//! One slip in a configuration: whatever comes of it, no engine and no book plays that was not named.

use super::*;

/// A configuration that names everything, a line for each key; `set` comes last.
const CORRECT: [(&str, &str); 13] = [
    ("engine", "'e'"),
    ("engine-arg", "['a']"),
    ("engine-dir", "'d'"),
    ("engine-timeout", "5"),
    ("book", "['b.bin']"),
    ("book-white", "['w.bin']"),
    ("book-black", "['k.bin']"),
    ("book-optional", "true"),
    ("name", "'n'"),
    ("log", "'l'"),
    ("log-level", "'info'"),
    ("seed", "7"),
    ("set", "['Hash=1']"),
];

/// The configuration with these lines in place of some of the correct ones.
fn text(line: impl Fn(&str, &str) -> String) -> String {
    CORRECT.iter().map(|(key, value)| line(key, value) + "\n").collect()
}

fn load(text: &str) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tabiya.toml");
    std::fs::write(&file, text).unwrap();
    Config::load(Given::default(), file.to_str())
}

fn load_line(set: &str) -> Result<Config> {
    Config::load(Given::default().with(SET, [set]), None)
}

/// The slips that are not the name itself under UCI's rules.
fn slips(name: &str) -> Vec<String> {
    let mut all = tabiya_testing::slips(name);
    all.retain(|slip| !tabiya_uci::same_name(slip.as_bytes(), name.as_bytes()));
    all
}

/// Refused, in words that name what was meant; returns 1, for counting.
fn refused(result: Result<Config>, meant: &str, slip: &str) -> usize {
    let error = result.err().unwrap_or_else(|| panic!("{slip} is taken")).to_string();
    assert!(error.contains("write ") && error.contains(meant), "{slip}: {error}");
    1
}

#[test]
fn the_correct_configuration_is_taken() {
    let config = load(&text(|key, value| format!("{key} = {value}"))).unwrap();
    assert_eq!((config.engine.as_str(), config.options.books.both.files()), ("e", &["b.bin".to_owned()][..]));
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
}

#[test]
fn a_key_with_one_wrong_letter_is_refused() {
    let mut tried = 0;
    for (meant, _) in CORRECT {
        for slip in slips(meant) {
            let wrong = text(|key, value| format!("{} = {value}", if key == meant { &slip } else { key }));
            tried += refused(load(&wrong), meant, &slip);
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn an_option_of_tabiya_with_one_wrong_letter_is_refused_wherever_it_is_set() {
    let mut tried = 0;
    for meant in Options::names() {
        for slip in slips(meant) {
            tried += refused(load(&format!("[set]\n\"{slip}\" = 1\n")), meant, &slip);
            tried += refused(load(&format!("set = [\"{slip}=1\"]\n")), meant, &slip);
            tried += refused(load_line(&format!("{slip}=1")), meant, &slip);
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn a_key_below_the_table_of_options_is_refused() {
    for (meant, value) in CORRECT {
        let below = format!("[set]\nHash = 1\n{meant} = {value}\n");
        let error = load(&below).unwrap_err().to_string();
        let advice = format!("write '{meant}' before the first table");
        assert!(error.contains("line 3: ") && error.ends_with(&advice), "{error}");
        refused(load_line(&format!("{meant}=x")), &format!("--{meant}"), meant);
        if meant.starts_with("engine") || meant.starts_with("book") {
            for slip in slips(meant) {
                refused(load(&format!("[set]\n{slip} = {value}\n")), "", &slip);
            }
        }
    }
}

#[test]
fn an_option_of_tabiya_outside_the_table_of_options_is_refused() {
    for name in Options::names() {
        refused(load(&format!("'{name}' = 'x'\n")), name, name);
    }
}

#[test]
fn values_of_the_wrong_type_and_empty_ones_are_refused() {
    let values = [
        "1",
        "1.5",
        "true",
        "1979-05-27",
        "{ a = 1 }",
        "[1]",
        "[['x']]",
        "[{ a = 1 }]",
        "''",
        "' '",
        "[]",
        "['']",
        "['a', '']",
    ];
    // Nothing of an engine, and a table or an empty list of options, name nothing either.
    let harmless = |key: &str, value: &str| match key {
        "engine-arg" => matches!(value, "''" | "' '" | "[]" | "['']" | "['a', '']"),
        "engine-dir" => matches!(value, "''" | "' '"),
        "engine-timeout" => value == "1",
        "book-optional" => value == "true",
        "set" => matches!(value, "{ a = 1 }" | "[]"),
        _ => false,
    };
    for (key, _) in CORRECT.iter().filter(|(key, _)| !["name", "log", "log-level", "seed"].contains(key)) {
        for value in values.into_iter().filter(|value| !harmless(key, value)) {
            let config = load(&text(|known, usual| {
                format!("{known} = {}", if known == *key { value } else { usual })
            }));
            let ended = config.and_then(|config| config.find_engine());
            // An engine by the name of `e` is nowhere, so that only an error about the key itself counts.
            let error = ended.unwrap_err().to_string();
            let names_it = error.contains(&format!("'{key}'")) || error.contains(&format!("[{key}]"));
            assert!(names_it || error.contains("its name is empty"), "{key} = {value}: {error}");
        }
    }
}

#[test]
fn options_that_decide_about_books_have_a_value_that_fits() {
    for (name, values) in [
        ("OwnBook", &["'fasle'", "0", "''", "[]", "{ a = 1 }"][..]),
        ("Book File", &["''", "' ; '", "['a.bin']", "{ a = 1 }"]),
        ("Book White", &["''", "[]"]),
        ("Book Black", &["''", "[]"]),
    ] {
        for value in values {
            let error = load(&format!("book = 'b.bin'\n[set]\n\"{name}\" = {value}\n")).unwrap_err();
            assert!(error.to_string().contains(name), "{name} = {value}: {error}");
        }
        for value in ["", " "] {
            let error = load_line(&format!("{name}={value}")).unwrap_err();
            assert!(error.to_string().contains(name), "{name}={value}: {error}");
        }
    }
}

#[test]
fn a_book_without_a_name_on_the_command_line_is_one_that_cannot_be_opened() {
    for names in [&[""][..], &[" "], &["a.bin", ""]] {
        for key in ["book", "book-white", "book-black"] {
            let error = Config::load(Given::default().with(key, names.iter().copied()), None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::File, "{error}");
        }
    }
}

#[test]
fn an_option_that_is_set_twice_is_reported() {
    let twice = |config: Result<Config>| config.unwrap().warnings;
    for text in ["[set]\nHash = 256\nhash = 512\n", "set = ['Hash=256', 'HASH=512']\n"] {
        let told = twice(load(text));
        assert!(told.len() == 1 && told[0].contains("set twice"), "{text}: {told:?}");
    }
    let given = |set: &[&str]| Given::default().with(SET, set.iter().copied());
    assert_eq!(twice(Config::load(given(&["Clear  Hash=1", "clear hash=2"]), None)).len(), 1);
    let over = given(&["hash=1"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tabiya.toml");
    std::fs::write(&file, "[set]\nHash = 256\n").unwrap();
    assert!(twice(Config::load(over, file.to_str())).is_empty(), "the command line has the last word");
}
