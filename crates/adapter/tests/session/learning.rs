//! Which games are learned, and with what result: the session alone, with a clock that the test sets.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::{CastlingMode, Color, KnownOutcome};
use tabiya_adapter::session::{BookProblem, Output, Session};
use tabiya_adapter::settings::books::BookFiles;
use tabiya_adapter::settings::options::Options;
use tabiya_base::findings::Findings;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{
    BookSet, BookSummary, Format, MoveFacts, Moves, Scope, Variant, Visit, open_book as open,
    starter_book as starter,
};
use tabiya_chess::Position;
use tabiya_learn::Source;
use tempfile::TempDir;

use super::library::{BookLoader, polyglot_bytes, serve};

struct File(Arc<dyn Book>);

impl BookLoader for File {
    /// The book, or one beside it if the list names one.
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let book = match files.both.files().first() {
            None => Arc::clone(&self.0),
            Some(name) => open(self.0.path().with_file_name(name)).unwrap(),
        };
        (BookSet::new(&[], &[], &[book]), Vec::new())
    }
}

/// A session with a book that can learn, and its output.
struct Talk {
    session: Session,
    out: Output,
    gui: String,
    now: Duration,
    library: File,
    _folder: TempDir,
}

impl Talk {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        for name in ["a.bin", "b.bin"] {
            let bytes = polyglot_bytes(&["e2e4 = 1", "e2e4 e7e5 = 1"]);
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let mut options = Options { seed: 1, ..Options::default() };
        options.policy.learn = true;
        options.policy.depth = 1;
        change(&mut options);
        let mut out = Output::default();
        let mut session = Session::new(options, Vec::new(), &mut out);
        let library = File(open(&path).unwrap());
        serve(&library, &mut session, &mut out);
        Self { session, out, gui: String::new(), now: Duration::ZERO, library, _folder: folder }
    }

    fn gui(&mut self, line: &str) {
        self.session.at(self.now);
        self.session.gui_line(format!("{line}\n").as_bytes(), &mut self.out);
        serve(&self.library, &mut self.session, &mut self.out);
        self.take();
    }

    fn engine(&mut self, line: &str) {
        self.session.at(self.now);
        self.session.engine_line(format!("{line}\n").as_bytes(), &mut self.out);
        self.take();
    }

    fn take(&mut self) {
        self.out.engine.clear();
        self.gui.push_str(&String::from_utf8(std::mem::take(&mut self.out.gui)).unwrap());
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    /// Asks in the position after these moves; if the engine is asked, it answers with this score and move.
    fn ask(&mut self, start: &str, moves: &str, go: &str, score: &str, best: &str) {
        self.gui(&format!("position {start} moves {moves}"));
        self.gui(go);
        self.engine(&format!("info depth 9 score {score} pv {best}"));
        self.engine(&format!("bestmove {best}"));
    }

    /// The games to learn, as `side result plies`.
    fn finished(&mut self) -> Vec<String> {
        let finished = std::mem::take(&mut self.out.finished);
        let games = finished.into_iter().map(|finished| {
            let game = finished.game;
            // As the thread does that writes the spool.
            self.session.gui.report(log::Level::Info, finished.verdict, &mut self.out);
            assert_eq!(finished.sources.len(), 1);
            assert_ne!(game.sides.white, game.sides.black);
            let side = if game.sides.white { Color::White } else { Color::Black };
            let result = match game.result {
                KnownOutcome::Draw => "drawn",
                KnownOutcome::Decisive { winner } if winner == side => "won",
                KnownOutcome::Decisive { .. } => "lost",
            };
            format!("{side} {result} {}", game.moves.len())
        });
        games.collect()
    }

    /// The report about the last game, which the next question brings.
    fn verdict(&mut self) -> String {
        self.gui("go perft 1");
        let said: Vec<&str> =
            self.gui.lines().filter(|line| line.starts_with("info string tabiya: game ")).collect();
        said.last().map(|line| line.rsplit(": ").next().unwrap().to_owned()).unwrap_or_default()
    }
}

const START: &str = "startpos";

/// A game that we play as White, in which each side moves its knights; `scores` are those of White's moves.
fn shuffle(talk: &mut Talk, go: &str, scores: &[&str]) {
    shuffle_from(talk, go, scores, 0);
}

/// As [`shuffle`], but from this move of White on.
fn shuffle_from(talk: &mut Talk, go: &str, scores: &[&str], first: usize) {
    let round = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let mut moves = vec!["a2a3", "a7a6"];
    // The pawns advance one by one: no position occurs three times.
    let pawns = [
        "b2b3", "b7b6", "c2c3", "c7c6", "d2d3", "d7d6", "e2e3", "e7e6", "f2f3", "f7f6", "g2g3", "g7g6",
        "h2h3", "h7h6",
    ];
    let line: Vec<&str> = pawns.chunks(2).flat_map(|pair| round.iter().chain(pair)).copied().collect();
    for (turn, score) in scores.iter().enumerate() {
        if turn >= first {
            talk.ask(START, &moves.join(" "), go, score, line[2 * turn]);
        }
        moves.extend(&line[2 * turn..2 * turn + 2]);
    }
}

#[test]
fn a_mate_on_the_board_is_learned_at_once() {
    let mut talk = Talk::new();
    talk.ask(START, "f2f3", "go", "cp 10", "e7e5");
    talk.ask(START, "f2f3 e7e5 g2g4", "go", "mate 1", "d8h4");
    assert_eq!(talk.finished(), ["black won 4"]);
    assert_eq!(talk.verdict(), "mate on the board");
    // Later events do not make it learn again.
    talk.gui("ucinewgame");
    talk.gui("quit");
    assert_eq!(talk.finished(), [""; 0]);
}

#[test]
fn a_final_position_that_is_sent_ends_the_game() {
    for end in ["ucinewgame", "quit", "position startpos"] {
        let mut talk = Talk::new();
        talk.ask(START, "a2a3 a7a6", "go", "cp 10", "f2f3");
        talk.ask(START, "a2a3 a7a6 f2f3 e7e5", "go", "cp 900", "g2g4");
        talk.gui("position startpos moves a2a3 a7a6 f2f3 e7e5 g2g4 d8h4");
        talk.gui(end);
        assert_eq!(talk.finished(), ["white lost 6"], "{end}");
    }
    // The expected move says nothing about a game that only may end with mate.
    let mut talk = Talk::new();
    talk.ask(START, "a2a3 a7a6", "go", "cp 10", "f2f3");
    talk.ask(START, "a2a3 a7a6 f2f3 e7e5", "go", "cp 100", "g2g4");
    talk.gui("position startpos moves a2a3 a7a6 f2f3 e7e5 g2g4 d8h4");
    talk.gui("go ponder");
    talk.gui("stop");
    talk.engine("bestmove (none)");
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
}

#[test]
fn stalemate_dead_position_repetition_and_fifty_moves_are_draws() {
    // A stalemate and a dead position end the game at once.
    let mut talk = Talk::new();
    let start = "fen 7k/8/6K1/8/8/8/8/5Q2 w - - 0 1";
    talk.ask(start, "", "go", "cp 900", "f1f2");
    talk.ask(start, "f1f2 h8g8", "go", "cp 900", "f2a2");
    talk.ask(start, "f1f2 h8g8 f2a2 g8h8", "go", "cp 900", "a2f7");
    assert_eq!(talk.finished(), ["white drawn 5"]);
    assert_eq!(talk.verdict(), "stalemate on the board");
    let mut talk = Talk::new();
    let start = "fen 8/8/8/8/5k2/6p1/8/6K1 w - - 0 1";
    talk.ask(start, "", "go", "cp -900", "g1g2");
    talk.ask(start, "g1g2 f4e4", "go", "cp -900", "g2g3");
    assert_eq!(talk.finished(), ["white drawn 3"]);
    assert_eq!(talk.verdict(), "neither side can give mate");
    // A program that plays on does not begin another game.
    let mut line = "g1g2 f4e4 g2g3 e4d4".to_owned();
    for (ours, theirs) in [("g3g4", "d4e4"), ("g4g5", "e4d4"), ("g5h5", "d4e4")] {
        talk.ask(start, &line, "go", "cp 0", ours);
        line = format!("{line} {ours} {theirs}");
    }
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
    assert!(!talk.out.notes.iter().any(|(_, note)| note.starts_with("game 2")), "{:?}", talk.out.notes);
    // After a repetition, or fifty moves, the game may continue.
    let mut talk = Talk::new();
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"];
    for ply in [1, 3, 5] {
        talk.ask(
            "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            &moves[..ply].join(" "),
            "go",
            "cp 50",
            moves[ply],
        );
    }
    talk.ask(
        "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        &moves.join(" "),
        "go",
        "cp 50",
        "f6g8",
    );
    assert_eq!(talk.finished(), [""; 0]);
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), ["black drawn 8"]);
    assert_eq!(talk.verdict(), "the position occurred for the third time");
    let mut talk = Talk::new();
    let start = "fen 7k/8/8/8/8/8/8/R3K3 w - - 96 80";
    talk.ask(start, "", "go", "cp 900", "a1a2");
    talk.ask(start, "a1a2 h8g8", "go", "cp 900", "a2a3");
    talk.gui("position fen 7k/8/8/8/8/8/8/R3K3 w - - 96 80 moves a1a2 h8g8 a2a3 g8h8");
    talk.gui("quit");
    assert_eq!(talk.finished(), ["white drawn 4"]);
}

#[test]
fn the_last_scores_decide_if_the_board_does_not() {
    for (scores, taught, why) in [
        (&["cp 20", "cp 650", "cp 650", "cp 700"][..], Some("white won 9"), ""),
        (&["cp 20", "cp -650", "mate -4", "mate -3"], Some("white lost 9"), ""),
        (
            &["cp 20", "cp 650", "cp 650"],
            None,
            "the engine's last scores are not decisive; it is not learned",
        ),
        (&["cp 900"], None, ""),
    ] {
        for end in ["ucinewgame", "quit", "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves h1h2"] {
            let mut talk = Talk::new();
            shuffle(&mut talk, "go depth 5", scores);
            talk.gui(end);
            if end.starts_with("position") {
                // A question about another start ends the game before.
                talk.gui("go depth 1");
            }
            assert_eq!(talk.finished(), Vec::from_iter(taught), "{scores:?} {end}");
            if !why.is_empty() && end == "ucinewgame" {
                assert_eq!(talk.verdict(), why);
            }
        }
    }
    let mut talk = Talk::with(|options| options.learn_margin = 2000);
    shuffle(&mut talk, "go", &["cp 20", "cp 650", "cp 650", "cp 700"]);
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
}

#[test]
fn games_that_a_limit_of_moves_may_have_cut_are_not_learned() {
    // Each game has eleven moves of ours; the first is learned, as a guess.
    let won = |talk: &mut Talk, games: usize| {
        let line = "a2a3 a7a6 b2b3 b7b6 c2c3 c7c6 d2d3 d7d6 e2e3 e7e6 f2f3 f7f6 g2g3 g7g6 h2h3 h7h6 a3a4 a6a5 b3b4 b6b5 c3c4 c6c5 d3d4 d6d5";
        let moves: Vec<&str> = line.split(' ').collect();
        for _ in 0..games {
            for plies in (2..24).step_by(2) {
                talk.ask(START, &moves[..plies].join(" "), "go", "cp 900", moves[plies]);
            }
            talk.gui("ucinewgame");
        }
    };
    let mut talk = Talk::new();
    won(&mut talk, 1);
    assert_eq!(talk.out.finished[0].source, Source::Scores);
    assert_eq!(talk.finished(), ["white won 23"]);
    won(&mut talk, 2);
    assert_eq!(talk.finished(), [""; 0]);
    assert_eq!(talk.verdict(), "a limit of moves may have ended it; it is not learned");
}

#[test]
fn bounds_other_lines_and_abandoned_pondering_give_no_scores() {
    let mut talk = Talk::new();
    shuffle(&mut talk, "go", &["cp 650", "cp 650"]);
    talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8");
    talk.gui("go");
    for line in ["score cp 20", "multipv 2 score cp 900", "score cp 900 lowerbound", "string score cp 900"] {
        talk.engine(&format!("info depth 3 {line}"));
    }
    talk.engine("bestmove b2b3");
    // The opponent played another move.
    talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 h7h5");
    talk.gui("go ponder");
    talk.engine("info depth 9 score cp 900");
    talk.gui("stop");
    talk.engine("bestmove h2h4");
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
    assert_eq!(talk.verdict(), "the engine's last scores are not decisive; it is not learned");
}

#[test]
fn a_ponderhit_adds_the_expected_move_to_the_game() {
    let mut talk = Talk::new();
    shuffle(&mut talk, "go", &["cp 650", "cp 650"]);
    talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8");
    talk.gui("go ponder");
    talk.engine("info depth 9 score cp 900");
    talk.gui("ponderhit");
    talk.engine("bestmove b2b3");
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), ["white won 7"]);
}

#[test]
fn analysis_is_never_learned() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    for line in ["go infinite", "go mate 3", "go searchmoves g1f3 f3g1 b2b3", "go depth 4 infinite"] {
        let mut talk = Talk::new();
        shuffle(&mut talk, "go", won);
        talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 b7b6");
        talk.gui(line);
        talk.gui("stop");
        talk.engine("info depth 4 score cp 900");
        talk.engine("bestmove g1f3");
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), [""; 0], "{line}");
    }
    for option in
        ["MultiPV value 2", "UCI_AnalyseMode value true", "Book Learn value false", "OwnBook value false"]
    {
        let mut talk = Talk::new();
        talk.gui(&format!("setoption name {option}"));
        shuffle(&mut talk, "go", won);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), [""; 0], "{option}");
    }
}

#[test]
fn a_game_is_bound_to_the_books_of_its_first_question() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    for before in [0, 1, 3] {
        let mut talk = Talk::new();
        shuffle(&mut talk, "go", &won[..before]);
        if before == 0 {
            talk.gui("position startpos moves a2a3 a7a6");
        }
        talk.gui("setoption name Book File value b.bin");
        shuffle_from(&mut talk, "go", won, before);
        talk.gui("ucinewgame");
        let finished = talk.out.finished.pop().unwrap();
        let name = if before == 0 { "b.bin" } else { "a.bin" };
        assert!(finished.sources[0].file().ends_with(name), "{before}");
    }
}

#[test]
fn the_opponent_of_a_game_is_the_one_announced_when_it_began() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    let note = |talk: &mut Talk| talk.out.finished.pop().unwrap().game.note;
    let mut talk = Talk::new();
    talk.gui("setoption name UCI_Opponent value none 3600 computer Stockfish 17");
    shuffle(&mut talk, "go", won);
    talk.gui("setoption name UCI_Opponent value GM 2800 human Gary  Kasparov");
    talk.gui("ucinewgame");
    let first = note(&mut talk);
    assert!(first.starts_with("game 1 as White, won against Stockfish 17: "), "{first}");
    shuffle(&mut talk, "go", won);
    talk.gui("setoption name UCI_Opponent value Somebody");
    talk.gui("ucinewgame");
    assert!(note(&mut talk).starts_with("game 2 as White, won against Gary  Kasparov: "));
    shuffle(&mut talk, "go", won);
    talk.gui("setoption name UCI_Opponent value <empty>");
    talk.gui("ucinewgame");
    assert!(note(&mut talk).starts_with("game 3 as White, won against Somebody: "));
    shuffle(&mut talk, "go", won);
    talk.gui("ucinewgame");
    assert!(note(&mut talk).starts_with("game 4 as White, won: "));
}

#[test]
fn options_that_change_after_a_game_do_not_drop_it() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    let again = "position startpos moves d2d4";
    for option in ["Book Learn", "OwnBook"] {
        for ends in [&["ucinewgame"][..], &["quit"], &[again, "go"]] {
            let mut talk = Talk::new();
            shuffle(&mut talk, "go", won);
            talk.gui(&format!("setoption name {option} value false"));
            ends.iter().for_each(|line| talk.gui(line));
            assert_eq!(talk.finished(), ["white won 7"], "{option} {ends:?}");
            // Later games are not learned.
            talk.gui("stop");
            talk.engine("bestmove c2c4");
            talk.ask(START, "d2d4 d7d5 c2c4 c7c5", "go", "cp 900", "c4d5");
            talk.ask(START, "d2d4 d7d5 c2c4 c7c5 c4d5 c5d4", "go", "cp 900", "d1d4");
            talk.gui("ucinewgame");
            assert_eq!(talk.finished(), [""; 0], "{option} {ends:?}");
        }
    }
}

#[test]
fn a_game_is_not_learned_if_learning_was_off_during_it() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    for (option, taught) in [("Book Learn", None), ("OwnBook", Some("white won 7"))] {
        let mut talk = Talk::new();
        shuffle(&mut talk, "go", &won[..1]);
        talk.gui(&format!("setoption name {option} value false"));
        shuffle_from(&mut talk, "go", won, 1);
        talk.gui(&format!("setoption name {option} value true"));
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), Vec::from_iter(taught), "{option}");
        if taught.is_none() {
            let why = "Book Learn was switched off during the game; it is not learned";
            assert_eq!(talk.verdict(), why);
        }
        // Switching it off and on between two questions changes nothing.
        let mut talk = Talk::new();
        shuffle(&mut talk, "go", &won[..1]);
        talk.gui(&format!("setoption name {option} value false"));
        talk.gui(&format!("setoption name {option} value true"));
        shuffle_from(&mut talk, "go", won, 1);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), ["white won 7"], "{option}");
    }
}

#[test]
fn kept_games_are_learned_whenever_the_spool_may_have_changed() {
    let mut talk = Talk::with(|options| options.policy.learn = false);
    assert!(!talk.out.resume_learning);
    for (option, resumes) in
        [("Book File value b.bin", false), ("Book Log value x", false), ("Book Learn value true", true)]
    {
        talk.gui(&format!("setoption name {option}"));
        assert_eq!(std::mem::take(&mut talk.out.resume_learning), resumes, "{option}");
    }
    talk.gui("setoption name Book Log value y");
    assert!(talk.out.resume_learning);
}

#[test]
fn only_moves_that_we_answered_are_credited() {
    let mut talk = Talk::new();
    shuffle(&mut talk, "go", &["cp 900", "cp 900", "cp 900"]);
    talk.gui("ucinewgame");
    let game = talk.out.finished.pop().unwrap().game;
    // a2a3 and a7a6 were on the board when we were first asked.
    assert_eq!((game.moves.len(), game.first), (7, 2));
    let played: Vec<_> = game.played().iter().map(|played| played.color).collect();
    assert_eq!(played, [Color::White; 3]);
}

#[test]
fn positions_that_jump_are_never_learned() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    for (moves, what) in [
        ("a2a3 a7a6 g1f3 g8f6", "moves taken back"),
        ("a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 c2c3 c7c6", "another move than ours"),
        ("a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 b7b6 c2c3 c7c6", "moves left out"),
        ("a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3", "the other side's turn"),
        ("a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b4 e2e8", "an illegal move"),
    ] {
        let mut talk = Talk::new();
        shuffle(&mut talk, "go", won);
        talk.ask(START, moves, "go", "cp 900", "h2h3");
        assert_eq!(talk.finished(), [""; 0], "{what}");
        // Nor are later positions, up to the next game.
        talk.ask(START, &format!("{moves} h2h3 h7h6"), "go", "cp 900", "h3h4");
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), [""; 0], "{what}");
        shuffle(&mut talk, "go", won);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), ["white won 7"], "{what}");
    }
}

#[test]
fn a_new_game_is_noticed_without_ucinewgame() {
    let mut talk = Talk::new();
    shuffle(&mut talk, "go", &["cp 900", "cp 900", "cp 900"]);
    talk.ask(START, "a2a4", "go", "cp 900", "a7a5");
    assert_eq!(talk.finished(), ["white won 7"]);
}

#[test]
fn a_game_that_a_clock_may_have_ended_is_unknown() {
    let won: &[&str] = &["cp 900", "cp 900", "cp 900"];
    let go = "go wtime 5000 btime 3000 winc 0 binc 0";
    // The opponent's clock.
    for (waited, taught) in [(2000, Some("white won 7")), (2800, None), (60_000, None)] {
        let mut talk = Talk::new();
        shuffle(&mut talk, go, won);
        talk.pass(waited);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), Vec::from_iter(taught), "{waited}");
        if taught.is_none() {
            assert_eq!(talk.verdict(), "the opponent's clock may have run out; it is not learned");
        }
    }
    // Our own.
    for (used, taught) in [(4000, Some("white won 9")), (4800, None), (6000, None)] {
        let mut talk = Talk::new();
        shuffle(&mut talk, go, won);
        talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 b7b6");
        talk.gui(go);
        talk.engine("info depth 9 score cp 900");
        talk.pass(used);
        talk.engine("bestmove c2c3");
        talk.gui("quit");
        assert_eq!(talk.finished(), Vec::from_iter(taught), "{used}");
    }
    // Engines use all of `movetime`; of bullet games that end with little on the clock nobody knows.
    for (go, used, taught) in [
        ("go movetime 100", 100, true),
        ("go movetime 100", 190, true),
        ("go movetime 100", 200, false),
        ("go movetime 2000", 2150, true),
        ("go movetime 2000", 2200, false),
        ("go wtime 260 btime 3000 winc 0 binc 0", 40, true),
        ("go wtime 260 btime 3000 winc 0 binc 0", 60, false),
        ("go wtime 200 btime 3000 winc 100 binc 100", 0, false),
    ] {
        let mut talk = Talk::new();
        shuffle(&mut talk, go, won);
        talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 b7b6");
        talk.gui(go);
        talk.engine("info depth 9 score cp 900");
        talk.pass(used);
        talk.engine("bestmove c2c3");
        talk.pass(10);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), Vec::from_iter(taught.then_some("white won 9")), "{go} {used}");
    }
    // The opponent uses all of it too.
    for (go, waited, taught) in [
        ("go movetime 100", 150, true),
        ("go movetime 100", 250, false),
        ("go wtime 3000 btime 260", 30, true),
        ("go wtime 3000 btime 260", 60, false),
    ] {
        let mut talk = Talk::new();
        shuffle(&mut talk, go, won);
        talk.pass(waited);
        talk.gui("ucinewgame");
        assert_eq!(talk.finished(), Vec::from_iter(taught.then_some("white won 7")), "{go} {waited}");
    }
    // While it runs.
    let mut talk = Talk::new();
    shuffle(&mut talk, go, won);
    talk.gui("position startpos moves a2a3 a7a6 g1f3 g8f6 f3g1 f6g8 b2b3 b7b6");
    talk.gui(go);
    talk.engine("info depth 9 score cp 900");
    talk.gui("quit");
    assert_eq!(talk.finished(), [""; 0]);
}

#[test]
fn the_game_of_an_engine_that_fails_is_not_learned() {
    let mut talk = Talk::new();
    shuffle(&mut talk, "go", &["cp 900", "cp 900", "cp 900"]);
    talk.session.engine_gone("it died", &mut talk.out);
    talk.take();
    assert_eq!(talk.finished(), [""; 0]);
    assert!(talk.gui.contains("the engine failed; it is not learned"), "{}", talk.gui);
}

#[test]
fn moves_of_the_book_are_learned_and_have_no_score() {
    let mut talk = Talk::new();
    talk.gui("position startpos");
    talk.gui("go");
    assert!(talk.gui.contains("bestmove e2e4"), "{}", talk.gui);
    talk.ask(START, "e2e4 e7e5", "go", "cp 900", "d1h5");
    talk.ask(START, "e2e4 e7e5 d1h5 a7a6", "go", "cp 900", "f1c4");
    talk.ask(START, "e2e4 e7e5 d1h5 a7a6 f1c4 b7b6", "go", "mate 1", "h5f7");
    assert_eq!(talk.finished(), ["white won 7"]);
    // After the book's move and two of the engine's there are no three scores.
    let mut talk = Talk::new();
    talk.gui("position startpos");
    talk.gui("go");
    talk.ask(START, "e2e4 e7e5", "go", "cp 900", "d1h5");
    talk.ask(START, "e2e4 e7e5 d1h5 a7a6", "go", "cp 900", "f1c4");
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
}

#[test]
fn chess960_castling_is_learned_as_it_was_played() {
    let mut talk = Talk::new();
    talk.gui("setoption name UCI_Chess960 value true");
    let start = "fen 4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1";
    talk.ask(start, "", "go", "cp 900", "e1g1");
    talk.ask(start, "e1g1 e8e7", "go", "cp 900", "b1b7");
    talk.ask(start, "e1g1 e8e7 b1b7 e7e6", "go", "cp 900", "b7b6");
    talk.gui("quit");
    let game = talk.out.finished.pop().unwrap().game;
    assert_eq!(game.moves[0].to_uci(CastlingMode::Chess960).to_string(), "e1g1");
    assert!(game.moves[0].is_castle());
}

#[test]
fn nothing_is_learned_in_another_variant() {
    let mut talk = Talk::new();
    talk.gui("setoption name UCI_Variant value kingofthehill");
    shuffle(&mut talk, "go", &["cp 900"; 4]);
    talk.gui("ucinewgame");
    assert_eq!(talk.finished(), [""; 0]);
    // A game ends where another variant begins.
    talk.gui("setoption name UCI_Variant value chess");
    shuffle(&mut talk, "go", &["cp 900"; 4]);
    talk.gui("setoption name UCI_Variant value 3check");
    assert_eq!(talk.finished(), ["white won 9"]);
    shuffle(&mut talk, "go", &["cp 900"; 4]);
    talk.gui("quit");
    assert_eq!(talk.finished(), [""; 0]);
}

/// Three moves of this side that win, at these clocks, and then a question to ponder on.
fn won_and_ponders(side: Color, go: &str, ponder: &str) -> Talk {
    let mut talk = Talk::new();
    let mut moves = vec!["a2a3", "a7a6", "b2b3", "b7b6", "c2c3", "c7c6", "d2d3", "d7d6", "e2e3", "e7e6"];
    moves.truncate(side.fold_wb(8, 9));
    for plies in [moves.len() - 6, moves.len() - 4, moves.len() - 2] {
        talk.ask(START, &moves[..plies].join(" "), go, "cp 900", moves[plies]);
    }
    talk.gui(&format!("position startpos moves {}", moves.join(" ")));
    talk.gui(ponder);
    talk
}

/// What becomes of a game that ends so long after this question to ponder on, in milliseconds.
fn ends_after(side: Color, go: &str, ponder: &str, millis: u64) -> String {
    let mut talk = won_and_ponders(side, go, ponder);
    talk.pass(millis);
    talk.gui("stop");
    talk.engine("bestmove h2h3");
    talk.gui("ucinewgame");
    let mut finished = talk.finished();
    finished.pop().unwrap_or_else(|| talk.verdict())
}

#[test]
fn the_opponents_newest_clock_counts_while_we_ponder() {
    let out_of_time = "the opponent's clock may have run out; it is not learned";
    let (much, little) = ("go wtime 60000 btime 60000", "go wtime 1000 btime 1000");
    let ponder = |white: u64, black: u64| format!("go ponder wtime {white} btime {black}");
    for (side, won) in [(Color::White, "white won 7"), (Color::Black, "black won 8")] {
        let theirs = |millis| side.fold_wb(ponder(59_000, millis), ponder(millis, 59_000));
        assert_eq!(ends_after(side, much, &theirs(1000), 990), out_of_time, "{side}");
        assert_eq!(ends_after(side, much, &theirs(1000), 700), won, "{side}");
        assert_eq!(ends_after(side, little, &theirs(59_000), 990), won, "{side}");
        // Without clocks the last ones count.
        assert_eq!(ends_after(side, little, "go ponder", 990), out_of_time, "{side}");
        assert_eq!(ends_after(side, much, "go ponder", 990), won, "{side}");
    }
}

#[test]
fn the_opponents_clock_runs_until_the_ponderhit() {
    let out_of_time = "the opponent's clock may have run out; it is not learned";
    for (passed, expected) in [(1800, out_of_time), (500, "white won 9")] {
        let mut talk = won_and_ponders(Color::White, "go", "go ponder wtime 59000 btime 2000");
        talk.pass(passed);
        talk.gui("ponderhit");
        talk.engine("info depth 9 score cp 900");
        talk.engine("bestmove e2e3");
        talk.pass(300);
        talk.gui("ucinewgame");
        let mut finished = talk.finished();
        assert_eq!(finished.pop().unwrap_or_else(|| talk.verdict()), expected);
    }
}

/// An Arena book, as far as the adapter sees it.
struct Arena;

impl Moves for Arena {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    fn moves(&self, _at: &Position, _out: &mut Vec<MoveFacts>) {}

    fn each(&self, _: Scope, _: &Progress, _: Visit<'_>) -> tabiya_base::error::Result<u64> {
        Ok(0)
    }
}

impl Book for Arena {
    fn path(&self) -> &Path {
        Path::new("b.abk")
    }

    fn format(&self) -> Format {
        tabiya_book::abk::FORMAT
    }

    fn survey(&self, _progress: &Progress, _findings: &mut Findings<'_>) -> BookSummary {
        unreachable!("the adapter plays")
    }
}

struct Books(Vec<Arc<dyn Book>>);

impl BookLoader for Books {
    fn open(&self, _: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        (BookSet::new(&[], &[], &self.0), Vec::new())
    }
}

/// The messages of a session that learns from these books.
fn told_of_learning(books: &[Arc<dyn Book>]) -> Vec<String> {
    let library = Books(books.to_vec());
    let (mut options, mut out) = (Options::default(), Output::default());
    options.policy.learn = true;
    let mut session = Session::new(options, Vec::new(), &mut out);
    serve(&library, &mut session, &mut out);
    for line in ["setoption name Book Learn value true\n", "setoption name Book Max Loss value 1\n"] {
        session.gui_line(line.as_bytes(), &mut out);
        serve(&library, &mut session, &mut out);
    }
    out.messages
}

#[test]
fn it_is_said_once_that_no_book_can_learn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    std::fs::write(&path, polyglot_bytes(&["e2e4 = 1"])).unwrap();
    let arena: Arc<dyn Book> = Arc::new(Arena);
    let (starter, learns) = (starter().unwrap(), open(&path).unwrap());
    let on = "Book Learn is on, but";
    let only = format!("{on} only Polyglot books learn: `tabiya convert b.abk -o b.bin` makes one");
    assert_eq!(told_of_learning(&[Arc::clone(&starter), Arc::clone(&arena)]), [only]);
    assert_eq!(told_of_learning(&[arena, learns]), [""; 0]);
    assert_eq!(told_of_learning(&[]), [""; 0]);
    let own = format!("{on} the starter book cannot learn: name a Polyglot book (.bin)");
    assert_eq!(told_of_learning(&[Arc::clone(&starter)]), [own]);
    let mut permissions = path.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let locked = format!("{on} {} is read-only: results are kept until it can be written", path.display());
    assert_eq!(told_of_learning(&[starter, open(&path).unwrap()]), [locked]);
}
