//! The grown book as a book: the one that it grew from, with the moves of positions that were searched replaced.

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::to_the_end;
use tabiya_book::traverse::Keys;
use tabiya_book::{Decision, Heading, MoveFacts, Moves, PositionRecord, Remarks, Scope, Variant, Visit};
use tabiya_chess::{MoveCode, Position};

use crate::changed::changed;

use super::growth::{Growth, Task};
use super::play::Play;
use super::tree::Shape;

/// A book that has grown.
#[derive(Debug)]
pub struct Grown<'a> {
    growth: &'a Growth<'a>,
    plays: Vec<Play<'a>>,
}

impl<'a> Grown<'a> {
    /// The book with the moves that lose at most `max_loss` centipawns. `shape` is the growth's.
    pub fn new(growth: &'a Growth<'a>, shape: &'a Shape, max_loss: u32) -> Self {
        let plays = growth.sides.iter().map(|side| Play::new(&growth.tree, shape, *side, max_loss)).collect();
        Self { growth, plays }
    }

    /// What it plays, for each side that it is for.
    pub fn plays(&self) -> &[Play<'a>] {
        &self.plays
    }

    /// The moves to the position of a search.
    pub(crate) fn line(&self, task: &Task) -> Vec<MoveCode> {
        let number = self.growth.tree.positions.number(task.at.whole_key());
        number.map_or_else(Vec::new, |number| self.growth.tree.positions.line(number))
    }

    /// Decides what is played of the moves of a position: those that the book chose. Those of positions that were not searched
    /// stay as they are.
    fn settle(&self, at: &Position, moves: &mut Vec<MoveFacts>) {
        let Some(number) = self.growth.tree.positions.number(at.whole_key()) else { return };
        let mut choices = Vec::new();
        if let Some(play) = self.plays.iter().find(|play| play.side() == at.chess().turn()) {
            play.choose(number, &mut choices);
        }
        if choices.is_empty() {
            return;
        }
        let decision = Some(Decision::Chosen);
        for facts in moves.iter_mut() {
            let chosen = choices.iter().find(|choice| choice.mv == MoveCode::from_move(facts.mv));
            (facts.weight, facts.decision) = (chosen.map_or(0, |choice| choice.weight), decision);
        }
        for choice in &choices {
            let mv = choice.mv.resolve(at.chess()).filter(|mv| at.chess().is_legal(*mv));
            let Some(mv) = mv.filter(|mv| moves.iter().all(|facts| facts.mv != *mv)) else { continue };
            moves.push(MoveFacts { decision, ..MoveFacts::new(mv, choice.weight) });
        }
    }
}

impl Moves for Grown<'_> {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let mut moves = self.growth.seed().map_or_else(Vec::new, |seed| seed.moves_in(at));
        self.settle(at, &mut moves);
        out.extend(moves);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let (mut met, mut whole, mut unreached) = (Keys::default(), true, 0);
        let tree = &self.growth.tree;
        if let Some(seed) = self.growth.seed() {
            unreached = seed.each(scope, progress, &mut |record| {
                let at = || tree.positions.get(tree.positions.number(record.key)?);
                let Some(at) = at().filter(|at| met.insert(at.key())) else { return visit(record) };
                let seen = visit(&changed(record, &at, |moves| self.settle(&at, moves)));
                whole &= seen.is_ok();
                seen
            })?;
        }
        for number in (0..tree.len()).filter_map(|number| u32::try_from(number).ok()) {
            if !whole || self.plays.iter().all(|play| play.reach(number) <= 0.0) {
                continue;
            }
            let Some(at) = tree.positions.get(number).filter(|at| !met.contains(&at.key())) else { continue };
            let mut moves = Vec::new();
            self.settle(&at, &mut moves);
            if !moves.is_empty() && to_the_end(visit(&PositionRecord::from_moves(&at, &moves)))?.is_none() {
                break;
            }
        }
        Ok(unreached)
    }

    fn holds_positions(&self) -> bool {
        self.growth.seed().is_none_or(Moves::holds_positions)
    }

    fn heading(&self) -> Option<Heading> {
        self.growth.seed().and_then(Moves::heading)
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.growth.seed().and_then(Moves::as_remarks)
    }
}
