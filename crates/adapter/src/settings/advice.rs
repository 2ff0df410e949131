//! What helps against what is wrong, in the words that a GUI and the explorer's page show: the only place in the adapter that names
//! arguments and commands of the program.

use std::path::Path;

use tabiya_base::command::quoted;
use tabiya_base::error::{Error, Remedy};
use tabiya_book::{Format, OtherRules};
use tabiya_chess::Variant;

use super::books::SEPARATOR;
use super::table::SET;

/// What is said of a book in the configuration whose moves obey other rules than those that it is named for.
pub fn other_rules(path: &Path, other: &OtherRules) -> String {
    let place = match other.likely {
        Variant::Chess => "before the first table of tabiya.toml".to_owned(),
        likely => format!("below [variant.{likely}] in tabiya.toml"),
    };
    format!("{}: {other}: name it {place}", path.display())
}

/// The argument of a key.
pub(crate) fn argument(key: &str) -> String {
    format!("--{key}")
}

/// The argument that sets an option.
pub(crate) fn setting(option: &str, value: &str) -> String {
    format!("--{SET} \"{option}={value}\"")
}

/// What is added to a name of a book that is not found, if it looks like several: only the option of UCI has them in one text.
pub(crate) fn several(name: &str) -> String {
    let names: Vec<&str> = name.split(SEPARATOR).map(str::trim).filter(|name| !name.is_empty()).collect();
    let list = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let line = names.iter().map(|name| format!("--book {name}")).collect::<Vec<_>>().join(" ");
    let way = format!("; for several books write book = [{list}] in tabiya.toml, or {line}");
    if names.len() > 1 { way } else { String::new() }
}

/// Why a book of another format cannot learn, and what can: a book of this one.
pub(crate) fn other_format(book: &Path, learning: Format) -> String {
    let name = Path::new(book.file_name().unwrap_or_default());
    format!(
        "only {} learn: `tabiya convert {} -o {}` makes one",
        learning.plural(),
        quoted(&name.to_string_lossy()),
        quoted(&name.with_extension(learning.extension()).to_string_lossy())
    )
}

/// An error with what helps against it.
pub fn worded(error: &Error) -> String {
    with_remedy(error, error.remedy().and_then(remedy))
}

/// An error, and after it the words for what helps against it.
pub fn with_remedy(error: &Error, words: Option<&str>) -> String {
    let Some(words) = words else { return error.with_source() };
    let joint = match (error.has_advice(), words.chars().next()) {
        (_, Some('(')) => "",
        (false, _) => ":",
        (true, Some('`')) => ";",
        (true, _) => ", or",
    };
    format!("{error:#}{joint} {words}")
}

/// What helps where the adapter or the explorer is at work; `None` for what only a command can meet.
pub fn remedy(remedy: Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::CountPositions => "count the games again with `tabiya build`, or make a .bin",
        Remedy::CountBy => "write the counts again with --by speed,rating",
        Remedy::ResetLearned => "clear what it has learned with `tabiya learn undo BOOK --all`",
        Remedy::DropGames => "`tabiya learn spool --drop BOOK` drops the games that wait for it",
        Remedy::NameEngine => "name an engine with --engine, or in the configuration file",
        Remedy::EngineFolder => "correct --engine-dir, the engine's working folder",
        Remedy::OptionalBooks => "(--book-optional plays without it)",
        Remedy::TryEngine => "try it with `tabiya doctor`",
        Remedy::TrustConfiguration => {
            "name it with --config FILE if you trust it, or move it to a folder that only you can write to"
        }
        Remedy::ReadGames => {
            "`tabiya info` sums it up, `tabiya export` writes it as PGN, `tabiya build` makes a book from it"
        }
        Remedy::Build => "`tabiya build` makes one",
        Remedy::Convert => "`tabiya convert` does that",
        Remedy::Trim => "`tabiya trim` writes a book without the line",
        Remedy::ShowMoves => "`tabiya show` lists its moves",
        Remedy::SortCounts => "`tabiya merge -o SORTED.parquet` does that",
        _ => return None,
    })
}
