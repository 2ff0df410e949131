//! The game that is being played, reconstructed from questions and answers, so that its result can be learned.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Color, Move, Position as _};

use super::game_over::{Source, sources};
use super::verdict::{DRAWN_SCORES, Doubt, Evidence, Over, limit};
use crate::book::BookSet;
use crate::chess::Game;
use crate::uci::{Clock, Score, words};

/// The most plies with which a position starts another game, if the previous game had more.
const OPENING_PLIES: usize = 1;

/// A question of the GUI.
pub(super) struct Question<'a> {
    /// The game on the board, if it is known.
    pub(super) game: Option<&'a Game>,
    pub(super) clock: Clock,
    pub(super) pondering: bool,
    pub(super) analysis: bool,
    /// The game that it belongs to must not be learned.
    pub(super) unwanted: bool,
}

/// The answer to a question.
#[derive(Clone, Copy)]
pub(super) enum Answer<'a> {
    /// A move of the book.
    Book(Move),
    /// The engine's `bestmove` line.
    Engine(&'a [u8]),
}

/// The games that are played.
#[derive(Default)]
pub(super) struct Watch {
    /// The time, counted from any fixed moment.
    pub(super) now: Duration,
    game: Option<Watched>,
    /// A question to ponder on: it belongs to the game once the expected move is played.
    expected: Option<(Game, Clock, bool)>,
    /// Whether no question has followed the last `position` line.
    pub(super) fresh: bool,
    /// The last exact score that the engine sent for the open question.
    heard: Option<Score>,
    /// The number of games that have begun.
    pub(super) number: u32,
    /// The books of the game that the last question has begun.
    pub(super) begun: Option<Arc<[Source]>>,
}

/// One game.
struct Watched {
    color: Color,
    /// The books that it is played from.
    sources: Arc<[Source]>,
    /// The number of moves on the board at the first question.
    first: usize,
    /// The game up to the last question, and our move if that was answered.
    game: Game,
    answered: bool,
    moves: u32,
    fullmove: u32,
    /// The scores of our last moves.
    scores: Vec<Option<Score>>,
    clock: Clock,
    asked_at: Duration,
    answered_at: Duration,
    doubt: Option<Doubt>,
    /// Whether its result was reported.
    reported: bool,
}

/// A game that has ended.
pub(super) struct Ended {
    pub(super) number: u32,
    /// The number of its moves before the first question.
    pub(super) first: usize,
    /// The books that it was played from.
    pub(super) sources: Arc<[Source]>,
    /// How it ended.
    pub(super) evidence: Evidence,
}

impl Watch {
    /// A question was asked that a move must answer; one to ponder on counts when the expected move is played. `books` are
    /// those from which a game may begin; without them none begins. Returns the game that the question has ended.
    pub(super) fn asked(&mut self, question: Question<'_>, books: Option<&BookSet>) -> Option<Ended> {
        let Question { game, clock, pondering, analysis, unwanted } = question;
        self.fresh = false;
        self.heard = None;
        self.expected = None;
        let Some(game) = game else {
            self.doubt(Doubt::Lost);
            return None;
        };
        if pondering && !analysis {
            self.expected = Some((game.clone(), clock, unwanted));
            return None;
        }
        let ended = if pondering { None } else { self.turn(game, clock, unwanted, books) };
        if analysis {
            self.doubt(Doubt::Analysis);
        }
        ended
    }

    /// The expected move was played.
    pub(super) fn ponderhit(&mut self, books: Option<&BookSet>) -> Option<Ended> {
        let (game, clock, unwanted) = self.expected.take()?;
        self.turn(&game, clock, unwanted, books)
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
    pub(super) fn listens(&self) -> bool {
        self.expected.is_some()
            || self.game.as_ref().is_some_and(|watched| !watched.answered && !watched.reported)
    }

    /// Reads the scores in whole lines of the engine.
    pub(super) fn hear(&mut self, block: &[u8]) {
        self.heard = Score::last_of(block).or(self.heard);
    }

    /// Our move was sent. Returns the game if that has ended it for good.
    pub(super) fn answered(&mut self, answer: Answer<'_>) -> Option<Ended> {
        let heard = self.heard.take();
        // The answer to a question that the game has not reached.
        if self.expected.is_some() {
            return None;
        }
        let watched = self.game.as_mut().filter(|watched| !watched.answered)?;
        let chess = watched.game.position().chess();
        let (mv, score) = match answer {
            Answer::Book(mv) => (Some(mv).filter(|mv| chess.is_legal(*mv)), None),
            Answer::Engine(line) => {
                let mv = words(line).nth(1).and_then(|mv| UciMove::from_ascii(mv).ok());
                (mv.and_then(|mv| mv.to_move(chess).ok()), heard)
            }
        };
        let Some(mv) = mv else {
            watched.doubt = Some(Doubt::Lost);
            return None;
        };
        watched.fullmove = watched.game.fullmove();
        watched.game.push(mv);
        watched.answered = true;
        watched.answered_at = self.now;
        watched.moves += 1;
        if watched.scores.len() >= DRAWN_SCORES {
            watched.scores.remove(0);
        }
        watched.scores.push(score);
        let forced = watched.game.ending().is_some_and(|(ending, _)| ending.is_forced());
        if forced { self.over(Over::Board, None) } else { None }
    }

    /// The game is over, if there is one. `last` is a position that no question was asked about.
    pub(super) fn over(&mut self, over: Over, last: Option<&Game>) -> Option<Ended> {
        self.expected = None;
        self.heard = None;
        let last = last.filter(|_| std::mem::take(&mut self.fresh));
        let mut watched = self.game.take()?;
        if watched.reported || watched.moves == 0 {
            return None;
        }
        let last = last.filter(|last| watched.answered && continues(last, &watched.game));
        let doubt = match over {
            Over::Jump => Some(Doubt::Jumped),
            Over::Died => Some(Doubt::Died),
            _ => watched.doubt,
        };
        let (own, other) = match watched.color {
            Color::White => (watched.clock.white, watched.clock.black),
            Color::Black => (watched.clock.black, watched.clock.white),
        };
        let movetime = watched.clock.movetime;
        let evidence = Evidence {
            game: last.unwrap_or(&watched.game).clone(),
            color: watched.color,
            moves: watched.moves,
            scores: watched.scores.clone(),
            fullmove: watched.fullmove,
            answered: watched.answered,
            ours: (watched.answered_at.saturating_sub(watched.asked_at), limit(own, movetime)),
            theirs: match last {
                Some(_) => None,
                None => Some((self.now.saturating_sub(watched.answered_at), limit(other, movetime))),
            },
            doubt,
        };
        let (first, sources) = (watched.first, Arc::clone(&watched.sources));
        if over == Over::Board {
            // The GUI may still ask about a game that cannot continue.
            watched.reported = true;
            self.game = Some(watched);
        }
        Some(Ended { number: self.number, first, sources, evidence })
    }

    /// Another position comes, and no question was asked about this one: it may be the end of the game.
    pub(super) fn left_alone(&mut self, last: Option<&Game>) -> Option<Ended> {
        let watched = self.game.as_ref().filter(|watched| watched.answered)?;
        let last = last.filter(|last| continues(last, &watched.game))?;
        if !last.ending().is_some_and(|(ending, _)| ending.is_forced()) {
            return None;
        }
        self.over(Over::Board, Some(last))
    }

    /// The game must not be learned.
    fn doubt(&mut self, doubt: Doubt) {
        if let Some(watched) = &mut self.game {
            watched.doubt.get_or_insert(doubt);
        }
    }

    /// It is our turn in this position.
    fn turn(&mut self, game: &Game, clock: Clock, unwanted: bool, books: Option<&BookSet>) -> Option<Ended> {
        let mut ended = None;
        let mut doubt = None;
        if let Some(watched) = &mut self.game {
            if watched.answered && continues(game, &watched.game) {
                watched.game = game.clone();
                watched.answered = false;
                watched.clock = clock;
                watched.asked_at = self.now;
                if unwanted {
                    watched.doubt.get_or_insert(Doubt::Unwanted);
                }
                return None;
            }
            let same_start = watched.game.start_position().chess() == game.start_position().chess();
            let begins =
                game.moves().len() <= OPENING_PLIES && watched.game.moves().len() > OPENING_PLIES + 1;
            let over = if same_start && !begins { Over::Jump } else { Over::OtherStart };
            // Who steps through a game will go on doing so.
            doubt = (over == Over::Jump).then_some(Doubt::Jumped);
            ended = self.over(over, None);
        }
        let Some(books) = books else { return ended };
        self.number += 1;
        let color = game.position().chess().turn();
        let sources = sources(books, color);
        self.begun = Some(Arc::clone(&sources));
        self.game = Some(Watched {
            color,
            sources,
            first: game.moves().len(),
            game: game.clone(),
            answered: false,
            moves: 0,
            fullmove: 0,
            scores: Vec::new(),
            clock,
            asked_at: self.now,
            answered_at: self.now,
            doubt,
            reported: false,
        });
        ended
    }
}

/// Whether a game is another one after one more ply.
fn continues(after: &Game, before: &Game) -> bool {
    after.moves().len() == before.moves().len() + 1
        && after.moves().starts_with(before.moves())
        && before.start_position().chess() == after.start_position().chess()
}
