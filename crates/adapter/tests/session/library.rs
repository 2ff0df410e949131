//! Books in memory for a session.

use std::sync::Arc;

use shakmaty::uci::UciMove;
use tabiya_adapter::session::{BookProblem, Output, Session};
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, Evaluations, open_bytes};
use tabiya_chess::{Game, Position};

/// A Polyglot book: each line is moves in UCI notation, then `=` and the weight of the last one, which need not be
/// legal.
pub fn polyglot(lines: &[&str]) -> Arc<dyn Book> {
    open_bytes("test.bin", polyglot_bytes(lines)).unwrap()
}

/// The bytes of such a book.
pub fn polyglot_bytes(lines: &[&str]) -> Vec<u8> {
    let mut entries: Vec<[u8; 16]> = lines.iter().map(|line| entry(line)).collect();
    entries.sort_by_key(|entry| entry[..8].to_vec());
    entries.concat()
}

fn entry(line: &str) -> [u8; 16] {
    let (moves, weight) = line.split_once('=').unwrap();
    let mut moves: Vec<&str> = moves.split_whitespace().collect();
    let last = moves.pop().unwrap();
    let mut game = Game::start();
    for mv in moves {
        assert!(game.push_uci(mv.as_bytes()), "{line}: {mv}");
    }
    let Ok(UciMove::Normal { from, to, promotion }) = last.parse() else { panic!("{last}") };
    let promotion = promotion.map_or(0, |role| u16::from(role) - 1);
    let mv = u16::from(to) | u16::from(from) << 6 | promotion << 12;
    let mut entry = [0; 16];
    entry[..8].copy_from_slice(&game.position().key().to_be_bytes());
    entry[8..10].copy_from_slice(&mv.to_be_bytes());
    entry[10..12].copy_from_slice(&weight.trim().parse::<u16>().unwrap().to_be_bytes());
    entry
}

/// Opens the books that a session asks for.
pub trait BookLoader {
    /// Opens the books of these lists; returns those that could be opened, and the problems with books.
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>);
}

/// A loader with one book of this name; all other names are missing.
pub struct OneBook {
    pub name: &'static str,
    pub book: Arc<dyn Book>,
    /// The evaluations beside it: moves from the start, and the value of the position after them for the side to move.
    pub values: &'static [(&'static str, i16)],
}

/// Evaluations by key.
struct Known(Vec<(u64, i16)>);

impl Evaluations for Known {
    fn value(&self, at: &Position) -> Option<i16> {
        self.0.iter().find(|(key, _)| *key == at.key()).map(|(_, value)| *value)
    }
}

impl BookLoader for OneBook {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let mut problems = Vec::new();
        let mut list = |list: &BookList| -> Vec<Arc<dyn Book>> {
            let mut books = Vec::new();
            for name in list.files() {
                if name == self.name {
                    books.push(Arc::clone(&self.book));
                } else {
                    problems.push(BookProblem { what: format!("{name}: no such book"), unopened: true });
                }
            }
            books
        };
        let (white, black, both) = (list(&files.white), list(&files.black), list(&files.both));
        let set = BookSet::new(&white, &black, &both);
        (set.with_evaluations([(Arc::clone(&self.book), known(self.values))]), problems)
    }
}

/// Evaluations of the positions after moves from the start, for the side to move.
pub fn known(values: &[(&str, i16)]) -> Arc<dyn Evaluations> {
    Arc::new(Known(values.iter().map(|(moves, value)| (key(moves), *value)).collect()))
}

/// The key of the position after these moves.
fn key(moves: &str) -> u64 {
    let mut game = Game::start();
    moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{moves}"));
    game.position().key()
}

/// Opens the books that the session asks for, and answers that no other process has played anything.
pub fn serve(loader: &dyn BookLoader, session: &mut Session, out: &mut Output) {
    while let Some(files) = out.open_books.take() {
        let (book_set, problems) = loader.open(&files);
        drop(session.books_opened(book_set, problems, out));
    }
    while std::mem::take(&mut out.reads_lines) {
        session.lines_read(out);
    }
}
