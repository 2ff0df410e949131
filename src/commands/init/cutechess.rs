//! The engines of Cute Chess, in its file `engines.json`.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;

/// The file, and the list in it.
pub(super) struct Engines {
    path: PathBuf,
    text: String,
    list: Vec<Value>,
}

impl Engines {
    /// The engines of Cute Chess; `None` if it has none, or a file that is not understood.
    pub(super) fn load() -> Option<Self> {
        Self::read(&folder()?.join("engines.json"))
    }

    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => Some(Self { path: path.to_owned(), text, list }),
            _ => None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The programs of the UCI engines that exist.
    pub(super) fn programs(&self) -> Vec<PathBuf> {
        let uci = self.list.iter().filter(|engine| text(engine, "protocol") == Some("uci"));
        uci.filter_map(program_of).filter(|path| path.is_file()).collect()
    }

    /// Adds tabiya in a working folder, unless it is there already, and returns the name under which Cute Chess lists it: this
    /// one, with a number if another engine has it.
    ///
    /// # Errors
    /// When the file cannot be replaced.
    pub(super) fn add(self, name: &str, program: &Path, folder: &Path) -> Result<String> {
        let is_same = |a: &Path, b: &Path| a == b || same_file::is_same_file(a, b).unwrap_or(false);
        let is_known = |engine: &&Value| {
            text(engine, "workingDirectory").is_some_and(|other| is_same(other.as_ref(), folder))
                && program_of(engine).is_some_and(|other| is_same(&other, program))
        };
        if let Some(name) = self.list.iter().find(is_known).and_then(|engine| text(engine, "name")) {
            return Ok(name.to_owned());
        }
        // Cute Chess knows engines by their names.
        let mut names =
            std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name} {number}")));
        let is_new = |name: &String| !self.list.iter().any(|engine| text(engine, "name") == Some(name));
        let name = names.find(is_new).unwrap_or_default();
        let engine = json!({
            "name": name,
            "command": program.display().to_string(),
            "workingDirectory": folder.display().to_string(),
            "protocol": "uci",
            // As its *Detect* finds them; without them it offers standard chess alone. Options are left out: Cute Chess would
            // send those that it has in its file at each start, over what tabiya.toml says.
            "variants": ["standard", "fischerandom"],
        });
        let mut file = Replacement::new(&self.path, true)?;
        let text = self.with(&engine).map_err(|error| file.error(error))?;
        file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
        file.commit()?;
        Ok(name)
    }

    /// The text of the file with another engine at the end, and everything else as it is.
    fn with(&self, engine: &Value) -> io::Result<String> {
        let (before, end) = self.text.rsplit_once(']').unwrap_or(("[", "\n"));
        let kept = before.trim_end();
        let comma = if self.list.is_empty() { "" } else { "," };
        if !self.list.is_empty() && !before.contains('\n') {
            return Ok(format!("{kept}{comma}{engine}]{end}"));
        }
        let indents = before.lines().filter_map(|line| line.strip_suffix(line.trim_start()));
        // Cute Chess writes tabs.
        let indent = indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("\t");
        let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
        let added = pretty(engine, indent)?.replace('\n', &format!("{newline}{indent}"));
        Ok(format!("{kept}{comma}{newline}{indent}{added}{newline}]{end}"))
    }
}

fn text<'a>(engine: &'a Value, key: &str) -> Option<&'a str> {
    engine.get(key).and_then(Value::as_str)
}

/// The program of an engine. *Browse...* writes it relative to the working folder, and in quotation marks if it has a space.
fn program_of(engine: &Value) -> Option<PathBuf> {
    let command = text(engine, "command")?.trim();
    let command = command.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(command);
    Some(Path::new(text(engine, "workingDirectory").unwrap_or_default()).join(command))
}

/// A value on lines with this indentation.
fn pretty(value: &Value, indent: &str) -> io::Result<String> {
    let mut text = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent.as_bytes());
    value.serialize(&mut Serializer::with_formatter(&mut text, formatter))?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// The folder in which Cute Chess keeps its settings.
fn folder() -> Option<PathBuf> {
    let settings = if cfg!(windows) {
        env::var_os("APPDATA").map(PathBuf::from)
    } else {
        let given = env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        given.or_else(|| env::home_dir().map(|home| home.join(".config")))
    };
    settings.map(|settings| settings.join("cutechess"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_added_once_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.json");
        let old = r#"[{"zeta":1,"name":"tabiya","command":"other","protocol":"uci","alpha":[true,null]}]"#;
        std::fs::write(&path, old).unwrap();
        let add = |place: &str| {
            Engines::read(&path).unwrap().add("tabiya", Path::new("/opt/tabiya"), Path::new(place)).unwrap()
        };
        assert_eq!(
            (add("/a"), add("/b"), add("/a")),
            ("tabiya 2".into(), "tabiya 3".into(), "tabiya 2".into())
        );
        let text = std::fs::read_to_string(&path).unwrap();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(format!("[{}]", list[0]), old);
    }

    #[test]
    fn an_engine_that_was_added_in_the_window_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let (place, path) = (folder.path().join("my chess"), folder.path().join("engines.json"));
        std::fs::create_dir(&place).unwrap();
        let program = place.join("tabiya");
        std::fs::write(&program, "").unwrap();
        let quoted = format!("\"{}\"", program.display());
        for command in ["./tabiya", "tabiya", &quoted] {
            let list =
                json!([{ "name": "mine", "command": command, "workingDirectory": place, "protocol": "uci" }]);
            std::fs::write(&path, list.to_string()).unwrap();
            let add = |place: &Path| Engines::read(&path).unwrap().add("tabiya", &program, place).unwrap();
            assert_eq!(
                (add(&place), add(folder.path())),
                ("mine".to_owned(), "tabiya".to_owned()),
                "{command}"
            );
        }
    }

    #[test]
    fn the_rest_of_the_file_keeps_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.json");
        let cute_chess = "[\n\t{\n\t\t\"command\" : \"a]\",\n\t\t\"name\" : \"a\"\n\t}\n]\n";
        for old in [
            cute_chess,
            &cute_chess.replace('\t', "    "),
            &cute_chess.replace('\n', "\r\n"),
            r#"[{"name": "a"}]"#,
            "[]",
            "[\n] \n",
        ] {
            std::fs::write(&path, old).unwrap();
            Engines::read(&path).unwrap().add("tabiya", Path::new("/opt/tabiya"), Path::new("/a")).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let (before, end) = old.rsplit_once(']').unwrap();
            assert!(text.starts_with(before.trim_end()) && text.ends_with(&format!("]{end}")), "{text}");
            let list: Vec<Value> = serde_json::from_str(&text).unwrap();
            assert_eq!(list.last().unwrap()["variants"], json!(["standard", "fischerandom"]));
            assert_eq!(
                text.contains('\t'),
                old.contains('\t') || old.trim() == "[]" || old.trim() == "[\n]",
                "{text}"
            );
            assert_eq!(
                text.matches("\r\n").count(),
                if old.contains('\r') { text.matches('\n').count() } else { 0 }
            );
        }
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.json");
        assert!(Engines::read(&path).is_none());
        for text in ["", "{}", "[", "null"] {
            std::fs::write(&path, text).unwrap();
            assert!(Engines::read(&path).is_none(), "{text}");
        }
    }

    #[test]
    fn programs_of_uci_engines_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (path, engine) = (folder.path().join("engines.json"), folder.path().join("engine"));
        std::fs::write(&engine, "").unwrap();
        let list = json!([
            { "command": engine, "protocol": "uci" },
            { "command": "engine", "workingDirectory": folder.path(), "protocol": "uci" },
            { "command": format!("\"{}\"", engine.display()), "protocol": "uci" },
            { "command": engine, "protocol": "xboard" },
            { "command": "missing", "protocol": "uci" },
            "no engine",
        ]);
        std::fs::write(&path, list.to_string()).unwrap();
        assert_eq!(Engines::read(&path).unwrap().programs(), [engine.clone(), engine.clone(), engine]);
    }
}
