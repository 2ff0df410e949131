//! `/api/settings` and `/api/doctor`: `tabiya.toml` as a form, and what `tabiya doctor` says of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use tabiya_adapter::settings::{form, template};
use tabiya_base::error::{Error, Result};
use tabiya_base::replace::Replacement;
use tabiya_uci::engine::{Client, NoLine};

use super::Explorer;
use super::fault::Fault;
use super::reply::json;
use super::request::{Query, read};
use super::words;

/// Bytes of the largest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// How long the doctor may take: engines may take long to start.
const DOCTOR_TIME: Duration = Duration::from_secs(180);

/// How long the doctor may take to end after its last line.
const END_TIME: Duration = Duration::from_secs(5);

/// Lines of what the doctor says that are kept.
const MAX_LINES: usize = 1 << 12;

/// The configuration file that is shown, which need not exist.
pub(super) struct Settings {
    path: PathBuf,
    /// Held while the file is changed.
    changing: Mutex<()>,
    /// Held while the doctor is at work.
    doctor: Mutex<()>,
}

/// What `tabiya doctor --json` prints.
#[derive(Default, Deserialize)]
struct SettingsFindings {
    problems: Vec<SettingsFinding>,
    summary: Option<String>,
}

/// Something that is wrong.
#[derive(Deserialize)]
struct SettingsFinding {
    level: String,
    text: String,
}

/// The body of a change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    set: BTreeMap<String, Option<String>>,
}

impl Settings {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, changing: Mutex::default(), doctor: Mutex::default() }
    }

    /// What is answered without the flag: those who may change the settings can have any program started.
    pub(super) fn not_allowed() -> Fault {
        Fault::forbidden(words::SETTINGS)
    }

    /// The text of the file; that of a template if there is no file.
    fn text(&self) -> Result<(String, bool)> {
        let cannot = |error| Error::file(&self.path, "cannot read the configuration", error);
        let file = match fs::File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok((template(), false));
            }
            file => file.map_err(cannot)?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(Error::format(&self.path, "the file is larger than a configuration can be"));
        }
        Ok((form::text(&self.path, &bytes)?, true))
    }

    fn shown(&self) -> Result<Response> {
        let (text, exists) = self.text()?;
        let rows = form::read(&self.path, &text)?;
        let groups = form::groups(&rows);
        Ok(json(&json!({
            "file": self.path, "exists": exists, "groups": groups, "rows": rows, "doctor": Value::Null,
        })))
    }

    fn change(&self, changes: &Changes) -> Result<Response> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, exists) = self.text()?;
        let text = form::changed(&self.path, &text, &changes.set)?;
        let mut file = Replacement::new(&self.path, exists)?;
        file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
        file.commit()?;
        self.shown()
    }
}

fn settings(explorer: &Explorer) -> std::result::Result<&Settings, Fault> {
    explorer.settings.as_ref().map_err(Fault::clone)
}

pub(super) fn show(explorer: &Explorer, _: &Query) -> std::result::Result<Response, Fault> {
    Ok(settings(explorer)?.shown()?)
}

pub(super) fn change(explorer: &Explorer, body: &[u8]) -> std::result::Result<Response, Fault> {
    Ok(settings(explorer)?.change(&read(body)?)?)
}

/// `POST /api/doctor`: starts the configured adapter, as a GUI would.
pub(super) fn doctor(explorer: &Explorer, _: &[u8]) -> std::result::Result<Response, Fault> {
    let settings = settings(explorer)?;
    // One at a time.
    let Ok(_working) = settings.doctor.try_lock() else {
        return Err(Fault::busy("doctor is already running"));
    };
    let file = settings.path.exists().then_some(&*settings.path);
    Ok(json(&json!({ "doctor": verdicts(file)? })))
}

/// What `tabiya doctor` says of a configuration file.
fn verdicts(file: Option<&Path>) -> Result<Vec<Value>> {
    let cannot = |what: &'static str| move |error: io::Error| Error::file(words::DOCTOR, what, error);
    let own = std::env::current_exe().map_err(cannot("cannot be started"))?;
    let mut command = Command::new(&own);
    command.args(words::DOCTOR_LINE);
    if let Some(file) = file {
        command.arg(words::CONFIG).arg(file);
    }
    let mut doctor = Client::spawn(&own, command)?;
    let (until, mut out) = (Instant::now() + DOCTOR_TIME, Vec::new());
    let why = loop {
        match doctor.line(until) {
            Ok(line) if out.len() < MAX_LINES => out.push(line),
            Ok(_) => {}
            Err(why) => break why,
        }
    };
    let verdict = |level: &str, text: &str| json!({ "level": level, "text": text });
    let status = match why {
        NoLine::Ended => doctor.wait(END_TIME).map_err(cannot("cannot be waited for"))?,
        NoLine::Late | NoLine::Interrupted => None,
    };
    let Some(status) = status else {
        return Ok(vec![verdict("error", "doctor did not finish in three minutes")]);
    };
    let found =
        out.first().and_then(|line| serde_json::from_str::<SettingsFindings>(line).ok()).unwrap_or_default();
    let mut verdicts: Vec<Value> = found.problems.iter().map(|it| verdict(&it.level, &it.text)).collect();
    // What ends doctor before it has tried anything.
    let complaints = doctor.errors();
    verdicts.extend(
        complaints.iter().map(|line| verdict("error", line.strip_prefix("tabiya: ").unwrap_or(line))),
    );
    if verdicts.is_empty() {
        let level = if status.success() { "ok" } else { "error" };
        verdicts.extend(
            found.summary.iter().map(String::as_str).chain(["All is well."]).map(|line| verdict(level, line)),
        );
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_windows_wrote_is_shown_and_changed() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::new(folder.path().join("tabiya.toml"));
        let text = "# Größe\r\nengine = 'engine.exe'\r\n";
        let wide = |mark: &[u8], to_bytes: fn(u16) -> [u8; 2]| {
            [mark, &text.encode_utf16().flat_map(to_bytes).collect::<Vec<_>>()].concat()
        };
        for bytes in [
            wide(b"\xff\xfe", u16::to_le_bytes),
            wide(b"\xfe\xff", u16::to_be_bytes),
            wide(b"", u16::to_le_bytes),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        ] {
            fs::write(&settings.path, bytes).unwrap();
            assert_eq!(settings.text().unwrap(), (text.to_owned(), true));
            let set = [("engine".to_owned(), Some("other.exe".to_owned()))].into();
            settings.change(&Changes { set }).unwrap();
            let changed = fs::read_to_string(&settings.path).unwrap();
            assert!(changed.starts_with("# Größe\r\n") && changed.contains("other.exe"), "{changed:?}");
        }
    }

    #[test]
    fn a_file_in_another_encoding_or_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::new(folder.path().join("tabiya.toml"));
        fs::write(&settings.path, b"seed = 1\nengine = 'Gr\xf6\xdfe.exe'\n").unwrap();
        let error = settings.text().unwrap_err().to_string();
        assert!(error.contains("line 2") && error.ends_with("save the file in UTF-8"), "{error}");
        let most = usize::try_from(MAX_FILE).unwrap();
        fs::write(&settings.path, vec![b'#'; most]).unwrap();
        assert_eq!(settings.text().unwrap().0.len(), most);
        fs::write(&settings.path, vec![b'#'; most + 1]).unwrap();
        assert!(settings.text().unwrap_err().to_string().contains("larger"));
    }
}
