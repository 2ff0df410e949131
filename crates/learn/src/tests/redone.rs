//! Edits that are made again, and edits that expect a weight.

use proptest::prelude::*;

use tabiya_book::edit::Change::Delete;

use super::edited::{add, change, fresh, learner, set, weight};
use super::{compacting_to, finished};
use crate::Attempt;

const LINE: &str = "e2e4 e7e5 g1f3 b8c6 f1b5";

#[test]
fn what_was_taken_back_is_made_again_in_order() {
    let disk = fresh();
    let of = |moves: &str| weight(&disk.files().book, moves);
    let mut live = learner(&disk);
    assert_eq!(live.redo_edit().unwrap(), None);
    live.edit(&[change("e2e4 e7e5", set(60))], &[], "first").unwrap();
    live.edit(&[change("e2e4 c7c5", Delete)], &[], "second").unwrap();
    live.edit(&[change("e2e4 g8f6", add(7))], &[], "third").unwrap();
    assert_eq!(live.redo_edit().unwrap(), None);
    for _ in 0..3 {
        live.undo_edit().unwrap().unwrap();
    }
    // Another process knows it from the journal.
    let mut other = learner(&disk);
    let made = other.redo_edit().unwrap().unwrap();
    assert_eq!(
        (made.note.as_str(), made.weights[0].before, made.weights[0].after),
        ("first", Some(10), Some(60))
    );
    assert_eq!(live.redo_edit().unwrap().unwrap().note, "second");
    assert_eq!([of("e2e4 e7e5"), of("e2e4 c7c5"), of("e2e4 g8f6")], [Some(60), None, None]);
    // One that was made again can be taken back again.
    assert_eq!(live.undo_edit().unwrap().unwrap().note, "second");
    assert_eq!(live.redo_edit().unwrap().unwrap().note, "second");
    assert_eq!(live.redo_edit().unwrap().unwrap().note, "third");
    assert_eq!((of("e2e4 g8f6"), live.redo_edit().unwrap()), (Some(7), None));
    // After another edit, what was taken back is gone.
    live.undo_edit().unwrap().unwrap();
    live.edit(&[change("e2e4 e7e5", set(3))], &[], "fourth").unwrap();
    assert_eq!(live.redo_edit().unwrap(), None);
}

#[test]
fn learned_games_stay_when_an_edit_is_made_again() {
    let disk = fresh();
    let mut live = learner(&disk);
    live.edit(&[change("e2e4 e7e5", set(60))], &[], "first").unwrap();
    live.undo_edit().unwrap().unwrap();
    live.learn(&[finished("a", LINE, "wb", 2)], false).unwrap();
    live.redo_edit().unwrap().unwrap();
    let entry = super::edited::entries(&disk.files().book, "e2e4 e7e5")[0];
    assert_eq!((entry.weight, entry.games), (60, 1));
    assert!(live.history(9).unwrap().doubt.is_none());
}

#[test]
fn an_edit_that_expects_another_weight_changes_nothing() {
    let disk = fresh();
    let before = disk.files();
    let mut live = learner(&disk);
    let mut tried = |edit, expected| live.edit(&[edit], &[expected], "note").unwrap();
    assert_eq!(tried(change("e2e4 e7e5", set(60)), Some(11)), Attempt::Unexpected(Some(10)));
    assert_eq!(tried(change("e2e4 e7e5", add(60)), None), Attempt::Unexpected(Some(10)));
    assert_eq!(tried(change("e2e4 a7a6", set(60)), Some(1)), Attempt::Unexpected(None));
    assert_eq!(disk.files(), before);
    assert!(matches!(tried(change("e2e4 e7e5", set(60)), Some(10)), Attempt::Made(_)));
    assert!(matches!(tried(change("e2e4 a7a6", add(4)), None), Attempt::Made(_)));
    assert_eq!(weight(&disk.files().book, "e2e4 e7e5"), Some(60));
    // Two that expect the same: the second one loses nothing of the first.
    let mut other = learner(&disk);
    let other = other.edit(&[change("e2e4 e7e5", set(70))], &[Some(10)], "note").unwrap();
    assert_eq!(other, Attempt::Unexpected(Some(60)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Weights follow two stacks, whichever process edits.
    #[test]
    fn edits_there_and_back_follow_two_stacks(steps in prop::collection::vec((0..4_u8, 0..9_u16, any::<bool>()), 1..25)) {
        let disk = fresh();
        let now = || weight(&disk.files().book, "e2e4 e7e5").unwrap();
        let (mut done, mut undone) = (vec![now()], Vec::new());
        let mut live = learner(&disk);
        for (kind, wanted, other) in steps {
            let mut other_learner = compacting_to(&disk, 1000);
            let learner = if other { &mut other_learner } else { &mut live };
            match kind {
                0 | 1 if done.last() != Some(&wanted) => {
                    learner.edit(&[change("e2e4 e7e5", set(wanted.into()))], &[], "some").unwrap();
                    // What was taken back last, done anew, leaves the rest to be made again.
                    if undone.pop() != Some(wanted) {
                        undone.clear();
                    }
                    done.push(wanted);
                }
                2 => {
                    let made = learner.undo_edit().unwrap();
                    prop_assert_eq!(made.is_some(), done.len() > 1);
                    if done.len() > 1 {
                        undone.extend(done.pop());
                    }
                }
                3 => {
                    let made = learner.redo_edit().unwrap();
                    prop_assert_eq!(made.is_some(), !undone.is_empty());
                    done.extend(undone.pop());
                }
                _ => {}
            }
            prop_assert_eq!(Some(&now()), done.last());
        }
    }
}
