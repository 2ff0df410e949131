//! Edits: what they change, what they leave, and that a process or the power may end at any moment.

use proptest::prelude::*;

use tabiya_book::edit::{Change, Edit, EditValue};
use tabiya_book::polyglot::Polyglot;
use tabiya_book::polyglot::PolyglotEntries;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::{Game, MoveCode};

use super::disk::{Files, SimDisk};
use super::faults::FINISHED_LATER;
use super::{book, compacting_to, field, finished};
use crate::{Attempt, EntryEdit, LearnOutcome, Learner, fingerprint_of};

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3", "d2d4 d7d5"];

pub(super) fn learner(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

pub(super) fn fresh() -> SimDisk {
    SimDisk::from_files(Files { book: book(&LINES), journal: None })
}

use Change::Delete;

pub(super) const fn set(weight: u64) -> Change {
    Change::Set(EditValue::Weight(weight))
}

pub(super) const fn add(weight: u64) -> Change {
    Change::Add(EditValue::Weight(weight))
}

/// A change of the last of these moves, played after the others.
pub(super) fn change(moves: &str, change: Change) -> EntryEdit {
    let mut game = Game::start();
    let mut last = None;
    for text in moves.split_whitespace() {
        let before = game.position().clone();
        assert!(game.push_uci(text.as_bytes()), "{moves}: {text}");
        last = Some((before, *game.moves().last().unwrap()));
    }
    let (before, mv) = last.unwrap();
    let edit = Edit { mv, name: moves.to_owned(), change };
    EntryEdit { key: before.key(), codes: MoveCode::codes(mv, before.chess()), edit }
}

/// The entries of the last of these moves.
pub(super) fn entries(book: &[u8], moves: &str) -> Vec<PolyglotEntry> {
    let EntryEdit { key, codes, .. } = change(moves, Delete);
    PolyglotEntries::new(book).find(key).filter(|entry| codes.contains(&entry.mv)).collect()
}

pub(super) fn weight(book: &[u8], moves: &str) -> Option<u16> {
    entries(book, moves).first().map(|entry| entry.weight)
}

#[test]
fn weights_are_changed_in_place_and_moves_come_and_go() {
    let disk = fresh();
    let before = disk.files().book;
    let mut live = learner(&disk);
    let made = live.edit(&[change("e2e4 e7e5", set(60))], &[], "1. e4").unwrap();
    let Attempt::Made(made) = made else { panic!("{made:?}") };
    assert_eq!((made.note.as_str(), made.weights.len()), ("1. e4", 1));
    assert_eq!((made.weights[0].before, made.weights[0].after), (Some(10), Some(60)));
    let weighed = disk.files().book;
    let differ = before.iter().zip(&weighed).filter(|(a, b)| a != b).count();
    assert_eq!((weighed.len(), differ), (before.len(), 1));
    live.edit(
        &[
            change("e2e4 c7c5", Delete),
            change("e2e4 g8f6", add(70)),
            change("e2e4 e7e6", add(20)),
            change("e2e4 e7e5", set(30)),
        ],
        &[],
        "1. e4",
    )
    .unwrap();
    let now = disk.files().book;
    let of = |moves: &str| weight(&now, moves);
    assert_eq!(
        [of("e2e4 e7e5"), of("e2e4 c7c5"), of("e2e4 g8f6"), of("e2e4 e7e6")],
        [Some(30), None, Some(70), Some(20)]
    );
    let keys: Vec<u64> =
        now.chunks(16).map(|entry| u64::from_be_bytes(entry[..8].try_into().unwrap())).collect();
    assert!(keys.is_sorted());
    let undone = live.undo_edit().unwrap().unwrap();
    assert_eq!((disk.files().book, undone.weights.len()), (weighed, 4));
    live.undo_edit().unwrap().unwrap();
    assert_eq!(disk.files().book, before);
    assert_eq!(live.undo_edit().unwrap(), None);
    // An edit that changes nothing is none.
    live.edit(&[change("e2e4 e7e5", set(10))], &[], "").unwrap();
    assert_eq!(live.undo_edit().unwrap(), None);
}

#[test]
fn what_cannot_be_edited_is_refused_and_nothing_changes() {
    let disk = fresh();
    let mut live = learner(&disk);
    for (edits, what) in [
        (vec![change("e2e4", add(1))], "the book already has the move e2e4"),
        (vec![change("c2c4", set(1))], "does not have the move c2c4"),
        (vec![change("e2e4", set(1)), change("c2c4", Delete)], "does not have the move"),
    ] {
        let error = live.edit(&edits, &[], "").unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
        assert_eq!(disk.files().book, book(&LINES));
    }
    let one = SimDisk::from_files(Files { book: book(&["e2e4"]), journal: None });
    let error = learner(&one).edit(&[change("e2e4", Delete)], &[], "").unwrap_err().to_string();
    assert!(error.contains("no moves left"), "{error}");
    // Out of order, the book has no place for a new entry, but weights that are found can be changed.
    let mut mixed = book(&LINES);
    let (first, last) = (mixed[..16].to_vec(), mixed.len() - 16);
    mixed.copy_within(last.., 0);
    mixed[last..].copy_from_slice(&first);
    let mixed = SimDisk::from_files(Files { book: mixed, journal: None });
    let error = learner(&mixed).edit(&[change("c2c4", add(1))], &[], "").unwrap_err().to_string();
    assert!(error.contains("not in order by key (byte 16)"), "{error}");
}

#[test]
fn a_move_that_the_book_has_twice_is_edited_as_one() {
    let mut twice = book(&LINES);
    let e4 = twice
        .chunks(16)
        .position(|at| PolyglotEntry::from_bytes(at.try_into().unwrap()) == entries(&twice, "e2e4")[0]);
    let at = e4.unwrap() * 16;
    let entry = twice[at..at + 16].to_vec();
    twice.splice(at..at, entry);
    let disk = SimDisk::from_files(Files { book: twice.clone(), journal: None });
    let mut live = learner(&disk);
    live.edit(&[change("e2e4", set(7))], &[], "").unwrap();
    let weights: Vec<_> = entries(&disk.files().book, "e2e4").iter().map(|entry| entry.weight).collect();
    assert_eq!(weights, [7, 0]);
    live.edit(&[change("e2e4", Delete)], &[], "").unwrap();
    assert_eq!(entries(&disk.files().book, "e2e4"), []);
    live.undo_edit().unwrap().unwrap();
    live.undo_edit().unwrap().unwrap();
    assert_eq!(disk.files().book, twice);
}

#[test]
fn learned_games_survive_edits_and_can_be_taken_back_after_them() {
    let disk = fresh();
    let mut live = learner(&disk);
    let one = [finished("one", LINES[0], "wb", 2)];
    live.learn(&one, false).unwrap();
    learner(&disk).edit(&[change("a2a3", add(1)), change("d2d4", Delete)], &[], "start").unwrap();
    assert_eq!(field(&disk.files().book, "e2e4 e7e5"), (1, 0));
    assert_eq!(live.learn(&one, false).unwrap(), [LearnOutcome::Known]);
    live.learn(&[finished("two", "a2a3", "w", 1)], false).unwrap();
    assert_eq!(field(&disk.files().book, "a2a3"), (1, 1));
    assert_eq!(live.undo(2).unwrap(), 2);
    assert_eq!((field(&disk.files().book, "e2e4 e7e5"), field(&disk.files().book, "a2a3")), ((0, 0), (0, 0)));
    live.undo_edit().unwrap().unwrap();
    assert_eq!(disk.files().book, book(&LINES));
}

#[test]
fn a_deleted_move_comes_back_with_what_it_had_learned_unless_that_was_reset() {
    for reset in [false, true] {
        let disk = fresh();
        let mut live = learner(&disk);
        live.learn(&[finished("one", LINES[0], "wb", 2)], false).unwrap();
        let learned = disk.files().book;
        live.edit(&[change("e2e4 e7e5", Delete)], &[], "").unwrap();
        if reset {
            live.reset().unwrap();
        }
        live.undo_edit().unwrap().unwrap();
        assert_eq!(disk.files().book, if reset { book(&LINES) } else { learned });
    }
}

#[test]
fn a_game_is_taken_back_of_a_move_that_was_deleted_or_added_anew_since() {
    const MOVE: &str = "e2e4 e7e5";
    for compact in [false, true] {
        let next = |disk: &SimDisk| if compact { compacting_to(disk, 4) } else { learner(disk) };
        let disk = fresh();
        let of = || entries(&disk.files().book, MOVE).first().map(|entry| (entry.weight, entry.games));
        let game = |name: &str| [finished(name, MOVE, "b", 2)];
        next(&disk).learn(&game("one"), false).unwrap();
        next(&disk).edit(&[change(MOVE, Delete)], &[], "").unwrap();
        next(&disk).edit(&[change(MOVE, add(7))], &[], "").unwrap();
        assert_eq!(of(), Some((7, 0)));
        next(&disk).learn(&game("two"), false).unwrap();
        // The entry of the first game is not the one that is there.
        assert_eq!(next(&disk).undo(2).unwrap(), 2);
        assert_eq!(of(), Some((7, 0)));
        next(&disk).undo_edit().unwrap().unwrap();
        next(&disk).undo_edit().unwrap().unwrap();
        assert_eq!(disk.files().book, book(&LINES));
        next(&disk).redo_edit().unwrap().unwrap();
        next(&disk).learn(&[finished("three", "d2d4", "w", 2)], false).unwrap();
        next(&disk).undo_edit().unwrap().unwrap();
        assert_eq!(next(&disk).undo(1).unwrap(), 1);
        assert_eq!(disk.files().book, book(&LINES));
    }
}

#[test]
fn a_move_that_comes_back_after_a_reset_and_a_compaction_has_learned_nothing() {
    let disk = fresh();
    learner(&disk).learn(&[finished("one", LINES[0], "wb", 2)], false).unwrap();
    learner(&disk).edit(&[change("e2e4 e7e5", Delete)], &[], "").unwrap();
    learner(&disk).reset().unwrap();
    let journal = disk.files().journal;
    compacting_to(&disk, 4).learn(&[finished("two", LINES[2], "w", 2)], false).unwrap();
    assert!(disk.files().journal.unwrap().len() < journal.unwrap().len());
    assert_eq!(learner(&disk).undo(1).unwrap(), 1);
    learner(&disk).undo_edit().unwrap().unwrap();
    assert_eq!(disk.files().book, book(&LINES));
}

#[test]
fn a_game_that_was_played_from_the_book_before_an_edit_is_learned_after_it() {
    let disk = fresh();
    let before = Some(fingerprint_of(&Polyglot::new("a.bin", disk.files().book)));
    for compacted in [false, true] {
        let mut playing = if compacted { compacting_to(&disk, 1) } else { learner(&disk) };
        playing.expect(before);
        learner(&disk).edit(&[change("c2c4", add(1))], &[], "").unwrap();
        let outcome = playing.learn(&[finished("one", LINES[0], "w", 2)], true).unwrap();
        assert_eq!(outcome, [LearnOutcome::Learned(3)]);
        learner(&disk).undo_edit().unwrap().unwrap();
    }
    // Another book is another book.
    let other = SimDisk::from_files(Files { book: book(&LINES[..2]), journal: None });
    let mut playing = learner(&other);
    playing.expect(before);
    assert!(playing.learn(&[finished("one", LINES[0], "w", 2)], false).is_err());
    assert_eq!(other.files().journal, None);
}

#[test]
fn a_copy_from_before_an_edit_is_recognised() {
    for edit in [change("e2e4 e7e5", set(60)), change("e2e4 e7e6", add(60))] {
        let disk = fresh();
        learner(&disk).edit(&[edit], &[], "").unwrap();
        disk.set(Files { book: book(&LINES), ..disk.files() });
        let before = disk.files();
        for error in [
            learner(&disk).learn(&[finished("one", LINES[0], "w", 2)], false).unwrap_err(),
            learner(&disk).edit(&[change("e2e4", set(1))], &[], "").unwrap_err(),
            learner(&disk).undo_edit().unwrap_err(),
            learner(&disk).history(1).unwrap().doubt.unwrap(),
        ] {
            assert!(error.to_string().contains("this is an older copy"), "{error}");
        }
        assert_eq!(disk.files(), before);
    }
}

#[test]
fn a_weight_that_another_program_changed_is_not_taken_back() {
    let disk = fresh();
    let mut live = learner(&disk);
    live.edit(&[change("e2e4 e7e5", set(60)), change("e2e4 c7c5", set(60))], &[], "").unwrap();
    let mut files = disk.files();
    // One that the fingerprint does not contain does not exist in so small a book: it is another book then.
    let place = files.book.chunks(16).position(|entry| entry[11] == 60).unwrap() * 16 + 11;
    files.book[place] = 61;
    disk.set(files.clone());
    assert!(learner(&disk).undo_edit().unwrap_err().to_string().contains("belongs to another book"));
    assert_eq!(disk.files(), files);
}

/// Learns, edits, takes back; returns the book after each step.
fn play(disk: &SimDisk, learner: fn(&SimDisk) -> Learner) -> Vec<Vec<u8>> {
    let mut steps = vec![disk.files().book];
    let mut done = || {
        steps.push(disk.files().book);
        disk.report(steps.len() - 1);
    };
    let mut live = learner(disk);
    live.learn(&[finished("one", LINES[0], "wb", 2)], false).unwrap();
    done();
    let sets = [("e2e4 e7e5", 60), ("e2e4 c7c5", 0), ("e2e4", 300)];
    live.edit(&sets.map(|(moves, weight)| change(moves, set(weight))), &[], "sets").unwrap();
    done();
    learner(disk).edit(&[change("e2e4 g8f6", add(5)), change("d2d4", Delete)], &[], "").unwrap();
    done();
    live.learn(&[finished("two", LINES[1], "wb", 1)], false).unwrap();
    done();
    live.undo_edit().unwrap().unwrap();
    done();
    assert_eq!(live.undo(1).unwrap(), 1);
    done();
    live.undo_edit().unwrap().unwrap();
    done();
    steps
}

/// Asserts that the book is as after the reported step or the next.
fn check(disk: &SimDisk, steps: &[Vec<u8>], reported: usize) {
    let possible = &steps[reported..=(reported + 1).min(steps.len() - 1)];
    let found = disk.files().book;
    assert!(possible.contains(&found), "after {reported} reported");
    assert!(Learner::over(Box::new(disk.clone()), "a.bin").history(9).unwrap().doubt.is_none());
}

fn plain(disk: &SimDisk) -> Learner {
    learner(disk)
}

fn compacting(disk: &SimDisk) -> Learner {
    compacting_to(disk, 4)
}

#[test]
fn after_any_loss_of_power_an_edit_is_there_entirely_or_not_at_all() {
    for learner in [plain, compacting] {
        let disk = fresh();
        let steps = play(&disk, learner);
        assert_eq!(steps.len(), 8);
        let (mut losses, mut again) = (0, 0);
        disk.each_loss(|files, reported| {
            losses += 1;
            let left = SimDisk::from_files(files.clone());
            learner(&left).recover().unwrap();
            check(&left, &steps, reported);
            if losses % 7 == 0 {
                left.each_loss(|files, _| {
                    again += 1;
                    let left = SimDisk::from_files(files.clone());
                    learner(&left).recover().unwrap();
                    check(&left, &steps, reported);
                });
            }
        });
        println!("{losses} different losses of power, {again} more while recovering");
        assert!(losses > 300 && again > 300, "{losses} {again}");
    }
}

#[test]
fn the_next_process_finishes_the_edit_of_a_killed_process() {
    for learner in [plain, compacting] {
        let disk = fresh();
        let steps = play(&disk, learner);
        for len in 0..=disk.ops() {
            let (left, reported) = disk.killed(len);
            learner(&left).recover().unwrap();
            check(&left, &steps, reported);
            left.each_loss_from(len, |files, reported| {
                let left = SimDisk::from_files(files.clone());
                learner(&left).recover().unwrap();
                check(&left, &steps, reported);
            });
        }
    }
}

#[test]
fn a_full_disk_leaves_an_edit_entirely_or_not_at_all() {
    let edits: [&[EntryEdit]; 2] = [
        &[change("e2e4 e7e5", set(60)), change("e2e4 c7c5", set(61))],
        &[change("e2e4 e7e6", add(60)), change("e2e4 c7c5", Delete)],
    ];
    for edits in edits {
        let whole = fresh();
        learner(&whole).edit(edits, &[], "").unwrap();
        let needed = whole.files().journal.unwrap().len() as u64;
        for room in 0..=needed {
            let disk = fresh();
            let mut live = learner(&disk);
            disk.room(Some(room));
            let made = live.edit(edits, &[], "").is_ok();
            disk.room(None);
            // If *done* did not fit, the edit is made.
            assert_eq!(disk.files().book == whole.files().book, made, "{room}");
            if !made {
                live.edit(edits, &[], "").unwrap();
            }
            assert_eq!(disk.files().book, whole.files().book);
            learner(&disk).undo_edit().unwrap().unwrap();
            assert_eq!(disk.files().book, book(&LINES));
        }
        let with_journal = || {
            let disk = fresh();
            learner(&disk).edit(&[change("d2d4", set(9))], &[], "").unwrap();
            learner(&disk).undo_edit().unwrap().unwrap();
            disk
        };
        for writes in 0..2 {
            let disk = with_journal();
            let before = disk.files();
            disk.book_write_fails_after(writes);
            let made = learner(&disk).edit(edits, &[], "").map_err(|error| error.to_string());
            disk.book_writes(None);
            assert!(!made.as_ref().is_err_and(|error| error.contains(FINISHED_LATER)), "{made:?}");
            learner(&disk).recover().unwrap();
            assert_eq!(disk.files() == before, made.is_err());
            assert!(made.is_err() || disk.files().book == whole.files().book);
            // One that cannot be cut off is made later, and that is said.
            let disk = with_journal();
            disk.book_writes(Some(writes));
            disk.stick(true);
            let made = learner(&disk).edit(edits, &[], "").map_err(|error| error.to_string());
            disk.book_writes(None);
            disk.stick(false);
            assert!(made.as_ref().err().is_none_or(|error| error.contains(FINISHED_LATER)), "{made:?}");
            learner(&disk).recover().unwrap();
            assert_eq!(disk.files().book, whole.files().book);
        }
        // An edit that is made is reported, whether or not the book can be read again.
        let opens = (1..).find(|opens| {
            let disk = fresh();
            disk.opens(Some(*opens));
            let made = learner(&disk).edit(edits, &[], "").is_ok();
            disk.opens(None);
            assert_eq!(disk.files().book == whole.files().book, made, "{opens}");
            assert!(!made || learner(&disk).undo_edit().unwrap().is_some());
            made
        });
        assert!(opens.unwrap() < 5);
    }
}

/// A step of a random session.
#[derive(Clone, Debug)]
enum Step {
    Edit(Vec<(usize, u8, u16)>),
    UndoEdit,
    Learn(usize),
    Undo,
    Reset,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((0..8_usize, 0..3_u8, 0..100_u16), 1..4).prop_map(Step::Edit),
        3 => Just(Step::UndoEdit),
        3 => (0..3_usize).prop_map(Step::Learn),
        1 => Just(Step::Undo),
        1 => Just(Step::Reset),
    ]
}

const MOVES: [&str; 8] =
    ["e2e4", "d2d4", "c2c4", "e2e4 e7e5", "e2e4 c7c5", "e2e4 e7e6", "d2d4 d7d5", "e2e4 e7e5 g1f3"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(24, 64)))]

    /// Weights follow a model, whatever is learned, compacted and taken back by whichever process.
    #[test]
    fn a_session_of_edits_follows_a_model(steps in prop::collection::vec((any_step(), any::<bool>()), 1..25)) {
        let disk = fresh();
        let weights = |book: &[u8]| -> Vec<Option<u16>> { MOVES.iter().map(|moves| weight(book, moves)).collect() };
        let mut model = vec![weights(&disk.files().book)];
        let mut live = learner(&disk);
        for (number, (step, other)) in steps.into_iter().enumerate() {
            let mut other_learner = compacting_to(&disk, 1);
            let learner = if other { &mut other_learner } else { &mut live };
            match step {
                Step::Edit(wanted) => {
                    let mut next = model.last().unwrap().clone();
                    let mut edits = Vec::new();
                    for (place, kind, weight) in wanted {
                        if edits.iter().any(|edit: &EntryEdit| edit.edit.name == MOVES[place]) {
                            continue;
                        }
                        let what = match (kind, next[place]) {
                            (0, Some(_)) => Delete,
                            (_, Some(_)) => set(weight.into()),
                            (_, None) => add(weight.into()),
                        };
                        next[place] = if what == Delete { None } else { Some(weight) };
                        edits.push(change(MOVES[place], what));
                    }
                    learner.edit(&edits, &[], "some").unwrap();
                    if next != *model.last().unwrap() {
                        model.push(next);
                    }
                }
                Step::UndoEdit => {
                    let undone = learner.undo_edit().unwrap();
                    // Compaction may have dropped the record.
                    if undone.is_some() {
                        prop_assert!(model.len() > 1);
                        model.pop();
                    } else {
                        model = vec![model.pop().unwrap()];
                    }
                }
                Step::Learn(line) => drop(learner.learn(&[finished(&number.to_string(), LINES[line], "wb", 2)], false).unwrap()),
                // Games that are in the store cannot be taken back.
                Step::Undo => {
                    let refused = learner.undo(1).err().map(|error| error.to_string());
                    prop_assert!(refused.as_ref().is_none_or(|what| what.contains("only the last")), "{:?}", refused);
                }
                Step::Reset => learner.reset().unwrap(),
            }
            prop_assert_eq!(&weights(&disk.files().book), model.last().unwrap());
            prop_assert!(learner.history(9).unwrap().doubt.is_none());
        }
    }
}
