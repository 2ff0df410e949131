//! Codes of moves, a byte each: a piece by its number, and a step on a board whose edges are joined.
#![allow(clippy::indexing_slicing, reason = "tables of the formats' own codes")]

use shakmaty::{CastlingSide, Chess, Move, Position as _};

use super::normal::{Normal, PieceStep, castling};

/// Kinds of pieces, numbers of pieces of a kind, and the steps of each: eight files by eight ranks.
const PLACES: usize = 6 * NUMBERS * 64;
const NUMBERS: usize = 8;

/// The codes of a format.
pub struct StepCodes {
    steps: [Option<PieceStep>; 256],
    /// The code of each step, by [`place`].
    codes: [Option<u8>; PLACES],
    short: u8,
    long: u8,
}

impl StepCodes {
    /// From the codes with their steps, and the codes of castling, which have none.
    pub fn new(known: impl IntoIterator<Item = (u8, PieceStep)>, short: u8, long: u8) -> Self {
        let mut made = Self { steps: [None; 256], codes: [None; PLACES], short, long };
        for (code, step) in known {
            made.steps[usize::from(code)] = Some(step);
            made.codes[place(step)] = Some(code);
        }
        made
    }

    /// Whether a code has any meaning.
    pub fn is_known(&self, code: u8) -> bool {
        code == self.short || code == self.long || self.step(code).is_some()
    }

    /// The step of a code, if it has one.
    pub fn step(&self, code: u8) -> Option<PieceStep> {
        self.steps.get(usize::from(code)).copied().flatten()
    }

    /// The legal move that a code means in a position with this normal form.
    pub fn legal(&self, code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
        let mv = if code == self.short {
            castling(CastlingSide::KingSide, chess)?
        } else if code == self.long {
            castling(CastlingSide::QueenSide, chess)?
        } else {
            self.step(code)?.resolve(normal, chess)?
        };
        chess.is_legal(mv).then_some(mv)
    }

    /// The code of a legal move in a position with this normal form; `None` for a promotion to anything but a queen, and
    /// for a piece whose number has no codes.
    pub fn code(&self, mv: Move, normal: &Normal) -> Option<u8> {
        match mv.castling_side() {
            Some(CastlingSide::KingSide) => Some(self.short),
            Some(CastlingSide::QueenSide) => Some(self.long),
            None => {
                let step =
                    PieceStep::from_move(mv, normal).filter(|step| usize::from(step.number) < NUMBERS)?;
                self.codes.get(place(step)).copied().flatten()
            }
        }
    }
}

fn place(step: PieceStep) -> usize {
    let piece = (step.role as usize - 1) * NUMBERS + step.number as usize;
    piece * 64 + step.right as usize * 8 + step.up as usize
}
