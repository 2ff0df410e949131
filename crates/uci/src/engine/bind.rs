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

/// Lets the system alone decide whether it runs a program: where it refuses one, C's `execvp`, which std calls, would hand the file
/// to the shell, and that would take its bytes for commands. It changes nothing where the name of the program is no path.
///
/// # Safety
/// The closure runs in the child between fork and exec: it makes one system call (`execve`) with strings that it owns, whose
/// buffers do not move with their owner, and reads `errno`.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(super) fn run_without_shell(program: &std::path::Path, command: &mut Command) {
    use std::ffi::{CString, OsStr, OsString};
    use std::io;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::os::unix::process::CommandExt as _;

    use nix::libc::{c_char, execve};

    /// Strings as C has them, and a list of them that ends with a null pointer.
    struct Strings {
        _owned: Vec<CString>,
        list: Vec<*const c_char>,
    }
    // The pointers lead into the strings, which nobody changes.
    unsafe impl Send for Strings {}
    unsafe impl Sync for Strings {}

    fn strings(all: impl Iterator<Item = OsString>) -> Option<Strings> {
        let owned: Vec<CString> =
            all.map(|text| CString::new(text.into_vec()).ok()).collect::<Option<_>>()?;
        let list = owned.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Some(Strings { _owned: owned, list })
    }

    let mut variables: std::collections::BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => _ = variables.insert(name.to_owned(), value.to_owned()),
            None => _ = variables.remove(name),
        }
    }
    let set = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    let arguments = [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_owned);
    let path = Some(program).filter(|path| path.as_os_str().as_bytes().contains(&b'/'));
    let path = path.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    let (Some(path), Some(arguments), Some(variables)) =
        (path, strings(arguments), strings(variables.into_iter().map(set)))
    else {
        return;
    };
    let run = move || {
        // The whole structs are moved here, and not their fields.
        let (arguments, variables) = (&arguments, &variables);
        unsafe { execve(path.as_ptr(), arguments.list.as_ptr(), variables.list.as_ptr()) };
        Err(io::Error::last_os_error())
    };
    unsafe {
        command.pre_exec(run);
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
