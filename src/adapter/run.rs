//! Starts the adapter's threads, reads both sides, and ends.
//!
//! | thread | does |
//! |---|---|
//! | main | starts the child, waits for its end, ends the adapter |
//! | gui | reads the GUI, writes to both sides |
//! | engine | reads the engine, writes to the GUI |
//! | keeper | writes to the engine what might have to wait for it; watches the answer to `uci` |
//! | books | opens books, and ends |
//! | stderr | carries the engine's standard error to the log |
//! | study | learns games that are over, where that is wanted |

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::config::Config;
use super::engine::{self, Engine, Pipes};
use super::hub::{End, Hub, Locked, State};
use super::library::Files;
use super::log as logfile;
use super::session::{Output, Session};
use super::sink::Side;
use super::stderr;
use crate::base::error::{Error, ErrorKind, Result};
use crate::uci::{Lines, Piece, notice};

/// Bytes read at once: more than a pipe holds on Linux, and so many that the allocator takes fresh pages, of which only
/// those are touched that something is read into.
const BLOCK: usize = 256 << 10;

/// The longest GUI line that is kept whole: 64 MiB, a game of millions of moves.
const GUI_LINE_MAX: usize = 64 << 20;

/// The longest engine line that is kept whole: 4 MiB.
const ENGINE_LINE_MAX: usize = 4 << 20;

/// How long the engine may live on after it closed its output.
const SILENT_TIME: Duration = Duration::from_millis(500);

/// How long a write may make no progress before its reader is taken not to read, once the engine has ended. A reader on
/// a busy machine may well be idle for a second.
const WORDS_STEP: Duration = Duration::from_secs(2);

/// Steps that the last lines of an engine that failed may take to be carried on.
const LAST_WORDS_STEPS: u32 = 5;

/// Steps that they may take after `quit`, when nobody waits for them.
const QUIT_WORDS_STEPS: u32 = 2;

/// How long the books that the adapter was started with are awaited when it is to end: no longer than the engine.
const FIRST_BOOKS_TIME: Duration = Duration::from_secs(2);

/// What to do about an engine that failed.
pub const SEE_DOCTOR: &str = "try it with `tabiya doctor`";

/// The exit code of a Rust program that panics.
const PANIC_CODE: i32 = 101;

/// Runs the adapter until the GUI or the engine ends it; the engine has gone when it returns.
///
/// # Errors
/// When the engine cannot be started, is no UCI engine, hangs or dies.
pub fn run(config: &Config) -> Result<()> {
    let mut problems = config.warnings.clone();
    logfile::set_up(config.places.clone(), config.log_level);
    if !config.options.log.is_empty() {
        problems.extend(logfile::open(&config.options.log).err());
    }
    problems.extend(engine::join_job().err().map(|why| format!("no Windows job: {why}")));
    log::info!("tabiya {} starts", env!("CARGO_PKG_VERSION"));
    let (input, output, complaints) = standard_streams()
        .map_err(|error| Error::new(ErrorKind::File, format!("no standard streams: {error}")))?;
    // The main thread starts the child: on Linux the child dies with the thread that started it.
    let (child, pipes) = Engine::start(config).inspect_err(refuse)?;
    let Pipes { stdin, stdout, stderr } = pipes;
    log::info!("engine: {}", child.program().display());
    let mut out = Output::default();
    let mut session = Session::new(config.options.clone(), config.settings.clone(), &mut out)
        .with_name(config.name.clone());
    for problem in problems {
        session.notify(problem, &mut out);
    }
    let library = Arc::new(Files::new(config.places.clone()));
    let hub = Hub::new(session, out, library, output, stdin, child, config);
    let hub = Arc::new(hub);
    let asked = Arc::clone(&hub);
    // Where signals cannot be had, the adapter still ends with the GUI's pipe.
    let _ = ctrlc::set_handler(move || asked.end(End::Asked));
    let panicked = Arc::clone(&hub);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        log::error!("{info}");
        panicked.child.kill();
        logfile::finish();
        std::process::exit(PANIC_CODE);
    }));
    drop(hub.settle(hub.lock(), false));
    spawn(&hub, "engine", move |hub| read_engine(hub, stdout));
    spawn(&hub, "gui", move |hub| read_gui(hub, input));
    spawn(&hub, "keeper", Hub::keep);
    spawn(&hub, "stderr", move |hub| carry_stderr(hub, stderr, complaints));
    finish(&hub, config)
}

fn spawn(hub: &Arc<Hub>, name: &str, work: impl FnOnce(&Arc<Hub>) + Send + 'static) {
    let shared = Arc::clone(hub);
    let started = thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared));
    if let Err(error) = started {
        hub.end(End::Engine(format!("the system gives no thread: {error}")));
    }
}

/// Our own standard input, output and error without the buffers and locks that std puts before them.
fn standard_streams() -> io::Result<(File, File, File)> {
    #[cfg(unix)]
    use std::os::fd::AsFd as _;
    #[cfg(windows)]
    use std::os::windows::io::AsHandle as _;
    #[cfg(unix)]
    let (input, output, error) = (
        io::stdin().as_fd().try_clone_to_owned()?,
        io::stdout().as_fd().try_clone_to_owned()?,
        io::stderr().as_fd().try_clone_to_owned()?,
    );
    #[cfg(windows)]
    let (input, output, error) = (
        io::stdin().as_handle().try_clone_to_owned()?,
        io::stdout().as_handle().try_clone_to_owned()?,
        io::stderr().as_handle().try_clone_to_owned()?,
    );
    Ok((File::from(input), File::from(output), File::from(error)))
}

/// Reports to a GUI, which may not show our standard error, why there will be no answer. At a terminal the error is
/// seen anyway.
pub fn refuse(error: &Error) {
    log::error!("{error}");
    tell_gui(&error.to_string());
}

/// Sends a GUI a message before it is greeted; at a terminal the message would appear twice.
pub fn tell_gui(message: &str) {
    if !io::stdin().is_terminal() {
        let mut output = io::stdout();
        let _ = output.write_all(&notice(message)).and_then(|()| output.flush());
    }
}

/// Reads a block; nothing at the end, and after an error, which is an end too.
fn read_block<'a>(from: &mut impl Read, block: &'a mut [u8]) -> &'a [u8] {
    loop {
        match from.read(block) {
            Ok(count) => return block.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return &[],
        }
    }
}

/// Reads the GUI until it ends or says `quit`.
fn read_gui(hub: &Arc<Hub>, mut input: File) {
    let mut block = vec![0; BLOCK];
    let mut lines = Lines::new(GUI_LINE_MAX);
    let mut in_part = false;
    loop {
        let read = read_block(&mut input, &mut block);
        let now = hub.now();
        let mut state = hub.lock();
        let State { session, out, .. } = &mut *state;
        session.at(now);
        let mut take = |piece: Piece<'_>| match piece {
            Piece::Line(line) => {
                log::debug!("gui: {}", String::from_utf8_lossy(line).trim_end());
                session.gui_line(line, out);
            }
            Piece::Part { bytes, ends } => {
                session.gui_part(bytes, !mem::replace(&mut in_part, !ends), ends, out);
            }
        };
        if read.is_empty() {
            lines.finish(&mut take);
            session.gui_gone(out);
        } else {
            lines.feed(read, &mut take);
        }
        let quit = state.out.quit;
        state = hub.settle(state, true);
        if quit {
            drop(state);
            return hub.end(End::Asked);
        }
        hub.brake_gui(state);
    }
}

/// Reads the engine until it closes its output.
fn read_engine(hub: &Arc<Hub>, mut output: impl Read) {
    let mut block = vec![0; BLOCK];
    let mut lines = Lines::new(ENGINE_LINE_MAX);
    loop {
        let read = read_block(&mut output, &mut block);
        if read.is_empty() {
            break;
        }
        let now = hub.now();
        let mut state = hub.lock();
        state.session.at(now);
        // The end of a line that an earlier block began, the whole lines, the beginning of the next.
        let begun = if lines.is_between() { 0 } else { after(memchr::memchr(b'\n', read), read.len()) };
        let (begun, rest) = read.split_at(begun);
        let (whole, next) = rest.split_at(after(memchr::memrchr(b'\n', rest), 0));
        if !begun.is_empty() {
            feed(&mut state, &mut lines, begun);
            state = hub.settle(state, false);
        }
        if !whole.is_empty() {
            // From this question to the writing the lock stays closed: what passes now might not a moment later.
            if state.session.passes() && all_pass(whole) {
                if state.session.listens() {
                    state.session.hear(whole);
                }
                if log::log_enabled!(log::Level::Trace) {
                    for line in whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        log::trace!("engine: {}", String::from_utf8_lossy(line).trim_end());
                    }
                }
                state = hub.pass(state, whole);
            } else {
                feed(&mut state, &mut lines, whole);
            }
        }
        if !next.is_empty() {
            feed(&mut state, &mut lines, next);
        }
        state = hub.settle(state, false);
        drop(hub.brake_engine(state));
    }
    let mut state = hub.lock();
    let State { session, out, .. } = &mut *state;
    lines.finish(|piece| match piece {
        Piece::Line(line) => session.engine_line(line, out),
        Piece::Part { bytes, ends } => session.engine_part(bytes, ends, out),
    });
    let mut state = hub.settle(state, false);
    state.engine_silent = true;
    hub.wake(&state);
    // An engine that only closed its output is of no use any more.
    let state = hub.wait_for(state, SILENT_TIME, |state| state.child_gone || state.end.is_some());
    if !state.child_gone && state.end.is_none() {
        drop(state);
        hub.give_up("the engine closed its output");
    }
}

/// One past a place, or `none`.
fn after(place: Option<usize>, none: usize) -> usize {
    place.map_or(none, |place| place + 1)
}

fn feed(state: &mut Locked<'_>, lines: &mut Lines, bytes: &[u8]) {
    let State { session, out, .. } = &mut **state;
    lines.feed(bytes, |piece| match piece {
        Piece::Line(line) => {
            log::trace!("engine: {}", String::from_utf8_lossy(line).trim_end());
            session.engine_line(line, out);
        }
        Piece::Part { bytes, ends } => session.engine_part(bytes, ends, out),
    });
}

/// Whether a block of whole lines holds none that the session must see.
fn all_pass(block: &[u8]) -> bool {
    let mut start = 0;
    memchr::memchr_iter(b'\n', block).all(|end| {
        let line = block.get(start..end).unwrap_or_default();
        start = end + 1;
        match line {
            [b'i', b'n', ..] | [] => true,
            [b'b' | b'i' | b'o' | b'r' | b'u', ..] => false,
            [first, ..] => !first.is_ascii_whitespace(),
        }
    })
}

/// The main thread's work: waits for the child's end and says what there is to say about it.
fn finish(hub: &Arc<Hub>, config: &Config) -> Result<()> {
    let status = hub.child.wait();
    hub.child.kill_group();
    let mut state = hub.lock();
    state.child_gone = true;
    hub.wake(&state);
    if matches!(state.end, Some(End::Asked)) {
        // Whether a book is missing is not to depend on how soon the GUI says `quit`.
        state = hub.wait_for(state, FIRST_BOOKS_TIME, |state| !state.awaits_first_books());
    }
    let mut state = learn_last(hub, hear_last_words(hub, state));
    // Nothing is to be said to the GUI in the middle of a line that it does not read.
    let mid_write = state.is_writing(Side::Gui);
    let what = match state.end.take() {
        Some(End::Asked) => {
            let text = mem::take(&mut state.out.gui);
            drop(state);
            if !mid_write && !text.is_empty() {
                hub.say_last(text, WORDS_STEP);
            }
            return Ok(());
        }
        Some(End::Books(unopened)) => {
            let (error, text) = refuse_books(&unopened, &mut state);
            drop(state);
            if !mid_write {
                hub.say_last(text, WORDS_STEP);
            }
            return Err(error);
        }
        Some(End::Engine(what)) => what,
        None => match status {
            Ok(status) => format!("the engine ended by itself ({status})"),
            Err(error) => format!("the engine cannot be waited for: {error}"),
        },
    };
    let error = Error::new(ErrorKind::Engine, format!("{}: {what}", config.engine)).advice(SEE_DOCTOR);
    log::error!("{error}");
    let State { session, out, .. } = &mut *state;
    session.engine_gone(&error.to_string(), out);
    let text = mem::take(&mut out.gui);
    drop(state);
    if !mid_write {
        hub.say_last(text, WORDS_STEP);
    }
    Err(error)
}

/// A match without the books that were asked for is worse than none. The last of them is the error, the others are
/// told before it; returns it with all that is left to be said to the GUI.
fn refuse_books(unopened: &[String], state: &mut State) -> (Error, Vec<u8>) {
    let (last, others) =
        unopened.split_last().map_or(("", unopened), |(last, others)| (last.as_str(), others));
    let error = Error::new(ErrorKind::File, last)
        .advice("name another book, or give --book-optional to play without it");
    others.iter().for_each(|message| stderr::say(message));
    let all: Vec<String> = others.iter().cloned().chain([error.to_string()]).collect();
    all.iter().for_each(|message| log::error!("{message}"));
    let State { session, out, .. } = state;
    session.books_refused(&all, out);
    (error, mem::take(&mut out.gui))
}

/// The games that are over are learned, or at least kept, before we end; the GUI and the log are told.
fn learn_last<'a>(hub: &'a Arc<Hub>, mut state: Locked<'a>) -> Locked<'a> {
    hub.study(&mut state);
    if let Some(end) = state.study.end() {
        // What is learned is reported under the lock.
        drop(state);
        let told = end.wait();
        state = hub.lock();
        let State { session, out, .. } = &mut *state;
        for (level, message) in told {
            session.report(level, message, out);
        }
    }
    let State { session, out, .. } = &mut *state;
    session.tell_later(out);
    for (level, note) in out.notes.drain(..) {
        log::log!(level, "{note}");
    }
    state
}

/// Waits until all that the engine said last has been carried on, but for nobody who does not read it.
fn hear_last_words<'a>(hub: &'a Arc<Hub>, mut state: Locked<'a>) -> Locked<'a> {
    let all_said =
        |state: &State| state.engine_silent && state.complaints_ended && !state.is_writing(Side::Gui);
    let asked = matches!(state.end, Some(End::Asked));
    let steps = if asked { QUIT_WORDS_STEPS } else { LAST_WORDS_STEPS };
    for _ in 0..steps {
        let writes = state.writes;
        state = hub.wait_for(state, WORDS_STEP, all_said);
        let stuck = (state.is_writing(Side::Gui) || state.complaining) && state.writes == writes;
        if all_said(&state) || stuck {
            break;
        }
    }
    state
}

/// Carries the engine's standard error to the log, or where there is none to our own standard error.
fn carry_stderr(hub: &Arc<Hub>, mut stderr: impl Read, mut own: File) {
    let mut block = vec![0; BLOCK];
    loop {
        let read = read_block(&mut stderr, &mut block);
        if read.is_empty() {
            break;
        }
        if log::log_enabled!(log::Level::Info) {
            for line in read.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                log::info!("engine says: {}", String::from_utf8_lossy(line).trim_end());
            }
        } else {
            hub.lock().complaining = true;
            let _ = own.write_all(read);
            let mut state = hub.lock();
            state.complaining = false;
            state.writes += 1;
        }
    }
    let mut state = hub.lock();
    state.complaints_ended = true;
    hub.wake(&state);
}
