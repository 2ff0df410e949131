//! The processes that are measured, and how each is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use tempfile::TempDir;

use crate::peer::Result;
use crate::relay::RELAY;

/// Measures the adapter beside the bare engine and Debian's PolyGlot.
#[derive(Parser)]
#[command(name = "bench-adapter")]
pub struct Args {
    /// tabiya's executable
    #[arg(long, default_value = option_env!("CARGO_BIN_EXE_tabiya"))]
    tabiya: Option<PathBuf>,
    /// The scripted engine's executable; default: the one beside this bench
    #[arg(long)]
    stub: Option<PathBuf>,
    /// PolyGlot's executable; skipped if there is none
    #[arg(long, default_value = "/usr/games/polyglot")]
    polyglot: PathBuf,
    /// Stockfish's executable; its step is skipped if there is none
    #[arg(long, default_value = "/usr/games/stockfish")]
    stockfish: PathBuf,
    /// A Polyglot book
    #[arg(long, default_value = "crates/book/books/starter.bin")]
    book: PathBuf,
    /// Few samples: shows that everything runs, and measures nothing
    #[arg(long)]
    smoke: bool,
    /// Only these steps: isready, book, forward, flood, memory, start, quit, resident, nps
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

/// The steps, as `--only` names them.
const STEPS: [&str; 9] =
    ["isready", "book", "forward", "flood", "memory", "start", "quit", "resident", "nps"];

/// A process that is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The engine itself.
    Bare,
    /// The engine with a proxy that only copies.
    Relay,
    /// The engine with tabiya.
    Tabiya,
    /// The engine with PolyGlot.
    PolyGlot,
}

/// Executables, a book, and a folder to work in.
pub struct Lab {
    args: Args,
    stub: PathBuf,
    folder: TempDir,
}

impl Lab {
    /// Finds everything.
    pub fn new(args: Args) -> Result<Self> {
        for step in &args.only {
            if !STEPS.contains(&step.as_str()) {
                return Err(format!("there is no step {step}; they are {}", STEPS.join(", ")).into());
            }
        }
        let stub = match &args.stub {
            Some(stub) => stub.clone(),
            None => beside()?,
        };
        for needed in [&stub, &args.book].into_iter().chain(&args.tabiya) {
            if !needed.is_file() {
                let advice = "scripts/bench adapter builds and finds what is needed";
                return Err(format!("{}: no such file: {advice}", needed.display()).into());
            }
        }
        let folder = TempDir::new()?;
        // An empty configuration in the working folder hides one beside tabiya.
        fs::write(folder.path().join("tabiya.toml"), "")?;
        Ok(Self { args, stub: dunce::canonicalize(stub)?, folder })
    }

    /// Whether a step was asked for.
    pub fn wants(&self, step: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|only| only == step)
    }

    /// A number of samples: `full`, or a few.
    pub fn samples(&self, full: usize, smoke: usize) -> usize {
        if self.args.smoke { smoke } else { full }
    }

    /// The book.
    pub fn book(&self) -> Result<PathBuf> {
        Ok(dunce::canonicalize(&self.args.book)?)
    }

    /// The working folder, which is removed with the lab.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stockfish, if there is one.
    pub fn stockfish(&self) -> Option<PathBuf> {
        self.args.stockfish.is_file().then(|| self.args.stockfish.clone())
    }

    /// The processes that can be measured here.
    pub fn everybody(&self) -> Vec<Who> {
        let mut all = vec![Who::Bare, Who::Relay];
        all.extend(self.args.tabiya.as_ref().map(|_| Who::Tabiya));
        all.extend(self.args.polyglot.is_file().then_some(Who::PolyGlot));
        all
    }

    /// The command that starts the scripted engine, bare or with an adapter.
    pub fn command(&self, who: Who, arguments: &[&str], book: &Path) -> Result<Command> {
        self.command_for(who, &self.stub, arguments, book)
    }

    /// The command that starts an engine, bare or with an adapter.
    pub fn command_for(&self, who: Who, engine: &Path, arguments: &[&str], book: &Path) -> Result<Command> {
        let mut command = match (who, &self.args.tabiya) {
            (Who::Bare, _) => {
                let mut command = Command::new(engine);
                command.args(arguments);
                command
            }
            (Who::Relay, _) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg(RELAY).arg(engine).args(arguments);
                command
            }
            (Who::Tabiya, Some(tabiya)) => {
                let mut command = Command::new(dunce::canonicalize(tabiya)?);
                command.arg("--engine").arg(engine);
                for argument in arguments {
                    // In one word, since an argument may itself begin with a dash.
                    command.arg(format!("--engine-arg={argument}"));
                }
                command.arg("--book").arg(book).args(["--seed", "1"]);
                command
            }
            (Who::Tabiya, None) => return Err("there is no tabiya".into()),
            (Who::PolyGlot, _) => {
                let ini = self.folder().join("polyglot.ini");
                // PolyGlot gives the command to wordexp(3).
                let mut line = format!("'{}'", engine.display());
                for argument in arguments {
                    line.push_str(&format!(" '{argument}'"));
                }
                let book = book.display();
                let text = format!(
                    "[PolyGlot]\nEngineDir = .\nEngineCommand = {line}\nBook = true\nBookFile = {book}\nLog = false\n[Engine]\n"
                );
                fs::write(&ini, text)?;
                let mut command = Command::new(&self.args.polyglot);
                command.arg(ini);
                command
            }
        };
        command.current_dir(self.folder());
        Ok(command)
    }
}

/// The scripted engine in the target folder that this bench was built into.
fn beside() -> Result<PathBuf> {
    let bench = std::env::current_exe()?;
    let profile = bench.parent().and_then(Path::parent).ok_or("the bench stands in no target folder")?;
    Ok(profile.join("examples").join(format!("scripted-engine{}", std::env::consts::EXE_SUFFIX)))
}
