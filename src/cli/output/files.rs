//! Files with their sizes.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

/// A file and its size.
#[derive(Serialize)]
pub struct FileLine {
    /// Its name.
    pub path: String,
    /// `null` where the file has gone meanwhile.
    pub bytes: Option<u64>,
}

/// The files with their sizes.
pub fn file_lines(files: Vec<PathBuf>) -> Vec<FileLine> {
    let line = |path: PathBuf| FileLine {
        bytes: fs::metadata(&path).ok().map(|metadata| metadata.len()),
        path: path.to_string_lossy().into_owned(),
    };
    files.into_iter().map(line).collect()
}
