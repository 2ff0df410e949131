//! What commands print: aligned rows and tables for people, JSON for programs.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use tabiya_base::findings::Finding;
use tabiya_book::Learned;

/// The width of the names in the rows of `info`.
const INFO_WIDTH: usize = 16;

/// A count and its noun: `1 entry`, `2 entries`.
pub fn many(count: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// A count and what is counted, in words for several: `2 moves that are new`, `1 move that is new`.
pub(crate) fn agreed(count: u64, what: &str) -> String {
    /// Ends the noun that is counted.
    const AFTER: [&str; 10] =
        [" of ", " that ", " with ", " without ", " known ", " whose ", " from ", " in ", ":", ","];
    const SINGULAR: [(&str, &str); 9] = [
        (" of books", " of a book"),
        (" of moves", " of a move"),
        (" that are ", " that is "),
        (" have ", " has "),
        (", which act ", ", which acts "),
        (" what they say of themselves", " what it says of itself"),
        (" their keys", " its key"),
        ("their headers", "its header"),
        (" their ", " its "),
    ];
    if count != 1 {
        return format!("{count} {what}");
    }
    let end = AFTER.iter().filter_map(|word| what.find(word)).min().unwrap_or(what.len());
    let (noun, rest) = what.split_at(end);
    let noun: Vec<_> = noun.split(' ').map(|word| word.strip_suffix('s').unwrap_or(word)).collect();
    let rest = SINGULAR.iter().fold(rest.to_owned(), |rest, (many, one)| rest.replace(many, one));
    format!("1 {}{rest}", noun.join(" "))
}

/// A share from 0 to 1 in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Prints a value as one line of JSON.
pub fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Prints a row: a name, padded to `width`, and its value.
pub fn row(name: &str, width: usize, value: impl Display, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {name:<width$} {value}")
}

/// A table without borders. A column is its heading and whether it holds numbers, which are aligned right.
pub fn table(columns: impl IntoIterator<Item = (&'static str, bool)>) -> Table {
    let (headings, numbers): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(headings);
    for (column, is_number) in table.column_iter_mut().zip(numbers) {
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table as [`table`] makes it, of any length: it holds no rows, but their widths.
pub struct LongTable<const N: usize> {
    columns: [(&'static str, bool); N],
    /// Characters in the widest cell of each column.
    pub widths: [usize; N],
}

impl<const N: usize> LongTable<N> {
    /// A column is its heading and whether it holds numbers.
    pub fn new(columns: [(&'static str, bool); N]) -> Self {
        Self { columns, widths: columns.map(|(heading, _)| heading.chars().count()) }
    }

    /// Makes room for the cells of a row.
    pub fn measure(&mut self, cells: &[String; N]) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }

    /// The width of a line: each column has a blank on each side.
    pub fn width(&self) -> usize {
        self.widths.iter().map(|width| width + 2).sum()
    }

    /// The line of a row, without blanks at its end.
    pub fn line(&self, cells: &[impl Display; N]) -> String {
        let mut line = String::new();
        for ((cell, width), (_, is_number)) in cells.iter().zip(self.widths).zip(self.columns) {
            line += &if is_number { format!(" {cell:>width$} ") } else { format!(" {cell:<width$} ") };
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// What `info` prints of a file: rows for people, or the keys of one JSON object.
pub(crate) struct Sheet<'a> {
    out: &'a mut dyn Write,
    json: bool,
}

#[derive(Serialize)]
struct FileLine {
    path: String,
    /// `null` if the file no longer exists.
    bytes: Option<u64>,
}

impl<'a> Sheet<'a> {
    /// Prints the name of the file.
    pub fn new(path: &Path, json: bool, out: &'a mut dyn Write) -> io::Result<Self> {
        if json {
            write!(out, "{{\"book\":")?;
            serde_json::to_writer(&mut *out, &path.to_string_lossy())?;
        } else {
            writeln!(out, "{}", path.display())?;
        }
        Ok(Self { out, json })
    }

    /// Prints something for programs only.
    pub fn key(&mut self, key: &str, value: impl Serialize) -> io::Result<()> {
        if self.json {
            write!(self.out, ",\"{key}\":")?;
            serde_json::to_writer(&mut *self.out, &value)?;
        }
        Ok(())
    }

    /// Prints something for people only.
    pub fn row(&mut self, name: &str, value: impl Display) -> io::Result<()> {
        if self.json { Ok(()) } else { row(name, INFO_WIDTH, value, self.out) }
    }

    /// Prints a number; `None` is `null` for programs and has no row.
    pub fn number(&mut self, key: &str, name: &str, number: impl Into<Option<u64>>) -> io::Result<()> {
        let number = number.into();
        if let Some(number) = number {
            self.row(name, number)?;
        }
        self.key(key, number)
    }

    /// Prints files with their sizes.
    pub fn files(&mut self, files: impl IntoIterator<Item = PathBuf>) -> io::Result<()> {
        let line = |path: PathBuf| FileLine {
            bytes: fs::metadata(&path).ok().map(|metadata| metadata.len()),
            path: path.to_string_lossy().into_owned(),
        };
        let files: Vec<_> = files.into_iter().map(line).collect();
        for FileLine { path, bytes } in &files {
            let size = bytes.map_or_else(|| "gone".to_owned(), |bytes| format!("{bytes} bytes"));
            self.row("file", format_args!("{path} ({size})"))?;
        }
        self.key("files", files)
    }

    /// Prints findings; programs find them under `key`.
    pub fn findings<'f>(
        &mut self,
        key: &str,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> io::Result<()> {
        let mut texts = Vec::new();
        for finding in findings {
            let text = finding.to_string();
            self.row(&finding.severity.to_string(), &text)?;
            texts.push(text);
        }
        self.key(key, texts)
    }

    pub fn end(self) -> io::Result<()> {
        if self.json { writeln!(self.out, "}}") } else { Ok(()) }
    }
}

/// What a move has learned: points and games.
pub fn learned(learned: Learned) -> String {
    format!("{}/{}", f64::from(learned.halfpoints) / 2.0, learned.games)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_a_singular_and_a_plural() {
        assert_eq!([many(1, "entry"), many(0, "entry")], ["1 entry", "0 entries"]);
        assert_eq!([many(1, "ply"), many(12, "ply")], ["1 ply", "12 plies"]);
        assert_eq!([many(1, "move"), many(2, "move")], ["1 move", "2 moves"]);
    }

    #[test]
    fn what_is_counted_once_is_in_the_singular() {
        for (many, one) in [
            ("moves that are not legal in their position", "1 move that is not legal in its position"),
            ("marks or colors of moves, which act only", "1 mark or color of a move, which acts only"),
            ("positions known only by their keys", "1 position known only by its key"),
            (
                "books with other texts in their headers: those",
                "1 book with other texts in its header: those",
            ),
            ("moves whose chance changes", "1 move whose chance changes"),
            ("comments", "1 comment"),
            (
                "headers of books, with what they say of themselves",
                "1 header of a book, with what it says of itself",
            ),
        ] {
            assert_eq!([agreed(1, many), agreed(2, many)], [one.to_owned(), format!("2 {many}")]);
        }
    }

    #[test]
    fn a_sheet_is_rows_or_one_object() {
        let printed = |json| {
            let mut out = Vec::new();
            let mut sheet = Sheet::new(Path::new("a\".bin"), json, &mut out).unwrap();
            sheet.files([PathBuf::from("none")]).unwrap();
            sheet.number("entries", "all entries", 3).unwrap();
            sheet.number("games", "games", None).unwrap();
            sheet.row("deepest line", "7 plies").unwrap();
            sheet.key("deepest", 7).unwrap();
            sheet.findings("oddities", []).unwrap();
            sheet.end().unwrap();
            String::from_utf8(out).unwrap()
        };
        let rows =
            "a\".bin\n  file             none (gone)\n  all entries      3\n  deepest line     7 plies\n";
        assert_eq!(printed(false), rows);
        let object = concat!(
            r#"{"book":"a\".bin","files":[{"path":"none","bytes":null}],"entries":3,"games":null,"#,
            r#""deepest":7,"oddities":[]}"#,
            "\n"
        );
        assert_eq!(printed(true), object);
    }
}
