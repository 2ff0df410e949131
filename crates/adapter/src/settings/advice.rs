//! What helps against an error, in the words of the program: its commands and options.

use std::path::Path;

use tabiya_base::error::{Error, Remedy};
use tabiya_book::OtherRules;
use tabiya_chess::Variant;

use super::books::SEPARATOR;

/// What is said of a book in the configuration whose moves obey other rules than those that it is named for.
pub fn other_rules(path: &Path, other: &OtherRules) -> String {
    let place = match other.likely {
        Variant::Chess => "before the first table of tabiya.toml".to_owned(),
        likely => format!("below [variant.{likely}] in tabiya.toml"),
    };
    format!("{}: {other}: name it {place}", path.display())
}

/// The same, of a book on the command line.
pub fn other_rules_on_line(path: &Path, other: &OtherRules) -> String {
    format!("{}: {}", path.display(), with_variant(other))
}

/// The rules that the moves of a book obey, and the argument by which it is read so.
pub fn with_variant(other: &OtherRules) -> String {
    format!("{other}; `--variant {}` reads it as such a book", other.likely)
}

/// What is added to a name of a book that is not found, if it looks like several: only the option of UCI has them in one text.
pub(crate) fn several(name: &str) -> String {
    let names: Vec<&str> = name.split(SEPARATOR).map(str::trim).filter(|name| !name.is_empty()).collect();
    let list = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let line = names.iter().map(|name| format!("--book {name}")).collect::<Vec<_>>().join(" ");
    let way = format!("; for several books write book = [{list}] in tabiya.toml, or {line}");
    if names.len() > 1 { way } else { String::new() }
}

/// An error with the options that help against it.
pub fn worded(error: &Error) -> String {
    let words = match error.remedy() {
        Some(Remedy::Replace) => "name another one, or replace it with --force",
        Some(Remedy::TemporaryFiles) => {
            "free some space, name another folder with --temp, or allow more memory with --memory"
        }
        Some(Remedy::TemporaryFolder) => "name another one with --temp",
        Some(Remedy::SmallerBook) => "build a smaller one, with --min-games or --max-ply",
        Some(Remedy::CountPositions) => "count the games again with `tabiya build`, or make a .bin",
        Some(Remedy::CountBy) => "write the counts again with --by speed,rating",
        Some(Remedy::ResetLearned) => "clear what it has learned with `tabiya learn undo BOOK --all`",
        Some(Remedy::DropGames) => "`tabiya learn spool --drop BOOK` drops the games that wait for it",
        Some(Remedy::NameEngine) => "name an engine with --engine, or in the configuration file",
        Some(Remedy::EngineFolder) => "correct --engine-dir, the engine's working folder",
        Some(Remedy::OptionalBooks) => "name another book, or use --book-optional to play without it",
        Some(Remedy::TryEngine) => "try it with `tabiya doctor`",
        Some(Remedy::TrustConfiguration) => {
            "name it with --config FILE if you trust it, or move it to a folder that only you can write to"
        }
        Some(Remedy::ReadGames) => {
            "`tabiya info` sums it up, `tabiya export` writes it as PGN, `tabiya build` makes a book from it"
        }
        Some(Remedy::Build) => "`tabiya build` makes one",
        Some(Remedy::Convert) => "`tabiya convert` does that",
        Some(Remedy::Trim) => "`tabiya trim` writes a book without the line",
        Some(Remedy::ShowMoves) => "`tabiya show` lists its moves",
        Some(Remedy::SortCounts) => "`tabiya merge -o SORTED.parquet` does that",
        None | Some(_) => return error.with_source(),
    };
    let joint = match (error.has_advice(), words.starts_with('`')) {
        (false, _) => ":",
        (true, true) => ";",
        (true, false) => ", or",
    };
    format!("{error:#}{joint} {words}")
}
