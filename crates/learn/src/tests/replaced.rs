//! Books that others replace or change while a process learns into them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{book, finished};
use crate::{LearnOutcome, Learner};

const LINES: [&str; 2] = ["e2e4 e7e5", "d2d4 d7d5"];

/// A book with a learned game, the same book with other numbers in one learn field, and the learner.
fn place() -> (tempfile::TempDir, PathBuf, Vec<u8>, Learner) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(&path, book(&LINES)).unwrap();
    let mut learner = Learner::new(&path).unwrap();
    let outcomes = learner.learn(&[finished("one", "e2e4 e7e5", "w", 2)], false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Learned(1)]);
    let mut foreign = fs::read(&path).unwrap();
    // An entry that no game of the test reaches.
    let untouched = foreign.chunks_mut(16).find(|entry| entry[12..] == [0; 4]).unwrap();
    untouched[12..].copy_from_slice(&[0, 0, 0, 9]);
    (folder, path, foreign, learner)
}

/// The learner refuses the book, and so does a new one.
fn is_refused(path: &Path, learner: &mut Learner) {
    let before = fs::read(path).unwrap();
    let game = finished("two", "e2e4 e7e5", "w", 2);
    for learner in [learner, &mut Learner::new(path).unwrap()] {
        let error = learner.learn(std::slice::from_ref(&game), false).unwrap_err().to_string();
        assert!(error.contains("something other than games and half-points"), "{error}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn a_book_replaced_by_one_with_other_numbers_is_refused() {
    let (folder, path, foreign, mut learner) = place();
    let new = folder.path().join("new.bin");
    fs::write(&new, foreign).unwrap();
    fs::rename(new, &path).unwrap();
    is_refused(&path, &mut learner);
}

#[test]
fn a_book_into_which_another_program_writes_other_numbers_is_refused() {
    let (_folder, path, foreign, mut learner) = place();
    fs::write(&path, foreign).unwrap();
    // As if time had passed: the system's clock may not have moved on.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(2)).unwrap();
    is_refused(&path, &mut learner);
}
