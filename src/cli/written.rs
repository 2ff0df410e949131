//! What a command says of the book that it wrote.

use std::io::{self, Write};
use std::path::Path;

use super::exit::Exit;
use super::out;
use crate::book::{WriteOptions, Written};
use crate::build::report::many;

/// What is asked of the writer of a book whatever it is made of: its caption is its name.
pub fn options(output: &Path, force: bool) -> WriteOptions {
    let name = output.file_stem().unwrap_or_default();
    WriteOptions {
        force,
        needs_moves: true,
        caption: name.to_string_lossy().into_owned(),
        ..WriteOptions::default()
    }
}

/// Prints what was written, where that is anything, and what found no place in it.
pub fn tell(written: &Written, out: &mut dyn Write) -> io::Result<()> {
    for (what, count) in &written.left_out {
        writeln!(out, "left out: {count} {what}")?;
    }
    if written.moves == 0 {
        return Ok(());
    }
    let names: Vec<_> = written.files.iter().map(|file| file.display().to_string()).collect();
    let positions = many(written.positions, "position", "positions");
    writeln!(out, "{}: {positions}, {}", names.join(", "), many(written.moves, "move", "moves"))?;
    Ok(())
}

/// Reports that nothing was written, why, and what to do; a file that was there before is still there.
pub fn nothing(output: &Path, what: &str, advice: Option<&str>) -> Exit {
    let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
    out::warn(&format!("{}: not written: {what}{advice}", output.display()));
    Exit::Wanting
}
