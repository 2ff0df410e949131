//! Opening something in the user's browser.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Opens an address, or a file of HTML, in the browser. It is not known whether that worked, so print it before.
pub fn open(address: impl AsRef<OsStr>) {
    let started =
        opener(address.as_ref()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}

#[cfg(not(windows))]
fn opener(address: &OsStr) -> Command {
    let mut command = Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    command.arg(address);
    command
}

#[cfg(windows)]
fn opener(address: &OsStr) -> Command {
    use std::os::windows::process::CommandExt;

    let mut command = Command::new("cmd");
    // The first text in quotes would be the title of a window; in quotes `&` in the name of a folder ends no command.
    let mut quoted = std::ffi::OsString::from("\"");
    quoted.push(address);
    quoted.push("\"");
    command.args(["/c", "start", ""]).raw_arg(quoted);
    command
}
