//! Numbers that the guide states: limits of the program, and what the files that it carries have.

use sha2::{Digest as _, Sha256};

use super::{fs, root};

/// What a page says, with blanks and ends of lines alike, and the line of the sources that makes it so.
const LIMITS: [(&str, &str, &str, &str); 25] = [
    (
        "docs/guide/inspecting-books.md",
        "lists the first 20 findings of each kind",
        "crates/base/src/findings.rs",
        "LISTED: u64 = 20;",
    ),
    (
        "docs/guide/inspecting-books.md",
        "The first 20 differences of each",
        "src/commands/diff/mod.rs",
        "LISTED: u64 = 20;",
    ),
    (
        "docs/guide/explore.md",
        "the last 200 edits",
        "crates/workshop/src/edit/history.rs",
        "KEPT: usize = 200;",
    ),
    (
        "docs/guide/explore.md",
        "or after five minutes",
        "crates/explore/src/engine/search.rs",
        "SEARCH_TIME: Duration = Duration::from_secs(300);",
    ),
    (
        "docs/guide/explore.md",
        "has 32 to 256 letters",
        "crates/explore/src/token.rs",
        "MAX_LETTERS: usize = 256;",
    ),
    (
        "docs/guide/explore.md",
        "latest first, 30 at a time",
        "crates/explore/src/games/mod.rs",
        "PAGE: usize = 30;",
    ),
    (
        "docs/guide/explore.md",
        "the first 50 plies of each",
        "crates/explore/src/games/make.rs",
        "PLIES: usize = 50;",
    ),
    (
        "docs/guide/explore.md",
        "at most 256 MB of memory",
        "crates/explore/src/games/mod.rs",
        "MEMORY: usize = 256 << 20;",
    ),
    (
        "docs/guide/explore.md",
        "up to 1,000 of them",
        "crates/explore/src/paste.rs",
        "MAX_GAMES: usize = 1000;",
    ),
    (
        "docs/guide/explore.md",
        "has 32 to 256 letters",
        "crates/explore/src/token.rs",
        "TOKEN_LEN: usize = 16;",
    ),
    (
        "docs/guide/learning.md",
        "at least the last 1,000 games it keeps",
        "crates/learn/src/learner/compact.rs",
        "UNDO_GAMES: usize = 1000;",
    ),
    (
        "docs/guide/making-books.md",
        "keeps at least the last 1,000 edits",
        "crates/learn/src/learner/compact.rs",
        "UNDO_GAMES: usize = 1000;",
    ),
    (
        "docs/guide/learning.md",
        "holds the lock for more than 3 seconds",
        "crates/adapter/src/learning/mod.rs",
        "PATIENCE: Duration = Duration::from_secs(3);",
    ),
    (
        "docs/guide/learning.md",
        "it waits at most 10 seconds",
        "crates/adapter/src/learning/mod.rs",
        "LEARN_TIME: Duration = Duration::from_secs(10);",
    ),
    (
        "docs/guide/learning.md",
        "our last ten scores",
        "crates/adapter/src/session/verdict.rs",
        "DRAWN_SCORES: usize = 10;",
    ),
    (
        "docs/guide/learning.md",
        "less than 5 % of it",
        "crates/adapter/src/session/verdict.rs",
        "CLOCK_PART: u32 = 20;",
    ),
    (
        "docs/guide/formats.md",
        "each up to 20 MB",
        "crates/book/src/formats/kvetka/layout.rs",
        "MAX_FILE: u64 = 20 * 1024 * 1024;",
    ),
    (
        "docs/guide/options.md",
        "the log reaches 64 MiB",
        "crates/adapter/src/io/log/file.rs",
        "MAX_SIZE: u64 = 64 << 20;",
    ),
    (
        "docs/guide/options.md",
        "at most a tenth of the time",
        "crates/adapter/src/session/request.rs",
        "CLOCK_PART: u32 = 10;",
    ),
    (
        "docs/guide/options.md",
        "After three such moves",
        "crates/adapter/src/session/guard.rs",
        "MAX_PASSED_OVER: usize = 3;",
    ),
    (
        "docs/guide/options.md",
        "there are not 5 ms for a search",
        "crates/adapter/src/session/request.rs",
        "MIN_SEARCH: Duration = Duration::from_millis(5);",
    ),
    (
        "docs/guide/options.md",
        "up to five `info string` lines",
        "crates/adapter/src/session/advice.rs",
        "SHOWN_MOVES: usize = 5;",
    ),
    (
        "docs/guide/options.md",
        "at most 300 either way",
        "crates/adapter/src/session/score.rs",
        "MAX: f64 = 300.0;",
    ),
    (
        "docs/guide/troubleshooting.md",
        "killed two seconds after the GUI closes it",
        "crates/adapter/src/io/ending.rs",
        "QUIT_TIME: Duration = Duration::from_secs(2);",
    ),
    (
        "SECURITY.md",
        "a line of more than 4 MiB",
        "crates/adapter/src/io/reading.rs",
        "MAX_ENGINE_LINE: usize = 4 << 20;",
    ),
];

fn one_line(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn limits_are_those_of_the_program() {
    for (page, says, source, line) in LIMITS {
        assert!(one_line(page).contains(says), "{page} does not say: {says}");
        assert!(one_line(source).contains(line), "{page} says `{says}`, but {source} has no {line}");
    }
}

#[test]
fn the_list_of_openings_has_as_many_lines_as_the_guide_says() {
    let list = fs::read_to_string(root().join("crates/chess/src/openings/lines.tsv")).unwrap();
    // The first one names the columns.
    let lines = list.lines().count() - 1;
    let says = format!("{},{:03} lines", lines / 1000, lines % 1000);
    assert!(one_line("docs/guide/inspecting-books.md").contains(&says), "{says}");
}

#[test]
fn the_starter_book_is_the_one_that_its_page_describes() {
    let book = fs::read(root().join("crates/book/books/starter.bin")).unwrap();
    let page = one_line("crates/book/books/README.md");
    let sum: String = Sha256::digest(&book).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(page.contains(&format!("| SHA-256 | `{sum}` |")), "{sum}");
    let thousands = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    let mut keys: Vec<_> = book.chunks(16).map(|entry| &entry[..8]).collect();
    keys.dedup();
    let (size, moves, positions) = (book.len(), book.len() / 16, keys.len());
    let says = [size, moves, positions].map(thousands);
    let says = format!("| size | {} bytes: {} moves in {} positions |", says[0], says[1], says[2]);
    assert!(page.contains(&says), "{says}");
}
