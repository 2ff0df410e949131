//! The user's settings: the command line takes precedence over the configuration file, and that over the defaults.

pub mod advice;
pub mod books;
pub mod effect;
mod file;
pub mod form;
mod given;
pub mod opponent;
pub mod options;
pub mod rules;
pub mod search_paths;
pub mod spelling;
pub mod table;
mod template;
mod trust;
mod values;

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use log::Level;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_chess::{Variant, rules_of};
use tabiya_uci::{SetOption, VARIANT, same_name};

use self::books::BookList;
use self::file::FromFile;
use self::options::Options;
use self::search_paths::{SearchPaths, listed};
use self::spelling::Meant;
use self::table::{ENGINE, ENGINE_ARG, ENGINE_DIR, ENGINE_TIMEOUT, SET, SettingKind, SettingRow};

pub use self::given::Given;
pub use self::template::template;

/// The configuration file that is used if none is named and this one exists.
pub const FILE_NAME: &str = "tabiya.toml";

/// The name of the executable, unless the user has renamed it.
const PROGRAM: &str = "tabiya";

/// Everything that the adapter needs to start.
#[derive(Clone, Debug)]
pub struct Config {
    /// The engine's program, as the user named it.
    pub engine: String,
    pub engine_args: Vec<String>,
    /// Its working folder, as the user named it; `None` for the adapter's own.
    pub engine_dir: Option<String>,
    /// How long it is given to answer `uci`.
    pub engine_timeout: Duration,
    /// The name that GUIs see; `None` for the engine's own with an addition.
    pub name: Option<String>,
    /// Whether tabiya plays on when a book cannot be opened.
    pub book_optional: bool,
    /// The level of the log.
    pub log_level: Level,
    pub options: Options,
    /// Options of the engine that are set before the GUI sets any: name and value.
    pub settings: Vec<(String, String)>,
    /// The configuration file that was read, if any.
    pub file: Option<PathBuf>,
    /// The folders in which files are looked up.
    pub search_paths: SearchPaths,
    /// Problems with the configuration that do not prevent play.
    pub warnings: Vec<String>,
}

impl Config {
    /// Merges the command line with the configuration file: the named one, or the default one if it exists.
    ///
    /// # Errors
    /// When the named file cannot be read, when a file that was not named cannot be trusted or is a link to nowhere, and when a slip
    /// in the file or on the command line may mean another engine or book. Other bad keys are warnings.
    pub fn load(given: Given, file: Option<&str>) -> Result<Self> {
        let mut warnings = Vec::new();
        let path = match file {
            Some(name) => Some(SearchPaths::new(None).find(name).map_err(|tried| {
                Error::new(ErrorKind::File, format!("{name}: no such configuration file"))
                    .advice(format!("looked for it at {}", listed(&tried)))
            })?),
            None => found()?,
        };
        match path.as_deref() {
            Some(path) if file.is_none() => trust::check(path)?,
            Some(_) => {}
            None => warnings.extend(misnamed()),
        }
        let mut config = Self::merged(given, path)?;
        config.warnings.splice(..0, warnings);
        Ok(config)
    }

    /// The variant that the engine is set to: standard chess, unless `UCI_Variant` is among its options.
    pub fn variant(&self) -> Variant {
        let is_variant = |(name, _): &&(String, String)| same_name(name.as_bytes(), VARIANT.as_bytes());
        let set = self.settings.iter().rev().find(is_variant);
        set.and_then(|(_, value)| rules_of(value)).unwrap_or_default()
    }

    /// Merges the command line with this configuration file, if there is one.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn merged(given: Given, path: Option<PathBuf>) -> Result<Self> {
        let mut warnings = Vec::new();
        let FromFile { given: mut from_file, of_books: rules, variants } = match &path {
            Some(path) => file::read(path, &mut warnings)?,
            None => FromFile::default(),
        };
        check_line(&given)?;
        // Later ones win: defaults, the file's keys, its `set`, the command line's arguments, its `--set`.
        let mut options = Options::default();
        if !rules.is_empty() {
            options.books.both = BookList::Rules(rules);
        }
        options.variants = variants;
        let mut settings = Vec::new();
        let of_line = format!("{} ", advice::argument(SET));
        let of_file = path.as_deref().map(|path| format!("{}: set: ", path.display())).unwrap_or_default();
        for (given, place) in [(&from_file, of_file.as_str()), (&given, of_line.as_str())] {
            options.take(given);
            let pairs: Vec<_> = given.texts(SET).iter().filter_map(|text| split(text)).collect();
            for (index, (name, value)) in pairs.iter().enumerate() {
                let mut before = pairs.iter().take(index);
                if before.any(|(before, _)| same_name(before.as_bytes(), name.as_bytes())) {
                    warnings.push(format!("{place}'{name}' is set twice; the last value counts"));
                }
                let set = options.set(&SetOption { name: name.as_bytes(), value: value.as_bytes() });
                match set {
                    None => settings.push(((*name).to_owned(), (*value).to_owned())),
                    Some(Ok(_)) => {}
                    Some(Err(why)) => warnings.push(format!("{place}{why}")),
                }
            }
        }
        // Arguments and folder in the file belong to the engine that the file names.
        if given.text(ENGINE).is_some() {
            [ENGINE_ARG, ENGINE_DIR].iter().for_each(|key| from_file.forget(key));
        }
        from_file.take(given);
        let given = from_file;
        let or_default = |key| {
            let default = || table::start().find(|row| row.key == key).map(SettingRow::default);
            given.text(key).map(str::to_owned).or_else(default).unwrap_or_default()
        };
        let name = given.text("name").map(|name| name.replace(['\n', '\r'], " ").trim().to_owned());
        Ok(Self {
            name: name.filter(|name| !name.is_empty()),
            book_optional: given.is_true("book-optional"),
            engine: or_default(ENGINE),
            engine_args: given.texts(ENGINE_ARG).to_vec(),
            engine_dir: given.text(ENGINE_DIR).map(str::to_owned),
            engine_timeout: Duration::from_secs(or_default(ENGINE_TIMEOUT).parse().unwrap_or(1)),
            log_level: or_default("log-level").parse().unwrap_or(Level::Info),
            options,
            settings,
            search_paths: SearchPaths::new(path.as_deref()),
            file: path,
            warnings,
        })
    }

    /// The engine's program, found on `PATH` or in one of the search paths.
    ///
    /// # Errors
    /// When it is not found, with every path that was tried, or when it is tabiya itself.
    pub fn find_engine(&self) -> Result<PathBuf> {
        let wrong = |what| Error::new(ErrorKind::Engine, what).remedied_by(Remedy::NameEngine);
        let program = self
            .search_paths
            .find_program(&self.engine)
            .map_err(|why| wrong(format!("{}: no such engine: {why}", self.engine)))?;
        let own = env::current_exe().and_then(dunce::canonicalize).ok();
        if own.is_some() && own == dunce::canonicalize(&program).ok() {
            return Err(wrong(format!("{}: this is tabiya itself, not an engine", program.display())));
        }
        Ok(std::path::absolute(&program).unwrap_or(program))
    }

    /// The folder in which the engine is to work; `None` for ours.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn find_engine_dir(&self) -> Result<Option<PathBuf>> {
        let Some(name) = &self.engine_dir else { return Ok(None) };
        match self.search_paths.find(name) {
            Ok(folder) if folder.is_dir() => Ok(Some(folder)),
            _ => Err(Error::new(ErrorKind::Engine, format!("{name}: no such folder"))
                .remedied_by(Remedy::EngineFolder)),
        }
    }
}

/// Checks what the command line sets; the keys of a file are checked where they are read.
///
/// # Errors
/// When a `NAME=VALUE` has no `=`, is an argument or nearly an option of tabiya, or does not say which books play, and when the
/// name of a book is empty, as a variable of a shell may be.
fn check_line(given: &Given) -> Result<()> {
    for text in given.texts(SET) {
        let wrong =
            |what: &str| Error::new(ErrorKind::Usage, format!("{} '{text}' {what}", advice::argument(SET)));
        let Some((name, value)) = split(text) else {
            return Err(wrong("is not NAME=VALUE")
                .advice(format!("write it like {}", advice::setting("Hash", "256"))));
        };
        let unknown = || wrong("names no option");
        match Meant::by(name) {
            Some(Meant::Key(key)) => return Err(unknown().advice(format!("write {}", advice::argument(key)))),
            Some(Meant::Option(option)) => {
                return Err(unknown().advice(format!("write {}", advice::setting(option, value))));
            }
            None => {}
        }
        if let Some(needed) = Options::lacks(name, value) {
            return Err(wrong("does not say which books play").advice(needed));
        }
    }
    for SettingRow { key, .. } in table::start().filter(|row| row.kind == SettingKind::Files) {
        if given.texts(key).iter().any(|name| name.trim().is_empty()) {
            let what = format!("{}: the name of the book is empty", advice::argument(key));
            return Err(Error::new(ErrorKind::File, what).advice("name a book, or '<none>' for no book"));
        }
    }
    Ok(())
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    // A line end would start another command.
    let whole = !name.trim().is_empty() && !text.contains(['\n', '\r']);
    whole.then(|| (name.trim(), value.trim()))
}

/// The configuration file if none is named: `NAME.toml` beside an executable that was renamed to `NAME`, so that several
/// copies are several engines; else [`FILE_NAME`] in the search paths.
///
/// # Errors
/// When there is something else by that name: who made it does not expect another configuration, or none.
fn found() -> Result<Option<PathBuf>> {
    first_file(names())
}

/// The paths at which a configuration file is looked for.
fn names() -> impl Iterator<Item = PathBuf> {
    let near = SearchPaths::new(None).folders().to_vec();
    own_file().into_iter().chain(near.into_iter().map(|folder| folder.join(FILE_NAME)))
}

/// What is said of a file whose name is that of a configuration with another ending: editors of Windows add one, and its folders do
/// not show it.
fn misnamed() -> Option<String> {
    let longer = |path: PathBuf| {
        let ends = [".txt", ".TXT"].map(|end| {
            let mut name = path.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        Some((ends.into_iter().find(|path| path.is_file())?, path))
    };
    let (file, right) = names().find_map(longer)?;
    let right = right.file_name().unwrap_or_default().display();
    Some(format!("{}: this is not read: rename it to {right}, without the .txt", file.display()))
}

/// The first path at which there is anything.
///
/// # Errors
/// When that is not a file.
fn first_file(mut paths: impl Iterator<Item = PathBuf>) -> Result<Option<PathBuf>> {
    let Some(path) = paths.find(|path| path.symlink_metadata().is_ok()) else { return Ok(None) };
    match path.metadata() {
        Ok(data) if data.is_file() => Ok(Some(path)),
        Ok(_) => Err(Error::new(
            ErrorKind::File,
            "this is not a file, but tabiya would read its configuration here",
        )
        .at_path(path)
        .advice("give it another name")),
        Err(error) => {
            let what =
                if path.is_symlink() { "this is a broken link" } else { "cannot read the configuration" };
            Err(Error::file(path, what, error).advice("correct or remove it"))
        }
    }
}

/// The configuration file of this process's executable, if that was renamed.
pub fn own_file() -> Option<PathBuf> {
    renamed(&env::current_exe().ok()?)
}

/// The configuration file of an executable that was renamed; `None` for one that was not.
fn renamed(executable: &Path) -> Option<PathBuf> {
    let is_suffix = |end: &OsStr| end.eq_ignore_ascii_case(env::consts::EXE_EXTENSION);
    let name = match executable.extension() {
        Some(end) if is_suffix(end) => executable.file_stem()?,
        _ => executable.file_name()?,
    };
    let mut file = name.to_owned();
    file.push(".toml");
    (!name.eq_ignore_ascii_case(PROGRAM)).then(|| executable.with_file_name(file))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    mod slips;

    #[test]
    fn the_command_line_overrides_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tabiya.toml");
        let text = "book = 'key.bin'\nseed = 1\n[set]\n'Book File' = 'file.bin'\n'Book Seed' = 7\nHash = 1\n\
                    'Book Depth' = 5000\n'Book Reserve' = 3\n";
        std::fs::write(&file, text).unwrap();
        let load = |given: Given| Config::load(given, file.to_str());
        let config = load(Given::default()).unwrap();
        assert_eq!(
            (config.options.books.both.files(), config.options.seed),
            (&["file.bin".to_owned()][..], 7)
        );
        assert_eq!(config.options.policy.reserve, 3);
        assert_eq!(config.settings, [("Hash".to_owned(), "1".to_owned())]);
        assert!(
            config.warnings.len() == 1 && config.warnings[0].contains("Book Depth"),
            "{:?}",
            config.warnings
        );
        let line = Given::default().with("book", ["a;1", "b"]).with("seed", ["3"]);
        let config = load(line.clone()).unwrap();
        assert_eq!(config.options.books.both.files(), ["a;1", "b"]);
        assert_eq!((config.options.seed, config.book_optional), (3, false));
        let named = Given::default().with("name", [" My\nengine "]).with("book-optional", ["true"]);
        let config = load(named).unwrap();
        assert_eq!((config.name.as_deref(), config.book_optional), (Some("My engine"), true));
        let set = ["Book Seed=4", "Hash = x = y", "Book Log=l"];
        let config = load(line.with(SET, set)).unwrap();
        assert_eq!((config.options.seed, config.options.log.as_str()), (4, "l"));
        assert_eq!(config.settings[1], ("Hash".to_owned(), "x = y".to_owned()));
        for bad in ["A", "=1", "A=1\nquit"] {
            let error = load(Given::default().with(SET, [bad])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
        }
    }

    #[test]
    fn what_is_no_file_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let first = || first_file(["own.toml", FILE_NAME].map(path).into_iter());
        assert_eq!(first().unwrap(), None);
        std::fs::write(path(FILE_NAME), "").unwrap();
        assert_eq!(first().unwrap(), Some(path(FILE_NAME)));
        std::fs::create_dir(path("own.toml")).unwrap();
        let error = first().unwrap_err();
        assert!(
            error.kind() == ErrorKind::File && error.to_string().contains("own.toml: this is not a file")
        );
        #[cfg(unix)]
        {
            std::fs::remove_dir(path("own.toml")).unwrap();
            std::os::unix::fs::symlink(path("nowhere"), path("own.toml")).unwrap();
            assert!(first().unwrap_err().to_string().contains("own.toml: this is a broken link"));
        }
    }

    #[test]
    fn a_renamed_executable_has_a_configuration_of_its_own() {
        let file = |name: &str| renamed(Path::new("engines").join(name).as_path());
        let named = |name: &str| Some(Path::new("engines").join(name));
        assert_eq!(file("My engine 1.5"), named("My engine 1.5.toml"));
        assert_eq!((file("tabiya"), file("Tabiya")), (None, None));
        let exe = if cfg!(windows) { "Sharp.toml" } else { "Sharp.exe.toml" };
        assert_eq!(file("Sharp.exe"), named(exe));
    }
}
