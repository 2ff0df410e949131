//! Games that were learned while they were played, and what files say of them.

use proptest::prelude::*;
use shakmaty::Color;

use super::disk::{Files, SimDisk};
use super::{book, compacting_to, field, finished};
use crate::{Compared, IdentifiedGame, LearnOutcome, Learner, Source, halfpoints, identity};

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

fn fresh() -> SimDisk {
    SimDisk::from_files(Files { book: book(&LINES), journal: None })
}

fn learner(disk: &SimDisk) -> Learner {
    Learner::over(Box::new(disk.clone()), "a.bin")
}

/// A game that was played, with this many half-points for White; the engine was not told `unseen` plies of it.
fn played(line: usize, side: &str, white: usize, guess: bool, unseen: usize) -> IdentifiedGame {
    let IdentifiedGame { mut game, .. } =
        finished("game 1 as White, won: by scores", LINES[line], side, white);
    game.moves.truncate(game.moves.len() - unseen);
    let id = identity::of_played(&game.start, &game.moves);
    game.said_by(if guess { Source::Scores } else { Source::Board }, id)
}

/// The game of this number in a file, with its result if it has one.
fn in_file(line: usize, number: usize, sides: &str, white: Option<usize>) -> IdentifiedGame {
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

/// What is done to a book.
#[derive(Clone, Debug)]
enum Step {
    Play { line: usize, side: bool, white: usize, guess: bool },
    Read { line: usize, number: usize, sides: usize, white: Option<usize> },
    Undo(u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3_usize, any::<bool>(), 0..3_usize, any::<bool>())
            .prop_map(|(line, side, white, guess)| Step::Play { line, side, white, guess }),
        (0..3_usize, 0..3_usize, 0..3_usize, prop::option::of(0..3_usize))
            .prop_map(|(line, number, sides, white)| Step::Read { line, number, sides, white }),
        (1..3_u32).prop_map(Step::Undo),
    ]
}

/// A side of a game in the model: of which line, with which result, and the identity in a file.
#[derive(Clone, Debug)]
struct Side {
    line: usize,
    color: Color,
    white: Option<usize>,
    guess: bool,
    /// Whether no file has had it.
    open: bool,
    file: Option<(usize, usize, Option<usize>)>,
}

/// The games of the model, each with its sides.
#[derive(Default)]
struct Model(Vec<Vec<Side>>);

impl Model {
    fn read(&mut self, line: usize, number: usize, sides: &str, white: Option<usize>) {
        let id = (line, number, white);
        let mut new = Vec::new();
        for (color, _) in
            [(Color::White, 'w'), (Color::Black, 'b')].into_iter().filter(|(_, c)| sides.contains(*c))
        {
            if self.0.iter().flatten().any(|side| side.color == color && side.file == Some(id)) {
                continue;
            }
            let is_its = |side: &&mut Side| {
                side.open && (side.line, side.color) == (line, color) && (white.is_some() || side.guess)
            };
            let mut known: Vec<&mut Side> = self.0.iter_mut().flatten().filter(is_its).collect();
            let right = known.iter().position(|side| side.white == white).unwrap_or(0);
            if let Some(side) = known.get_mut(right) {
                (side.open, side.file, side.white) = (false, Some(id), white);
            } else if white.is_some() {
                new.push(Side { line, color, white, guess: false, open: false, file: Some(id) });
            }
        }
        self.0.extend((!new.is_empty()).then_some(new));
    }

    fn undo(&mut self, mut count: u32) {
        while count > 0
            && let Some(game) = self.0.pop()
        {
            count -= u32::from(game.iter().any(|side| side.white.is_some()));
        }
    }

    /// Games and half-points of the first move of White on a line, and of Black's reply.
    fn field(&self, moves: &str) -> (u16, u16) {
        let color = if moves.contains(' ') { Color::Black } else { Color::White };
        let sides =
            self.0.iter().flatten().filter(|side| side.color == color && LINES[side.line].starts_with(moves));
        sides.filter_map(|side| side.white).fold((0, 0), |(games, points), white| {
            (games + 1, points + halfpoints(super::RESULTS[white], color))
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(60, 5000)))]

    #[test]
    fn the_book_is_what_was_played_read_and_taken_back(steps in prop::collection::vec(any_step(), 1..30)) {
        let disk = fresh();
        let mut model = Model::default();
        let mut live = learner(&disk);
        for step in steps {
            match step {
                Step::Play { line, side, white, guess } => {
                    let (sides, color) = if side { ("w", Color::White) } else { ("b", Color::Black) };
                    // Of one line, the engine is told everything or not the last move.
                    learn(&mut live, &played(line, sides, white, guess, usize::from(line == 0)));
                    model.0.push(vec![Side { line, color, white: Some(white), guess, open: true, file: None }]);
                }
                Step::Read { line, number, sides, white } => {
                    let sides = ["w", "b", "wb"][sides];
                    learn(&mut live, &in_file(line, number, sides, white));
                    model.read(line, number, sides, white);
                }
                Step::Undo(count) => {
                    live.undo(count).unwrap();
                    model.undo(count);
                }
            }
            let now = disk.files().book;
            for moves in ["e2e4", "d2d4", "e2e4 e7e5", "e2e4 c7c5", "d2d4 d7d5"] {
                prop_assert_eq!(field(&now, moves), model.field(moves), "{}", moves);
            }
        }
    }
}
