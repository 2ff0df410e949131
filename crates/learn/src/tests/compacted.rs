//! Compacted journals know the same games as before.

use proptest::prelude::*;

use super::disk::{Files, SimDisk};
use super::{book, compacting, field, finished};
use crate::journal::JournalHeader;
use crate::{IdentifiedGame, LearnOutcome, Learner};

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5"];

fn fresh() -> SimDisk {
    SimDisk::from_files(Files { book: book(&LINES), journal: None })
}

fn plain(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

fn game(number: usize) -> IdentifiedGame {
    finished(&number.to_string(), LINES[number % 3], ["w", "b", "wb"][number / 3 % 3], number % 2)
}

#[test]
fn games_that_can_no_longer_be_taken_back_are_known_for_good() {
    let disk = fresh();
    let mut learner = compacting(&disk);
    let games: Vec<IdentifiedGame> = (0..700).map(game).collect();
    for games in games.chunks(7) {
        learner.learn(games, false).unwrap();
    }
    let journal = disk.files().journal.unwrap();
    let header = JournalHeader::parse(&journal).unwrap().0;
    assert_eq!((header.ids, header.store().pages()), (header.compacted, 3));
    assert!((600..700).contains(&header.ids), "{}", header.ids);
    assert_eq!(learner.history(9).unwrap().count, 700);
    let before = disk.files();
    let error = learner.undo(200).unwrap_err().to_string();
    assert!(error.contains("games that were learned can be undone"), "{error}");
    assert_eq!(disk.files(), before);
    assert_eq!(compacting(&disk).learn(&games, false).unwrap(), vec![LearnOutcome::Known; 700]);
    assert_eq!(learner.undo(1).unwrap(), 1);
    assert!(matches!(learner.learn(&games, false).unwrap()[699], LearnOutcome::Learned(_)));
    // Only a reset forgets them.
    learner.reset().unwrap();
    assert_eq!(JournalHeader::parse(&disk.files().journal.unwrap()).unwrap().0.ids, 0);
    assert_eq!(disk.files().book, book(&LINES));
    assert_eq!(learner.learn(&games[..1], false).unwrap(), [LearnOutcome::Learned(2)]);
    assert_eq!(learner.history(9).unwrap().count, 1);
}

#[test]
fn a_side_that_was_not_learned_is_learned_after_the_other_one_was_stored() {
    let disk = fresh();
    let mut learner = compacting(&disk);
    let of = |name: &str, sides: &str| [finished(name, LINES[0], sides, 2)];
    learner.learn(&of("one", "w"), false).unwrap();
    learner.learn(&of("two", "w"), false).unwrap();
    assert_eq!(learner.learn(&of("one", "wb"), false).unwrap(), [LearnOutcome::Learned(2)]);
    learner.learn(&of("three", "w"), false).unwrap();
    assert_eq!(learner.learn(&of("one", "wb"), false).unwrap(), [LearnOutcome::Known]);
    assert_eq!(learner.learn(&of("one", "w"), true).unwrap(), [LearnOutcome::Learned(2)]);
    assert_eq!(learner.undo(1).unwrap(), 1);
    // What was learned again and taken back was still learned once.
    assert_eq!(learner.learn(&of("one", "w"), false).unwrap(), [LearnOutcome::Known]);
    assert_eq!(field(&disk.files().book, "e2e4"), (3, 6));
}

#[test]
fn a_disk_that_fills_up_or_a_folder_that_is_closed_while_compacting_costs_nothing() {
    let games: Vec<IdentifiedGame> = (0..4).map(game).collect();
    let before = fresh();
    plain(&before).learn(&games[..3], false).unwrap();
    let after = SimDisk::from_files(before.files());
    compacting(&after).learn(&games[3..], false).unwrap();
    let mut fixed = 0;
    for room in (0..6000).step_by(13).map(Some).chain([None]) {
        let disk = SimDisk::from_files(before.files());
        disk.room(room);
        disk.fix(room.is_none());
        let mut live = compacting(&disk);
        let learned = live.learn(&games[3..], false);
        fixed += usize::from(disk.named() == 0 && learned.is_ok());
        disk.room(None);
        disk.fix(false);
        for learner in [&mut live, &mut compacting(&disk)] {
            learner.learn(&games[3..], false).unwrap();
            assert_eq!(learner.learn(&games, false).unwrap(), [LearnOutcome::Known; 4]);
            assert_eq!(disk.files().book, after.files().book, "{room:?}");
            assert_eq!(learner.history(9).unwrap().count, 4);
        }
    }
    // All learned, although the journal could not be replaced.
    assert!(fixed > 100, "{fixed}");
}

#[test]
fn a_damaged_store_is_found_when_it_is_read() {
    let disk = fresh();
    let mut learner = compacting(&disk);
    learner.learn(&(0..5).map(game).collect::<Vec<_>>(), false).unwrap();
    let mut files = disk.files();
    files.journal.as_mut().unwrap()[140] ^= 1;
    disk.set(files.clone());
    let error = compacting(&disk).learn(&[game(7)], false).unwrap_err().to_string();
    assert!(error.contains("a.bin.learn is damaged (byte 128)"), "{error}");
    assert_eq!(disk.files(), files);
}

#[test]
fn what_another_process_has_compacted_or_the_disk_damaged_since_is_seen() {
    let disk = fresh();
    let (mut one, mut other) = (compacting(&disk), compacting(&disk));
    let games: Vec<IdentifiedGame> = (0..9).map(game).collect();
    one.learn(&games[..4], false).unwrap();
    assert_eq!(one.learn(&games[..4], false).unwrap(), [LearnOutcome::Known; 4]);
    other.learn(&games[4..8], false).unwrap();
    assert_eq!(JournalHeader::parse(&disk.files().journal.unwrap()).unwrap().0.ids, 7);
    assert_eq!(one.learn(&games[..8], false).unwrap(), [LearnOutcome::Known; 8]);
    let mut files = disk.files();
    files.journal.as_mut().unwrap()[140] ^= 1;
    disk.set(files.clone());
    assert!(one.learn(&games[8..], false).unwrap_err().to_string().contains("is damaged (byte 128)"));
    assert_eq!(disk.files(), files);
}

#[derive(Clone, Debug)]
enum Step {
    Learn(Vec<usize>, bool),
    Undo(u32),
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (prop::collection::vec(0..60_usize, 1..6), prop::bool::weighted(0.2))
            .prop_map(|(games, again)| Step::Learn(games, again)),
        2 => Just(Step::Undo(1)),
        1 => Just(Step::Reset),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(32, 96)))]

    /// Whichever process compacts, and whenever: book, outcomes and the number of games are those of journals that keep
    /// everything.
    #[test]
    fn a_compacted_journal_knows_the_same_as_a_whole_one(
        steps in prop::collection::vec((step(), 0..3_usize), 1..60),
    ) {
        let (whole, small) = (fresh(), fresh());
        let mut keeper = plain(&whole);
        let mut others = [compacting(&small), compacting(&small), plain(&small)];
        // Games that can be taken back in both.
        let mut last = 0;
        for (step, who) in steps {
            let other = &mut others[who];
            match step {
                Step::Learn(games, again) => {
                    let finished_games: Vec<IdentifiedGame> = games.into_iter().map(game).collect();
                    let outcomes = keeper.learn(&finished_games, again).unwrap();
                    let learned = outcomes.iter().any(|outcome| matches!(outcome, LearnOutcome::Learned(_)));
                    prop_assert_eq!(other.learn(&finished_games, again).unwrap(), outcomes);
                    last = if learned { 1 } else { last };
                }
                Step::Undo(count) if last >= count => {
                    prop_assert_eq!((keeper.undo(count).unwrap(), other.undo(count).unwrap()), (count, count));
                    last = 0;
                }
                Step::Undo(_) => {}
                Step::Reset => {
                    keeper.reset().unwrap();
                    other.reset().unwrap();
                    last = 0;
                }
            }
            prop_assert_eq!(whole.files().book, small.files().book);
            let (all, some) = (keeper.history(1).unwrap(), other.history(1).unwrap());
            prop_assert_eq!(all.count, some.count);
            prop_assert!(some.doubt.is_none());
        }
        let all: Vec<IdentifiedGame> = (0..60).map(game).collect();
        let outcomes = keeper.learn(&all, false).unwrap();
        prop_assert_eq!(others[0].learn(&all, false).unwrap(), outcomes);
    }
}
