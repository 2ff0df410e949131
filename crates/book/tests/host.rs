//! Opening a book changes nothing in its folder and nothing in the process, unless the program asks for it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

use tabiya_book::{Book, CreateOptions, MoveFacts, OpenOptions, open};

/// A book of one move.
fn small(path: &Path) -> Book {
    let start = shakmaty::Chess::default();
    let e4 = "e4".parse::<shakmaty::san::San>().unwrap().to_move(&start).unwrap();
    let mut book = CreateOptions::new().create(path).unwrap();
    book.add(&start, &[MoveFacts::new(e4, 1)]).unwrap();
    book.finish().unwrap();
    open(path).unwrap()
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn what_a_dead_process_left_stays_unless_it_is_to_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ctg");
    small(&path);
    let whole = files(folder.path());
    // As it is when a process dies while it replaces the book: one file is aside, under the name of a marker.
    let marker = folder.path().join(".tabiya-01234567-abcdef.part");
    let aside = folder.path().join(".tabiya-01234567-abcdef.part.a.ctg");
    fs::rename(&path, &aside).unwrap();
    fs::write(&path, "unfinished").unwrap();
    fs::File::create(&marker).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let before = files(folder.path());
    assert!(open(&path).is_err());
    assert!(OpenOptions::new().open(folder.path().join("none.ctg")).is_err());
    assert_eq!(files(folder.path()), before);
    let book = OpenOptions::new().put_back(true).open(&path).unwrap();
    assert_eq!((book.format().name(), files(folder.path())), ("ctg", whole));
}

#[test]
fn the_hook_of_panics_stays_the_programs() {
    let mark = 7_u32;
    let hook = Box::new(move |_: &panic::PanicHookInfo<'_>| eprintln!("{mark}"));
    let address = std::ptr::from_ref(&*hook).cast::<()>();
    let before = panic::take_hook();
    panic::set_hook(hook);
    // Its index is made by another thread.
    let folder = tempfile::tempdir().unwrap();
    let book = small(&folder.path().join("a.abk"));
    assert_eq!(book.moves(shakmaty::Chess::default()).len(), 1);
    let after = panic::take_hook();
    panic::set_hook(before);
    assert_eq!(std::ptr::from_ref(&*after).cast::<()>(), address);
}

/// Opens a book as [`a_truncated_file_ends_the_process_unless_it_is_guarded`] says, and truncates it.
#[cfg(unix)]
#[test]
fn truncates_a_file_that_is_open() {
    let Some(guard) = std::env::var_os("TABIYA_TEST_GUARD") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(
        &path,
        (0..1 << 16_u64).flat_map(|key: u64| [key.to_be_bytes(), [0; 8]]).flatten().collect::<Vec<u8>>(),
    )
    .unwrap();
    let book = OpenOptions::new().guard_truncation(guard == "yes").open(&path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert!(book.moves(shakmaty::Chess::default()).is_empty());
}

#[cfg(unix)]
#[test]
fn a_truncated_file_ends_the_process_unless_it_is_guarded() {
    use std::os::unix::process::ExitStatusExt;
    let ends = |guard: &str| {
        let mut program = std::process::Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "truncates_a_file_that_is_open"]).env("TABIYA_TEST_GUARD", guard);
        program.output().unwrap().status
    };
    assert!(ends("yes").success());
    assert!(ends("no").signal().is_some());
}
