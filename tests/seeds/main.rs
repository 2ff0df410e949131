//! Every input in `fuzz/seeds`, through the function that its fuzz target calls: a target that no longer compiles, or a
//! fault that was found once, shows in each run of the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the fuzz targets, and a test of each that replays its seeds.
macro_rules! targets {
    ($($name:ident)*) => {
        $(mod $name;)*

        mod replay {
            $(#[test]
            fn $name() {
                super::replay(stringify!($name), super::$name::run);
            })*
        }

        const TARGETS: &[&str] = &[$(stringify!($name)),*];
    };
}

targets!(abk cbh cbh_moves cbv counts ctg evals exp explore kvetka learn obk pgn polyglot scid session text);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
}

/// The names in a folder, in order and without their endings.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

fn replay(target: &str, run: fn(&[u8])) {
    let seeds = folder("seeds").join(target);
    let names = names(&seeds);
    assert!(!names.is_empty(), "{} has no seeds", seeds.display());
    for name in names {
        let bytes = fs::read(seeds.join(&name)).expect("a seed");
        // The test's output names the input that fails.
        println!("{target}: {name}");
        run(&bytes);
    }
}

#[test]
fn every_target_is_replayed() {
    let mut targets = TARGETS.to_vec();
    targets.sort_unstable();
    assert_eq!(names(&folder("fuzz_targets")), targets);
    assert_eq!(names(&folder("seeds")), targets);
    let manifest = fs::read_to_string(folder("Cargo.toml")).expect("the manifest of the fuzz targets");
    let mut built: Vec<_> =
        manifest.lines().filter_map(|line| line.strip_prefix("name = ")).skip(1).collect();
    built.sort_unstable();
    assert_eq!(built, targets.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>());
}
