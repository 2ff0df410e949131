//! The process of the child engine: started with its own arguments and folder, and ended with us.
//!
//! - The caller sends the engine `quit`, and kills it when it does not exit in time, together with all processes that it
//!   has started itself.
//! - When we are killed without a chance to do that, Linux kills the child (the parent-death signal, which is sent when
//!   the *thread* that started it ends: start it from the thread that lives longest), and Windows closes the job that
//!   all our processes belong to. On other systems the child sees the end of its input.

mod bind;
mod client;
mod program;
mod search;
mod words;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use shared_child::SharedChild;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;

#[cfg(unix)]
use self::program::Target;
use self::program::why_not;

pub use self::bind::join_job;
pub use self::client::{Client, NoLine};
pub use self::search::Failure;
pub use self::words::{LastWords, quoted};

/// The environment variable that counts how many adapters have started one another.
const DEPTH: &str = "TABIYA_DEPTH";

/// The most adapters that may have started one another: an adapter of an adapter is unusual, a hundred are a mistake.
const MAX_DEPTH: u32 = 3;

/// How often to look whether a process has ended.
const POLL: Duration = Duration::from_millis(5);

/// How a child engine is started and set up.
#[derive(Clone, Debug)]
pub struct Setup {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// Its working folder; `None` for ours.
    pub folder: Option<PathBuf>,
    /// Options that are set: name and value.
    pub options: Vec<(String, String)>,
    /// How long it may take to answer `uci` and `isready`, and stay silent before it is asked whether it is alive.
    pub patience: Duration,
}

/// A running child engine. Clones refer to the same process.
#[derive(Clone)]
pub struct Engine {
    child: Arc<SharedChild>,
    program: PathBuf,
}

pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

impl Engine {
    /// Starts a program with these arguments, in `folder` or else in our own. Call it from the thread that lives
    /// longest.
    ///
    /// # Errors
    /// When the system does not start it, or when it is tabiya that has been started by tabiya too often.
    pub fn start(program: &Path, args: &[String], folder: Option<&Path>) -> Result<(Self, Pipes)> {
        let depth = env::var(DEPTH).ok().and_then(|depth| depth.parse::<u32>().ok()).unwrap_or(0);
        if depth >= MAX_DEPTH {
            return Err(wrong(program, format!("tabiya starts itself as the engine, {depth} deep"))
                .advice("name the real engine instead of tabiya"));
        }
        let mut command = Command::new(program);
        command.args(args).env(DEPTH, (depth + 1).to_string());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        Self::spawn(program, command)
    }

    /// Starts a command of this program, with pipes. Call it from the thread that lives longest.
    ///
    /// # Errors
    /// When the system does not start it.
    pub(crate) fn spawn(program: &Path, mut command: Command) -> Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        bind::bind(&mut command);
        #[cfg(unix)]
        if Target::of_file(program).is_some() {
            bind::run_without_shell(program, &mut command);
        }
        let child = SharedChild::spawn(&mut command).map_err(|error| {
            wrong(program, format!("cannot start the engine: {}", why_not(program, &error)))
                .advice("check that it is a program for this machine, and that you may run it")
        })?;
        let pipes = match (child.take_stdin(), child.take_stdout(), child.take_stderr()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => return Err(wrong(program, "the engine has no pipes".to_owned())),
        };
        Ok((Self { child: Arc::new(child), program: program.to_owned() }, pipes))
    }

    /// The program that was started.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Waits until the process has ended.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Waits until the process has ended, but no longer than this, nor once the user asks the work to stop: then `None`.
    ///
    /// # Errors
    /// When the system does not report it.
    pub(crate) fn wait_timeout(&self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let until = Instant::now() + patience;
        loop {
            let ended = self.child.try_wait()?;
            if ended.is_some() || Instant::now() >= until || interrupt::asked() {
                return Ok(ended);
            }
            thread::sleep(POLL);
        }
    }

    /// Kills the process, and on Unix all processes that it has started.
    pub fn kill(&self) {
        self.kill_group();
        let _ = self.child.kill();
    }

    /// Kills the processes that this one may have left running. A process group keeps its number while it has a member.
    ///
    /// Windows needs no such call: it closes the job, and kills all processes in it, when we end.
    pub fn kill_group(&self) {
        #[cfg(unix)]
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ =
                nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGKILL);
        }
    }
}

fn wrong(program: &Path, what: String) -> Error {
    Error::new(ErrorKind::Engine, format!("{}: {what}", program.display()))
}
