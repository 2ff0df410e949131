//! Any bytes from both sides, cut anywhere: nothing panics, the engine is never given a `go` in a search or a `stop`
//! without one, no `go` is answered twice, and a book move is legal where it was asked for.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use tabiya_adapter::session::{BookProblem, Output, Session};
use tabiya_adapter::settings::options::Options;
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, starter_book as starter};
use tabiya_uci::{Command, Go, LinePiece, LineSplitter, Reply, words};

/// The longest line that is kept, small enough for the fuzzer to pass it.
const MAX_LINE: usize = 300;

struct Starter(Arc<dyn Book>);

impl Starter {
    /// Opens the books that the session wants.
    fn serve(&self, session: &mut Session, out: &mut Output) {
        while let Some(files) = out.open_books.take() {
            let missing = files.both.files().iter();
            let missing =
                missing.map(|name| BookProblem { what: format!("{name}: no such book"), unopened: true });
            let book_set = BookSet::new(&[], &[], &[Arc::clone(&self.0)]);
            drop(session.books_opened(book_set, missing.collect(), out));
        }
    }
}

/// What both sides know.
#[derive(Default)]
struct World {
    searching: bool,
    /// It was told to count moves, which it may take for a search.
    counts: bool,
    /// Lines in parts cannot be followed; after one only the absence of panics is tested.
    lost: bool,
    asked: usize,
    answered: usize,
}

impl World {
    fn see(&mut self, out: &mut Output) {
        let engine = std::mem::take(&mut out.engine);
        let gui = std::mem::take(&mut out.gui);
        out.notes.clear();
        out.finished.clear();
        out.log_to = None;
        if self.lost {
            return;
        }
        for line in engine.split(|byte| *byte == b'\n') {
            let (command, _, rest) = Command::parse(line);
            match command {
                Command::Go if Go::parse(rest).perft => self.counts = true,
                Command::Go => {
                    assert!(!self.searching, "go in a search");
                    self.searching = true;
                }
                Command::Stop => assert!(self.searching || self.counts, "stop without a search"),
                _ => {}
            }
        }
        let mut in_book = false;
        for line in gui.split(|byte| *byte == b'\n') {
            in_book |=
                line.starts_with(b"info depth 0 seldepth 0 multipv 1 score cp 0 nodes 0 nps 0 time 0 pv ");
            if Reply::parse(line) == Reply::BestMove {
                self.answered += 1;
                self.answered -= usize::from(self.answered > self.asked && std::mem::take(&mut self.counts));
                assert!(self.answered <= self.asked, "a bestmove that nobody asked for");
                if std::mem::take(&mut in_book) {
                    let best = words(line).nth(1).unwrap_or_default();
                    assert!(UciMove::from_ascii(best).is_ok(), "the book said {best:?}");
                }
            }
        }
    }
}

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let Ok(book) = starter() else { return };
    let mut out = Output::default();
    let mut options = Options { seed: 1, ..Options::default() };
    options.policy.learn = true;
    // Half of the inputs check the book's moves.
    if data.len().is_multiple_of(2) {
        (options.policy.max_loss, options.policy.guard) = (30, 500);
    }
    let settings = vec![("Hash".to_owned(), "1".to_owned())];
    let library = Starter(book);
    let mut session = Session::new(options, settings, &mut out);
    library.serve(&mut session, &mut out);
    let mut world = World::default();
    let (mut from_gui, mut from_engine) = (LineSplitter::new(MAX_LINE), LineSplitter::new(MAX_LINE));
    // A byte of 0x80 and above hands the word to the other side; 0xff ends the engine.
    let mut gui_speaks = true;
    let mut now = Duration::ZERO;
    for block in data.split_inclusive(|byte| *byte >= 0x80) {
        let (text, mark) = match block.split_last() {
            Some((mark, text)) if *mark >= 0x80 => (text, Some(*mark)),
            _ => (block, None),
        };
        if out.quit {
            break;
        }
        if gui_speaks {
            from_gui.feed(text, |piece| match piece {
                LinePiece::Line(line) => {
                    let (command, _, rest) = Command::parse(line);
                    let asks = command == Command::Go && !Go::parse(rest).perft && !out.quit;
                    world.asked += usize::from(asks);
                    session.gui_line(line, &mut out);
                    library.serve(&mut session, &mut out);
                    world.see(&mut out);
                }
                LinePiece::Part(part, bytes) => {
                    world.lost = true;
                    session.gui_part(part, bytes, &mut out);
                    world.see(&mut out);
                }
            });
        } else {
            from_engine.feed(text, |piece| match piece {
                LinePiece::Line(line) => {
                    if Reply::parse(line) == Reply::BestMove {
                        world.searching = false;
                    }
                    now += Duration::from_nanos(1);
                    session.at(now);
                    session.engine_line(line, &mut out);
                    library.serve(&mut session, &mut out);
                    world.see(&mut out);
                }
                LinePiece::Part(part, bytes) => {
                    world.lost = true;
                    session.engine_part(part, bytes, &mut out);
                    world.see(&mut out);
                }
            });
        }
        if mark == Some(0xff) {
            session.engine_gone("it died", &mut out);
            world.see(&mut out);
            break;
        }
        // The mark is also a time that passes, up to two checks.
        now += Duration::from_millis(u64::from(mark.unwrap_or_default()) * 8);
        session.at(now);
        session.time_is_up(&mut out);
        world.see(&mut out);
        gui_speaks = !gui_speaks;
    }
    session.gui_gone(&mut out);
    assert!(out.quit);
}
