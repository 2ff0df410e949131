//! What to do on each line: a state machine that turns events into actions. It has no thread, no clock and no I/O.
//!
//! Three things decide what may be sent when:
//!
//! - the **request**: the `go` that has not been answered yet, by the book, by the child, or by the book after a check. There is one at a time; another `go`, and all lines
//!   after it, wait in the backlog, so answers come in the order of the requests;
//! - the **child**: idle, searching, or in an abandoned search, which was stopped and whose bestmove will be dropped.
//!   In the last case all lines for it wait, because the GUI believes that it is idle;
//! - the **readyok owed**: a book move waits for it.
//!
//! While another thread opens books, all lines but `stop` wait, and `quit` only for lines before it; not forever,
//! because a disk may hang. While the engine lists its options, a `go` waits, and what follows it.

mod advice;
mod backlog;
mod board;
mod books;
mod child;
mod ended;
mod event;
mod greeting;
mod guard;
mod gui;
mod idle;
mod lengths;
mod lines;
mod opening_names;
mod options;
mod output;
mod parts;
mod played;
mod request;
mod requests;
mod rules;
mod score;
mod verdict;
mod watch;

use std::time::Duration;

use tabiya_book::BookSet;
use tabiya_uci::{Command, Go, Reply, notice};

use self::backlog::Backlog;
use self::board::Board;
use self::books::Books;
use self::child::Child;
use self::greeting::Name;
use self::idle::Idle;
use self::options::{EngineOptions, Modes};
use self::parts::LongLines;
use self::request::Request;
use self::verdict::Why;
use self::watch::Watch;
use crate::settings::options::Options;

pub use self::books::BookProblem;
pub use self::event::{About, Event, Silence};
pub use self::greeting::NAME_ADDITION;
pub use self::gui::Gui;
pub use self::lines::{NodeKind, PlayedNode, Scope};
pub use self::options::is_chess;
pub use self::output::Output;
pub use self::played::{LearnableBook, PlayedGame};

/// Bytes of waiting lines above which the GUI is not read: 64 MiB, as long as one line may be.
const MAX_WAITING: usize = 64 << 20;

/// What engines like Stockfish print at the end of `go perft`.
const COUNTED: &[u8] = b"odes searched";

/// The state of a session: see the module's documentation.
pub struct Session {
    options: Options,
    /// The log that is written if the GUI names none.
    configured_log: String,
    /// The file of played lines if the GUI names none.
    configured_lines: String,
    books: Books,
    board: Board,
    modes: Modes,
    /// What is sent to the GUI.
    pub gui: Gui,
    name: Name,
    engine_options: EngineOptions,
    child: Child,
    request: Option<Request>,
    /// Lines that wait. Unless books are opened, the first is always a `go`.
    backlog: Backlog,
    /// The lines that come in parts.
    long: LongLines,
    /// The games that are played, and the time.
    watch: Watch,
    /// Settings that have no effect.
    idle: Idle,
    /// Whether it was reported that no more lines can be remembered.
    lines_reported: bool,
    /// Whether lines wait until it is known what other processes have played.
    reading: Reading,
    /// Why the books do not answer the request.
    silence: Silence,
    phase: Phase,
}

/// Whether it is known which lines other processes have played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Done,
    /// They are being read: lines of the GUI wait.
    Awaited,
    /// They are still being read, and nothing waits.
    Late,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Both sides are there.
    Running,
    /// The GUI has gone while lines of it still wait for books.
    Leaving,
    /// The engine has ended, or the adapter is about to.
    Dead,
}

impl Session {
    /// A session with the configured options; `settings` are options of the engine, names and values.
    ///
    /// Its first output is the request for its books.
    pub fn new(mut options: Options, settings: Vec<(String, String)>, out: &mut Output) -> Self {
        let books = Books::new(
            std::mem::take(&mut options.books),
            std::mem::take(&mut options.variants),
            options.seed,
        );
        let mut session = Self {
            configured_log: options.log.clone(),
            configured_lines: options.fresh_file.clone(),
            options,
            books,
            board: Board::new(),
            modes: Modes::default(),
            gui: Gui::default(),
            name: Name::default(),
            engine_options: EngineOptions::default(),
            child: Child::default(),
            request: None,
            backlog: Backlog::default(),
            long: LongLines::default(),
            watch: Watch::default(),
            idle: Idle::default(),
            lines_reported: false,
            reading: Reading::Done,
            silence: Silence::default(),
            phase: Phase::Running,
        };
        session.configure_engine(settings);
        if !session.options.fresh_file.is_empty() {
            session.share_lines(out);
            session.read_lines(out);
        }
        session.books.open(&session.options, out);
        out.resume_learning = session.options.policy.learn;
        session
    }

    /// Whether so many lines wait that the GUI must not be read.
    pub fn is_full(&self) -> bool {
        self.child.held_bytes() + self.backlog.len() > MAX_WAITING
    }

    /// Whether the engine owes a reply that it should send at once: to `stop`, or to `isready`.
    pub fn is_kept_waiting(&self) -> bool {
        self.child.is_stopped() || matches!(self.request, Some(Request::Due(_)))
    }

    /// Whether the engine's lines may be forwarded to the GUI unread, except for replies that the session acts on.
    pub fn passes(&self) -> bool {
        let checks = matches!(self.request, Some(Request::Checking(_)));
        !self.child.is_abandoned() && !self.gui.mid_line && !self.child.counting && !checks
    }

    /// The number of answers of the engine: each proves that it has read all lines that were sent before the request.
    pub(crate) fn proofs(&self) -> u64 {
        self.child.proofs
    }

    /// Whether the engine has not answered `uci` yet.
    pub(crate) fn owes_uciok(&self) -> bool {
        self.child.uci_owed > 0
    }

    /// The bytes that complete the last line for the engine.
    pub(crate) fn unfinished(&self) -> &'static [u8] {
        if self.child.mid_line { b"\n" } else { b"" }
    }

    /// Takes a line of the GUI, with its line end.
    pub fn gui_line(&mut self, line: &[u8], out: &mut Output) {
        if out.quit || self.phase != Phase::Running {
            return;
        }
        let (command, text, rest) = Command::parse(line);
        if command == Command::Go {
            self.gui.send_reports(out);
        }
        let opening = self.is_waiting();
        let waits = opening || !self.backlog.is_empty();
        match command {
            Command::Quit => self.gui_gone(out),
            Command::Stop => {
                self.obey(command, text, rest, out);
                if waits {
                    // It came after the requests that wait, so it ends their searches too.
                    self.wait(text, out);
                }
            }
            // It does not depend on books.
            Command::Uci if self.backlog.is_empty() => self.obey(command, text, rest, out),
            _ if opening => self.wait(text, out),
            // It is answered during a search too, whatever waits.
            Command::IsReady => self.obey(command, text, rest, out),
            Command::PonderHit if !waits || self.ponders() => self.ponderhit(text, out),
            // What the engine offers decides which books answer.
            Command::Go if waits || self.request.is_some() || self.awaits_options() => self.wait(text, out),
            _ if waits => self.wait(text, out),
            _ => self.obey(command, text, rest, out),
        }
        self.resume(out);
    }

    /// Takes a line of the engine, with its line end.
    pub fn engine_line(&mut self, line: &[u8], out: &mut Output) {
        match Reply::parse(line) {
            Reply::BestMove => self.engine_best_move(line, out),
            Reply::ReadyOk => self.engine_ready(line, out),
            Reply::Info if self.child.is_abandoned() => {}
            Reply::Info => match self.check() {
                // The GUI is sent nothing of a check.
                Some(check) => check.read_score(line),
                None => {
                    if self.needs_scores() {
                        self.read_scores(line);
                    }
                    self.gui.send(line, out);
                }
            },
            Reply::Option => self.engine_option(line, out),
            Reply::UciOk => self.engine_uciok(line, out),
            Reply::Id => self.engine_id(line, out),
            Reply::Other => {
                if self.child.counting && memchr::memmem::find(line, COUNTED).is_some() {
                    self.child.counting = false;
                }
                self.gui.send(line, out);
            }
        }
        self.resume(out);
        self.leave(out);
    }

    /// Whether the adapter ends as soon as the books are open and the engine has listed its options, because lines of the GUI
    /// before its `quit` wait for that.
    pub fn is_leaving(&self, out: &Output) -> bool {
        self.phase == Phase::Leaving && !out.quit
    }

    /// Ends the adapter if only lines that had to wait have delayed that.
    fn leave(&mut self, out: &mut Output) {
        if self.phase == Phase::Leaving && !self.is_waiting() && !self.awaits_options() {
            self.gui_gone(out);
        }
    }

    /// The GUI has sent `quit`, or its output has ended: the adapter ends. If lines wait for books or for the engine's options, it
    /// ends when these are there, or at the second call.
    pub fn gui_gone(&mut self, out: &mut Output) {
        let waits = (self.is_waiting() || self.awaits_options()) && !self.backlog.is_empty();
        if waits && self.phase == Phase::Running {
            self.phase = Phase::Leaving;
            return;
        }
        if !out.quit && self.phase != Phase::Dead {
            self.finish(out);
        }
        out.quit = true;
    }

    /// The engine has ended: unless that was requested, reports why to the GUI. Nothing more is sent to either side.
    pub fn engine_gone(&mut self, why: &str, out: &mut Output) {
        if std::mem::replace(&mut self.phase, Phase::Dead) != Phase::Dead && !out.quit {
            self.play_unchecked(out);
            self.watch.over(Some(Why::Died), self.board.game());
            self.conclude(out);
            self.gui.send_reports(out);
            self.gui.send(&notice(why), out);
        }
    }

    /// The adapter ends, and with it the current game, unless `quit` or the end of input has ended it before.
    pub fn finish(&mut self, out: &mut Output) {
        self.watch.over(None, self.board.game());
        self.conclude(out);
    }

    /// Sets the time, counted from any fixed moment: it decides whether a clock may have ended a game, how long a check may
    /// take, and which lines of the engine were read together, because no time has passed between them.
    pub fn at(&mut self, now: Duration) {
        self.watch.now = now;
    }

    /// Whether [`Session::read_scores`] must get the engine lines that are forwarded.
    pub fn needs_scores(&self) -> bool {
        self.watch.needs_scores()
    }

    /// Reads the scores in whole engine lines that are forwarded to the GUI.
    pub(crate) fn read_scores(&mut self, block: &[u8]) {
        self.watch.read_scores(block);
    }

    /// Takes the books that [`Output::open_books`] last asked for, and the problems with them. Returns those that were
    /// open before: closing them may take time.
    pub fn books_opened(
        &mut self,
        book_set: BookSet,
        problems: Vec<BookProblem>,
        out: &mut Output,
    ) -> BookSet {
        let before = self.books.opened(book_set, problems, &mut self.gui, out);
        self.check_learning(out);
        self.idle.is_due = true;
        self.note_idle(out);
        self.resume_after_books(out);
        before
    }

    /// The books take long to open: the engine plays until [`Session::books_opened`]. Does nothing if they are open.
    pub fn books_are_late(&mut self, out: &mut Output) {
        if self.books.are_late(&mut self.gui, out) {
            self.resume_after_books(out);
        }
    }

    /// The adapter ends because of its books: reports why to the GUI. Nothing more is sent to either side.
    pub fn books_refused(&mut self, why: &[String], out: &mut Output) {
        self.phase = Phase::Dead;
        self.gui.greet(out);
        for message in why {
            out.events.push(Event::Notice { about: About::Other, text: message.clone() });
            self.gui.send(&notice(message), out);
        }
    }

    /// Whether lines of the GUI wait for books, or for what other processes have played.
    fn is_waiting(&self) -> bool {
        self.books.are_awaited() || self.reading == Reading::Awaited
    }

    /// Asks for what other processes have played; what follows waits for it, unless that has taken too long before.
    fn read_lines(&mut self, out: &mut Output) {
        if self.options.fresh_file.is_empty() {
            return;
        }
        out.reads_lines = true;
        if self.reading == Reading::Done {
            self.reading = Reading::Awaited;
        }
    }

    /// All that [`Output::reads_lines`] asked for was read.
    pub fn lines_read(&mut self, out: &mut Output) {
        if std::mem::replace(&mut self.reading, Reading::Done) == Reading::Awaited {
            self.resume_after_books(out);
        }
    }

    /// Reading takes long: the game goes on without it. Does nothing if nothing is awaited.
    pub fn lines_are_late(&mut self, out: &mut Output) {
        if self.reading == Reading::Awaited {
            self.reading = Reading::Late;
            let what = format!("{}: slow to read (is the disk responding?)", self.options.fresh_file);
            self.gui.notify(format!("{what}: lines of other processes may be played again"), out);
            self.resume_after_books(out);
        }
    }

    /// Takes lines that other processes have played.
    pub fn played_elsewhere(&mut self, nodes: &[PlayedNode]) {
        self.books.lines.played_elsewhere(nodes);
    }

    /// Whether games that begin now are learned.
    fn learns(&self) -> bool {
        self.options.policy.learn && self.uses_books()
    }

    /// Says that results cannot be learned although they should be, once until they can.
    fn check_learning(&mut self, out: &mut Output) {
        let learns = self.learns();
        self.books.check_learning(learns, &mut self.gui, out);
    }

    /// Notes a request that may begin a game, or belongs to one.
    fn watch_go(&mut self, go: &Go, analysis: bool) {
        if !self.learns() && !self.watch.has_game() {
            return;
        }
        let request = watch::WatchedRequest {
            game: self.board.game(),
            clock: go.clock,
            pondering: go.ponder,
            analysis: analysis || go.searchmoves.is_some(),
            unwanted: !self.options.policy.learn,
        };
        self.watch.asked(request, self.learns().then_some(&self.books.set));
    }

    /// Reports the games that have begun and ended.
    fn conclude(&mut self, out: &mut Output) {
        out.begun.append(&mut self.watch.begun);
        for ended in std::mem::take(&mut self.watch.ended) {
            ended.conclude(self.options.learn_margin, &mut self.watch.lengths, &mut self.gui, out);
        }
    }

    /// Acts on a line of the GUI whose turn has come.
    fn obey(&mut self, command: Command, line: &[u8], rest: &[u8], out: &mut Output) {
        self.greet_without_uci(command, out);
        match command {
            Command::Position => {
                self.watch.left(self.board.game());
                self.board.set(line, self.modes.castling);
            }
            Command::Go => self.go(line, rest, out),
            Command::SetOption => self.set_option(line, rest, out),
            Command::Uci => {
                self.child.uci_owed += 1;
                self.child.is_ready = false;
                self.forward(line, out);
            }
            Command::Debug => {
                self.gui.debug = rest.trim_ascii() == b"on";
                self.forward(line, out);
            }
            Command::IsReady => {
                self.child.ready_owed += 1;
                self.forward(line, out);
            }
            Command::Stop => {
                self.watch.stop();
                self.stop(line, out);
            }
            Command::PonderHit => self.ponderhit(line, out),
            Command::Quit => out.quit = true,
            Command::NewGame => {
                self.watch.over(None, self.board.game());
                self.books.new_game();
                if self.options.fresh {
                    self.read_lines(out);
                }
                self.child.is_ready = false;
                self.forward(line, out);
            }
            Command::Register | Command::Other => self.forward(line, out),
        }
    }
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii()).into_owned()
}
