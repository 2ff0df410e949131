//! Options that are set in advance: how they are announced, and their effect.

use tabiya_adapter::session::{Output, Session};
use tabiya_adapter::settings::books::BookList;
use tabiya_adapter::settings::options::Options;
use tabiya_book::open_bytes;

use super::dialogues::{play, session};
use super::library::{OneBook, polyglot, polyglot_bytes, serve};

const BOOK: [&str; 2] = ["e2e4 = 1", "e2e4 e7e5 = 1"];

/// A dialogue with options set in advance.
fn dialogue(settings: &[(&str, &str)], script: &str) {
    play(session(polyglot(&BOOK), settings), script);
}

#[test]
fn options_of_the_engine_are_announced_as_configured() {
    dialogue(
        &[
            ("hash", "8"),
            ("Hash", "256"),
            ("Ponder", "true"),
            ("Style", "risky"),
            ("Skill", "99"),
            ("Path", "/a b"),
        ],
        "> uci
         E uci
         < option name Hash type spin default 16 min 1 max 1024
         G option name Hash type spin default 256 min 1 max 1024
         < option name Ponder type check default false
         G option name Ponder type check default true
         < option name Style type combo default Normal var Risky var Normal
         G option name Style type combo default Risky var Risky var Normal
         < option name Skill type spin default 20 min 0 max 20
         G option name Skill type spin default 20 min 0 max 20
         < option name Path type string default <empty>
         G option name Path type string default /a b
         < option name Threads type spin default 1 min 1 max 9
         G option name Threads type spin default 1 min 1 max 9
         < uciok
         E setoption name hash value 8
         E setoption name Hash value 256
         E setoption name Ponder value true
         E setoption name Style value risky
         E setoption name Skill value 99
         E setoption name Path value /a b
         G uciok
         G info string tabiya: Skill: the engine does not accept '99': it lists spin default 20 min 0 max 20",
    );
}

#[test]
fn an_unknown_option_is_reported_and_still_sent() {
    let unknown = "neither the engine nor tabiya has an option of this name";
    dialogue(
        &[("Hahs", "8"), ("Book-Varieties", "3"), ("BookVariety", "3")],
        &format!(
            "> uci
             E uci
             < option name Hash type spin default 16 min 1 max 1024
             G option name Hash type spin default 16 min 1 max 1024
             < uciok
             E setoption name Hahs value 8
             E setoption name Book-Varieties value 3
             E setoption name BookVariety value 3
             G uciok
             G info string tabiya: Hahs: {unknown}: correct the name
             G info string tabiya: Book-Varieties: {unknown}: correct the name
             G info string tabiya: BookVariety: {unknown}: write 'Book Variety'"
        ),
    );
}

#[test]
fn an_option_of_the_gui_that_is_nearly_ours_is_reported_unless_the_engine_has_it() {
    dialogue(
        &[],
        "> uci
         E uci
         < option name BookFile type string default <empty>
         G option name BookFile type string default <empty>
         < uciok
         G uciok
         > setoption name bookfile value a.bin
         E setoption name bookfile value a.bin
         > setoption name Bok File value a.bin
         G info string tabiya: Bok File: neither the engine nor tabiya has an option of this name: write 'Book File'
         E setoption name Bok File value a.bin",
    );
}

#[test]
fn messages_also_go_to_standard_error() {
    let (mut session, mut out, library) = session(polyglot(&BOOK), &[]);
    assert!(out.messages.is_empty());
    session.gui_line(b"setoption name Book File value no.bin;test.bin\n", &mut out);
    serve(&library, &mut session, &mut out);
    assert_eq!(out.messages, ["no.bin: no such book"]);
    assert_eq!(out.gui, b"info string tabiya: no.bin: no such book\n");
    session.gui_line(b"setoption name Book Variety value 101\n", &mut out);
    assert_eq!(out.messages.len(), 2);
}

#[test]
fn the_gui_gets_the_reason_if_there_is_no_match() {
    let mut out = Output::default();
    let mut session = Session::new(Options::default(), Vec::new(), &mut out);
    session.gui.notify("a key".to_owned(), &mut out);
    session.gui_line(b"uci\n", &mut out);
    assert!(out.gui.is_empty());
    session.books_refused(&["one".to_owned(), "two".to_owned()], &mut out);
    session.gui_line(b"isready\n", &mut out);
    let said = "info string tabiya: a key\ninfo string tabiya: one\ninfo string tabiya: two\n";
    assert_eq!(String::from_utf8(out.gui).unwrap(), said);
    assert_eq!(out.engine, b"uci\n");
}

#[test]
fn an_opponent_that_is_set_in_advance_is_announced_as_set() {
    let (mut session, mut out, _) =
        session(polyglot(&BOOK), &[("uci_opponent", "GM 2800 human Gary Kasparov")]);
    session.gui_line(b"uci\n", &mut out);
    session.engine_line(b"uciok\n", &mut out);
    let gui = String::from_utf8(out.gui).unwrap();
    assert!(
        gui.contains("option name UCI_Opponent type string default GM 2800 human Gary Kasparov\n"),
        "{gui}"
    );
    assert_eq!((out.engine.as_slice(), out.messages.len()), (&b"uci\n"[..], 0));
}

#[test]
fn an_engine_without_an_analyse_mode_gets_ours() {
    let greeting = "> uci
                    E uci
                    < uciok
                    G uciok
                    ";
    let analysis = "> position startpos
                    > setoption name UCI_AnalyseMode value true
                    G info string tabiya: UCI_AnalyseMode is true: that is analysis, in which the engine plays every move and books are silent
                    > go depth 12
                    E position startpos
                    E go depth 12
                    < bestmove a2a3
                    G bestmove a2a3
                    > setoption name UCI_AnalyseMode value false
                    > go depth 12
                    G bestmove e2e4 ponder e7e5";
    dialogue(&[], &format!("{greeting}{analysis}"));
    // If it is set in advance, it is announced with that value and not reported as unknown.
    let (mut session, mut out, _) = session(polyglot(&BOOK), &[("uci_analysemode", "true")]);
    session.gui_line(b"uci\n", &mut out);
    session.engine_line(b"uciok\n", &mut out);
    let gui = String::from_utf8(out.gui.clone()).unwrap();
    assert!(gui.contains("option name UCI_AnalyseMode type check default true\n"), "{gui}");
    assert_eq!((out.engine.as_slice(), out.messages.len()), (&b"uci\n"[..], 1));
    out.gui.clear();
    session.gui_line(b"go depth 3\n", &mut out);
    assert!(out.engine.ends_with(b"go depth 3\n"));
}

#[test]
fn an_engine_with_an_analyse_mode_keeps_it() {
    dialogue(
        &[],
        "> uci
         E uci
         < option name UCI_AnalyseMode type check default false
         < uciok
         G uciok
         > setoption name UCI_AnalyseMode value true
         G info string tabiya: UCI_AnalyseMode is true: that is analysis, in which the engine plays every move and books are silent
         E setoption name UCI_AnalyseMode value true",
    );
    let (mut session, mut out, _) = session(polyglot(&BOOK), &[]);
    session.gui_line(b"uci\n", &mut out);
    session.engine_line(b"option name UCI_AnalyseMode type check default false\n", &mut out);
    session.engine_line(b"uciok\n", &mut out);
    let gui = String::from_utf8(out.gui.clone()).unwrap();
    assert_eq!(gui.matches("UCI_AnalyseMode").count(), 1, "{gui}");
}

#[test]
fn the_engine_is_announced_under_another_name() {
    let said = |name: Option<&str>, lines: &[&str]| {
        let (session, mut out, _) = session(polyglot(&BOOK), &[]);
        let mut session = session.with_name(name.map(str::to_owned));
        session.gui_line(b"uci\n", &mut out);
        lines.iter().for_each(|line| session.engine_line(line.as_bytes(), &mut out));
        let text = String::from_utf8(std::mem::take(&mut out.gui)).unwrap();
        text.split_inclusive('\n').filter(|line| line.starts_with("id ")).collect::<String>()
    };
    assert_eq!(said(None, &["id name Fish 1\n", "uciok\n"]), "id name Fish 1 (tabiya)\n");
    assert_eq!(said(None, &["id name  Fish  1 \r\n", "uciok\n"]), "id name Fish  1 (tabiya) \r\n");
    assert_eq!(said(None, &["id name Fish (tabiya)\n", "uciok\n"]), "id name Fish (tabiya)\n");
    assert_eq!(said(None, &["id name\n", "uciok\n"]), "id name (tabiya)\n");
    assert_eq!(said(None, &["id author A name\n", "uciok\n"]), "id author A name\n");
    assert_eq!(
        said(Some("Mine"), &["id name Fish\n", "id author A\n", "uciok\n"]),
        "id name Mine\nid author A\n"
    );
    assert_eq!(said(Some("Mine"), &["uciok\n"]), "id name Mine\n");
    assert_eq!(said(None, &["uciok\n"]), "");
}

/// The first move of a session that is configured with books for both colours, and perhaps for White.
fn first_move(book_for_white: bool, lines: &[&str]) -> String {
    let mut options = Options::default();
    options.books.both = BookList::parse("test.bin");
    if book_for_white {
        options.books.white = BookList::parse("test.bin");
    }
    let mut out = Output::default();
    let library = OneBook { name: "test.bin", book: polyglot(&BOOK), values: &[] };
    let mut session = Session::new(options, Vec::new(), &mut out);
    for line in lines.iter().chain(&["position startpos", "go depth 1"]) {
        session.gui_line(format!("{line}\n").as_bytes(), &mut out);
        serve(&library, &mut session, &mut out);
    }
    let text = String::from_utf8(out.gui).unwrap();
    text.lines().rfind(|line| line.starts_with("bestmove")).unwrap_or("the engine").to_owned()
}

#[test]
fn an_empty_list_means_the_configurations_books_and_none_no_book() {
    let book = "bestmove e2e4 ponder e7e5";
    assert_eq!(first_move(false, &[]), book);
    assert_eq!(first_move(false, &["setoption name Book File value <empty>"]), book);
    assert_eq!(first_move(false, &["setoption name Book File value"]), book);
    for white in [false, true] {
        assert_eq!(first_move(white, &["setoption name Book File value <none>"]), "the engine");
    }
    let again = ["setoption name Book File value <none>", "setoption name Book File value <empty>"];
    assert_eq!(first_move(true, &again), book);
    let white = ["setoption name Book File value <none>", "setoption name Book White value test.bin"];
    assert_eq!(first_move(false, &white), book);
}

#[test]
fn an_empty_log_means_the_configurations_and_none_ends_it() {
    let log_after = |configured: &str, value: &str| {
        let options = Options { log: configured.to_owned(), ..Options::default() };
        let mut out = Output::default();
        let library = OneBook { name: "test.bin", book: polyglot(&BOOK), values: &[] };
        let mut session = Session::new(options, Vec::new(), &mut out);
        serve(&library, &mut session, &mut out);
        session.gui_line(format!("setoption name Book Log value {value}\n").as_bytes(), &mut out);
        out.log_to.unwrap()
    };
    assert_eq!(log_after("a.log", "<empty>"), "a.log");
    assert_eq!(log_after("a.log", "b.log"), "b.log");
    assert_eq!(log_after("a.log", "<none>"), "");
    assert_eq!(log_after("", "<empty>"), "");
}

/// The `info` line of depth 0 before a book move.
fn scored_line(statistics: bool, learned: Option<(u16, u16)>) -> String {
    let mut bytes = polyglot_bytes(&["e2e4 = 1"]);
    if let Some((games, halfpoints)) = learned {
        bytes[12..14].copy_from_slice(&games.to_be_bytes());
        bytes[14..16].copy_from_slice(&halfpoints.to_be_bytes());
    }
    let book = open_bytes("test.bin", bytes).unwrap();
    let settings: &[(&str, &str)] = if statistics { &[("Book Score", "statistics")] } else { &[] };
    let (mut session, mut out, _) = session(book, settings);
    session.gui_line(b"position startpos\n", &mut out);
    session.gui_line(b"go depth 1\n", &mut out);
    let text = String::from_utf8(out.gui).unwrap();
    text.lines().find(|line| line.starts_with("info depth")).unwrap().to_owned()
}

#[test]
fn a_book_move_is_announced_with_the_score_of_the_option() {
    let line = |score: i32| {
        format!("info depth 0 seldepth 0 multipv 1 score cp {score} nodes 0 nps 0 time 0 pv e2e4")
    };
    assert_eq!(scored_line(false, Some((4, 6))), line(0));
    assert_eq!(scored_line(true, Some((4, 6))), line(191));
    assert_eq!(scored_line(true, Some((4, 2))), line(-191));
    assert_eq!(scored_line(true, None), line(0));
}
