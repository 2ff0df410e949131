//! The moves of a game: those that the PGN reader reads, and between them those that it ignores.

use std::ops::ControlFlow;

use shakmaty::san::San;
use shakmaty::{CastlingSide, Move, Position as _};

use super::read::{GameReader, State, shortened};
use super::words::whole;
use crate::chess::{ReadMoveError, read_move};
use crate::games::{GameError, Reason, decode_text};

/// How many moves to look ahead of the PGN reader.
const LOOK_AHEAD: u32 = 64;

impl GameReader<'_> {
    /// Takes a move, and before it those that the PGN reader ignored.
    pub(super) fn take(&mut self, san: San) -> ControlFlow<()> {
        while self.game.looked_until <= self.game.given {
            self.take_strange()?;
            if self.state != State::Moves {
                return ControlFlow::Continue(());
            }
        }
        let number = self.game.given;
        self.game.given += 1;
        if !self.takes_moves() {
            return ControlFlow::Continue(());
        }
        let castling = matches!(san, San::Castle(CastlingSide::KingSide));
        if self.game.both_lost && castling && self.is_result(number) {
            return ControlFlow::Continue(());
        }
        match san.to_move(self.position.chess()) {
            Ok(mv) => self.play(mv),
            Err(_) if castling && self.is_result(number) => ControlFlow::Continue(()),
            Err(_) => {
                let (at, len) = self.found.find_move(number).unwrap_or_default();
                self.take_word(at, len)
            }
        }
    }

    /// Takes the words after the last move of the PGN reader, up to the end of the game's text.
    pub(super) fn take_rest(&mut self) {
        let end = self.text().len();
        while self.state == State::Moves
            && self.game.looked_until <= self.game.given
            && self.game.strange.map_or(!self.ahead.is_past(end), |strange| strange.at < end)
        {
            let _ = self.take_strange();
        }
    }

    /// Looks for the next word that the PGN reader ignores, not far ahead of it: many other games may follow.
    pub(super) fn look_ahead(&mut self) {
        let until = self.game.given.saturating_add(LOOK_AHEAD);
        self.game.strange = self.ahead.next_strange(until);
        // At the end of the text there are no more moves either.
        let until = if self.ahead.moves() < until { u32::MAX } else { until };
        self.game.looked_until = self.game.strange.map_or(until, |strange| strange.plies);
    }

    pub(super) fn take_strange(&mut self) -> ControlFlow<()> {
        let strange = self.game.strange;
        self.look_ahead();
        match strange {
            Some(strange) if self.takes_moves() => self.take_word(strange.at, strange.len),
            _ => ControlFlow::Continue(()),
        }
    }

    /// How to continue when no more moves are wanted: the result may still be.
    fn enough(&self) -> ControlFlow<()> {
        if self.header.result.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn play(&mut self, mv: Move) -> ControlFlow<()> {
        let flow = self.visitor.ply(&self.position, mv);
        if let Some(variations) = &mut self.variations {
            variations.before = Some(self.position.clone());
            if flow.is_break() && variations.is_inside() {
                variations.ended = true;
                return ControlFlow::Continue(());
            }
        }
        self.position.play(mv);
        if flow.is_break() {
            self.state = State::Over;
            return self.enough();
        }
        ControlFlow::Continue(())
    }

    /// Takes a word that is not in standard notation.
    fn take_word(&mut self, at: usize, len: usize) -> ControlFlow<()> {
        let word = decode_text(whole(self.slice(), at, len));
        let error = match read_move(&word, &self.position) {
            Ok(mv) => return self.play(mv),
            Err(error) => error,
        };
        let reason = match error {
            ReadMoveError::NoMove => Reason::UnreadableMove,
            ReadMoveError::Null => Reason::NullMove,
            ReadMoveError::Illegal | ReadMoveError::Ambiguous => Reason::IllegalMove,
        };
        let at_move = self.position.chess();
        let dots = at_move.turn().fold_wb(".", "...");
        let why = format!("{}{dots} {}: {error}", at_move.fullmoves(), shortened(&word));
        if let Some(variations) = &mut self.variations
            && variations.is_inside()
        {
            let place = self.batch.place(self.game_start + at);
            variations.cut.get_or_insert(GameError { reason, place, why });
            variations.ended = true;
            return ControlFlow::Continue(());
        }
        self.stop(at, reason, why);
        self.enough()
    }
}
