//! The moves of a game: those that the PGN reader gives, and between them those that it does not understand.

use std::ops::ControlFlow;

use shakmaty::san::San;
use shakmaty::{CastlingSide, Move, Position as _};

use super::read::{GameReader, State, shortened};
use super::words::whole;
use crate::chess::{Misread, read_move};
use crate::games::{Reason, decode_text};

/// Moves that are looked at before the PGN reader gives them.
const LOOK_AHEAD: u32 = 64;

impl GameReader<'_> {
    /// Takes a move of the main line, and before it what the PGN reader has passed over.
    pub(super) fn take(&mut self, san: San) -> ControlFlow<()> {
        while self.looked_until <= self.given {
            self.take_strange()?;
            if self.state != State::Moves {
                return ControlFlow::Continue(());
            }
        }
        let number = self.given;
        self.given += 1;
        let castling = matches!(san, San::Castle(CastlingSide::KingSide));
        if self.both_lost && castling && self.is_result(number) {
            return ControlFlow::Continue(());
        }
        match san.to_move(self.position.chess()) {
            Ok(mv) => self.play(mv),
            Err(_) if castling && self.is_result(number) => ControlFlow::Continue(()),
            Err(_) => {
                let (at, len) = self.behind.find_move(number).unwrap_or_default();
                self.take_word(at, len)
            }
        }
    }

    /// Takes the words that come after all moves that the PGN reader gave, as far as the game's text goes.
    pub(super) fn take_rest(&mut self) {
        let end = self.text().len();
        while self.state == State::Moves
            && self.looked_until <= self.given
            && self.strange.map_or(!self.ahead.is_past(end), |strange| strange.at < end)
        {
            let _ = self.take_strange();
        }
    }

    /// Looks for the next word that the PGN reader passes over, not much further than the reader is: what follows may
    /// be many other games.
    pub(super) fn look_ahead(&mut self) {
        let until = self.given.saturating_add(LOOK_AHEAD);
        self.strange = self.ahead.next_strange(until);
        // Where the text is over, no more moves come either.
        let until = if self.ahead.moves() < until { u32::MAX } else { until };
        self.looked_until = self.strange.map_or(until, |strange| strange.plies);
    }

    fn take_strange(&mut self) -> ControlFlow<()> {
        let strange = self.strange;
        self.look_ahead();
        strange.map_or(ControlFlow::Continue(()), |strange| self.take_word(strange.at, strange.len))
    }

    /// What is done once moves are not wanted any more: the result may still be.
    fn enough(&self) -> ControlFlow<()> {
        if self.header.result.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn play(&mut self, mv: Move) -> ControlFlow<()> {
        self.plies += 1;
        let flow = self.visitor.ply(&self.position, mv);
        self.position.play(mv);
        if flow.is_break() {
            self.state = State::Over;
            return self.enough();
        }
        ControlFlow::Continue(())
    }

    /// Takes a word that standard notation does not explain.
    fn take_word(&mut self, at: usize, len: usize) -> ControlFlow<()> {
        let word = decode_text(whole(self.slice(), at, len));
        let misread = match read_move(&word, &self.position) {
            Ok(mv) => return self.play(mv),
            Err(misread) => misread,
        };
        let reason = match misread {
            Misread::NoMove => Reason::UnreadableMove,
            Misread::Null => Reason::NullMove,
            Misread::Illegal | Misread::Ambiguous => Reason::IllegalMove,
        };
        let at_move = self.position.chess();
        let dots = at_move.turn().fold_wb(".", "...");
        let why = format!("{}{dots} {}: {misread}", at_move.fullmoves(), shortened(&word));
        let problem = self.problem_at(self.game_start + at, reason, why);
        self.stop(problem);
        self.enough()
    }
}
