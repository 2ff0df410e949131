//! `tabiya check`: every damage of a book or database, with its offset.

use std::io;
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::{counts, database, out};
use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::{self, Book, Damage};
use crate::build::counts::named;
use crate::games::cbh;

/// `tabiya check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books, count files (.parquet), folders of count files, or ChessBase databases (.cbh)
    #[arg(required = true, value_name = "BOOK")]
    books: Vec<PathBuf>,
}

/// Reads each book whole and names what is wrong with it.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    out::each_file(&args.books, |path, out| {
        if cbh::is_named(path) {
            return database::check(path, out);
        }
        let sound = match named(path)? {
            Some(files) => counts::check(path, &files, out)?,
            None => sound(path, &*book::open(path)?, out)?,
        };
        Ok(if sound { Exit::Done } else { Exit::Wanting })
    })
}

/// Prints a line for each damage and oddity as it is found, and one with their numbers; `true` where nothing is
/// damaged.
fn sound(path: &Path, book: &dyn Book, out: &mut dyn io::Write) -> io::Result<bool> {
    let name = path.display();
    let progress = Progress::terminal(path.to_string_lossy());
    let (mut damages, mut oddities) = (0_u64, 0_u64);
    let mut written = Ok(());
    book.check(&progress, &mut |Damage { offset, what, serious }| {
        let kind = if serious { "damaged" } else { "odd" };
        if serious {
            damages += 1
        } else {
            oddities += 1
        }
        if written.is_ok() {
            written = progress.aside(|| writeln!(out, "{name}: {kind}: {what} (byte {offset})"));
        }
    });
    drop(progress);
    written?;
    ended(path, damages, oddities, out)?;
    Ok(damages == 0)
}

/// Prints how many damages and oddities there were.
pub fn ended(path: &Path, damages: u64, oddities: u64, out: &mut dyn io::Write) -> io::Result<()> {
    let name = path.display();
    let odd = match oddities {
        0 => String::new(),
        1 => ", 1 oddity".to_owned(),
        more => format!(", {more} oddities"),
    };
    match damages {
        0 => writeln!(out, "{name}: sound{odd}"),
        1 => writeln!(out, "{name}: 1 damage{odd}"),
        more => writeln!(out, "{name}: {more} damages{odd}"),
    }
}
