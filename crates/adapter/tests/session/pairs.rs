//! Each pair of features together: what is remembered, played and reported.
//!
//! A match of as many games as the book has lines is played against an opponent who answers as the book does. With *Book Fresh* each
//! line comes once, whatever else is switched on and whatever the GUI does meanwhile; that also shows what was remembered.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use tabiya_adapter::session::{About, BookProblem, Event, Output, PlayedNode, Session, Silence};
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_adapter::settings::options::Options;
use tabiya_adapter::settings::rules::Rule;
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, open_book as open};
use tabiya_chess::Game;
use tempfile::TempDir;

use super::library::{BookLoader, polyglot_bytes, serve};

/// The lines of White, and Black's answers to it. Two orders of moves lead to one position.
const LINES: [&str; 8] = [
    "e2e4 e7e5 g1f3 b8c6 f1b5",
    "e2e4 e7e5 g1f3 b8c6 f1c4",
    "e2e4 e7e5 b1c3 b8c6 f2f4",
    "e2e4 e7e5 b1c3 b8c6 g1f3",
    "e2e4 e7e5 f2f4 b8c6 g1f3",
    "d2d4 d7d5 c2c4 e7e6 b1c3",
    "d2d4 d7d5 g1f3 e7e6 c2c4",
    "c2c4 c7c5 g1f3 g8f6 b1c3",
];

/// What the book has for Black besides, some of it with an answer: the opponent plays none of it.
const UNPLAYED: [&str; 4] =
    ["e2e4 c7c5 g1f3", "e2e4 e7e5 g1f3 g8f6 f3e5", "d2d4 g8f6", "d2d4 d7d5 c2c4 c7c6 b1c3"];

/// An enum and the list of all its values.
macro_rules! listed {
    ($(#[$attribute:meta])* enum $name:ident, $all:ident { $($(#[$doc:meta])* $value:ident,)* }) => {
        $(#[$attribute])*
        enum $name { $($(#[$doc])* $value,)* }

        const $all: &[$name] = &[$($name::$value,)*];
    };
}

listed! {
    /// What is switched on, or happens, in a match.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Feature, FEATURES {
        /// The engine checks each move, and finds nothing wrong.
        Guard,
        /// The check refuses 1. c4.
        Refusal,
        /// The GUI ponders, on another reply than that which comes every second time.
        Ponder,
        /// The GUI does not let the engine ponder while the book answers.
        BookPonder,
        /// Each answer of the book waits for a readyok.
        Ready,
        /// `stop` follows each question.
        Stop,
        /// Results are learned.
        Learn,
        /// The book comes under a rule that may answer as often as a line has moves.
        Rule,
        /// The second rule is skipped in the first game, because of the clock.
        Clock,
        /// The option is on, and GUI and engine write castling in its way.
        Chess960,
        /// Options are set, and the next position comes, while the engine searches.
        Options,
        /// Between games there is analysis with several lines of play.
        Analysis,
        /// Between games the engine plays another kind of chess.
        Variant,
        /// Between games the player has Black, against the same moves.
        Black,
        /// Another player with the same book has played all of it.
        Opponent,
        /// Two processes of the same player share the match.
        Two,
        /// The GUI announces no games.
        Unannounced,
        /// The books are opened again in each game.
        Reopened,
    }
}

use Feature::*;

/// The book in a file, under rules or not.
struct Library(Arc<dyn Book>);

impl BookLoader for Library {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let book = || Arc::clone(&self.0);
        let rules = (1..).zip(files.both.rules()).map(|(number, rule)| (number, rule.color(), book()));
        let plain = if files.both.rules().is_empty() { vec![book()] } else { Vec::new() };
        (BookSet::new(&[], &[], &plain).with_rules(rules), Vec::new())
    }
}

/// A process of a player, and what has come of it.
struct Process {
    session: Session,
    out: Output,
    library: Library,
    now: Duration,
    with: BTreeSet<Feature>,
    /// What reached the GUI since the last question.
    gui: String,
    /// The engine's position, and what it was asked.
    board: String,
    /// What was said and done, and what other processes are to know.
    events: Vec<Event>,
    nodes: Vec<PlayedNode>,
    /// The moves of the games that were learned.
    learned: Vec<String>,
    file: PathBuf,
}

impl Process {
    fn new(name: &str, folder: &TempDir, with: &BTreeSet<Feature>) -> Self {
        let file = folder.path().join("a.bin");
        let mut entries = BTreeSet::new();
        for line in LINES.iter().chain(&UNPLAYED) {
            let moves: Vec<&str> = line.split(' ').collect();
            entries.extend((1..=moves.len()).map(|plies| moves[..plies].join(" ")));
        }
        let weight = |moves: &String| if moves.starts_with("e2e4") { 100 } else { 10 };
        let entries: Vec<String> =
            entries.iter().map(|moves| format!("{moves} = {}", weight(moves))).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        std::fs::write(&file, polyglot_bytes(&entries)).unwrap();
        let mut options =
            Options { seed: 5, fresh: true, fresh_file: "match.lines".to_owned(), ..Options::default() };
        options.policy.threshold = 0;
        options.policy.learn = with.contains(&Learn);
        if with.contains(&Guard) || with.contains(&Refusal) {
            (options.policy.max_loss, options.policy.guard) = (50, 400);
        }
        options.ponder = !with.contains(&BookPonder);
        let rule = |key, value| Rule { file: "a.bin".to_owned(), ..Rule::default() }.with(key, value);
        if with.contains(&Clock) {
            options.books.both = BookList::Rules(vec![rule("min-clock", "5")]);
        } else if with.contains(&Rule) {
            options.books.both = BookList::Rules(vec![rule("max-uses", "3")]);
        }
        let mut out = Output::default();
        let session = Session::new(options, Vec::new(), &mut out).with_name(Some(name.to_owned()));
        let library = Library(open(&file).unwrap());
        let (now, with, events, nodes) = (Duration::from_secs(1), with.clone(), Vec::new(), Vec::new());
        let (gui, board, learned) = (String::new(), String::new(), Vec::new());
        let mut process = Self { session, out, library, now, with, gui, board, events, nodes, learned, file };
        process.serve();
        process.gui("uci");
        process.gui("isready");
        if process.with.contains(&Chess960) {
            process.gui("setoption name UCI_Chess960 value true");
            process.gui("isready");
        }
        process
    }

    fn has(&self, feature: Feature) -> bool {
        self.with.contains(&feature)
    }

    /// The GUI sends a line, and everything that follows from it happens.
    fn gui(&mut self, line: &str) {
        self.gui_slowly(line);
        self.engine();
    }

    /// The GUI sends a line, and the engine has not read it yet.
    fn gui_slowly(&mut self, line: &str) {
        self.now += Duration::from_millis(1);
        self.session.at(self.now);
        self.session.gui_line(format!("{line}\n").as_bytes(), &mut self.out);
        self.serve();
    }

    fn serve(&mut self) {
        serve(&self.library, &mut self.session, &mut self.out);
        self.gui.push_str(&String::from_utf8(std::mem::take(&mut self.out.gui)).unwrap());
        self.events.append(&mut self.out.events);
        self.nodes.append(&mut self.out.lines);
        for finished in std::mem::take(&mut self.out.finished) {
            assert_eq!(finished.sources[0].file(), self.file);
            let moves = finished.game.moves.iter().map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
            self.learned.push(moves.collect::<Vec<_>>().join(" "));
        }
    }

    /// The engine answers all that it was sent. It searches without end only while it ponders.
    fn engine(&mut self) {
        loop {
            let heard = String::from_utf8(std::mem::take(&mut self.out.engine)).unwrap();
            if heard.is_empty() {
                return;
            }
            for line in heard.lines() {
                let mut words = line.split(' ');
                let said = match words.next().unwrap() {
                    "position" => {
                        self.board = line.to_owned();
                        continue;
                    }
                    "uci" => "option name MultiPV type spin default 1 min 1 max 9\n\
                              option name UCI_Variant type combo default chess var chess var horde\n\
                              option name UCI_Chess960 type check default false\nuciok\n"
                        .to_owned(),
                    "isready" => "readyok\n".to_owned(),
                    "go" if line.contains("ponder") => continue,
                    "go" if line.contains("searchmoves") => {
                        let mv = words.next_back().unwrap();
                        let score = if self.has(Refusal) && mv == "c2c4" && !self.board.contains("moves") {
                            -100
                        } else {
                            40
                        };
                        format!("info depth 9 score cp {score} pv {mv}\nbestmove {mv}\n")
                    }
                    "go" if line.contains("movetime") => {
                        format!("info depth 9 score cp 40 pv {0}\nbestmove {0}\n", self.quiet())
                    }
                    "go" | "ponderhit" => {
                        format!("info depth 9 score cp 900 pv {0}\nbestmove {0}\n", self.quiet())
                    }
                    "stop" => format!("bestmove {}\n", self.quiet()),
                    "ucinewgame" | "setoption" => continue,
                    _ => panic!("the engine heard {line}"),
                };
                for line in said.split_inclusive('\n') {
                    self.now += Duration::from_millis(1);
                    self.session.at(self.now);
                    self.session.engine_line(line.as_bytes(), &mut self.out);
                    self.serve();
                }
            }
        }
    }

    /// A move that no book has.
    fn quiet(&self) -> String {
        let (_, moves) = self.board.split_once("moves ").unwrap_or(("", ""));
        let game = game(moves);
        let legal = game.position().chess().legal_moves();
        ["a2a3", "a7a6", "a3a4", "a6a5", "h2h3", "h7h6", "h3h4", "h6h5"]
            .into_iter()
            .find(|mv| legal.iter().any(|legal| legal.to_uci(CastlingMode::Standard).to_string() == *mv))
            .unwrap()
            .to_owned()
    }

    /// The move with which the question after these moves is answered, and whether a book plays it.
    fn asked(&mut self, moves: &[String], expected: Option<&str>, clock: u32) -> (String, bool) {
        let position = |moves: &[String]| match moves {
            [] => "position startpos".to_owned(),
            moves => format!("position startpos moves {}", moves.join(" ")),
        };
        let go = format!("wtime {clock} btime {clock}");
        if let (true, Some(expected), Some((_, before))) = (self.has(Ponder), expected, moves.split_last()) {
            let mut guess = before.to_vec();
            guess.push(expected.to_owned());
            self.gui(&position(&guess));
            self.gui(&format!("go ponder {go}"));
            self.gui.clear();
            self.events.clear();
            if guess == moves {
                self.gui("ponderhit");
                return self.answer();
            }
            let said = self.nodes.len();
            self.gui("stop");
            assert_eq!(self.gui.matches("bestmove ").count(), 1, "{:?}: {}", self.with, self.gui);
            assert!(!self.events.iter().any(|event| matches!(event, Event::Book { .. })), "{:?}", self.with);
            assert_eq!(self.nodes.len(), said, "{:?}: a line that was not played is remembered", self.with);
        }
        self.gui(&position(moves));
        if self.has(Ready) {
            self.gui_slowly("isready");
        }
        self.gui.clear();
        self.events.clear();
        self.gui_slowly(&format!("go {go}"));
        if self.has(Options) {
            self.gui_slowly("setoption name Book Score value statistics");
            self.gui_slowly("setoption name Hash value 9");
        }
        if self.has(Stop) {
            self.gui_slowly("stop");
        }
        self.engine();
        self.answer()
    }

    fn answer(&mut self) -> (String, bool) {
        let best: Vec<&str> = self.gui.lines().filter_map(|line| line.strip_prefix("bestmove ")).collect();
        assert_eq!(best.len(), 1, "{:?}: {}", self.with, self.gui);
        let best = best[0].split(' ').next().unwrap().to_owned();
        let answers = self.events.iter().filter(|event| !matches!(event, Event::Notice { .. }));
        let answers: Vec<&Event> = answers.collect();
        let is_book = match answers[..] {
            [Event::Book { file, rule, chance }] => {
                assert_eq!(*file, self.file);
                assert_eq!(rule.is_some(), self.has(Rule) || self.has(Clock), "{:?}", self.with);
                assert!(*chance > 0.0, "{:?}", self.with);
                true
            }
            [Event::Engine { .. }] => false,
            _ => panic!("{:?}: {answers:?}", self.with),
        };
        let shown = self.gui.lines().any(|line| line.starts_with("info depth 0 "));
        assert_eq!(shown, is_book, "{:?}: {}", self.with, self.gui);
        (best, is_book)
    }

    fn new_game(&mut self) {
        if !self.has(Unannounced) {
            self.gui("ucinewgame");
            self.gui("isready");
        }
        if self.has(Reopened) {
            self.gui("setoption name Book File value <empty>");
            self.gui("isready");
        }
    }

    /// Plays a game as White, in which the clock shows so many milliseconds; returns the moves of its line.
    fn game(&mut self, clock: u32) -> String {
        self.new_game();
        let (mut moves, mut line, mut engines) = (Vec::new(), String::new(), 0);
        let mut expected: Option<String> = None;
        while engines < 3 {
            let (best, is_book) = self.asked(&moves, expected.as_deref(), clock);
            moves.push(best);
            if is_book {
                assert_eq!(engines, 0, "{:?}", self.with);
                line = moves.join(" ");
            }
            engines += usize::from(!is_book);
            let reply = reply(&moves);
            let wrong = if reply == "h7h6" { "g7g6" } else { "h7h6" };
            expected = Some(if moves.len() % 4 == 1 { wrong.to_owned() } else { reply.clone() });
            moves.push(reply);
        }
        self.new_game();
        if self.has(Learn) && !self.has(Unannounced) && !self.has(Stop) {
            let learned = self.learned.last().unwrap_or_else(|| panic!("{:?}: nothing learned", self.with));
            let played = moves[..moves.len() - 1].join(" ");
            assert_eq!(*learned, played, "{:?}", self.with);
        }
        line
    }

    /// What happens between games.
    fn pause(&mut self, number: usize) {
        if self.has(Analysis) {
            self.gui("setoption name MultiPV value 3");
            self.gui("position startpos");
            self.events.clear();
            self.gui("go wtime 9000 btime 9000");
            let why = Event::Engine { why: Silence::Analysis };
            assert!(self.events.contains(&why), "{:?}: {:?}", self.with, self.events);
            self.gui("setoption name MultiPV value 1");
        }
        if self.has(Variant) {
            self.events.clear();
            self.gui("setoption name UCI_Variant value horde");
            let told = |event: &Event| matches!(event, Event::Notice { about: About::Variant, .. });
            assert!(self.events.iter().any(told), "{:?}", self.with);
            // This names none, so the engine goes on with horde.
            self.gui("setoption name UCI_Variant value");
            self.gui("position startpos");
            self.events.clear();
            self.gui("go wtime 9000 btime 9000");
            assert_eq!(self.events, [Event::Engine { why: Silence::Variant }], "{:?}", self.with);
            self.gui("setoption name UCI_Variant value chess");
        }
        if self.has(Black) {
            self.new_game();
            let line: Vec<String> = LINES[number % LINES.len()].split(' ').map(str::to_owned).collect();
            let mut moves = Vec::new();
            for mv in line.iter().step_by(2) {
                if !game(&moves.join(" ")).clone().push_uci(mv.as_bytes()) {
                    break;
                }
                moves.push(mv.clone());
                moves.push(self.asked(&moves.clone(), None, 9000).0);
            }
        }
    }
}

/// The game after these moves.
fn game(moves: &str) -> Game {
    let mut game = Game::start();
    moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{moves}"));
    game
}

/// The opponent's answer: that of the lines, else any.
fn reply(moves: &[String]) -> String {
    let so_far = moves.join(" ");
    let known = LINES.iter().find_map(|line| line.strip_prefix(&*format!("{so_far} "))?.split(' ').next());
    let legal = game(&so_far).position().chess().legal_moves();
    known.map_or_else(
        || {
            let quiet = ["g8f6", "g8h6", "b7b6", "g7g6", "b6b5", "h7h5", "h5h4"]
                .map(|mv| mv.parse::<UciMove>().unwrap());
            let first = quiet
                .into_iter()
                .find(|mv| legal.iter().any(|legal| legal.to_uci(CastlingMode::Standard) == *mv));
            first.unwrap().to_string()
        },
        str::to_owned,
    )
}

/// Plays a match with these features.
fn play(with: &BTreeSet<Feature>) {
    let folder = tempfile::tempdir().unwrap();
    let one = || Process::new("one", &folder, with);
    let mut processes = if with.contains(&Two) { vec![one(), one()] } else { vec![one()] };
    if with.contains(&Opponent) {
        let mut other = Process::new("other", &folder, &BTreeSet::new());
        let played: BTreeSet<String> = LINES.iter().map(|_| other.game(9000)).collect();
        assert_eq!(played, LINES.iter().map(|line| (*line).to_owned()).collect());
        processes.iter_mut().for_each(|process| process.session.played_elsewhere(&other.nodes));
    }
    if with.contains(&Clock) {
        // The book is silent: that ends no line.
        assert_eq!(processes[0].game(900), "", "{with:?}");
    }
    let lines = LINES.iter().filter(|line| !(with.contains(&Refusal) && line.starts_with("c2c4")));
    let lines: BTreeSet<String> = lines.map(|line| (*line).to_owned()).collect();
    let mut played = Vec::new();
    for number in 0..lines.len() {
        let process = number % processes.len();
        let mut line = processes[process].game(9000);
        if line.is_empty() && with.contains(&Refusal) {
            // Every choice was refused, and the engine has played: the game counts for no line.
            line = processes[process].game(9000);
        }
        played.push(line);
        processes[process].pause(number);
        let nodes = std::mem::take(&mut processes[process].nodes);
        processes.iter_mut().for_each(|process| process.session.played_elsewhere(&nodes));
    }
    let once: BTreeSet<String> = played.iter().cloned().collect();
    // An engine that is not ready, or is stopped, checks nothing.
    let checks = [Ready, Stop, Options].iter().all(|feature| !with.contains(feature));
    if with.contains(&Refusal) && !checks {
        assert_eq!(once.len(), played.len(), "{with:?}: {played:#?}");
        return;
    }
    assert_eq!(once, lines, "{with:?}: {played:#?}");
}

#[test]
fn each_line_is_played_once_under_each_pair_of_features() {
    for (index, one) in FEATURES.iter().enumerate() {
        for other in &FEATURES[index..] {
            play(&BTreeSet::from([*one, *other]));
        }
    }
}

#[test]
fn and_under_any_set_of_them() {
    use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(45);
    for _ in 0..200 {
        let with: BTreeSet<Feature> = FEATURES.iter().copied().filter(|_| rng.random_bool(0.3)).collect();
        play(&with);
    }
}
