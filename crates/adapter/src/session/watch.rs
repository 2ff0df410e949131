//! The game that is being played, reconstructed from requests and answers, so that its result can be learned.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Move, Position as _};

use tabiya_book::BookSet;
use tabiya_chess::Game;
use tabiya_uci::{Clock, Score, words};

use super::ended::Ended;
use super::lengths::Lengths;
use super::played::{LearnableBook, sources};
use super::verdict::{DRAWN_SCORES, Evidence, Why, limit};

/// The most plies of a position that starts another game, if the previous game had more.
const OPENING_PLIES: usize = 1;

/// A request of the GUI.
pub(super) struct WatchedRequest<'a> {
    /// The game on the board, if it is known.
    pub(super) game: Option<&'a Game>,
    pub(super) clock: Clock,
    pub(super) pondering: bool,
    pub(super) analysis: bool,
    /// The game that it belongs to must not be learned.
    pub(super) unwanted: bool,
}

/// The answer to a request.
#[derive(Clone, Copy)]
pub(super) enum Answer<'a> {
    /// A move of the book.
    Book(Move),
    /// The engine's `bestmove` line.
    Engine(&'a [u8]),
}

struct Expected {
    game: Game,
    clock: Clock,
    /// The game that it belongs to must not be learned.
    unwanted: bool,
    asked_at: Duration,
}

/// The games that are played.
#[derive(Default)]
pub(super) struct Watch {
    /// The time, counted from any fixed moment.
    pub(super) now: Duration,
    game: Option<Watched>,
    /// A `go ponder`: it belongs to the game once the expected move is played.
    expected: Option<Expected>,
    /// Whether no request has followed the last `position` line.
    pub(super) fresh: bool,
    /// The last exact score that the engine sent for the open request.
    last_score: Option<Score>,
    /// The number of games that have begun.
    number: u32,
    /// The name of the opponent that the GUI has announced.
    pub(super) announced: String,
    /// The books of games that have begun and were not reported yet.
    pub(super) begun: Vec<Arc<[LearnableBook]>>,
    /// Games that have ended and were not reported yet.
    pub(super) ended: Vec<Ended>,
    /// The lengths of the games that were reported.
    pub(super) lengths: Lengths,
}

struct Watched {
    /// The books that it is played from.
    sources: Arc<[LearnableBook]>,
    /// The name of the opponent announced when it began.
    opponent: String,
    /// The number of moves on the board at the first request.
    first: usize,
    /// Its moves up to the last request, and our answer if there is one, and all else that the verdict depends on.
    evidence: Evidence,
    clock: Clock,
    asked_at: Duration,
    answered_at: Duration,
    /// Whether its result was reported.
    reported: bool,
}

impl Watch {
    /// A `go` has come that a move must answer; one to ponder counts when the expected move is played. `books`
    /// are those from which a game may begin; without them none begins.
    pub(super) fn asked(&mut self, request: WatchedRequest<'_>, books: Option<&BookSet>) {
        let WatchedRequest { game, clock, pondering, analysis, unwanted } = request;
        self.fresh = false;
        self.last_score = None;
        self.expected = None;
        let Some(game) = game else { return self.doubt(Why::Lost) };
        if pondering && !analysis {
            if let Some(watched) = self.game.as_mut().filter(|watched| watched.is_continued_by(game))
                && clock != Clock::default()
            {
                watched.clock = clock;
            }
            self.expected = Some(Expected { game: game.clone(), clock, unwanted, asked_at: self.now });
            return;
        }
        if !pondering {
            self.turn(game, clock, unwanted, books);
        }
        if analysis {
            self.doubt(Why::Analysis);
        }
    }

    /// The expected move was played.
    pub(super) fn ponderhit(&mut self, books: Option<&BookSet>) {
        let Some(Expected { game, mut clock, unwanted, asked_at }) = self.expected.take() else { return };
        // The opponent has used some time since. What was added to the clock for the move is not known.
        let theirs = game.position().chess().turn().fold_wb(&mut clock.black, &mut clock.white);
        if let Some(left) = theirs {
            let used = self.now.saturating_sub(asked_at).as_millis();
            *left = left.saturating_sub(u64::try_from(used).unwrap_or(u64::MAX));
        }
        self.turn(&game, clock, unwanted, books);
    }

    /// The search was stopped: the expected move was not played.
    pub(super) fn stop(&mut self) {
        self.expected = None;
    }

    /// Whether a game is known.
    pub(super) fn has_game(&self) -> bool {
        self.game.is_some()
    }

    /// Whether the engine's scores matter now.
    pub(super) fn needs_scores(&self) -> bool {
        self.expected.is_some()
            || self.game.as_ref().is_some_and(|watched| !watched.evidence.answered && !watched.reported)
    }

    /// Reads the scores in whole lines of the engine.
    pub(super) fn read_scores(&mut self, block: &[u8]) {
        self.last_score = Score::parse_last(block).or(self.last_score);
    }

    /// Our move was sent.
    pub(super) fn answered(&mut self, answer: Answer<'_>) {
        let last_score = self.last_score.take();
        // The answer to a request that the game has not reached.
        if self.expected.is_some() {
            return;
        }
        let Some(watched) = self.game.as_mut().filter(|watched| !watched.evidence.answered) else { return };
        let (evidence, clock) = (&mut watched.evidence, watched.clock);
        let chess = evidence.game.position().chess();
        let (mv, score) = match answer {
            Answer::Book(mv) => (Some(mv).filter(|mv| chess.is_legal(*mv)), None),
            Answer::Engine(line) => {
                let mv = words(line).nth(1).and_then(|mv| UciMove::from_ascii(mv).ok());
                (mv.and_then(|mv| mv.to_move(chess).ok()), last_score)
            }
        };
        let Some(mv) = mv else {
            evidence.doubt = Some(Why::Lost);
            return;
        };
        let left = evidence.color.fold_wb(clock.white, clock.black);
        evidence.ours = (self.now.saturating_sub(watched.asked_at), limit(left, clock.movetime));
        evidence.fullmove = evidence.game.fullmove();
        evidence.game.push(mv);
        evidence.answered = true;
        evidence.moves += 1;
        if evidence.scores.len() >= DRAWN_SCORES {
            evidence.scores.remove(0);
        }
        evidence.scores.push(score);
        watched.answered_at = self.now;
        if is_over(&evidence.game) {
            self.over_on_the_board(None);
        }
    }

    /// The game is over, if there is one. `last` is a position that no request was about; `doubt` says why the game
    /// must not be learned.
    pub(super) fn over(&mut self, doubt: Option<Why>, last: Option<&Game>) {
        self.end(doubt, last);
    }

    /// The position on the board is final. The GUI may still ask about it.
    fn over_on_the_board(&mut self, last: Option<&Game>) {
        // Some programs play on where neither side can win.
        if self.game.as_ref().is_some_and(|watched| watched.reported) {
            return;
        }
        let ended = self.end(None, last);
        self.game = ended.map(|watched| Watched { reported: true, ..watched });
    }

    fn end(&mut self, doubt: Option<Why>, last: Option<&Game>) -> Option<Watched> {
        self.expected = None;
        self.last_score = None;
        let last = last.filter(|_| std::mem::take(&mut self.fresh));
        let watched = self.game.take().filter(|watched| !watched.reported && watched.evidence.moves > 0)?;
        let mut evidence = watched.evidence.clone();
        match last.filter(|last| watched.is_continued_by(last)) {
            Some(last) => evidence.game = last.clone(),
            None => {
                let left = evidence.color.fold_wb(watched.clock.black, watched.clock.white);
                let waited = self.now.saturating_sub(watched.answered_at);
                evidence.theirs = Some((waited, limit(left, watched.clock.movetime)));
            }
        }
        evidence.doubt = doubt.or(evidence.doubt);
        let (first, sources, opponent) =
            (watched.first, Arc::clone(&watched.sources), watched.opponent.clone());
        self.ended.push(Ended { number: self.number, first, sources, opponent, evidence });
        Some(watched)
    }

    /// Another position comes. If no request was about this one, it may be the end of the game.
    pub(super) fn left(&mut self, last: Option<&Game>) {
        if self.fresh
            && let Some(watched) = &self.game
            && let Some(last) = last.filter(|last| watched.is_continued_by(last) && is_over(last))
        {
            self.over_on_the_board(Some(last));
        }
        self.fresh = true;
    }

    /// The game must not be learned.
    fn doubt(&mut self, doubt: Why) {
        if let Some(watched) = &mut self.game {
            watched.evidence.doubt.get_or_insert(doubt);
        }
    }

    /// It is our turn in this position.
    fn turn(&mut self, game: &Game, clock: Clock, unwanted: bool, books: Option<&BookSet>) {
        let mut doubt = None;
        if let Some(watched) = &mut self.game {
            if watched.is_continued_by(game) {
                watched.evidence.game = game.clone();
                watched.evidence.answered = false;
                watched.clock = clock;
                watched.asked_at = self.now;
                if unwanted {
                    self.doubt(Why::Unwanted);
                }
                return;
            }
            let before = &watched.evidence.game;
            let same_start = before.start_position().chess() == game.start_position().chess();
            let begins = game.moves().len() <= OPENING_PLIES && before.moves().len() > OPENING_PLIES + 1;
            // A user who steps through a game will step on.
            doubt = (same_start && !begins).then_some(Why::Jumped);
            self.over(doubt, None);
        }
        let Some(books) = books else { return };
        self.number += 1;
        let color = game.position().chess().turn();
        let sources = sources(books, color);
        self.begun.push(Arc::clone(&sources));
        let (asked_at, answered_at) = (self.now, self.now);
        let evidence = Evidence::new(game.clone(), color, doubt);
        let (first, opponent) = (game.moves().len(), self.announced.clone());
        self.game = Some(Watched {
            sources,
            opponent,
            first,
            evidence,
            clock,
            asked_at,
            answered_at,
            reported: false,
        });
    }
}

impl Watched {
    /// Whether our last request was answered, and `after` is the game after one more ply.
    fn is_continued_by(&self, after: &Game) -> bool {
        let before = &self.evidence.game;
        self.evidence.answered
            && after.moves().len() == before.moves().len() + 1
            && after.moves().starts_with(before.moves())
            && before.start_position().chess() == after.start_position().chess()
    }
}

/// Whether the board ends the game for good.
fn is_over(game: &Game) -> bool {
    game.ending().is_some_and(|(ending, _)| ending.is_forced())
}
