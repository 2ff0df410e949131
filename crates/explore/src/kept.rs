//! `POST /api/kept`: what the page remembers of how it is shown. Browsers keep such things for one port, and each start may have
//! another one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use tabiya_base::error::{Error, Result};
use tabiya_base::replace::Replacement;
use tabiya_base::state_folder::state_folder;

use super::Explorer;
use super::fault::Fault;
use super::reply::json;
use super::request::read;

/// The name of the file in the user's folder for application state.
const NAME: &str = "explore.json";

/// What the page may have kept.
const NAMES: [&str; 7] = ["theme", "tables", "evaluations", "lines", "threads", "games", "hidden"];

/// Bytes of a value.
const MAX_VALUE: usize = 16 << 10;

/// Bytes of the file.
const MAX_FILE: u64 = 256 << 10;

/// Values by their names.
type Values = BTreeMap<String, String>;

/// What the page remembers.
pub(super) struct PageMemory {
    /// The file; without one nothing outlives the server.
    path: Option<PathBuf>,
    /// Held while the file is changed.
    changing: Mutex<()>,
}

/// The body of a change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    set: Values,
}

impl PageMemory {
    /// What the user's file holds.
    pub(super) fn of_user() -> Self {
        Self::at(state_folder().map(|folder| folder.join(NAME)))
    }

    /// What this file holds.
    pub(super) fn at(path: Option<PathBuf>) -> Self {
        Self { path, changing: Mutex::default() }
    }

    /// All values; none where the file cannot be read.
    pub(super) fn values(&self) -> Values {
        self.path.as_deref().and_then(values).unwrap_or_default()
    }

    fn change(&self, set: Values) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.values();
        all.extend(set);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Error::file(folder, "cannot make the folder", error))?;
        }
        let mut file = Replacement::new(path, true)?;
        let text = json!(all).to_string();
        file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
        file.commit()
    }
}

/// The values in a file.
fn values(path: &Path) -> Option<Values> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
    let all: Values = serde_json::from_str(&text).ok()?;
    Some(all.into_iter().filter(|(name, _)| NAMES.contains(&&**name)).collect())
}

pub(super) fn keep(explorer: &Explorer, body: &[u8]) -> std::result::Result<Response, Fault> {
    let Changes { set } = read(body)?;
    if let Some((name, _)) =
        set.iter().find(|(name, value)| !NAMES.contains(&&***name) || value.len() > MAX_VALUE)
    {
        let name: String = name.chars().take(20).collect();
        return Err(Fault::bad(format!("{name:?} is not kept, or is too long")));
    }
    explorer.kept.change(set)?;
    Ok(json(&json!({})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_outlives_the_server_and_a_torn_file_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper").join(NAME);
        let kept = || PageMemory::at(Some(path.clone()));
        assert!(kept().values().is_empty());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        kept().change([pair("theme", "dark")].into()).unwrap();
        kept().change([pair("lines", "5")].into()).unwrap();
        assert_eq!(kept().values(), [pair("theme", "dark"), pair("lines", "5")].into());
        fs::write(&path, r#"{"theme":"da"#).unwrap();
        assert!(kept().values().is_empty());
        fs::write(&path, r#"{"theme":"light","key":"x"}"#).unwrap();
        assert_eq!(kept().values(), [pair("theme", "light")].into());
        PageMemory::at(None).change([pair("theme", "dark")].into()).unwrap();
    }
}
