//! Dialogues: lines of both sides, and the lines that they must get.

use std::sync::Arc;
use std::time::Duration;

use tabiya_adapter::session::{Output, Session};
use tabiya_adapter::settings::books::BookList;
use tabiya_adapter::settings::options::Options;
use tabiya_book::BookSet;
use tabiya_book::traits::Book;
use tabiya_uci::{LinePart, SetOption};

use super::library::{OneBook, polyglot, serve};

/// A session whose books are open.
pub fn session(book: Arc<dyn Book>, settings: &[(&str, &str)]) -> (Session, Output, OneBook) {
    session_with(book, &[], settings)
}

/// A session whose books are open, with the evaluations beside them as in [`OneBook`].
pub fn session_with(
    book: Arc<dyn Book>,
    values: &'static [(&'static str, i16)],
    settings: &[(&str, &str)],
) -> (Session, Output, OneBook) {
    let mut options = Options::default();
    options.books.both = BookList::parse("test.bin");
    options.seed = 1;
    // As in the configuration: the adapter's options are set, the others are for the engine.
    let mut for_engine = Vec::new();
    for (name, value) in settings {
        if options.set(&SetOption { name: name.as_bytes(), value: value.as_bytes() }).is_none() {
            for_engine.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    let mut out = Output::default();
    let mut session = Session::new(options, for_engine, &mut out);
    let library = OneBook { name: "test.bin", book, values };
    serve(&library, &mut session, &mut out);
    (session, out, library)
}

/// Plays a dialogue. Each line of `script` is `> text` (the GUI sends it), `< text` (the engine sends it), `E text` (must
/// reach the engine), `G text` (must reach the GUI), `slow` (books wait to be opened from now on), `late` (the wait for
/// them ends), `open` (they are opened), `at MS` (this time has come), or `dies` (the engine ends).
///
/// The script lists everything that reaches either side, in order, except the book's lines (`info string` and
/// `info depth 0`) and the adapter's options.
pub fn play((mut session, mut out, library): (Session, Output, OneBook), script: &str) {
    let (mut slow, mut now) = (false, Duration::ZERO);
    let mut engine = Vec::<String>::new();
    let mut gui = Vec::<String>::new();
    for (number, line) in script.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (who, text) = line.split_once(' ').unwrap_or((line, ""));
        let said = |what: &mut Vec<String>| if what.is_empty() { String::new() } else { what.remove(0) };
        match who {
            ">" | "<" => {
                assert!(
                    engine.is_empty() && gui.is_empty(),
                    "before {number} {line}: left {engine:?} {gui:?}"
                );
                let bytes = format!("{text}\n");
                if who == ">" {
                    session.gui_line(bytes.as_bytes(), &mut out);
                } else {
                    now += Duration::from_nanos(1);
                    session.at(now);
                    session.engine_line(bytes.as_bytes(), &mut out);
                }
                if !slow {
                    serve(&library, &mut session, &mut out);
                }
                engine.extend(lines(&mut out.engine));
                gui.extend(lines(&mut out.gui).into_iter().filter(|line| !is_book_talk(line)));
            }
            "slow" => slow = true,
            "late" | "open" | "at" | "dies" => {
                match who {
                    "late" => session.books_are_late(&mut out),
                    "open" => serve(&library, &mut session, &mut out),
                    "dies" => session.engine_gone("it died", &mut out),
                    _ => {
                        now = Duration::from_millis(text.parse().unwrap());
                        session.at(now);
                        session.time_is_up(&mut out);
                    }
                }
                engine.extend(lines(&mut out.engine));
                gui.extend(lines(&mut out.gui).into_iter().filter(|line| !is_book_talk(line)));
            }
            "E" => assert_eq!(said(&mut engine), text, "line {number}"),
            "G" => assert_eq!(said(&mut gui), text, "line {number}"),
            _ => panic!("{line}"),
        }
    }
    assert!(engine.is_empty() && gui.is_empty(), "left {engine:?} {gui:?}");
}

fn is_book_talk(line: &str) -> bool {
    let own_option = ["Book ", "OwnBook ", "UCI_AnalyseMode ", "UCI_Opponent "]
        .iter()
        .any(|name| line.strip_prefix("option name ").is_some_and(|option| option.starts_with(name)));
    let told =
        line.starts_with("info string") && !line.starts_with("info string tabiya") && !line.contains('#');
    let told = told && !line.contains("passed over");
    own_option || told || line.starts_with("info depth 0 ")
}

fn lines(bytes: &mut Vec<u8>) -> Vec<String> {
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    text.lines().map(str::to_owned).collect()
}

fn dialogue(script: &str) {
    let talk = session(polyglot(&["e2e4 = 1", "e2e4 e7e5 = 1", "e2e4 e7e5 g1f3 = 1"]), &[]);
    play(talk, script);
}

#[test]
fn an_answer_that_waits_for_the_engine_is_given_when_it_dies() {
    dialogue(
        "> isready
         E isready
         > position startpos
         > go wtime 1000 btime 1000
         dies
         G bestmove e2e4 ponder e7e5
         G info string tabiya: it died",
    );
}

#[test]
fn the_book_answers_without_the_engine() {
    dialogue(
        "> position startpos
         > go wtime 1000 btime 1000
         G bestmove e2e4 ponder e7e5
         > stop
         > position startpos moves e2e4 e7e5
         > go
         G bestmove g1f3
         > position startpos moves e2e4 e7e5 g1f3 b8c6
         > go wtime 900 btime 900
         E position startpos moves e2e4 e7e5 g1f3 b8c6
         E go wtime 900 btime 900
         < info depth 1 score cp 3 pv f1b5 #
         G info depth 1 score cp 3 pv f1b5 #
         > stop
         E stop
         < bestmove f1b5
         G bestmove f1b5
         > stop",
    );
}

#[test]
fn options_follow_the_engines_and_settings_are_sent_first() {
    let talk = session(polyglot(&["e2e4 = 1"]), &[("Hash", "64"), ("Book Variety", "0"), ("Clear Hash", "")]);
    play(
        talk,
        "> uci
         E uci
         < id name X
         G id name X (tabiya)
         < option name OwnBook type check default true
         < option name Book File type string default x
         < option name Hash type spin default 1 min 1 max 9
         G option name Hash type spin default 1 min 1 max 9
         < option name Clear Hash type button
         G option name Clear Hash type button
         < uciok
         E setoption name OwnBook value false
         E setoption name Hash value 64
         E setoption name Clear Hash
         G uciok
         G info string tabiya: Hash: the engine does not accept '64': it lists spin default 1 min 1 max 9
         > setoption name Hash value 32
         E setoption name Hash value 32
         > setoption name ownbook value false
         > go
         E go",
    );
}

#[test]
fn a_book_move_waits_for_the_readyok_that_is_owed() {
    dialogue(
        "> isready
         E isready
         > isready
         E isready
         > go
         > stop
         < readyok
         G readyok
         < readyok
         G readyok
         G bestmove e2e4 ponder e7e5",
    );
}

#[test]
fn the_engine_answers_analysis() {
    for script in [
        "> go infinite
         E go infinite",
        "> go mate 3
         E go mate 3",
        "> setoption name MultiPV value 2
         G info string tabiya: MultiPV is 2: that is analysis, in which the engine plays every move and books are silent
         E setoption name MultiPV value 2
         > go
         E go
         < bestmove a2a3
         G bestmove a2a3
         > setoption name multipv value 1
         E setoption name multipv value 1
         > go
         G bestmove e2e4 ponder e7e5",
        "> setoption name UCI_AnalyseMode value true
         G info string tabiya: UCI_AnalyseMode is true: that is analysis, in which the engine plays every move and books are silent
         E setoption name UCI_AnalyseMode value true
         > go
         E go",
        "> setoption name OwnBook value false
         > go movetime 5
         E go movetime 5",
        "> go searchmoves d2d4 a2a3
         E go searchmoves d2d4 a2a3",
        "> go searchmoves d2d4 e2e4 movetime 5
         G bestmove e2e4 ponder e7e5",
    ] {
        dialogue(script);
    }
}

#[test]
fn the_child_ponders_in_book_and_the_book_move_ends_it() {
    dialogue(
        "> position startpos moves e2e4 e7e5
         > go ponder wtime 1 btime 1
         E position startpos moves e2e4 e7e5
         E go ponder wtime 1 btime 1
         < info depth 3 #
         G info depth 3 #
         > ponderhit
         E stop
         G bestmove g1f3
         < info depth 4 #
         > position startpos moves e2e4 e7e5 g1f3 a7a6
         > isready
         > go wtime 1 btime 1
         > stop
         < bestmove d2d4
         E position startpos moves e2e4 e7e5 g1f3 a7a6
         E isready
         E go wtime 1 btime 1
         E stop
         < readyok
         G readyok
         < bestmove h2h3
         G bestmove h2h3",
    );
}

#[test]
fn a_ponder_search_that_has_not_begun_is_cancelled() {
    dialogue(
        "> position startpos moves e2e4 e7e5
         > go ponder
         E position startpos moves e2e4 e7e5
         E go ponder
         > stop
         E stop
         G bestmove g1f3
         > position startpos
         > go ponder
         > ponderhit
         G bestmove e2e4 ponder e7e5
         < bestmove a2a3
         E position startpos
         > go ponder movetime 3
         E go ponder movetime 3
         < bestmove a2a3
         > ponderhit
         G bestmove e2e4 ponder e7e5",
    );
}

#[test]
fn the_child_need_not_ponder_in_book() {
    dialogue(
        "> setoption name Book Ponder value false
         > go ponder
         > isready
         E isready
         > ponderhit
         < readyok
         G readyok
         G bestmove e2e4 ponder e7e5
         > go ponder wtime 7
         > setoption name OwnBook value false
         > ponderhit
         E go wtime 7
         < bestmove a2a3
         G bestmove a2a3",
    );
}

#[test]
fn the_engine_ponders_out_of_book() {
    dialogue(
        "> position startpos moves a2a3
         > go ponder
         E position startpos moves a2a3
         E go ponder
         > ponderhit
         E ponderhit
         < bestmove a7a6
         G bestmove a7a6
         > ponderhit
         > go ponder
         E go ponder
         < bestmove h7h6
         > ponderhit
         G bestmove h7h6",
    );
}

#[test]
fn a_bestmove_that_comes_too_early_is_kept() {
    dialogue(
        "> go infinite
         E go infinite
         < bestmove a2a3
         > isready
         E isready
         < readyok
         G readyok
         > stop
         G bestmove a2a3
         < bestmove b2b3",
    );
}

#[test]
fn questions_are_answered_in_order() {
    dialogue(
        "> position startpos moves a2a3
         > go movetime 9
         E position startpos moves a2a3
         E go movetime 9
         > position startpos
         > go movetime 9
         > position startpos moves a2a4
         > go infinite
         > isready
         E isready
         < readyok
         G readyok
         > stop
         E stop
         < bestmove a7a6
         G bestmove a7a6
         G bestmove e2e4 ponder e7e5
         E position startpos moves a2a4
         E go infinite
         E stop
         < bestmove a7a5
         G bestmove a7a5
         > stop",
    );
}

#[test]
fn the_book_is_silent_from_an_invalid_position_to_the_next_valid_one() {
    dialogue(
        "> position fen nonsense
         > go
         E position fen nonsense
         E go
         < bestmove a2a3
         G bestmove a2a3
         > position startpos moves e2e5
         > go
         E position startpos moves e2e5
         E go
         < bestmove (none)
         G bestmove (none)
         > position startpos
         > go
         G bestmove e2e4 ponder e7e5",
    );
}

#[test]
fn unknown_words_and_lines_are_forwarded() {
    dialogue(
        "> bench 16 1
         E bench 16 1
         > go perft 3
         E go perft 3
         < e2e4: 600
         G e2e4: 600
         < # Nodes searched: 8902
         G # Nodes searched: 8902
         > joho go
         G bestmove e2e4 ponder e7e5
         > register later
         E register later
         > debug on
         E debug on
         > ucinewgame
         E ucinewgame
         < copyprotection checking
         G copyprotection checking
         < registration error
         G registration error",
    );
}

#[test]
fn illegal_moves_of_a_book_are_not_played() {
    let book = polyglot(&["e2e5 = 60000", "a1a1 = 60000", "d2d4 = 0", "e1g1 = 9", "c2c4 = 1"]);
    let talk = session(book, &[]);
    play(talk, "> go\nG bestmove c2c4");
}

#[test]
fn castling_is_written_according_to_the_mode() {
    let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 = 1";
    for (set, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        let talk = session(polyglot(&[line]), &[]);
        let script = format!(
            "> setoption name UCI_Chess960 value {set}
             E setoption name UCI_Chess960 value {set}
             > position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5
             > go
             G bestmove {castling}"
        );
        play(talk, &script);
    }
}

#[test]
fn a_book_set_during_the_session_is_used_at_once_and_errors_reach_the_gui() {
    dialogue(
        "> isready
         E isready
         < readyok
         G readyok
         > setoption name Book File value missing.bin
         G info string tabiya: missing.bin: no such book
         > go
         E go
         < bestmove a2a3
         G bestmove a2a3
         > setoption name Book File value missing.bin;test.bin
         G info string tabiya: missing.bin: no such book
         > go
         G bestmove e2e4 ponder e7e5
         > setoption name Book File value other.bin
         G info string tabiya: other.bin: no such book
         > setoption name Book File value <empty>
         > go
         G bestmove e2e4 ponder e7e5
         > setoption name Book Variety value 1000
         G info string tabiya: Book Variety: '1000' is not a number from 0 to 100; it stays 50",
    );
}

#[test]
fn repetitions_reserve_and_depth_leave_the_book() {
    let book = || polyglot(&["g1f3 = 1", "g1f3 g8f6 = 1", "g1f3 g8f6 f3g1 = 1", "g1f3 g8f6 f3g1 f6g8 = 1"]);
    let twice = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
    for (name, value, position, answered) in [
        ("Book Threefold", "false", format!("position startpos moves {twice}"), false),
        ("Book Threefold", "true", format!("position startpos moves {twice}"), true),
        ("Book Reserve", "4", "position startpos".to_owned(), true),
        // The line is a circle: after four plies it is at the start again.
        ("Book Reserve", "6", "position startpos".to_owned(), false),
        ("Book Depth", "1", "position startpos moves g1f3".to_owned(), true),
        ("Book Depth", "1", "position startpos moves g1f3 g8f6".to_owned(), false),
        ("Book Depth", "2", "position startpos moves g1f3 g8f6".to_owned(), true),
    ] {
        let (mut session, mut out, _) = session(book(), &[(name, value)]);
        session.gui_line(format!("{position}\n").as_bytes(), &mut out);
        session.gui_line(b"go\n", &mut out);
        let text = String::from_utf8(out.gui).unwrap();
        assert_eq!(text.contains("bestmove"), answered, "{name} {value} {position}: {text}");
        assert_eq!(out.engine.is_empty(), answered);
    }
}

#[test]
fn a_line_too_long_to_keep_is_forwarded_and_never_split_by_ours() {
    let (mut session, mut out, _) = session(polyglot(&["e2e4 = 1"]), &[]);
    session.engine_part(LinePart::First, b"info string xxxx", &mut out);
    assert!(!session.passes());
    session.gui_line(b"go\n", &mut out);
    let text = String::from_utf8(std::mem::take(&mut out.gui)).unwrap();
    assert!(text.starts_with("info string xxxx\ninfo string e2e4 "), "{text}");
    session.gui_part(LinePart::First, b"position startpos moves a2a3 ", &mut out);
    session.gui_part(LinePart::Last, b"a7a6\n", &mut out);
    assert_eq!(out.engine, b"position startpos moves a2a3 a7a6\n");
    session.gui_line(b"go\n", &mut out);
    assert!(out.engine.ends_with(b"go\n"), "the book does not know the position and keeps silent");
}

#[test]
fn a_line_too_long_to_keep_does_not_overtake_lines_that_wait_for_books() {
    let mut out = Output::default();
    let mut session = Session::new(Options::default(), Vec::new(), &mut out);
    session.gui_line(b"isready\n", &mut out);
    session.gui_part(LinePart::First, b"position startpos moves a2a3 ", &mut out);
    session.gui_part(LinePart::Last, b"a7a6\n", &mut out);
    assert_eq!(lines(&mut out.engine), [""; 0]);
    assert!(out.messages.iter().any(|message| message.ends_with("it is dropped")));
    drop(session.books_opened(BookSet::new(&[], &[], &[]), Vec::new(), &mut out));
    assert_eq!(lines(&mut out.engine), ["isready"]);
}

/// The `info` lines of depth 0 and the bestmoves that answer a `go` after these lines of the GUI.
fn book_lines(book: &[&str], before: &[&str]) -> Vec<String> {
    let (mut session, mut out, _) = session(polyglot(book), &[]);
    for line in before.iter().chain(&["go wtime 1000 btime 1000"]) {
        session.gui_line(format!("{line}\n").as_bytes(), &mut out);
    }
    lines(&mut out.gui).into_iter().filter(|line| !line.starts_with("info string")).collect()
}

#[test]
fn the_line_of_a_book_move_ends_with_the_game() {
    let circle = ["g1f3 = 1", "g1f3 g8f6 = 1", "g1f3 g8f6 f3g1 = 1", "g1f3 g8f6 f3g1 f6g8 = 1"];
    let info = "info depth 0 seldepth 0 multipv 1 score cp 0 nodes 0 nps 0 time 0 pv ";
    let once = "position startpos moves g1f3 g8f6 f3g1 f6g8";
    assert_eq!(
        book_lines(&circle, &[once]),
        [format!("{info}g1f3 g8f6 f3g1 f6g8"), "bestmove g1f3 ponder g8f6".to_owned()]
    );
    // Nothing follows the move that repeats the position for the third time.
    assert_eq!(
        book_lines(&circle, &["setoption name Book Threefold value true", &format!("{once} g1f3 g8f6 f3g1")]),
        [format!("{info}f6g8"), "bestmove f6g8".to_owned()]
    );
    // Fifty moves without a pawn move, counted from the FEN.
    let fen = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 98 60";
    assert_eq!(
        book_lines(&circle, &[fen]),
        [format!("{info}g1f3 g8f6"), "bestmove g1f3 ponder g8f6".to_owned()]
    );
}

#[test]
fn lines_wait_for_books_but_stop_and_a_greeting_do_not() {
    dialogue(
        "slow
         > position startpos moves a2a3
         > go infinite
         E position startpos moves a2a3
         E go infinite
         > setoption name Book File value missing.bin
         > isready
         > position startpos
         > go movetime 5
         > isready
         > stop
         E stop
         < bestmove a7a6
         G bestmove a7a6
         open
         G info string tabiya: missing.bin: no such book
         E isready
         E position startpos
         E go movetime 5
         E stop
         E isready
         < readyok
         G readyok
         < bestmove h2h3
         G bestmove h2h3",
    );
}

#[test]
fn the_engine_plays_while_books_are_late() {
    dialogue(
        "slow
         > setoption name Book File value test.bin;missing.bin
         > isready
         > go movetime 5
         late
         G info string tabiya: the books are slow to open (is the disk responding?): the engine plays until they are open
         E isready
         E go movetime 5
         < readyok
         G readyok
         < bestmove a2a3
         G bestmove a2a3
         > go movetime 5
         E go movetime 5
         open
         G info string tabiya: missing.bin: no such book
         G info string tabiya: the books are open now
         < bestmove a2a3
         G bestmove a2a3
         > go movetime 5
         G bestmove e2e4 ponder e7e5",
    );
}

#[test]
fn a_greeting_does_not_wait_for_books_and_quit_only_for_lines_before_it() {
    let mut options = Options::default();
    options.books.both = BookList::parse("test.bin");
    let mut out = Output::default();
    let mut session = Session::new(options, Vec::new(), &mut out);
    assert_eq!(out.open_books.take().unwrap().both, BookList::parse("test.bin"));
    session.gui_line(b"uci\n", &mut out);
    assert_eq!(lines(&mut out.engine), ["uci"]);
    session.engine_line(b"uciok\n", &mut out);
    assert!(lines(&mut out.gui).ends_with(&["uciok".to_owned()]));
    session.gui_line(b"quit\n", &mut out);
    assert!(out.quit);

    // As in a script that is piped in.
    let asked = |session: &mut Session, out: &mut Output| {
        for line in ["isready\n", "position startpos\n", "go movetime 5\n", "quit\n", "isready\n", "quit\n"] {
            session.gui_line(line.as_bytes(), out);
        }
        assert!(session.is_leaving(out) && !out.quit);
        assert_eq!(lines(&mut out.engine), [""; 0]);
    };
    for opened in [true, false] {
        let mut out = Output::default();
        let mut session = Session::new(Options::default(), Vec::new(), &mut out);
        asked(&mut session, &mut out);
        if opened {
            let book_set = BookSet::new(&[], &[], &[polyglot(&["e2e4 = 1"])]);
            drop(session.books_opened(book_set, Vec::new(), &mut out));
            assert_eq!(lines(&mut out.engine), ["isready"]);
            session.engine_line(b"readyok\n", &mut out);
            assert_eq!(lines(&mut out.gui).last().unwrap(), "bestmove e2e4");
        } else {
            session.gui_gone(&mut out);
            assert_eq!(lines(&mut out.engine), [""; 0]);
        }
        assert!(out.quit && !session.is_leaving(&out));
    }
}

#[test]
fn a_perft_is_not_a_question_but_may_be_answered_as_one() {
    // An engine that counts moves.
    dialogue(
        "> go perft 3
         E go perft 3
         < Nodes searched: 8902 #
         G Nodes searched: 8902 #
         > stop
         < bestmove a2a3
         > go
         G bestmove e2e4 ponder e7e5",
    );
    // An engine that starts a search, which has no limit.
    dialogue(
        "> position startpos moves a2a3
         > go perft 3
         E position startpos moves a2a3
         E go perft 3
         < info depth 1 #
         G info depth 1 #
         > stop
         E stop
         < bestmove a7a6
         G bestmove a7a6
         > stop
         < bestmove a7a6
         > go movetime 5
         E go movetime 5
         < bestmove a7a6
         G bestmove a7a6",
    );
}

#[test]
fn the_first_word_decides_what_happens_to_a_line_that_is_too_long() {
    let blanks = vec![b' '; 5000];
    let (mut session, mut out, _) = session(polyglot(&["e2e4 = 1"]), &[]);
    session.gui_line(b"position startpos moves a2a3\n", &mut out);
    session.gui_line(b"go\n", &mut out);
    session.engine_part(LinePart::First, &blanks, &mut out);
    session.engine_part(LinePart::Middle, b"  bestm", &mut out);
    session.engine_part(LinePart::Middle, &[b"ove a7a6", &blanks[..]].concat(), &mut out);
    session.engine_part(LinePart::Middle, &blanks, &mut out);
    assert_eq!(lines(&mut out.gui), [""; 0]);
    session.engine_part(LinePart::Last, b"ponder h2h3\n", &mut out);
    assert_eq!(lines(&mut out.gui), ["bestmove a7a6 ponder h2h3"]);
    session.engine_line(b"bestmove b7b6\n", &mut out);
    assert_eq!(lines(&mut out.gui), [""; 0]);
    // The lines of an abandoned search are dropped, however long.
    session.gui_line(b"position startpos\n", &mut out);
    session.gui_line(b"go ponder\n", &mut out);
    session.gui_line(b"ponderhit\n", &mut out);
    out.gui.clear();
    session.engine_part(LinePart::First, &[b"info string ", &blanks[..]].concat(), &mut out);
    session.engine_part(LinePart::Last, b"x\n", &mut out);
    session.engine_part(LinePart::First, &[b"bestmove d2d4", &blanks[..]].concat(), &mut out);
    session.engine_part(LinePart::Last, b"\n", &mut out);
    assert_eq!(lines(&mut out.gui), [""; 0]);
    // Others are forwarded unchanged.
    let long = [b"copyprotection ", &blanks[..], b"ok\n"].concat();
    session.engine_part(LinePart::First, &long[..5010], &mut out);
    session.engine_part(LinePart::Last, &long[5010..], &mut out);
    assert_eq!(std::mem::take(&mut out.gui), long);
    assert!(session.passes());
}

#[test]
fn only_an_endless_search_is_stopped_when_too_many_lines_wait() {
    let line = [b"setoption name Hash value ", &[b'1'; 1 << 16][..], b"\n"].concat();
    for (go, stopped) in [("go movetime 5", false), ("go infinite", true)] {
        let (mut session, mut out, _) = session(polyglot(&["e2e4 = 1"]), &[]);
        session.gui_line(b"position startpos moves a2a3\n", &mut out);
        session.gui_line(format!("{go}\n").as_bytes(), &mut out);
        session.gui_line(b"go movetime 7\n", &mut out);
        for _ in 0..(40 << 4) {
            session.gui_line(&line, &mut out);
        }
        assert!(!session.is_full());
        let heard = lines(&mut out.engine);
        assert_eq!(heard.last().unwrap(), go, "40 MiB do not stop it");
        while !session.is_full() {
            session.gui_line(&line, &mut out);
        }
        assert_eq!(lines(&mut out.engine).contains(&"stop".to_owned()), stopped);
        assert_eq!(session.is_kept_waiting(), stopped);
        session.engine_line(b"bestmove a7a6\n", &mut out);
        assert!(!session.is_full());
        assert!(out.engine.ends_with(&line), "the lines that waited are sent");
    }
}

#[test]
fn the_opening_is_named_when_it_changes() {
    let (mut session, mut out, _) = session(
        polyglot(&[
            "e2e4 = 1",
            "e2e4 c7c5 g1f3 = 1",
            "e2e4 c7c5 g1f3 a7a6 a2a3 = 1",
            "e2e4 c7c5 g1f3 a7a6 a2a3 h7h6 h2h3 = 1",
        ]),
        &[],
    );
    let mut named = |line: &str| {
        session.gui_line(format!("{line}\n").as_bytes(), &mut out);
        session.gui_line(b"go\n", &mut out);
        out.engine.clear();
        let said = lines(&mut out.gui);
        assert!(said.last().unwrap().starts_with("bestmove "), "{said:?}");
        let names = said.iter().filter_map(|line| line.strip_prefix("info string opening "));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(named("position startpos"), ["B00 King's Pawn Game"]);
    assert_eq!(named("position startpos moves e2e4 c7c5"), ["B27 Sicilian Defense"]);
    assert_eq!(named("position startpos moves e2e4 c7c5"), [""; 0]);
    let later = "position startpos moves e2e4 c7c5 g1f3 a7a6";
    assert_eq!(named(later), ["B28 Sicilian Defense: O'Kelly Variation"]);
    assert_eq!(named(&format!("{later} a2a3 h7h6")), [""; 0]);
    // Another game.
    assert_eq!(named("position startpos"), ["B00 King's Pawn Game"]);
    assert_eq!(named("ucinewgame\nposition startpos"), ["B00 King's Pawn Game"]);
}
