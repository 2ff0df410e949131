//! The user's folder for what the program remembers.

use std::env;
use std::path::PathBuf;

/// tabiya's own folder among those in which programs of the user keep their state; it need not exist. `None` if the system
/// names none.
pub fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library").join("Application Support"))
    } else {
        folder("XDG_STATE_HOME").or_else(|| Some(env::home_dir()?.join(".local").join("state")))
    };
    base.map(|base| base.join("tabiya"))
}
