//! The books: whether they are open, and what choosing a move from them needs.

use std::path::Path;
use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::Color;

use super::advice::Advice;
use super::named::Named;
use super::rules::Rules;
use super::{Output, Session};
use crate::book::{Book, BookSet, Learnable};
use crate::settings::books::BookFiles;
use crate::uci::notice;

/// The start of the message that no book can learn.
const NOT_LEARNED: &str = "Book Learn is on, but ";

/// Whether a message of the adapter is the one that no book can learn.
pub(crate) fn is_about_learning(message: &str) -> bool {
    message.starts_with(NOT_LEARNED)
}

/// Why none of these books can learn, and what to do; `None` if one can, or if there are none.
fn why_none_learns(books: &[Arc<dyn Book>]) -> Option<String> {
    if let Some(book) = books.iter().find(|book| book.as_learnable().is_some()) {
        let all = books.iter().all(|book| book.as_learnable().is_none_or(Learnable::is_read_only));
        let what = "may only be read: results wait until it can be written";
        return all.then(|| format!("{} {what}", book.path().display()));
    }
    if let Some(book) = books.iter().find(|book| !book.format().learns()) {
        let name = Path::new(book.path().file_name().unwrap_or_default());
        let learns = name.with_extension("bin");
        return Some(format!(
            "only Polyglot books learn: `tabiya convert {} -o {}` makes one",
            name.display(),
            learns.display()
        ));
    }
    let book = books.first()?;
    Some(format!(
        "the {} does not learn, only Polyglot books in files of their own: name one",
        book.path().display()
    ))
}

/// A problem with a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookProblem {
    /// A sentence that names the book.
    pub what: String,
    /// Whether a book that may not be missing could not be opened.
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
    /// Whether the user was told that no book can learn.
    told_of_learning: bool,
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
            told_of_learning: false,
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
    /// The books that are named: by the options, else by the configuration.
    fn files(&self) -> BookFiles {
        self.options.books.or(&self.books.configured)
    }

    /// Asks for the books that the options name.
    pub(super) fn open_books(&mut self, out: &mut Output) {
        self.books.opening = Opening::Awaited;
        let files = self.files();
        // Until the books are open, none is asked.
        self.books.rules.set(files.both.rules());
        self.books.evaluated = files.need_evaluations(&self.options.policy);
        out.open_books = Some(files);
        out.with_evaluations = self.books.evaluated;
    }

    /// Opens the books again with the stores beside them, if evaluations matter now.
    pub(super) fn need_evaluations(&mut self, out: &mut Output) {
        if !self.books.evaluated && self.files().need_evaluations(&self.options.policy) {
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
            for file in
                self.books.set.books(color).iter().filter_map(|book| Some(book.as_learnable()?.file()))
            {
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
        self.check_learning(out);
        self.resume_after_books(out);
        before
    }

    /// Says that results cannot be learned although they should be, once until they can.
    pub(super) fn check_learning(&mut self, out: &mut Output) {
        if self.books.opening != Opening::Done {
            return;
        }
        let why = if self.learns() { why_none_learns(&self.books.set.distinct()) } else { None };
        if let Some(why) = &why
            && !self.books.told_of_learning
        {
            self.notify(format!("{NOT_LEARNED}{why}"), out);
        }
        self.books.told_of_learning = why.is_some();
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
