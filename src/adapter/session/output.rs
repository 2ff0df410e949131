//! What the session asks for, and its own messages to the GUI.

use std::path::PathBuf;
use std::sync::Arc;

use log::Level;
use shakmaty::Move;

use super::Session;
use super::game_over::{PlayedGame, Source};
use super::watch::Answer;
use crate::settings::books::BookFiles;
use crate::uci::notice;

/// What the session asks its caller to do. Bytes are appended, and must be written in order.
#[derive(Default)]
pub struct Output {
    /// Bytes for the GUI.
    pub gui: Vec<u8>,
    /// Bytes for the child engine.
    pub engine: Vec<u8>,
    /// Lines for the log.
    pub notes: Vec<(Level, String)>,
    /// Messages for standard error, which the GUI gets too.
    pub messages: Vec<String>,
    /// Log to this file from now on; an empty name ends the log.
    pub log_to: Option<String>,
    /// Books from which a game has begun. They must be identified before it is learned.
    pub begun: Vec<Arc<[Source]>>,
    /// Games to learn.
    pub finished: Vec<PlayedGame>,
    /// Open these books, then call [`Session::books_opened`], or [`Session::books_are_late`] if that takes long.
    pub open_books: Option<BookFiles>,
    /// Open the stores of evaluations beside them too.
    pub with_evaluations: bool,
    /// Books that were opened and can learn: complete what an earlier process has begun in them.
    pub opened: Vec<PathBuf>,
    /// Learn the games that were kept earlier.
    pub resume_learning: bool,
    /// The GUI has gone or has sent `quit`: end the child and the adapter.
    pub quit: bool,
}

/// The book's answer to a question.
pub(super) struct BookAnswer {
    /// The lines for the GUI.
    pub(super) lines: Vec<u8>,
    /// The move in them.
    pub(super) mv: Move,
}

impl Session {
    /// Sends the GUI a message of the adapter, at once if the GUI has been greeted. The message also goes to standard
    /// error, because many clients do not show messages to their users.
    pub fn notify(&mut self, message: String, out: &mut Output) {
        out.notes.push((Level::Warn, message.clone()));
        out.messages.push(message.clone());
        if self.greeting.done {
            self.say(&notice(&message), out);
        } else {
            self.greeting.notices.push(message);
        }
    }

    /// Reports something to the GUI at its next `go`, or at the end: some clients expect no lines at other times.
    pub fn report(&mut self, level: Level, message: String, out: &mut Output) {
        out.notes.push((level, message.clone()));
        self.reports.push(message);
    }

    /// Sends the GUI the reports that have waited for its next `go`.
    pub(crate) fn send_reports(&mut self, out: &mut Output) {
        if self.greeting.done {
            for message in std::mem::take(&mut self.reports) {
                self.say(&notice(&message), out);
            }
        }
    }

    /// Sends lines to the GUI, after the end of a line that was cut off.
    pub(super) fn say(&mut self, lines: &[u8], out: &mut Output) {
        if std::mem::take(&mut self.gui_mid_line) {
            out.gui.push(b'\n');
        }
        out.gui.extend_from_slice(lines);
    }

    /// Explains a decision to a GUI that has sent `debug on`, and to a detailed log.
    pub(super) fn trace(&mut self, what: &str, out: &mut Output) {
        if self.modes.debug && self.greeting.done {
            self.say(&notice(what), out);
        }
        if log::log_enabled!(Level::Debug) {
            out.notes.push((Level::Debug, what.to_owned()));
        }
    }

    /// Answers the GUI's question with a move of the book.
    pub(super) fn say_book_move(&mut self, answer: BookAnswer, out: &mut Output) {
        self.say(&answer.lines, out);
        self.books.spare = answer.lines;
        self.answered(Answer::Book(answer.mv), out);
    }

    /// Answers the GUI's question with the engine's `bestmove` line.
    pub(super) fn say_best_move(&mut self, line: &[u8], out: &mut Output) {
        self.say(line, out);
        self.answered(Answer::Engine(line), out);
    }
}
