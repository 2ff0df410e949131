//! Starts the adapter's threads, and ends with them.
//!
//! | thread | task |
//! |---|---|
//! | main | starts the child, waits for its end, ends the adapter |
//! | gui | reads the GUI, writes to both sides |
//! | engine | reads the engine, writes to the GUI |
//! | stderr | forwards the engine's standard error to the log |
//! | clock | gives up or kills an engine that is late; starts the thread "time" |
//!
//! The others are there only while there is something to do, or from then on:
//!
//! | thread | task |
//! |---|---|
//! | engine writer | writes to the engine if a write might have to wait for it |
//! | books | opens books |
//! | time | tells the session that the deadline of a check, of opening books, or of sharing lines has passed |
//! | lines | shares played lines with other processes |
//! | spool, learn | keep finished games and learn them |

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::panics;
use tabiya_uci::engine::{self, Engine, Pipes};
use tabiya_uci::notice;

use super::log as logfile;
use super::reading::{read_engine, read_gui, read_stderr};
use super::shared::Shared;
use super::state::Side;
use crate::session::{About, Output, Session};
use crate::settings::Config;

/// The exit code of a Rust program that panics.
const PANIC_CODE: i32 = 101;

/// Runs the adapter until the GUI or the engine ends it. The engine has exited when this returns. `word` writes an
/// error with the options that help against it, for the GUI and the log. Events go to a file if there is one, a JSON object
/// each line; then the adapter is only tried, and leaves no trace in the files of a match.
///
/// # Errors
/// When the engine cannot be started, does not speak UCI, hangs or dies, or when a required book cannot be opened.
pub fn run(config: &Config, word: fn(&Error) -> String, events: Option<File>) -> Result<()> {
    let mut problems = Vec::new();
    logfile::set_up(config.search_paths.clone(), config.log_level);
    if !config.options.log.is_empty() {
        problems.extend(logfile::open(&config.options.log).err());
    }
    problems.extend(
        engine::join_job()
            .err()
            .map(|why| format!("the engine may outlive tabiya: cannot create a Windows job: {why}")),
    );
    log::info!("tabiya {} starts", env!("CARGO_PKG_VERSION"));
    let (input, output, own_stderr) = standard_streams().map_err(|error| {
        Error::new(ErrorKind::File, format!("cannot use standard input and output: {error}"))
    })?;
    let signals = Signals::catch();
    // The main thread starts the child: on Linux the child dies with the thread that started it.
    let (child, Pipes { stdin, stdout, stderr }) = start(config).inspect_err(|error| refuse(&word(error)))?;
    log::info!("engine: {}", child.program().display());
    let mut out = Output::default();
    let mut session = Session::new(config.options.clone(), config.settings.clone(), &mut out)
        .with_name(config.name.clone());
    for warning in config.warnings.clone() {
        session.gui.notify_about(About::Configuration, warning, &mut out);
    }
    for problem in problems {
        session.gui.notify(problem, &mut out);
    }
    let shared = Arc::new(Shared::new((session, out), output, (child, stdin), config, events));
    signals.end(&shared);
    let engine = shared.child.clone();
    end_on_panic(move || engine.kill());
    drop(shared.settle(shared.lock(), Side::Engine));
    shared.spawn("engine", move |shared| read_engine(shared, stdout));
    shared.spawn("gui", move |shared| read_gui(shared, input));
    shared.spawn("clock", Shared::watch_time);
    shared.spawn("stderr", move |shared| read_stderr(shared, stderr, own_stderr));
    shared.finish(config, word)
}

/// Signals that end the adapter. They are caught before the engine starts, so that none is lost meanwhile.
#[derive(Default)]
struct Signals {
    came: AtomicBool,
    shared: OnceLock<Arc<Shared>>,
}

impl Signals {
    fn catch() -> Arc<Self> {
        let signals = Arc::new(Self::default());
        let caught = Arc::clone(&signals);
        // If signals cannot be handled, the adapter still ends when the GUI's pipe closes.
        let _ = ctrlc::set_handler(move || {
            caught.came.store(true, Ordering::SeqCst);
            if let Some(shared) = caught.shared.get() {
                shared.end_by_signal();
            }
        });
        signals
    }

    /// Ends the adapter at a signal, and at once if one has come already.
    fn end(&self, shared: &Arc<Shared>) {
        let _ = self.shared.set(Arc::clone(shared));
        if self.came.load(Ordering::SeqCst) {
            shared.end_by_signal();
        }
    }
}

/// Starts the configured engine.
fn start(config: &Config) -> Result<(Engine, Pipes)> {
    let (program, folder) = (config.find_engine()?, config.find_engine_dir()?);
    Engine::start(&program, &config.engine_args, folder.as_deref())
}

/// Makes a panic of any thread end the engine and the process: the other threads would wait for that thread forever.
/// Panics that are caught are only logged.
fn end_on_panic(kill: impl Fn() + Send + Sync + 'static) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        log::error!("{info}");
        if panics::is_caught() {
            return;
        }
        usual(info);
        kill();
        logfile::finish();
        std::process::exit(PANIC_CODE);
    }));
}

/// Our own standard input, output and error without std's buffers and locks.
fn standard_streams() -> io::Result<(File, File, File)> {
    Ok((own(io::stdin())?, own(io::stdout())?, own(io::stderr())?))
}

#[cfg(unix)]
fn own(stream: impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn own(stream: impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(File::from(stream.as_handle().try_clone_to_owned()?))
}

/// Reports to the log, and to a GUI that may not show our standard error, why there will be no answer.
pub fn refuse(why: &str) {
    log::error!("{why}");
    notify_gui(why);
}

/// Sends a message to a GUI that has not been greeted yet. A terminal, which shows our standard error, gets none.
pub fn notify_gui(message: &str) {
    if !io::stdin().is_terminal() {
        let mut output = io::stdout();
        let _ = output.write_all(&notice(message)).and_then(|()| output.flush());
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use tabiya_base::background::Background;

    use super::*;

    /// The variable that makes the test below run one of its parts, each in its own process.
    const PART: &str = "TABIYA_TEST_PANIC";

    #[test]
    fn only_a_panic_that_is_not_caught_ends_the_engine_and_the_process() {
        let part = std::env::var(PART).unwrap_or_default();
        if part.is_empty() {
            for (part, alive) in [("caught", true), ("caught before", true), ("not caught", false)] {
                let name = "io::run::tests::only_a_panic_that_is_not_caught_ends_the_engine_and_the_process";
                let mut command = Command::new(std::env::current_exe().unwrap());
                let output = command.args(["--exact", name, "--nocapture"]).env(PART, part).output().unwrap();
                let text = String::from_utf8_lossy(&output.stdout);
                assert_eq!(
                    (text.contains("KILLED"), text.contains("ALIVE")),
                    (!alive, alive),
                    "{part}: {text}"
                );
                assert_eq!(output.status.code(), Some(if alive { 0 } else { PANIC_CODE }), "{part}: {text}");
            }
            return;
        }
        let panic = || -> u32 { panic!("on purpose") };
        if part == "caught before" {
            // The hook that silences caught panics is installed by the first of them: here it comes before ours.
            assert_eq!(*Background::new(panic).get(), 0);
        }
        end_on_panic(|| println!("KILLED"));
        if part == "not caught" {
            let _ = thread::spawn(panic).join();
        } else {
            assert_eq!(*Background::new(panic).get(), 0);
        }
        println!("ALIVE");
    }
}
