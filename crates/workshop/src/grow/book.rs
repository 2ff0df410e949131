//! The grown book as a book: the one that it grew from, with the moves of positions that were searched replaced.

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::to_the_end;
use tabiya_book::traverse::Keys;
use tabiya_book::{
    Format, Heading, Keeps, MoveFacts, Moves, PositionRecord, Recommendation, Remarks, Scope, Variant, Visit,
};
use tabiya_chess::{MoveCode, Position};

use crate::vet::{Fate, apply, changed, new_move};

use super::growth::{Growth, Task};
use super::play::Play;
use super::tree::Shape;

/// A book that has grown.
#[derive(Debug)]
pub struct Grown<'a> {
    growth: &'a Growth<'a>,
    plays: Vec<Play<'a>>,
    format: Format,
}

impl<'a> Grown<'a> {
    /// The book as a format can hold it, with the moves that lose at most `max_loss` centipawns. `shape` is the growth's.
    pub fn new(growth: &'a Growth<'a>, shape: &'a Shape, max_loss: u32, format: Format) -> Self {
        let plays = growth.sides.iter().map(|side| Play::new(&growth.tree, shape, *side, max_loss)).collect();
        Self { growth, plays, format }
    }

    /// What it plays, for each side that it is for.
    pub fn plays(&self) -> &[Play<'a>] {
        &self.plays
    }

    /// The moves to the position of a search.
    pub(crate) fn line(&self, task: &Task) -> Vec<MoveCode> {
        let number = self.growth.tree.number(task.at.key());
        number.map_or_else(Vec::new, |number| self.growth.tree.line(number))
    }

    /// Makes the moves of a position those that it plays. Those of positions that were not searched stay as they are.
    fn settle(&self, at: &Position, moves: &mut Vec<MoveFacts>) {
        let Some(number) = self.growth.tree.number(at.key()) else { return };
        let (mut choices, mut replies) = (Vec::new(), Vec::new());
        for play in &self.plays {
            if play.side() == at.chess().turn() {
                play.choose(number, &mut choices);
            } else if self.format.keeps() != Keeps::Weights {
                play.answered(number, &mut replies);
            }
        }
        let chosen =
            |facts: &MoveFacts| choices.iter().find(|choice| choice.mv == MoveCode::from_move(facts.mv));
        if !choices.is_empty() {
            let fate = |facts: &MoveFacts| match chosen(facts) {
                Some(choice) => Fate { dropped: false, weight: choice.weight },
                None => Fate { dropped: true, weight: facts.weight },
            };
            let fates: Vec<_> = moves.iter().map(fate).collect();
            apply(moves, &fates, self.format);
            if self.format.keeps() == Keeps::Verdicts {
                // Where one move is green, only green ones are played.
                let greens = moves.iter_mut().filter(|facts| chosen(facts).is_some());
                greens.for_each(|facts| facts.recommended = Some(Recommendation::Green));
            }
        }
        let mut add = |code: MoveCode, weight: u64, is_played: bool| {
            let Some(mv) = code.resolve(at.chess()).filter(|mv| at.chess().is_legal(*mv)) else { return };
            if moves.iter().all(|facts| facts.mv != mv) {
                let facts = new_move(mv, weight, self.format);
                let recommended = facts.recommended.filter(|_| is_played);
                moves.push(MoveFacts { recommended, ..facts });
            }
        };
        choices.iter().for_each(|choice| add(choice.mv, choice.weight, true));
        replies.iter().for_each(|code| add(*code, 1, false));
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
                let at = || tree.position(tree.number(record.key)?);
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
            let Some(at) = tree.position(number).filter(|at| !met.contains(&at.key())) else { continue };
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
