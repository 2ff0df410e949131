//! Who started tabiya: a person at a terminal, a double click, or a program that talks to it.

use std::io::{self, BufRead, Write};

/// Whether Windows opened a window for this process alone, so that only its user can type into it, and closes it at the end.
pub(crate) fn is_own() -> bool {
    #[cfg(windows)]
    return io::IsTerminal::is_terminal(&io::stdin()) && tabiya_base::windows::owns_console();
    #[cfg(not(windows))]
    false
}

/// Keeps the window open until its user has read it.
pub(crate) fn wait_for_key() {
    let _ = writeln!(io::stdout(), "\nPress Enter to close this window.");
    let _ = io::stdin().lock().read_line(&mut String::new());
}

/// Whether a program talks to this one, as a GUI does to an engine.
#[cfg(unix)]
pub(crate) fn has_client() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;

    let input = io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let kind = input.and_then(|input| input.metadata()).map(|input| input.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

/// Whether a program talks to this one, as a GUI does to an engine: it was started from no window.
#[cfg(not(unix))]
pub(crate) fn has_client() -> bool {
    !io::IsTerminal::is_terminal(&io::stdin())
}
