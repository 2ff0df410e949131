//! Options and books: the greeting, what the GUI sets, and what is told once the GUI listens.

use log::Level;
use shakmaty::{CastlingMode, Color};

use super::{Books, ENGINE_BOOKS_MAX, OWN_BOOK_NAMES, Output, Session, lossy, rng};
use crate::adapter::options::{Change, Options};
use crate::book::Shelf;
use crate::uci::{Command, SetOption, notice, option_name, option_type, same_name};

impl Session {
    pub(super) fn engine_option(&mut self, line: &[u8], out: &mut Output) {
        let name = option_name(line);
        let letters: String = name
            .iter()
            .filter(|byte| byte.is_ascii_alphabetic())
            .map(|byte| byte.to_ascii_lowercase() as char)
            .collect();
        let is_own_book = option_type(line) == Some(b"check") && OWN_BOOK_NAMES.contains(&letters.as_str());
        let room = self.engine_books.len() < ENGINE_BOOKS_MAX;
        if is_own_book && room && !self.engine_books.contains(&name) {
            self.engine_books.push(name.clone());
        }
        if is_own_book || Options::is_ours(&name) {
            out.notes
                .push((Level::Info, format!("hidden, the adapter's own stands for it: {}", lossy(line))));
        } else {
            self.say(line, out);
        }
    }

    pub(super) fn engine_uciok(&mut self, line: &[u8], out: &mut Output) {
        if self.uci_owed > 0 {
            self.uci_owed -= 1;
            for name in self.engine_books.clone() {
                self.send(&[b"setoption name ", &name[..], b" value false\n"].concat(), out);
            }
            self.send_settings(out);
            let mut ours = Vec::new();
            self.options.declare(&mut ours);
            self.say(&ours, out);
        }
        self.say(line, out);
        self.greet(out);
    }

    pub(super) fn set_option(&mut self, line: &[u8], rest: &[u8], out: &mut Output) {
        let Some(option) = SetOption::parse(rest) else { return self.forward(line, out) };
        match self.options.set(&option) {
            None => {
                // The engine's own book is off, and its option was not shown.
                if self.engine_books.iter().any(|name| same_name(name, option.name)) {
                    return;
                }
                self.follow(&option);
                self.forward(line, out);
            }
            Some(Err(problem)) => self.notify(problem, out),
            Some(Ok(change)) => {
                out.notes.push((Level::Info, format!("set: {}", lossy(line))));
                match change {
                    Change::Value => {}
                    Change::Learn => out.resume_learning = self.options.policy.learn,
                    Change::Books => self.open_books(out),
                    Change::Seed => self.rng = rng(self.options.seed),
                    Change::Log => out.log_to = Some(self.options.log.clone()),
                }
            }
        }
    }

    /// Follows the engine's options that decide about the book.
    pub(super) fn follow(&mut self, option: &SetOption<'_>) {
        let value = String::from_utf8_lossy(option.value);
        let value = value.trim();
        let is_true = value.eq_ignore_ascii_case("true");
        if option.is("MultiPV") {
            self.multipv = value.parse().unwrap_or(1);
        } else if option.is("UCI_AnalyseMode") {
            self.analysing = is_true;
        } else if option.is("UCI_Chess960") {
            self.mode = if is_true { CastlingMode::Chess960 } else { CastlingMode::Standard };
            self.board.reread(self.mode);
        }
    }

    /// Wants the books that the options name now.
    pub(super) fn open_books(&mut self, out: &mut Output) {
        self.books = Books::Awaited;
        out.open_books = Some(self.options.books.or(&self.configured));
    }

    /// Takes the books that were to be opened last, and a sentence on each that could not be, or not whole. Returns
    /// those that were open before, whose end may take time.
    pub fn books_opened(&mut self, shelf: Shelf, problems: Vec<String>, out: &mut Output) -> Shelf {
        let before = std::mem::replace(&mut self.shelf, shelf);
        for color in Color::ALL {
            for book in self.shelf.books(color).iter().filter(|book| book.can_learn()) {
                if !out.opened.iter().any(|opened| opened == book.path()) {
                    out.opened.push(book.path().to_owned());
                }
            }
        }
        for problem in problems {
            self.notify(problem, out);
        }
        if std::mem::replace(&mut self.books, Books::Open) == Books::Late {
            self.notify("the books are open now".to_owned(), out);
        }
        self.resume_after_books(out);
        before
    }

    /// The books take too long to open: the engine plays until [`Session::books_opened`]. Nothing where they are open.
    pub fn books_are_late(&mut self, out: &mut Output) {
        if self.books == Books::Awaited {
            self.books = Books::Late;
            let what = "the books take long to open (does the disk answer?): the engine plays until they are";
            self.notify(what.to_owned(), out);
            self.resume_after_books(out);
        }
    }

    /// Whether books are awaited: see [`Session::books_are_late`].
    pub fn awaits_books(&self) -> bool {
        self.books == Books::Awaited
    }

    /// Sends the engine the options that the user set in advance, once.
    pub(super) fn send_settings(&mut self, out: &mut Output) {
        if std::mem::replace(&mut self.settings_sent, true) {
            return;
        }
        for (name, value) in self.settings.clone() {
            if self.engine_books.iter().any(|book| same_name(book, name.as_bytes())) {
                let what = format!("{name} is not set: the engine's own book is off, OwnBook stands for it");
                self.notify(what, out);
                continue;
            }
            let value = if value.is_empty() { String::new() } else { format!(" value {value}") };
            self.send(format!("setoption name {name}{value}\n").as_bytes(), out);
        }
    }

    /// A GUI that never says `uci` is greeted by its first other command.
    pub(super) fn tell_greeting(&mut self, command: Command, out: &mut Output) {
        let early = matches!(command, Command::Uci | Command::Debug | Command::Register | Command::Other);
        // Before the engine has told its options nobody knows which of them are books.
        if !early && !self.settings_sent && self.uci_owed == 0 {
            self.send_settings(out);
        }
        if !early && !self.greeted && self.uci_owed == 0 {
            self.greet(out);
        }
    }

    pub(super) fn greet(&mut self, out: &mut Output) {
        self.greeted = true;
        for message in std::mem::take(&mut self.notices) {
            self.say(&notice(&message), out);
        }
    }
}
