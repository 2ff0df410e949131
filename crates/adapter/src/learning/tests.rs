use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use shakmaty::{ByColor, Color, KnownOutcome, Move, Role, Square};

use tabiya_book as book;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::{MoveCode, Position};
use tabiya_learn::{FinishedGame, Source};

use super::*;

/// A game of one move, played from this book.
fn played(book: &Path) -> PlayedGame {
    let (from, to) = (Square::E2, Square::E4);
    let e4 = Move::Normal { role: Role::Pawn, from, capture: None, to, promotion: None };
    let game = FinishedGame {
        start: Position::start(),
        moves: vec![e4],
        first: 0,
        sides: ByColor { white: true, black: false },
        result: KnownOutcome::Decisive { winner: Color::White },
        note: "game 1".to_owned(),
    };
    let source = LearnableBook::new(&book::open_book(book).unwrap());
    assert!(source.fingerprint().is_some());
    PlayedGame { sources: Arc::new([source]), game, source: Source::Scores, verdict: String::new() }
}

/// Writes a game to a spool.
fn keep_in(played: &PlayedGame, spool: &Path) -> SpooledGame {
    let game = played.game.clone();
    let id = identity::of_played(&game.start, &game.moves);
    let game = game.said_by(played.source, id);
    keep(Arc::clone(&played.sources), game, Some(spool.to_owned()))
}

fn entry(weight: u16) -> [u8; 16] {
    let mv = MoveCode::new(Square::E2, Square::E4, None);
    PolyglotEntry { key: Position::start().key(), mv, weight, games: 0, halfpoints: 0 }.to_bytes()
}

/// The learn field of a book of one entry.
fn field(book: &Path) -> [u8; 4] {
    *fs::read(book).unwrap().last_chunk().unwrap()
}

/// A folder with a book and a spool.
struct Place {
    folder: tempfile::TempDir,
    book: PathBuf,
    spool: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (book, spool) = (folder.path().join("a.bin"), folder.path().join("log.spool"));
        fs::write(&book, entry(1)).unwrap();
        Self { folder, book, spool }
    }

    /// A game, in the spool.
    fn game(&self) -> SpooledGame {
        keep_in(&played(&self.book), &self.spool)
    }

    fn waiting(&self) -> usize {
        Spool::new(&self.spool).batch(0, PATIENCE).unwrap().games.len()
    }
}

fn to_learn(game: SpooledGame) -> Work {
    Work::Learn(Box::new(game))
}

/// Does this work, as the thread does; returns the messages.
fn learn(worker: &mut Worker, works: impl IntoIterator<Item = Work>) -> Vec<String> {
    let (sender, taken) = channel();
    works.into_iter().for_each(|work| sender.send(work).unwrap());
    drop(sender);
    let messages = Mutex::new(Vec::new());
    learn_all(&taken, worker, |level, message| messages.lock().unwrap().push(format!("{level} {message}")));
    messages.into_inner().unwrap()
}

fn worker() -> Worker {
    Worker::new(OpenGames::default())
}

#[test]
fn a_game_is_in_the_spool_before_it_is_learned() {
    let place = Place::new();
    let game = place.game();
    assert_eq!((place.waiting(), field(&place.book)), (1, [0; 4]));
    let messages = learn(&mut worker(), [to_learn(game)]);
    assert!(messages[0].starts_with("INFO game 1: learned: 1 entry of "), "{messages:?}");
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    assert_eq!(fs::metadata(&place.spool).unwrap().len(), 0);
}

#[test]
fn a_book_under_two_names_learns_a_game_once() {
    let place = Place::new();
    let other = place.folder.path().join("b.bin");
    fs::hard_link(&place.book, &other).unwrap();
    let mut game = played(&place.book);
    let sources = [&place.book, &other].map(|path| LearnableBook::new(&book::open_book(path).unwrap()));
    game.sources = Arc::new(sources);
    let game = keep_in(&game, &place.spool);
    let messages = learn(&mut worker(), [Work::Learn(Box::new(game))]);
    assert!(!messages.iter().any(|line| line.contains("none of its moves")), "{messages:?}");
    assert!(messages[0].starts_with("INFO game 1: learned: 1 entry of "), "{messages:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[test]
fn a_process_that_dies_before_it_learns_leaves_the_game_to_the_next() {
    let place = Place::new();
    drop(place.game());
    let resume = || Work::Resume(vec![place.spool.clone()]);
    let messages = learn(&mut worker(), [resume()]);
    assert!(messages[0].starts_with("INFO games kept earlier, learned now into "), "{messages:?}");
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    assert_eq!(learn(&mut worker(), [resume()]), [""; 0]);
    // What was guessed is still a guess.
    let history = tabiya_learn::Learner::new(&place.book).unwrap().history(9).unwrap();
    assert_eq!((history.count, history.guesses), (1, 1));
}

#[test]
fn a_game_that_was_learned_and_not_crossed_out_is_learned_once() {
    let place = Place::new();
    let game = place.game();
    let line = fs::read(&place.spool).unwrap();
    learn(&mut worker(), [to_learn(game)]);
    fs::write(&place.spool, line).unwrap();
    let resume = Work::Resume(vec![place.spool.clone()]);
    learn(&mut worker(), [resume]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[test]
fn a_new_game_is_left_out_when_its_spool_is_resumed() {
    let place = Place::new();
    let games = OpenGames::default();
    let game = place.game();
    games.add(game.finished.id);
    games.keep(game.finished.id, &place.spool);
    let mut worker = Worker::new(games.clone());
    let resume = || Work::Resume(vec![place.spool.clone()]);
    assert_eq!(learn(&mut worker, [resume()]), [""; 0]);
    assert_eq!(place.waiting(), 1);
    let messages = learn(&mut worker, [to_learn(game), resume()]);
    assert!(messages.len() == 1 && messages[0].contains("learned: 1 entry"), "{messages:?}");
    // Another process may be faster.
    let game = place.game();
    learn(&mut Worker::new(OpenGames::default()), [resume()]);
    let messages = learn(&mut worker, [to_learn(game)]);
    assert!(messages[0].contains("learned: already by another tabiya"), "{messages:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 2, 0, 4], 0));
}

#[test]
fn a_game_that_cannot_be_learned_is_kept_and_learned_later() {
    let place = Place::new();
    let away = place.folder.path().join("b.bin");
    let mut worker = worker();
    let game = place.game();
    fs::rename(&place.book, &away).unwrap();
    let messages = learn(&mut worker, [to_learn(game)]);
    assert!(messages[0].contains("WARN game 1: not learned yet, kept in "), "{messages:?}");
    let messages = learn(&mut worker, [Work::Resume(vec![place.spool.clone()])]);
    assert!(messages[0].contains("cannot be learned yet"), "{messages:?}");
    fs::rename(&away, &place.book).unwrap();
    // The next game of the book has it learned too.
    let messages = learn(&mut worker, [to_learn(place.game())]);
    assert!(messages[0].contains("learned: 1 entry of "), "{messages:?}");
    assert!(messages[1].contains("games kept earlier, learned now into "), "{messages:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 2, 0, 4], 0));
}

#[test]
fn a_game_is_learned_only_into_the_book_that_it_was_played_from() {
    let place = Place::new();
    let game = place.game();
    fs::write(place.folder.path().join("new.bin"), entry(2)).unwrap();
    let away = place.folder.path().join("old.bin");
    fs::rename(&place.book, &away).unwrap();
    fs::rename(place.folder.path().join("new.bin"), &place.book).unwrap();
    let messages = learn(&mut worker(), [to_learn(game)]);
    assert!(messages[0].contains("kept in") && messages[0].contains("not the book that"), "{messages:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0; 4], 1));
    assert!(!tabiya_learn::has_journal(&place.book));
    // A game of the new book does not have it learned.
    learn(&mut worker(), [to_learn(place.game()), Work::Resume(vec![place.spool.clone()])]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 1));
    fs::remove_file(place.folder.path().join("a.bin.learn")).unwrap();
    fs::rename(&away, &place.book).unwrap();
    learn(&mut worker(), [Work::Resume(vec![place.spool.clone()])]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[cfg(unix)]
#[test]
fn a_game_is_learned_into_its_book_after_the_link_has_changed() {
    let place = Place::new();
    let other = place.folder.path().join("other.bin");
    let link = place.folder.path().join("link.bin");
    fs::write(&other, entry(1)).unwrap();
    std::os::unix::fs::symlink(&place.book, &link).unwrap();
    let game = played(&link);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    learn(&mut worker(), [to_learn(keep_in(&game, &place.spool))]);
    assert_eq!((field(&place.book), field(&other)), ([0, 1, 0, 2], [0; 4]));
}

#[test]
fn a_spool_that_cannot_be_written_does_not_lose_the_game() {
    let place = Place::new();
    let blocked = place.book.join("log.spool");
    let messages = learn(&mut worker(), [to_learn(keep_in(&played(&place.book), &blocked))]);
    assert!(messages[0].contains("INFO game 1: learned: 1 entry"), "{messages:?}");
    assert!(
        messages[1].contains("WARN game 1: learned, but could not be kept on disk first: "),
        "{messages:?}"
    );
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    let game = keep_in(&played(&place.book), &blocked);
    fs::rename(&place.book, place.folder.path().join("away.bin")).unwrap();
    let messages = learn(&mut worker(), [to_learn(game)]);
    assert!(messages[0].starts_with("ERROR game 1: not learned: "), "{messages:?}");
    assert!(messages[0].contains("; not kept either: "), "{messages:?}");
}

#[test]
fn new_games_are_learned_before_those_of_a_long_spool() {
    let place = Place::new();
    for _ in 0..200 {
        drop(place.game());
    }
    let messages = learn(&mut worker(), [Work::Resume(vec![place.spool.clone()]), to_learn(place.game())]);
    assert!(messages[0].contains("game 1: learned: 1 entry"), "{messages:?}");
    // At the end only the first games of the spool are learned; the rest is left to the next process.
    let learned = field(&place.book)[1];
    assert!((60..70).contains(&learned), "{learned}");
    while place.waiting() > 0 {
        learn(&mut worker(), [Work::Resume(vec![place.spool.clone()])]);
    }
    assert_eq!(field(&place.book)[1], 201);
}

#[test]
fn the_end_waits_for_games_but_not_forever() {
    let games = OpenGames::default();
    let going_on = TaskThread::start("test", |tasks: Receiver<()>| tasks.into_iter().for_each(drop)).unwrap();
    let (_sender, learned) = (going_on.sender(), going_on.close());
    for number in 0..3 {
        games.add([number; 16]);
    }
    games.keep([0; 16], Path::new("log.spool"));
    games.keep([1; 16], Path::new("log.spool"));
    let messages =
        Ending { kept: None, learned, games, keep_time: Duration::ZERO, learn_time: Duration::ZERO }.wait();
    assert_eq!(messages[0].0, Level::Warn);
    assert!(
        messages[0].1.starts_with("2 games could not be learned in 0 s, are kept in log.spool"),
        "{messages:?}"
    );
    assert_eq!(messages[1].0, Level::Error);
}

#[test]
fn two_games_of_the_same_moves_are_two_games() {
    let (place, mut learning) = (Place::new(), Learning::default());
    let report: ReportMessage = Arc::new(|_, _| {});
    for _ in 0..3 {
        learning.learn(played(&place.book), Some(place.spool.clone()), &report);
    }
    let long = Duration::from_secs(600);
    assert_eq!(Ending { keep_time: long, learn_time: long, ..learning.end().unwrap() }.wait(), []);
    assert_eq!((field(&place.book), place.waiting()), ([0, 3, 0, 6], 0));
}

#[test]
fn the_spool_is_beside_the_log() {
    let path = spool_path("some/log.txt").unwrap();
    assert!(path.is_absolute() && path.ends_with("some/log.txt.spool"), "{path:?}");
    assert_eq!(spool_paths("some/log.txt")[0], path);
    assert_eq!(spool_paths(""), Vec::from_iter(spool_path("")));
}
