//! What to do on each line: a state machine, events in, actions out. No thread, no clock, no I/O.
//!
//! Three things decide what may be said when:
//!
//! - the **question**: the `go` that the GUI has not been answered yet. There is one at a time; a further `go`, and
//!   what follows it, waits in the backlog, so that answers come in the order of the questions;
//! - the **child**: idle, searching, or searching in vain: told to stop, its bestmove will be swallowed. In the last
//!   case all lines for it are held, because the GUI takes it for idle;
//! - the **readyok owed**: a book move waits for it.
//!
//! While books are opened, which others do, all lines but `stop` and `quit` wait; not for ever, because a disk may hang.

mod backlog;
mod child;
mod learning;
mod long;
mod question;
mod setup;
mod verdict;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use log::Level;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::CastlingMode;

use self::backlog::Backlog;
use self::long::Long;
use self::verdict::Over;
use self::watch::Watch;
use super::answer::Advice;
use super::board::Board;
use super::books::BookFiles;
use super::options::Options;
use crate::book::Shelf;
use crate::chess::Game;
use crate::uci::{Command, Go, Reply, SetOption, notice};

pub use self::learning::{Source, Taught};
pub use self::setup::{NAME_ADDITION, unknown_option};

/// Bytes of waiting lines above which no more are read from the GUI: 64 MiB, as much as one line may have.
const WAITING_MAX: usize = 64 << 20;

/// Bytes of an over-long line that are looked at for its command.
const PART_READ: usize = 4096;

/// Room that a line held for the engine takes beside its bytes.
const LINE_ROOM: usize = 64;

/// What Stockfish and its kin say at the end of `go perft`.
const COUNTED: &[u8] = b"odes searched";

/// Own-book options of an engine that are taken note of: no engine has more, and memory is bounded.
const ENGINE_BOOKS_MAX: usize = 8;

/// Option names (letters only, in lower case) under which engines offer to use a book of their own.
const OWN_BOOK_NAMES: [&str; 2] = ["ownbook", "usebook"];

/// What the session wants done. Bytes are appended, and are to be written in their order.
#[derive(Debug, Default)]
pub struct Output {
    /// Bytes for the GUI.
    pub gui: Vec<u8>,
    /// Bytes for the child engine.
    pub engine: Vec<u8>,
    /// Lines for the log.
    pub notes: Vec<(Level, String)>,
    /// Messages for standard error, which the GUI is told too.
    pub messages: Vec<String>,
    /// The log goes to this file from now on; an empty name ends it.
    pub log_to: Option<String>,
    /// Books that a game has begun to be played from, and that are to be known again when it is learned.
    pub begun: Vec<Arc<[Source]>>,
    /// Games to be learned, off the path of lines.
    pub lessons: Vec<Taught>,
    /// These books are to be opened: [`Session::books_opened`], or in a while [`Session::books_are_late`].
    pub open_books: Option<BookFiles>,
    /// Books that were opened and can learn: what was begun in them is to be finished.
    pub opened: Vec<PathBuf>,
    /// Games that were kept earlier are to be learned now.
    pub resume_learning: bool,
    /// The GUI is gone or said `quit`: end the child and the adapter.
    pub quit: bool,
}

/// The child engine, as far as its protocol state goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    Idle,
    Searching {
        stopped: bool,
    },
    /// Told to stop; its bestmove will be swallowed.
    InVain,
}

/// The `go` that was not answered yet.
enum Question {
    /// The child's search answers it.
    Child {
        /// What must happen before the answer may be given.
        until: Until,
        /// A bestmove that came before it might.
        early: Option<Vec<u8>>,
    },
    /// `go ponder` in a position that the book answers: the book's move is due on `ponderhit`.
    Pondering {
        game: Box<Game>,
        go: Go,
        /// The line that asked.
        line: Vec<u8>,
        /// Whether the child was set to ponder as well.
        child: bool,
        early: Option<Vec<u8>>,
    },
    /// The book's answer, which waits for a readyok.
    Due(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    Now,
    PonderHit,
    Stop,
}

/// How far the books are that the options name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Books {
    /// They are on the shelf.
    Open,
    /// They are being opened: lines wait.
    Awaited,
    /// They are still being opened: the engine plays meanwhile.
    Late,
}

/// A line for the child that waits for the end of a search in vain.
enum Held {
    Line(Vec<u8>),
    Go(Vec<u8>),
}

/// An option of the engine that the user set in advance.
#[derive(Clone)]
struct Setting {
    name: String,
    value: String,
    /// Whether the engine has listed it.
    listed: bool,
}

impl From<(String, String)> for Setting {
    fn from((name, value): (String, String)) -> Self {
        Self { name, value, listed: false }
    }
}

/// The adapter's mind. See the module's text.
pub struct Session {
    options: Options,
    /// The books that are used where the GUI names none.
    configured: BookFiles,
    /// The log that is written where the GUI names none.
    configured_log: String,
    shelf: Shelf,
    books: Books,
    rng: Xoshiro256PlusPlus,
    advice: Advice,
    board: Board,
    mode: CastlingMode,
    multipv: u32,
    analysing: bool,
    debug: bool,
    /// The name that GUIs see, where one was given.
    name: Option<String>,
    /// Whether the engine has given its own.
    is_named: bool,
    /// Options of the engine that the user set in advance.
    settings: Vec<Setting>,
    settings_sent: bool,
    /// Whether the engine has an option `UCI_AnalyseMode`; `None` before it has listed its options.
    engine_analyses: Option<bool>,
    /// Names of the engine's options that make it use its own book.
    engine_books: Vec<Vec<u8>>,
    uci_owed: u32,
    ready_owed: u32,
    /// Messages that wait for a moment when the GUI listens.
    notices: Vec<String>,
    /// Whether the GUI can be told anything: after `uciok`, or once it asks for moves without it.
    greeted: bool,
    child: Child,
    question: Option<Question>,
    held: VecDeque<Held>,
    /// Unless books are opened, the first line is always a `go`.
    backlog: Backlog,
    /// How many of the backlog's lines are `stop`.
    stops_waiting: usize,
    /// Room that `held` takes, in bytes.
    held_room: usize,
    /// A `go perft` was sent: the engine counts, or takes it for a search that ends with a bestmove.
    counting: bool,
    /// Answers that prove that the engine reads what it is sent.
    proofs: u64,
    /// The rest of an over-long GUI line is left out.
    dropping: bool,
    /// The GUI was left in the middle of a line that the engine has not ended.
    gui_mid_line: bool,
    /// The engine's line that comes in parts.
    long: Option<Long>,
    engine_mid_line: bool,
    /// The engine has ended.
    dead: bool,
    /// The game that is being played.
    watch: Watch,
    /// The time, as [`Session::at`] told it.
    now: Duration,
    /// Messages that the GUI hears at its next `go`: some expect no word at other times.
    later: Vec<String>,
    /// Who is announced as the opponent.
    announced: String,
    /// The number of the game that is being played, and who was announced when it began.
    opponent: (u32, String),
}

impl Session {
    /// A session with the configured options; `settings` are options of the engine, name and value.
    ///
    /// The first thing that it wants is its books; what goes wrong is told to the GUI when it listens.
    pub fn new(mut options: Options, settings: Vec<(String, String)>, out: &mut Output) -> Self {
        let mut session = Self {
            configured: std::mem::take(&mut options.books),
            configured_log: options.log.clone(),
            rng: rng(options.seed),
            options,
            shelf: Shelf::default(),
            books: Books::Open,
            advice: Advice::default(),
            board: Board::new(),
            mode: CastlingMode::Standard,
            multipv: 1,
            analysing: false,
            debug: false,
            name: None,
            is_named: false,
            settings: settings.into_iter().map(Setting::from).collect(),
            settings_sent: false,
            engine_analyses: None,
            engine_books: Vec::new(),
            uci_owed: 0,
            ready_owed: 0,
            notices: Vec::new(),
            greeted: false,
            child: Child::Idle,
            question: None,
            held: VecDeque::new(),
            backlog: Backlog::default(),
            stops_waiting: 0,
            held_room: 0,
            counting: false,
            proofs: 0,
            dropping: false,
            gui_mid_line: false,
            long: None,
            engine_mid_line: false,
            dead: false,
            watch: Watch::default(),
            now: Duration::ZERO,
            later: Vec::new(),
            announced: String::new(),
            opponent: Default::default(),
        };
        for setting in session.settings.clone() {
            session.follow(&SetOption { name: setting.name.as_bytes(), value: setting.value.as_bytes() });
        }
        session.open_books(out);
        out.resume_learning = session.options.policy.learn;
        session
    }

    /// The session with the name that GUIs see; without one it is the engine's own with an addition.
    #[must_use]
    pub fn with_name(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }

    /// Whether the GUI should not be read until what waits has been worked off.
    pub fn is_full(&self) -> bool {
        self.held_room + self.backlog.len() > WAITING_MAX
    }

    /// Whether the engine owes a reply that it should give at once: to `stop`, or to `isready`.
    pub fn is_kept_waiting(&self) -> bool {
        matches!(self.child, Child::InVain | Child::Searching { stopped: true })
            || matches!(self.question, Some(Question::Due(_)))
    }

    /// Whether engine lines that are no reply the session must know pass straight to the GUI now.
    pub fn passes(&self) -> bool {
        self.child != Child::InVain && !self.gui_mid_line && !self.counting
    }

    /// How often the engine has answered a question: it has read all that it was sent before that.
    pub fn proofs(&self) -> u64 {
        self.proofs
    }

    /// Whether the engine has not answered `uci` yet.
    pub fn owes_uciok(&self) -> bool {
        self.uci_owed > 0
    }

    /// What ends the line that the engine was left in the middle of, if it was.
    pub fn unfinished(&self) -> &'static [u8] {
        if self.engine_mid_line { b"\n" } else { b"" }
    }

    /// Takes a line of the GUI, with its line end.
    pub fn gui_line(&mut self, line: &[u8], out: &mut Output) {
        if self.dead || out.quit {
            return;
        }
        let (command, text, rest) = Command::of(line);
        if command == Command::Go {
            self.tell_later(out);
        }
        let opening = self.books == Books::Awaited;
        let waits = opening || !self.backlog.is_empty();
        match command {
            Command::Quit => {
                self.game_over(Over::Quit, out);
                out.quit = true;
            }
            Command::Stop => {
                self.watch.stop();
                self.stop(text, out);
                if waits {
                    // It was said after the questions that wait, so it ends their searches too.
                    self.stops_waiting += 1;
                    self.wait(text, out);
                }
            }
            // Books have nothing to do with it.
            Command::Uci if self.backlog.is_empty() => self.obey(command, text, rest, out),
            _ if opening => self.wait(text, out),
            // It is answered in the middle of a search too, whatever waits.
            Command::IsReady => self.obey(command, text, rest, out),
            Command::PonderHit if !waits || self.ponders() => self.ponderhit(text, out),
            Command::Go if waits || self.question.is_some() => self.wait(text, out),
            _ if waits => self.wait(text, out),
            _ => self.obey(command, text, rest, out),
        }
        self.resume(out);
    }

    /// Takes a part of a GUI line that is too long to be kept; `begins` and `ends` tell where it stands in the line.
    pub fn gui_part(&mut self, bytes: &[u8], begins: bool, ends: bool, out: &mut Output) {
        if begins {
            if Command::of(bytes.get(..PART_READ).unwrap_or(bytes)).0 == Command::Position {
                self.board.set_unknown();
            }
            // Where lines wait, this one, which nobody can keep, would overtake them.
            self.dropping = self.child != Child::Idle || self.question.is_some();
            let what = if self.dropping { "left out" } else { "passed on" };
            self.notify(format!("a line of the GUI is too long to be understood; it is {what}"), out);
        }
        if !self.dropping {
            out.engine.extend_from_slice(bytes);
            self.engine_mid_line = !ends;
        }
    }

    /// Takes a line of the engine, with its line end.
    pub fn engine_line(&mut self, line: &[u8], out: &mut Output) {
        match Reply::of(line) {
            Reply::BestMove => {
                self.proofs += u64::from(self.child != Child::Idle);
                self.engine_moves(line, out);
            }
            Reply::ReadyOk => {
                self.proofs += 1;
                self.say(line, out);
                self.ready_owed = self.ready_owed.saturating_sub(1);
                if self.ready_owed == 0
                    && let Some(Question::Due(answer)) =
                        self.question.take_if(|question| matches!(question, Question::Due(_)))
                {
                    self.answer(&answer, true, out);
                }
            }
            Reply::Info if self.child == Child::InVain => {}
            Reply::Info => {
                if self.listens() {
                    self.hear(line);
                }
                self.say(line, out);
            }
            Reply::Option => self.engine_option(line, out),
            Reply::UciOk => {
                self.proofs += 1;
                self.engine_uciok(line, out);
            }
            Reply::Id => self.engine_id(line, out),
            Reply::Other => {
                if self.counting && memchr::memmem::find(line, COUNTED).is_some() {
                    self.counting = false;
                }
                self.say(line, out);
            }
        }
        self.resume(out);
    }

    /// The GUI's output has ended: so does the adapter, as with `quit`.
    pub fn gui_gone(&mut self, out: &mut Output) {
        if !out.quit && !self.dead {
            self.game_over(Over::Quit, out);
        }
        out.quit = true;
    }

    /// The engine has ended; unless that was wanted, the GUI is told why. Nothing more is sent to either.
    pub fn engine_gone(&mut self, why: &str, out: &mut Output) {
        if !std::mem::replace(&mut self.dead, true) && !out.quit {
            self.game_over(Over::Died, out);
            self.tell_later(out);
            self.say(&notice(why), out);
        }
    }

    /// Tells the GUI something of the adapter's own, at once if it listens. It is for standard error too, because many
    /// clients show nobody what they are told.
    pub fn notify(&mut self, message: String, out: &mut Output) {
        out.notes.push((Level::Warn, message.clone()));
        out.messages.push(message.clone());
        if self.greeted {
            self.say(&notice(&message), out);
        } else {
            self.notices.push(message);
        }
    }

    fn obey(&mut self, command: Command, line: &[u8], rest: &[u8], out: &mut Output) {
        self.tell_greeting(command, out);
        match command {
            Command::Position => {
                self.watch_final_position(out);
                self.board.set(line, self.mode);
                self.watch.fresh = true;
            }
            Command::Go => self.go(line, rest, out),
            Command::SetOption => self.set_option(line, rest, out),
            Command::Uci => {
                self.uci_owed += 1;
                self.forward(line, out);
            }
            Command::Debug => {
                self.debug = crate::uci::trim(rest) == b"on";
                self.forward(line, out);
            }
            Command::IsReady => {
                self.ready_owed += 1;
                self.forward(line, out);
            }
            Command::Stop => {
                self.watch.stop();
                self.stop(line, out);
            }
            Command::PonderHit => self.ponderhit(line, out),
            Command::Quit => out.quit = true,
            Command::NewGame => {
                self.game_over(Over::NewGame, out);
                self.forward(line, out);
            }
            Command::Register | Command::Other => self.forward(line, out),
        }
    }

    fn say(&mut self, lines: &[u8], out: &mut Output) {
        if std::mem::take(&mut self.gui_mid_line) {
            out.gui.push(b'\n');
        }
        out.gui.extend_from_slice(lines);
    }

    fn trace(&mut self, what: &str, out: &mut Output) {
        if self.debug && self.greeted {
            self.say(&notice(what), out);
        }
        if log::log_enabled!(Level::Debug) {
            out.notes.push((Level::Debug, what.to_owned()));
        }
    }
}

fn is_stop(line: &[u8]) -> bool {
    Command::of(line).0 == Command::Stop
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(crate::uci::trim(line)).into_owned()
}

/// Random numbers: the same sequence for the same seed on every machine; 0 asks the system for a seed.
fn rng(seed: u64) -> Xoshiro256PlusPlus {
    if seed == 0 { rand::make_rng() } else { Xoshiro256PlusPlus::seed_from_u64(seed) }
}
