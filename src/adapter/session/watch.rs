//! The game that is being played, gathered from questions and answers, so that its result can be learned.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Color, Position as _};

use super::Source;
use super::verdict::{DRAWN_SCORES, Doubt, Evidence, Over, Verdict, limit};
use crate::chess::Game;
use crate::uci::{Clock, Reply, Score, words};

/// Half-moves on the board up to which a position begins a game, where the one before was further.
const OPENING_PLIES: usize = 1;

/// A question of the GUI's.
pub(super) struct Question<'a> {
    /// The game on the board, where it is known.
    pub(super) game: Option<&'a Game>,
    pub(super) clock: Clock,
    pub(super) pondering: bool,
    pub(super) analysis: bool,
    /// The game that it belongs to is not to be learned.
    pub(super) unwanted: bool,
}

/// What the session tells of the games that are played. Pure: the time comes from outside.
#[derive(Default)]
pub(super) struct Watch {
    game: Option<Watched>,
    /// A question to ponder: it is one of the game's when the expected move is played.
    expected: Option<(Game, Clock, bool)>,
    /// The last `position` line was not followed by a question.
    pub(super) fresh: bool,
    /// The last exact score that the engine gave to the question that is open.
    heard: Option<Score>,
    /// Games that were begun.
    pub(super) number: u32,
    /// The books of the game that the last question began.
    pub(super) begun: Option<Arc<[Source]>>,
}

/// One game.
struct Watched {
    color: Color,
    /// The books that it is played from.
    sources: Arc<[Source]>,
    /// How many moves were on the board at our first question.
    first: usize,
    /// As far as it is known: the position of the last question, and our move where it was answered.
    game: Game,
    answered: bool,
    moves: u32,
    fullmove: u32,
    /// Scores of our last moves.
    scores: Vec<Option<Score>>,
    clock: Clock,
    asked_at: Duration,
    answered_at: Duration,
    doubt: Option<Doubt>,
    /// Its verdict was given.
    told: bool,
}

/// A game that is over, with its verdict.
pub(super) struct Finished {
    pub(super) number: u32,
    pub(super) color: Color,
    pub(super) game: Game,
    /// How many of its moves came before our first question.
    pub(super) first: usize,
    /// The books that it was played from.
    pub(super) sources: Arc<[Source]>,
    pub(super) verdict: Verdict,
}

impl Watch {
    /// A question that is to be answered with a move: `pondering` ones count when the expected move is played. Returns
    /// the game that this one ends.
    pub(super) fn asked(
        &mut self,
        question: Question<'_>,
        begin: Option<impl FnOnce(Color) -> Arc<[Source]>>,
        now: Duration,
        margin: u32,
    ) -> Option<Finished> {
        let Question { game, clock, pondering, analysis, unwanted } = question;
        self.fresh = false;
        self.heard = None;
        self.expected = None;
        let Some(game) = game else {
            self.doubt(Doubt::Lost);
            return None;
        };
        if analysis {
            let ended = if pondering { None } else { self.turn(game, clock, unwanted, begin, now, margin) };
            self.doubt(Doubt::Analysis);
            return ended;
        }
        if pondering {
            self.expected = Some((game.clone(), clock, unwanted));
            return None;
        }
        self.turn(game, clock, unwanted, begin, now, margin)
    }

    /// The expected move was played.
    pub(super) fn ponderhit(
        &mut self,
        begin: Option<impl FnOnce(Color) -> Arc<[Source]>>,
        now: Duration,
        margin: u32,
    ) -> Option<Finished> {
        let (game, clock, unwanted) = self.expected.take()?;
        self.turn(&game, clock, unwanted, begin, now, margin)
    }

    /// The expected move was not played, or somebody is in a hurry.
    pub(super) fn stop(&mut self) {
        self.expected = None;
    }

    /// Whether there is a game that is or was watched.
    pub(super) fn has_game(&self) -> bool {
        self.game.is_some()
    }

    /// Whether the engine's scores are wanted.
    pub(super) fn listens(&self) -> bool {
        self.expected.is_some()
            || self.game.as_ref().is_some_and(|watched| !watched.answered && !watched.told)
    }

    /// Takes lines of the engine, whole ones.
    pub(super) fn hear(&mut self, block: &[u8]) {
        self.heard = Score::last_of(block).or(self.heard);
    }

    /// Our move was given: the lines that end with `bestmove`. Returns the game where that has ended it for good.
    pub(super) fn answered(
        &mut self,
        answer: &[u8],
        from_book: bool,
        now: Duration,
        margin: u32,
    ) -> Option<Finished> {
        let heard = self.heard.take().filter(|_| !from_book);
        // An answer to a question that the game did not come to.
        if self.expected.is_some() {
            return None;
        }
        let watched = self.game.as_mut().filter(|watched| !watched.answered)?;
        let best = answer.split(|byte| *byte == b'\n').rfind(|line| Reply::of(line) == Reply::BestMove)?;
        let mv = words(best).nth(1).and_then(|mv| UciMove::from_ascii(mv).ok());
        let fullmove = watched.game.fullmove();
        let Some(mv) = mv.and_then(|mv| mv.to_move(watched.game.position().chess()).ok()) else {
            watched.doubt = Some(Doubt::Lost);
            return None;
        };
        watched.game.push(mv);
        watched.answered = true;
        watched.answered_at = now;
        watched.fullmove = fullmove;
        watched.moves += 1;
        if watched.scores.len() >= DRAWN_SCORES {
            watched.scores.remove(0);
        }
        watched.scores.push(heard);
        let forced = watched.game.ending().is_some_and(|(ending, _)| ending.is_forced());
        if forced { self.over(Over::Board, None, now, margin) } else { None }
    }

    /// The game is over, if there is one. `last` is a position that nobody asked about.
    pub(super) fn over(
        &mut self,
        over: Over,
        last: Option<&Game>,
        now: Duration,
        margin: u32,
    ) -> Option<Finished> {
        self.expected = None;
        self.heard = None;
        let last = last.filter(|_| std::mem::take(&mut self.fresh));
        let mut watched = self.game.take()?;
        if watched.told || watched.moves == 0 {
            return None;
        }
        let last = last.filter(|last| watched.answered && goes_on(&watched.game, last, 1));
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
            game: last.unwrap_or(&watched.game),
            color: watched.color,
            moves: watched.moves,
            scores: &watched.scores,
            fullmove: watched.fullmove,
            answered: watched.answered,
            ours: (watched.answered_at.saturating_sub(watched.asked_at), limit(own, movetime)),
            theirs: match last {
                Some(_) => None,
                None => Some((now.saturating_sub(watched.answered_at), limit(other, movetime))),
            },
            doubt,
        };
        let verdict = evidence.verdict(margin);
        let (game, color, first) = (evidence.game.clone(), watched.color, watched.first);
        let sources = Arc::clone(&watched.sources);
        if over == Over::Board {
            // What cannot be played on may be asked about all the same.
            watched.told = true;
            self.game = Some(watched);
        }
        Some(Finished { number: self.number, color, game, first, sources, verdict })
    }

    /// Another position comes, and nobody asked about this one: it may be how the game ended.
    pub(super) fn left_alone(&mut self, last: Option<&Game>, now: Duration, margin: u32) -> Option<Finished> {
        let ended = last.and_then(Game::ending).is_some_and(|(ending, _)| ending.is_forced());
        let watched = self.game.as_ref().filter(|watched| watched.answered)?;
        if !ended || !last.is_some_and(|last| goes_on(&watched.game, last, 1)) {
            return None;
        }
        self.over(Over::Board, last, now, margin)
    }

    /// Nothing is to be learned from the game.
    fn doubt(&mut self, doubt: Doubt) {
        if let Some(watched) = &mut self.game {
            watched.doubt.get_or_insert(doubt);
        }
    }

    /// It is our turn in this position. `begin` has the books that a game of a colour is played from; without it no
    /// game that begins here is watched.
    fn turn(
        &mut self,
        game: &Game,
        clock: Clock,
        unwanted: bool,
        begin: Option<impl FnOnce(Color) -> Arc<[Source]>>,
        now: Duration,
        margin: u32,
    ) -> Option<Finished> {
        let mut ended = None;
        let mut doubt = None;
        if let Some(watched) = &mut self.game {
            if watched.answered && goes_on(&watched.game, game, 1) {
                watched.game = game.clone();
                watched.answered = false;
                watched.clock = clock;
                watched.asked_at = now;
                if unwanted {
                    watched.doubt.get_or_insert(Doubt::Unwanted);
                }
                return None;
            }
            let same_start = watched.game.start_position().chess() == game.start_position().chess();
            let begins =
                game.moves().len() <= OPENING_PLIES && watched.game.moves().len() > OPENING_PLIES + 1;
            let over = if same_start && !begins { Over::Jump } else { Over::OtherStart };
            // Who looks through a game goes on doing so.
            doubt = (over == Over::Jump).then_some(Doubt::Jumped);
            ended = self.over(over, None, now, margin);
        }
        let Some(begin) = begin else { return ended };
        self.number += 1;
        let color = game.position().chess().turn();
        let sources = begin(color);
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
            asked_at: now,
            answered_at: now,
            doubt,
            told: false,
        });
        ended
    }
}

/// Whether a game is another one with so many moves more.
fn goes_on(before: &Game, after: &Game, plies: usize) -> bool {
    after.moves().len() == before.moves().len() + plies
        && after.moves().starts_with(before.moves())
        && before.start_position().chess() == after.start_position().chess()
}
