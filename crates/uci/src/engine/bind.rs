//! Binds the life of a child process to ours, as far as the system allows.

use std::process::Command;

/// `CREATE_NO_WINDOW` of Windows's process creation flags.
#[cfg(windows)]
const NO_WINDOW: u32 = 0x0800_0000;

/// On Unix, puts the child into its own process group, so that the whole group can be killed; on Linux the child also
/// dies with this thread. On Windows, gives it no console window: GUIs start us without one, and Windows would open one
/// for the engine.
pub(super) fn bind(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(target_os = "linux")]
    die_with_parent(command);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, NO_WINDOW);
    #[cfg(not(any(unix, windows)))]
    let _ = command;
}

/// Asks the kernel to kill the child when the thread that starts it ends.
///
/// # Safety
/// The closure runs in the child between fork and exec, where only async-signal-safe calls are allowed: it makes two
/// system calls (`prctl`, `getppid`) and builds errors that do not allocate.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn die_with_parent(command: &mut Command) {
    use std::io;
    use std::os::unix::process::CommandExt;

    let parent = nix::unistd::getpid();
    let bind = move || {
        nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).map_err(io::Error::from)?;
        // The parent may have died before the signal was requested.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    unsafe {
        command.pre_exec(bind);
    }
}

/// On Windows, puts this process into a job that kills all its processes when this one ends; processes that are started
/// later belong to it. On other systems there is nothing to do.
///
/// # Errors
/// When Windows refuses.
pub fn join_job() -> std::io::Result<()> {
    #[cfg(windows)]
    tabiya_base::windows::join_job()?;
    Ok(())
}
