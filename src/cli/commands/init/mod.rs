//! `tabiya init`: finds an engine and a book, writes a configuration for them, and tries it.

mod cutechess;
mod find;

use std::env;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::doctor;
use crate::adapter::config::search_paths::SearchPaths;
use crate::adapter::config::{FILE_NAME, TEMPLATE};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::replace::Replacement;
use crate::book;
use crate::cli::output::exit::Exit;
use crate::cli::output::{complain, unwritable};

/// `tabiya init`.
#[derive(clap::Args, Default)]
pub struct Args {
    /// The engine: a path, or a name on PATH [default: asks, or takes the first that is found]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// A book; repeatable, in order of priority [default: asks, or takes the first that is found]
    #[arg(long, value_name = "FILE")]
    book: Vec<String>,
    /// Ask nothing: take what is found, and add tabiya to Cute Chess
    #[arg(long, short)]
    yes: bool,
    /// Replace an existing tabiya.toml
    #[arg(long)]
    force: bool,
}

/// Writes `tabiya.toml` in the working folder, runs doctor, and offers to add tabiya to Cute Chess.
///
/// # Errors
/// When there is a configuration already and `--force` is not given, when no engine is found or named, when the engine or
/// a book does not exist, or when the file cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let (input, output) = (&mut io::stdin().lock(), &mut io::stdout());
    let asks = !args.yes && io::stdin().is_terminal();
    Init { input, output, asks }.run(args)
}

/// Explains what tabiya is to a user who has double-clicked its executable, and offers [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn welcome() -> Result<Exit> {
    let (input, output) = (&mut io::stdin().lock(), &mut io::stdout());
    let mut init = Init { input, output, asks: true };
    init.say("tabiya gives any UCI chess engine any opening book. A chess program such as Arena or Cute Chess starts it in")?;
    init.say("place of the engine; it is not meant to be used by hand.\n")?;
    if init.ask("Set it up in this folder now?", "y")?.eq_ignore_ascii_case("y") {
        init.run(&Args::default())
    } else {
        Ok(Exit::Done)
    }
}

/// Keeps the window of a double click open until its user has read it.
pub fn wait_for_key() {
    let _ = writeln!(io::stdout(), "\nPress Enter to close this window.");
    let _ = io::stdin().lock().read_line(&mut String::new());
}

/// A conversation with the user.
struct Init<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    /// Whether there is somebody to ask.
    asks: bool,
}

impl Init<'_> {
    fn run(&mut self, args: &Args) -> Result<Exit> {
        let path = env::current_dir().unwrap_or_default().join(FILE_NAME);
        let replaced = args.force || is_template(&path);
        if path.exists() && !replaced {
            return Err(Error::exists(&path));
        }
        let engine = self.engine(args, find::engines)?;
        let books = self.books(args)?;
        write(&path, &configuration(&engine, &books), replaced)?;
        self.say(&format!("Wrote {}.\n", path.display()))?;
        let exit = doctor::try_file(&path)?;
        self.cutechess(&path)?;
        Ok(exit)
    }

    /// The engine that is named, or chosen from those that are found.
    fn engine(&mut self, args: &Args, find: fn() -> Vec<PathBuf>) -> Result<PathBuf> {
        let wrong = |what: String| Error::new(ErrorKind::Engine, what);
        let named = |name: &str| {
            let found = SearchPaths::new(None).find_program(name);
            found.map_err(|why| wrong(format!("{name}: no such engine: {why}")))
        };
        if let Some(name) = &args.engine {
            return named(name);
        }
        let none = || wrong("no engine was found".to_owned()).advice("name one with --engine");
        if !self.asks && !args.yes {
            return Err(Error::new(ErrorKind::Usage, "there is no terminal to ask which engine")
                .advice("name it with --engine, or accept what is found with --yes"));
        }
        let found = find();
        if !self.asks {
            return found.into_iter().next().ok_or_else(none);
        }
        self.list("Engines", &found)?;
        loop {
            let answer = self.ask("Engine (its number or path)", if found.is_empty() { "" } else { "1" })?;
            if answer.is_empty() {
                return Err(none());
            }
            match choice(&answer, &found).map_or_else(|| named(&answer), Ok) {
                Ok(engine) => return Ok(engine),
                Err(error) => complain(&error),
            }
        }
    }

    /// The books that are named, or one chosen from those that are found; none for the starter book.
    fn books(&mut self, args: &Args) -> Result<Vec<PathBuf>> {
        let paths = SearchPaths::new(None);
        let named = |name: &str| {
            let path = paths.find(name).unwrap_or_else(|_| PathBuf::from(name));
            book::open(&path).map(|_| path)
        };
        if !args.book.is_empty() {
            return args.book.iter().map(|name| named(name)).collect();
        }
        let found = find::books();
        if !self.asks {
            return Ok(found.into_iter().take(1).collect());
        }
        self.list("Books", &found)?;
        loop {
            let default = if found.is_empty() { "0" } else { "1" };
            let answer = self.ask("Book (its number or path; 0 for the one that is built in)", default)?;
            if answer == "0" {
                return Ok(Vec::new());
            }
            match choice(&answer, &found).map_or_else(|| named(&answer), Ok) {
                Ok(book) => return Ok(vec![book]),
                Err(error) => complain(&error),
            }
        }
    }

    /// Offers to add tabiya to the engines of Cute Chess, if there is one.
    fn cutechess(&mut self, config: &Path) -> Result<()> {
        let Some(engines) = cutechess::Engines::load() else { return Ok(()) };
        let Ok(program) = env::current_exe() else { return Ok(()) };
        let folder = config.parent().unwrap_or(config);
        let question =
            format!("\nAdd tabiya to Cute Chess ({})? Close Cute Chess first.", engines.path().display());
        if self.asks && !self.ask(&question, "y")?.eq_ignore_ascii_case("y") {
            return Ok(());
        }
        let name = engines.add(&program, folder)?;
        self.say(&format!("Cute Chess has the engine \"{name}\"."))
    }

    fn list(&mut self, what: &str, found: &[PathBuf]) -> Result<()> {
        if found.is_empty() {
            return self.say(&format!("{what}: none found."));
        }
        self.say(&format!("{what}:"))?;
        let lines = found.iter().enumerate();
        lines.into_iter().try_for_each(|(at, path)| self.say(&format!("  {}  {}", at + 1, path.display())))
    }

    /// Asks, and returns the answer without spaces around it: the default where it is empty, and at the end of input.
    fn ask(&mut self, question: &str, default: &str) -> Result<String> {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        let asked = write!(self.output, "{question}{shown}: ").and_then(|()| self.output.flush());
        asked.map_err(|error| unwritable(&error))?;
        let mut answer = String::new();
        self.input
            .read_line(&mut answer)
            .map_err(|error| Error::new(ErrorKind::File, format!("cannot read standard input: {error}")))?;
        let answer = answer.trim();
        Ok(if answer.is_empty() { default } else { answer }.to_owned())
    }

    fn say(&mut self, text: &str) -> Result<()> {
        let said = writeln!(self.output, "{text}").and_then(|()| self.output.flush());
        said.map_err(|error| unwritable(&error))
    }
}

/// The item of a list that an answer names by its number, from 1.
fn choice(answer: &str, list: &[PathBuf]) -> Option<PathBuf> {
    let number: usize = answer.parse().ok()?;
    list.get(number.checked_sub(1)?).cloned()
}

/// The configuration for an engine and books: the template with their keys.
fn configuration(engine: &Path, books: &[PathBuf]) -> String {
    let text = |path: &Path| toml::Value::String(path.display().to_string()).to_string();
    let books: Vec<String> = books.iter().map(|book| text(&whole(book))).collect();
    let engine = format!("engine = {}", text(&whole(engine)));
    let books = (!books.is_empty()).then(|| format!("book = [{}]", books.join(", ")));
    let line = |line: &str| match line {
        line if line.starts_with("#engine = ") => engine.clone(),
        line if line.starts_with("#book = ") => books.clone().unwrap_or_else(|| line.to_owned()),
        line => line.to_owned(),
    };
    TEMPLATE.lines().map(|known| line(known) + "\n").collect()
}

/// Whether the file is the template as it comes with tabiya, in which nothing is set.
fn is_template(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().eq(TEMPLATE.lines()))
}

/// A path that leads to its file from every folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut file = Replacement::new(path, force)?;
    file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::config::{Config, Given};

    #[test]
    fn the_configuration_names_the_engine_and_the_books() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        for name in ["sf", "it's \"new\"", r"C:\new\tabs", "Größe \\'"] {
            let (engine, book) = (folder.path().join(name), folder.path().join(format!("{name}.bin")));
            fs::write(&file, configuration(&engine, std::slice::from_ref(&book))).unwrap();
            let config = Config::load(Given::default(), file.to_str()).unwrap();
            assert_eq!((config.engine.as_str(), &config.warnings[..]), (engine.to_str().unwrap(), &[][..]));
            assert_eq!(config.options.books.both.files(), [book.to_str().unwrap()]);
        }
        assert!(configuration(Path::new("sf"), &[]).contains("\n#book = "));
    }

    #[test]
    fn the_template_is_replaced_and_anything_else_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        assert!(!is_template(&file), "there is none");
        for (text, replaced) in [
            (TEMPLATE.to_owned(), true),
            (TEMPLATE.replace('\n', "\r\n"), true),
            (TEMPLATE.replace("#seed", "seed"), false),
            (String::new(), false),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(is_template(&file), replaced);
        }
    }

    fn talk(answers: &str, body: impl FnOnce(&mut Init<'_>) -> Result<String>) -> (Result<String>, String) {
        let (mut input, mut output) = (answers.as_bytes(), Vec::new());
        let result = body(&mut Init { input: &mut input, output: &mut output, asks: true });
        (result, String::from_utf8(output).unwrap())
    }

    #[test]
    fn without_an_engine_there_is_nothing_to_set_up() {
        let (mut input, mut output) = (&b"\n"[..], Vec::new());
        for asks in [false, true] {
            let mut init = Init { input: &mut input, output: &mut output, asks };
            let error = init.engine(&Args { yes: !asks, ..Args::default() }, Vec::new).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Engine);
            assert!(error.to_string().contains("no engine was found"), "{error}");
        }
    }

    #[test]
    fn an_empty_answer_and_the_end_of_input_mean_the_default() {
        for (answers, answer) in [("\n", "1"), ("", "1"), (" 3 \r\n", "3")] {
            let (result, asked) = talk(answers, |init| init.ask("Engine", "1"));
            assert_eq!((result.unwrap().as_str(), asked.as_str()), (answer, "Engine [1]: "));
        }
    }

    #[test]
    fn a_number_names_an_item_of_the_list() {
        let list = [PathBuf::from("a"), PathBuf::from("b")];
        assert_eq!(choice("2", &list), Some("b".into()));
        for other in ["0", "3", "-1", "a", ""] {
            assert_eq!(choice(other, &list), None, "{other}");
        }
    }
}
