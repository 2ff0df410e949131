//! The child engine's process: started with its own arguments and folder, and gone when we are.
//!
//! - It is told `quit`, and killed when it has not gone in time; with it goes whatever it started itself.
//! - When the adapter is killed without a chance to do that, Linux kills the child (the parent-death signal, sent when
//!   the *thread* that started it ends: start it from the thread that lives longest), Windows closes the job that all
//!   of us stand in; elsewhere the child sees its input end.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

use shared_child::SharedChild;

use super::config::Config;
use crate::base::error::{Error, ErrorKind, Result};

/// The environment's variable that counts how deep adapters stand in one another.
const DEPTH: &str = "TABIYA_DEPTH";

/// Adapters that may stand in one another: an adapter of an adapter is odd, a hundred are a mistake.
const DEPTH_MAX: u32 = 3;

/// A running child engine. Clones speak of the same process.
#[derive(Clone)]
pub struct Engine {
    child: Arc<SharedChild>,
    program: PathBuf,
}

/// The child's ends of the pipes.
pub struct Pipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
    /// What it complains.
    pub stderr: ChildStderr,
}

impl Engine {
    /// Where the configured engine's program lies.
    ///
    /// # Errors
    /// When it is not found: every place where it was looked for.
    pub fn find(config: &Config) -> Result<PathBuf> {
        let program = config.places.find_program(&config.engine).map_err(|tried| {
            Error::new(ErrorKind::Engine, format!("{}: no such engine: {tried}", config.engine))
                .advice("name an engine with --engine, or in the configuration file")
        })?;
        let own = env::current_exe().and_then(|own| own.canonicalize()).ok();
        if own.is_some() && own == program.canonicalize().ok() {
            let what = format!("{}: this is tabiya itself, no engine", program.display());
            return Err(Error::new(ErrorKind::Engine, what).advice("name the real engine with --engine"));
        }
        Ok(std::path::absolute(&program).unwrap_or(program))
    }

    /// Starts the configured engine. Call it from the thread that lives longest.
    ///
    /// # Errors
    /// When the program or its working folder is not found, or the system will not start it.
    pub fn start(config: &Config) -> Result<(Self, Pipes)> {
        let wrong = |what: String| Error::new(ErrorKind::Engine, what);
        let program = Self::find(config)?;
        let depth = env::var(DEPTH).ok().and_then(|depth| depth.parse::<u32>().ok()).unwrap_or(0);
        if depth >= DEPTH_MAX {
            return Err(wrong(format!("{}: tabiya starts tabiya, {depth} deep", program.display()))
                .advice("name the real engine with --engine"));
        }
        let mut command = Command::new(&program);
        command.args(&config.engine_args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env(DEPTH, (depth + 1).to_string());
        if let Some(name) = &config.engine_dir {
            let folder = config.places.find(name).ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
                wrong(format!("{name}: no such folder"))
                    .advice("mend --engine-dir, the folder the engine works in")
            })?;
            command.current_dir(folder);
        }
        bind(&mut command);
        let child = SharedChild::spawn(&mut command).map_err(|error| {
            wrong(format!("{}: cannot start the engine: {error}", program.display()))
                .advice("is it a program for this machine, and may it be run?")
        })?;
        let pipes = match (child.take_stdin(), child.take_stdout(), child.take_stderr()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => return Err(wrong(format!("{}: the engine has no pipes", program.display()))),
        };
        Ok((Self { child: Arc::new(child), program }, pipes))
    }

    /// The program that was started.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Waits until the process has ended.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Ends the process by force, and on Unix all that it started.
    pub fn kill(&self) {
        self.kill_group();
        let _ = self.child.kill();
    }

    /// Ends what the process may have left behind. Its group keeps its number as long as it has a member.
    #[cfg(unix)]
    pub fn kill_group(&self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ =
                nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGKILL);
        }
    }

    /// Windows closes the job, and all that is in it, when the adapter ends.
    #[cfg(not(unix))]
    pub fn kill_group(&self) {}
}

/// A process group of its own, so that all of it can be ended; on Linux bound to this thread's life.
#[cfg(unix)]
fn bind(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    #[cfg(target_os = "linux")]
    die_with_parent(command);
}

/// Asks the kernel to kill the child when the thread that starts it ends.
///
/// # Safety
/// The closure runs in the child between fork and exec, where only async-signal-safe calls are allowed: it makes two
/// system calls (`prctl`, `getppid`) and builds errors that do not allocate.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    let parent = nix::unistd::getpid();
    let bind = move || {
        nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).map_err(io::Error::from)?;
        // The parent may have died before it was asked for.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    unsafe {
        command.pre_exec(bind);
    }
}

/// No console window of its own: GUIs start us without one, and Windows would open one for the engine.
#[cfg(windows)]
fn bind(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    /// `CREATE_NO_WINDOW` of Windows's process creation flags.
    const NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(NO_WINDOW);
}

#[cfg(not(any(unix, windows)))]
fn bind(_command: &mut Command) {}

/// On Windows, puts this process into a job that ends all its processes when it ends; what is started later is in it.
/// Elsewhere there is nothing to do.
///
/// # Errors
/// When Windows refuses.
#[cfg(windows)]
pub fn join_job() -> std::result::Result<(), String> {
    let mut limits = win32job::ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = win32job::Job::create_with_limit_info(&limits).map_err(|error| error.to_string())?;
    job.assign_current_process().map_err(|error| error.to_string())?;
    // The handle stays open until the process ends, which is what closes the job.
    let _ = job.into_handle();
    Ok(())
}

/// On Windows, puts this process into a job that ends all its processes when it ends; what is started later is in it.
/// Elsewhere there is nothing to do.
///
/// # Errors
/// Never.
#[cfg(not(windows))]
pub fn join_job() -> std::result::Result<(), String> {
    Ok(())
}
