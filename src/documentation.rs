//! The README and the guide against the program: its options, its commands and its files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use sha2::{Digest as _, Sha256};
use tabiya_book::Format;

#[path = "documentation/citations.rs"]
mod citations;
#[path = "documentation/options.rs"]
mod options;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Markdown files below a folder.
fn pages_in(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_in(&path, pages);
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![];
    for folder in ["docs", "crates"] {
        pages_in(&root().join(folder), &mut pages);
    }
    let top = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(top.filter(|path| path.extension().is_some_and(|end| end == "md")));
    assert!(pages.contains(&root().join("README.md")) && pages.len() > 5, "{pages:?}");
    pages
}

/// The README and the guide: what users read.
fn guide() -> String {
    let mut pages = vec![root().join("README.md")];
    pages_in(&root().join("docs/guide"), &mut pages);
    assert!(pages.len() > 8, "{pages:?}");
    pages.iter().map(|page| fs::read_to_string(page).unwrap()).collect()
}

/// The lines inside ``` fences.
fn fenced(text: &str) -> Vec<&str> {
    let mut inside = false;
    let is_code = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        inside && !fence
    };
    text.lines().filter(is_code).map(|line| line.trim().trim_start_matches("$ ")).collect()
}

/// The words of a shell command, up to its comment or where its output goes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            '#' | '>' if !quoted && word.is_empty() => break,
            ' ' if !quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(letter),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[test]
fn each_command_in_the_guide_is_one() {
    let text = guide();
    let lines = fenced(&text);
    let mut used = vec![];
    for line in lines.iter().filter(|line| line.starts_with("tabiya ")) {
        let words = words(line);
        if let Err(error) = crate::commands::command().try_get_matches_from(&words) {
            panic!("{line}\n{error}");
        }
        used.extend((words.len() > 1).then(|| words[1..].to_vec()));
    }
    let cli = crate::commands::command();
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        assert!(used.iter().any(|words| words[0] == name), "the guide never uses tabiya {name}");
        for inner in command.get_subcommands().map(Command::get_name).filter(|name| *name != "help") {
            let is_used =
                used.iter().any(|words| words[0] == name && words.get(1).is_some_and(|word| word == inner));
            assert!(is_used, "the guide never uses tabiya {name} {inner}");
        }
    }
}

#[test]
fn each_argument_of_the_adapter_has_a_row() {
    let (text, cli) = (guide(), crate::commands::command());
    let names = cli.get_arguments().filter_map(|argument| argument.get_long());
    let names: Vec<&str> = names.filter(|name| !["help", "version"].contains(name)).collect();
    assert!(names.contains(&"book-optional"), "{names:?}");
    for name in names {
        let is_row = |line: &str| {
            line.starts_with("| `--")
                && line.split(['`', ' ']).any(|word| word.strip_prefix("--") == Some(name))
        };
        assert!(text.lines().any(is_row), "--{name} is not in the table of arguments");
    }
}

/// The commands, and the commands of commands.
fn commands(cli: &Command) -> Vec<Command> {
    cli.get_subcommands().flat_map(|command| [vec![command.clone()], commands(command)].concat()).collect()
}

#[test]
fn each_option_in_the_guide_exists() {
    let cli = crate::commands::command();
    let longs = |command: &Command| -> Vec<String> {
        command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
    };
    let mut known: Vec<String> = commands(&cli).iter().flat_map(longs).collect();
    known.extend(longs(&cli));
    // Cargo's.
    known.extend(
        ["release", "locked", "path", "example", "target", "no-default-features", "features"]
            .map(str::to_owned),
    );
    // Those of scripts/spark_counts.py and spark-submit.
    known.extend(["tabiya", "cat", "master", "conf"].map(str::to_owned));
    for word in guide().split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-') {
        // A line of a Markdown table is no option.
        if let Some(name) = word.strip_prefix("--").filter(|name| name.starts_with(char::is_alphabetic)) {
            assert!(known.iter().any(|long| long == name), "--{name} is in the guide, and no option");
        }
    }
}

/// The sources of the program on one line.
fn sources() -> String {
    let mut sources = String::new();
    let mut folders = vec![root().join("src"), root().join("crates")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                sources += &fs::read_to_string(path).unwrap();
            }
        }
    }
    // A message may be cut into lines in the source.
    sources.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ")
}

/// What pages quote of what the program says or asks.
const QUOTES: [(&str, &str); 13] = [
    ("arena.md", "`Set it up in this folder now?`"),
    ("arena.md", "`Engine (its number or path)`"),
    ("arena.md", "`Path of an engine, or drag its program into this window`"),
    ("arena.md", "`Book (its number or path; 0 for the one that is built in)`"),
    ("arena.md", "`Add tabiya to Cute Chess`"),
    ("arena.md", "`All is well.`"),
    ("cute-chess.md", "`All is well.`"),
    ("cute-chess.md", "`Add tabiya to Cute Chess?`"),
    ("making-books.md", "\"this file exists already\""),
    ("making-books.md", "\"not written\""),
    ("look-into-a-book.md", "\"cannot open the file\""),
    ("vet.md", "`evaluated: 0 positions`"),
    ("bots.md", "`unauthorized`"),
];

#[test]
fn what_the_guide_quotes_is_said_by_the_program() {
    let sources = sources();
    for (page, quote) in QUOTES {
        let text = fs::read_to_string(root().join("docs/guide").join(page)).unwrap();
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(quote), "{page}: {quote}");
        // Numbers, and the end of a question, depend on the case.
        let said = quote.trim_matches(['`', '"', '?']).split(" 0 positions").next().unwrap();
        assert!(sources.contains(said), "{page} quotes {quote}, which the program does not say");
    }
}

#[test]
fn each_message_in_the_guide_is_one_of_the_program() {
    let page = fs::read_to_string(root().join("docs/guide/troubleshooting.md")).unwrap();
    let sources = sources();
    let messages: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(messages.len() > 15, "{messages:?}");
    let mut unknown = vec![];
    let is_same_word = |bare: &str| {
        let named = |format: Format| bare == format.title() || bare == format.name().to_uppercase();
        bare == "UCI" || Format::all().any(named)
    };
    for message in messages {
        // Names, numbers and "..." stand for what differs from case to case, and so may what follows a colon or a semicolon.
        let differs = |word: &str| {
            let bare = word.trim_end_matches(['?', ':']);
            word.contains("...")
                || !is_same_word(bare)
                    && bare.contains(|letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase())
        };
        let mut parts = vec![String::new()];
        for word in message.split(' ') {
            match parts.last_mut() {
                Some(part) if !differs(word) => *part += &format!(" {}", word.trim_end_matches([':', ';'])),
                _ => {}
            }
            if differs(word) || word.ends_with([':', ';']) {
                parts.push(String::new());
            }
        }
        let fixed = parts.iter().map(|part| part.trim()).max_by_key(|part| part.len()).unwrap();
        unknown.extend((!sources.contains(fixed)).then_some((fixed.to_owned(), message)));
    }
    assert!(unknown.is_empty(), "no message of the program has: {unknown:?}");
}

#[test]
fn links_lead_to_files_and_headings() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("](") {
            let link = text[at + 2..].split(')').next().unwrap();
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(path.exists(), "{}: {link}", page.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&path).unwrap();
                let is_it = |line: &str| line.starts_with('#') && anchor(line) == heading;
                assert!(text.lines().any(is_it), "{}: {link}", page.display());
            }
        }
    }
}

/// All pictures together, in bytes: whoever clones the project or downloads a release loads them.
const MAX_PICTURES: u64 = 500_000;

#[test]
fn pictures_are_shown_described_and_small() {
    let mut shown = vec![];
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("![") {
            let (words, rest) = text[at + 2..].split_once("](").unwrap();
            assert!(
                words.len() > 30 && !words.contains('['),
                "{}: what does it show? {words}",
                page.display()
            );
            let file = page.parent().unwrap().join(rest.split(')').next().unwrap());
            shown.push(dunce::canonicalize(&file).unwrap());
        }
    }
    let files = fs::read_dir(root().join("docs/guide/pictures")).unwrap();
    let files: Vec<PathBuf> =
        files.map(|entry| dunce::canonicalize(entry.unwrap().path()).unwrap()).collect();
    assert!(files.len() > 5, "{files:?}");
    for file in &files {
        assert!(shown.contains(file), "{}: no page shows it", file.display());
    }
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(bytes <= MAX_PICTURES, "{bytes} bytes of pictures");
}

/// What users and registries read: pages, and what packages say of themselves.
fn published() -> Vec<PathBuf> {
    let mut published = pages();
    for folder in ["packaging", "python", "crates"] {
        let mut folders = vec![root().join(folder)];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let is_read = path.extension().is_some_and(|end| {
                    ["md", "toml", "txt", "yaml", "json", "rb", "hbs"].iter().any(|known| end == *known)
                });
                match path.is_dir() {
                    true if !path.ends_with("target") => folders.push(path),
                    _ if is_read || path.ends_with("copyright") => published.push(path),
                    _ => {}
                }
            }
        }
    }
    published.push(root().join("Cargo.toml"));
    published.sort();
    published.dedup();
    published
}

#[test]
fn the_address_of_the_project_is_one_everywhere() {
    let ours = env!("CARGO_PKG_REPOSITORY");
    let mut found = 0;
    for page in published() {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("://") {
            let address = text[at + 3..].split([' ', ')', '"', '\'', '>', '\n']).next().unwrap();
            let is_ours = ours.ends_with(address.split("/releases").next().unwrap());
            found += usize::from(is_ours);
            assert!(is_ours || !address.contains("tabiya"), "{}: {address}", page.display());
        }
    }
    assert!(found > 5, "{found}");
}

#[test]
fn nothing_is_promised_from_a_registry_before_it_is_there() {
    const PROMISES: [&str; 8] = [
        "pip install tabiya",
        "pip install \"tabiya",
        "pipx install tabiya",
        "uvx tabiya",
        "cargo install tabiya",
        "cargo binstall tabiya",
        "brew install tabiya",
        "winget install tabiya",
    ];
    for page in
        published().iter().filter(|page| !page.ends_with("RELEASE.md") && !page.ends_with("CHANGELOG.md"))
    {
        let text = fs::read_to_string(page).unwrap();
        let promised = PROMISES.iter().find(|promise| text.contains(**promise));
        assert!(promised.is_none(), "{}: {promised:?}", page.display());
    }
}

/// The anchor that Git hosts give a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The rows of a page's table of formats, below its first row: what each says of a format by the table's headings.
fn formats_of(page: &str) -> Vec<(String, [bool; 4])> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let rows = text.lines().skip_while(|line| !line.ends_with("| play | read | write | learn |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let of_row = |row: &str| {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (names, says) = cells.split_last_chunk::<4>().unwrap();
        (names.concat(), says.map(|cell| !cell.is_empty()))
    };
    rows.map(of_row).collect()
}

#[test]
fn the_tables_of_formats_say_what_the_formats_are() {
    for page in ["README.md", "docs/guide/formats.md"] {
        let rows = formats_of(page);
        for format in Format::all() {
            let name = format!("`.{}`", format.extension());
            let row = rows.iter().find(|(names, _)| names.contains(&name));
            let (names, says) = row.unwrap_or_else(|| panic!("{page}: no row has {name}"));
            let of_others =
                |end: &str| Format::all().any(|other| other != format && other.extension() == end);
            for end in format.extensions().iter().filter(|end| !of_others(end)) {
                assert!(names.contains(&format!(".{end}`")), "{page}: {end}");
            }
            // Count files have a writer of their own.
            let writes = format.is_writable() || format.is_sliced();
            assert_eq!(*says, [true, true, writes, format.learns()], "{page}: {name}");
        }
        let plays = rows.iter().filter(|(_, [plays, ..])| *plays).map(|(names, _)| names.as_str());
        for ending in plays.flat_map(|names| names.split('`').skip(1).step_by(2)) {
            assert!(Format::of_name(Path::new(&format!("book{ending}"))).is_some(), "{page}: {ending}");
        }
    }
    for page in ["README.md", "docs/guide/why.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let row = text.lines().find(|line| line.starts_with("| formats |")).unwrap();
        let ours = row.trim_end_matches(" |").rsplit('|').next().unwrap();
        for format in Format::all() {
            let named = [format!("`.{}`", format.extension()), format.plural()];
            assert!(named.iter().any(|name| ours.contains(name)), "{page}: {format}");
        }
    }
}

#[test]
fn the_oldest_rust_is_named_alike_everywhere() {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    for (page, says) in [
        ("README.md", format!("Rust {oldest} or newer")),
        ("CONTRIBUTING.md", format!("needs Rust {oldest};")),
        (".github/workflows/ci.yml", format!("rustup toolchain install {oldest} ")),
        (".github/workflows/ci.yml", format!("cargo +{oldest} check")),
    ] {
        assert!(fs::read_to_string(root().join(page)).unwrap().contains(&says), "{page}: {says}");
    }
}

#[test]
fn the_starter_book_is_the_one_that_its_page_describes() {
    let book = fs::read(root().join("crates/book/books/starter.bin")).unwrap();
    let page = fs::read_to_string(root().join("crates/book/books/README.md")).unwrap();
    let sum: String = Sha256::digest(&book).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(page.contains(&format!("| SHA-256 | `{sum}` |")), "{sum}");
}
