//! Rules: books that are asked under conditions, each with a policy of its own.

use std::sync::Arc;

use shakmaty::Color;
use tabiya::adapter::session::{BookProblem, Output, Session};
use tabiya::book::{Book, BookSet, open_bytes};
use tabiya::settings::books::{BookFiles, BookList};
use tabiya::settings::options::Options;
use tabiya::settings::rules::Rule;

use super::library::{BookLoader, polyglot_bytes, serve};

/// Opens the books of rules: `first.bin` and `second.bin`.
struct TwoBooks {
    first: Arc<dyn Book>,
    second: Arc<dyn Book>,
}

impl TwoBooks {
    /// Both books know the line 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6; the first one also knows 1. d4, which is rarer.
    fn new() -> Self {
        let line = ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 b8c6 f1b5"];
        let mut entries: Vec<String> = line.iter().map(|line| format!("{line} = 9")).collect();
        let book = |name: &str, entries: &[String]| {
            let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
            open_bytes(name, polyglot_bytes(&entries)).unwrap()
        };
        let second = book("second.bin", &entries);
        entries.push("d2d4 = 1".to_owned());
        Self { first: book("books/first.bin", &entries), second }
    }
}

impl BookLoader for TwoBooks {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let named = |name: &String| Arc::clone(if name == "first.bin" { &self.first } else { &self.second });
        let both: Vec<_> = files.both.files().iter().map(named).collect();
        let white: Vec<_> = files.white.files().iter().map(named).collect();
        let rules =
            (1..).zip(files.both.rules()).map(|(number, rule)| (number, rule.color, named(&rule.file)));
        (BookSet::new(&white, &[], &both).with_rules(rules), Vec::new())
    }
}

struct Talk {
    session: Session,
    out: Output,
    library: TwoBooks,
}

impl Talk {
    fn new(rules: &[Rule]) -> Self {
        let mut options = Options { seed: 1, ..Options::default() };
        options.books.both = BookList::Rules(rules.to_vec());
        let mut out = Output::default();
        let mut session = Session::new(options, Vec::new(), &mut out);
        let library = TwoBooks::new();
        serve(&library, &mut session, &mut out);
        Self { session, out, library }
    }

    fn send(&mut self, line: &str) {
        self.session.gui_line(format!("{line}\n").as_bytes(), &mut self.out);
        serve(&self.library, &mut self.session, &mut self.out);
    }

    /// The number of the rule that answers after these moves, 0 for a book without one, or `None` for the engine.
    fn asks(&mut self, moves: &str, go: &str) -> Option<usize> {
        self.send(&format!("position startpos moves {moves}"));
        self.out.gui.clear();
        self.out.engine.clear();
        self.send(go);
        self.answer()
    }

    fn answer(&mut self) -> Option<usize> {
        let text = String::from_utf8(std::mem::take(&mut self.out.gui)).unwrap();
        if !text.contains("bestmove") {
            self.session.engine_line(b"bestmove a7a6\n", &mut self.out);
            return None;
        }
        let line = text.lines().find(|line| line.starts_with("info string book ")).unwrap();
        let number = line.rsplit_once(", rule ").map_or("0", |(_, number)| number);
        Some(number.parse().unwrap())
    }
}

fn rule(file: &str) -> Rule {
    Rule { file: file.to_owned(), ..Rule::default() }
}

const E4_E5: &str = "e2e4 e7e5";

#[test]
fn a_varied_book_plays_the_first_moves_and_then_the_main_book() {
    let varied = Rule { variety: Some(100), depth: Some(1), ..rule("first.bin") };
    let main = Rule { variety: Some(0), ..rule("second.bin") };
    let mut talk = Talk::new(&[varied, main]);
    assert_eq!(talk.asks("", "go"), Some(1));
    assert_eq!(talk.asks("e2e4", "go"), Some(1));
    assert_eq!(talk.asks(E4_E5, "go"), Some(2));
    assert_eq!(talk.asks("a2a3", "go"), None);
    // The main book's best move, however much variety the options ask for.
    talk.send("setoption name Book Variety value 100");
    let mut answers = [0; 2];
    for _ in 0..50 {
        talk.send("position startpos");
        talk.send("go");
        let text = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
        answers[usize::from(text.contains("bestmove d2d4"))] += 1;
        assert!(text.contains("info string book books/first.bin: 2 of 2 moves, line ends in "), "{text}");
    }
    assert!(answers.iter().all(|count| *count > 10), "{answers:?}");
}

#[test]
fn a_rule_says_so_in_analysis_and_in_the_line_of_the_book() {
    let mut talk = Talk::new(&[Rule { color: Some(Color::Black), ..rule("first.bin") }, rule("first.bin")]);
    talk.send("position startpos");
    talk.send("go infinite");
    let text = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    assert!(text.ends_with("info string book books/first.bin: 2 of 2 moves, rule 2\n"), "{text}");
    talk.send("stop");
    talk.session.engine_line(b"bestmove a2a3\n", &mut talk.out);
    talk.out.gui.clear();
    talk.send("position startpos moves e2e4");
    talk.send("go");
    let text = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    assert!(text.contains("first.bin: 1 of 1 moves, line ends in 4 plies, rule 1\n"), "{text}");
}

#[test]
fn a_rule_for_one_colour_answers_only_for_it() {
    let mut talk = Talk::new(&[Rule { color: Some(Color::White), ..rule("first.bin") }]);
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (Some(1), None));
    let mut talk = Talk::new(&[Rule { color: Some(Color::Black), ..rule("first.bin") }]);
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (None, Some(1)));
}

#[test]
fn a_rule_with_a_clock_is_skipped_when_time_is_short() {
    let mut talk = Talk::new(&[Rule { min_clock: Some(30), ..rule("first.bin") }, rule("second.bin")]);
    for (go, number) in [
        ("go wtime 30000 btime 1", 1),
        ("go wtime 29999 btime 60000", 2),
        ("go wtime -5 btime 60000", 2),
        ("go wtime 1 btime 1 movetime 1000", 1),
        ("go btime 1", 1),
        ("go depth 5", 1),
        ("go", 1),
    ] {
        assert_eq!(talk.asks("", go), Some(number), "{go}");
    }
    assert_eq!(talk.asks("e2e4", "go wtime 1 btime 30000"), Some(1));
    assert_eq!(talk.asks("e2e4", "go wtime 60000 btime 29999"), Some(2));
    // The clock that counts is that of the question.
    for (left, number) in [(40_000, 1), (20_000, 2)] {
        assert_eq!(talk.asks_while_pondering(left), Some(number));
    }
}

impl Talk {
    fn asks_while_pondering(&mut self, left: u32) -> Option<usize> {
        self.send("position startpos moves e2e4 e7e5");
        self.send(&format!("go ponder wtime {left} btime 1"));
        self.out.gui.clear();
        self.send("ponderhit");
        let answer = self.answer();
        // The engine has pondered too; its move is dropped.
        self.session.engine_line(b"bestmove a2a3\n", &mut self.out);
        self.out.gui.clear();
        answer
    }
}

#[test]
fn a_rule_answers_as_many_moves_of_a_game_as_it_may() {
    let mut talk = Talk::new(&[Rule { max_uses: Some(2), ..rule("first.bin") }, rule("second.bin")]);
    assert_eq!(talk.asks("", "go"), Some(1));
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(2));
    // The last moves are taken back.
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(2));
    // Another game, announced or not; the colour may change.
    assert_eq!(talk.asks("e2e4", "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3", "go"), Some(1));
    talk.send("ucinewgame");
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(1));
    // A move that the book only showed, or that was never played, does not count.
    talk.send("ucinewgame");
    for _ in 0..3 {
        assert_eq!(talk.asks("", "go infinite"), None);
        talk.send("stop");
        assert_eq!(talk.asks("", "go"), Some(1));
    }
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
    // A GUI sets options during the game.
    talk.send("setoption name Book White value <empty>");
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(2));
}

#[test]
fn a_gui_that_debugs_learns_why_rules_are_skipped() {
    let rules = [
        Rule { max_uses: Some(1), ..rule("first.bin") },
        Rule { min_clock: Some(9), ..rule("first.bin") },
        Rule { depth: Some(2), ..rule("second.bin") },
    ];
    let mut talk = Talk::new(&rules);
    talk.send("debug on");
    talk.send("isready");
    talk.session.engine_line(b"readyok\n", &mut talk.out);
    assert_eq!(talk.asks("", "go"), Some(1));
    let used = "rule 1 is skipped: it has answered as many moves as its max-uses";
    let late = "rule 2 is skipped: less than its min-clock is left";
    for (moves, answer) in [(E4_E5, "bestmove g1f3"), ("e2e4 e7e5 g1f3 b8c6", "tabiya: not in the book")] {
        talk.send(&format!("position startpos moves {moves}"));
        talk.out.gui.clear();
        talk.send("go wtime 8000 btime 9000");
        let text = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
        assert!(text.contains(&format!("info string tabiya: {used}; {late}\n")), "{text}");
        assert!(text.contains(answer), "{text}");
    }
}

#[test]
fn options_are_the_defaults_of_rules_and_may_change() {
    let mut talk = Talk::new(&[Rule { depth: Some(1), ..rule("first.bin") }, rule("second.bin")]);
    talk.send("setoption name Book Depth value 2");
    assert_eq!(talk.asks("", "go"), Some(1));
    assert_eq!(talk.asks(E4_E5, "go"), Some(2));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), None);
    talk.send("setoption name Book Depth value 3");
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(2));
    // No limit for this rule, whatever the option says.
    let mut talk = Talk::new(&[Rule { depth: Some(0), ..rule("first.bin") }]);
    talk.send("setoption name Book Depth value 1");
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
}

#[test]
fn the_reserve_of_a_rule_counts_its_own_book_and_those_after_it() {
    let rules =
        [Rule { depth: Some(2), ..rule("first.bin") }, Rule { reserve: Some(2), ..rule("second.bin") }];
    let mut talk = Talk::new(&rules);
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3", "go"), Some(1));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), None, "the last move of the line");
}

#[test]
fn books_that_the_gui_names_replace_the_rules() {
    let mut talk = Talk::new(&[rule("first.bin")]);
    talk.send("setoption name Book File value second.bin");
    assert_eq!(talk.asks("", "go"), Some(0));
    talk.send("setoption name Book File value <none>");
    assert_eq!(talk.asks("", "go"), None);
    talk.send("setoption name Book File value <empty>");
    assert_eq!(talk.asks("", "go"), Some(1));
    // Those for one colour come first.
    talk.send("setoption name Book White value second.bin");
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (Some(0), Some(1)));
}
