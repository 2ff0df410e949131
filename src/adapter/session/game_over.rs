//! The end of a game: its result is reported, and the game is handed to the learning threads.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use log::Level;
use shakmaty::{ByColor, Color, KnownOutcome};

use super::verdict::{Doubt, Evidence, Over, Why};
use super::watch::{Answer, Ended, Question, Watch};
use super::{Output, Session};
use crate::book::{Book, BookSet, Fingerprint, Learnable};
use crate::learn::FinishedGame;
use crate::uci::Go;

/// Characters of an opponent's name that are kept.
const OPPONENT_MAX: usize = 60;

/// A book that can learn, as it is when a game is played from it.
pub struct Source {
    book: Arc<dyn Book>,
    fingerprint: OnceLock<Option<Fingerprint>>,
}

impl Source {
    /// A book from which a game begins.
    pub fn new(book: &Arc<dyn Book>) -> Self {
        Self { book: Arc::clone(book), fingerprint: OnceLock::new() }
    }

    /// The book's file. Links were followed when the book was opened.
    pub fn file(&self) -> &Path {
        self.book.as_learnable().map_or(self.book.path(), Learnable::file)
    }

    /// What distinguishes the book from others. The first call reads the book: make it when the game begins.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        *self.fingerprint.get_or_init(|| self.book.as_learnable()?.fingerprint())
    }
}

/// The books that can learn the games of a colour, each file once.
pub(super) fn sources(book_set: &BookSet, color: Color) -> Arc<[Source]> {
    let mut sources: Vec<Source> = Vec::new();
    for book in book_set.books(color).iter().filter(|book| book.as_learnable().is_some()) {
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

/// A game to learn into the books from which it was played.
#[derive(Clone)]
pub struct PlayedGame {
    /// The books, by priority.
    pub sources: Arc<[Source]>,
    /// The game.
    pub game: FinishedGame,
    /// The message to report once the game is on a disk.
    pub verdict: String,
}

/// The game that is being played, and when and against whom.
#[derive(Default)]
pub(super) struct Play {
    pub(super) watch: Watch,
    /// The opponent that the GUI has announced.
    pub(super) announced: String,
    /// The number of the current game, and the opponent announced when it began.
    opponent: (u32, String),
}

impl Session {
    /// Sets the time, counted from any fixed moment: it decides whether a clock may have ended a game, how long a check may
    /// take, and which lines of the engine were read together, because no time has passed between them.
    pub fn at(&mut self, now: Duration) {
        self.play.watch.now = now;
    }

    /// Whether [`Session::hear`] must get the engine lines that are forwarded.
    pub fn listens(&self) -> bool {
        self.play.watch.listens()
    }

    /// Reads the scores in whole engine lines that are forwarded to the GUI.
    pub(crate) fn hear(&mut self, block: &[u8]) {
        self.play.watch.hear(block);
    }

    /// The adapter ends, and with it the current game, unless `quit` or the end of input has ended it before.
    pub fn finish(&mut self, out: &mut Output) {
        self.game_over(Over::Quit, out);
    }

    /// Whether games that begin now are learned.
    pub(super) fn learns(&self) -> bool {
        self.options.policy.learn && self.uses_books()
    }

    pub(super) fn watch_go(&mut self, go: &Go, analysis: bool, out: &mut Output) {
        if !self.learns() && !self.play.watch.has_game() {
            return;
        }
        let question = Question {
            game: self.board.game(),
            clock: go.clock,
            pondering: go.ponder,
            analysis: analysis || go.searchmoves.is_some(),
            unwanted: !self.options.policy.learn,
        };
        let books = self.learns().then_some(&self.books.set);
        let ended = self.play.watch.asked(question, books);
        self.game_may_have_begun(ended, out);
    }

    pub(super) fn watch_ponderhit(&mut self, out: &mut Output) {
        let books = self.learns().then_some(&self.books.set);
        let ended = self.play.watch.ponderhit(books);
        self.game_may_have_begun(ended, out);
    }

    /// Notes the game that a question may have begun, after the one that it may have ended.
    fn game_may_have_begun(&mut self, ended: Option<Ended>, out: &mut Output) {
        out.begun.extend(self.play.watch.begun.take());
        self.conclude(ended, out);
        // The next opponent may be announced before the end of the game is noticed.
        if self.play.opponent.0 != self.play.watch.number {
            self.play.opponent = (self.play.watch.number, self.play.announced.clone());
        }
    }

    /// The GUI has received its answer.
    pub(super) fn answered(&mut self, answer: Answer<'_>, out: &mut Output) {
        let ended = self.play.watch.answered(answer);
        self.conclude(ended, out);
    }

    /// Looks at a position that no question was asked about, before another one replaces it.
    pub(super) fn watch_final_position(&mut self, out: &mut Output) {
        if self.play.watch.fresh {
            let ended = self.play.watch.left_alone(self.board.game());
            self.conclude(ended, out);
        }
    }

    pub(super) fn game_over(&mut self, over: Over, out: &mut Output) {
        let ended = self.play.watch.over(over, self.board.game());
        self.conclude(ended, out);
    }

    /// Reports the result of a game, and asks for the game to be learned.
    fn conclude(&mut self, ended: Option<Ended>, out: &mut Output) {
        let Some(Ended { number, first, sources, evidence }) = ended else { return };
        let verdict = evidence.verdict(self.options.learn_margin);
        let Evidence { game, color, .. } = evidence;
        let side = color.fold_wb("White", "Black");
        let result = match verdict.outcome {
            Some(KnownOutcome::Draw) => "drawn",
            Some(KnownOutcome::Decisive { winner }) if winner == color => "won",
            Some(KnownOutcome::Decisive { .. }) => "lost",
            None => "of unknown result",
        };
        let against = match &self.play.opponent {
            (game, name) if *game == number && !name.is_empty() => format!(" against {name}"),
            _ => String::new(),
        };
        let plies = game.moves().len();
        let mut message = format!("game {number} as {side}, {plies} plies, is {result}: {}", verdict.why);
        let Some(outcome) = verdict.outcome else {
            message.push_str("; it is not learned");
            // In analysis there would be a message for each position.
            return match verdict.why {
                Why::Short | Why::Doubt(Doubt::Analysis | Doubt::Jumped) => {
                    out.notes.push((Level::Info, message));
                }
                _ => self.report(Level::Info, message, out),
            };
        };
        if sources.is_empty() {
            message.push_str("; there is no Polyglot book to learn it into");
            return self.report(Level::Info, message, out);
        }
        let game = FinishedGame {
            start: game.start_position().clone(),
            moves: game.moves().to_vec(),
            first,
            sides: ByColor { white: color == Color::White, black: color == Color::Black },
            result: outcome,
            note: format!("game {number} as {side}, {result}{against}: {}", verdict.why),
        };
        out.finished.push(PlayedGame { sources, game, verdict: message });
    }
}
