//! Random interleavings of GUI lines, engine lines, the engine's death and the end of input, against models of both
//! sides that know the protocol.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use shakmaty::uci::UciMove;
use tabiya_adapter::session::{Output, Session};
use tabiya_adapter::settings::books::BookList;
use tabiya_adapter::settings::options::Options;
use tabiya_chess::Game;

use super::library::{OneBook, polyglot, serve};

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    Gui(Say),
    /// The engine sends a line that is not an answer.
    Talk(u8),
    /// The engine ends its search, perhaps with a score, or sends a move although it has none. If it was told which moves
    /// to search, it plays one of them, or does not know that argument.
    Move(bool, Option<i16>),
    /// This many milliseconds pass.
    Time(u16),
    /// The engine answers an `isready`.
    Ready,
    /// The books have been opened.
    BooksOpen,
    /// The books take long.
    BooksLate,
    /// What other processes have played was read: this process is told of it.
    LinesRead,
    /// That takes long.
    LinesLate,
    EngineDies,
    GuiEnds,
}

/// What a GUI may send.
#[derive(Clone, Debug)]
enum Say {
    Go(&'static str),
    Position(usize),
    Stop,
    PonderHit,
    IsReady,
    Line(&'static str),
}

/// Positions: in the book, in it with bad entries only, not in it, invalid.
const POSITIONS: [&str; 9] = [
    "startpos",
    "startpos moves e2e4",
    "startpos moves e2e4 e7e5",
    "startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5",
    "startpos moves d2d4",
    "startpos moves a2a3 a7a6",
    "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves  e2e4",
    "startpos moves e2e5",
    "fen nonsense",
];

const BOOK: [&str; 12] = [
    "e2e4 = 3",
    "d2d4 = 1",
    "e2e5 = 60000",
    "a1a1 = 5",
    "c2c4 = 0",
    "e2e4 e7e5 = 2",
    "e2e4 c7c5 = 2",
    "e2e4 e7e5 g1f3 = 7",
    "e2e4 e7e5 e1h1 = 7",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 = 1",
    "d2d4 d7d4 = 9",
    "d2d4 g8f6 = 0",
];

/// What is known: 1. d4 loses too much, and 1. e4 c5 little; of 1. e4 and 1... e5 nothing is known.
const VALUES: [(&str, i16); 3] = [("", 30), ("d2d4", 60), ("e2e4 c7c5", 10)];

/// How often something was seen that must be seen.
static CHECKS: AtomicUsize = AtomicUsize::new(0);
static PASSED_OVER: AtomicUsize = AtomicUsize::new(0);
static HANDED_OVER: AtomicUsize = AtomicUsize::new(0);
static TIMES_UP: AtomicUsize = AtomicUsize::new(0);

fn event() -> impl Strategy<Value = Event> {
    let go = prop_oneof![
        4 => Just("go wtime 1000 btime 1000"),
        2 => Just("go ponder wtime 1000 btime 1000"),
        1 => Just("go infinite"),
        1 => Just("go"),
        1 => Just("joho go  depth 300 "),
        1 => Just("go mate 3"),
        1 => Just("go searchmoves e2e4 d2d4"),
        1 => Just("go ponder searchmoves h2h3"),
        1 => Just("go perft 1"),
    ];
    let line = prop_oneof![
        Just("ucinewgame"),
        Just("setoption name Hash value 7"),
        Just("setoption name Book File value test.bin"),
        Just("setoption name Book File value gone.bin"),
        Just("setoption name OwnBook value true"),
        Just("setoption name OwnBook value false"),
        Just("setoption name Book Ponder value false"),
        Just("setoption name Book Ponder value true"),
        Just("setoption name Book Guard value 0"),
        Just("setoption name Book Guard value 400"),
        Just("setoption name Book Max Loss value 0"),
        Just("setoption name Book Max Loss value 40"),
        Just("setoption name Book Fresh value true"),
        Just("setoption name Book Fresh value false"),
        Just("setoption name Book Fresh File value other.lines"),
        Just("setoption name MultiPV value 2"),
        Just("setoption name MultiPV value 1"),
        Just("setoption name UCI_Chess960 value true"),
        Just("setoption name UCI_Chess960 value false"),
        Just("setoption name UCI_Variant value horde"),
        Just("setoption name UCI_Variant value chess"),
        Just("setoption name UCI_Variant value Fischerandom"),
        Just("debug on"),
        Just("uci"),
        Just("what is this"),
        Just(""),
    ];
    let score = prop_oneof![2 => Just(None), 2 => Just(Some(40)), 3 => Just(Some(-200)), 1 => Just(Some(0))];
    prop_oneof![
        8 => go.prop_map(|line| Event::Gui(Say::Go(line))),
        6 => (0..POSITIONS.len()).prop_map(|index| Event::Gui(Say::Position(index))),
        4 => Just(Event::Gui(Say::Stop)),
        4 => Just(Event::Gui(Say::PonderHit)),
        3 => Just(Event::Gui(Say::IsReady)),
        3 => line.prop_map(|line| Event::Gui(Say::Line(line))),
        10 => (prop::bool::weighted(0.8), score).prop_map(|(obeys, score)| Event::Move(obeys, score)),
        3 => (0..500_u16).prop_map(Event::Time),
        6 => Just(Event::Ready),
        6 => Just(Event::BooksOpen),
        1 => Just(Event::BooksLate),
        6 => Just(Event::LinesRead),
        1 => Just(Event::LinesLate),
        7 => any::<u8>().prop_map(Event::Talk),
    ]
}

fn script() -> impl Strategy<Value = Vec<Event>> {
    let end =
        prop_oneof![6 => Just(None), 1 => Just(Some(Event::EngineDies)), 1 => Just(Some(Event::GuiEnds))];
    // Often the engine is ready before anything else happens.
    let ready = any::<bool>().prop_map(|ready| {
        if ready {
            vec![Event::BooksOpen, Event::LinesRead, Event::Gui(Say::IsReady), Event::Ready]
        } else {
            Vec::new()
        }
    });
    (ready, prop::collection::vec(event(), 0..40), end, prop::collection::vec(event(), 0..5)).prop_map(
        |(mut events, then, end, after)| {
            events.extend(then);
            if let Some(end) = end {
                events.push(end);
                events.extend(after);
            }
            events
        },
    )
}

/// A `go` that asks for a move.
struct Asked {
    /// The position, if it is valid.
    game: Option<Game>,
    line: &'static str,
    /// The number of `isready` before it.
    readies: usize,
    /// Whether a `stop` has followed.
    stopped: bool,
    /// Whether a `ponderhit` has followed.
    hit: bool,
}

impl Asked {
    fn may_be_answered(&self) -> bool {
        if self.line.contains("ponder") {
            self.stopped || self.hit
        } else {
            !self.line.contains("infinite") || self.stopped
        }
    }

    fn is_analysis(&self) -> bool {
        self.line.contains("infinite") || self.line.contains("mate")
    }
}

/// A child engine that keeps to the protocol.
#[derive(Default)]
struct Engine {
    searching: bool,
    readies: usize,
    /// How many `uci` it has not answered.
    ucis: usize,
    said: u32,
    /// Whether it searches for a check, which the GUI must not notice.
    checks: bool,
    /// The only move that it may search.
    only: Option<String>,
    /// Whether it was sent `go perft`, which it may take for a search.
    counts: bool,
}

/// The session between the models of both sides.
struct World {
    session: Session,
    out: Output,
    library: OneBook,
    engine: Engine,
    asked: VecDeque<Asked>,
    /// Bestmoves that the GUI has seen.
    answered: usize,
    questions: usize,
    ready_asked: usize,
    ready_seen: usize,
    position: usize,
    chess960: bool,
    /// Lines of the engine that the GUI has not seen, each with whether it may be dropped or held back.
    underway: VecDeque<(String, bool)>,
    /// Bestmoves that were held back while other lines passed.
    kept: Vec<String>,
    /// Numbers of lines of the engine that belong to checks.
    secret: HashSet<u32>,
    now: Duration,
    dead: bool,
}

impl World {
    fn new() -> Self {
        let mut options = Options::default();
        options.books.both = BookList::parse("test.bin");
        options.policy.threshold = 0;
        options.policy.learn = true;
        options.policy.max_loss = 40;
        options.policy.guard = 400;
        options.seed = 3;
        options.fresh = true;
        options.fresh_file = "match.lines".to_owned();
        let mut out = Output::default();
        let library = OneBook { name: "test.bin", book: polyglot(&BOOK), values: &VALUES };
        let session = Session::new(options, Vec::new(), &mut out);
        Self {
            session,
            out,
            library,
            engine: Engine::default(),
            asked: VecDeque::new(),
            answered: 0,
            questions: 0,
            ready_asked: 0,
            ready_seen: 0,
            position: 0,
            chess960: false,
            underway: VecDeque::new(),
            kept: Vec::new(),
            secret: HashSet::new(),
            now: Duration::ZERO,
            dead: false,
        }
    }

    fn happen(&mut self, event: &Event) -> Result<(), TestCaseError> {
        let ended = self.dead || self.out.quit;
        match event {
            Event::Gui(say) if !self.session.is_leaving(&self.out) => self.gui(say),
            Event::Talk(kind) if !ended => {
                let (line, may_vanish) = match kind % 5 {
                    0 => ("info string x", true),
                    1 => ("info depth 9 score cp 5 pv a2a3", true),
                    2 => ("unheard of", false),
                    3 => ("option name Hash type spin default 1", false),
                    _ => ("copyprotection ok", false),
                };
                self.engine_talks(line.to_owned(), may_vanish);
            }
            Event::Move(obeys, score) if !ended => {
                if let Some(score) = score {
                    self.engine_talks(format!("info depth 9 score cp {score} pv a2a3"), true);
                }
                let counted = !self.engine.searching && std::mem::take(&mut self.engine.counts);
                self.engine.said += 1;
                let number = self.engine.said;
                if std::mem::take(&mut self.engine.searching) && self.engine.checks {
                    self.secret.insert(number);
                }
                let mv = self.engine.only.take().filter(|_| *obeys);
                let mv = mv.unwrap_or("a2a3".to_owned());
                let what = if counted { "counted" } else { "" };
                self.engine_says(format!("bestmove {mv} {what}#{number}"), true);
            }
            Event::BooksOpen if !ended => {
                let reads = std::mem::take(&mut self.out.reads_lines);
                serve(&self.library, &mut self.session, &mut self.out);
                self.out.reads_lines |= reads;
            }
            Event::LinesRead if !ended && std::mem::take(&mut self.out.reads_lines) => {
                let nodes = std::mem::take(&mut self.out.lines);
                self.session.played_elsewhere(&nodes);
                self.session.lines_read(&mut self.out);
            }
            Event::LinesLate if !ended => self.session.lines_are_late(&mut self.out),
            Event::Time(passed) if !ended => {
                self.now += Duration::from_millis((*passed).into());
                self.session.at(self.now);
                if self.session.due().is_some_and(|due| due <= self.now) {
                    TIMES_UP.fetch_add(1, Ordering::Relaxed);
                }
                self.session.time_is_up(&mut self.out);
                prop_assert!(self.session.due().is_none_or(|due| due > self.now), "a check goes on");
            }
            Event::BooksLate if !ended => self.session.books_are_late(&mut self.out),
            Event::Ready if !ended && self.engine.ucis > 0 => {
                self.engine.ucis -= 1;
                self.session.engine_line(b"uciok\n", &mut self.out);
            }
            Event::Ready if !ended && self.engine.readies > 0 => {
                self.engine.readies -= 1;
                self.engine_says("readyok".to_owned(), false);
            }
            Event::EngineDies if !ended => {
                self.session.engine_gone("it died", &mut self.out);
                self.dead = true;
                self.see_gui()?;
                prop_assert!(self.out.engine.is_empty());
            }
            Event::GuiEnds => self.session.gui_gone(&mut self.out),
            _ => {}
        }
        if ended {
            prop_assert!(self.out.engine.is_empty(), "nothing is sent after the end");
            prop_assert!(self.out.gui.is_empty(), "nothing is said after the end");
            return Ok(());
        }
        self.see_engine()?;
        self.see_gui()
    }

    fn gui(&mut self, say: &Say) {
        let ended = self.dead || self.out.quit;
        let text = match say {
            Say::Go(line) => {
                if !line.contains("perft") && !ended {
                    self.questions += 1;
                    let (game, readies) = (self.game(), self.ready_asked);
                    self.asked.push_back(Asked { game, line, readies, stopped: false, hit: false });
                }
                (*line).to_owned()
            }
            Say::Position(index) => {
                self.position = *index;
                format!("position {}", POSITIONS[*index])
            }
            Say::Stop => {
                self.asked.iter_mut().for_each(|asked| asked.stopped = true);
                "stop".to_owned()
            }
            Say::PonderHit => {
                self.asked.iter_mut().for_each(|asked| asked.hit = true);
                "ponderhit".to_owned()
            }
            Say::IsReady => {
                self.ready_asked += usize::from(!ended);
                "isready".to_owned()
            }
            Say::Line(line) => {
                if line.contains("Chess960") {
                    self.chess960 = line.ends_with("true");
                }
                (*line).to_owned()
            }
        };
        self.session.gui_line(format!("{text}\n").as_bytes(), &mut self.out);
    }

    /// The position that the GUI described last.
    fn game(&self) -> Option<Game> {
        let (start, moves) =
            POSITIONS[self.position].split_once(" moves ").unwrap_or((POSITIONS[self.position], ""));
        let mode = shakmaty::CastlingMode::Standard;
        let mut game = match start.strip_prefix("fen ") {
            Some(fen) => Game::from_fen(fen.as_bytes(), mode).ok()?,
            None => Game::start(),
        };
        moves.split_whitespace().all(|mv| game.push_uci(mv.as_bytes())).then_some(game)
    }

    /// The engine says something that is not an answer.
    fn engine_talks(&mut self, line: String, may_vanish: bool) {
        self.engine.said += 1;
        let number = self.engine.said;
        if self.engine.searching && self.engine.checks && line.starts_with("info") {
            self.secret.insert(number);
        }
        self.engine_says(format!("{line} #{number}"), may_vanish);
    }

    fn engine_says(&mut self, line: String, may_vanish: bool) {
        self.now += Duration::from_nanos(1);
        self.session.at(self.now);
        self.session.engine_line(format!("{line}\n").as_bytes(), &mut self.out);
        self.underway.push_back((line, may_vanish));
    }

    /// The engine reads what was sent: each line must be allowed in its state.
    fn see_engine(&mut self) -> Result<(), TestCaseError> {
        let heard = String::from_utf8(std::mem::take(&mut self.out.engine)).unwrap();
        for line in heard.lines() {
            let searching = self.engine.searching;
            match line.split_whitespace().next().unwrap_or_default() {
                "go" if line.contains("perft") => self.engine.counts = true,
                "go" => {
                    prop_assert!(!searching, "go while searching");
                    self.engine.searching = true;
                    self.engine.checks = line.contains("movetime");
                    CHECKS.fetch_add(usize::from(self.engine.checks), Ordering::Relaxed);
                    let only = line.split_once("searchmoves ").filter(|_| self.engine.checks);
                    self.engine.only = only.map(|(_, mv)| mv.to_owned());
                    let time = line.split_once("wtime ").and_then(|(_, rest)| rest.split(' ').next());
                    HANDED_OVER
                        .fetch_add(usize::from(time.is_some_and(|time| time != "1000")), Ordering::Relaxed);
                }
                "stop" => prop_assert!(searching || self.engine.counts, "stop while idle"),
                "position" => prop_assert!(!searching, "position while searching"),
                "isready" => self.engine.readies += 1,
                "uci" => self.engine.ucis += 1,
                "ponderhit" | "setoption" | "ucinewgame" | "debug" | "what" | "" => {}
                other => prop_assert!(false, "the engine heard {other}"),
            }
        }
        Ok(())
    }

    /// The GUI reads what was sent: answers in order and not too early, and the engine's lines unchanged.
    fn see_gui(&mut self) -> Result<(), TestCaseError> {
        let seen = String::from_utf8(std::mem::take(&mut self.out.gui)).unwrap();
        let mut book_spoke = false;
        for line in seen.lines() {
            let number = line.split_once('#').and_then(|(_, number)| number.parse().ok());
            prop_assert!(
                number.is_none_or(|number: u32| !self.secret.contains(&number)),
                "{line} is no line for the GUI"
            );
            PASSED_OVER.fetch_add(usize::from(line.ends_with("in the engine's check")), Ordering::Relaxed);
            if line.contains('#') || line == "readyok" {
                self.see_engine_line(line)?;
            } else if line.starts_with("info depth 0 ") {
                book_spoke = true;
            }
            if line == "readyok" {
                self.ready_seen += 1;
                prop_assert!(self.ready_seen <= self.ready_asked);
            }
            if line.starts_with("bestmove ") && !line.contains("counted") {
                self.answered += 1;
                let Some(asked) = self.asked.pop_front() else {
                    return Err(TestCaseError::fail("a bestmove that nobody asked for"));
                };
                prop_assert!(asked.may_be_answered(), "{} was answered too early", asked.line);
                if !line.contains('#') {
                    prop_assert!(book_spoke, "a book move without its scored line");
                    book_spoke = false;
                    prop_assert!(
                        self.dead || self.ready_seen >= asked.readies,
                        "a book move before a readyok"
                    );
                    prop_assert!(!asked.is_analysis(), "a book move in analysis");
                    let Some(game) = asked.game else {
                        return Err(TestCaseError::fail("a book move nowhere"));
                    };
                    let text = line.split_whitespace().nth(1).unwrap();
                    let legal = text.parse::<UciMove>().unwrap().to_move(game.position().chess());
                    prop_assert!(legal.is_ok(), "an illegal book move {}", text);
                }
            }
        }
        Ok(())
    }

    /// A line of the engine must be the next that is under way; only lines that may vanish may be missing before it.
    fn see_engine_line(&mut self, line: &str) -> Result<(), TestCaseError> {
        if line.starts_with("bestmove") {
            // It may have been held back while other lines passed.
            let place = self.underway.iter().position(|(said, _)| said == line);
            let kept = self.kept.iter().position(|said| said == line);
            match (place, kept) {
                (Some(place), _) => drop(self.underway.remove(place)),
                (None, Some(kept)) => drop(self.kept.remove(kept)),
                (None, None) => {
                    return Err(TestCaseError::fail(format!("{line} was never said, or said twice")));
                }
            }
            return Ok(());
        }
        while let Some((said, may_vanish)) = self.underway.pop_front() {
            if said == line {
                return Ok(());
            }
            prop_assert!(may_vanish, "{} was lost or overtaken", said);
            if said.starts_with("bestmove") {
                self.kept.push(said);
            }
        }
        Err(TestCaseError::fail(format!("{line} was changed, or never said")))
    }

    /// The GUI stops everything and the engine answers everything: no question may be left.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..200 {
            self.happen(&Event::BooksOpen)?;
            while (self.out.reads_lines || self.out.open_books.is_some()) && !self.dead && !self.out.quit {
                self.happen(&Event::LinesRead)?;
                self.happen(&Event::BooksOpen)?;
            }
            if self.dead || self.out.quit {
                return Ok(());
            }
            let owes = self.engine.readies > 0 || self.engine.ucis > 0;
            if self.asked.is_empty() && !owes && !self.engine.searching {
                break;
            }
            self.happen(&Event::Gui(Say::Stop))?;
            if self.engine.searching {
                self.happen(&Event::Move(true, None))?;
            }
            while (self.engine.readies > 0 || self.engine.ucis > 0) && !self.out.quit {
                self.happen(&Event::Ready)?;
            }
        }
        prop_assert_eq!(self.answered, self.questions, "each go has exactly one bestmove");
        prop_assert_eq!(self.ready_seen, self.ready_asked, "each isready has its readyok");
        prop_assert!(!self.session.is_full());
        Ok(())
    }
}

fn run(script: &[Event]) -> Result<(), TestCaseError> {
    let mut world = World::new();
    for event in script {
        world.happen(event)?;
    }
    world.settle()
}

/// The number of interleavings, and that before a release, where `TABIYA_FULL_TESTS` is set; `PROPTEST_CASES` overrides both.
const CASES: u32 = 10_000;
const FULL_CASES: u32 = 100_000;

#[test]
fn each_go_has_one_bestmove_and_the_protocol_is_kept() {
    let cases =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or_else(|| {
            if std::env::var_os("TABIYA_FULL_TESTS").is_some() { FULL_CASES } else { CASES }
        });
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    if let Err(error) = runner.run(&script(), |script| run(&script)) {
        panic!("{error}");
    }
    println!(
        "{cases} interleavings: {CHECKS:?} searches of checks, {PASSED_OVER:?} moves passed over, {HANDED_OVER:?} questions \
         handed over, {TIMES_UP:?} times up"
    );
    if cases >= CASES {
        // The rarest, which a tenth of the cases may miss.
        let rare = (cases >= FULL_CASES).then_some(&HANDED_OVER);
        for seen in [&CHECKS, &PASSED_OVER, &TIMES_UP].into_iter().chain(rare) {
            assert!(
                seen.load(Ordering::Relaxed) > 0,
                "{CHECKS:?} {PASSED_OVER:?} {HANDED_OVER:?} {TIMES_UP:?}"
            );
        }
    }
}
