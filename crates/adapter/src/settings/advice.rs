//! What helps against an error, in the words of the program: its commands and options.

use tabiya_base::error::{Error, Remedy};

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
