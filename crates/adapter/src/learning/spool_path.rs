//! Where games are kept until they are learned.

use std::ffi::OsString;
use std::path::PathBuf;

use tabiya_base::state_folder::state_folder;

/// The suffix of the log's name that makes it the spool's.
const SPOOL_SUFFIX: &str = ".spool";

/// The spool's name if there is no log.
const SPOOL_NAME: &str = "games.spool";

/// The spools in which games of this process may be kept, the current one first: beside the log, and in the user's
/// folder.
pub fn spool_paths(log: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = spool_path(log).into_iter().chain(spool_path("")).collect();
    paths.dedup();
    paths
}

/// The spool in which games are kept: beside the log, or in the user's folder for application state if there is no log.
pub fn spool_path(log: &str) -> Option<PathBuf> {
    if !log.is_empty() {
        let mut name = OsString::from(log);
        name.push(SPOOL_SUFFIX);
        return std::path::absolute(PathBuf::from(name)).ok();
    }
    state_folder().map(|folder| folder.join(SPOOL_NAME))
}
