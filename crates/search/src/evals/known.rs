//! The stores beside books, as the choice of a move asks them.

use std::sync::Arc;

use tabiya_base::error::Error;
use tabiya_book::Evaluations;
use tabiya_book::traits::Book;
use tabiya_chess::value::{centipawns, mate};
use tabiya_chess::{Position, Value};
use tabiya_uci::Score;

use super::{Store, beside};

impl Evaluations for Store {
    fn value(&self, at: &Position) -> Option<Value> {
        self.get(at).map(|evaluation| value(evaluation.score))
    }
}

/// The value of a score, for the same side.
pub fn value(score: Score) -> Value {
    match score {
        Score::Centipawns(score) => centipawns(score),
        Score::Mate(moves) => mate(moves),
    }
}

/// A book with the evaluations beside it.
pub type Evaluated = (Arc<dyn Book>, Arc<dyn Evaluations>);

/// Opens the stores beside these books; returns those that exist, each with its book, and why others cannot be opened.
pub fn open_beside(books: &[Arc<dyn Book>]) -> (Vec<Evaluated>, Vec<Error>) {
    let (mut opened, mut failed) = (Vec::new(), Vec::new());
    for book in books {
        let path = beside(book.path());
        // A link to nothing is reported.
        if path.symlink_metadata().is_err() {
            continue;
        }
        match Store::open(&path) {
            Ok(store) => {
                let store: Arc<dyn Evaluations> = Arc::new(store);
                opened.push((Arc::clone(book), store));
            }
            Err(error) => failed.push(error),
        }
    }
    (opened, failed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use tabiya_chess::{MoveCode, Packed};

    use super::*;
    use crate::evals::{Appender, Evaluation};

    #[test]
    fn the_stores_that_exist_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let paths =
            ["with.bin", "without.bin", "broken.bin", "blank.bin"].map(|name| folder.path().join(name));
        for path in &paths {
            fs::copy("../book/books/starter.bin", path).unwrap();
        }
        let mut appender = Appender::open(beside(&paths[0])).unwrap();
        let engine = appender.engine("one");
        let evaluation = Evaluation {
            score: Score::Mate(-3),
            depth: 1,
            nodes: 1,
            wdl: None,
            engine,
            best: MoveCode::NULL,
        };
        let start = Position::start();
        appender.append(&[(Packed::strict(&start).unwrap(), evaluation)]).unwrap();
        fs::write(beside(&paths[2]), "no store at all, but long enough to be taken for a header of it")
            .unwrap();
        fs::write(beside(&paths[3]), "").unwrap();
        let books: Vec<_> = paths.iter().map(|path| tabiya_book::open_book(path).unwrap()).collect();
        let (opened, failed) = open_beside(&books);
        let names: Vec<_> = opened.iter().map(|(book, _)| book.path()).collect();
        assert_eq!(names, [&paths[0], &paths[3]]);
        assert_eq!(opened[0].1.value(&start), Some(mate(-3)));
        assert_eq!(opened[1].1.value(&start), None);
        assert!(failed.len() == 1 && failed[0].to_string().contains("broken.bin.evals"), "{failed:?}");
    }
}
