//! `tabiya help`: the options of a command, or the guide.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tabiya_adapter::settings::table;
use tabiya_base::error::{Error, ErrorKind, Result};

use crate::args::screens::Screen;
use crate::output::browser::open;
use crate::output::exit::Exit;
use crate::output::{print, unwritable};

/// The guide's first page, from the executable's folder: as the archives have it, and as packages install it.
const PLACES: [&str; 2] = ["guide/index.html", "../share/doc/tabiya/guide/index.html"];

/// The name of the page of tabiya's own options.
const OPTIONS: &str = "options";

/// Columns of this page.
const WIDTH: usize = 100;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "help",
    shown: &[
        ("command", "The command, or `options` for tabiya's UCI options"),
        ("guide", "Open the guide in the browser"),
    ],
    examples: &["tabiya help build", "tabiya help options"],
    pages: &[],
}];

/// Print the options of a command, or open the guide in the browser
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The command, or `options` for tabiya's UCI options [default: tabiya itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Open the guide in the browser; works without a network
    #[arg(long, conflicts_with = "command")]
    guide: bool,
}

/// Prints the help of a command, or opens the guide and prints where it is.
///
/// # Errors
/// When there is no such command; when the guide is in none of the places where it is installed.
pub fn run(args: &Args) -> Result<Exit> {
    let cli = super::command();
    if args.guide {
        let page = guide()?;
        print(|out| {
            writeln!(out, "{}", page.display())?;
            Ok(Exit::Done)
        })?;
        open(page);
        return Ok(Exit::Done);
    }
    if args.command == [OPTIONS] {
        return print(|out| {
            write_options(out)?;
            Ok(Exit::Done)
        });
    }
    let (mut found, mut line) = (&cli, "tabiya".to_owned());
    for name in &args.command {
        found = found.find_subcommand(name).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("{line} has no command '{name}'"))
                .advice(format!("`{line} --help` lists them"))
        })?;
        line = format!("{line} {name}");
    }
    let words = ["tabiya".to_owned()].into_iter().chain(args.command.clone()).chain(["--help".to_owned()]);
    match cli.try_get_matches_from(words).map_err(|help| help.print()) {
        Err(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(Exit::Done),
    }
}

/// The options that tabiya has beside the engine's, each with its default and what it is for.
fn write_options(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Options of tabiya, beside those of the engine: set them in the chess program, below [set] in tabiya.toml,"
    )?;
    writeln!(out, "or with --set \"NAME=VALUE\".")?;
    for row in table::options() {
        write!(out, "\n  {}", row.name)?;
        match row.default() {
            default if default.is_empty() => writeln!(out)?,
            default => writeln!(out, " [default: {default}]")?,
        }
        let mut column = 0;
        for word in row.help.split_whitespace() {
            let len = word.chars().count();
            if column == 0 || column + 1 + len > WIDTH {
                write!(out, "{}          {word}", if column == 0 { "" } else { "\n" })?;
                column = 10 + len;
            } else {
                write!(out, " {word}")?;
                column += 1 + len;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The first page of the guide.
fn guide() -> Result<PathBuf> {
    let program = env::current_exe().and_then(dunce::canonicalize);
    let program = program.map_err(|error| Error::file("tabiya", "cannot find its own executable", error))?;
    let folder = program.parent().unwrap_or(Path::new(""));
    // Where `..` would leave the name of a folder that nobody needs to read.
    let places = PLACES.map(|place| {
        let (above, place) = match place.strip_prefix("../") {
            Some(place) => (folder.parent().unwrap_or(folder), place),
            None => (folder, place),
        };
        // With the separators of this system.
        place.split('/').fold(above.to_owned(), |path, name| path.join(name))
    });
    if let Some(page) = places.iter().find(|page| page.is_file()) {
        return Ok(page.clone());
    }
    let [beside, installed] = places.map(|place| place.display().to_string());
    let repository = env!("CARGO_PKG_REPOSITORY");
    let source = match repository {
        // An address that leads nowhere stands there until a release.
        nowhere if nowhere.is_empty() || nowhere.contains(".invalid/") => {
            "docs/guide/README.md of tabiya's sources".to_owned()
        }
        repository => format!("{repository}/blob/v{}/docs/guide/README.md", env!("CARGO_PKG_VERSION")),
    };
    Err(Error::new(
        ErrorKind::File,
        format!("the guide is not installed; looked for it at {beside} and at {installed}"),
    )
    .advice(format!("unpack the archive of a release, which has it, or read {source}")))
}
