//! The books: whether they are open, and what choosing a move from them needs.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::Color;

use super::advice::Advice;
use super::named::Named;
use super::rules::Rules;
use super::{Output, Session};
use crate::adapter::config::books::BookFiles;
use crate::book::BookSet;
use crate::uci::notice;

/// A problem with a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookProblem {
    /// A sentence that names the book.
    pub what: String,
    /// Whether the book could not be opened at all; otherwise it is used without its damaged parts.
    pub unopened: bool,
}

/// Whether the books that the options name are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Done,
    /// They are being opened: lines wait.
    Awaited,
    /// They are still being opened: the engine plays meanwhile.
    Late,
}

/// The books that are open, and everything that choosing a move needs.
pub(super) struct Books {
    /// The books that are used if the GUI names none.
    configured: BookFiles,
    /// The books that are open.
    pub(super) set: BookSet,
    /// The rules of those books that have one.
    pub(super) rules: Rules,
    pub(super) opening: Opening,
    /// Whether the stores of evaluations beside them were asked for.
    evaluated: bool,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) advice: Advice,
    pub(super) named: Named,
    /// A buffer for the next answer.
    pub(super) spare: Vec<u8>,
}

impl Books {
    pub(super) fn new(configured: BookFiles, seed: u32) -> Self {
        Self {
            configured,
            set: BookSet::default(),
            rules: Rules::default(),
            opening: Opening::Done,
            evaluated: false,
            rng: rng(seed),
            advice: Advice::default(),
            named: Named::default(),
            spare: Vec::new(),
        }
    }

    /// Whether lines wait for books that are being opened.
    pub(super) fn are_awaited(&self) -> bool {
        self.opening == Opening::Awaited
    }
}

/// Random numbers: the same sequence for the same seed on every machine; 0 takes a seed from the system.
pub(super) fn rng(seed: u32) -> Xoshiro256PlusPlus {
    if seed == 0 { rand::make_rng() } else { Xoshiro256PlusPlus::seed_from_u64(seed.into()) }
}

impl Session {
    /// Asks for the books that the options name.
    pub(super) fn open_books(&mut self, out: &mut Output) {
        self.books.opening = Opening::Awaited;
        let files = self.options.books.or(&self.books.configured);
        // Until the books are open, none is asked.
        self.books.rules.set(files.both.rules());
        out.open_books = Some(files);
        self.books.evaluated = self.options.policy.max_loss > 0;
        out.with_evaluations = self.books.evaluated;
    }

    /// Opens the books again with the stores beside them, if evaluations matter now.
    pub(super) fn need_evaluations(&mut self, out: &mut Output) {
        if self.options.policy.max_loss > 0 && !self.books.evaluated {
            self.open_books(out);
        }
    }

    /// Takes the books that [`Output::open_books`] last asked for, and the problems with them. Returns those that were
    /// open before: closing them may take time.
    pub fn books_opened(
        &mut self,
        book_set: BookSet,
        problems: Vec<BookProblem>,
        out: &mut Output,
    ) -> BookSet {
        let before = std::mem::replace(&mut self.books.set, book_set);
        for color in Color::ALL {
            for file in self.books.set.books(color).iter().filter_map(|book| book.learns_at()) {
                if !out.opened.iter().any(|opened| opened == file) {
                    out.opened.push(file.to_owned());
                }
            }
        }
        for problem in problems {
            self.notify(problem.what, out);
        }
        if std::mem::replace(&mut self.books.opening, Opening::Done) == Opening::Late {
            self.notify("the books are open now".to_owned(), out);
        }
        self.resume_after_books(out);
        before
    }

    /// The adapter ends because of its books: reports why to the GUI. Nothing more is sent to either side.
    pub fn books_refused(&mut self, why: &[String], out: &mut Output) {
        self.dead = true;
        self.greet(out);
        for message in why {
            self.say(&notice(message), out);
        }
    }

    /// The books take long to open: the engine plays until [`Session::books_opened`]. Does nothing if they are open.
    pub fn books_are_late(&mut self, out: &mut Output) {
        if self.books.are_awaited() {
            self.books.opening = Opening::Late;
            let what = "the books take long to open (does the disk answer?): the engine plays until they are";
            self.notify(what.to_owned(), out);
            self.resume_after_books(out);
        }
    }
}
