//! What the session asks for.

use std::path::PathBuf;
use std::sync::Arc;

use log::Level;

use tabiya_book::traits::Book;

use super::event::Event;
use super::lines::PlayedNode;
use super::played::{LearnableBook, PlayedGame};
use crate::settings::books::BookFiles;

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
    pub begun: Vec<Arc<[LearnableBook]>>,
    pub finished: Vec<PlayedGame>,
    /// Open these books, then call [`Session::books_opened`](super::Session::books_opened), or
    /// [`Session::books_are_late`](super::Session::books_are_late) if that takes long.
    pub open_books: Option<BookFiles>,
    /// Open these too, to see whether they can be opened.
    pub try_books: Vec<BookFiles>,
    /// See whether these books are of standard chess, when there is time for it.
    pub look_at: Vec<Arc<dyn Book>>,
    /// Open the stores of evaluations beside them too.
    pub with_evaluations: bool,
    /// Books that were opened and can learn: complete what an earlier process has begun in them.
    pub opened: Vec<PathBuf>,
    /// Learn the games that were kept earlier.
    pub resume_learning: bool,
    /// Share played lines in this file from now on; an empty name ends that.
    pub lines_file: Option<String>,
    /// Lines that were played, for that file.
    pub lines: Vec<PlayedNode>,
    /// Read what other processes have written there, then call [`Session::lines_read`](super::Session::lines_read), or
    /// [`Session::lines_are_late`](super::Session::lines_are_late) if that takes long.
    pub reads_lines: bool,
    /// What has happened, for other parts of this program.
    pub events: Vec<Event>,
    /// The GUI has gone or has sent `quit`: end the child and the adapter.
    pub quit: bool,
}

impl Output {
    /// Adds a line to the log.
    pub(super) fn note(&mut self, level: Level, line: impl Into<String>) {
        self.notes.push((level, line.into()));
    }
}
