//! Games that wait for their book.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tabiya_base::lock::lock;

use super::finished;
use crate::{Source, Spool, Spooled};

const NOW: Duration = Duration::ZERO;

fn put(spool: &Spool, name: &str) {
    spool.put(&[(Path::new("a.bin"), None, &finished(name, "e2e4 e7e5", "w", 2))], NOW).unwrap();
}

/// All games that wait, batch by batch.
fn waiting(spool: &Spool) -> Vec<Spooled> {
    let mut games = Vec::new();
    let mut at = Some(0);
    while let Some(from) = at {
        let batch = spool.batch(from, NOW).unwrap();
        games.extend(batch.games);
        at = batch.next;
    }
    games
}

fn names(spool: &Spool) -> Vec<String> {
    waiting(spool).into_iter().map(|game| game.finished.game.note).collect()
}

#[test]
fn a_game_waits_until_it_is_learned() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("new").join("log.spool"));
    assert_eq!(names(&spool), [""; 0]);
    let mut games = [finished("one", "e2e4 e7e5", "w", 2), finished("two", "d2d4", "wb", 1)];
    games[0].source = Source::Scores;
    let print = Some([7; 32]);
    let one = spool.put(&[(Path::new("a.bin"), print, &games[0])], NOW).unwrap();
    let two: Vec<_> = ["a.bin", "b.bin"].iter().map(|book| (Path::new(book), None, &games[1])).collect();
    let two = spool.put(&two, NOW).unwrap();
    assert_eq!((one.len(), two.len()), (1, 2));
    let found = waiting(&spool);
    for (game, spooled) in [0, 1, 1].into_iter().zip(&found) {
        let game = &games[game];
        assert_eq!((spooled.finished.id, &spooled.finished.game.moves), (game.id, &game.game.moves));
        assert_eq!(spooled.finished.source, game.source);
        assert_eq!(
            (spooled.finished.game.sides, spooled.finished.game.result),
            (game.game.sides, game.game.result)
        );
        assert!(spooled.book.file.is_absolute());
    }
    assert_eq!((found[0].book.fingerprint, found[1].book.fingerprint), (print, None));
    assert!(found[1].book.file.ends_with("a.bin") && found[2].book.file.ends_with("b.bin"));
    assert_eq!([&found[0].place, &found[1].place, &found[2].place], [&one[0], &two[0], &two[1]]);
    spool.cross_out(&one, NOW).unwrap();
    assert_eq!(names(&spool), ["two", "two"]);
    spool.cross_out(&two, NOW).unwrap();
    assert_eq!(fs::read(spool.path()).unwrap(), b"");
}

#[test]
fn a_line_that_was_never_whole_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    put(&spool, "one");
    let whole = fs::read(spool.path()).unwrap();
    for cut in 0..whole.len() {
        fs::write(spool.path(), &whole[..cut]).unwrap();
        put(&spool, "two");
        // Where only the line's end is missing the game is whole.
        let all = if cut + 1 == whole.len() { vec!["one", "two"] } else { vec!["two"] };
        assert_eq!(names(&spool), all, "{cut}");
        let found = waiting(&spool);
        spool.cross_out(found.iter().map(|game| &game.place), NOW).unwrap();
        assert_eq!(fs::read(spool.path()).unwrap(), b"", "{cut}");
        let mut changed = whole.clone();
        changed[cut] ^= 1;
        fs::write(spool.path(), &changed).unwrap();
        assert_eq!(names(&spool), [""; 0], "{cut}");
    }
}

#[test]
fn a_line_that_is_no_longer_in_its_place_is_not_crossed_out() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    put(&spool, "one");
    let old = waiting(&spool);
    fs::write(spool.path(), "").unwrap();
    put(&spool, "two");
    spool.cross_out([&old[0].place], NOW).unwrap();
    assert_eq!(names(&spool), ["two"]);
}

#[test]
fn many_games_are_read_in_batches_and_their_space_is_freed() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    let note = "x".repeat(200);
    let finished_games: Vec<_> =
        (0..2000).map(|number| finished(&format!("{number} {note}"), "e2e4", "w", 2)).collect();
    let games: Vec<_> = finished_games.iter().map(|game| (Path::new("a.bin"), None, game)).collect();
    spool.put(&games, NOW).unwrap();
    let first = spool.batch(0, NOW).unwrap();
    assert!(first.games.len() < 100 && first.next.is_some());
    let number =
        |game: &Spooled| game.finished.game.note.split(' ').next().unwrap().parse::<usize>().unwrap();
    let all = waiting(&spool);
    assert_eq!(all.iter().map(number).collect::<Vec<_>>(), (0..2000).collect::<Vec<_>>());
    // Only every seventh still waits.
    let len = fs::metadata(spool.path()).unwrap().len();
    spool.cross_out(all.iter().filter(|game| number(game) % 7 > 0).map(|game| &game.place), NOW).unwrap();
    assert_eq!(fs::metadata(spool.path()).unwrap().len(), len);
    spool.tidy(NOW).unwrap();
    assert!(fs::metadata(spool.path()).unwrap().len() < len / 6);
    let rest = waiting(&spool);
    assert_eq!(rest.iter().map(number).collect::<Vec<_>>(), (0..2000).step_by(7).collect::<Vec<_>>());
    spool.cross_out(rest.iter().map(|game| &game.place), NOW).unwrap();
    spool.tidy(NOW).unwrap();
    assert_eq!(fs::metadata(spool.path()).unwrap().len(), 0);
}

#[test]
fn a_spool_that_another_process_locks_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    put(&spool, "one");
    let places = [waiting(&spool).remove(0).place];
    let file = fs::File::options().write(true).open(spool.path()).unwrap();
    let _kept = lock(file, NOW).unwrap().unwrap();
    let game = finished("two", "e2e4", "w", 2);
    assert!(spool.put(&[(Path::new("a.bin"), None, &game)], NOW).is_err());
    assert!(spool.batch(0, NOW).is_err() && spool.cross_out(&places, NOW).is_err());
    assert!(spool.tidy(NOW).is_err());
}
