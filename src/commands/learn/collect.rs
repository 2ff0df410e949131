//! Collects the games of files that are to be learned.

use std::ops::ControlFlow;

use shakmaty::{ByColor, Color, KnownOutcome, Move};

use tabiya_chess::Position;
use tabiya_games::{GameEnd, GameError, GameHeader, GameResult, OtherPlayers, PlayerName, Reason, Visitor};
use tabiya_learn::{FinishedGame, IdentifiedGame, Source, identity};

use crate::output::report;

/// The most plies that are learned from a game; no opening is longer.
const MAX_PLIES: usize = 1 << 14;

/// The most errors that are printed.
const MAX_ERRORS: usize = 10;

/// Collects the games of a player.
#[derive(Default)]
pub(crate) struct GameCollector {
    /// The player whose games are collected; `None`: all games.
    player: Option<PlayerName>,
    /// Whether the moves of both sides are learned, not only the player's.
    both: bool,
    /// Games of other players.
    pub other_players: u64,
    /// Who they are, while the player has no game.
    others: OtherPlayers,
    is_absent: bool,
    /// Games of other variants of chess.
    pub other_variants: u64,
    /// Games that could not be read to the end.
    pub unreadable: u64,
    pub errors: Vec<GameError>,
    game: GameHeader,
    sides: Option<ByColor<bool>>,
    start: Option<Position>,
    moves: Vec<Move>,
    finished: Vec<IdentifiedGame>,
}

impl GameCollector {
    /// Collects the moves of a player, or of both sides in the player's games.
    pub fn new(player: Option<PlayerName>, both: bool) -> Self {
        Self { player, both, is_absent: true, ..Self::default() }
    }

    /// The sides of a game whose moves are learned; `None` if the player did not take part.
    fn learned_sides(&self, game: &GameHeader) -> Option<ByColor<bool>> {
        let is = |name: &str| self.player.as_ref().is_none_or(|player| player.is(name));
        let (white, black) = (is(&game.white), is(&game.black));
        (white || black).then_some(ByColor { white: white || self.both, black: black || self.both })
    }

    /// The games collected since the last call.
    pub fn take(&mut self) -> Vec<IdentifiedGame> {
        std::mem::take(&mut self.finished)
    }

    /// Whom the user may have meant, if the player has no game.
    pub fn near(&self) -> Option<String> {
        let player = self.player.as_ref().filter(|_| self.is_absent)?;
        report::near(&self.others, player)
    }

    fn note_error(&mut self, error: GameError) {
        if error.reason == Reason::OtherVariant {
            self.other_variants += error.games();
            return;
        }
        self.unreadable += error.games();
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn finished(&mut self, sides: ByColor<bool>, result: Option<GameResult>) -> IdentifiedGame {
        let game = &self.game;
        let start = self.start.take().or_else(|| game.start.clone()).unwrap_or_else(Position::start);
        let moves = std::mem::take(&mut self.moves);
        let (date, result_tag) = (game.date.to_string(), result.map_or("*", GameResult::as_pgn));
        let tags = [&*game.event, &game.site, &date, &game.round, &game.white, &game.black, result_tag];
        let id = identity::of_file(tags, &start, &moves);
        let name = |name: &str| if name.is_empty() { "?".to_owned() } else { name.to_owned() };
        let round = if game.round.is_empty() { String::new() } else { format!(", round {}", game.round) };
        let note = format!("{} - {} {result_tag}{round}", name(&game.white), name(&game.black));
        let source = if result.is_some() { Source::File } else { Source::Unfinished };
        let result = match result {
            Some(GameResult::White) => KnownOutcome::Decisive { winner: Color::White },
            Some(GameResult::Black) => KnownOutcome::Decisive { winner: Color::Black },
            Some(GameResult::Draw) | None => KnownOutcome::Draw,
        };
        FinishedGame { start, moves, first: 0, sides, result, note }.said_by(source, id)
    }
}

impl Visitor for GameCollector {
    fn begin(&mut self, game: &GameHeader) -> bool {
        self.moves.clear();
        self.start = None;
        self.sides = self.learned_sides(game);
        if self.sides.is_none() {
            self.other_players += 1;
            if self.is_absent {
                self.others.add(&game.white, &game.black);
            }
            return false;
        }
        self.is_absent = false;
        self.game = game.clone();
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        if self.moves.is_empty() {
            self.start = Some(at.clone());
        }
        if self.moves.len() >= MAX_PLIES {
            return ControlFlow::Break(());
        }
        self.moves.push(mv);
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        let Some(sides) = self.sides.take() else { return };
        if let Some(error) = end.error {
            return self.note_error(error);
        }
        let result = end.result.or(self.game.result);
        let finished = self.finished(sides, result);
        self.finished.push(finished);
    }

    fn unreadable(&mut self, error: GameError) {
        self.note_error(error);
    }
}
