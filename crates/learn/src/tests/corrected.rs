//! Games that were learned while they were played, and what files say of them.

use super::disk::{Files, SimDisk};
use super::{book, compacting_to, field, finished};
use crate::{Compared, IdentifiedGame, LearnOutcome, Learner, Source, identity};

pub const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

fn fresh() -> SimDisk {
    SimDisk::from_files(Files { book: book(&LINES), journal: None })
}

fn learner(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

/// A game that was played, with this many half-points for White; the engine was not told `unseen` plies of it.
pub fn played(line: usize, side: &str, white: usize, guess: bool, unseen: usize) -> IdentifiedGame {
    let IdentifiedGame { mut game, .. } =
        finished("game 1 as White, won: by scores", LINES[line], side, white);
    game.moves.truncate(game.moves.len() - unseen);
    let id = identity::of_played(&game.start, &game.moves);
    game.said_by(if guess { Source::Scores } else { Source::Board }, id)
}

/// The game of this number in a file, with its result if it has one.
pub fn in_file(line: usize, number: usize, sides: &str, white: Option<usize>) -> IdentifiedGame {
    let game = finished(&format!("{line} {number} {white:?}"), LINES[line], sides, white.unwrap_or(1));
    let source = if white.is_some() { Source::File } else { Source::Unfinished };
    IdentifiedGame { source, ..game }
}

fn learn(learner: &mut Learner, game: &IdentifiedGame) -> LearnOutcome {
    learner.learn(std::slice::from_ref(game), false).unwrap()[0]
}

#[test]
fn a_file_corrects_what_was_guessed_once() {
    let disk = fresh();
    let mut learner = learner(&disk);
    // Won by a guess, drawn in truth; the file has one more move than the engine was told of.
    learner.learn(&[played(0, "w", 2, true, 1), played(1, "w", 0, false, 0)], false).unwrap();
    assert_eq!(field(&disk.files().book, "e2e4"), (2, 2));
    assert_eq!(learner.history(9).unwrap().guesses, 1);
    let games = [in_file(0, 1, "w", Some(1)), in_file(1, 1, "w", Some(0)), in_file(2, 1, "w", Some(2))];
    let outcomes = learner.learn(&games, false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Corrected(2), LearnOutcome::Confirmed, LearnOutcome::Learned(2)]);
    let corrected = disk.files().book;
    assert_eq!((field(&corrected, "e2e4"), field(&corrected, "e2e4 e7e5 g1f3")), ((2, 1), (1, 1)));
    let history = learner.history(9).unwrap();
    let said: Vec<_> = history.games.iter().map(|game| (game.result, game.guess, game.title())).collect();
    assert_eq!((history.count, history.guesses), (3, 0));
    assert_eq!(said[2], (1, false, "game 1 as White, won: by scores; corrected"));
    assert_eq!(said[1], (0, false, "game 1 as White, won: by scores"));
    assert_eq!(learner.learn(&games, false).unwrap(), [LearnOutcome::Known; 3]);
    // Another game of the same moves is one more, and so is one that the file gives another result later.
    assert_eq!(learn(&mut learner, &in_file(0, 2, "w", Some(1))), LearnOutcome::Learned(2));
    assert_eq!(learner.undo(1).unwrap(), 1);
    // A corrected game is one game to take back, with its correction.
    assert_eq!(disk.files().book, corrected);
    assert_eq!(learner.undo(3).unwrap(), 3);
    assert_eq!(disk.files().book, book(&LINES));
    assert_eq!(learn(&mut learner, &games[0]), LearnOutcome::Learned(2));
}

#[test]
fn a_game_without_a_result_is_taken_back() {
    let disk = fresh();
    let mut learner = learner(&disk);
    learner.learn(&[played(0, "w", 2, true, 0), played(1, "w", 2, false, 0)], false).unwrap();
    // What the board has shown stays.
    let files = [in_file(0, 1, "w", None), in_file(1, 1, "w", None)];
    let outcomes = learner.learn(&files, false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Withdrawn(2), LearnOutcome::Absent]);
    assert_eq!(field(&disk.files().book, "e2e4"), (1, 2));
    assert_eq!(learner.learn(&files, false).unwrap(), [LearnOutcome::Known, LearnOutcome::Absent]);
    let history = learner.history(9).unwrap();
    assert_eq!((history.games.len(), history.count), (1, 1));
    assert_eq!(learner.undo(9).unwrap(), 1);
    assert_eq!(disk.files().book, book(&LINES));
}

#[test]
fn each_side_is_corrected_or_learned() {
    let disk = fresh();
    let mut learner = learner(&disk);
    // Two adapters play each other; of the second game only one has learned.
    let guesses = [played(0, "w", 0, true, 0), played(0, "b", 0, true, 1), played(2, "w", 2, true, 0)];
    learner.learn(&guesses, false).unwrap();
    let outcomes = learner.learn(&[in_file(0, 1, "wb", Some(2)), in_file(2, 1, "wb", Some(0))], false);
    assert_eq!(outcomes.unwrap(), [LearnOutcome::Corrected(3), LearnOutcome::Corrected(3)]);
    let now = disk.files().book;
    assert_eq!(["e2e4", "e2e4 e7e5"].map(|moves| field(&now, moves)), [(1, 2), (1, 0)]);
    assert_eq!(["d2d4", "d2d4 d7d5"].map(|moves| field(&now, moves)), [(1, 0), (1, 2)]);
    // The moves of the other side are no reason to correct this one.
    let disk = fresh();
    let mut learner = self::learner(&disk);
    learn(&mut learner, &played(0, "w", 2, true, 0));
    assert_eq!(learn(&mut learner, &in_file(0, 1, "b", Some(0))), LearnOutcome::Learned(2));
    assert_eq!(field(&disk.files().book, "e2e4"), (1, 2));
}

#[test]
fn games_of_the_same_moves_are_told_apart_as_far_as_it_matters() {
    let disk = fresh();
    let mut learner = learner(&disk);
    let guesses = [played(0, "w", 2, true, 0), played(0, "w", 0, true, 0)];
    learner.learn(&guesses, false).unwrap();
    let files = [0, 2, 2].map(|white| in_file(0, white + 1, "w", Some(white)));
    let mut comparison = learner.comparison().unwrap();
    let compared: Vec<_> = files.iter().map(|game| comparison.compare(game)).collect();
    let right = Compared::Right { guess: true };
    assert_eq!(compared, [right.clone(), right, Compared::Missing]);
    let outcomes = learner.learn(&files[..2], false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Confirmed; 2]);
}

#[test]
fn what_was_learned_is_compared_with_files() {
    let disk = fresh();
    let mut learner = compacting_to(&disk, 2);
    let mut games: Vec<IdentifiedGame> = (0..6).map(|_| played(1, "w", 2, true, 0)).collect();
    games.extend([played(0, "w", 2, true, 1), played(2, "w", 2, true, 0)]);
    learner.learn(&games, false).unwrap();
    let files = [
        in_file(0, 1, "w", Some(1)),
        in_file(1, 1, "w", Some(2)),
        in_file(2, 1, "w", Some(2)),
        in_file(2, 2, "w", Some(2)),
        in_file(2, 3, "w", None),
    ];
    let compare = |learner: &mut Learner| {
        let mut comparison = learner.comparison().unwrap();
        let compared: Vec<Compared> = files.iter().map(|game| comparison.compare(game)).collect();
        (compared, comparison.left(), learner.dropped(&comparison).unwrap())
    };
    let wrong = Compared::Wrong { learned: Some(2), title: "game 1 as White, won: by scores".to_owned() };
    let (right, missing) = (|guess| Compared::Right { guess }, || Compared::Missing);
    assert_eq!(compare(&mut learner), (vec![wrong, missing(), right(true), missing(), missing()], 0, 1));
    // The first one was learned too long ago to be corrected, and is not learned again.
    let outcomes = learner.learn(&files, false).unwrap();
    use LearnOutcome::{Absent, Confirmed, Corrected, Known, Learned};
    assert_eq!(outcomes, [Corrected(2), Known, Confirmed, Learned(2), Absent]);
    assert_eq!(learner.learn(&files, false).unwrap(), [Known, Known, Known, Known, Absent]);
}

#[test]
fn a_compacted_journal_keeps_corrections() {
    let disk = fresh();
    let mut learner = compacting_to(&disk, 2);
    let mut files = Vec::new();
    for number in 0..40 {
        learn(&mut learner, &played(number % 3, "w", 2, true, 0));
        files.push(in_file(number % 3, number, "w", Some(0)));
        assert!(matches!(learn(&mut learner, &files[number]), LearnOutcome::Corrected(_)));
        assert_eq!(learn(&mut learner, &files[number]), LearnOutcome::Known);
    }
    assert!(disk.files().journal.unwrap().len() < 9000);
    assert_eq!((field(&disk.files().book, "e2e4"), field(&disk.files().book, "d2d4")), ((27, 0), (13, 0)));
    assert_eq!(learner.learn(&files, false).unwrap(), [LearnOutcome::Known; 40]);
    assert_eq!(learner.undo(2).unwrap(), 2);
    assert_eq!((field(&disk.files().book, "e2e4"), field(&disk.files().book, "d2d4")), ((26, 0), (12, 0)));
}

#[test]
fn the_records_of_a_compacted_journal_lead_to_the_book() {
    // A correction that found a game which was undone since.
    let disk = fresh();
    learner(&disk).learn(&[played(0, "w", 2, true, 0), played(0, "w", 2, true, 0)], false).unwrap();
    learn(&mut learner(&disk), &in_file(0, 1, "wb", Some(0)));
    assert_eq!(learner(&disk).undo(1).unwrap(), 1);
    assert_eq!(compacting_to(&disk, 3).undo(1).unwrap(), 1);
    assert_eq!(field(&disk.files().book, "e2e4"), (1, 0));
    assert!(learner(&disk).history(0).unwrap().doubt.is_none());
    assert_eq!(learner(&disk).undo(1).unwrap(), 1);
    assert_eq!(disk.files().book, book(&LINES));
    // A correction of a game whose records are dropped, and a game that has no result.
    let games: Vec<IdentifiedGame> = (0..4).map(|_| played(0, "w", 2, true, 0)).collect();
    learner(&disk).learn(&games, false).unwrap();
    let files = [in_file(0, 1, "w", None), in_file(0, 2, "w", Some(0))];
    let outcomes = learner(&disk).learn(&files, false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Withdrawn(2), LearnOutcome::Corrected(2)]);
    learn(&mut compacting_to(&disk, 2), &played(0, "w", 2, true, 0));
    assert_eq!(field(&disk.files().book, "e2e4"), (4, 6));
    assert_eq!(learner(&disk).history(0).unwrap().count, 4);
    let refused = learner(&disk).undo(3).unwrap_err().to_string();
    assert!(refused.contains("only the last 2 games"), "{refused}");
    assert_eq!(learner(&disk).undo(2).unwrap(), 2);
    assert_eq!(field(&disk.files().book, "e2e4"), (2, 2));
}

/// A guess, its correction and undoing it: whatever is lost in between, the book is as it was after a step.
#[test]
fn after_any_loss_of_power_a_game_is_corrected_entirely_or_not_at_all() {
    for new in [self::learner as fn(&SimDisk) -> Learner, |disk| compacting_to(disk, 1)] {
        let disk = fresh();
        let steps: [fn(&mut Learner); 4] = [
            |learner| _ = learn(learner, &played(0, "w", 2, true, 1)),
            |learner| _ = learn(learner, &played(1, "w", 2, false, 0)),
            |learner| _ = learn(learner, &in_file(0, 1, "w", Some(0))),
            |learner| _ = learner.undo(1).unwrap(),
        ];
        let mut after = vec![disk.files().book];
        for (number, step) in steps.iter().enumerate() {
            step(&mut new(&disk));
            after.push(disk.files().book);
            disk.report(number + 1);
        }
        let mut losses = 0;
        disk.each_loss(|files, reported| {
            losses += 1;
            let left = SimDisk::from_files(files.clone());
            new(&left).recover().unwrap();
            let book = left.files().book;
            let begun = (reported + 1).min(after.len() - 1);
            assert!(after[reported..=begun].contains(&book), "after {reported} reported");
            // To correct it again does no more than that.
            if reported == 2 {
                let outcome = learn(&mut new(&left), &in_file(0, 1, "w", Some(0)));
                assert!(matches!(outcome, LearnOutcome::Corrected(2) | LearnOutcome::Known), "{outcome:?}");
                assert_eq!(left.files().book, after[3]);
            }
        });
        assert!(losses > 50, "{losses}");
    }
}
