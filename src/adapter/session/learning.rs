//! What becomes of a game that is over: it is told, and handed on to be learned.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use log::Level;
use shakmaty::{ByColor, Color, KnownOutcome};

use super::verdict::{Doubt, Over, Why};
use super::watch::{Finished, Question};
use super::{Output, Session};
use crate::book::{Book, Fingerprint, Shelf};
use crate::learn::Lesson;
use crate::uci::{Go, notice};

/// Characters of an opponent's name that are kept.
const OPPONENT_MAX: usize = 60;

/// A book that can learn, as a game is played from it.
pub struct Source {
    book: Arc<dyn Book>,
    fingerprint: OnceLock<Option<Fingerprint>>,
}

impl Source {
    /// A book that a game begins to be played from.
    pub fn new(book: &Arc<dyn Book>) -> Self {
        Self { book: Arc::clone(book), fingerprint: OnceLock::new() }
    }

    /// The file, links followed when the book was opened.
    pub fn file(&self) -> &Path {
        self.book.learns_at().unwrap_or(self.book.path())
    }

    /// What tells the book from others, as it was when this was asked first, which is to be when the game begins. Then
    /// the book is read.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        *self.fingerprint.get_or_init(|| self.book.fingerprint())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.file()).finish()
    }
}

/// The books on a shelf that can learn the games of a colour, each file once.
fn sources(shelf: &Shelf, color: Color) -> Arc<[Source]> {
    let mut sources: Vec<Source> = Vec::new();
    for book in shelf.books(color).iter().filter(|book| book.learns_at().is_some()) {
        let source = Source::new(book);
        if !sources.iter().any(|other| other.file() == source.file()) {
            sources.push(source);
        }
    }
    sources.into()
}

/// The name in the value of `UCI_Opponent`: a title, a rating, `human` or `computer`, and the name.
pub(super) fn opponent_name(value: &str) -> String {
    let value = value.trim();
    let mut rest = value;
    let mut word = || {
        let (word, more) = rest.split_once(char::is_whitespace)?;
        rest = more.trim_start();
        Some(word)
    };
    let kind = [word(), word(), word()][2];
    let name = if matches!(kind, Some("human" | "computer")) { rest } else { value };
    name.chars().filter(|letter| !letter.is_control()).take(OPPONENT_MAX).collect()
}

/// A game that is to be learned into books.
#[derive(Clone, Debug)]
pub struct Taught {
    /// The books that it was played from, by priority.
    pub sources: Arc<[Source]>,
    /// The game; who learns it gives it what it is known by.
    pub lesson: Lesson,
    /// What is to be reported once the game is safe.
    pub verdict: String,
}

impl Session {
    /// Tells the time since some moment: games that a clock may have ended are judged with care.
    pub fn at(&mut self, now: Duration) {
        self.now = now;
    }

    /// Whether engine lines that pass are to be shown to [`Session::hear`].
    pub fn listens(&self) -> bool {
        self.watch.listens()
    }

    /// Takes whole engine lines that passed straight to the GUI.
    pub fn hear(&mut self, block: &[u8]) {
        self.watch.hear(block);
    }

    /// Tells of something that happened aside; the GUI hears it at its next `go`, or at the end.
    pub fn report(&mut self, level: Level, message: String, out: &mut Output) {
        out.notes.push((level, message.clone()));
        self.later.push(message);
    }

    /// The adapter ends: the game that is being played is over, if `quit` or the end of input has not said so before.
    pub fn finish(&mut self, out: &mut Output) {
        self.game_over(Over::Quit, out);
    }

    /// Tells the GUI what waited for its next `go`.
    pub fn tell_later(&mut self, out: &mut Output) {
        if self.greeted {
            for message in std::mem::take(&mut self.later) {
                self.say(&notice(&message), out);
            }
        }
    }

    /// Whether games that begin now are learned.
    fn learns(&self) -> bool {
        self.options.policy.learn && self.options.own_book
    }

    pub(super) fn watch_go(&mut self, go: &Go, analysis: bool, out: &mut Output) {
        if !self.learns() && !self.watch.has_game() {
            return;
        }
        let question = Question {
            game: self.board.game(),
            clock: go.clock,
            pondering: go.ponder,
            analysis: analysis || go.searchmoves.is_some(),
            unwanted: !self.options.policy.learn,
        };
        let begin = self.learns().then_some(|color| sources(&self.shelf, color));
        let ended = self.watch.asked(question, begin, self.now, self.options.learn_margin);
        out.begun.extend(self.watch.begun.take());
        self.conclude(ended, out);
        self.meet();
    }

    pub(super) fn watch_ponderhit(&mut self, out: &mut Output) {
        let begin = self.learns().then_some(|color| sources(&self.shelf, color));
        let ended = self.watch.ponderhit(begin, self.now, self.options.learn_margin);
        out.begun.extend(self.watch.begun.take());
        self.conclude(ended, out);
        self.meet();
    }

    /// Gives the GUI its answer.
    pub(super) fn answer(&mut self, lines: &[u8], from_book: bool, out: &mut Output) {
        self.say(lines, out);
        let ended = self.watch.answered(lines, from_book, self.now, self.options.learn_margin);
        self.conclude(ended, out);
    }

    /// The position that nobody asked about, before another one takes its place.
    pub(super) fn watch_final_position(&mut self, out: &mut Output) {
        if self.watch.fresh {
            let ended = self.watch.left_alone(self.board.game(), self.now, self.options.learn_margin);
            self.conclude(ended, out);
        }
    }

    pub(super) fn game_over(&mut self, over: Over, out: &mut Output) {
        let ended = self.watch.over(over, self.board.game(), self.now, self.options.learn_margin);
        self.conclude(ended, out);
    }

    /// Remembers who is the opponent in a game that has begun: the next one may be announced before its end is judged.
    fn meet(&mut self) {
        if self.opponent.0 != self.watch.number {
            self.opponent = (self.watch.number, self.announced.clone());
        }
    }

    fn conclude(&mut self, ended: Option<Finished>, out: &mut Output) {
        let Some(Finished { number, color, game, first, sources, verdict }) = ended else { return };
        let side = color.fold_wb("White", "Black");
        let result = match verdict.outcome {
            Some(KnownOutcome::Draw) => "drawn",
            Some(KnownOutcome::Decisive { winner }) if winner == color => "won",
            Some(KnownOutcome::Decisive { .. }) => "lost",
            None => "of unknown result",
        };
        let against = match &self.opponent {
            (game, name) if *game == number && !name.is_empty() => format!(" against {name}"),
            _ => String::new(),
        };
        let plies = game.moves().len();
        let mut message = format!("game {number} as {side}, {plies} plies, is {result}: {}", verdict.why);
        let Some(outcome) = verdict.outcome else {
            message.push_str("; it is not learned");
            // Who analyses is not to hear of each position.
            return match verdict.why {
                Why::Short | Why::Doubt(Doubt::Analysis | Doubt::Jumped) => {
                    out.notes.push((Level::Info, message))
                }
                _ => self.report(Level::Info, message, out),
            };
        };
        if sources.is_empty() {
            message.push_str("; there is no Polyglot book to learn it into");
        } else {
            let lesson = Lesson {
                id: [0; 16],
                start: game.start_position().clone(),
                moves: game.moves().to_vec(),
                first,
                sides: ByColor { white: color == Color::White, black: color == Color::Black },
                outcome,
                note: format!("game {number} as {side}, {result}{against}: {}", verdict.why),
            };
            return out.lessons.push(Taught { sources, lesson, verdict: message });
        }
        self.report(Level::Info, message, out);
    }
}
