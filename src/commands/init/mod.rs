//! `tabiya init`: finds an engine and a book, writes a configuration for them, and tries it.

mod answer;
mod configuration;
mod cutechess;
mod find;

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tabiya_adapter::settings::search_paths::SearchPaths;
use tabiya_adapter::settings::{FILE_NAME, own_file};
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_uci::engine::{Client, NoLine};

use self::answer::pick;
use self::configuration::{configuration, is_template, write};
use super::doctor;
use crate::args::screens::Screen;
use crate::output::exit::Exit;
use crate::output::{complain, unwritable};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "init",
    shown: &[
        ("engine", "The engine [default: ask, or the first one found]"),
        ("book", "A book; repeatable [default: ask, or the first one found]"),
        ("yes", "Ask nothing: take the first engine and book found"),
        ("force", "Replace an existing tabiya.toml"),
    ],
    examples: &["tabiya init", "tabiya init --yes"],
    pages: &[("options.md", "## tabiya.toml")],
}];

/// Find an engine and a book, write tabiya.toml for them, and try it
#[derive(clap::Args, Default)]
pub struct Args {
    /// The engine: a path, or a name on PATH [default: ask, or take the first one found]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// A book; repeatable, in order of priority [default: ask, or take the first one found]
    #[arg(long, value_name = "FILE")]
    book: Vec<String>,
    /// Ask nothing: take the first engine and book found, and add tabiya to Cute Chess
    #[arg(long, short)]
    yes: bool,
    /// Replace an existing tabiya.toml
    #[arg(long)]
    force: bool,
}

/// Writes `tabiya.toml` in the working folder, runs doctor, and offers to add tabiya to Cute Chess. Beside an executable that
/// was renamed to `NAME`, the file is `NAME.toml`.
///
/// # Errors
/// When there is a configuration already and `--force` is not given, when no engine is found or named, when the engine or
/// a book does not exist, when the user cancels, or when the file cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let (input, output) = (&mut io::stdin().lock(), &mut io::stdout());
    let asks = !args.yes && io::stdin().is_terminal();
    Init { input, output, asks, path: target(), start: startable, check: doctor::try_file }.run(args)
}

/// Explains what tabiya is to a user who has double-clicked its executable, and offers [`run`], or to check what is there.
///
/// # Errors
/// Those of [`run`].
pub fn welcome() -> Result<Exit> {
    let (input, output) = (&mut io::stdin().lock(), &mut io::stdout());
    Init { input, output, asks: true, path: target(), start: startable, check: doctor::try_file }.welcome()
}

/// The configuration of the executable that was started, in the working folder.
fn target() -> PathBuf {
    let working = env::current_dir().unwrap_or_default();
    let is_here = |file: &PathBuf| {
        file.parent().is_some_and(|at| same_file::is_same_file(at, &working).unwrap_or(false))
    };
    own_file().filter(is_here).unwrap_or_else(|| working.join(FILE_NAME))
}

/// A conversation with the user.
struct Init<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    /// Whether there is somebody to ask.
    asks: bool,
    path: PathBuf,
    start: fn(PathBuf) -> Result<PathBuf>,
    check: fn(&Path) -> Result<Exit>,
}

impl Init<'_> {
    fn welcome(&mut self) -> Result<Exit> {
        self.say(
            // A line of a window without settings has 80 columns.
            "tabiya gives any UCI chess engine any opening book. You do not use it directly:\n\
             a chess program such as Arena or Cute Chess starts it in place of the engine.\n",
        )?;
        if self.path.exists() && !is_template(&self.path) {
            self.say(&format!("tabiya is already set up here: {}", self.path.display()))?;
            let answer = self.ask("Enter: check it; n: set it up again", "")?;
            return match answer.to_lowercase().starts_with('n') {
                true => self.run(&Args { force: true, ..Args::default() }),
                false => (self.check)(&self.path),
            };
        }
        if self.ask("Set it up in this folder now?", "y")?.eq_ignore_ascii_case("y") {
            self.run(&Args::default())
        } else {
            Ok(Exit::Done)
        }
    }

    fn run(&mut self, args: &Args) -> Result<Exit> {
        let path = self.path.clone();
        let replaced = args.force || is_template(&path);
        if path.exists() && !replaced {
            return Err(Error::exists(&path));
        }
        let engine = self.engine(args, find::engines)?;
        let books = self.books(args)?;
        write(&path, &configuration(&engine, &books), replaced)?;
        self.say(&format!("Wrote {}.\n", path.display()))?;
        let exit = (self.check)(&path)?;
        let program = env::current_exe().unwrap_or_default();
        let folder = path.parent().unwrap_or(&path);
        self.say(&format!(
            "\nNext, add it to your chess program as a UCI engine:\n  program  {}\n  folder   {}\n\
             and switch off the program's own opening book for this engine.",
            program.display(),
            folder.display()
        ))?;
        match self.cutechess(&path) {
            // The configuration is written: only this last question is cancelled.
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(exit),
            added => added.map(|()| exit),
        }
    }

    /// The engine that is named, or chosen from those that are found.
    fn engine(&mut self, args: &Args, find: fn() -> Vec<PathBuf>) -> Result<PathBuf> {
        let named = |name: &str| {
            let found = SearchPaths::new(None).find_program(name);
            found.map_err(|why| Error::new(ErrorKind::Engine, format!("{name}: no such engine: {why}")))
        };
        if let Some(name) = &args.engine {
            return named(name).and_then(self.start);
        }
        if !self.asks && !args.yes {
            return Err(Error::new(ErrorKind::Usage, "cannot ask which engine to use: there is no terminal")
                .advice("name one with --engine, or take the first one found with --yes"));
        }
        let mut found = find();
        if !self.asks {
            let advice = || format!("{GET_ENGINE}, and name it with --engine");
            let none = || Error::new(ErrorKind::Engine, "no engine was found").advice(advice());
            return found.into_iter().next().ok_or_else(none);
        }
        self.list("Engines", &mut found)?;
        let (question, default) = match found.is_empty() {
            true => ("Path of an engine, or drag its program into this window", ""),
            false => ("Engine (its number or path)", "1"),
        };
        if found.is_empty() {
            self.say(&format!("You need one to play: {GET_ENGINE}."))?;
        }
        loop {
            let answer = self.ask(question, default)?;
            match pick(&answer, &found, 1, named).and_then(self.start) {
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
            find::books_of_chess(&path).map(|()| path)
        };
        if !args.book.is_empty() {
            return args.book.iter().map(|name| named(name)).collect();
        }
        let (mut found, left_out) = find::books();
        left_out.iter().for_each(complain);
        if !self.asks {
            return Ok(found.into_iter().take(1).collect());
        }
        self.list("Books", &mut found)?;
        loop {
            let default = if found.is_empty() { "0" } else { "1" };
            let answer = self.ask("Book (its number or path; 0 for the one that is built in)", default)?;
            if answer == "0" {
                return Ok(Vec::new());
            }
            match pick(&answer, &found, 0, named) {
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
        let name = config.file_stem().unwrap_or_default().to_string_lossy();
        let name = engines.add(&name, &program, folder)?;
        self.say(&format!("Cute Chess has the engine \"{name}\"."))
    }

    /// Lists those of what was found that are offered, and drops the rest.
    fn list(&mut self, what: &str, found: &mut Vec<PathBuf>) -> Result<()> {
        if found.is_empty() {
            return self.say(&format!("{what}: none found."));
        }
        self.say(&format!("{what}:"))?;
        for (at, path) in found.iter().take(find::MAX).enumerate() {
            self.say(&format!("  {}  {}", at + 1, path.display()))?;
        }
        if found.len() > find::MAX {
            found.truncate(find::MAX);
            self.say("  and more: type the path of any other")?;
        }
        Ok(())
    }

    /// Asks, and returns the answer without spaces around it: the default where it is empty.
    ///
    /// # Errors
    /// When the input has ended, as Ctrl-D ends it: the user cancels.
    fn ask(&mut self, question: &str, default: &str) -> Result<String> {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        let asked = write!(self.output, "{question}{shown}: ").and_then(|()| self.output.flush());
        asked.map_err(|error| unwritable(&error))?;
        let mut answer = String::new();
        let read = self
            .input
            .read_line(&mut answer)
            .map_err(|error| Error::new(ErrorKind::File, format!("cannot read standard input: {error}")))?;
        if read == 0 {
            // After the question, which has no line end.
            self.say("")?;
            return Err(Error::new(ErrorKind::Interrupted, "cancelled; nothing was written"));
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { default } else { answer }.to_owned())
    }

    fn say(&mut self, text: &str) -> Result<()> {
        let said = writeln!(self.output, "{text}").and_then(|()| self.output.flush());
        said.map_err(|error| unwritable(&error))
    }
}

/// Where people get an engine.
const GET_ENGINE: &str = "get one, such as Stockfish from https://stockfishchess.org/download";

/// A program that the system starts, and that does not end when it is asked `uci`. Whether it answers as an engine does is
/// `doctor`'s business: some take long.
///
/// # Errors
/// When the file is something else.
fn startable(program: PathBuf) -> Result<PathBuf> {
    let wrong = |what: &str| {
        Err(Error::new(ErrorKind::Engine, what)
            .at_path(&program)
            .advice("name the file that starts the engine"))
    };
    if !find::is_program(&program) {
        return wrong("this is not a program");
    }
    match Client::start(&program, &[], program.parent())?.ask("uci", "uciok", find::PATIENCE, |_| ()) {
        Err(NoLine::Ended) => wrong("this program ends without answering `uci`"),
        Err(NoLine::Interrupted) => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
        Ok(()) | Err(NoLine::Late) => Ok(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What comes of a double click on an executable whose configuration is `path`, with these answers.
    fn talk(path: &Path, answers: &str) -> (Result<Exit>, String) {
        let (mut input, mut output) = (answers.as_bytes(), Vec::new());
        let check = |path: &Path| {
            assert!(path.is_file());
            Ok(Exit::Findings)
        };
        let start = |program: PathBuf| match program.ends_with("readme.txt") {
            true => startable(program),
            false => Ok(program),
        };
        let path = path.to_owned();
        let mut init = Init { input: &mut input, output: &mut output, asks: true, path, start, check };
        let result = init.welcome();
        (result, String::from_utf8(output).unwrap())
    }

    fn program() -> String {
        env::current_exe().unwrap().display().to_string()
    }

    #[test]
    fn without_an_engine_there_is_nothing_to_set_up() {
        for (asks, answers) in [(false, ""), (true, "\n")] {
            let (mut input, mut output) = (answers.as_bytes(), Vec::new());
            let path = PathBuf::from(FILE_NAME);
            let mut init = Init {
                input: &mut input,
                output: &mut output,
                asks,
                path,
                start: Ok,
                check: |_| Ok(Exit::Done),
            };
            let error = init.engine(&Args { yes: !asks, ..Args::default() }, Vec::new).unwrap_err();
            let said = String::from_utf8(output).unwrap();
            match asks {
                // It asks until there is no answer any more.
                true => {
                    assert!(said.contains(GET_ENGINE) && error.kind() == ErrorKind::Interrupted, "{said}")
                }
                false => assert!(error.to_string().contains("no engine was found"), "{error}"),
            }
        }
    }

    #[test]
    fn nine_are_offered_and_more_are_told() {
        let folder = tempfile::tempdir().unwrap();
        for (count, more) in [(9, false), (10, true)] {
            let mut found: Vec<_> =
                (1..=count).map(|number| folder.path().join(format!("{number}.bin"))).collect();
            let (mut output, path) = (Vec::new(), PathBuf::new());
            let check = |_: &Path| Ok(Exit::Done);
            let mut init =
                Init { input: &mut [].as_slice(), output: &mut output, asks: true, path, start: Ok, check };
            init.list("Books", &mut found).unwrap();
            let said = String::from_utf8(output).unwrap();
            assert_eq!((found.len(), said.contains("  and more: type the path")), (9, more), "{said}");
        }
    }

    #[test]
    fn a_double_click_writes_the_configuration_and_a_second_one_checks_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Solid.toml");
        let (result, said) = talk(&path, "no\n");
        assert!(result.unwrap() == Exit::Done && !path.exists() && !said.contains("already"), "{said}");
        let (result, _) = talk(&path, &format!("\n'{}' \n0\nn\n", program()));
        assert_eq!(result.unwrap(), Exit::Findings);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\nengine = "), "{text}");
        let (result, said) = talk(&path, "\n");
        assert_eq!(result.unwrap(), Exit::Findings);
        assert!(said.contains("already set up here") && said.contains("Solid.toml"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::write(&path, "seed = 3\n").unwrap();
        let (result, _) = talk(&path, &format!("n\n{}\n0\nn\n", program()));
        assert_eq!(result.unwrap(), Exit::Findings);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn the_end_of_input_cancels_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        for answers in ["", "\n", &format!("\n{}\n", program())] {
            let error = talk(&path, answers).0.unwrap_err();
            assert_eq!((error.kind(), path.exists()), (ErrorKind::Interrupted, false), "{answers:?}");
        }
        fs::write(&path, "seed = 3\n").unwrap();
        for answers in ["", "n\n"] {
            assert_eq!(talk(&path, answers).0.unwrap_err().kind(), ErrorKind::Interrupted);
            assert_eq!(fs::read_to_string(&path).unwrap(), "seed = 3\n");
        }
    }

    #[test]
    fn a_file_that_is_no_program_is_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, text) = (folder.path().join(FILE_NAME), folder.path().join("readme.txt"));
        fs::write(&text, "read me").unwrap();
        assert!(startable(text.clone()).unwrap_err().to_string().contains("not a program"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(startable(text.clone()).unwrap_err().kind(), ErrorKind::Engine);
        }
        let error = talk(&path, &format!("\n{}\n", text.display())).0.unwrap_err();
        assert_eq!((error.kind(), path.exists()), (ErrorKind::Interrupted, false));
    }
}
