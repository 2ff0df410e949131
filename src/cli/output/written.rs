//! What a command says of the book that it wrote.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::book::{Book, Green, WriteOptions, Written};
use crate::bookmaker::Resources;
use crate::bookmaker::report::many;
use crate::cli::output;
use crate::cli::output::exit::Exit;
use crate::games::cbh;
use crate::learn::Disk;

/// What is asked of the writer of a book whatever it is made of: its caption is its name, and it has a part of the
/// memory.
pub fn options(output: &Path, force: bool, resources: &Resources) -> WriteOptions {
    let name = output.file_stem().unwrap_or_default();
    WriteOptions {
        force,
        needs_moves: true,
        caption: name.to_string_lossy().into_owned(),
        memory: resources.of_writer(),
        temp: Some(resources.temp.clone()),
        ..WriteOptions::default()
    }
}

/// Which moves become green, by the per mille that the command line names.
pub fn green(share: Option<u32>) -> Green {
    share.map_or(Green::Weights, Green::PerMille)
}

/// The files of books, the journals of what they have learned among them.
pub fn books<'a>(books: impl IntoIterator<Item = &'a dyn Book>) -> Vec<PathBuf> {
    let with_journal = |path: PathBuf| {
        let journal = Disk::new(&path).ok().map(|disk| disk.journal_path().to_owned());
        journal.into_iter().chain([path])
    };
    books.into_iter().flat_map(Book::files).flat_map(with_journal).collect()
}

/// The files that games are in: of a database all of its parts.
pub fn sources(files: &[PathBuf]) -> Vec<PathBuf> {
    let parts = |path: &PathBuf| if cbh::is_named(path) { cbh::parts(path) } else { vec![path.clone()] };
    files.iter().flat_map(parts).collect()
}

/// Prints what was written, where that is anything, and what found no place in it.
pub fn print(written: &Written, out: &mut dyn Write) -> io::Result<()> {
    for (what, count) in &written.left_out {
        writeln!(out, "left out: {count} {what}")?;
    }
    if written.moves == 0 {
        return Ok(());
    }
    if written.lost_weights > 0 {
        let moves = many(written.lost_weights, "move", "moves");
        writeln!(
            out,
            "left out: weights of {moves} that are not those of their results (--green makes colours of them)"
        )?;
    }
    if written.greens > 0 {
        let moves = many(written.greens, "move is", "moves are");
        writeln!(
            out,
            "{moves} marked green: of at least half the weight of the heaviest in the position (--green changes that)"
        )?;
    }
    let names: Vec<_> = written.files.iter().map(|file| file.display().to_string()).collect();
    let positions = many(written.positions, "position", "positions");
    writeln!(out, "{}: {positions}, {}", names.join(", "), many(written.moves, "move", "moves"))?;
    Ok(())
}

/// Reports that nothing was written, why, and what to do; a file that was there before is still there.
pub fn nothing(output: &Path, what: &str, advice: Option<&str>) -> Exit {
    let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
    output::warn(&format!("{}: not written: {what}{advice}", output.display()));
    Exit::Wanting
}
