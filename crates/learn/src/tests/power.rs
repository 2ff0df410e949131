//! Loss of power: every prefix of the writes and syncs, and every set of pieces that no sync had made safe.

use super::disk::{Files, SimDisk};
use super::{book, compacting, compacting_to, finished};
use crate::{FinishedGame, IdentifiedGame, LearnOutcome, Learner};

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3", "d2d4 d7d5"];

/// The book and the number of known games after each step: a game, or several changes at once.
struct Steps(Vec<(Vec<u8>, usize)>);

fn games() -> [IdentifiedGame; 4] {
    [
        finished("one", "e2e4 e7e5 g1f3 b8c6 f1b5", "wb", 2),
        finished("two", "e2e4 c7c5 g1f3", "w", 1),
        finished("three", "e2e4 e7e5 g1f3 b8c6", "w", 0),
        finished("four", "d2d4 d7d5", "wb", 2),
    ]
}

fn learner(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

fn state(disk: &SimDisk) -> (Vec<u8>, usize) {
    let known = learner(disk).history(0).unwrap().count as usize;
    (disk.files().book, known)
}

/// Learns a game, two at once, a fourth by another process, takes one back, and resets.
fn play(disk: &SimDisk, learner: fn(&SimDisk) -> Learner) -> Steps {
    let [one, two, three, four] = games();
    let mut steps = vec![state(disk)];
    // The state if only the first of two games that are learned at once survives.
    let alone = SimDisk::from_files(disk.files());
    learner(&alone).learn(std::slice::from_ref(&one), false).unwrap();
    learner(&alone).learn(std::slice::from_ref(&two), false).unwrap();
    let mut first = learner(disk);
    first.learn(&[one], false).unwrap();
    steps.push(state(disk));
    disk.report(1);
    first.learn(&[two, three], false).unwrap();
    steps.push(state(&alone));
    steps.push(state(disk));
    disk.report(3);
    learner(disk).learn(&[four], false).unwrap();
    steps.push(state(disk));
    disk.report(4);
    assert_eq!(first.undo(1).unwrap(), 1);
    steps.push(state(disk));
    disk.report(5);
    first.reset().unwrap();
    steps.push(state(disk));
    disk.report(6);
    Steps(steps)
}

impl Steps {
    /// Asserts that the book is as it was after a step from `reported` on that can have begun.
    fn check(&self, disk: &SimDisk, reported: usize) {
        let found = state(disk);
        let begun = if reported == 1 { 3 } else { reported + 1 };
        let possible = &self.0[reported..=begun.min(self.0.len() - 1)];
        assert!(possible.contains(&found), "after {reported} reported: {found:?}");
    }
}

#[test]
fn after_any_loss_of_power_a_game_is_there_entirely_or_not_at_all() {
    survives_losses(learner);
}

#[test]
fn after_any_loss_of_power_while_compacting_a_game_is_there_entirely_or_not_at_all() {
    assert!(survives_losses(compacting) > 2);
}

fn survives_losses(learner: fn(&SimDisk) -> Learner) -> usize {
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let steps = play(&disk, learner);
    assert_eq!(steps.0.iter().map(|(_, known)| *known).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 3, 0]);
    let (mut losses, mut again) = (0, 0);
    disk.each_loss(|files, reported| {
        losses += 1;
        let left = SimDisk::from_files(files.clone());
        learner(&left).recover().unwrap();
        steps.check(&left, reported);
        // Power may fail during recovery too; one in three is tried, because each has as many cases again.
        if losses % 3 == 0 {
            left.each_loss(|files, _| {
                again += 1;
                let left = SimDisk::from_files(files.clone());
                learner(&left).recover().unwrap();
                steps.check(&left, reported);
            });
        }
    });
    println!("{losses} different losses of power, {again} more while recovering");
    assert!(losses > 500 && again > 500, "{losses} {again}");
    disk.named()
}

#[test]
fn the_next_process_syncs_what_a_killed_process_left_unsynced() {
    survives_kills(learner);
}

#[test]
fn the_next_process_syncs_what_a_process_killed_while_compacting_left() {
    survives_kills(compacting);
}

fn survives_kills(learner: fn(&SimDisk) -> Learner) {
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let steps = play(&disk, learner);
    let mut losses = 0;
    for len in 0..=disk.ops() {
        let (left, reported) = disk.killed(len);
        learner(&left).recover().unwrap();
        steps.check(&left, reported);
        let recovered = SimDisk::from_files(left.files());
        left.each_loss_from(len, |files, reported| {
            losses += 1;
            let left = SimDisk::from_files(files.clone());
            learner(&left).recover().unwrap();
            steps.check(&left, reported);
        });
        // Another process has nothing more to do.
        let before = recovered.files();
        learner(&recovered).recover().unwrap();
        assert_eq!(recovered.files(), before);
    }
    println!("{losses} losses of power after a kill");
    assert!(losses > 500, "{losses}");
}

#[test]
fn an_older_tail_after_a_new_record_is_not_read() {
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        finished(
            name,
            ["e2e4", "d2d4", "e2e4 c7c5 g1f3"][usize::from(name > "a") + usize::from(name > "b")],
            "w",
            2,
        )
    });
    let c = FinishedGame { moves: a.game.moves.clone(), ..c.game }.identified(c.id);
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    learner(&disk).learn(&[finished("zero", "d2d4 d7d5", "b", 1)], false).unwrap();
    let first = disk.ops();
    learner(&disk).learn(&[a, b], false).unwrap();
    let mut losses = 0;
    disk.each_loss_from(first, |files, _| {
        let left = SimDisk::from_files(files.clone());
        learner(&left).learn(std::slice::from_ref(&c), false).unwrap();
        left.each_loss(|files, _| {
            losses += 1;
            let left = SimDisk::from_files(files.clone());
            learner(&left).recover().unwrap();
            let names: String = learner(&left)
                .history(9)
                .unwrap()
                .games
                .iter()
                .rev()
                .map(crate::journal::GameRecord::title)
                .collect();
            assert!(["zero", "zeroa", "zeroab", "zeroc", "zeroac", "zeroabc"].contains(&&*names), "{names}");
        });
    });
    println!("{losses} losses of power with an older tail");
    assert!(losses > 500, "{losses}");
}

#[test]
fn after_a_loss_every_game_can_be_learned_and_none_twice() {
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let games = games();
    let mut first = learner(&disk);
    for game in &games {
        first.learn(std::slice::from_ref(game), false).unwrap();
    }
    let all = disk.files().book;
    disk.each_loss(|files, _| {
        let left = SimDisk::from_files(files.clone());
        learner(&left).learn(&games, false).unwrap();
        assert_eq!(left.files().book, all);
        assert_eq!(learner(&left).history(9).unwrap().count, games.len() as u64);
    });
}

#[test]
fn what_was_learned_is_never_forgotten_however_a_compaction_ends() {
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let mut first = compacting_to(&disk, 0);
    let games = games();
    for (number, game) in games.iter().enumerate() {
        first.learn(std::slice::from_ref(game), false).unwrap();
        disk.report(number + 1);
    }
    assert!(disk.named() > 2, "{}", disk.named());
    let mut losses = 0;
    let mut check = |files: &Files, reported: usize, all: &[u8]| {
        losses += 1;
        let left = SimDisk::from_files(files.clone());
        let outcomes = compacting_to(&left, 0).learn(&games, false).unwrap();
        assert!(
            outcomes[..reported].iter().all(|outcome| *outcome == LearnOutcome::Known),
            "{reported}: {outcomes:?}"
        );
        assert_eq!(left.files().book, all);
        assert_eq!(compacting_to(&left, 0).learn(&games, false).unwrap(), [LearnOutcome::Known; 4]);
    };
    let all = disk.files().book;
    disk.each_loss(|files, reported| check(files, reported, &all));
    for len in 0..=disk.ops() {
        let (left, reported) = disk.killed(len);
        // The next process learns one more game, with the data that the killed one had not synced.
        let five = finished("five", "d2d4 d7d5", "w", 1);
        compacting_to(&left, 0).learn(&[five], false).unwrap();
        left.report(reported);
        left.each_loss_from(left.ops(), |files, reported| {
            let left = SimDisk::from_files(files.clone());
            let known = compacting_to(&left, 0).learn(&games, false).unwrap();
            assert!(
                known[..reported].iter().all(|outcome| *outcome == LearnOutcome::Known),
                "{reported}: {known:?}"
            );
            let five = finished("five", "d2d4 d7d5", "w", 1);
            assert_eq!(compacting_to(&left, 0).learn(&[five], false).unwrap(), [LearnOutcome::Known]);
        });
    }
    println!("{losses} losses of power");
}

#[test]
fn a_process_that_reads_on_after_another_was_killed_agrees_with_it() {
    // Without a loss of power everything that was written is there; a process may die between any two operations.
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let games = games();
    let mut live = learner(&disk);
    live.learn(&games[..1], false).unwrap();
    disk.book_writes(Some(1));
    assert!(learner(&disk).learn(&games[1..2], false).is_err());
    disk.book_writes(None);
    live.learn(&games[1..3], false).unwrap();
    let whole = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    learner(&whole).learn(&games[..3], false).unwrap();
    assert_eq!(disk.files().book, whole.files().book);
}

#[test]
fn a_process_that_finished_what_another_took_back_learns_on() {
    let disk = SimDisk::from_files(Files { book: book(&LINES), journal: None });
    let games = games();
    let mut live = learner(&disk);
    live.learn(&games[..1], false).unwrap();
    // Taking back what was written fails, too.
    disk.book_writes(Some(1));
    assert!(learner(&disk).undo(1).is_err());
    disk.book_writes(None);
    live.recover().unwrap();
    live.learn(&games[1..2], false).unwrap();
    assert_eq!(live.history(9).unwrap().count, 1);
}
