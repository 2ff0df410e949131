//! Games of a file become lessons.

use std::ops::ControlFlow;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Color, KnownOutcome, Move};

use crate::chess::Position;
use crate::games::{End, GameResult, Header, PlayerName, Problem, Visitor};
use crate::learn::Lesson;

/// Plies of a game that are learned; no opening is longer.
const MOST_PLIES: usize = 1 << 14;

/// Problems that are told of one by one.
const MOST_PROBLEMS: usize = 10;

/// Whose moves are learned.
pub struct Sides {
    player: Option<PlayerName>,
    both: bool,
}

impl Sides {
    /// The moves of a player, or of both sides of each game that the player took part in.
    pub fn new(player: Option<PlayerName>, both: bool) -> Self {
        Self { player, both }
    }

    /// The sides of a game; `None` where the player did not take part.
    fn of(&self, game: &Header) -> Option<ByColor<bool>> {
        let is = |name: &str| self.player.as_ref().is_none_or(|player| player.is(name));
        let found = ByColor { white: is(&game.white), black: is(&game.black) };
        let any = found.white || found.black;
        any.then_some(if self.both { ByColor { white: true, black: true } } else { found })
    }
}

/// Gathers lessons from games.
pub struct Student {
    sides: Sides,
    /// Games read, whatever became of them.
    pub games: u64,
    /// Games of other players.
    pub strangers: u64,
    /// Games without a result.
    pub unfinished: u64,
    /// Games that could not be read to their end.
    pub unreadable: u64,
    /// The first problems.
    pub problems: Vec<Problem>,
    game: Header,
    wanted: Option<ByColor<bool>>,
    start: Option<Position>,
    moves: Vec<Move>,
    lessons: Vec<Lesson>,
}

impl Student {
    /// Gathers the moves of these sides.
    pub fn new(sides: Sides) -> Self {
        Self {
            sides,
            games: 0,
            strangers: 0,
            unfinished: 0,
            unreadable: 0,
            problems: Vec::new(),
            game: Header::default(),
            wanted: None,
            start: None,
            moves: Vec::new(),
            lessons: Vec::new(),
        }
    }

    /// The lessons gathered since the last time.
    pub fn take(&mut self) -> Vec<Lesson> {
        std::mem::take(&mut self.lessons)
    }

    fn note_problem(&mut self, problem: Problem) {
        self.unreadable += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn lesson(&mut self, sides: ByColor<bool>, result: GameResult) -> Lesson {
        let game = &self.game;
        let start = self.start.take().or_else(|| game.start.clone()).unwrap_or_else(Position::start);
        let mut moves = Vec::new();
        for mv in &self.moves {
            UciMove::from_chess960(*mv).append_ascii_to(&mut moves);
            moves.push(b' ');
        }
        let (date, fen) = (game.date.to_string(), start.fen());
        let id = Lesson::id_of(&[
            game.event.as_bytes(),
            game.site.as_bytes(),
            date.as_bytes(),
            game.round.as_bytes(),
            game.white.as_bytes(),
            game.black.as_bytes(),
            result.as_pgn().as_bytes(),
            fen.as_bytes(),
            &moves,
        ]);
        let unknown = |name: &String| if name.is_empty() { "?".to_owned() } else { name.clone() };
        let round = if game.round.is_empty() { String::new() } else { format!(", round {}", game.round) };
        Lesson {
            id,
            start,
            moves: std::mem::take(&mut self.moves),
            first: 0,
            sides,
            outcome: match result {
                GameResult::White => KnownOutcome::Decisive { winner: Color::White },
                GameResult::Black => KnownOutcome::Decisive { winner: Color::Black },
                GameResult::Draw => KnownOutcome::Draw,
            },
            note: format!("{} - {} {}{round}", unknown(&game.white), unknown(&game.black), result.as_pgn()),
        }
    }
}

impl Visitor for Student {
    fn begin(&mut self, game: &Header) -> bool {
        self.games += 1;
        self.moves.clear();
        self.start = None;
        self.wanted = self.sides.of(game);
        if self.wanted.is_none() {
            self.strangers += 1;
            return false;
        }
        self.game = game.clone();
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        if self.moves.is_empty() {
            self.start = Some(at.clone());
        }
        if self.moves.len() >= MOST_PLIES {
            return ControlFlow::Break(());
        }
        self.moves.push(mv);
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: End) {
        let Some(sides) = self.wanted.take() else { return };
        if let Some(problem) = end.problem {
            return self.note_problem(problem);
        }
        let Some(result) = end.result.or(self.game.result) else {
            self.unfinished += 1;
            return;
        };
        let lesson = self.lesson(sides, result);
        self.lessons.push(lesson);
    }

    fn unreadable(&mut self, problem: Problem) {
        self.games += 1;
        self.note_problem(problem);
    }
}
