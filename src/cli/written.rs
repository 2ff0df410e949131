//! What a command says of the book that it wrote.

use std::io::{self, Write};
use std::path::Path;

use crate::book::{WriteOptions, Written};
use crate::build::report::many;

/// What is asked of the writer of a book whatever it is made of: its caption is its name.
pub fn options(output: &Path, force: bool) -> WriteOptions {
    let name = output.file_stem().unwrap_or_default();
    WriteOptions { force, caption: name.to_string_lossy().into_owned(), ..WriteOptions::default() }
}

/// Prints what was written, and what found no place in it.
pub fn tell(written: &Written, out: &mut dyn Write) -> io::Result<()> {
    for (what, count) in &written.left_out {
        writeln!(out, "left out: {count} {what}")?;
    }
    let names: Vec<_> = written.files.iter().map(|file| file.display().to_string()).collect();
    let positions = many(written.positions, "position", "positions");
    writeln!(out, "{}: {positions}, {}", names.join(", "), many(written.moves, "move", "moves"))?;
    if written.moves == 0 {
        writeln!(out, "nothing was worth keeping: the book is empty")?;
    }
    Ok(())
}
