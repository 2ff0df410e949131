//! Rules: books that are asked under conditions, each with a policy of its own.

use std::sync::Arc;
use std::time::Duration;

use tabiya_adapter::session::{BookProblem, Output, Session};
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_adapter::settings::options::Options;
use tabiya_adapter::settings::rules::Rule;
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, open_bytes};

use super::library::{BookLoader, known, polyglot_bytes, serve};

/// Opens the books of rules: `first.bin` and `second.bin`.
struct TwoBooks {
    first: Arc<dyn Book>,
    second: Arc<dyn Book>,
    /// The evaluations beside the first one: moves from the start, and the value of the position after them.
    values: &'static [(&'static str, i16)],
}

impl TwoBooks {
    /// Both books know the line 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6; the first one also knows 1. d4, which is rarer.
    fn new() -> Self {
        let line = ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 b8c6 f1b5"];
        let entries: Vec<String> = line.iter().map(|line| format!("{line} = 9")).collect();
        let mut entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let second = entries.clone();
        entries.push("d2d4 = 1");
        Self::with_moves(&entries, &second)
    }

    fn with_moves(first: &[&str], second: &[&str]) -> Self {
        let book = |name: &str, entries: &[&str]| open_bytes(name, polyglot_bytes(entries)).unwrap();
        Self { first: book("books/first.bin", first), second: book("second.bin", second), values: &[] }
    }
}

impl BookLoader for TwoBooks {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let named = |name: &String| Arc::clone(if name == "first.bin" { &self.first } else { &self.second });
        let both: Vec<_> = files.both.files().iter().map(named).collect();
        let white: Vec<_> = files.white.files().iter().map(named).collect();
        let rules =
            (1..).zip(files.both.rules()).map(|(number, rule)| (number, rule.color(), named(&rule.file)));
        let set = BookSet::new(&white, &[], &both).with_rules(rules);
        (set.with_evaluations([(Arc::clone(&self.first), known(self.values))]), Vec::new())
    }
}

struct Talk {
    session: Session,
    out: Output,
    library: TwoBooks,
}

impl Talk {
    fn new(rules: &[Rule]) -> Self {
        Self::with(TwoBooks::new(), rules)
    }

    fn with(library: TwoBooks, rules: &[Rule]) -> Self {
        let mut options = Options { seed: 1, ..Options::default() };
        options.books.both = BookList::Rules(rules.to_vec());
        let mut out = Output::default();
        let mut session = Session::new(options, Vec::new(), &mut out);
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
    let varied = rule("first.bin").with("variety", "100").with("depth", "1");
    let main = rule("second.bin").with("variety", "0");
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
    let mut talk = Talk::new(&[rule("first.bin").with("color", "black"), rule("first.bin")]);
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
    let mut talk = Talk::new(&[rule("first.bin").with("color", "white")]);
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (Some(1), None));
    let mut talk = Talk::new(&[rule("first.bin").with("color", "black")]);
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (None, Some(1)));
}

#[test]
fn a_rule_with_a_clock_is_skipped_when_time_is_short() {
    let mut talk = Talk::new(&[rule("first.bin").with("min-clock", "30"), rule("second.bin")]);
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
    let mut talk = Talk::new(&[rule("first.bin").with("max-uses", "2"), rule("second.bin")]);
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
        rule("first.bin").with("max-uses", "1"),
        rule("first.bin").with("min-clock", "9"),
        rule("second.bin").with("depth", "2"),
    ];
    let mut talk = Talk::new(&rules);
    talk.send("debug on");
    talk.send("isready");
    talk.session.engine_line(b"readyok\n", &mut talk.out);
    assert_eq!(talk.asks("", "go"), Some(1));
    let used = "rule 1 is skipped: its max-uses are used up";
    let late = "rule 2 is skipped: the clock is below its min-clock";
    let limited = "tabiya: no book may answer this time; rule 3, second.bin: 1 move; 1 after Depth (move 2): the engine";
    for (moves, answer) in [(E4_E5, "bestmove g1f3"), ("e2e4 e7e5 g1f3 b8c6", limited)] {
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
    let mut talk = Talk::new(&[rule("first.bin").with("depth", "1"), rule("second.bin")]);
    talk.send("setoption name Book Depth value 2");
    assert_eq!(talk.asks("", "go"), Some(1));
    assert_eq!(talk.asks(E4_E5, "go"), Some(2));
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), None);
    talk.send("setoption name Book Depth value 3");
    assert_eq!(talk.asks("e2e4 e7e5 g1f3 b8c6", "go"), Some(2));
    // No limit for this rule, whatever the option says.
    let mut talk = Talk::new(&[rule("first.bin").with("depth", "0")]);
    talk.send("setoption name Book Depth value 1");
    assert_eq!(talk.asks(E4_E5, "go"), Some(1));
}

#[test]
fn the_reserve_of_a_rule_counts_its_own_book_and_those_after_it() {
    let rules = [rule("first.bin").with("depth", "2"), rule("second.bin").with("reserve", "2")];
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

/// What the adapter says to a `go` at the start, and what it sends to the engine.
fn start(talk: &mut Talk) -> (String, String) {
    talk.send("setoption name Book Variety value 0");
    talk.send("position startpos");
    talk.out.gui.clear();
    talk.out.engine.clear();
    talk.send("go wtime 60000 btime 60000");
    [&talk.out.gui, &talk.out.engine].map(|said| String::from_utf8(said.clone()).unwrap()).into()
}

/// What the adapter says after a check in which 1. e4 loses 70 centipawns.
fn checked(talk: &mut Talk) -> String {
    let lines = ["info score cp 40", "bestmove d2d4", "info score cp -30", "bestmove e2e4"];
    for (ms, line) in (1..).zip(lines) {
        talk.session.at(Duration::from_millis(ms));
        talk.session.engine_line(format!("{line}\n").as_bytes(), &mut talk.out);
    }
    String::from_utf8(talk.out.gui.clone()).unwrap()
}

/// Rules for both books, the second one for Black, in whose turn nothing is asked here.
fn only(first: Rule) -> [Rule; 2] {
    [first, rule("second.bin").with("color", "black")]
}

#[test]
fn a_loss_that_a_rule_does_not_allow_is_passed_over_in_its_book_alone() {
    let library = || TwoBooks { values: &[("", 40), ("e2e4", 70), ("d2d4", -30)], ..TwoBooks::new() };
    let strict = rule("first.bin").with("max-loss", "50");
    let mut talk = Talk::with(library(), &only(strict.clone()));
    let (said, _) = start(&mut talk);
    let refused = "info string e2e4 is passed over: it loses 110 centipawns (-70 instead of 40)";
    assert!(said.contains(refused) && said.contains("bestmove d2d4"), "{said}");
    // The stores are opened for it, though the option is off.
    let mut out = Output::default();
    let mut options = Options::default();
    options.books.both = BookList::Rules(vec![rule("second.bin"), strict.clone()]);
    drop(Session::new(options.clone(), Vec::new(), &mut out));
    assert!(out.with_evaluations);
    options.books.both = BookList::Rules(vec![rule("second.bin")]);
    drop(Session::new(options, Vec::new(), &mut out));
    assert!(!out.with_evaluations);
    // The rule before it allows any loss, whatever the option says.
    for free in [rule("first.bin"), rule("first.bin").with("max-loss", "0")] {
        let is_free = free != rule("first.bin");
        let mut talk = Talk::with(library(), &[free, strict.clone()]);
        talk.send(&format!("setoption name Book Max Loss value {}", if is_free { 50 } else { 0 }));
        let (said, _) = start(&mut talk);
        assert!(said.contains("bestmove e2e4") && !said.contains("passed over"), "{said}");
    }
}

#[test]
fn the_engine_checks_the_moves_of_a_rule_that_wants_it() {
    let guarded = rule("first.bin").with("max-loss", "50").with("guard", "400");
    let ready = |rules: &[Rule]| {
        let mut talk = Talk::new(rules);
        talk.send("isready");
        talk.session.engine_line(b"readyok\n", &mut talk.out);
        talk
    };
    let mut talk = ready(&only(guarded.clone()));
    let (said, sent) = start(&mut talk);
    assert!(said.is_empty() && sent.ends_with("go movetime 200\n"), "{said} {sent}");
    let said = checked(&mut talk);
    assert!(said.contains("e2e4 is passed over: it loses 70 centipawns (-30 instead of 40)"), "{said}");
    // Another book's moves are not checked, and the option does not change what a rule says.
    for rules in [[rule("second.bin"), guarded.clone()], only(rule("first.bin").with("guard", "0"))] {
        let mut talk = ready(&rules);
        let is_off = rules[1].file == "second.bin";
        for (option, value) in [("Book Max Loss", 50), ("Book Guard", if is_off { 400 } else { 0 })] {
            talk.send(&format!("setoption name {option} value {value}"));
        }
        talk.send("isready");
        talk.session.engine_line(b"readyok\n", &mut talk.out);
        let (said, sent) = start(&mut talk);
        assert!(said.contains("bestmove e2e4") && !sent.contains("go"), "{said} {sent}");
    }
}

#[test]
fn the_next_choice_is_not_checked_where_its_rule_wants_no_check() {
    let library = TwoBooks::with_moves(&["e2e4 = 9"], &["a2a3 = 9"]);
    let rules = [rule("first.bin").with("max-loss", "50").with("guard", "400"), rule("second.bin")];
    let mut talk = Talk::with(library, &rules);
    talk.send("isready");
    talk.session.engine_line(b"readyok\n", &mut talk.out);
    start(&mut talk);
    let said = checked(&mut talk);
    assert!(said.contains("bestmove a2a3"), "{said}");
}

#[test]
fn a_rule_may_allow_a_position_for_the_third_time() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    let ask = |rules: &[Rule], option: bool| {
        let mut talk = Talk::with(TwoBooks::with_moves(&["g1f3 = 1"], &["e2e4 = 1"]), rules);
        talk.send(&format!("setoption name Book Threefold value {option}"));
        talk.asks(shuffle, "go")
    };
    let allowed = rule("first.bin").with("threefold", "true");
    assert_eq!(ask(&only(rule("first.bin")), false), None);
    assert_eq!(ask(&only(allowed.clone()), false), Some(1));
    assert_eq!(ask(&only(rule("first.bin")), true), Some(1));
    assert_eq!(ask(&only(rule("first.bin").with("threefold", "false")), true), None);
    assert_eq!(ask(&[rule("first.bin"), allowed], false), Some(2));
}

/// What the log has of the opponent and of rules that are skipped.
fn noted(talk: &mut Talk) -> Vec<String> {
    let notes = std::mem::take(&mut talk.out.notes).into_iter().map(|(_, note)| note);
    notes.filter(|note| note.starts_with("the opponent is ")).collect()
}

#[test]
fn a_rule_answers_the_opponents_that_it_is_for_from_the_next_request_on() {
    let bots = rule("first.bin").with("opponent", "computer").with("variety", "0");
    let club = rule("second.bin").with("opponent-rating", "1000..1999").with("opponent-name", "*, bob");
    let mut talk = Talk::new(&[bots, club, rule("second.bin").with("color", "black")]);
    talk.send("uci");
    talk.session.engine_line(b"uciok\n", &mut talk.out);
    let greeting = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    assert!(greeting.contains("option name UCI_Opponent type string default <empty>\n"), "{greeting}");
    // Nobody is known: only the rule for everybody answers.
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (None, Some(3)));
    talk.send("setoption name UCI_Opponent value BOT 3000 computer Stockfish");
    assert_eq!(talk.asks("", "go"), Some(1));
    assert_eq!(
        noted(&mut talk),
        ["the opponent is BOT Stockfish (computer, 3000): rule 1 is asked; rule 2 is skipped: \
          the opponent has another name than its opponent-name"]
    );
    // In the middle of a game too.
    talk.send("setoption name UCI_Opponent value none 1500 human Bob Smith");
    assert_eq!(talk.asks(E4_E5, "go"), Some(2));
    talk.send("ucinewgame");
    talk.send("setoption name uci_opponent value none 2000 human Smith, Bob");
    assert_eq!((talk.asks(E4_E5, "go"), talk.asks("e2e4", "go")), (None, Some(3)));
    // Nothing was sent to an engine that has no such option.
    assert!(!String::from_utf8_lossy(&talk.out.engine).contains("setoption"));
    talk.send("setoption name UCI_Opponent value <empty>");
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (None, Some(3)));
}

#[test]
fn an_opponent_that_is_not_as_specified_is_a_name_which_is_said_once() {
    let mut talk = Talk::new(&[rule("first.bin").with("opponent-name", "bob")]);
    talk.send("uci");
    for line in ["option name UCI_Opponent type string", "uciok"] {
        talk.session.engine_line(format!("{line}\n").as_bytes(), &mut talk.out);
    }
    talk.out.gui.clear();
    talk.send("setoption name UCI_Opponent value Alice");
    let said = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    let taken = "UCI_Opponent: 'Alice' is taken as a name: it is not TITLE RATING human|computer NAME";
    assert_eq!(said, format!("info string tabiya: {taken}\n"));
    // The engine has the option, and gets what we read.
    assert!(talk.out.engine.ends_with(b"setoption name UCI_Opponent value Alice\n"));
    assert_eq!(talk.asks("", "go"), None);
    talk.send("setoption name UCI_Opponent value Bob");
    let said = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    assert_eq!((said.contains("tabiya: "), talk.asks("", "go")), (false, Some(1)), "{said}");
}

#[test]
fn a_rule_for_an_opening_is_silent_where_no_move_of_its_book_leads_there() {
    let spanish = rule("first.bin").with("opening", "C6*; Sicilian").with("threshold", "1000");
    let mut talk = Talk::new(&[spanish, rule("second.bin")]);
    // The book has 1. d4 too, which leads elsewhere.
    for _ in 0..20 {
        talk.send("position startpos");
        talk.send("go");
        let text = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
        assert!(text.contains("bestmove e2e4") && text.contains("first.bin: 1 of 1 moves, "), "{text}");
    }
    // 1... e5 may become a Ruy Lopez.
    let asked: Vec<_> =
        ["e2e4", E4_E5, "e2e4 e7e5 g1f3"].iter().map(|moves| talk.asks(moves, "go")).collect();
    assert_eq!(asked, [Some(1); 3]);
    let mut talk = Talk::new(&[rule("first.bin").with("opening", "Sicilian Defense"), rule("second.bin")]);
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (Some(1), Some(2)));
    // An option for what the rules leave open.
    talk.send("setoption name Book Opening value Dutch Defense");
    assert_eq!((talk.asks("", "go"), talk.asks("e2e4", "go")), (Some(1), None));
    talk.out.gui.clear();
    talk.send("setoption name Book Opening value Sicilean");
    let said = String::from_utf8(std::mem::take(&mut talk.out.gui)).unwrap();
    assert!(
        said.starts_with(
            "info string tabiya: Book Opening: 'Sicilean' is not the name or code of an opening"
        ),
        "{said}"
    );
    assert!(
        said.contains(": names that come near are \"Sicilian\"")
            && said.ends_with("; it stays Dutch Defense\n"),
        "{said}"
    );
    talk.send("setoption name Book Opening value <empty>");
    assert_eq!(talk.asks("e2e4", "go"), Some(2));
}
