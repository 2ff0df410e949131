//! The floors of the house: what may use what.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The floors of the table in `src/lib.rs`, and what each one uses.
fn table(lib: &str) -> BTreeMap<&str, Vec<&str>> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    rows.filter_map(|row| {
        let (floor, _) = row.split_once('`')?;
        let uses = row.trim_end_matches([' ', '|']).rsplit('|').next()?;
        // A floor that uses none has an empty last cell, before which its description is.
        let uses = if row.trim_end().ends_with("| |") { "" } else { uses };
        Some((floor, uses.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()))
    })
    .collect()
}

/// Each mention of another floor in the production code of a file.
fn mentions(source: &str) -> impl Iterator<Item = &str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        rest.split_at(end.unwrap_or(rest.len())).0
    })
}

/// What breaks the table in a file of a floor.
fn breaches(table: &BTreeMap<&str, Vec<&str>>, floor: &str, source: &str) -> Vec<String> {
    let allowed = |name: &str| name == floor || table.get(floor).is_some_and(|uses| uses.contains(&name));
    let floors = mentions(source).filter(|name| table.contains_key(name));
    floors.filter(|name| !allowed(name)).map(|name| format!("{floor} uses {name}")).collect()
}

/// All source files below a folder, without those that only tests compile.
fn sources(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            out.push(path);
        }
    }
}

#[test]
fn each_floor_uses_only_those_that_the_table_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).unwrap();
    let table = table(&lib);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = Vec::new();
    for file in &files {
        let floor = file.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap();
        let floor = floor.trim_end_matches(".rs");
        if floor == "lib" || floor == "main" {
            continue;
        }
        assert!(table.contains_key(floor), "{floor} is not in the table of src/lib.rs");
        let source = fs::read_to_string(file).unwrap();
        found.extend(
            breaches(&table, floor, &source).iter().map(|what| format!("{}: {what}", file.display())),
        );
    }
    assert!(files.len() > 100 && found.is_empty(), "{found:#?}");
}

#[test]
fn a_floor_uses_only_floors_below_it() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let order: Vec<_> =
        lib.lines().filter_map(|line| line.strip_prefix("//! | [`")?.split('`').next()).collect();
    for (floor, uses) in table(&lib) {
        let at = order.iter().position(|name| *name == floor).unwrap();
        assert!(uses.iter().all(|used| order[at + 1..].contains(used)), "{floor}");
    }
}

#[test]
fn a_planted_edge_is_found() {
    let lib = "//! | [`high`] | it | low |\n//! | [`low`] | that | |\n";
    let table = table(lib);
    assert_eq!(table["high"], ["low"]);
    assert!(table["low"].is_empty());
    let source =
        "use crate::high::Thing;\n// use crate::high::Comment;\n#[cfg(test)]\nuse crate::high::Test;\n";
    assert_eq!(breaches(&table, "low", source), ["low uses high"]);
    assert!(breaches(&table, "high", "use crate::low::Thing;\nlet it = crate::high::it();\n").is_empty());
}
