//! What is learned, and what is not.

use proptest::prelude::*;

use tabiya_base::error::Remedy;

use super::disk::{Files, SimDisk};
use super::{book, field, finished};
use crate::{LearnOutcome, Learner};

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5"];

fn disk(book: Vec<u8>) -> (SimDisk, Learner) {
    let disk = SimDisk::from_files(Files { book, journal: None });
    (disk.clone(), Learner::over(Box::new(disk), "a.bin"))
}

#[test]
fn the_sides_moves_that_are_entries_get_the_movers_result() {
    let (disk, mut learner) = disk(book(&LINES));
    let outcomes = learner.learn(&[finished("one", "e2e4 e7e5 g1f3 g8f6 f3e5", "w", 2)], false).unwrap();
    assert_eq!(outcomes, [LearnOutcome::Learned(2)]);
    let of = |moves: &str| field(&disk.files().book, moves);
    assert_eq!((of("e2e4"), of("e2e4 e7e5 g1f3"), of("e2e4 e7e5")), ((1, 2), (1, 2), (0, 0)));
    learner.learn(&[finished("two", "e2e4 c7c5", "b", 2)], false).unwrap();
    assert_eq!((of("e2e4"), of("e2e4 c7c5")), ((1, 2), (1, 0)));
    learner.learn(&[finished("three", "d2d4 d7d5", "wb", 0)], false).unwrap();
    assert_eq!((of("d2d4"), of("d2d4 d7d5")), ((1, 0), (1, 2)));
    learner.learn(&[finished("four", "d2d4 d7d5", "wb", 1)], false).unwrap();
    assert_eq!((of("d2d4"), of("d2d4 d7d5")), ((2, 1), (2, 3)));
}

#[test]
fn a_game_is_learned_once_for_each_side() {
    let (disk, mut learner) = disk(book(&LINES));
    let of = |sides: &str| finished("one", "e2e4 e7e5", sides, 2);
    assert_eq!(
        learner.learn(&[of("w"), of("w")], false).unwrap(),
        [LearnOutcome::Learned(1), LearnOutcome::Known]
    );
    assert_eq!(learner.learn(&[of("w")], false).unwrap(), [LearnOutcome::Known]);
    assert_eq!(learner.learn(&[of("wb")], false).unwrap(), [LearnOutcome::Learned(1)]);
    assert_eq!(
        learner.learn(&[of("b"), of("wb")], false).unwrap(),
        [LearnOutcome::Known, LearnOutcome::Known]
    );
    assert_eq!(field(&disk.files().book, "e2e4"), (1, 2));
    assert_eq!(field(&disk.files().book, "e2e4 e7e5"), (1, 0));
    assert_eq!(learner.learn(&[of("w")], true).unwrap(), [LearnOutcome::Learned(1)]);
    assert_eq!(field(&disk.files().book, "e2e4"), (2, 4));
}

#[test]
fn a_game_that_the_book_does_not_know_leaves_no_trace() {
    let (disk, mut learner) = disk(book(&LINES));
    learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap();
    let before = disk.files();
    assert_eq!(
        learner.learn(&[finished("two", "a2a3 e7e5", "wb", 2)], false).unwrap(),
        [LearnOutcome::Absent]
    );
    assert_eq!(disk.files(), before);
}

#[test]
fn of_equal_entries_the_first_learns() {
    let single = book(&["e2e4"]);
    let (disk, mut learner) = disk([single.clone(), single].concat());
    learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap();
    let fields: Vec<_> = disk.files().book.chunks(16).map(|entry| entry[12..].to_vec()).collect();
    assert_eq!(fields, [[0, 1, 0, 2], [0, 0, 0, 0]]);
}

#[test]
fn castling_is_found_in_both_forms() {
    let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1";
    let usual = book(&[line]);
    let castling =
        |book: &[u8]| book.chunks(16).position(|entry| entry[8..10] == [0x01, 0x07]).unwrap() * 16 + 9;
    let mut old = usual.clone();
    let place = castling(&usual);
    old[place] = 0x06;
    for book in [usual, old] {
        let (disk, mut learner) = disk(book);
        assert_eq!(
            learner.learn(&[finished("one", line, "w", 2)], false).unwrap(),
            [LearnOutcome::Learned(4)]
        );
        assert_eq!(disk.files().book[place + 3..place + 7], [0, 1, 0, 2]);
    }
}

#[test]
fn fields_at_their_end_are_halved_in_the_book() {
    let mut full = book(&["e2e4"]);
    full[12..].copy_from_slice(&[0xff, 0xff, 0x75, 0x30]);
    let (disk, mut learner) = disk(full.clone());
    learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap();
    assert_eq!(field(&disk.files().book, "e2e4"), (32_768, 15_002));
    assert_eq!(learner.undo(1).unwrap(), 1);
    assert_eq!(disk.files().book, full);
}

#[test]
fn a_book_with_something_else_in_its_learn_fields_is_refused_until_it_is_reset() {
    let mut other = book(&LINES);
    let last = other.len();
    other[last - 4..].copy_from_slice(&[0, 1, 0, 3]);
    let (disk, mut learner) = disk(other.clone());
    let error = learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::ResetLearned));
    let error = error.to_string();
    assert!(
        error.starts_with("a.bin: the learn field of an entry holds something other than games"),
        "{error}"
    );
    assert!(error.contains(&format!("(byte {})", last - 16)), "{error}");
    assert_eq!(disk.files(), Files { book: other, journal: None });
    learner.reset().unwrap();
    assert_eq!(disk.files().book, book(&LINES));
    learner.learn(&[finished("one", "e2e4", "w", 2)], false).unwrap();
    assert_eq!(field(&disk.files().book, "e2e4"), (1, 2));
}

#[test]
fn the_last_games_are_taken_back_and_can_be_learned_again() {
    let (disk, mut learner) = disk(book(&LINES));
    let games = [
        finished("one", "e2e4 e7e5", "w", 2),
        finished("two", "e2e4 c7c5", "wb", 1),
        finished("three", "d2d4", "w", 0),
    ];
    learner.learn(&games[..1], false).unwrap();
    let first = disk.files().book;
    learner.learn(&games[1..], false).unwrap();
    let all = disk.files().book;
    assert_eq!(learner.undo(2).unwrap(), 2);
    assert_eq!(disk.files().book, first);
    let history = learner.history(5).unwrap();
    assert_eq!((history.games.len(), history.count, history.games[0].title()), (1, 1, "one"));
    assert_eq!(
        learner.learn(&games, false).unwrap(),
        [LearnOutcome::Known, LearnOutcome::Learned(2), LearnOutcome::Learned(1)]
    );
    assert_eq!(disk.files().book, all);
    assert_eq!(learner.undo(10).unwrap(), 3);
    assert_eq!(disk.files().book, book(&LINES));
    assert_eq!(learner.undo(10).unwrap(), 0);
}

#[test]
fn what_was_reset_is_forgotten_and_cannot_be_taken_back() {
    let (disk, mut learner) = disk(book(&LINES));
    let game = [finished("one", "e2e4 e7e5", "w", 2)];
    learner.learn(&game, false).unwrap();
    learner.reset().unwrap();
    assert_eq!(disk.files().book, book(&LINES));
    assert_eq!((learner.undo(1).unwrap(), learner.history(5).unwrap().count), (0, 0));
    assert_eq!(learner.learn(&game, false).unwrap(), [LearnOutcome::Learned(1)]);
}

#[test]
fn an_undo_without_games_creates_no_journal() {
    let (disk, mut learner) = disk(book(&LINES));
    assert_eq!((learner.undo(3).unwrap(), learner.history(5).unwrap().count), (0, 0));
    learner.recover().unwrap();
    assert_eq!(disk.files().journal, None);
}

proptest! {
    /// However games are distributed to processes, and in whatever batches, the sums are those of all games, and taking
    /// all back leaves the book as it was.
    #[test]
    fn the_sums_are_exact_whoever_learns(
        games in prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize, 0..3_usize), 1..40),
        sizes in prop::collection::vec(1..5_usize, 1..40),
    ) {
        let start = book(&LINES);
        let (disk, first) = disk(start.clone());
        let mut learners = vec![first];
        for _ in 0..2 {
            learners.push(Learner::over(Box::new(disk.clone()), "a.bin"));
        }
        let mut expected = std::collections::HashMap::<&str, (u16, u16)>::new();
        let finished_games: Vec<_> = games.iter().enumerate().map(|(number, (line, side, white, _))| {
            let sides = ["w", "b", "wb"][*side];
            let first = ["e2e4", "e2e4", "d2d4"][*line];
            if sides.contains('w') {
                let (games, points) = expected.entry(first).or_default();
                (*games, *points) = (*games + 1, *points + *white as u16);
            }
            let reply = ["e2e4 e7e5", "e2e4 c7c5", "d2d4 d7d5"][*line];
            if sides.contains('b') {
                let (games, points) = expected.entry(reply).or_default();
                (*games, *points) = (*games + 1, *points + 2 - *white as u16);
            }
            finished(&number.to_string(), LINES[*line], sides, *white)
        }).collect();
        let mut rest = &finished_games[..];
        let mut turn = 0;
        while !rest.is_empty() {
            let size = sizes[turn % sizes.len()].min(rest.len());
            let (batch, more) = rest.split_at(size);
            rest = more;
            let learner = &mut learners[games[turn % games.len()].3];
            learner.learn(batch, false).unwrap();
            turn += 1;
        }
        let book = disk.files().book;
        for (moves, sums) in &expected {
            prop_assert_eq!(field(&book, moves), *sums, "{}", moves);
        }
        // Only learn fields have changed.
        prop_assert_eq!(book.len(), start.len());
        for (new, old) in book.chunks(16).zip(start.chunks(16)) {
            prop_assert_eq!(&new[..12], &old[..12]);
        }
        prop_assert_eq!(learners[0].learn(&finished_games, false).unwrap(), vec![LearnOutcome::Known; finished_games.len()]);
        prop_assert_eq!(learners[1].undo(1000).unwrap() as usize, finished_games.len());
        prop_assert_eq!(disk.files().book, start);
    }
}
