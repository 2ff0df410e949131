//! Games that wait for their book.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::lesson;
use crate::learn::{Spool, lock};

const NOW: Duration = Duration::ZERO;

fn names(spool: &Spool, learn: impl Fn(&str) -> bool) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let waiting = spool.drain(NOW, |spooled| {
        assert!(spooled.book.ends_with("a.bin"));
        names.push(spooled.lesson.note.clone());
        learn(&spooled.lesson.note)
    });
    (names, waiting.unwrap())
}

#[test]
fn a_game_waits_until_it_is_learned() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("new").join("log.spool"));
    assert_eq!(names(&spool, |_| true), (vec![], 0));
    let games = [lesson("one", "e2e4 e7e5", "w", 2), lesson("two", "d2d4", "wb", 1)];
    for game in &games {
        spool.put(Path::new("a.bin"), game, NOW).unwrap();
    }
    spool
        .drain(NOW, |spooled| {
            let game = games.iter().find(|game| game.note == spooled.lesson.note).unwrap();
            assert_eq!((spooled.lesson.id, &spooled.lesson.moves), (game.id, &game.moves));
            assert_eq!((spooled.lesson.sides, spooled.lesson.outcome), (game.sides, game.outcome));
            assert!(spooled.book.is_absolute());
            false
        })
        .unwrap();
    assert_eq!(names(&spool, |name| name == "one"), (vec!["one".into(), "two".into()], 1));
    assert_eq!(names(&spool, |_| true), (vec!["two".into()], 0));
    assert_eq!(fs::read(spool.path()).unwrap(), b"");
}

#[test]
fn a_line_that_was_never_whole_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    spool.put(Path::new("a.bin"), &lesson("one", "e2e4", "w", 2), NOW).unwrap();
    let whole = fs::read(spool.path()).unwrap();
    for cut in 0..whole.len() {
        fs::write(spool.path(), &whole[..cut]).unwrap();
        spool.put(Path::new("a.bin"), &lesson("two", "d2d4", "w", 2), NOW).unwrap();
        // Where only the line's end is missing the game is whole.
        let all = if cut + 1 == whole.len() { vec!["one", "two"] } else { vec!["two"] };
        let waiting = all.len();
        assert_eq!(
            names(&spool, |_| false),
            (all.into_iter().map(str::to_owned).collect(), waiting),
            "{cut}"
        );
        let mut changed = whole.clone();
        changed[cut] ^= 1;
        fs::write(spool.path(), &changed).unwrap();
        assert_eq!(names(&spool, |_| false), (vec![], 0), "{cut}");
    }
}

#[test]
fn a_spool_that_another_keeps_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("spool"));
    let game = lesson("one", "e2e4", "w", 2);
    spool.put(Path::new("a.bin"), &game, NOW).unwrap();
    let file = fs::File::options().write(true).open(spool.path()).unwrap();
    let _kept = lock(file, NOW).unwrap().unwrap();
    assert!(spool.put(Path::new("a.bin"), &game, NOW).is_err());
    assert!(spool.drain(NOW, |_| true).is_err());
}
