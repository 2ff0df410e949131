use tabiya_base::error::ErrorKind;
use tabiya_uci::SetOption;

use super::advice::TWICE;
use super::*;
use crate::settings::options::Options;

fn read_all(text: &str) -> (Result<FromFile>, Vec<String>) {
    let mut warnings = Vec::new();
    let given = parse(Path::new("tabiya.toml"), text, &mut warnings);
    (given, warnings)
}

fn read(text: &str) -> (Result<Given>, Vec<String>) {
    let (given, warnings) = read_all(text);
    (given.map(|file| file.given), warnings)
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
    for (key, values) in [
        ("engine", &["sf"][..]),
        ("engine-arg", &["a", "b"]),
        ("engine-dir", &["d"]),
        ("engine-timeout", &["5"]),
        ("book", &["x.bin"]),
        ("book-white", &["w.bin"]),
        ("book-black", &["b.bin"]),
        ("book-optional", &["true"]),
        ("name", &["n"]),
        ("log", &["l"]),
        ("log-level", &["trace"]),
        ("seed", &["7"]),
        ("set", &["Hash=64", "Book Variety=10", "Ponder=true"]),
    ] {
        assert_eq!(given.texts(key), values, "{key}");
    }
    assert_eq!(table::keys().filter(|key| given.texts(key).is_empty()).count(), 0);
}

#[test]
fn the_template_has_every_key_and_every_option_with_its_default() {
    let is_setting = |line: &str| {
        let name = line.split_once(" = ").map_or("", |(name, _)| name.trim_matches('"'));
        name.starts_with(char::is_alphabetic) || line == "[set]"
    };
    let template = crate::settings::template();
    let settings: Vec<_> = template
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| is_setting(rest)).unwrap_or(line))
        .collect();
    let (given, warnings) = read(&settings.join("\n"));
    assert!(warnings.is_empty(), "{warnings:?}");
    let given = given.unwrap();
    for key in table::keys().filter(|key| *key != SET) {
        assert!(settings.iter().any(|line| line.starts_with(&format!("{key} = "))), "{key}");
    }
    let mut options = Options::default();
    for row in table::options() {
        let (name, named) = (row.name, row.at_start);
        let set =
            given.texts(SET).iter().filter_map(|text| text.split_once('=')).find(|(known, _)| *known == name);
        assert_ne!(set.is_some(), named, "the line of {name} below [set]");
        if let Some((_, value)) = set {
            let option = SetOption { name: name.as_bytes(), value: value.as_bytes() };
            options.set(&option).unwrap().unwrap();
        }
    }
    assert_eq!(options, Options::default());
}

#[test]
fn the_template_says_what_each_option_is_for() {
    let template = crate::settings::template();
    let lines: Vec<&str> = template.lines().collect();
    for row in table::options().filter(|row| !row.at_start) {
        let is_it = |line: &&str| {
            line.trim_start_matches(['#', '"']).starts_with(&format!(
                "{}{} = ",
                row.name,
                if row.name.contains(' ') { "\"" } else { "" }
            ))
        };
        let at = lines.iter().position(is_it).unwrap_or_else(|| panic!("{}", row.name));
        let words = lines[..at].iter().rev().take_while(|line| line.starts_with("# "));
        let words: Vec<&str> = words.flat_map(|line| line[2..].split(' ').rev()).collect();
        let said: Vec<&str> = words.into_iter().rev().collect();
        assert!(!row.help.is_empty() && said.join(" ").ends_with(row.help), "{}: {said:?}", row.name);
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 140 && !line.contains('@')));
}

#[test]
fn the_template_has_a_table_of_each_key_for_a_book() {
    let template = crate::settings::template();
    let (_, tables) = template.split_once("\n#[[book]]\n").unwrap();
    let (given, warnings) =
        read_all(&format!("[[book]]\n{}", tables.replace("\n#", "\n").trim_start_matches('#')));
    assert!(warnings.is_empty(), "{warnings:?}");
    let [rival, varied, main] = <[_; 3]>::try_from(given.unwrap().of_books).unwrap();
    let said = varied.to_string();
    let start = "varied.bin, color white, variety 80, depth 6, threshold 0.5 %, games 0, ";
    assert!(
        said.starts_with(start) && said.contains(", threefold false, ") && said.ends_with(", optional true"),
        "{said}"
    );
    assert_eq!(main.to_string(), "main.bin, variety 0, min-clock 30, max-uses 10");
    let start = "rival.bin, opponent human, opponent-name Carlsen*, opponent-rating ";
    assert_eq!(rival.to_string(), format!("{start}1800..2200"));
    let is_set = |key| [&rival, &varied, &main].iter().any(|rule| rule.given.text(key).is_some());
    for key in table::by_book().map(|row| row.key).filter(|key| *key != "file") {
        assert!(is_set(key), "src/settings/template.toml has no {key} below [[book]]");
    }
}

#[test]
fn the_template_has_a_table_of_a_variant() {
    let template = crate::settings::template();
    let (_, tables) = template.split_once("\n#[variant.").unwrap();
    let (table, _) = tables.split_once("\n\n").unwrap();
    let (given, warnings) = read_all(&format!("[variant.{}", table.replace("\n#", "\n")));
    assert!(warnings.is_empty(), "{warnings:?}");
    let variants = given.unwrap().variants;
    assert_eq!(variants[0].variant, tabiya_chess::Variant::Atomic);
    assert_eq!(variants[0].both.files(), ["atomic.bin"]);
}

#[test]
fn a_mistake_in_a_table_for_a_book_is_an_error_with_its_line() {
    for (text, message) in [
        (
            "[[book]]\nfile = 'a'\ndepth = -1",
            "line 3: [[book]] table 1: 'depth' must be a number from 0 to 1000",
        ),
        ("[[book]]\nfile = 'a'\nDepth = 1", "line 3: [[book]] table 1: unknown key 'Depth': write 'depth'"),
        ("[[book]]\nfile = 'a'\n\n[[book]]\ndepth = 1", "line 4: [[book]] table 2: 'file' is missing: "),
        ("[book]\nfile = 'a'", "line 1: [book] is one table, and not a list of them: write [[book]] "),
        ("book = 'a'\n[[book]]\nfile = 'a'", "line 2: "),
        ("book = ['a']\n[[book]]\nfile = 'a'", "line 2: "),
        ("log = 'l'\nlog = 'l'\n[[book]]\nfile = 'a'", "line 2: duplicate key"),
        ("book-white = 'w'\nbook-white = 'w'\n[[book]]\nfile = 'a'", "line 2: duplicate key"),
    ] {
        let error = read(text).0.unwrap_err();
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(
            (error.kind(), error.to_string().contains(TWICE)),
            (ErrorKind::Format, message == "line 2: ")
        );
    }
}

#[test]
fn a_bad_key_is_reported_with_its_line_and_the_rest_is_used() {
    let (given, warnings) = read("book = 'x.bin'\nmotor = 1\n\nseed = 'x'\n");
    assert_eq!(given.unwrap().texts("book"), ["x.bin"]);
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].contains("line 2") && warnings[0].contains("motor"), "{warnings:?}");
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
fn a_backslash_in_double_quotes_is_an_error_that_says_how_to_write_paths() {
    for text in [
        r#"engine = "C:\Engines\x.exe""#,
        r#"engine = "C:\new\tabs.exe""#,
        r#"book = ["a.bin", "C:\books\b.bin"]"#,
        r#"log = "C:\xenon\log.txt""#,
    ] {
        let error = read(&format!("seed = 1\n{text}\n")).0.unwrap_err().to_string();
        assert!(error.contains("line 2: ") && error.ends_with(QUOTES), "{text}: {error}");
        assert!(!error.contains(char::is_control), "{error:?}");
    }
    let error = read("seed = \"1\nengine = 'C:\\new'\n").0.unwrap_err().to_string();
    assert!(!error.ends_with(QUOTES), "{error}");
    let (given, warnings) = read("[set]\nSyzygyPath = \"C:\\new\"\nHash = 1\n");
    assert_eq!(given.unwrap().texts(SET), ["Hash=1"]);
    assert!(warnings[0].contains("line 2: set: 'SyzygyPath' has a control character"), "{warnings:?}");
}

#[test]
fn files_in_utf_16_are_read_and_other_encodings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tabiya.toml");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        super::read(&path, &mut Vec::new())
    };
    let text = "engine = 'Größe.exe'\r\nbook = 'Книга.bin'\r\n";
    let wide = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(to_bytes).collect() };
    let (little, big) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
    let with = |mark: &[u8], rest: &[u8]| [mark, rest].concat();
    for bytes in [
        text.as_bytes().to_vec(),
        with(b"\xef\xbb\xbf", text.as_bytes()),
        with(b"\xff\xfe", &little),
        with(b"\xfe\xff", &big),
        little,
        big,
    ] {
        let given = read(&bytes).unwrap().given;
        assert_eq!(given.text("engine"), Some("Größe.exe"), "{bytes:?}");
        assert_eq!(given.texts("book"), ["Книга.bin"]);
    }
    assert_eq!(read(b"").unwrap(), FromFile::default());
    assert!(read(b"\0\n").unwrap_err().to_string().contains("line 1"));
    let error = read(b"seed = 1\nengine = 'Gr\xf6\xdfe.exe'\n").unwrap_err().to_string();
    assert!(error.contains("line 2") && error.ends_with("save the file in UTF-8"), "{error}");
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
    assert_eq!(given.unwrap().texts(SET), ["Hash=1000", "Contempt=0.5", "Mask=16"]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("line 6") && warnings[0].contains("Bad"), "{warnings:?}");
}
