//! However tabiya ends, the engine ends with it: on every system, by the lock that the engine holds while it lives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// After how long an engine counts as left behind: a guard, never a measure of speed.
const GUARD: Duration = Duration::from_secs(600);

/// tabiya around an engine that searches for ever, and the file that the engine holds.
struct Searching {
    tabiya: Child,
    held: File,
}

impl Searching {
    fn start(folder: &Path, stubborn: bool) -> Self {
        let engine = Path::new(env!("CARGO_BIN_EXE_tabiya")).with_file_name("examples");
        let engine = engine.join(format!("scripted-engine{}", std::env::consts::EXE_SUFFIX));
        let path = folder.join("held");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabiya"));
        command.current_dir(folder).arg("--engine").arg(engine);
        command.args(["--engine-arg=--hold", "--engine-arg"]).arg(&path);
        if stubborn {
            command.args(["--engine-arg=--ignore-quit", "--engine-arg=--ignore-stop"]);
        }
        let mut tabiya = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(tabiya.stdout.take().unwrap());
        let input = tabiya.stdin.as_mut().unwrap();
        for (lines, last) in [("uci\n", "uciok"), ("position startpos\ngo infinite\nisready\n", "readyok")] {
            input.write_all(lines.as_bytes()).unwrap();
            let mut line = String::new();
            while line.trim_end() != last {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0, "tabiya has ended");
            }
        }
        // Nobody waits for a reader of the rest.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let held = File::options().read(true).write(true).open(path).unwrap();
        assert!(matches!(held.try_lock(), Err(TryLockError::WouldBlock)), "the engine runs");
        Self { tabiya, held }
    }

    fn say(&mut self, line: &str) {
        self.tabiya.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Waits until both have ended.
    #[track_caller]
    fn end(mut self) {
        drop(self.tabiya.stdin.take());
        self.tabiya.wait().unwrap();
        let begin = Instant::now();
        while let Err(error) = self.held.try_lock() {
            assert!(matches!(error, TryLockError::WouldBlock), "{error}");
            assert!(begin.elapsed() < GUARD, "the engine runs on without tabiya");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn an_engine_ends_with_tabiya() {
    let folder = tempfile::tempdir().unwrap();
    for stubborn in [false, true] {
        let mut quit = Searching::start(folder.path(), stubborn);
        quit.say("quit\n");
        quit.end();
        Searching::start(folder.path(), stubborn).end();
    }
}

#[test]
fn an_engine_ends_when_tabiya_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    // macOS has no way to end the children of a process that is killed: there it is the end of its input that ends an engine.
    for stubborn in if cfg!(target_os = "macos") { &[false][..] } else { &[false, true] } {
        let mut killed = Searching::start(folder.path(), *stubborn);
        killed.tabiya.kill().unwrap();
        killed.tabiya.wait().unwrap();
        // Its input is closed by the system, and not by us.
        let input = killed.tabiya.stdin.take();
        killed.end();
        drop(input);
    }
}
