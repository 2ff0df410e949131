//! Moves that only lead on: where no move of the book leads to a position, but a legal one does.
//!
//! A book does not have the moves that it would never play, and one for a single side has none of the other's: its
//! positions would hang in the air. So a legal move from a position of the book to one that is not reached otherwise
//! becomes a record of priority 0 and without games, which is never played and followed when somebody else plays it; so
//! does each such reply to a move of the book that leads out of it, and to nothing at all where the start is not the
//! book's.

use std::collections::HashMap;

use shakmaty::{Move, Position as _};

use super::draft::{Draft, Step};
use crate::book::polyglot::decode::meant;
use crate::book::tour::Keys;
use crate::chess::Position;

/// Adds such moves to a book whose positions stand in the order of their keys.
pub fn link(draft: &mut Draft) {
    let mut linker = Linker::new(draft);
    linker.run();
    let links = linker.links;
    draft.extend(links);
}

struct Linker<'a> {
    draft: &'a Draft,
    /// Positions that are reached from the start.
    reached: Vec<bool>,
    /// How many are not.
    missing: usize,
    /// Positions whose legal moves were looked at.
    walked: Keys,
    waiting: Vec<Position>,
    /// By position.
    links: HashMap<u64, Vec<Step>>,
}

impl<'a> Linker<'a> {
    fn new(draft: &'a Draft) -> Self {
        Self {
            draft,
            reached: vec![false; draft.len()],
            missing: draft.len(),
            walked: Keys::default(),
            waiting: Vec::new(),
            links: HashMap::new(),
        }
    }

    fn run(&mut self) {
        let start = Position::start();
        match self.draft.find(start.key()) {
            Some(place) => {
                self.spread(place);
                self.waiting.push(start);
            }
            None => self.replies(&start),
        }
        while self.missing > 0
            && let Some(position) = self.waiting.pop()
        {
            let Some(place) = self.draft.find(position.key()).filter(|_| self.walked.insert(position.key()))
            else {
                continue;
            };
            for step in self.draft.steps(place).1 {
                let Some(mv) = meant(step.raw(), position.chess()) else { continue };
                let next = position.after(mv);
                if self.draft.find(next.key()).is_some() {
                    self.waiting.push(next);
                } else if self.walked.insert(next.key()) {
                    self.replies(&next);
                }
            }
            self.replies(&position);
        }
    }

    /// Links every legal move of a position that leads to one of the book's that is not reached yet.
    fn replies(&mut self, position: &Position) {
        for mv in position.chess().legal_moves() {
            let next = position.after(mv);
            let place = self.draft.find(next.key()).filter(|&place| !self.is_reached(place));
            if let Some(place) = place {
                self.link(position, mv, next, place);
            }
        }
    }

    fn link(&mut self, position: &Position, mv: Move, next: Position, place: u32) {
        self.links.entry(position.key()).or_default().push(Step::leading(position, mv, next.key()));
        self.spread(place);
        self.waiting.push(next);
    }

    fn is_reached(&self, place: u32) -> bool {
        self.reached.get(place as usize).copied().unwrap_or(true)
    }

    /// Notes that a position is reached, with all that the book's own moves reach from it.
    fn spread(&mut self, place: u32) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            let Some(reached) = self.reached.get_mut(place as usize).filter(|reached| !**reached) else {
                continue;
            };
            *reached = true;
            self.missing -= 1;
            waiting.extend(self.draft.steps(place).1.iter().filter_map(|step| self.draft.find(step.next)));
        }
    }
}
