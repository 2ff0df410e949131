use std::fs;

use shakmaty::{ByColor, Chess, Color, KnownOutcome, Position as _, Square};

use super::*;
use crate::book;
use crate::book::polyglot::layout::{Entry, RawMove};
use crate::chess::Position;
use crate::learn::Lesson;

/// A game of one move, played from this book.
fn taught(book: &Path) -> Box<Taught> {
    let e4 = shakmaty::Move::Normal {
        role: shakmaty::Role::Pawn,
        from: Square::E2,
        capture: None,
        to: Square::E4,
        promotion: None,
    };
    assert!(Chess::default().is_legal(e4));
    let lesson = Lesson {
        id: rand::random(),
        start: Position::start(),
        moves: vec![e4],
        first: 0,
        sides: ByColor { white: true, black: false },
        outcome: KnownOutcome::Decisive { winner: Color::White },
        note: "game 1".to_owned(),
    };
    let source = Source::new(&book::open(book).unwrap());
    assert!(source.fingerprint().is_some());
    Box::new(Taught { sources: Arc::new([source]), lesson, verdict: String::new() })
}

fn entry(weight: u16) -> [u8; 16] {
    let mv = RawMove::new(Square::E2, Square::E4, None);
    Entry { key: Position::start().key(), mv, weight, games: 0, halfpoints: 0 }.to_bytes()
}

/// The learn field of a book of one entry.
fn field(book: &Path) -> [u8; 4] {
    *fs::read(book).unwrap().last_chunk().unwrap()
}

/// A folder with a book, and the place of a spool.
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
    fn game(&self) -> Game {
        keep(*taught(&self.book), Some(self.spool.clone())).0
    }

    fn waiting(&self) -> usize {
        Spool::new(&self.spool).batch(0, PATIENCE).unwrap().games.len()
    }
}

fn to_learn(game: Game) -> Work {
    Work::Learn(Box::new(game))
}

/// Learns all that comes, as the thread does; returns what was reported.
fn learn(desk: &mut Desk, works: impl IntoIterator<Item = Work>) -> Vec<String> {
    let (sender, taken) = channel();
    works.into_iter().for_each(|work| sender.send(work).unwrap());
    drop(sender);
    let told = Mutex::new(Vec::new());
    learn_all(&taken, desk, |level, message| told.lock().unwrap().push(format!("{level} {message}")));
    told.into_inner().unwrap()
}

fn desk() -> Desk {
    Desk::new(Games::default())
}

#[test]
fn a_game_is_in_the_spool_before_it_is_learned() {
    let place = Place::new();
    let game = place.game();
    assert_eq!((place.waiting(), field(&place.book)), (1, [0; 4]));
    let told = learn(&mut desk(), [to_learn(game)]);
    assert!(told[0].starts_with("INFO game 1: learned: 1 entry of "), "{told:?}");
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    assert_eq!(fs::metadata(&place.spool).unwrap().len(), 0);
}

#[test]
fn a_book_under_two_names_learns_a_game_once() {
    let place = Place::new();
    let other = place.folder.path().join("b.bin");
    fs::hard_link(&place.book, &other).unwrap();
    let mut taught = *taught(&place.book);
    let sources = [&place.book, &other].map(|path| Source::new(&book::open(path).unwrap()));
    taught.sources = Arc::new(sources);
    let game = keep(taught, Some(place.spool.clone())).0;
    let told = learn(&mut desk(), [Work::Learn(Box::new(game))]);
    assert!(!told.iter().any(|line| line.contains("no move of it")), "{told:?}");
    assert!(told[0].starts_with("INFO game 1: learned: 1 entry of "), "{told:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[test]
fn a_process_that_dies_before_it_learns_leaves_the_game_to_the_next() {
    let place = Place::new();
    drop(place.game());
    let resume = || Work::Resume(vec![place.spool.clone()]);
    let told = learn(&mut desk(), [resume()]);
    assert!(told[0].starts_with("INFO games kept earlier and learned now into "), "{told:?}");
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    assert_eq!(learn(&mut desk(), [resume()]), [""; 0]);
}

#[test]
fn a_game_that_was_learned_and_not_crossed_out_is_learned_once() {
    let place = Place::new();
    let game = place.game();
    let line = fs::read(&place.spool).unwrap();
    learn(&mut desk(), [to_learn(game)]);
    fs::write(&place.spool, line).unwrap();
    let resume = Work::Resume(vec![place.spool.clone()]);
    learn(&mut desk(), [resume]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[test]
fn a_game_that_is_about_to_be_learned_is_left_out_where_its_spool_is_gone_through() {
    let place = Place::new();
    let games = Games::default();
    let game = place.game();
    games.add(game.lesson.id);
    games.keep(&place.spool);
    let mut desk = Desk::new(games.clone());
    let resume = || Work::Resume(vec![place.spool.clone()]);
    assert_eq!(learn(&mut desk, [resume()]), [""; 0]);
    assert_eq!(place.waiting(), 1);
    let told = learn(&mut desk, [to_learn(game), resume()]);
    assert!(told.len() == 1 && told[0].contains("learned: 1 entry"), "{told:?}");
    // Another process may be faster.
    let game = place.game();
    learn(&mut Desk::new(Games::default()), [resume()]);
    let told = learn(&mut desk, [to_learn(game)]);
    assert!(told[0].contains("learned: by another tabiya"), "{told:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 2, 0, 4], 0));
}

#[test]
fn what_cannot_be_learned_is_kept_and_learned_when_it_can_be() {
    let place = Place::new();
    let away = place.folder.path().join("b.bin");
    let mut desk = desk();
    let game = place.game();
    fs::rename(&place.book, &away).unwrap();
    let told = learn(&mut desk, [to_learn(game)]);
    assert!(told[0].contains("WARN game 1: not learned yet, kept in "), "{told:?}");
    let told = learn(&mut desk, [Work::Resume(vec![place.spool.clone()])]);
    assert!(told[0].contains("cannot be learned yet"), "{told:?}");
    fs::rename(&away, &place.book).unwrap();
    // The next game of the book brings it along.
    let told = learn(&mut desk, [to_learn(place.game())]);
    assert!(told[0].contains("learned: 1 entry of "), "{told:?}");
    assert!(told[1].contains("games kept earlier and learned now into "), "{told:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0, 2, 0, 4], 0));
}

#[test]
fn a_game_is_not_learned_into_another_book_than_it_was_played_from() {
    let place = Place::new();
    let game = place.game();
    fs::write(place.folder.path().join("new.bin"), entry(2)).unwrap();
    let away = place.folder.path().join("old.bin");
    fs::rename(&place.book, &away).unwrap();
    fs::rename(place.folder.path().join("new.bin"), &place.book).unwrap();
    let told = learn(&mut desk(), [to_learn(game)]);
    assert!(told[0].contains("kept in") && told[0].contains("another book than the one"), "{told:?}");
    assert_eq!((field(&place.book), place.waiting()), ([0; 4], 1));
    assert!(!crate::learn::has_journal(&place.book));
    // A game of the new book does not take it along.
    learn(&mut desk(), [to_learn(place.game()), Work::Resume(vec![place.spool.clone()])]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 1));
    fs::remove_file(place.folder.path().join("a.bin.learn")).unwrap();
    fs::rename(&away, &place.book).unwrap();
    learn(&mut desk(), [Work::Resume(vec![place.spool.clone()])]);
    assert_eq!((field(&place.book), place.waiting()), ([0, 1, 0, 2], 0));
}

#[cfg(unix)]
#[test]
fn a_link_that_is_pointed_elsewhere_leads_to_the_book_of_the_game() {
    let place = Place::new();
    let other = place.folder.path().join("other.bin");
    let link = place.folder.path().join("link.bin");
    fs::write(&other, entry(1)).unwrap();
    std::os::unix::fs::symlink(&place.book, &link).unwrap();
    let game = taught(&link);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    learn(&mut desk(), [to_learn(keep(*game, Some(place.spool.clone())).0)]);
    assert_eq!((field(&place.book), field(&other)), ([0, 1, 0, 2], [0; 4]));
}

#[test]
fn a_spool_that_cannot_be_written_does_not_lose_the_game() {
    let place = Place::new();
    let blocked = place.book.join("log.spool");
    let told = learn(&mut desk(), [to_learn(keep(*taught(&place.book), Some(blocked.clone())).0)]);
    assert!(told[0].contains("INFO game 1: learned: 1 entry"), "{told:?}");
    assert!(told[1].contains("WARN game 1: learned, but not kept before: "), "{told:?}");
    assert_eq!(field(&place.book), [0, 1, 0, 2]);
    let (game, _) = keep(*taught(&place.book), Some(blocked));
    fs::remove_file(&place.book).unwrap();
    let told = learn(&mut desk(), [to_learn(game)]);
    assert!(told[0].starts_with("ERROR game 1: not learned: "), "{told:?}");
    assert!(told[0].contains("; nor kept: "), "{told:?}");
}

#[test]
fn new_games_are_learned_before_those_of_a_long_spool() {
    let place = Place::new();
    for _ in 0..200 {
        drop(place.game());
    }
    let told = learn(&mut desk(), [Work::Resume(vec![place.spool.clone()]), to_learn(place.game())]);
    assert!(told[0].contains("game 1: learned: 1 entry"), "{told:?}");
    // At the end only the first games of the spool are learned; the rest is left to the next process.
    let learned = field(&place.book)[1];
    assert!((60..70).contains(&learned), "{learned}");
    while place.waiting() > 0 {
        learn(&mut desk(), [Work::Resume(vec![place.spool.clone()])]);
    }
    assert_eq!(field(&place.book)[1], 201);
}

#[test]
fn the_end_waits_for_games_but_not_for_ever() {
    let games = Games::default();
    let (_going_on, learned) = channel();
    for number in 0..3 {
        games.add([number; 16]);
    }
    games.keep(Path::new("log.spool"));
    games.keep(Path::new("log.spool"));
    let told = Ending { kept: None, learned, games, times: [Duration::ZERO; 2] }.wait();
    assert_eq!(told[0].0, Level::Warn);
    assert!(told[0].1.starts_with("2 games could not be learned in 0 s, are kept in log.spool"), "{told:?}");
    assert_eq!(told[1].0, Level::Error);
}

#[test]
fn two_games_of_the_same_moves_are_two_games() {
    let place = Place::new();
    let mut desk = desk();
    assert_eq!(learn(&mut desk, [to_learn(place.game()), to_learn(place.game())]).len(), 2);
    learn(&mut desk, [to_learn(place.game())]);
    assert_eq!(field(&place.book), [0, 3, 0, 6]);
}

#[test]
fn the_spool_is_beside_the_log() {
    let path = spool_path("some/log.txt").unwrap();
    assert!(path.is_absolute() && path.ends_with("some/log.txt.spool"), "{path:?}");
    assert_eq!(spool_paths("some/log.txt")[0], path);
    assert_eq!(spool_paths(""), Vec::from_iter(spool_path("")));
}
