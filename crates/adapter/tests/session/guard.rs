//! Moves that lose too much, by the evaluations beside the book and by a check of the engine.

use std::time::Duration;

use tabiya_adapter::session::{Output, Session};

use super::dialogues::{play, session_with};
use super::library::polyglot;

/// 1. e4 is the main move, 1. d4 and 1. c4 are rarer.
const BOOK: [&str; 5] = ["e2e4 = 70", "d2d4 = 20", "c2c4 = 10", "e2e4 e7e5 = 1", "d2d4 d7d5 = 1"];

/// Plays a dialogue with these evaluations and settings, after the engine was ready.
fn dialogue(values: &'static [(&'static str, i16)], settings: &[(&str, &str)], script: &str) {
    let greeting = "> uci\nE uci\n< uciok\nG uciok\n> isready\nE isready\n< readyok\nG readyok\n";
    let talk = session_with(polyglot(&BOOK), values, settings);
    play(talk, &format!("{greeting}{script}"));
}

const LOSS: (&str, &str) = ("Book Max Loss", "50");
const GUARD: (&str, &str) = ("Book Guard", "400");
const BEST: (&str, &str) = ("Book Variety", "0");

/// The line about a move that the store refuses.
fn refused(mv: &str, loss: u32, value: i32, best: i32) -> String {
    format!("G info string {mv} is passed over: it loses {loss} centipawns ({value} instead of {best})")
}

#[test]
fn a_move_that_loses_too_much_is_not_played() {
    let values = &[("e2e4", 60), ("d2d4", -20)];
    let line = refused("e2e4", 80, -60, 20);
    let script = format!("> go wtime 1000 btime 1000\n{line}\nG bestmove d2d4 ponder d7d5");
    dialogue(values, &[LOSS, BEST], &script);
    // Without a limit, or with a greater one, it is.
    for limit in ["0", "80"] {
        dialogue(values, &[("Book Max Loss", limit), BEST], "> go\nG bestmove e2e4 ponder e7e5");
    }
    dialogue(&[], &[LOSS, BEST], "> go\nG bestmove e2e4 ponder e7e5");
    // What the position is worth counts too.
    let line = refused("e2e4", 60, 10, 70);
    let script = format!("> go\n{line}\nG bestmove d2d4 ponder d7d5");
    dialogue(&[("", 70), ("e2e4", -10)], &[LOSS, BEST], &script);
}

#[test]
fn the_engine_answers_where_all_moves_lose_too_much() {
    let lines = [("e2e4", 110, -10), ("d2d4", 120, -20), ("c2c4", 130, -30)]
        .map(|(mv, loss, value)| refused(mv, loss, value, 100))
        .join("\n");
    let script = format!(
        "> go wtime 900 btime 900
         {lines}
         E go wtime 900 btime 900
         < bestmove a2a3
         G bestmove a2a3"
    );
    dialogue(&[("", 100), ("e2e4", 10), ("d2d4", 20), ("c2c4", 30)], &[LOSS, BEST, GUARD], &script);
}

#[test]
fn evaluations_are_opened_once_a_limit_is_set() {
    let line = refused("e2e4", 80, -60, 20);
    let script = format!(
        "> go
         G bestmove e2e4 ponder e7e5
         > setoption name Book Max Loss value 50
         > go
         {line}
         G bestmove d2d4 ponder d7d5
         > setoption name Book Max Loss value 0
         > go
         G bestmove e2e4 ponder e7e5"
    );
    dialogue(&[("e2e4", 60), ("d2d4", -20)], &[BEST], &script);
}

/// The check of 1. e4: the position is worth 40, and the move this much.
fn checked(score: &str) -> String {
    format!(
        "at 1000
         > position startpos
         > go wtime 9000 btime 8000 winc 100 binc 100
         E position startpos
         E go movetime 200
         < info depth 3 score cp 40 pv d2d4
         < bestmove d2d4
         E go movetime 200 searchmoves e2e4
         < info depth 3 score {score} pv e2e4
         < bestmove e2e4\n"
    )
}

/// The line about a move that the check refuses.
fn failed(mv: &str, loss: u32, value: i32) -> String {
    format!("{} in the engine's check", refused(mv, loss, value, 40))
}

const CHECKING: &str = "at 1000
    > go wtime 9000 btime 9000
    E go movetime 200\n";

#[test]
fn a_move_that_passes_the_check_is_played() {
    let script = format!("{}G bestmove e2e4 ponder e7e5", checked("cp -10"));
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn a_move_that_fails_it_is_passed_over_for_the_next() {
    // The next choice is the engine's own.
    let script = format!(
        "{}{}
         G bestmove d2d4 ponder d7d5",
        checked("cp -11"),
        failed("e2e4", 51, -11)
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn each_next_choice_is_checked_and_at_last_the_engine_answers_with_the_time_that_is_left() {
    let script = format!(
        "at 1000
         > go wtime 9000 btime 8000 winc 100 binc 100 movestogo 7
         E go movetime 200
         < info depth 3 score cp 40 pv a2a3
         < bestmove a2a3
         E go movetime 200 searchmoves e2e4
         < info score mate -3 pv e2e4
         < bestmove e2e4
         {}
         E go movetime 200 searchmoves d2d4
         < info score cp -200
         < info score cp 300 lowerbound
         < bestmove d2d4
         {}
         at 1500
         E go movetime 200 searchmoves c2c4
         < info score cp -90
         < bestmove c2c4
         {}
         E go wtime 8500 btime 8000 winc 100 binc 100 movestogo 7
         < info score cp 3 #
         G info score cp 3 #
         < bestmove a2a3
         G bestmove a2a3",
        failed("e2e4", 10_040, -10_000),
        failed("d2d4", 240, -200),
        failed("c2c4", 130, -90)
    );
    // The lines that reach a side are compared after those that cause them.
    let script = script.replace(
        "         at 1500\n         E go movetime 200 searchmoves c2c4\n",
        "         E go movetime 200 searchmoves c2c4\n         at 1500\n",
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn a_choice_for_which_no_time_is_left_is_played() {
    let script = format!(
        "at 0
         > go movetime 3000
         E go movetime 112
         < info score cp 40
         < bestmove a2a3
         E go movetime 112 searchmoves e2e4
         at 295
         < info score cp -500
         < bestmove e2e4
         {}
         G bestmove d2d4 ponder d7d5",
        failed("e2e4", 540, -500)
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn stop_ends_the_check_with_one_answer() {
    let script = format!(
        "{CHECKING}< info score cp 3
         > isready
         E isready
         < readyok
         G readyok
         > stop
         E stop
         G bestmove e2e4 ponder e7e5
         > position startpos moves a2a3
         > go depth 3
         < info score cp 3
         < bestmove a2a3
         E position startpos moves a2a3
         E go depth 3
         < bestmove a7a6
         G bestmove a7a6"
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn an_engine_that_does_not_answer_in_time_does_not_delay_the_move() {
    let script = format!(
        "{CHECKING}at 1799
         > isready
         E isready
         at 1800
         E stop
         G bestmove e2e4 ponder e7e5
         > go wtime 9000 btime 9000
         < readyok
         G readyok
         G bestmove e2e4 ponder e7e5
         < bestmove a2a3
         > go wtime 9000 btime 9000
         E go movetime 200
         > stop
         E stop
         G bestmove e2e4 ponder e7e5"
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn an_engine_that_dies_does_not_take_the_move_with_it() {
    let script = format!("{CHECKING}dies\nG bestmove e2e4 ponder e7e5\nG info string tabiya: it died");
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn an_engine_that_ignores_searchmoves_or_has_no_scores_says_nothing_against_a_move() {
    for (info, mv) in [("info score cp -900 pv a2a3", "a2a3"), ("info depth 3", "e2e4")] {
        let script = format!(
            "{CHECKING}< info score cp 40
             < bestmove a2a3
             E go movetime 200 searchmoves e2e4
             < {info}
             < bestmove {mv}
             G bestmove e2e4 ponder e7e5"
        );
        dialogue(&[], &[LOSS, GUARD, BEST], &script);
    }
    let script = format!("{CHECKING}< bestmove a2a3\nG bestmove e2e4 ponder e7e5");
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
    // The engine's own choice needs no second search.
    let script = format!("{CHECKING}< info score cp 1\n< bestmove e2e4\nG bestmove e2e4 ponder e7e5");
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn there_is_no_check_without_need_or_time() {
    let plain = "> go wtime 9000 btime 9000\nG bestmove e2e4 ponder e7e5";
    dialogue(&[], &[GUARD, BEST], plain);
    dialogue(&[], &[LOSS, BEST], plain);
    dialogue(&[("e2e4", 0)], &[LOSS, GUARD, BEST], plain);
    for go in ["wtime 130 btime 9000", "movetime 100", "searchmoves e2e4 d2d4", "wtime -5"] {
        let script = format!("> go {go}\nG bestmove e2e4 ponder e7e5");
        dialogue(&[], &[LOSS, GUARD, BEST], &script);
    }
    // The engine has something to do first.
    for (line, heard) in [
        ("ucinewgame", "ucinewgame"),
        ("setoption name Hash value 9", "setoption name Hash value 9"),
        ("uci", "uci"),
    ] {
        let script = format!("> {line}\nE {heard}\n> go wtime 9000 btime 9000\nG bestmove e2e4 ponder e7e5");
        dialogue(&[], &[LOSS, GUARD, BEST], &script);
    }
    let talk = session_with(polyglot(&BOOK), &[], &[LOSS, GUARD, BEST]);
    play(talk, plain);
}

#[test]
fn other_limits_than_time_leave_time_for_a_check() {
    for go in ["", "depth 9", "nodes 1000"] {
        let script = format!(
            "> go {go}
             E go movetime 200
             < bestmove a2a3
             G bestmove e2e4 ponder e7e5"
        );
        dialogue(&[], &[LOSS, GUARD, BEST], &script);
    }
}

#[test]
fn analysis_needs_no_check() {
    let script = "> go infinite\nE go infinite\n> stop\nE stop\n< bestmove a2a3\nG bestmove a2a3";
    dialogue(&[], &[LOSS, GUARD, BEST], script);
}

#[test]
fn the_check_begins_when_the_expected_move_was_played() {
    let start = "at 1000
        > go ponder wtime 9000 btime 9000
        E go ponder wtime 9000 btime 9000
        < info score cp 900 pv a2a3 #
        G info score cp 900 pv a2a3 #
        at 30000\n";
    let script = format!(
        "{start}> ponderhit
         E stop
         < info score cp 900
         < bestmove a2a3
         E go movetime 200
         < info score cp 40
         < bestmove a2a3
         E go movetime 200 searchmoves e2e4
         < info score cp -100
         at 30400
         < bestmove e2e4
         {}
         E go movetime 200 searchmoves d2d4
         > stop
         E stop
         G bestmove d2d4 ponder d7d5",
        failed("e2e4", 140, -100)
    );
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
    // A stop wants the answer at once.
    let script = format!("{start}> stop\nE stop\nG bestmove e2e4 ponder e7e5");
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
    // An engine that goes on pondering gets no check, and does not delay the move.
    let script =
        format!("{start}> ponderhit\nE stop\nat 30800\nG bestmove e2e4 ponder e7e5\n< bestmove a2a3");
    dialogue(&[], &[LOSS, GUARD, BEST], &script);
}

#[test]
fn the_engine_answers_a_question_it_pondered_on_with_the_time_that_is_left() {
    let values = &[("d2d4", 500), ("c2c4", 500), ("", 0)];
    let script = format!(
        "> setoption name Book Ponder value false
         > position startpos
         > go ponder wtime 9000 btime 9000
         at 5000
         > ponderhit
         E position startpos
         E go movetime 200
         < info score cp 40
         < bestmove a2a3
         E go movetime 200 searchmoves e2e4
         at 5300
         < info score cp -100
         < bestmove e2e4
         {}
         {}
         {}
         E go wtime 8700 btime 9000
         < bestmove a2a3
         G bestmove a2a3",
        failed("e2e4", 140, -100),
        refused("d2d4", 500, -500, 0),
        refused("c2c4", 500, -500, 0)
    );
    dialogue(values, &[LOSS, GUARD, BEST], &script);
}

#[test]
fn castling_is_written_in_the_notation_of_the_game() {
    let before = "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7";
    let castling = format!("{before} e1h1 = 1");
    for (chess960, king) in [("false", "e1g1"), ("true", "e1h1")] {
        let talk = session_with(polyglot(&[&castling]), &[], &[LOSS, GUARD]);
        let script = format!(
            "> setoption name UCI_Chess960 value {chess960}
             E setoption name UCI_Chess960 value {chess960}
             > isready
             E isready
             < readyok
             G readyok
             > position startpos moves {before}
             > go wtime 9000 btime 9000
             E position startpos moves {before}
             E go movetime 200
             < info score cp 40
             < bestmove a2a3
             E go movetime 200 searchmoves {king}
             < info score cp 30
             < bestmove {king}
             G bestmove {king}"
        );
        play(talk, &script);
    }
}

#[test]
fn a_second_bestmove_of_the_same_search_is_not_the_answer_to_the_next() {
    let (mut session, mut out, _) = session_with(polyglot(&BOOK), &[], &[LOSS, GUARD, BEST]);
    let mut engine = |session: &mut Session, ms: u64, lines: &[&str]| {
        session.at(Duration::from_millis(ms));
        lines.iter().for_each(|line| session.engine_line(format!("{line}\n").as_bytes(), &mut out));
        (std::mem::take(&mut out.engine), String::from_utf8(std::mem::take(&mut out.gui)).unwrap())
    };
    session.gui_line(b"isready\n", &mut Output::default());
    engine(&mut session, 1, &["readyok"]);
    session.gui_line(b"go wtime 9000 btime 9000\n", &mut Output::default());
    let twice = ["info score cp 40", "bestmove a2a3", "bestmove a2a3"];
    let (asked, said) = engine(&mut session, 2, &twice);
    assert_eq!((asked.as_slice(), said.as_str()), (&b"go movetime 200 searchmoves e2e4\n"[..], ""));
    let (_, said) = engine(&mut session, 3, &["info score cp 30", "bestmove e2e4", "bestmove e2e4"]);
    assert!(said.ends_with("bestmove e2e4 ponder e7e5\n") && said.matches("bestmove").count() == 1, "{said}");
}
