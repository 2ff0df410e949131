//! Options and books: the greeting, what the GUI sets, and what is told once the GUI listens.

use log::Level;
use shakmaty::{CastlingMode, Color};

use super::learning::opponent_name;
use super::{Books, ENGINE_BOOKS_MAX, OWN_BOOK_NAMES, Output, Session, Setting, lossy, rng};
use crate::adapter::books::NO_BOOK;
use crate::adapter::library::BookProblem;
use crate::adapter::options::{Change, Options};
use crate::adapter::spelling;
use crate::book::Shelf;
use crate::uci::{
    Command, SetOption, id_name, notice, option_name, option_type, option_with_default, same_name,
};

/// The option by which GUIs say that they analyse.
const ANALYSE_MODE: &str = "UCI_AnalyseMode";

/// What is added to an engine's name, so that it is not taken for the engine without books.
pub const NAME_ADDITION: &str = "(tabiya)";

/// What is wrong with an option that was set in advance and that nobody has.
pub fn unknown_option(name: &str) -> String {
    let advice = match spelling::nearest(name, Options::names()) {
        Some(ours) => format!("write '{ours}'"),
        None => "correct the name".to_owned(),
    };
    format!("--set {name}: neither the engine nor tabiya has an option of this name: {advice}")
}

impl Session {
    /// Tells the GUI who plays: the name given, or the engine's with an addition.
    pub(super) fn engine_id(&mut self, line: &[u8], out: &mut Output) {
        let Some(own) = id_name(line) else { return self.say(line, out) };
        out.notes.push((Level::Info, format!("the engine is {}", lossy(own))));
        self.is_named = true;
        let addition = NAME_ADDITION.as_bytes();
        let name = match &self.name {
            Some(name) => name.clone().into_bytes(),
            None if own.ends_with(addition) => own.to_vec(),
            None => [own, addition].join(&b' ').trim_ascii().to_vec(),
        };
        let end = line.get(line.trim_ascii_end().len()..).unwrap_or_default();
        self.say(&[b"id name ", &name[..], end].concat(), out);
    }

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
            return;
        }
        if same_name(&name, ANALYSE_MODE.as_bytes()) {
            self.engine_analyses = Some(true);
        }
        let mut configured = None;
        for setting in self.settings.iter_mut().filter(|setting| same_name(&name, setting.name.as_bytes())) {
            setting.listed = true;
            configured = Some(setting.value.clone());
        }
        // What the user configured is the default of this engine: GUIs send back what they take for it.
        match configured.and_then(|value| option_with_default(line, value.as_bytes())) {
            Some(line) => self.say(&line, out),
            None => self.say(line, out),
        }
    }

    pub(super) fn engine_uciok(&mut self, line: &[u8], out: &mut Output) {
        if self.uci_owed > 0 {
            self.uci_owed -= 1;
            self.engine_analyses.get_or_insert(false);
            for name in self.engine_books.clone() {
                self.send(&[b"setoption name ", &name[..], b" value false\n"].concat(), out);
            }
            self.send_settings(out);
            let mut ours = Vec::new();
            if let Some(name) = self.name.as_deref().filter(|_| !self.is_named) {
                ours.extend(format!("id name {name}\n").into_bytes());
            }
            if self.keeps_analyse_mode() {
                let default = self.analysing;
                ours.extend(
                    format!("option name {ANALYSE_MODE} type check default {default}\n").into_bytes(),
                );
            }
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
                if option.is(ANALYSE_MODE) && self.keeps_analyse_mode() {
                    return;
                }
                self.forward(line, out);
            }
            Some(Err(problem)) => self.notify(problem, out),
            Some(Ok(change)) => {
                out.notes.push((Level::Info, format!("set: {}", lossy(line))));
                match change {
                    Change::Value => {}
                    Change::Learn => out.resume_learning |= self.options.policy.learn,
                    Change::Books => self.open_books(out),
                    Change::Seed => self.rng = rng(self.options.seed),
                    Change::Log => {
                        let log = &mut self.options.log;
                        if log.is_empty() {
                            log.clone_from(&self.configured_log);
                        } else if log.eq_ignore_ascii_case(NO_BOOK) {
                            log.clear();
                        }
                        out.log_to = Some(log.clone());
                        // The spool is beside the log.
                        out.resume_learning |= self.options.policy.learn;
                    }
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
        } else if option.is(ANALYSE_MODE) {
            self.analysing = is_true;
        } else if option.is("UCI_Opponent") {
            self.announced = opponent_name(value);
        } else if option.is("UCI_Chess960") {
            self.mode = if is_true { CastlingMode::Chess960 } else { CastlingMode::Standard };
            self.board.reread(self.mode);
        }
    }

    /// Whether `UCI_AnalyseMode` is an option of ours, because the engine has none.
    fn keeps_analyse_mode(&self) -> bool {
        self.engine_analyses == Some(false)
    }

    /// Wants the books that the options name now.
    pub(super) fn open_books(&mut self, out: &mut Output) {
        self.books = Books::Awaited;
        out.open_books = Some(self.options.books.or(&self.configured));
    }

    /// Takes the books that were to be opened last, and what is wrong with any. Returns those that were open before,
    /// whose end may take time.
    pub fn books_opened(&mut self, shelf: Shelf, problems: Vec<BookProblem>, out: &mut Output) -> Shelf {
        let before = std::mem::replace(&mut self.shelf, shelf);
        for color in Color::ALL {
            for file in self.shelf.books(color).iter().filter_map(|book| book.learns_at()) {
                if !out.opened.iter().any(|opened| opened == file) {
                    out.opened.push(file.to_owned());
                }
            }
        }
        for problem in problems {
            self.notify(problem.what, out);
        }
        if std::mem::replace(&mut self.books, Books::Open) == Books::Late {
            self.notify("the books are open now".to_owned(), out);
        }
        self.resume_after_books(out);
        before
    }

    /// The adapter ends because of its books: the GUI hears why, and nothing more is sent to either side.
    pub fn books_refused(&mut self, why: &[String], out: &mut Output) {
        self.dead = true;
        self.greet(out);
        for message in why {
            self.say(&notice(message), out);
        }
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
        let options_are_known = self.engine_analyses.is_some();
        for Setting { name, value, listed } in self.settings.clone() {
            if same_name(name.as_bytes(), ANALYSE_MODE.as_bytes()) && self.keeps_analyse_mode() {
                continue;
            }
            if self.engine_books.iter().any(|book| same_name(book, name.as_bytes())) {
                let what = format!("{name} is not set: the engine's own book is off, OwnBook stands for it");
                self.notify(what, out);
                continue;
            }
            if options_are_known && !listed {
                // An engine may have options that it does not list.
                self.notify(unknown_option(&name), out);
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
