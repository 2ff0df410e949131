//! Full disks, damaged journals, and books that have changed.

use super::disk::{Files, SimDisk};
use super::{book, field, finished};
use crate::{LearnOutcome, Learner};

const LINES: [&str; 2] = ["e2e4 e7e5 g1f3 b8c6", "d2d4 d7d5 c2c4"];

fn learner(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

fn fresh() -> SimDisk {
    SimDisk::from_files(Files { book: book(&LINES), journal: None })
}

#[test]
fn a_disk_that_fills_up_at_any_byte_leaves_a_game_entirely_or_not_at_all() {
    let one = [finished("one", "e2e4 e7e5 g1f3", "wb", 2)];
    let two = [finished("two", "d2d4 d7d5 c2c4", "w", 1)];
    let before = fresh();
    learner(&before).learn(&one, false).unwrap();
    let after = SimDisk::from_files(before.files());
    learner(&after).learn(&two, false).unwrap();
    let needed = (after.files().journal.unwrap().len() - before.files().journal.unwrap().len()) as u64;
    let mut failed = 0;
    for room in 0..=needed {
        let disk = SimDisk::from_files(before.files());
        let mut live = learner(&disk);
        disk.room(Some(room));
        if let Err(error) = live.learn(&two, false) {
            failed += 1;
            assert!(error.to_string().starts_with("a.bin: cannot write its journal a.bin.learn"), "{error}");
            assert_eq!(disk.files().book, before.files().book);
        }
        disk.room(None);
        // The same process and another one can continue when there is room.
        let other = SimDisk::from_files(disk.files());
        for (disk, mut learner) in [(&disk, live), (&other, learner(&other))] {
            learner.learn(&two, false).unwrap();
            assert_eq!(disk.files().book, after.files().book, "{room}");
        }
    }
    // It fails where the record of the game does not fit; a missing *done* does no harm.
    assert_eq!(failed, needed - 25);
}

/// What the error of a book that cannot be written says of changes that the next process makes.
pub(super) const FINISHED_LATER: &str = "is finished by the next command";

#[test]
fn what_cannot_be_written_into_the_book_is_taken_back_or_said_to_be_finished_later() {
    let games = [finished("one", "e2e4 e7e5 g1f3 b8c6", "wb", 2)];
    let whole = fresh();
    learner(&whole).learn(&games, false).unwrap();
    for writes in 0..4 {
        for once in [true, false] {
            let disk = fresh();
            learner(&disk).learn(&[finished("zero", "d2d4", "w", 1)], false).unwrap();
            learner(&disk).undo(1).unwrap();
            let before = disk.files();
            if once {
                disk.book_write_fails_after(writes)
            } else {
                disk.book_writes(Some(writes))
            }
            let error = learner(&disk).learn(&games, false).unwrap_err().to_string();
            disk.book_writes(None);
            // What was written can be taken back only if that can be written.
            let is_back = once || writes == 0;
            assert_eq!(error.contains(FINISHED_LATER), !is_back, "{error}");
            let mut next = learner(&disk);
            if is_back {
                assert_eq!(disk.files(), before);
            } else {
                assert_ne!(disk.files().book, whole.files().book);
                next.recover().unwrap();
                assert_eq!(disk.files().book, whole.files().book);
                assert_eq!(next.learn(&games, false).unwrap(), [LearnOutcome::Known]);
            }
            next.learn(&games, false).unwrap();
            assert_eq!(disk.files().book, whole.files().book);
        }
    }
}

#[test]
fn a_reset_that_cannot_be_written_to_the_end_is_finished_by_the_next() {
    for writes in 0..3 {
        let disk = fresh();
        learner(&disk).learn(&[finished("one", "e2e4 e7e5 g1f3 b8c6", "wb", 2)], false).unwrap();
        let before = disk.files();
        disk.book_write_fails_after(writes);
        let error = learner(&disk).reset().unwrap_err().to_string();
        assert_eq!(error.contains(FINISHED_LATER), writes > 0 || disk.files() != before, "{error}");
        learner(&disk).recover().unwrap();
        let cleared = error.contains(FINISHED_LATER);
        assert_eq!(disk.files().book, if cleared { book(&LINES) } else { before.book });
    }
}

#[test]
fn a_journal_that_is_damaged_in_the_middle_is_refused() {
    let disk = fresh();
    let mut first = learner(&disk);
    for name in ["one", "two", "three"] {
        first.learn(&[finished(name, "e2e4 e7e5", "w", 2)], false).unwrap();
    }
    let files = disk.files();
    let journal = files.journal.clone().unwrap();
    let (mut refused, mut torn) = (0, 0);
    for at in 0..journal.len() {
        let mut journal = journal.clone();
        journal[at] ^= 0x10;
        let left = SimDisk::from_files(Files { journal: Some(journal), ..files.clone() });
        match learner(&left).learn(&[finished("four", "d2d4", "w", 2)], false) {
            Err(error) => {
                refused += 1;
                assert_eq!(left.files().book, files.book);
                let error = error.to_string();
                if at < 16 {
                    // It may belong to another program, or to a newer tabiya.
                    let what = [
                        "a.bin.learn is not a journal of tabiya",
                        "a.bin.learn was written by a newer tabiya",
                    ];
                    assert!(error.contains(what[at / 8]), "{error}");
                    assert!(learner(&left).reset().is_err());
                    continue;
                }
                assert!(error.contains("a.bin.learn is damaged (byte "), "{error}");
                learner(&left).reset().unwrap();
                assert_eq!(field(&left.files().book, "e2e4"), (0, 0));
            }
            // Only a damaged last *done* looks like one that was being written.
            Ok(outcomes) => {
                torn += 1;
                assert_eq!(outcomes, [LearnOutcome::Learned(1)]);
                assert_eq!(field(&left.files().book, "e2e4"), (3, 6));
            }
        }
    }
    assert_eq!((refused, torn), (journal.len() - 25, 25));
}

#[test]
fn the_journal_of_another_book_is_not_used() {
    let disk = fresh();
    let mut live = learner(&disk);
    live.learn(&[finished("one", "e2e4 e7e5", "w", 2)], false).unwrap();
    let other = SimDisk::from_files(Files { book: book(&["e2e4 e7e6 d2d4 d7d5 c2c4"]), ..disk.files() });
    let error = learner(&other).learn(&[finished("two", "e2e4", "w", 2)], false).unwrap_err();
    assert!(error.to_string().contains("the journal a.bin.learn belongs to another book"), "{error}");
    learner(&other).reset().unwrap();
    learner(&other).learn(&[finished("two", "e2e4", "w", 2)], false).unwrap();
    assert_eq!(field(&other.files().book, "e2e4"), (1, 2));
}

#[test]
fn a_field_that_another_program_changed_stays_and_cannot_be_taken_back() {
    let disk = fresh();
    let mut live = learner(&disk);
    live.learn(&[finished("one", "e2e4 e7e5", "w", 2)], false).unwrap();
    let mut files = disk.files();
    let place = files.book.chunks(16).position(|entry| entry[12..] == [0, 1, 0, 2]).unwrap() * 16 + 12;
    files.book[place..place + 4].copy_from_slice(&[0, 2, 0, 3]);
    let changed = SimDisk::from_files(files.clone());
    let error = learner(&changed).undo(1).unwrap_err();
    assert!(error.to_string().contains("was changed by another program"), "{error}");
    assert_eq!(changed.files().book, files.book);
    // Finishing the game again does not write over it either: here its *done* is lost.
    let journal = files.journal.as_mut().unwrap();
    journal.truncate(journal.len() - 25);
    let changed = SimDisk::from_files(files.clone());
    learner(&changed).recover().unwrap();
    assert_eq!(changed.files(), Files { journal: disk.files().journal, ..files });
}

#[test]
fn an_older_copy_of_the_book_is_not_learned_into() {
    let disk = fresh();
    let pristine = disk.files().book;
    let mut live = learner(&disk);
    let mut copies = vec![pristine.clone()];
    for (name, line) in [("one", LINES[0]), ("two", "e2e4 e7e5"), ("three", LINES[0])] {
        live.learn(&[finished(name, line, "wb", 2)], false).unwrap();
        copies.push(disk.files().book);
    }
    let newest = copies.pop().unwrap();
    // A process that ran before and a new one, with a journal that is finished and one that is not.
    let mut journal = disk.files().journal.unwrap();
    for complete in [true, false] {
        for copy in &copies {
            disk.set(Files { book: copy.clone(), journal: Some(journal.clone()) });
            let before = disk.files();
            for learner in [&mut live, &mut learner(&disk)] {
                for error in [
                    learner.learn(&[finished("four", "d2d4", "w", 2)], false).unwrap_err(),
                    learner.undo(1).unwrap_err(),
                    learner.history(1).unwrap().doubt.unwrap(),
                ] {
                    let error = error.to_string();
                    assert!(error.contains("a.bin.learn says was learned last is not in it"), "{error}");
                    assert!(error.contains("move the journal away"), "{error}");
                }
                assert_eq!(disk.files(), before);
            }
        }
        disk.set(Files { book: newest.clone(), journal: Some(journal.clone()) });
        assert!(learner(&disk).history(1).unwrap().doubt.is_none());
        assert_eq!(
            learner(&disk).learn(&[finished("three", LINES[0], "wb", 2)], false).unwrap(),
            [LearnOutcome::Known]
        );
        if !complete {
            break;
        }
        // An incomplete game follows, as a killed process leaves it.
        disk.book_writes(Some(0));
        learner(&disk).learn(&[finished("last", LINES[0], "wb", 0)], false).unwrap_err();
        disk.book_writes(None);
        journal = disk.files().journal.unwrap();
    }
    disk.set(Files { book: pristine.clone(), journal: Some(journal) });
    learner(&disk).reset().unwrap();
    assert_eq!(disk.files().book, pristine);
    assert_eq!(
        learner(&disk).learn(&[finished("one", LINES[0], "wb", 2)], false).unwrap(),
        [LearnOutcome::Learned(4)]
    );
}

#[test]
fn a_file_that_is_not_a_journal_is_never_changed() {
    let foreign =
        [&b"x"[..], b"my notes\n", &[1; 63], &[1; 64], &[2; 128], &[3; 200], b"TabLearX", &[0; 129]];
    for bytes in foreign {
        let disk = SimDisk::from_files(Files { book: book(&LINES), journal: Some(bytes.to_vec()) });
        let before = disk.files();
        let mut learner = learner(&disk);
        for error in [
            learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap_err(),
            learner.undo(1).unwrap_err(),
            learner.reset().unwrap_err(),
            learner.recover().unwrap_err(),
            learner.history(1).unwrap_err(),
        ] {
            assert!(error.to_string().contains("the file a.bin.learn is not a journal of tabiya"), "{error}");
        }
        assert_eq!(disk.files(), before);
    }
    for bytes in [&[][..], &[0; 128], b"TabLearn\0\0\0\0\0\0\0\x02"] {
        let disk = SimDisk::from_files(Files { book: book(&LINES), journal: Some(bytes.to_vec()) });
        assert_eq!(learner(&disk).history(1).unwrap().count, 0);
        assert_eq!(
            learner(&disk).learn(&[finished("one", "e2e4", "w", 2)], false).unwrap(),
            [LearnOutcome::Learned(1)]
        );
    }
}

#[test]
fn a_newer_journal_is_refused() {
    let disk = fresh();
    learner(&disk).learn(&[finished("one", "e2e4", "w", 2)], false).unwrap();
    let mut files = disk.files();
    files.journal.as_mut().unwrap()[15] = 3;
    disk.set(files.clone());
    let error = learner(&disk).learn(&[finished("two", "e2e4", "w", 2)], false).unwrap_err().to_string();
    assert!(error.contains("was written by a newer tabiya, in version 3"), "{error}");
    assert!(learner(&disk).reset().is_err());
    assert_eq!(disk.files(), files);
}
